//! Requests and their replies.

use selfclock_congestion::registry::Registry;
use selfclock_simulator::Simulation;
use selfclock_simulator::environment::{Environment, Step};
use selfclock_simulator::fingerprint::fingerprint;
use selfclock_simulator::named::Named as _;
use selfclock_simulator::plan::{DisciplinePlan, Plan};
use selfclock_simulator::scenario::{self, Scenario};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

use crate::columns::columns;
use crate::hops;
use crate::refusal::Refusal;
use crate::reply::{Arrays, Reply};
use crate::request::{Limits, Request, Text, Window};
use crate::run::{Run, Watched};
use crate::size::Size;

/// All runs of a page, by number.
#[derive(Clone, Debug, Default)]
pub struct Laboratory {
    runs: BTreeMap<u32, Run>,
    last: u32,
}

impl Laboratory {
    /// Answers a request, JSON as defined in the module `request`. The reply to a refused one is
    /// `{"refusal": ...}`.
    pub fn answer(&mut self, request: &str) -> Reply {
        let mut arrays = Arrays::default();
        let parsed = serde_json::from_str(request).map_err(|error| Refusal::Failed(error.to_string()));
        let json = parsed.and_then(|request| self.reply(request, &mut arrays));
        let json = json.unwrap_or_else(|refusal| json!({ "refusal": refusal.json() }));
        Reply { json: json.to_string(), arrays }
    }

    fn reply(&mut self, request: Request, arrays: &mut Arrays) -> Result<Value, Refusal> {
        match request {
            Request::About => Ok(about()),
            Request::Schema => Ok(scenario::schema(&Registry::built_in())),
            Request::Check { scenario, limits } => {
                let scenario = read(&scenario)?;
                Ok(described(&scenario, &scenario.plan, limits))
            }
            Request::Open { scenario, limits, packets, steer } => {
                self.open(&read(&scenario)?, limits, packets, steer.as_deref())
            }
            Request::Advance { run, events } => {
                let run = self.run(run)?;
                let finished = run.advance(events)?;
                let (now, end) = (run.simulation().now().seconds(), run.plan().duration.seconds());
                Ok(json!({ "finished": finished, "now_s": now, "duration_s": end }))
            }
            Request::Columns { run } => {
                let run = self.run(run)?;
                let outcome = run.clone().finish();
                Ok(columns(run.plan(), &outcome, arrays))
            }
            Request::Finish { run } => {
                let run = self.take(run)?;
                let plan = run.plan().clone();
                let outcome = run.finish();
                let mut reply = columns(&plan, &outcome, arrays);
                reply["summary"] = json!(outcome.summary);
                Ok(reply)
            }
            Request::Fingerprint { run } => {
                Ok(json!({ "fingerprint": format!("{:016x}", fingerprint(self.take(run)?.finish())) }))
            }
            Request::Hops { run } => {
                let (found, from_s) = self.take(run)?.hops()?;
                Ok(hops::json(&found, from_s, arrays))
            }
            Request::Step { run, rate_bps, length_s, window_segments } => {
                let values = self.run(run)?.step(rate_bps, length_s, window_segments)?;
                let fields = Step::FIELDS.iter().zip(values);
                Ok(fields
                    .map(|(name, value)| ((*name).to_owned(), value.into()))
                    .collect::<Map<_, _>>()
                    .into())
            }
            Request::Close { run } => {
                self.runs.remove(&run);
                Ok(Value::Null)
            }
        }
    }

    fn open(
        &mut self,
        scenario: &Scenario,
        limits: Limits,
        packets: Option<Window>,
        steer: Option<&str>,
    ) -> Result<Value, Refusal> {
        let mut plan = scenario.plan.clone();
        let end = plan.duration.seconds();
        Size::of(&plan, packets.map_or(end, |window| window.until_s), limits).check(limits)?;
        let run = match steer {
            Some(flow) => {
                let environment = Environment::new(&plan, flow);
                Run::Steered(environment.map_err(|error| Refusal::Failed(error.to_string()))?.into())
            }
            None => {
                let packets = packets.map(|window| Watched::new(&mut plan, window));
                let simulation = Simulation::new(&plan).into();
                Run::Free { plan: Box::new(plan), simulation, packets }
            }
        };
        let mut reply = described(scenario, run.plan(), limits);
        self.last += 1;
        reply["run"] = self.last.into();
        self.runs.insert(self.last, run);
        Ok(reply)
    }

    fn run(&mut self, number: u32) -> Result<&mut Run, Refusal> {
        self.runs.get_mut(&number).ok_or_else(|| no_run(number))
    }

    fn take(&mut self, number: u32) -> Result<Run, Refusal> {
        self.runs.remove(&number).ok_or_else(|| no_run(number))
    }
}

fn no_run(number: u32) -> Refusal {
    Refusal::Failed(format!("there is no run {number}"))
}

fn read(text: &Text) -> Result<Scenario, Refusal> {
    Ok(Scenario::parse(&text.toml, &text.source, &text.overrides)?)
}

/// Description of a scenario for a page.
fn described(scenario: &Scenario, plan: &Plan, limits: Limits) -> Value {
    let mut described = scenario::network(plan);
    described["name"] = plan.name.as_str().into();
    described["title"] = scenario.title.as_deref().into();
    described["seed"] = plan.seed.into();
    described["duration_s"] = plan.duration.seconds().into();
    described["text"] = scenario.text.as_str().into();
    described["notes"] = scenario::notes(plan).into();
    described["size"] = Size::of(plan, plan.duration.seconds(), limits).json();
    described
}

fn about() -> Value {
    let registry = Registry::built_in();
    let algorithms = registry
        .entries()
        .map(|entry| json!({ "name": entry.name, "part": entry.part.name(), "about": entry.about.trim() }));
    let queues = DisciplinePlan::all().map(|queue| queue.entry().name);
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "algorithms": algorithms.collect::<Vec<_>>(),
        "queues": queues.collect::<Vec<_>>(),
    })
}
