//! A one-way link: queue, transmitter, wire.
//!
//! A packet's whole passage is computed when it arrives: when its transmission begins and ends, and when it is at the
//! other end. Arrivals must come in the order of time, but they may come ahead of the simulation's clock; see
//! [`super`]. So everything a link reports is computed from these times, never from a counter read "now".

use super::loss::Loss;
use crate::delivery_trace::Server;
use crate::engine::Ring;
use crate::engine::random::{Purpose, Stream};
use crate::packet::Packet;
use crate::plan::{LinkChange, LinkPlan};
use crate::queue::managed::Site;
use crate::queue::{Discipline, DropTail, ManagedQueue, MarkAbove, QueueLimit};
use crate::record::series::{LinkSample, Rows, Sampling};
use crate::record::summary::LinkSummary;
use selfclock_congestion::units::{Bytes, Duration, PICOSECONDS_PER_SECOND, Rate, Time};

/// Times and their parts up to which sums of four of them are before [`Time::NEVER`]: a month.
const NEAR: u64 = 1 << 61;

/// What becomes of a packet that arrives at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// Its transmission begins and it reaches the other end at these times.
    Crosses {
        /// Beginning of transmission.
        start: Time,
        /// At the other end.
        arrival: Time,
    },
    /// As `Crosses`; the queue was above its marking threshold.
    CrossesAbove {
        /// Beginning of transmission.
        start: Time,
        /// At the other end.
        arrival: Time,
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

/// A one-way link. What every packet touches stands first: the first cache line if it just crosses, the second, too, if
/// it has to wait.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Link {
    /// When the transmitter will have sent everything accepted so far.
    free_at: Time,
    /// Before that there is nothing to do for a packet but to let it cross or wait: no sample is due, nothing is recorded,
    /// lost or delayed.
    plain_until: Time,
    /// Transmission time of the size accepted last, and how many of that size are not yet in the totals: most links
    /// see one size only, so counting a packet is one addition.
    recent_time: Duration,
    recent_count: u64,
    delay: Duration,
    /// The network card at the end hands over together what arrives within this time, and when it will hand over next.
    coalescing: Duration,
    interrupt: Time,
    recent_size: u32,
    /// Packets have to be marked or refused one by one.
    marks: bool,
    queue: DropTail,
    /// A packet of the size accepted last that waits no longer than that, behind others of its size alone, finds no more
    /// packets waiting than have ever been: `most_waiting` counts them.
    most_wait: Duration,
    // What a sample touches beside the first two lines.
    /// Time of the next sample; [`Time::NEVER`] if there is none.
    next_sample: Time,
    /// `plain_until` is not later than this.
    plain_limit: Time,
    imperfections: Option<Box<Imperfections>>,
    /// The queue in place of the drop-tail queue, if the discipline is another.
    pub(super) managed: Option<Box<ManagedQueue>>,
    sampler: LinkSampler,
    totals: Totals,
    mark_above: Option<MarkAbove>,
    rate: Rate,
    name: Box<str>,
}

