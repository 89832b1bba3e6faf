//! A one-way link: queue, transmitter, wire.
//!
//! A packet's whole passage is computed when it arrives: the start and end of its transmission, and
//! its arrival at the far end. Rate and delay are those at the start: see [`change`]. Arrivals must
//! come in the order of time, but they may come ahead of the simulation's clock; see [`super`]. So
//! everything a link reports is computed from these times, never from a counter read "now".
//!
//! [`Link::accept`] defines a link's behaviour. [`shortcut`] has faster ways to the same result,
//! [`batch`] one for many packets at once, each with the test that proves it equal.

mod batch;
mod bucket;
mod change;
mod imperfection;
mod loss;
mod managed;
mod measure;
mod series;
mod shortcut;

use crate::engine::random::Purpose;
use crate::engine::{Stream, packet_order};
use crate::plan::{CardStamps, LinkPlan, LinkSettings};
use crate::queue::managed::LinkSite;
use crate::queue::{AnyDiscipline, DropTail, ManagedQueue, MarkAbove, Places};
use crate::record::series::{LinkSample, Rows, Sampling};
use crate::record::summary::LinkSummary;
use crate::router::mechanism::Waiting;
use crate::shared::{Name, Shared};
use imperfection::Imperfections;
use measure::Measured;
use selfclock_congestion::units::{Bytes, Duration, Rate, Time};
use series::part;

/// Times and durations below this add up, four at a time, to less than [`Time::NEVER`]: a month.
const NEAR: u64 = 1 << 61;

/// Fate of a packet that arrives at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// It reaches the far end.
    Crosses {
        /// Beginning of transmission.
        start: Time,
        /// Time of arrival there.
        arrival: Time,
        /// The queue was above its marking threshold.
        above: bool,
    },
    /// The queue had no room.
    Dropped,
    /// It was transmitted and lost on the wire.
    Lost {
        /// Beginning of transmission.
        start: Time,
        /// End of transmission.
        end: Time,
        /// The queue was above its marking threshold.
        above: bool,
    },
}

/// An admitted packet.
struct Entrance {
    /// Start and end of its transmission.
    start: Time,
    end: Time,
    /// The queue was above its marking threshold.
    above: bool,
}

/// A one-way link, of three cache lines. A packet touches only the first if it crosses without
/// waiting, the second, too, if it has to wait.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Link {
    /// When the transmitter finishes everything accepted so far.
    free_at: Time,
    /// Until then packets only cross or wait: no sample is due, nothing is recorded, lost or
    /// delayed.
    plain_until: Time,
    /// Transmission time of the last accepted size.
    recent_time: Duration,
    /// The order number of the last accepted packet, which increases by one per packet. Packets not
    /// yet in the totals have the last accepted size: most links see only one size, so counting a
    /// packet is one addition.
    order: u64,
    delay: Duration,
    /// A packet of the last accepted size that waits at most this long, only behind packets of its
    /// size, sets no new maximum of waiting packets: `most_waiting` covers it.
    most_wait: Duration,
    /// Upper bound of `plain_until`.
    plain_limit: Time,
    recent_size: u32,
    /// Whether packets must be marked or refused one by one.
    marks: bool,
    // The second line.
    queue: DropTail,
    /// Sum of waiting times, ps.
    waited: u128,
    // The third line: touched by samples and other sizes.
    totals: Totals,
    /// Maximum number of packets that waited at once.
    most_waiting: u32,
    /// Index in the network that holds the link, and in a row of samples.
    place: u32,
    /// Time of the next sample; [`Time::NEVER`] without one.
    next_sample: Time,
    /// Transmitter busy time at the previous sample, ps; with a trace, bytes used.
    busy_before: u64,
    /// Rarely used parts of a link.
    rare: Option<Box<Rare>>,
    /// Its properties, shared with the plan.
    settings: Shared<LinkSettings>,
}

