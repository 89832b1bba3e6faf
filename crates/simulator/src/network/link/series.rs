//! Samples of a link, taken as time passes.
//!
//! A link is served ahead of the clock, so a sample is computed from the times of its packets,
//! never from a counter read "now".

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
        let interval = samples.interval();
        while self.next_sample < now {
            let time = self.next_sample;
            self.reach(time);
            self.update_until(time);
            self.queue.serve_until(time);
            if self.rare.is_some()
                && self.measures_at() == Some(time)
                && !self.samples_at_measurement(time, interval)
            {
                continue;
            }
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
            let next = time + interval;
            self.next_sample =
                if self.rare.is_none() { next } else { self.measures_at().unwrap_or(next).min(next) };
        }
        self.plain_until = self.next_sample.min(self.plain_limit);
    }

    /// The run is measured from this time on. Returns whether a sample is due as well, which is so
    /// only by chance; otherwise the next one is that of the interval's next multiple.
    #[cold]
    fn samples_at_measurement(&mut self, time: Time, interval: Duration) -> bool {
        self.begin_measurement(time);
        if interval.is_zero() {
            self.next_sample = Time::NEVER;
            return false;
        }
        let before = Time::ZERO + interval.times(time.ticks(interval));
        if time != before {
            self.next_sample = before + interval;
        }
        time == before
    }
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
    fn sample(&mut self, (before, busy, begun): (u64, u64, u64), time: Time, interval: Duration) -> Sampled {
        let held = self.managed.as_ref().map_or(0, |managed| managed.work.backlog.packets);
        let Some(own) = &mut self.imperfections else {
            let utilization = part(busy - before, interval.picoseconds());
            return Sampled { busy, utilization, held, drops: self.drops };
        };
        self.drops += own.losses_until(time);
        let (mut busy, drops) = (busy, self.drops);
        let utilization = if let Some(server) = &own.server {
            let (used, offered) = server.used_and_offered_until(time);
            let offered = offered - std::mem::replace(&mut self.offered_before, offered);
            busy = used;
            part(used - before, offered)
        } else if let Some(bucket) = &own.bucket {
            busy = begun;
            let offered = bucket.offered_until(time);
            part(busy - before, offered - std::mem::replace(&mut self.offered_before, offered))
        } else if let Some(changes) = &own.changes {
            let from = Time::from_picoseconds(time.picoseconds() - interval.picoseconds());
            changes.utilization((from, before), (time, busy))
        } else {
            part(busy - before, interval.picoseconds())
        };
        Sampled { busy, utilization, held, drops }
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
