//! FQ-CoDel: queues chosen by a hash of the flow, served in turn, new ones first, each with CoDel.
//! RFC 8290.

use super::codel::{self, CoDelState};
use super::flow_queues::{FlowQueues, QueueState};
use super::managed::{ActsAbove, Decision, Discipline, LinkSite, UsualLimit, Work};
use crate::named::settings;
use crate::packet::Packet;
use selfclock_congestion::units::{Bytes, Duration, Time};

selfclock_congestion::parameters! {
    /// Settings of FQ-CoDel.
    Parameters {
        /// Time that a packet may spend in its queue: "TARGET".
        target: Duration = Duration::from_milliseconds(5), shown "5 ms", unit "s", range (0.0, 1000.0), source "RFC 8290, section 5.2.2";
        /// For how long it may take longer before a packet is dropped: "INTERVAL".
        interval: Duration = Duration::from_milliseconds(100), shown "100 ms", unit "s", range (1e-9, 1000.0), source "RFC 8290, section 5.2.1";
        /// Mark what understands marks (ECN) instead of dropping it.
        ecn: bool = true, shown "true", unit "", range (0.0, 0.0), source "RFC 8290, section 5.2.6";
        /// Number of queues among which the hash chooses.
        flows: u32 = 1024, shown "1024", unit "", range (1.0, 65536.0), source "RFC 8290, section 5.2.5";
        /// Quantum of a round.
        quantum: Bytes = Bytes(1514), shown "1514 B", unit "B", range (1.0, 65535.0), source "RFC 8290, section 5.2.4";
        /// As Linux: CoDel leaves a queue alone only while all queues together hold no more than a
        /// packet, and counts what an overflow drops. If not, each queue is a CoDel of its own: a
        /// flow with one packet waiting is never dropped from, however many flows there are.
        shared_backlog: bool = false, shown "false", unit "", range (0.0, 0.0), source "RFC 8290, section 3: CoDel on each queue; Linux sch_fq_codel has it true";
    }
}
settings!(
    Parameters,
    "fq-codel",
    "Queues chosen by a hash of the flow, served in turn, new ones first, each with CoDel.",
    "RFC 8290"
);

/// Queues with CoDel.
#[derive(Clone, Debug)]
pub(crate) struct FqCoDel {
    codel: codel::Parameters,
    flows: FlowQueues<CoDelState>,
    shared_backlog: bool,
}

impl QueueState for CoDelState {
    fn on_removed(&mut self, packet: &Packet) {
        CoDelState::on_removed(self, packet);
    }

    fn on_overflow(&mut self, packets: u64) {
        CoDelState::add_drops(self, packets);
    }
}

impl Discipline for FqCoDel {
    type Settings = Parameters;

    fn new(settings: Parameters, mut site: LinkSite) -> Self {
        let Parameters { target, interval, ecn, flows, quantum, shared_backlog } = settings;
        Self {
            shared_backlog,
            codel: codel::Parameters { target, interval, ecn },
            flows: FlowQueues::new(flows, quantum.get(), site.stream.bits()),
        }
    }

    fn enqueue(&mut self, packet: Packet, work: &mut Work) {
        let index = self.flows.index_of(packet.flow);
        self.flows.queue_mut(index).state.on_enqueue(&packet);
        self.flows.push(index, packet, self.shared_backlog, work);
    }

    fn dequeue(&mut self, work: &mut Work) -> Option<Packet> {
        let (codel, shared) = (&self.codel, self.shared_backlog);
        self.flows.serve(work, |_, queue, work| {
            let packet = queue.state.dequeue(codel, shared, &mut queue.waiting, work);
            queue.bytes = queue.state.bytes();
            packet
        })
    }

    /// The packet finds all queues empty, and is the next one however many turns come first.
    fn decide(&mut self, packet: &mut Packet, _start: Time, work: &mut Work) -> Decision {
        if !work.backlog.has_room(packet.size) {
            return Decision::Later;
        }
        let own = self.flows.index_of(packet.flow);
        self.flows.activate(own);
        self.flows.serve(work, |index, queue, _| {
            if index != own {
                queue.state.find_empty();
                return None;
            }
            queue.state.pass(packet);
            Some(*packet)
        });
        Decision::Passes
    }

    fn for_each(&self, show: &mut dyn FnMut(&Packet)) {
        self.flows.waiting().for_each(show);
    }

    fn marks(settings: &Parameters) -> bool {
        settings.ecn
    }

    fn usual_limit(_: &Parameters) -> Option<UsualLimit> {
        Some(UsualLimit { packets: 10_240, source: "RFC 8290, section 5.2.3" })
    }

    fn acts_above(settings: &Parameters) -> Option<ActsAbove> {
        Some(ActsAbove::Delay(settings.target))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::flow_queues::FlowQueue;

    /// State for each flow, bytes, as docs/validation.md has it; the packets that are held come on
    /// top.
    #[test]
    fn state_for_each_flow() {
        assert_eq!(size_of::<FlowQueue<CoDelState>>(), 128);
    }
}