/// What most links do not have.
#[derive(Clone, Debug)]
struct Imperfections {
    loss: Option<Loss>,
    jitter: Duration,
    jitter_stream: Stream,
    last_arrival: Time,
    /// Times of losses that are not yet in the totals: a packet is lost when its transmission ends.
    losses: Ring<Time>,
    /// Changes to come, the next one last.
    changes: Vec<LinkChange>,
    /// It sends at the opportunities of a trace.
    server: Option<Server>,
    /// With a trace: a packet keeps its place in a drop-tail queue until its last byte has left, not its first.
    in_system: bool,
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Totals {
    accepted: u64,
    accepted_bytes: u64,
    drops: u64,
    /// Sum of transmission times, ps: no more than the length of the run and one queue.
    busy: u64,
    marks: u64,
    most_waiting: u64,
    /// Sum of waiting times, ps.
    waited: u128,
}

/// What it takes to sample one link, as time passes its sample times.
#[derive(Clone, Debug, Default)]
struct LinkSampler {
    interval: Duration,
    /// At the sample before: time for which the transmitter was busy, ps; with a trace bytes used, and bytes offered.
    busy_before: u64,
    offered_before: u64,
    /// Which of the links this is.
    link: u32,
}

impl Link {
    /// An idle link.
    pub fn new(plan: &LinkPlan, seed: u64, index: usize, sampling: Option<Sampling>) -> Self {
        let loss = Loss::new(plan.loss, seed, index);
        let changes: Vec<LinkChange> = plan.changes.iter().rev().copied().collect();
        let imperfect =
            loss.is_some() || !plan.jitter.is_zero() || !changes.is_empty() || plan.trace.is_some();
        let imperfections = imperfect.then(|| {
            Box::new(Imperfections {
                loss,
                jitter: plan.jitter,
                jitter_stream: Stream::new(seed, Purpose::LinkJitter, index),
                last_arrival: Time::ZERO,
                losses: Ring::default(),
                changes,
                server: plan.trace.clone().map(Server::new),
                in_system: plan.counts_packet_in_service,
            })
        });
        let next_sample = sampling.map_or(Time::NEVER, |sampling| Time::ZERO + sampling.interval);
        let is_plain = imperfections.is_none() && plan.delay.picoseconds() <= NEAR;
        let plain_limit = if is_plain { Time::from_picoseconds(NEAR) } else { Time::ZERO };
        Self {
            free_at: Time::ZERO,
            plain_until: next_sample.min(plain_limit),
            recent_time: Duration::ZERO,
            recent_count: 0,
            delay: plan.delay,
            coalescing: plan.coalescing,
            interrupt: Time::ZERO,
            recent_size: 0,
            marks: plan.discipline.mark_above().is_some(),
            queue: DropTail::new(plan.queue, plan.counts_packet_in_service && plan.trace.is_none()),
            most_wait: Duration::ZERO,
            totals: Totals::default(),
            next_sample,
            plain_limit,
            mark_above: plan.discipline.mark_above(),
            rate: plan.rate,
            imperfections,
            sampler: LinkSampler {
                interval: sampling.map_or(Duration::ZERO, |sampling| sampling.interval),
                link: index as u32,
                ..LinkSampler::default()
            },
            managed: Discipline::new(
                plan.discipline,
                Site { rate: plan.rate, stream: Stream::new(seed, Purpose::LinkQueue, index) },
            )
            .map(|discipline| {
                Box::new(ManagedQueue::new(discipline, plan.queue, plan.counts_packet_in_service))
            }),
            name: plan.name.as_str().into(),
        }
    }

    /// From this time on packets take the long way through [`Link::accept`].
    pub(super) fn limit_plain(&mut self, until: Time) {
        self.plain_limit = self.plain_limit.min(until);
        self.plain_until = self.plain_until.min(until);
    }

    /// A packet of `size` bytes arrives at `now`, not before the previous one. When it is at the other end, if all there is
    /// to it is that it crosses; `None`: nothing has happened yet, and [`Link::accept`] says what does.
    #[inline(always)]
    pub(super) fn accept_plain(&mut self, now: Time, size: u32) -> Option<Time> {
        if now >= self.plain_until || size != self.recent_size {
            return None;
        }
        if self.free_at > now {
            let wait = self.free_at.since(now);
            if wait > self.most_wait || !self.queue.extend(self.free_at, size) {
                return self.accept_waiting(now, size);
            }
            self.totals.waited += u128::from(wait.picoseconds());
            self.recent_count += 1;
            self.free_at = self.free_at.after(self.recent_time);
            return Some(self.free_at.after(self.delay));
        }
        self.recent_count += 1;
        // What the queue has served is forgotten when the next packet has to wait.
        self.free_at = now.after(self.recent_time);
        Some(self.free_at.after(self.delay))
    }

    #[inline(never)]
    fn accept_waiting(&mut self, now: Time, size: u32) -> Option<Time> {
        if self.marks {
            return None;
        }
        self.queue.serve_until(now);
        if !self.queue.has_room(size, size) {
            return None;
        }
        self.wait(now, size, size);
        self.recent_count += 1;
        self.free_at += self.recent_time;
        Some(self.free_at + self.delay)
    }

