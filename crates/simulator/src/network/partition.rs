//! Division of a network: the parts of a run on several threads.
//!
//! An event at a stop carries a packet across links up to the next stop, and runs a receiver that
//! is run ahead of the clock. So everything between two stops belongs together, and packets pass
//! between parts only at stops, after crossing the links in between: their propagation delay is how
//! far one part can be computed ahead of packets it may still get from the other (its *lookahead*;
//! conservative parallel simulation, Chandy and Misra 1979).

use super::gate::Gates;
use super::handover::Exports;
use super::route_table::{self, FlowRoutes, Hop, Hosts};
use crate::plan::{LinkPlan, Plan};
use crate::subset::Subset;
use selfclock_congestion::units::Duration;
use std::sync::Arc;

/// No other part: the packet stays here.
const HERE: u32 = u32::MAX;

/// Cost of an event, of a sender's part in one, of a receiver's, and of a link, in units of fifty
/// instructions.
const EVENT: u64 = 4;
const SENDER: u64 = 8;
const RECEIVER: u64 = 4;
const CROSSING: u64 = 1;

/// Number of candidates for the minimum lookahead.
const TRIED: usize = 16;

/// Contents of a part of a network; the whole network by default.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    pub links: Subset,
    pub senders: Subset,
    pub receivers: Subset,
    /// Its number, and the number of parts.
    number: u32,
    parts: u32,
    /// For each hop of the route table the part to which a packet goes there, or [`HERE`].
    destinations: Arc<[u32]>,
}

impl Part {
    /// Restricts the network's route table to this part: links get their places here, and the stops
    /// of other parts lead there.
    pub(super) fn restrict(&self, routes: &mut [Hop]) {
        for (hop, &part) in routes.iter_mut().zip(&*self.destinations) {
            if part != HERE && part != self.number {
                hop.lead_to(part);
            } else if !hop.is_end() && self.links.holds(hop.link()) {
                hop.set_place(self.links.place(hop.link()) as u32);
            }
        }
    }

    /// Buffers for outgoing packets, unless it is the whole network.
    pub(super) fn exports(&self) -> Option<Box<Exports>> {
        (self.parts > 0).then(|| Box::new(Exports::new(self.parts as usize)))
    }
}

/// A division of a network.
#[derive(Clone, Debug)]
pub(crate) struct Partition {
    pub parts: Vec<Part>,
    pub lookahead: Lookahead,
}

/// The minimum transit time from each part to each; [`Duration::MAX`] without traffic.
#[derive(Clone, Debug)]
pub(crate) struct Lookahead {
    parts: usize,
    least: Vec<Duration>,
}

impl Lookahead {
    /// The minimum transit time from one part to another; `None` without traffic.
    pub fn between(&self, from: usize, to: usize) -> Option<Duration> {
        Some(self.least[from * self.parts + to]).filter(|&least| least != Duration::MAX)
    }

    /// The minimum transit time from any part to another.
    pub fn least(&self) -> Duration {
        self.least.iter().copied().min().unwrap_or(Duration::MAX)
    }

    /// The longest of these times; [`Duration::MAX`] without any traffic.
    pub fn longest(&self) -> Duration {
        let known = self.least.iter().copied().filter(|&least| least != Duration::MAX);
        known.max().unwrap_or(Duration::MAX)
    }

    /// The minimum transit time to a part, from any other; `None` without traffic.
    pub fn to(&self, to: usize) -> Option<Duration> {
        (0..self.parts).filter_map(|from| self.between(from, to)).min()
    }
}

/// A stop: a packet arrives from one component and continues at another.
#[derive(Clone, Copy, Debug)]
struct Stop {
    from: u32,
    to: u32,
    hop: u32,
    lookahead: Duration,
}

/// Links, then senders, then receivers: which belong together.
#[derive(Clone, Debug)]
struct Things {
    /// For each, another one in its group, or itself.
    with: Vec<u32>,
}

impl Things {
    fn first_of(&mut self, thing: u32) -> u32 {
        let mut first = thing;
        while self.with[first as usize] != first {
            self.with[first as usize] = self.with[self.with[first as usize] as usize];
            first = self.with[first as usize];
        }
        first
    }
    fn unite(&mut self, one: u32, other: u32) {
        let (one, other) = (self.first_of(one), self.first_of(other));
        self.with[one.max(other) as usize] = one.min(other);
    }
}

impl Partition {
    /// Divides the network of a plan without router mechanisms into at most `parts` parts of about
    /// equal work. `None` if it cannot be divided.
    pub fn new(plan: &Plan, parts: usize) -> Option<Self> {
        let (table, routes) = route_table::route_table(plan, &Gates::default(), Hosts::Simulated);
        let (mut things, stops, work) = layout(plan, &table, &routes);
        for stop in stops.iter().filter(|stop| stop.lookahead.is_zero()) {
            things.unite(stop.from, stop.to);
        }
        let mut lookaheads: Vec<Duration> =
            stops.iter().map(|stop| stop.lookahead).filter(|lookahead| !lookahead.is_zero()).collect();
        lookaheads.sort_unstable();
        lookaheads.dedup();
        let step = lookaheads.len().div_ceil(TRIED).max(1);
        let mut best: Option<(u64, Vec<u32>)> = None;
        // Longer computation without synchronization is better, as long as the work is divided
        // equally well.
        for &least in lookaheads.iter().step_by(step) {
            for stop in stops.iter().filter(|stop| stop.lookahead < least) {
                things.unite(stop.from, stop.to);
            }
            let (most, of) = divided(&mut things, &work, parts);
            match &best {
                Some((before, _)) if most > before + before / 10 => break,
                Some((before, _)) => best = Some((most.min(*before), of)),
                None => best = Some((most, of)),
            }
        }
        let (_, of) = best?;
        Self::of(&of, &stops, (plan.links.len(), plan.flows.len()), table.len())
    }