const _: () = assert!(size_of::<Link>() == 192, "a flow with hosts of its own has four links");

/// Totals of the packets that `Link::count_recent` has counted.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    /// The order number of the last of them.
    counted: u64,
    accepted_bytes: u64,
    /// Sum of transmission times, ps: at most the length of the run plus one queue.
    busy: u64,
}

/// Rarely used parts of a link, created on demand.
#[derive(Clone, Debug, Default)]
struct Rare {
    imperfections: Option<Box<Imperfections>>,
    /// The queue of a discipline other than drop-tail.
    managed: Option<ManagedQueue>,
    /// Next handover of the network card at the far end.
    interrupt: Time,
    drops: u64,
    marks: u64,
    /// With a trace: bytes offered up to the previous sample.
    offered_before: u64,
    /// If it is not measured from the beginning.
    measured: Option<Box<Measured>>,
}

impl Rare {
    /// Whether delay is their only effect on packets, and no wait is measured.
    #[inline]
    fn only_delays(&self) -> bool {
        self.imperfections.as_ref().is_none_or(|own| own.only_delays()) && !self.measures_waits()
    }
}

impl Link {
    /// An idle link.
    pub fn new(plan: &LinkPlan, seed: u64, index: usize, sampling: Option<Sampling>) -> Self {
        let imperfections = Imperfections::new(plan, seed, index);
        let next_sample = sampling.map_or(Time::NEVER, |sampling| Time::ZERO + sampling.interval);
        let is_plain = imperfections.is_none() && plan.delay.picoseconds() <= NEAR;
        let plain_limit = if is_plain { Time::from_picoseconds(NEAR) } else { Time::ZERO };
        let stream = Stream::new(seed, Purpose::LinkQueue, index);
        let site = LinkSite { rate: plan.rate, has_trace: plan.trace.is_some(), stream };
        let managed = AnyDiscipline::new(plan.discipline, site).map(|discipline| {
            let mut queue = ManagedQueue::new(discipline, plan.queue, plan.counts_packet_in_service);
            queue.work.rate = plan.rate;
            queue
        });
        let has_rare = imperfections.is_some() || managed.is_some();
        Self {
            free_at: Time::ZERO,
            plain_until: next_sample.min(plain_limit),
            recent_time: Duration::ZERO,
            order: packet_order(index, 0),
            delay: plan.delay,
            most_wait: Duration::ZERO,
            plain_limit,
            recent_size: 0,
            marks: plan.discipline.mark_above().is_some(),
            queue: DropTail::new(places(plan)),
            waited: 0,
            totals: Totals { counted: packet_order(index, 0), ..Totals::default() },
            most_waiting: 0,
            place: index as u32,
            next_sample,
            busy_before: 0,
            rare: has_rare.then(|| Box::new(Rare { imperfections, managed, ..Rare::default() })),
            settings: plan.settings.clone(),
        }
    }

    /// The same at this place in a part of a network, which may hold fewer links than the plan has.
    pub fn at_place(self, place: usize) -> Self {
        Self { place: place as u32, ..self }
    }

    #[inline]
    fn imperfections(&self) -> Option<&Imperfections> {
        self.rare.as_deref()?.imperfections.as_deref()
    }

    #[inline]
    fn imperfections_mut(&mut self) -> Option<&mut Imperfections> {
        self.rare.as_deref_mut()?.imperfections.as_deref_mut()
    }

    /// The queue of a discipline other than drop-tail.
    #[inline]
    pub(super) fn managed(&self) -> Option<&ManagedQueue> {
        self.rare.as_deref()?.managed.as_ref()
    }

    /// The same, mutable.
    #[inline]
    pub(super) fn managed_mut(&mut self) -> Option<&mut ManagedQueue> {
        self.rare.as_deref_mut()?.managed.as_mut()
    }

    fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    fn marked(&self) -> u64 {
        self.rare.as_deref().map_or(0, |rare| rare.marks)
    }