    /// Of the same, for a packet before which samples have to be taken.
    #[inline]
    pub(super) fn accept_plain_after_samples(
        &mut self,
        now: Time,
        size: u32,
        samples: &mut Rows<LinkSample>,
    ) -> Option<Time> {
        if self.next_sample >= now {
            return None;
        }
        self.sample_before(now, samples);
        self.accept_plain(now, size)
    }

    /// Of the same, for a packet that has another size than the one before, or a link that delays packets and does nothing
    /// else to them; none is recorded.
    #[inline]
    pub(super) fn accept_simple(&mut self, now: Time, size: u32) -> Option<Time> {
        let delays = self.imperfections.as_ref().is_none_or(|own| own.only_delays());
        if now >= self.next_sample || self.marks || !delays {
            return None;
        }
        self.enter(now, size)?;
        let arrival = self.free_at + self.delay;
        Some(self.imperfections.as_mut().map_or(arrival, |own| own.delayed(arrival)))
    }

    /// A packet takes its place in the queue, or goes to the transmitter if that is free. When its transmission begins, and
    /// whether the queue is above its marking threshold; `None`: there is no room.
    #[inline(always)]
    fn enter(&mut self, now: Time, size: u32) -> Option<(Time, bool)> {
        let previous = self.recent_size;
        let waits = self.free_at > now;
        let mut above = false;
        if waits {
            self.queue.serve_until(now);
            if !self.queue.has_room(size, previous) {
                return None;
            }
            above = self.marks && self.mark_above.is_some_and(|threshold| self.is_above(threshold, now));
        } else {
            self.queue.serve_all();
        }
        if size != previous {
            self.change_size(size);
        }
        if waits {
            self.wait(now, size, previous);
        }
        self.recent_count += 1;
        let start = self.free_at.max(now);
        self.free_at = start + self.recent_time;
        Some((start, above))
    }

    /// A packet for which there is room takes its place in the queue; `previous` is the size of the one before.
    #[inline]
    fn wait(&mut self, now: Time, size: u32, previous: u32) {
        self.queue.add(self.free_at, size, self.recent_time, previous);
        self.totals.most_waiting = self.totals.most_waiting.max(self.queue.packets());
        let wait = self.free_at.since(now);
        self.totals.waited += u128::from(wait.picoseconds());
        // The packet in service may be of another kind, and its rest longer than the time of one of these. Where packets
        // are marked each has to be looked at.
        if !self.marks
            && self.queue.is_uniform()
            && wait <= self.recent_time.times(self.queue.packets()).min(Duration::from_picoseconds(NEAR))
        {
            self.most_wait = self.most_wait.max(wait);
        }
    }

    /// A packet of `size` bytes arrives at `now`, not before the previous one.
    pub fn accept(&mut self, now: Time, size: u32, samples: &mut Rows<LinkSample>) -> Passage {
        if self.next_sample < now {
            self.sample_before(now, samples);
        }
        if let Some(own) = &self.imperfections {
            let has_trace = own.server.is_some();
            if own.next_change() <= now {
                self.change_path(now);
            }
            if has_trace {
                return self.accept_with_trace(now, size);
            }
        }
        let Some((start, above)) = self.enter(now, size) else {
            self.totals.drops += 1;
            return Passage::Dropped;
        };
        let end = self.free_at;
        let arrival = end + self.delay;
        let passage = match &mut self.imperfections {
            None => Passage::Crosses { start, arrival },
            Some(imperfections) => {
                self.totals.drops += imperfections.losses_until(now);
                imperfections.apply(start, end, arrival)
            }
        };
        match passage {
            Passage::Crosses { start, arrival } if above => Passage::CrossesAbove { start, arrival },
            Passage::Lost { start, end, .. } => Passage::Lost { start, end, above },
            passage => passage,
        }
    }

