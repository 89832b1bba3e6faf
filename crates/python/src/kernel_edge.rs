//! A router of the simulator at a real device: the loop of `selfclock kernel edge`.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use selfclock_congestion::Time;
use selfclock_kernel::linux::edge::{Edge, Key, Passage, What};
use selfclock_simulator::plan::{Plan, QueueLimit};
use selfclock_simulator::router::MechanismPlan;
use selfclock_simulator::router::ficcrd::{Data, Feedback, LoneRouter};
use serde_json::{Value, json};

use crate::scenario::Scenario;

/// Counters of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    number: u32,
    data: u64,
    acks: u64,
    lowered: u64,
    window: u64,
}

#[derive(Debug)]
struct State {
    router: LoneRouter,
    flows: BTreeMap<Key, Counts>,
    next: u32,
    now: u64,
}

/// The router of a scenario, FICCRD before its bottleneck, at a device of this machine.
#[pyclass(frozen, module = "selfclock._core")]
#[derive(Debug)]
pub struct KernelEdge {
    edge: Edge,
    state: Mutex<State>,
    stop: AtomicBool,
}

/// The router of a scenario: its settings, and the rate and the buffer of the bottleneck.
fn router(plan: &Plan) -> PyResult<LoneRouter> {
    let refuse = |text: &str| PyValueError::new_err(text.to_owned());
    let settings = plan.routers.iter().find_map(|router| match &router.mechanism {
        MechanismPlan::Ficcrd(settings) => Some(*settings),
        _ => None,
    });
    let settings = settings.ok_or_else(|| refuse("the scenario has no router with ficcrd"))?;
    if settings.feedback == Feedback::AckBucket {
        return Err(refuse("feedback: a program at a device cannot hold ACKs back; allowed: window, none"));
    }
    let link = plan.links.iter().find(|link| link.name.as_str() == "bottleneck");
    let link = link.ok_or_else(|| refuse("the scenario has no link named bottleneck"))?;
    let QueueLimit::Bytes(buffer) = link.queue else {
        return Err(refuse("the queue of the bottleneck needs a limit in bytes"));
    };
    Ok(LoneRouter::new(settings, link.rate, buffer))
}

impl State {
    fn on(&mut self, passage: &Passage, limits: bool) -> Option<u64> {
        let Passage { now, key, sequence, payload, size, window, offered, what, segments } = *passage;
        self.now = now;
        let time = Time::from_picoseconds(now.saturating_mul(1000));
        let next = &mut self.next;
        let counts = self.flows.entry(key).or_insert_with(|| {
            *next += 1;
            Counts { number: *next, ..Counts::default() }
        });
        match what {
            What::Data => {
                counts.data += u64::from(payload);
                self.router.on_data(time, counts.number, Data { sequence, payload, size, segments });
                None
            }
            What::Ack => {
                counts.acks += 1;
                counts.lowered += u64::from(window < offered);
                counts.window = window.into();
                self.router.on_ack(time, counts.number, sequence).filter(|_| limits)
            }
            What::End => {
                let number = counts.number;
                self.flows.remove(&key);
                self.router.forget(number);
                None
            }
        }
    }

    fn described(&mut self, now: Time) -> Value {
        let Self { router, flows, .. } = self;
        let row = |(key, counts): (&Key, &Counts)| {
            let ((source, port), (receiver, receiver_port)) = key.ends();
            let state = router.flow(now, counts.number);
            json!({
                "source": source.to_string(), "port": port,
                "receiver": receiver.to_string(), "receiver_port": receiver_port,
                "data_bytes": counts.data, "acks": counts.acks, "acks_lowered": counts.lowered,
                "window_bytes": counts.window,
                "rate_bps": state.map(|state| state.rate_bps),
                "allowed_bps": state.and_then(|state| state.allowed_bps),
                "allowed_window_bytes": state.and_then(|state| state.window),
                "rtt_s": state.and_then(|state| state.rtt).map(|rtt| rtt.seconds()),
            })
        };
        let flows: Vec<_> = flows.iter().map(row).collect();
        json!({ "queue_bytes": router.waiting(now), "flows": flows })
    }
}

#[pymethods]
impl KernelEdge {
    /// Attaches the programs to the device that faces the sources.
    #[new]
    fn new(py: Python<'_>, scenario: &Scenario, device: &str) -> PyResult<Self> {
        let router = router(scenario.plan())?;
        let edge =
            py.detach(|| Edge::start(device)).map_err(|error| PyOSError::new_err(error.to_string()))?;
        let state = State { router, flows: BTreeMap::new(), next: 0, now: 0 };
        Ok(Self { edge, state: Mutex::new(state), stop: AtomicBool::new(false) })
    }

    /// Limits windows until `stop`. With `limits` false it only computes them.
    fn run(&self, py: Python<'_>, limits: bool) -> PyResult<()> {
        let decide =
            |passage: &Passage| self.state.lock().unwrap_or_else(PoisonError::into_inner).on(passage, limits);
        py.detach(|| self.edge.run(&self.stop, decide)).map_err(PyErr::from)
    }

    /// Lets `run` return.
    fn stop(&self) {
        self.stop.store(true, Ordering::Release);
    }

    /// The flows and the virtual queue, as JSON text.
    fn status(&self) -> String {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Time::from_picoseconds(state.now.saturating_mul(1000));
        state.described(now).to_string()
    }
}