    fn drops(&self) -> u64 {
        self.rare.as_deref().map_or(0, |rare| rare.drops)
    }

    /// Rate of the next transmission.
    #[inline]
    fn next_rate(&self) -> Rate {
        self.changes().map_or(self.settings.rate, |changes| changes.current().0)
    }

    /// The next transmission begins at `start`, or later: applies the changes of the path until
    /// then.
    #[inline]
    fn reach(&mut self, start: Time) {
        if self.imperfections().is_some_and(|own| own.next_change() <= start) {
            self.change_path(start);
        }
    }

    /// A packet of `size` bytes arrives at `now`, not before the previous one.
    pub fn accept(&mut self, now: Time, size: u32, samples: &mut Rows<LinkSample>) -> Passage {
        self.sample_before(now, samples);
        // A managed queue has asked before it took the packet.
        if self.managed().is_none() && self.is_full(now) {
            self.rare().drops += 1;
            return Passage::Dropped;
        }
        let (has_trace, has_bucket) =
            self.imperfections().map_or((false, false), |own| (own.server.is_some(), own.bucket.is_some()));
        let entrance = if has_trace {
            let entrance = self.enter_with_trace(now, size);
            entrance.inspect(|entrance| self.reach(entrance.start))
        } else if has_bucket {
            self.reach(self.free_at.max(now));
            self.enter_bucket(now, size)
        } else {
            self.reach(self.free_at.max(now));
            self.enter(now, size)
        };
        let Some(Entrance { start, end, above }) = entrance else {
            self.rare().drops += 1;
            return Passage::Dropped;
        };
        if self.rare.is_some() && self.managed().is_none() {
            self.note_wait(now, start);
        }
        let arrival = end + self.delay;
        let Some(Rare { imperfections: Some(own), drops, .. }) = self.rare.as_deref_mut() else {
            return Passage::Crosses { start, arrival, above };
        };
        *drops += own.losses_until(now);
        if own.loses(end) {
            return Passage::Lost { start, end, above };
        }
        Passage::Crosses { start, arrival: own.delayed(arrival), above }
    }

    /// A packet takes its place in the queue, or goes to a free transmitter. `None` if there is no
    /// room.
    #[inline(always)]
    fn enter(&mut self, now: Time, size: u32) -> Option<Entrance> {
        let previous = self.recent_size;
        let waits = self.free_at > now;
        let mut above = false;
        if waits {
            if !self.queue.admits(now, size, previous, places(&self.settings)) {
                return None;
            }
            above = self.marks && self.is_above_threshold(now);
        }
        let start = self.take_place(now, size);
        Some(Entrance { start, end: self.free_at, above })
    }

    /// A packet with room takes its place in the queue, or goes to a free transmitter. Returns the
    /// start of its transmission.
    #[inline(always)]
    fn take_place(&mut self, now: Time, size: u32) -> Time {
        let previous = self.recent_size;
        let waits = self.free_at > now;
        if !waits {
            self.queue.serve_all();
        }
        if size != previous {
            self.change_size(size);
        }
        if waits {
            self.wait(now, size, previous);
        }
        self.order += 1;
        let start = self.free_at.max(now);
        self.free_at = start + self.recent_time;
        start
    }

    /// A packet with room takes its place in the queue; `previous` is the size of the preceding
    /// one.
    #[inline]
    fn wait(&mut self, now: Time, size: u32, previous: u32) {
        self.queue.add(self.free_at, size, self.recent_time, previous);
        self.most_waiting = self.most_waiting.max(self.queue.packets() as u32);
        let wait = self.free_at.since(now);
        self.waited += u128::from(wait.picoseconds());
        // The packet in service may have another size and more time left than one of these takes.
        // With marking, every packet must be checked.
        if !self.marks
            && self.queue.is_uniform()
            && wait <= self.recent_time.times(self.queue.packets()).min(Duration::from_picoseconds(NEAR))
        {
            self.most_wait = self.most_wait.max(wait);
        }
    }