    /// As [`Self::accept`], where the link sends at the opportunities of a trace. Every packet waits for one.
    #[cold]
    fn accept_with_trace(&mut self, now: Time, size: u32) -> Passage {
        let Some(own) = &mut self.imperfections else { return Passage::Dropped };
        let Some(server) = &mut own.server else { return Passage::Dropped };
        let mut above = false;
        // A managed queue hands over a packet when its opportunity has come.
        let is_drop_tail = self.managed.is_none();
        if is_drop_tail {
            server.skip_until(now);
            self.queue.serve_until(now);
            if !self.queue.has_room(size, 0) {
                self.totals.drops += 1;
                return Passage::Dropped;
            }
            above = match self.mark_above {
                None => false,
                Some(MarkAbove::Packets(threshold)) => self.queue.packets() > threshold,
                Some(MarkAbove::Wait(threshold)) => server.next().since(now) > threshold,
            };
        }
        let (start, end) = server.serve(size);
        self.free_at = server.next();
        self.totals.accepted += 1;
        self.totals.accepted_bytes += u64::from(size);
        if is_drop_tail {
            let left = if own.in_system { end } else { start };
            self.queue.add(left, size, Duration::ZERO, 0);
            self.totals.most_waiting = self.totals.most_waiting.max(self.queue.packets());
            self.totals.waited += u128::from(left.since(now).picoseconds());
        }
        self.totals.drops += own.losses_until(now);
        match own.apply(start, end, end + self.delay) {
            Passage::Crosses { start, arrival } if above => Passage::CrossesAbove { start, arrival },
            Passage::Lost { start, end, .. } => Passage::Lost { start, end, above },
            passage => passage,
        }
    }

    fn server(&self) -> Option<&Server> {
        self.imperfections.as_ref()?.server.as_ref()
    }

    /// When the host at the end gets a packet that arrives there at this time, not before the previous one: with the interrupt
    /// that waits, or with a new one if there is none.
    #[inline]
    pub fn handed_over(&mut self, arrival: Time) -> Time {
        if self.coalescing.is_zero() {
            return arrival;
        }
        if arrival > self.interrupt {
            self.interrupt = arrival + self.coalescing;
        }
        self.interrupt
    }

    /// The transmitter has nothing to send at `now`.
    pub(super) fn is_free(&self, now: Time) -> bool {
        self.free_at <= now
    }

    /// When the transmitter will be free.
    pub(super) fn free_at(&self) -> Time {
        self.free_at
    }

    /// A packet arrives at the managed queue.
    pub(super) fn enqueue(&mut self, now: Time, packet: &Packet, samples: &mut Rows<LinkSample>) {
        if self.next_sample < now {
            self.sample_before(now, samples);
        }
        let in_service = (!self.is_free(now)).then_some(self.recent_size);
        let (in_service, waits) = match self.imperfections.as_mut().and_then(|own| own.server.as_mut()) {
            None => (in_service, in_service.is_some()),
            Some(server) => {
                server.skip_until(now);
                self.free_at = server.next();
                (server.in_service(now), true)
            }
        };
        if let Some(managed) = &mut self.managed {
            managed.enqueue(now, packet, in_service, waits);
        }
    }

    /// The next packet of the managed queue.
    pub(super) fn dequeue(&mut self, now: Time, samples: &mut Rows<LinkSample>) -> Option<Packet> {
        if self.next_sample < now {
            self.sample_before(now, samples);
        }
        self.managed.as_mut()?.dequeue(now)
    }

    /// Packets in the managed queue, and those whose transmission is to end in their loss.
    pub(super) fn held(&self, now: Time) -> u64 {
        let to_be_lost = self
            .imperfections
            .as_ref()
            .map_or(0, |own| own.losses.iter().filter(|&&lost| lost > now).count());
        self.managed.as_ref().map_or(0, |managed| managed.work.backlog.packets) + to_be_lost as u64
    }

    /// Packets and bytes that wait at `now`, the time of the clock, and what may wait at most.
    pub fn backlog(&mut self, now: Time, samples: &mut Rows<LinkSample>) -> (u64, u64, QueueLimit) {
        if let Some(managed) = &self.managed {
            let backlog = &managed.work.backlog;
            return (backlog.packets, backlog.bytes, backlog.limit);
        }
        if self.next_sample < now {
            self.sample_before(now, samples);
        }
        self.queue.serve_until(now);
        (self.queue.packets(), self.queue.bytes(), self.queue.limit())
    }

    /// Rate of the transmitter for a packet that comes at `now`, the time of the clock.
    pub fn rate(&self, now: Time) -> Rate {
        let come = |imperfections: &Imperfections| {
            imperfections
                .changes
                .iter()
                .rev()
                .take_while(|change| change.at <= now)
                .last()
                .map(|change| change.rate)
        };
        self.imperfections.as_deref().and_then(come).unwrap_or(self.rate)
    }

