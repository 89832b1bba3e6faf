//! CoDel: drops at the head when the sojourn time has been too long for too long. RFC 8289.

use super::managed::{ActsAbove, Decision, Discipline, LinkSite, UsualLimit, Work};
use crate::engine::Ring;
use crate::named::settings;
use crate::packet::Packet;
use selfclock_congestion::units::{Duration, Time};

selfclock_congestion::parameters! {
    /// Settings of CoDel.
    Parameters {
        /// Time that a packet may spend in the queue: "TARGET".
        target: Duration = Duration::from_milliseconds(5), shown "5 ms", unit "s", range (0.0, 1000.0), source "RFC 8289: TARGET";
        /// For how long it may take longer before a packet is dropped: "INTERVAL".
        interval: Duration = Duration::from_milliseconds(100), shown "100 ms", unit "s", range (1e-9, 1000.0), source "RFC 8289: INTERVAL";
        /// Mark what understands marks (ECN) instead of dropping it.
        ecn: bool = true, shown "true", unit "", range (0.0, 0.0), source "our choice; RFC 8289 leaves it open";
    }
}
settings!(
    Parameters,
    "codel",
    "Controlled delay: drops at the head when packets have waited longer than the target for an interval, then after interval/√n.",
    "RFC 8289"
);

/// CoDel over one FIFO.
#[derive(Clone, Debug)]
pub(crate) struct CoDel {
    plan: Parameters,
    waiting: Ring<Packet>,
    /// Packets that took the shortcut, and that CoDel has not yet processed.
    passed: Ring<Passed>,
    state: CoDelState,
}

/// A packet that will not be dropped, whatever follows it.
#[derive(Clone, Copy, Debug, Default)]
struct Passed {
    arrival: Time,
    /// Start of its transmission.
    start: Time,
    size: u64,
}

/// The state variables of RFC 8289, section 5.4, for one queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CoDelState {
    /// When the sojourn time will have been above the target for an interval.
    first_above_time: Option<Time>,
    /// Time of the next drop.
    drop_next: Time,
    /// Drops since the dropping state was entered, and their number at the last entry.
    count: u64,
    last_count: u64,
    dropping: bool,
    /// Bytes in this queue, and the largest packet seen: with at most one packet's worth nothing is
    /// dropped.
    bytes: u64,
    largest: u64,
}

impl Default for CoDelState {
    fn default() -> Self {
        Self {
            first_above_time: None,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            dropping: false,
            bytes: 0,
            largest: 0,
        }
    }
}

impl CoDelState {
    /// A packet has been added to this queue.
    pub fn on_enqueue(&mut self, packet: &Packet) {
        self.bytes += u64::from(packet.size);
        self.largest = self.largest.max(u64::from(packet.size));
    }

    /// Bytes in this queue.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A packet has left this queue, for any reason.
    pub fn on_removed(&mut self, packet: &Packet) {
        self.bytes -= u64::from(packet.size);
    }

    /// Counts packets that were dropped otherwise.
    pub fn add_drops(&mut self, packets: u64) {
        self.count += packets;
    }

    /// A packet arrives at the empty queue and is taken at once: its sojourn is zero, so it is
    /// neither dropped nor marked.
    #[inline]
    pub fn pass(&mut self, packet: &Packet) {
        self.on_enqueue(packet);
        self.on_removed(packet);
        self.first_above_time = None;
        self.dropping = false;
    }

    /// [`CoDelState::dequeue`] of an empty queue.
    #[inline]
    pub fn find_empty(&mut self) {
        self.first_above_time = None;
    }

    /// The next packet of this queue, and whether it may be dropped: `dodequeue` of section 5.6.
    fn take(
        &mut self,
        plan: &Parameters,
        shared: bool,
        waiting: &mut Ring<Packet>,
        work: &mut Work,
    ) -> Option<(Packet, bool)> {
        let Some(packet) = waiting.pop() else {
            self.first_above_time = None;
            return None;
        };
        self.on_removed(&packet);
        work.left(&packet);
        let sojourn = work.now.since(packet.arrival);
        let bytes = if shared { work.backlog.bytes } else { self.bytes };
        if sojourn < plan.target || bytes <= self.largest {
            self.first_above_time = None;
            return Some((packet, false));
        }
        let since = *self.first_above_time.get_or_insert(work.now + plan.interval);
        Some((packet, work.now >= since))
    }

