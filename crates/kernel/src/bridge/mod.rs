//! From kernel events to answers, without a kernel: pure, identical on every system, and replayed
//! by [`replay`](crate::log).

mod answer;
mod flow;
mod history;

use alloc::collections::BTreeMap;

pub use answer::{Answer, NO_THRESHOLD, flags};
pub use flow::{Control, Flow, in_flight, setup};
pub use history::LossHistory;
use selfclock_congestion::Setup;

use crate::event::{KernelEvent, kind};

/// All connections of one algorithm.
#[derive(Debug)]
pub struct Bridge<C, M> {
    make: M,
    flows: BTreeMap<u32, Flow<C>>,
    counts: Counts,
}

/// Progress of the session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events.
    pub events: u64,
    /// Connections.
    pub flows: u64,
    /// Connections that had started before their first event.
    pub adopted: u64,
    /// Number of times the algorithm restarted because events of the connection were missing.
    pub gaps: u64,
    /// Events of connections that were under Reno at the time.
    pub fallback_events: u64,
}

impl<C: Control, M: FnMut(Setup) -> C> Bridge<C, M> {
    /// An empty table. `make` makes the algorithm of a connection.
    pub const fn new(make: M) -> Self {
        let counts = Counts { events: 0, flows: 0, adopted: 0, gaps: 0, fallback_events: 0 };
        Self { make, flows: BTreeMap::new(), counts }
    }

    /// Processes an event, in the order of the ring. A gap in a connection's events restarts its
    /// algorithm from the window in force, since it would take the missing events for one huge ACK.
    /// The old flow is then returned with the answer.
    pub fn on(&mut self, event: &KernelEvent) -> (Option<Answer>, Option<Flow<C>>) {
        self.counts.events += 1;
        self.counts.fallback_events += u64::from(event.fallback != 0);
        if event.kind == kind::RELEASE {
            let mine = self.flows.get(&event.slot).is_some_and(|flow| flow.last().id == event.id);
            return (None, if mine { self.flows.remove(&event.slot) } else { None });
        }
        if event.kind == kind::SENT {
            // Reported outside the congestion control's events, with the number of the preceding
            // one.
            let flow = self.flows.get_mut(&event.slot);
            let flow = flow.filter(|flow| (flow.last().id, flow.last().number) == (event.id, event.number));
            return (flow.map(|flow| flow.on(event)), None);
        }
        let last = self.flows.get(&event.slot).map(|flow| (flow.last().id, flow.last().number));
        let follows = last == Some((event.id, event.number.wrapping_sub(1))) && event.kind != kind::INIT;
        let mut ended = None;
        if !follows {
            match last {
                Some((id, _)) if id == event.id => self.counts.gaps += 1,
                _ => self.counts.flows += 1,
            }
            self.counts.adopted += u64::from(event.kind != kind::INIT);
            ended = self.flows.remove(&event.slot);
        }
        let make = &mut self.make;
        let flow = self.flows.entry(event.slot).or_insert_with(|| Flow::new(event, make));
        (Some(flow.on(event)), ended)
    }

    /// The connections, by their slots.
    pub fn flows(&self) -> impl Iterator<Item = &Flow<C>> {
        self.flows.values()
    }

    /// The connection in this slot.
    pub fn flow(&self, slot: u32) -> Option<&Flow<C>> {
        self.flows.get(&slot)
    }

    /// Ends all connections and returns them.
    pub fn into_flows(self) -> impl Iterator<Item = Flow<C>> {
        self.flows.into_values()
    }

    /// Progress of the session.
    pub const fn counts(&self) -> Counts {
        self.counts
    }
}