    /// A packet that arrives now and must wait finds the queue above this threshold.
    fn is_above(&self, threshold: MarkAbove, now: Time) -> bool {
        match threshold {
            MarkAbove::Packets(threshold) => self.queue.counted_packets() > threshold,
            MarkAbove::Wait(threshold) => self.free_at.since(now) > threshold,
        }
    }

    #[inline]
    fn change_size(&mut self, size: u32) {
        self.count_recent();
        self.recent_size = size;
        self.recent_time = self.rate.transmission_time(Bytes(size.into()));
        self.most_wait = Duration::ZERO;
        if self.recent_time.picoseconds() > NEAR {
            self.limit_plain(Time::ZERO);
        }
    }

    /// The last of the changes whose time has come is what the path is now.
    #[cold]
    fn change_path(&mut self, now: Time) {
        // What was counted so far took the time of the old rate.
        self.count_recent();
        let Some(imperfections) = &mut self.imperfections else { return };
        while imperfections.next_change() <= now
            && let Some(change) = imperfections.changes.pop()
        {
            (self.rate, self.delay) = (change.rate, change.delay);
        }
        self.recent_time = self.rate.transmission_time(Bytes(self.recent_size.into()));
        self.most_wait = Duration::ZERO;
    }

    /// Brings the totals up to date.
    fn count_recent(&mut self) {
        let count = std::mem::take(&mut self.recent_count);
        self.totals.accepted += count;
        self.totals.accepted_bytes += count * u64::from(self.recent_size);
        self.totals.busy = self.totals.busy.saturating_add(self.recent_time.times(count).picoseconds());
    }

    #[cold]
    fn sample_before(&mut self, now: Time, samples: &mut Rows<LinkSample>) {
        self.count_recent();
        let sampler = &mut self.sampler;
        while self.next_sample < now {
            let time = self.next_sample;
            self.queue.serve_until(time);
            let own = self.imperfections.as_ref().and_then(|own| own.server.as_ref());
            let (busy, offered) = match own {
                // Everything accepted so far is transmitted without a pause until `free_at`.
                None => (
                    self.totals.busy.saturating_sub(self.free_at.since(time).picoseconds()),
                    time.picoseconds(),
                ),
                Some(server) => server.used_and_offered_until(time),
            };
            if let Some(imperfections) = &mut self.imperfections {
                self.totals.drops += imperfections.losses_until(time);
            }
            let sample = LinkSample {
                queue_packets: match &self.managed {
                    None => self.queue.packets(),
                    Some(managed) => managed.work.backlog.packets,
                },
                drops: self.totals.drops,
                bytes: self.totals.accepted_bytes - self.queue.bytes(),
                utilization: part(busy - sampler.busy_before, offered - sampler.offered_before),
            };
            samples.put(time, sampler.link as usize, sample);
            (sampler.busy_before, sampler.offered_before) = (busy, offered);
            self.next_sample = time + sampler.interval;
        }
        self.plain_until = self.next_sample.min(self.plain_limit);
    }

    /// Ends the run at `end`: takes the samples that are still to come, and the totals.
    pub fn finish(&mut self, end: Time, samples: &mut Rows<LinkSample>) -> LinkSummary {
        self.sample_before(end + Duration::from_picoseconds(1), samples);
        self.count_recent();
        if let Some(imperfections) = &mut self.imperfections {
            self.totals.drops += imperfections.losses_until(end);
            if imperfections.next_change() <= end {
                self.change_path(end);
            }
        }
        // What waits beyond the end has not been transmitted, and has waited only until the end.
        let mut totals = self.totals;
        for (start, size) in self.queue.starts().filter(|&(start, _)| start > end) {
            totals.accepted -= 1;
            totals.accepted_bytes -= u64::from(size);
            // Where a run is ended before its time, it may have arrived only after that, ahead of the clock.
            totals.waited = totals.waited.saturating_sub(u128::from(start.since(end).picoseconds()));
        }
        totals.busy = totals.busy.saturating_sub(self.free_at.since(end).picoseconds());
        if let Some(managed) = &self.managed {
            totals.waited = managed.waited_until(end);
            totals.most_waiting = managed.most_waiting;
        }
        let (busy, offered) = match self.server() {
            None => (totals.busy, end.picoseconds()),
            Some(server) => server.used_and_offered_until(end),
        };
        let length = end.picoseconds() as f64;
        LinkSummary {
            name: self.name.to_string(),
            rate_bps: self.rate.bits_per_second(),
            utilization: part(busy, offered),
            packets: totals.accepted,
            bytes: totals.accepted_bytes,
            drops: totals.drops,
            ce_marks: totals.marks,
            queue_mean_packets: totals.waited as f64 / length,
            queue_max_packets: totals.most_waiting,
            queue_mean_s: if self.totals.accepted == 0 {
                0.0
            } else {
                totals.waited as f64 / PICOSECONDS_PER_SECOND as f64 / self.totals.accepted as f64
            },
        }
    }

