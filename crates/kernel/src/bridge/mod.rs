//! From kernel events to answers, without a kernel: pure, identical on every system, and replayed
//! by [`replay`](crate::log).

mod answer;
mod flow;
mod heard;
mod history;

use alloc::collections::BTreeMap;

pub use answer::{Answer, NO_THRESHOLD, flags};
pub use flow::{Control, Flow, in_flight, setup};
pub use heard::{Heard, Peer};
pub use history::LossHistory;
use selfclock_congestion::receiver::Partner;
use selfclock_congestion::{Setup, Time};

use crate::event::{KernelEvent, kind};

/// A connection whose algorithm receives TCP options.
pub type BridgedFlow<C> = Flow<Heard<C>>;

/// All connections of one algorithm.
#[derive(Debug)]
pub struct Bridge<C, M> {
    make: M,
    /// A peer that answers pairs, if the algorithm's does.
    peer: Option<Peer>,
    flows: BTreeMap<u32, (BridgedFlow<C>, Option<Peer>)>,
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
    /// Reports of the peer on pairs.
    pub reports: u64,
}

impl<C: Control, M: FnMut(Setup) -> C> Bridge<C, M> {
    /// An empty table. `make` makes the algorithm of a connection; `partner` is its receiver part.
    pub fn new(make: M, partner: &Partner) -> Self {
        let counts = Counts { events: 0, flows: 0, adopted: 0, gaps: 0, fallback_events: 0, reports: 0 };
        Self { make, peer: Peer::new(partner), flows: BTreeMap::new(), counts }
    }

    /// Processes an event, in the order of the ring. A gap in a connection's events restarts its
    /// algorithm from the window in force, since it would take the missing events for one huge ACK.
    /// The old flow is then returned with the answer.
    pub fn on(&mut self, event: &KernelEvent) -> (Option<Answer>, Option<BridgedFlow<C>>) {
        self.counts.events += 1;
        self.counts.fallback_events += u64::from(event.fallback != 0);
        self.counts.reports += u64::from(event.kind == kind::OPTION);
        if event.kind == kind::RELEASE {
            let mine = self.flow(event.slot).is_some_and(|flow| flow.last().id == event.id);
            return (None, if mine { self.flows.remove(&event.slot).map(|(flow, _)| flow) } else { None });
        }
        if matches!(event.kind, kind::SENT | kind::OPTION) {
            // Reported outside the congestion control's events, with the number of the preceding
            // one.
            let flow = self.flows.get_mut(&event.slot);
            let flow =
                flow.filter(|(flow, _)| (flow.last().id, flow.last().number) == (event.id, event.number));
            return (flow.map(|(flow, peer)| answer(flow, peer.as_mut(), event)), None);
        }
        let last = self.flow(event.slot).map(|flow| (flow.last().id, flow.last().number));
        let follows = last == Some((event.id, event.number.wrapping_sub(1))) && event.kind != kind::INIT;
        let mut ended = None;
        if !follows {
            match last {
                Some((id, _)) if id == event.id => self.counts.gaps += 1,
                _ => self.counts.flows += 1,
            }
            self.counts.adopted += u64::from(event.kind != kind::INIT);
            ended = self.flows.remove(&event.slot).map(|(flow, _)| flow);
        }
        let Self { make, peer, .. } = self;
        let (flow, peer) = self
            .flows
            .entry(event.slot)
            .or_insert_with(|| (Flow::new(event, |setup| Heard::new(make(setup))), peer.clone()));
        (Some(answer(flow, peer.as_mut(), event)), ended)
    }

    /// The connections, by their slots.
    pub fn flows(&self) -> impl Iterator<Item = &BridgedFlow<C>> {
        self.flows.values().map(|(flow, _)| flow)
    }

    /// The connection in this slot.
    pub fn flow(&self, slot: u32) -> Option<&BridgedFlow<C>> {
        self.flows.get(&slot).map(|(flow, _)| flow)
    }

    /// Ends all connections and returns them.
    pub fn into_flows(self) -> impl Iterator<Item = BridgedFlow<C>> {
        self.flows.into_values().map(|(flow, _)| flow)
    }

    /// Progress of the session.
    pub const fn counts(&self) -> Counts {
        self.counts
    }
}

/// The answer to an event; whether pairs are wanted is said to a kernel part that can mark them.
fn answer<C: Control>(flow: &mut BridgedFlow<C>, peer: Option<&mut Peer>, event: &KernelEvent) -> Answer {
    let Some(peer) = peer else { return flow.on(event) };
    if event.kind == kind::OPTION {
        let now = Time::from_picoseconds(event.now.saturating_sub(flow.began()).min(u64::MAX / 1000) * 1000);
        if let Some(option) = peer.reported(now, event.acked_sacked as u8, event.prior_delivered) {
            flow.control().hear(option);
        }
    }
    let mut answer = flow.on(event);
    if flow.control().controller().decision().probe.is_some() {
        answer.flags |= flags::PAIRS;
    }
    answer
}
