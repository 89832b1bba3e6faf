//! Samples of a link, taken as time passes their times.
//!
//! A link is served ahead of the clock, so a sample is computed from the times of its packets, never from a counter
//! read "now".

use super::Link;
use crate::record::series::{LinkSample, Rows};
use selfclock_congestion::units::Time;

impl Link {
    /// Takes the samples whose times are before `now`, when the next thing happens to the link.
    #[inline(always)]
    pub(super) fn sample_before(&mut self, now: Time, samples: &mut Rows<LinkSample>) {
        if self.next_sample < now {
            self.take_samples(now, samples);
        }
    }

    #[cold]
    fn take_samples(&mut self, now: Time, samples: &mut Rows<LinkSample>) {
        self.count_recent();
        while self.next_sample < now {
            let time = self.next_sample;
            self.queue.serve_until(time);
            // Everything accepted so far is transmitted without a pause until `free_at`.
            let busy = self.totals.busy.saturating_sub(self.free_at.since(time).picoseconds());
            let (busy, offered) = self.used_and_offered(busy, time);
            self.count_losses(time);
            let offered_before = match &mut self.rare {
                Some(rare) if rare.has_trace() => std::mem::replace(&mut rare.offered_before, offered),
                _ => time.picoseconds() - samples.interval().picoseconds(),
            };
            let sample = LinkSample {
                queue_packets: self.queue.packets()
                    + self.managed().map_or(0, |managed| managed.work.backlog.packets),
                drops: self.drops(),
                bytes: self.totals.accepted_bytes - self.queue.bytes(),
                utilization: part(busy - self.busy_before, offered - offered_before),
            };
            samples.put(time, self.index as usize, sample);
            self.busy_before = busy;
            self.next_sample = time + samples.interval();
        }
        self.plain_until = self.next_sample.min(self.plain_limit);
    }

    /// Transmission time used until `time`, and the time it could have been: of a link with a trace, bytes instead.
    pub(super) fn used_and_offered(&self, busy: u64, time: Time) -> (u64, u64) {
        match self.imperfections().and_then(|own| own.server.as_ref()) {
            None => (busy, time.picoseconds()),
            Some(server) => server.used_and_offered_until(time),
        }
    }
}

/// The used fraction of what was offered; 0 if nothing was.
pub(super) fn part(used: u64, offered: u64) -> f64 {
    match (i64::try_from(used), i64::try_from(offered)) {
        (_, Ok(0)) => 0.0,
        // Machines convert signed numbers with one instruction.
        (Ok(used), Ok(offered)) => used as f64 / offered as f64,
        _ => used as f64 / offered as f64,
    }
}