    pub(super) fn count_mark(&mut self) {
        self.totals.marks += 1;
    }

    /// A packet is dropped before the link or by its managed queue, at the time of the clock.
    pub(super) fn count_drop(&mut self, now: Time, samples: &mut Rows<LinkSample>) {
        if self.next_sample < now {
            self.sample_before(now, samples);
        }
        self.totals.drops += 1;
    }
}

/// A part of a whole; of nothing, none.
fn part(used: u64, offered: u64) -> f64 {
    match (i64::try_from(used), i64::try_from(offered)) {
        (_, Ok(0)) => 0.0,
        // Machines have an instruction for it only where there is a sign.
        (Ok(used), Ok(offered)) => used as f64 / offered as f64,
        _ => used as f64 / offered as f64,
    }
}

impl Imperfections {
    fn apply(&mut self, start: Time, end: Time, arrival: Time) -> Passage {
        if self.loss.as_mut().is_some_and(Loss::strikes) {
            self.losses.push(end);
            return Passage::Lost { start, end, above: false };
        }
        Passage::Crosses { start, arrival: self.delayed(arrival) }
    }

    /// There is jitter, and nothing else is left.
    #[inline]
    fn only_delays(&self) -> bool {
        self.loss.is_none() && self.changes.is_empty() && self.server.is_none() && self.losses.is_empty()
    }

    /// When a packet arrives that would arrive then without jitter.
    #[inline]
    fn delayed(&mut self, arrival: Time) -> Time {
        let mut arrival = arrival;
        if !self.jitter.is_zero() {
            arrival += self.jitter_stream.duration_below(self.jitter);
        }
        // A link does not reorder, whatever jitter or a shorter path would do.
        arrival = arrival.max(self.last_arrival);
        self.last_arrival = arrival;
        arrival
    }

    /// Losses by this time that were not asked for before.
    fn losses_until(&mut self, time: Time) -> u64 {
        let mut count = 0;
        while self.losses.front().is_some_and(|&lost| lost <= time) {
            self.losses.drop_front();
            count += 1;
        }
        count
    }

    /// When the path changes next.
    fn next_change(&self) -> Time {
        self.changes.last().map_or(Time::NEVER, |change| change.at)
    }
}

mod batch;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::LossPlan;

    fn plan(rate: Rate, delay: Duration) -> LinkPlan {
        LinkPlan::new("link", (0, 1), rate, delay)
    }

    /// The timer starts with the first packet, and is not moved by those that follow.
    #[test]
    fn packets_are_handed_over_with_the_interrupt_of_the_first() {
        let microseconds = |number| Time::ZERO + Duration::from_microseconds(number);
        let mut plan = LinkPlan {
            coalescing: Duration::from_microseconds(100),
            ..plan(Rate::from_bits_per_second(1_000_000_000), Duration::ZERO)
        };
        let handed_over = |plan: &LinkPlan| {
            let mut link = Link::new(plan, 1, 0, None);
            [10, 40, 110, 111, 300].map(|arrival| link.handed_over(microseconds(arrival)))
        };
        assert_eq!(handed_over(&plan), [110, 110, 110, 211, 400].map(microseconds));
        plan.coalescing = Duration::ZERO;
        assert_eq!(handed_over(&plan), [10, 40, 110, 111, 300].map(microseconds));
    }