    /// Whether a packet that arrives now and must wait finds the queue above the marking threshold.
    fn is_above_threshold(&self, now: Time) -> bool {
        match self.settings.discipline.mark_above() {
            None => false,
            Some(MarkAbove::Packets(threshold)) => {
                self.queue.counted_packets(places(&self.settings)) > threshold
            }
            Some(MarkAbove::Wait(threshold)) => self.free_at.since(now) > threshold,
        }
    }

    #[inline]
    fn change_size(&mut self, size: u32) {
        self.count_recent();
        self.recent_size = size;
        self.recent_time = self.next_rate().transmission_time(Bytes(size.into()));
        self.most_wait = Duration::ZERO;
        if self.recent_time.picoseconds() > NEAR {
            self.limit_plain(Time::ZERO);
        }
    }

    /// When the end host receives a packet that arrives there at this time, not before the previous
    /// one: with the pending interrupt, or with a new one.
    #[inline]
    pub fn handed_over(&mut self, arrival: Time) -> Time {
        let coalescing = self.settings.coalescing;
        if coalescing.is_zero() {
            return arrival;
        }
        let rare = self.rare();
        if arrival > rare.interrupt {
            rare.interrupt = arrival + coalescing;
        }
        rare.interrupt
    }

    /// Whether the card at the end of the link stamps packets with their arrival.
    pub fn stamps_arrivals(&self) -> bool {
        self.settings.coalescing_stamps == CardStamps::Arrival
    }

    /// Packets in the managed queue, and those in transmission that will be lost.
    pub(super) fn held(&self, now: Time) -> u64 {
        let to_be_lost = self.imperfections().map_or(0, |own| own.losses_after(now));
        self.managed().map_or(0, |managed| managed.work.backlog.packets) + to_be_lost as u64
    }

    /// The packets that wait at `now`, the clock's time.
    pub fn backlog(&mut self, now: Time, samples: &mut Rows<LinkSample>) -> Waiting {
        self.catch_up(now, samples);
        self.sample_before(now, samples);
        self.queue.serve_until(now);
        let held = self.managed().map(|managed| managed.work.backlog);
        let (packets, bytes) = held.map_or((0, 0), |held| (held.packets, held.bytes));
        let server = self.imperfections().and_then(|own| own.server.as_ref());
        let in_service = match server {
            None => (self.free_at > now).then(|| self.queue.in_service(self.recent_size)),
            // A drop-tail queue holds a packet until its last byte has left.
            Some(server) => held.and_then(|_| server.in_service(now)),
        };
        Waiting {
            packets: self.queue.packets() + packets,
            bytes: self.queue.bytes() + bytes,
            limit: self.settings.queue,
            in_service,
            counts_packet_in_service: self.settings.counts_packet_in_service,
            is_idle: server.is_none() && in_service.is_none(),
        }
    }

    /// Bytes transmitted or in transmission, drops and marks until `now`, the clock's time.
    pub fn counted(&mut self, now: Time) -> (u64, u64, u64) {
        self.count_recent();
        self.count_losses(now);
        (self.totals.accepted_bytes - self.queue.bytes(), self.drops(), self.marked())
    }

    /// The order number of the last accepted packet: its place among events at its arrival.
    #[inline(always)]
    pub(super) fn order(&self) -> u64 {
        self.order
    }

    /// Rate of the transmitter at this time.
    pub fn rate(&self, now: Time) -> Rate {
        self.changes().map_or(self.settings.rate, |changes| changes.rate_at(now))
    }

    /// When the transmitter finishes everything accepted so far. All of it has arrived.
    pub fn busy_until(&self) -> Time {
        self.free_at
    }

    /// Counts a mark of the link's queue.
    pub(super) fn count_mark(&mut self) {
        self.rare().marks += 1;
    }

