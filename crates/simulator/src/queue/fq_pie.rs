//! FQ-PIE: queues chosen by a hash of the flow, served in turn, new ones first, each with PIE. Flow
//! queueing as in RFC 8290, PIE as in RFC 8033; the two were put together by Linux 5.6
//! (`sch_fq_pie`), whose defaults these are.

use super::flow_queues::{FlowQueue, FlowQueues, QueueState};
use super::managed::{ActsAbove, Discipline, LinkSite, UsualLimit, Work};
use super::pie::{self, PieState};
use crate::engine::Stream;
use crate::named::settings;
use crate::packet::Packet;
use selfclock_congestion::units::{Bytes, Duration};

selfclock_congestion::parameters! {
    /// Settings of FQ-PIE.
    Parameters {
        /// Delay that each queue's controller aims at: "QDELAY_REF".
        target: Duration = Duration::from_milliseconds(15), shown "15 ms", unit "s", range (1e-9, 1000.0), source "RFC 8033, section 4.2";
        /// Interval of its updates: "T_UPDATE".
        update: Duration = Duration::from_milliseconds(15), shown "15 ms", unit "s", range (1e-9, 1000.0), source "RFC 8033, section 4.2";
        /// Burst that passes after a queue was short: "MAX_BURST".
        burst: Duration = Duration::from_milliseconds(150), shown "150 ms", unit "s", range (0.0, 1000.0), source "RFC 8033, section 4.4";
        /// Mark what understands marks (ECN) instead of dropping it, while the probability is at
        /// most 0.1.
        ecn: bool = true, shown "true", unit "", range (0.0, 0.0), source "RFC 8033, section 5.1; our choice, Linux has it off";
        /// Number of queues among which the hash chooses.
        flows: u32 = 1024, shown "1024", unit "", range (1.0, 65536.0), source "Linux sch_fq_pie: flows_cnt";
        /// Quantum of a round.
        quantum: Bytes = Bytes(1514), shown "1514 B", unit "B", range (1.0, 65535.0), source "Linux sch_fq_pie: the MTU with its link header";
    }
}
settings!(
    Parameters,
    "fq-pie",
    "Queues chosen by a hash of the flow, served in turn, new ones first, each with PIE.",
    "RFC 8033 and RFC 8290"
);

/// Queues with PIE.
#[derive(Clone, Debug)]
pub(crate) struct FqPie {
    pie: pie::Parameters,
    stream: Stream,
    flows: FlowQueues<Managed>,
}

/// State that manages one queue.
#[derive(Clone, Copy, Debug, Default)]
struct Managed {
    /// `None` until its first packet.
    state: Option<PieState>,
    /// How long the packet waited that left last, s. The rate of one queue among several is not
    /// known, so its delay is that of a time stamp (RFC 8033, section 4.3).
    delay: f64,
}

impl QueueState for Managed {
    fn on_removed(&mut self, _: &Packet) {}
    fn on_overflow(&mut self, _: u64) {}
}

impl FqPie {
    /// The state of a queue, with the updates that were due.
    fn catch_up<'a>(
        pie: &pie::Parameters,
        queue: &'a mut FlowQueue<Managed>,
        work: &Work,
    ) -> (&'a mut PieState, f64) {
        let Managed { state, delay } = &mut queue.state;
        if queue.waiting.is_empty() {
            *delay = 0.0;
        }
        let state = state.get_or_insert_with(|| PieState::new(pie));
        state.catch_up(pie, work.now, *delay);
        (state, *delay)
    }
}

impl Discipline for FqPie {
    type Settings = Parameters;

    fn new(settings: Parameters, mut site: LinkSite) -> Self {
        let Parameters { target, update, burst, ecn, flows, quantum } = settings;
        Self {
            pie: pie::Parameters { target, update, burst, ecn },
            flows: FlowQueues::new(flows, quantum.get(), site.stream.bits()),
            stream: site.stream,
        }
    }

    fn enqueue(&mut self, mut packet: Packet, work: &mut Work) {
        let index = self.flows.index_of(packet.flow);
        let queue = self.flows.queue_mut(index);
        let bytes = queue.bytes;
        let (state, delay) = Self::catch_up(&self.pie, queue, work);
        state.on_arrival(&self.pie, delay);
        if state.rejects(&self.pie, bytes, &mut self.stream, &mut packet, work) {
            return work.drop(packet);
        }
        self.flows.push(index, packet, false, work);
    }

    fn dequeue(&mut self, work: &mut Work) -> Option<Packet> {
        let pie = &self.pie;
        self.flows.serve(work, |_, queue, work| {
            Self::catch_up(pie, queue, work);
            let packet = queue.waiting.pop()?;
            queue.bytes -= u64::from(packet.size);
            queue.state.delay = work.now.since(packet.arrival).seconds();
            work.left(&packet);
            Some(packet)
        })
    }

    fn for_each(&self, show: &mut dyn FnMut(&Packet)) {
        self.flows.waiting().for_each(show);
    }

    fn marks(settings: &Parameters) -> bool {
        settings.ecn
    }

    fn usual_limit(_: &Parameters) -> Option<UsualLimit> {
        Some(UsualLimit { packets: 10_240, source: "Linux sch_fq_pie" })
    }

    fn acts_above(settings: &Parameters) -> Option<ActsAbove> {
        Some(ActsAbove::Delay(settings.target))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Flags, NO_EXTRA, PacketKind};
    use crate::queue::managed::tests::site;
    use crate::queue::{self, ManagedQueue, QueueLimit};
    use selfclock_congestion::units::Time;

    /// Two flows on a link that sends a packet each millisecond: one sends two each millisecond,
    /// the other one each four. The queue of the first grows until it loses what its turns do not
    /// carry; that of the second stays empty, so that nothing of it is dropped, whatever the first
    /// has waiting.
    #[test]
    fn only_the_queue_that_stands_is_dropped_from() {
        let settings = Parameters { ecn: false, ..Parameters::default() };
        let discipline = queue::AnyDiscipline::FqPie(FqPie::new(settings, site()));
        let mut queue = ManagedQueue::new(discipline, QueueLimit::Unlimited, false);
        let mut dropped = [0_u32; 2];
        for step in 0..20_000_u64 {
            let now = Time::ZERO + Duration::from_milliseconds(step);
            let arrivals = if step.is_multiple_of(4) { vec![0, 0, 1] } else { vec![0, 0] };
            for flow in arrivals {
                let packet = Packet {
                    arrival: now,
                    order: 0,
                    sequence: 0,
                    sent: now,
                    echo: Time::NEVER,
                    flow,
                    hop: 0,
                    payload: 960,
                    size: 1000,
                    kind: PacketKind::Data,
                    flags: Flags::NONE,
                    extra: NO_EXTRA,
                    number: 0,
                };
                queue.enqueue(now, &packet, None, true, (0, 0));
                let late = u32::from(step >= 10_000);
                for packet in &queue.work.dropped {
                    dropped[packet.flow as usize] += if packet.flow == 0 { late } else { 1 };
                }
            }
            queue.dequeue(now).expect("there is always a packet");
        }
        assert_eq!(dropped[1], 0);
        // Flow 0 gets 750 of its 2000 packets a second, so 62.5 % are dropped in the long run. It
        // does not answer, and its delay is known a queue too late, so the queue swings between 0.2
        // and 0.7 s: 10 s of drops are off by half a second of service, 400 packets.
        let expected = 12_500.0;
        assert!((f64::from(dropped[0]) - expected).abs() < 400.0, "{}", dropped[0]);
    }
}