    /// On the usual way nobody looks whether a sum of times is beyond the last of them: a link that never sends or delivers, or
    /// has come near the end of time, must not take it.
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
            let (mut link, mut samples) = (Link::new(&plan, 1, 0, None), Rows::new(1, None));
            // As a network asks: the usual way first.
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

    /// A loss was counted when the packet came to the queue, not when its transmission ended, and so in the series and in a run that ended
    /// before too early. And the summary had the rate of the last packet, not that of the end of the run.
    #[test]
    fn a_loss_counts_when_it_happens() {
        let ms = |number| Time::ZERO + Duration::from_milliseconds(number);
        let plan = LinkPlan {
            loss: LossPlan::Bernoulli(1.0),
            changes: vec![LinkChange {
                at: ms(4),
                rate: Rate::from_bits_per_second(1),
                delay: Duration::ZERO,
            }],
            ..plan(Rate::from_bits_per_second(8_000_000), Duration::ZERO)
        };
        // Four packets at once, 1 ms each.
        let sampling = Some(Sampling { interval: Duration::from_milliseconds(1), expected: 3 });
        let mut link = Link::new(&plan, 1, 0, sampling);
        let mut samples = Rows::new(1, sampling);
        (0..4).for_each(|_| assert!(matches!(link.accept(ms(0), 1000, &mut samples), Passage::Lost { .. })));
        assert_eq!(link.held(ms(2)), 2);
        let (mut at_the_end, mut others) = (link.clone(), samples.clone());
        assert_eq!(link.finish(ms(3), &mut samples).drops, 3);
        assert_eq!(samples.of(0).map(|sample| sample.drops).collect::<Vec<_>>(), [1, 2, 3]);
        let summary = at_the_end.finish(ms(5), &mut others);
        assert_eq!((summary.drops, summary.rate_bps), (4, 1));
    }

    /// Small packets behind a large one wait as long as many small ones behind each other. A link that had seen the first
    /// once took the second for no longer a queue.
    #[test]
    fn the_longest_queue_is_counted_in_packets() {
        let us = |number| Time::ZERO + Duration::from_microseconds(number);
        let plan = plan(Rate::from_bits_per_second(8_000_000), Duration::ZERO);
        let (mut link, mut samples) = (Link::new(&plan, 1, 0, None), Rows::new(1, None));
        let mut arrive = |now, size| {
            if link.accept_plain(now, size).is_none() {
                link.accept(now, size, &mut samples);
            }
        };
        // 1500 us in service, and 40 us that wait for 1490.
        arrive(us(0), 1500);
        arrive(us(10), 40);
        // One in service, 29 that wait for 1160 us at most.
        for _ in 0..30 {
            arrive(us(2000), 40);
        }
        assert_eq!(link.finish(us(5000), &mut samples).queue_max_packets, 29);
    }

    /// 1000 B at 8 Mbit/s and then at 80 Mbit/s, 10 ms and then 1 ms away. The packet that waits when the path changes keeps
    /// its times; the next one is faster, and does not overtake.
    #[test]
    fn a_path_changes_its_rate_and_its_delay() {
        let ms = |number| Time::ZERO + Duration::from_milliseconds(number);
        let plan = LinkPlan {
            changes: vec![LinkChange {
                at: ms(2),
                rate: Rate::from_bits_per_second(80_000_000),
                delay: Duration::from_milliseconds(1),
            }],
            ..plan(Rate::from_bits_per_second(8_000_000), Duration::from_milliseconds(10))
        };
        let (mut link, mut samples) = (Link::new(&plan, 1, 0, None), Rows::new(1, None));
        let mut arrival = |now| match link.accept(ms(now), 1000, &mut samples) {
            Passage::Crosses { arrival, .. } => arrival,
            other => panic!("{other:?}"),
        };
        assert_eq!([arrival(0), arrival(1), arrival(1)], [ms(11), ms(12), ms(13)]);
        // Served at 3.1 ms and there at 4.1 ms, were it not for the one before.
        assert_eq!(arrival(2), ms(13));
        assert_eq!(arrival(20), Time::ZERO + Duration::from_microseconds(21_100));
    }
}