    /// Counts a packet dropped before the link or by its managed queue, at the clock's time.
    pub(super) fn count_drop(&mut self, now: Time, samples: &mut Rows<LinkSample>) {
        self.sample_before(now, samples);
        self.rare().drops += 1;
    }

    /// Counts packets lost on the wire until `now`.
    fn count_losses(&mut self, now: Time) {
        if let Some(Rare { imperfections: Some(own), drops, .. }) = self.rare.as_deref_mut() {
            *drops += own.losses_until(now);
        }
    }

    /// Brings the totals up to date.
    fn count_recent(&mut self) {
        let count = self.order - self.totals.counted;
        self.totals.counted = self.order;
        self.totals.accepted_bytes += count * u64::from(self.recent_size);
        self.totals.busy = self.totals.busy.saturating_add(self.recent_time.times(count).picoseconds());
    }

    /// Ends the run at `end` for the link with this index and name: takes the remaining samples and
    /// the totals.
    pub fn finish(
        &mut self,
        (index, name): (usize, &Name),
        end: Time,
        samples: &mut Rows<LinkSample>,
    ) -> LinkSummary {
        self.sample_before(end + Duration::from_picoseconds(1), samples);
        self.count_recent();
        self.count_losses(end);
        self.reach(end);
        let (until, totals, most_waiting) = self.progress_at(end);
        let before = self.measured_before(index);
        LinkSummary {
            name: name.clone(),
            rate_bps: self.rate(end).bits_per_second(),
            utilization: self.utilization(&before, &until),
            packets: totals.counted - packet_order(index, 0),
            bytes: totals.accepted_bytes,
            drops: self.drops(),
            ce_marks: self.marked(),
            queue_mean_packets: until.mean_waiting(&before),
            queue_max_packets: most_waiting,
            queue_mean_s: until.mean_wait(&before),
            waits: self.waits(),
        }
    }

    /// The totals of a run that ends at `end`: packets waiting beyond it are not transmitted, and
    /// have waited only until then. Also the sums of the waiting times of the packets kept and of
    /// those dropped from the queue, ps, and the maximum of waiting packets.
    fn totals_at(&self, end: Time) -> (Totals, u128, u128, u64) {
        let (mut totals, mut waited) = (self.totals, self.waited);
        for (start, size) in self.queue.starts().filter(|&(start, _)| start > end) {
            totals.counted -= 1;
            totals.accepted_bytes -= u64::from(size);
            // In a run ended early, it may have arrived only after the end, ahead of the clock.
            waited = waited.saturating_sub(u128::from(start.since(end).picoseconds()));
        }
        totals.busy = totals.busy.saturating_sub(self.free_at.since(end).picoseconds());
        match self.managed() {
            None => (totals, waited, 0, self.most_waiting.into()),
            Some(managed) => {
                let most_waiting = managed.most_waiting.max(self.most_waiting.into());
                let (kept, dropped) = managed.waited_until(end);
                (totals, waited + kept, dropped, most_waiting)
            }
        }
    }
}

