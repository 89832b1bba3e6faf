//! Time until which runs of two plans are identical.

use super::{FlowPlan, LinkChange, LinkPlan, Plan, Protocol};
use selfclock_congestion::units::Time;
use std::fmt::Debug;

/// Why runs of two plans differ from the beginning.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    /// A setting of the whole run.
    #[error("{0} cannot differ from that of the run that is forked")]
    Setting(&'static str),
    /// A link that differs in more than its later changes.
    #[error("link {0:?} cannot differ after a fork but in its changes of rate and delay from then on")]
    Link(String),
    /// A flow that is not one TCP connection, or that differs in place or start.
    #[error(
        "flow {0:?} cannot differ after a fork: only a TCP connection of no group that starts later, at the same time in both, can"
    )]
    Flow(String),
}

impl Plan {
    /// Runs of both plans are identical before this time; [`Time::NEVER`]: always, except for the
    /// name of the scenario.
    ///
    /// Plans may differ in changes of links, and in TCP connections that start later.
    ///
    /// # Errors
    /// A setting that makes them differ from the beginning.
    pub fn same_until(&self, other: &Self) -> Result<Time, Difference> {
        let settings = [
            ("a run with a foreign stack", !self.has_foreign_stacks()),
            ("the seed", self.seed == other.seed),
            ("the duration", self.duration == other.duration),
            ("what is measured", self.measured() == other.measured()),
            ("what is recorded", self.record == other.record),
            ("the number of flows or links", self.sizes() == other.sizes()),
            ("the network", is_same(&self.nodes, &other.nodes)),
            ("what stands in routers", is_same(&self.routers, &other.routers)),
            ("the groups of flows", self.groups == other.groups),
        ];
        if let Some((setting, _)) = settings.into_iter().find(|(_, is_same)| !is_same) {
            return Err(Difference::Setting(setting));
        }
        let mut until = Time::NEVER;
        for (one, another) in self.links.iter().zip(&other.links) {
            until = until.min(one.same_until(another)?);
        }
        for (index, (one, another)) in self.flows.iter().zip(&other.flows).enumerate() {
            let in_group = self.groups.iter().flatten().any(|&member| member == index);
            until = until.min(one.same_until(another, in_group)?);
        }
        Ok(until)
    }

    fn measured(&self) -> (Time, bool) {
        (self.measure_from, self.measure_delays)
    }

    fn sizes(&self) -> (usize, usize) {
        (self.flows.len(), self.links.len())
    }

    /// Text of everything that may not differ: plans with the same text may share a beginning.
    pub fn beginning(&self) -> String {
        let links: Vec<_> = self.links.iter().map(LinkPlan::without_changes).collect();
        let flows = self.flows.iter().map(|flow| {
            let is_late = matches!(flow.protocol, Protocol::Tcp(_)) && flow.start > Time::ZERO;
            (place_of(flow), (!is_late).then_some(&flow.protocol))
        });
        let flows: Vec<_> = flows.collect();
        let settings = (
            self.seed,
            (self.duration, self.measured()),
            &self.record,
            &self.nodes,
            &self.routers,
            &self.groups,
        );
        format!("{settings:?}{links:?}{flows:?}")
    }
}

impl LinkPlan {
    fn without_changes(&self) -> Self {
        let mut plan = self.clone();
        if !plan.changes.is_empty() {
            plan.changes = Vec::new();
        }
        plan
    }

    /// Number of common changes before the first that differs.
    fn same_changes(&self, other: &Self) -> usize {
        self.changes.iter().zip(&other.changes).take_while(|(one, another)| one == another).count()
    }

    /// Time before which both links behave identically.
    pub(crate) fn same_until(&self, other: &Self) -> Result<Time, Difference> {
        if !is_same(&self.without_changes(), &other.without_changes()) {
            return Err(Difference::Link(self.name.to_string()));
        }
        let same = self.same_changes(other);
        let at = |changes: &[LinkChange]| changes.get(same).map_or(Time::NEVER, |change| change.at);
        Ok(at(&self.changes).min(at(&other.changes)))
    }
}

impl FlowPlan {
    fn same_until(&self, other: &Self, in_group: bool) -> Result<Time, Difference> {
        if is_same(self, other) {
            return Ok(Time::NEVER);
        }
        let are_tcp = [self, other].iter().all(|flow| matches!(flow.protocol, Protocol::Tcp(_)));
        if !are_tcp || in_group || !is_same(&place_of(self), &place_of(other)) {
            return Err(Difference::Flow(self.name.to_string()));
        }
        Ok(self.start)
    }
}

/// Place and start of a flow.
fn place_of(flow: &FlowPlan) -> impl Debug {
    (&flow.name, flow.from, flow.to, &flow.forward, &flow.reverse, flow.start, flow.start_jitter)
}

/// A plan's text contains everything that a run depends on: see `Scenario::resolved` of the Python
/// package.
fn is_same(one: &impl Debug, another: &impl Debug) -> bool {
    format!("{one:?}") == format!("{another:?}")
}