    /// The next packet to transmit: `deque` of section 5.5. An ECN-capable packet is marked instead
    /// of dropped, and then transmitted. With a `shared` backlog the bytes of all queues count.
    pub fn dequeue(
        &mut self,
        plan: &Parameters,
        shared: bool,
        waiting: &mut Ring<Packet>,
        work: &mut Work,
    ) -> Option<Packet> {
        let (mut packet, mut may_drop) = self.take(plan, shared, waiting, work)?;
        if self.dropping {
            self.dropping = may_drop;
            while self.dropping && work.now >= self.drop_next {
                self.count += 1;
                if plan.ecn && work.mark(&mut packet) {
                    self.drop_next = control_law(self.drop_next, plan.interval, self.count);
                    return Some(packet);
                }
                work.drop(packet);
                let Some(next) = self.take(plan, shared, waiting, work) else {
                    self.dropping = false;
                    return None;
                };
                (packet, may_drop) = next;
                self.dropping = may_drop;
                if may_drop {
                    self.drop_next = control_law(self.drop_next, plan.interval, self.count);
                }
            }
        } else if may_drop {
            let mut next = None;
            let marked = plan.ecn && work.mark(&mut packet);
            if !marked {
                work.drop(packet);
                next = self.take(plan, shared, waiting, work);
            }
            self.dropping = true;
            // "If min went above target close to when it last went below, assume that the drop rate
            // that controlled the queue on the last cycle is a good starting point": within 16
            // intervals.
            let delta = self.count - self.last_count;
            let recent = work.now.since(self.drop_next) < plan.interval.times(16);
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.drop_next = control_law(work.now, plan.interval, self.count);
            self.last_count = self.count;
            if !marked {
                return next.map(|(packet, _)| packet);
            }
        }
        Some(packet)
    }
}

/// "t + interval / sqrt(count)"
fn control_law(time: Time, interval: Duration, count: u64) -> Time {
    time + Duration::from_picoseconds((interval.picoseconds() as f64 / (count as f64).sqrt()) as u64)
}

impl CoDel {
    /// Processes the turns of packets that took the shortcut, up to now: `dodequeue` of each, which
    /// drops nothing.
    #[inline]
    fn see_passed(&mut self, now: Time) {
        let Self { plan, passed, state, .. } = self;
        while let Some(&Passed { arrival, start, size }) = passed.front()
            && start <= now
        {
            passed.drop_front();
            state.bytes -= size;
            if start.since(arrival) < plan.target || state.bytes <= state.largest {
                state.first_above_time = None;
            } else {
                state.first_above_time.get_or_insert(start + plan.interval);
            }
            state.dropping = false;
        }
    }
}

impl Discipline for CoDel {
    type Settings = Parameters;
    const DECIDES: bool = true;

    fn new(settings: Parameters, _: LinkSite) -> Self {
        Self {
            plan: settings,
            waiting: Ring::default(),
            passed: Ring::default(),
            state: CoDelState::default(),
        }
    }

    fn enqueue(&mut self, packet: Packet, work: &mut Work) {
        if !work.backlog.has_room(packet.size) {
            return work.drop(packet);
        }
        self.see_passed(work.now);
        work.entered(&packet);
        self.state.on_enqueue(&packet);
        self.waiting.push(packet);
    }

    fn dequeue(&mut self, work: &mut Work) -> Option<Packet> {
        self.see_passed(work.now);
        self.state.dequeue(&self.plan, false, &mut self.waiting, work)
    }

