//! Connections of one algorithm, by their slots.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use selfclock_congestion::Setup;
use selfclock_congestion::receiver::Partner;

use super::{Answer, Block, Control, Flow, RECEIVER, Receivers};
use crate::event::{KernelEvent, kind};

/// All connections of one algorithm.
#[derive(Debug)]
pub struct Bridge<C, M> {
    make: M,
    flows: BTreeMap<u32, Flow<C>>,
    receivers: Receivers,
    /// Options for the kernel part that the last event has changed.
    outgoing: Option<(u64, Vec<u8>)>,
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
        Self {
            make,
            flows: BTreeMap::new(),
            receivers: Receivers::new(Partner::NONE),
            outgoing: None,
            counts,
        }
    }

    /// With this part at the receivers of connections whose segments carry options.
    #[must_use]
    pub fn with_partner(self, partner: Partner) -> Self {
        Self { receivers: Receivers::new(partner), ..self }
    }

    /// Processes an event, in the order of the ring. A gap in a connection's events restarts its
    /// algorithm from the window in force, since it would take the missing events for one huge ACK.
    /// The old flow is then returned with the answer.
    pub fn on(&mut self, event: &KernelEvent) -> (Option<Answer>, Option<Flow<C>>) {
        self.outgoing = None;
        let answer = self.answer(event);
        if self.outgoing.is_none()
            && let Some(flow) = self.flows.get_mut(&event.slot)
        {
            self.outgoing = flow.outgoing().map(|bytes| (flow.last().id, bytes));
        }
        answer
    }

    /// The key of a connection whose options the last event has changed, and its options as
    /// `struct outgoing`.
    pub const fn take_outgoing(&mut self) -> Option<(u64, Vec<u8>)> {
        self.outgoing.take()
    }

    /// The options of the segment that this event, the last one, reports as sent, as they were
    /// given; `None` for other events and if they are unknown.
    pub fn wrote(&self, event: &KernelEvent) -> Option<Block> {
        match event.kind {
            kind::WROTE if event.id & RECEIVER != 0 => self.receivers.last(event.id),
            kind::WROTE => self.flows.get(&event.slot)?.wrote(),
            _ => None,
        }
    }

    /// An event about options.
    fn exchange(&mut self, event: &KernelEvent) {
        if event.kind == kind::ARRIVED {
            self.outgoing = self.receivers.arrived(event).map(|bytes| (event.id, bytes));
        } else if event.id & RECEIVER != 0 {
            self.receivers.wrote(event);
        } else if let Some(flow) = self.flows.get_mut(&event.slot).filter(|flow| flow.last().id == event.id) {
            flow.on_option(event);
        }
    }

    fn answer(&mut self, event: &KernelEvent) -> (Option<Answer>, Option<Flow<C>>) {
        self.counts.events += 1;
        self.counts.fallback_events += u64::from(event.fallback != 0);
        if event.kind == kind::RELEASE {
            let mine = self.flows.get(&event.slot).is_some_and(|flow| flow.last().id == event.id);
            return (None, if mine { self.flows.remove(&event.slot) } else { None });
        }
        if matches!(event.kind, kind::HEARD | kind::ARRIVED | kind::WROTE) {
            self.exchange(event);
            return (None, None);
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