/// The capacity of a link's drop-tail queue. With a trace a packet keeps its place until its last
/// byte has left.
#[inline(always)]
fn places(settings: &LinkSettings) -> Places {
    Places {
        limit: settings.queue,
        counts_packet_in_service: settings.counts_packet_in_service && settings.trace.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{LinkChange, LossPlan};
    use crate::subset::Subset;

    fn plan(rate: Rate, delay: Duration) -> LinkPlan {
        LinkPlan::new("link", (0, 1), rate, delay)
    }

    /// The timer starts with the first packet, and later ones do not move it.
    #[test]
    fn packets_are_handed_over_with_the_interrupt_of_the_first() {
        let microseconds = |number| Time::ZERO + Duration::from_microseconds(number);
        let mut plan = plan(Rate::from_bits_per_second(1_000_000_000), Duration::ZERO);
        plan.coalescing = Duration::from_microseconds(100);
        let handed_over = |plan: &LinkPlan| {
            let mut link = Link::new(plan, 1, 0, None);
            [10, 40, 110, 111, 300].map(|arrival| link.handed_over(microseconds(arrival)))
        };
        assert_eq!(handed_over(&plan), [110, 110, 110, 211, 400].map(microseconds));
        plan.coalescing = Duration::ZERO;
        assert_eq!(handed_over(&plan), [10, 40, 110, 111, 300].map(microseconds));
    }

    /// The usual path does not check sums of times for overflow: a link that never sends or
    /// delivers, or has come near the end of time, must not take it.
    #[test]
    fn nothing_wraps_at_the_end_of_time() {
        let (fast, slow) = (Rate::from_bits_per_second(8_000_000), Rate::from_bits_per_second(0));
        let late = Time::from_picoseconds(u64::MAX - 1_500_000_000);
        for (rate, delay, now, arrivals) in [
            (slow, Duration::ZERO, Time::ZERO, [Time::NEVER; 4]),
            (fast, Duration::MAX, Time::ZERO, [Time::NEVER; 4]),
            (
                fast,
                Duration::ZERO,
                late,
                [late + Duration::from_milliseconds(1), Time::NEVER, Time::NEVER, Time::NEVER],
            ),
        ] {
            let plan = plan(rate, delay);
            let (mut link, mut samples) =
                (Link::new(&plan, 1, 0, None), Rows::new(Subset::default(), 1, None));
            // Like a network: the usual path first.
            let found = [(); 4].map(|()| match link.accept_plain(now, 1000) {
                Some(arrival) => arrival,
                None => match link.accept(now, 1000, &mut samples) {
                    Passage::Crosses { arrival, .. } => arrival,
                    other => panic!("{other:?}"),
                },
            });
            assert_eq!(found, arrivals);
        }
    }

    /// A loss used to be counted at the packet's arrival, not at the end of its transmission, and
    /// so too early in the series and in a run ended early. And the summary had the rate of the
    /// last packet, not that of the end of the run.
    #[test]
    fn a_loss_counts_when_it_happens() {
        let ms = |number| Time::ZERO + Duration::from_milliseconds(number);
        let mut plan = plan(Rate::from_bits_per_second(8_000_000), Duration::ZERO);
        plan.loss = LossPlan::Bernoulli(1.0);
        plan.changes =
            vec![LinkChange { at: ms(4), rate: Rate::from_bits_per_second(1), delay: Duration::ZERO }];
        // Four packets at once, 1 ms each.
        let sampling = Some(Sampling { interval: Duration::from_milliseconds(1), expected: 3 });
        let mut link = Link::new(&plan, 1, 0, sampling);
        let mut samples = Rows::new(Subset::default(), 1, sampling);
        (0..4).for_each(|_| assert!(matches!(link.accept(ms(0), 1000, &mut samples), Passage::Lost { .. })));
        assert_eq!(link.held(ms(2)), 2);
        let (mut at_the_end, mut others) = (link.clone(), samples.clone());
        assert_eq!(link.finish((0, &plan.name), ms(3), &mut samples).drops, 3);
        assert_eq!(samples.of(0).map(|sample| sample.drops).collect::<Vec<_>>(), [1, 2, 3]);
        let summary = at_the_end.finish((0, &plan.name), ms(5), &mut others);
        assert_eq!((summary.drops, summary.rate_bps), (4, 1));
    }

    /// 1 ms of transmission and 10 ms of delay: of packets 1 ms apart, the limit of 4 lets the
    /// first four in, and the next when the first has arrived, at 11 ms, and so on. One that is
    /// lost leaves at the end of its transmission.
    #[test]
    fn a_limit_counts_what_is_on_the_wire() {
        let ms = |number| Time::ZERO + Duration::from_milliseconds(number);
        let mut plan = plan(Rate::from_bits_per_second(8_000_000), Duration::from_milliseconds(10));
        plan.total_limit = Some(4);
        for (loss, expected) in [
            (LossPlan::None, vec![0, 1, 2, 3, 11, 12, 13, 14, 22, 23]),
            (LossPlan::Bernoulli(1.0), (0..24).collect()),
        ] {
            plan.loss = loss;
            let mut link = Link::new(&plan, 1, 0, None);
            let mut samples = Rows::new(Subset::default(), 1, None);
            let accepted =
                (0..24).filter(|&now| link.accept(ms(now), 1000, &mut samples) != Passage::Dropped);
            assert_eq!(accepted.collect::<Vec<_>>(), expected);
        }
    }

    /// Small packets behind a large one wait as long as many small ones behind each other. After
    /// the former a link did not count the latter as a longer queue.
    #[test]
    fn the_longest_queue_is_counted_in_packets() {
        let us = |number| Time::ZERO + Duration::from_microseconds(number);
        let plan = plan(Rate::from_bits_per_second(8_000_000), Duration::ZERO);
        let (mut link, mut samples) = (Link::new(&plan, 1, 0, None), Rows::new(Subset::default(), 1, None));
        let mut arrive = |now, size| {
            if link.accept_plain(now, size).is_none() {
                link.accept(now, size, &mut samples);
            }
        };
        // 1500 us in service, and 40 us that wait for 1490.
        arrive(us(0), 1500);
        arrive(us(10), 40);
        // One in service, 29 that wait for at most 1160 us.
        for _ in 0..30 {
            arrive(us(2000), 40);
        }
        assert_eq!(link.finish((0, &plan.name), us(5000), &mut samples).queue_max_packets, 29);
    }

    /// 1000 B at 8 Mbit/s and then at 80 Mbit/s, 10 ms and then 1 ms away. By hand: of four packets
    /// at once, two begin before the change and take 1 ms each, two after it and take 100 us. All
    /// kept the rate of their arrival. None overtakes.
    #[test]
    fn a_path_changes_its_rate_and_its_delay() {
        let ms = |number| Time::ZERO + Duration::from_milliseconds(number);
        let us = |number| Time::ZERO + Duration::from_microseconds(number);
        let mut plan = plan(Rate::from_bits_per_second(8_000_000), Duration::from_milliseconds(10));
        plan.changes = vec![LinkChange {
            at: ms(2),
            rate: Rate::from_bits_per_second(80_000_000),
            delay: Duration::from_milliseconds(1),
        }];
        let (mut link, mut samples) = (Link::new(&plan, 1, 0, None), Rows::new(Subset::default(), 1, None));
        let mut crossing = |now| match link.accept(ms(now), 1000, &mut samples) {
            Passage::Crosses { start, arrival, .. } => (start, arrival),
            other => panic!("{other:?}"),
        };
        let found = [0, 0, 0, 0, 20].map(&mut crossing);
        assert_eq!(found.map(|(start, _)| start), [ms(0), ms(1), ms(2), us(2100), ms(20)]);
        // Those that begin later would be there at 3.1 and 3.2 ms.
        assert_eq!(found.map(|(_, arrival)| arrival), [ms(11), ms(12), ms(12), ms(12), us(21_100)]);
        // Asked at the clock's time, ahead of which the transmitter has been.
        assert_eq!([ms(1), ms(2)].map(|now| link.rate(now).bits_per_second()), [8_000_000, 80_000_000]);
        // Busy for 2 ms at 8 Mbit/s and 0.3 ms at 80, of 2 and 19.
        let utilization = link.finish((0, &plan.name), ms(21), &mut samples).utilization;
        let expected = (2.0 * 8.0 + 0.3 * 80.0) / (2.0 * 8.0 + 19.0 * 80.0);
        assert!((utilization - expected).abs() < 1e-12, "{utilization}");
    }
}
