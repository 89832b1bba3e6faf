//! Samples of a link, taken as time passes.
//!
//! A link is served ahead of the clock, so a sample is computed from the times of its packets,
//! never from a counter read "now".

use super::imperfection::Imperfections;
use super::{Link, Rare};
use crate::record::series::{LinkSample, Rows};
use selfclock_congestion::units::{Duration, Time};

impl Link {
    /// Takes the samples before `now`, the next event of the link.
    #[inline(always)]
    pub(super) fn sample_before(&mut self, now: Time, samples: &mut Rows<LinkSample>) {
        if self.next_sample < now {
            self.take_samples(now, samples);
        }
    }

    #[cold]
    fn take_samples(&mut self, now: Time, samples: &mut Rows<LinkSample>) {
        self.count_recent();
        if self.rare.is_none() {
            self.take_due(now, samples);
        } else {
            self.take_beside_measurement(now, samples);
        }
        self.plain_until = self.next_sample.min(self.plain_limit);
    }

    #[inline(always)]
    fn take_due(&mut self, now: Time, samples: &mut Rows<LinkSample>) {
        let interval = samples.interval();
        while self.next_sample < now {
            let time = self.next_sample;
            self.reach(time);
            self.update_until(time);
            self.queue.serve_until(time);
            // Everything accepted so far is transmitted without a pause until `free_at`.
            let busy = self.totals.busy.saturating_sub(self.free_at.since(time).picoseconds());
            let before = self.busy_before;
            let Sampled { busy, utilization, held, drops } = match self.rare.as_deref_mut() {
                None => {
                    let utilization = part(busy - before, interval.picoseconds());
                    Sampled { busy, utilization, held: 0, drops: 0 }
                }
                Some(rare) => {
                    let begun = self.totals.accepted_bytes - self.queue.bytes();
                    rare.sample((before, busy, begun), time, interval)
                }
            };
            let sample = LinkSample {
                queue_packets: self.queue.packets() + held,
                drops,
                bytes: self.totals.accepted_bytes - self.queue.bytes(),
                utilization,
            };
            samples.put(time, self.place as usize, sample);
            self.busy_before = busy;
            self.next_sample = time + interval;
        }
    }

    /// Like [`Self::take_due`], on a link with rarely used parts, which may have to note what it
    /// had done when its measurement began.
    fn take_beside_measurement(&mut self, now: Time, samples: &mut Rows<LinkSample>) {
        let pending = self.measures_at();
        if let Some(from) = pending.filter(|&from| from < now) {
            self.take_due(from, samples);
            self.reach(from);
            self.update_until(from);
            self.queue.serve_until(from);
            self.begin_measurement(from);
            self.next_sample = first_multiple(from, samples.interval());
            self.take_due(now, samples);
        } else {
            self.take_due(now, samples);
            self.next_sample = pending.map_or(self.next_sample, |from| from.min(self.next_sample));
        }
    }
}

/// The first sample at this time or after it; [`Time::NEVER`] without samples.
fn first_multiple(time: Time, interval: Duration) -> Time {
    if interval.is_zero() {
        return Time::NEVER;
    }
    let before = Time::ZERO + interval.times(time.ticks(interval));
    if before < time { before + interval } else { before }
}

/// Inputs of a sample from a link's rarely used parts.
struct Sampled {
    /// Transmission time used so far, ps; with a trace or a bucket, bytes.
    busy: u64,
    /// The part used of what could be sent since the previous sample.
    utilization: f64,
    /// Packets that a managed queue holds.
    held: u64,
    drops: u64,
}

impl Rare {
    /// A sample at this time, of a link whose transmitter was busy for `busy` ps, `before` at the
    /// previous one, and has begun to send `begun` bytes.
    #[inline(always)]
    fn sample(&mut self, (before, busy, begun): (u64, u64, u64), time: Time, interval: Duration) -> Sampled {
        if let Some(own) = &mut self.imperfections
            && !own.only_jitters()
        {
            let drops = self.drops + own.losses_until(time);
            let (utilization, busy) =
                own.used((before, busy, begun), time, interval, &mut self.offered_before);
            self.drops = drops;
            return Sampled { busy, utilization, held: self.held(), drops };
        }
        Sampled {
            busy,
            utilization: part(busy - before, interval.picoseconds()),
            held: self.held(),
            drops: self.drops,
        }
    }

    /// Packets that a managed queue holds.
    fn held(&self) -> u64 {
        self.managed.as_ref().map_or(0, |managed| managed.work.backlog.packets)
    }
}

impl Imperfections {
    /// The part used of what could be sent since the previous sample, and the use until now.
    fn used(
        &self,
        (before, busy, begun): (u64, u64, u64),
        time: Time,
        interval: Duration,
        offered_before: &mut u64,
    ) -> (f64, u64) {
        let mut offer = |offered| offered - std::mem::replace(offered_before, offered);
        if let Some(server) = &self.server {
            let (used, offered) = server.used_and_offered_until(time);
            (part(used - before, offer(offered)), used)
        } else if let Some(bucket) = &self.bucket {
            (part(begun - before, offer(bucket.offered_until(time))), begun)
        } else if let Some(changes) = &self.changes {
            let from = Time::from_picoseconds(time.picoseconds() - interval.picoseconds());
            (changes.utilization((from, before), (time, busy)), busy)
        } else {
            (part(busy - before, interval.picoseconds()), busy)
        }
    }
}

/// Fraction used of what was offered; 0 if nothing was.
pub(super) fn part(used: u64, offered: u64) -> f64 {
    match (i64::try_from(used), i64::try_from(offered)) {
        (_, Ok(0)) => 0.0,
        // Signed numbers convert in one instruction.
        (Ok(used), Ok(offered)) => used as f64 / offered as f64,
        _ => used as f64 / offered as f64,
    }
}
