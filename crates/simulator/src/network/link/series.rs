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
            self.queue.serve_until(time);
            // Everything accepted so far is transmitted without a pause until `free_at`.
            let busy = self.totals.busy.saturating_sub(self.free_at.since(time).picoseconds());
            let Sampled { busy, offered, held, drops } = match self.rare.as_deref_mut() {
                None => Sampled { busy, offered: interval.picoseconds(), held: 0, drops: 0 },
                Some(rare) => rare.sample(busy, time, interval),
            };
            let sample = LinkSample {
                queue_packets: self.queue.packets() + held,
                drops,
                bytes: self.totals.accepted_bytes - self.queue.bytes(),
                utilization: part(busy - self.busy_before, offered),
            };
            samples.put(time, self.place as usize, sample);
            self.busy_before = busy;
            self.next_sample = time + interval;
        }
        self.plain_until = self.next_sample.min(self.plain_limit);
    }

    /// Transmission time used until `time`, and available; bytes instead for a link with a trace.
    pub(super) fn used_and_offered(&self, busy: u64, time: Time) -> (u64, u64) {
        match self.imperfections().and_then(|own| own.server.as_ref()) {
            None => (busy, time.picoseconds()),
            Some(server) => server.used_and_offered_until(time),
        }
    }
}

/// Inputs of a sample from a link's rarely used parts.
struct Sampled {
    /// Transmission time used so far, ps; with a trace, bytes.
    busy: u64,
    /// Bytes offered since the previous sample.
    offered: u64,
    /// Packets that a managed queue holds.
    held: u64,
    drops: u64,
}

impl Rare {
    /// A sample at this time, of a link whose transmitter was busy for `busy` ps.
    fn sample(&mut self, busy: u64, time: Time, interval: Duration) -> Sampled {
        let held = self.managed.as_ref().map_or(0, |managed| managed.work.backlog.packets);
        let mut sampled = Sampled { busy, offered: interval.picoseconds(), held, drops: 0 };
        if let Some(own) = &mut self.imperfections {
            self.drops += own.losses_until(time);
            if let Some(server) = &own.server {
                let (used, offered) = server.used_and_offered_until(time);
                (sampled.busy, sampled.offered) = (used, offered - self.offered_before);
                self.offered_before = offered;
            }
        }
        sampled.drops = self.drops;
        sampled
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