    /// A packet can be dropped only an interval after one with too long a sojourn. So most are
    /// known to pass; CoDel's state depends on the packets behind them, and is updated after their
    /// turn.
    fn decide(&mut self, packet: &mut Packet, start: Time, work: &mut Work) -> Decision {
        self.see_passed(work.now);
        let is_safe = start.since(work.now) < self.plan.interval
            && self.state.first_above_time.is_none_or(|since| start < since);
        if !is_safe || !work.backlog.has_room(packet.size) {
            return Decision::Later;
        }
        self.state.on_enqueue(packet);
        self.passed.push(Passed { arrival: work.now, start, size: packet.size.into() });
        Decision::Passes
    }

    fn for_each(&self, show: &mut dyn FnMut(&Packet)) {
        self.waiting.iter().for_each(show);
    }

    fn marks(settings: &Parameters) -> bool {
        settings.ecn
    }

    fn usual_limit(_: &Parameters) -> Option<UsualLimit> {
        Some(UsualLimit { packets: 1000, source: "Linux tc-codel(8)" })
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

    fn packet() -> Packet {
        Packet {
            arrival: Time::ZERO,
            order: 0,
            sequence: 0,
            sent: Time::ZERO,
            echo: Time::NEVER,
            flow: 0,
            hop: 0,
            payload: 1460,
            size: 1500,
            kind: PacketKind::Data,
            flags: Flags::ECT_0,
            extra: NO_EXTRA,
            number: 0,
        }
    }

    /// Times of drops, or of marks, s, of a permanent queue: one packet in and one out each
    /// millisecond, each after 400 ms in the queue.
    fn times(interval: u64, ecn: bool) -> Vec<f64> {
        let ms = Duration::from_milliseconds;
        let codel = CoDel::new(Parameters { target: ms(5), interval: ms(interval), ecn }, site());
        let mut queue = ManagedQueue::new(queue::AnyDiscipline::CoDel(codel), QueueLimit::Unlimited, false);
        for step in 0..400 {
            queue.enqueue(Time::ZERO + ms(step), &packet(), None, false, (0, 0));
        }
        let mut times = Vec::new();
        for step in 400..30_000 {
            let now = Time::ZERO + ms(step);
            queue.enqueue(now, &packet(), None, false, (0, 0));
            queue.dequeue(now);
            let count = if ecn { queue.work.marked.len() } else { queue.work.dropped.len() };
            times.extend(std::iter::repeat_n(now.seconds(), count));
        }
        times
    }

    /// The first drop comes an interval after the first packet that left too late, the n-th after
    /// another interval / sqrt(n - 1). Packets leave each millisecond, so each time is up to 1 ms
    /// late; lateness does not accumulate, because each time is counted from when the drop was due.
    #[test]
    fn drops_are_spaced_by_the_control_law() {
        for interval in [20, 50, 100, 300] {
            for ecn in [false, true] {
                let times = times(interval, ecn);
                let seconds = interval as f64 / 1000.0;
                let mut due = 0.4 + seconds;
                for (index, &time) in times.iter().take(150).enumerate() {
                    let late = time - due;
                    assert!((-1e-9..0.001 + 1e-9).contains(&late), "drop {index}: {time}, due {due}");
                    due += seconds / ((index + 1) as f64).sqrt();
                }
                // 1 + 1/sqrt(2) + ... + 1/sqrt(n - 1) is about 2 sqrt(n) - 1.46, 23 for 150.
                assert!(times.len() > 150, "{}", times.len());
            }
        }
    }

    /// A queue of one packet drops nothing, however old the packet is.
    #[test]
    fn one_packet_is_left() {
        let ms = Duration::from_milliseconds;
        let codel = CoDel::new(Parameters { target: ms(5), interval: ms(100), ecn: false }, site());
        let mut queue = ManagedQueue::new(queue::AnyDiscipline::CoDel(codel), QueueLimit::Unlimited, false);
        for step in 0..100 {
            let now = Time::ZERO + ms(200 * step);
            queue.enqueue(now, &packet(), None, false, (0, 0));
            assert!(queue.dequeue(now + ms(150)).is_some());
        }
    }
}