    /// The components of this part.
    fn of(of: &[u32], stops: &[Stop], (links, flows): (usize, usize), hops: usize) -> Option<Self> {
        let parts = of.iter().max().map_or(1, |&last| last as usize + 1);
        if parts < 2 {
            return None;
        }
        let mut lookahead = Lookahead { parts, least: vec![Duration::MAX; parts * parts] };
        let mut destinations = vec![HERE; hops];
        for stop in stops {
            let (from, to) = (of[stop.from as usize], of[stop.to as usize]);
            if from != to {
                destinations[stop.hop as usize] = to;
                let least = &mut lookahead.least[from as usize * parts + to as usize];
                *least = stop.lookahead.min(*least);
            }
        }
        let destinations: Arc<[u32]> = destinations.into();
        let part = |number| Part {
            links: Subset::of_part(&of[..links], number),
            senders: Subset::of_part(&of[links..links + flows], number),
            receivers: Subset::of_part(&of[links + flows..], number),
            number,
            parts: parts as u32,
            destinations: destinations.clone(),
        };
        Some(Self { parts: (0..parts as u32).map(part).collect(), lookahead })
    }
}

/// Groups that belong together, the stops between them, and the work of each.
fn layout(plan: &Plan, table: &[Hop], routes: &[FlowRoutes]) -> (Things, Vec<Stop>, Vec<u64>) {
    let (links, flows) = (plan.links.len(), plan.flows.len());
    let all = links + 2 * flows;
    let mut things = Things { with: (0..all as u32).collect() };
    let (mut stops, mut work) = (Vec::new(), vec![0; all]);
    let delays: Vec<Duration> = plan.links.iter().map(least_delay).collect();
    for (flow, routes) in routes.iter().enumerate() {
        let (sender, receiver) = ((links + flow) as u32, (links + flows + flow) as u32);
        work[sender as usize] += SENDER;
        work[receiver as usize] += RECEIVER;
        let there = (routes.forward, sender, receiver);
        let back = (routes.reverse, receiver, sender);
        // A UDP sink sends nothing.
        let answers = plan.flows[flow].protocol.tcp().is_some();
        for (first, from, to) in std::iter::once(there).chain(answers.then_some(back)) {
            let (mut current, mut lookahead) = (from, Duration::ZERO);
            for (hop, &place) in (first..).zip(&table[first as usize..]) {
                let thing = if place.is_end() { to } else { place.link() as u32 };
                if !place.stops() || (place.is_end() && place.is_ahead()) {
                    things.unite(current, thing);
                } else {
                    work[thing as usize] += EVENT;
                    stops.push(Stop { from: current, to: thing, hop, lookahead });
                    (current, lookahead) = (thing, Duration::ZERO);
                }
                if place.is_end() {
                    break;
                }
                work[thing as usize] += CROSSING;
                lookahead += delays[thing as usize];
            }
        }
    }
    for group in &plan.groups {
        for pair in group.windows(2) {
            things.unite((links + pair[0]) as u32, (links + pair[1]) as u32);
        }
    }
    (things, stops, work)
}

/// The minimum delay of a link over the run.
fn least_delay(link: &LinkPlan) -> Duration {
    link.changes.iter().map(|change| change.delay).fold(link.delay, Duration::min)
}

/// Divides the groups into parts of about equal work: the heaviest first, each into the part with
/// the least work so far. Returns the maximum work of a part, and the part of each component.
fn divided(things: &mut Things, work: &[u64], parts: usize) -> (u64, Vec<u32>) {
    let firsts: Vec<u32> = (0..work.len() as u32).map(|thing| things.first_of(thing)).collect();
    let mut together = vec![0_u64; work.len()];
    firsts.iter().zip(work).for_each(|(&first, work)| together[first as usize] += work);
    let mut heaviest: Vec<u32> =
        (0..work.len() as u32).filter(|&thing| firsts[thing as usize] == thing).collect();
    heaviest.sort_by_key(|&thing| std::cmp::Reverse(together[thing as usize]));
    let (mut load, mut part_of) = (vec![0_u64; parts], vec![0_u32; work.len()]);
    for thing in heaviest {
        let least = (0..parts).min_by_key(|&part| load[part]).unwrap_or(0);
        load[least] += together[thing as usize];
        part_of[thing as usize] = least as u32;
    }
    let of = firsts.iter().map(|&first| part_of[first as usize]).collect();
    (load.into_iter().max().unwrap_or(0), of)
}
