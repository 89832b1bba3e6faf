//! A link that shapes with a token bucket, as tbf and HTB do: a packet whose tokens are there
//! leaves at the peak rate, any other waits for them at the head of the queue.

use super::{Entrance, Link, Rare, places};
use crate::plan::LinkSettings;
use selfclock_congestion::units::{Bytes, Duration, Rate, Time};

/// A token bucket. A token is the time that a byte takes at the rate, so the bucket is a time: when
/// it will be full (the virtual scheduling form of the leaky bucket, ITU-T I.371).
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    rate: Rate,
    /// Time in which an empty bucket fills.
    depth: Duration,
    /// Rate at which packets leave; all at once if `None`.
    peak: Option<Rate>,
    full_at: Time,
}

impl Bucket {
    /// A full bucket; `None` if the link has none.
    pub fn new(settings: &LinkSettings) -> Option<Self> {
        let LinkSettings { rate, burst, peak_rate: peak, .. } = *settings;
        let depth = rate.transmission_time(burst?);
        Some(Self { rate, depth, peak, full_at: Time::ZERO })
    }

    /// When the last byte of a packet leaves that is at the head from `start` on. One that is
    /// larger than the bucket waits for as many tokens all the same.
    fn serve(&mut self, start: Time, size: u32) -> Time {
        let size = Bytes(size.into());
        let tokens = self.rate.transmission_time(size);
        // The bucket has the tokens from then on.
        let has_them = (self.full_at + tokens).picoseconds().saturating_sub(self.depth.picoseconds());
        let begins = start.max(Time::from_picoseconds(has_them));
        self.full_at = self.full_at.max(begins) + tokens;
        begins + self.peak.map_or(Duration::ZERO, |peak| peak.transmission_time(size))
    }

    /// Bytes that the rate offers until a time.
    pub fn offered_until(&self, time: Time) -> u64 {
        self.rate.bytes_in(Duration::from_picoseconds(time.picoseconds())).get()
    }
}

impl Link {
    /// Like [`Link::enter`], on a link with a bucket: the time in service includes that at the head
    /// of the queue, until the tokens are there.
    #[cold]
    pub(super) fn enter_bucket(&mut self, now: Time, size: u32) -> Option<Entrance> {
        let previous = self.recent_size;
        let waits = self.free_at > now;
        let mut above = false;
        if waits {
            if !self.queue.admits(now, size, previous, places(&self.settings)) {
                return None;
            }
            above = self.marks && self.is_above_threshold(now);
        } else {
            self.queue.serve_all();
        }
        let start = self.free_at.max(now);
        let Rare { imperfections: Some(own), .. } = self.rare.as_deref_mut()? else { return None };
        let end = own.bucket.as_mut()?.serve(start, size);
        if waits {
            self.queue.add(start, size, end.since(start), previous);
            self.most_waiting = self.most_waiting.max(self.queue.packets() as u32);
            self.waited += u128::from(start.since(now).picoseconds());
        }
        self.free_at = end;
        self.recent_size = size;
        self.order += 1;
        self.totals.counted += 1;
        self.totals.accepted_bytes += u64::from(size);
        Some(Entrance { start, end, above })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::link::Passage;
    use crate::plan::LinkPlan;
    use crate::record::series::Rows;
    use crate::subset::Subset;

    /// 8 Mbit/s, a byte each microsecond, and a bucket of 3000 B, by hand. Of six packets of 1000 B
    /// at once three leave at once and the rest a millisecond apart; after 2 ms without traffic two
    /// more have their tokens. With a peak rate of 80 Mbit/s each takes 100 us on top.
    #[test]
    fn what_the_bucket_holds_leaves_at_once() {
        let us = |number| Time::ZERO + Duration::from_microseconds(number);
        let mut plan = LinkPlan::new("link", (0, 1), Rate::from_bits_per_second(8_000_000), Duration::ZERO);
        plan.burst = Some(Bytes(3000));
        let arrivals = [0, 0, 0, 0, 0, 0, 5000, 5000, 5000];
        for (peak, expected) in [
            (None, [0, 0, 0, 1000, 2000, 3000, 5000, 5000, 6000]),
            (Some(80_000_000), [100, 200, 300, 1100, 2100, 3100, 5100, 5200, 6100]),
        ] {
            plan.peak_rate = peak.map(Rate::from_bits_per_second);
            let mut link = Link::new(&plan, 1, 0, None);
            let mut samples = Rows::new(Subset::default(), 1, None);
            let found = arrivals.map(|now| match link.accept(us(now), 1000, &mut samples) {
                Passage::Crosses { arrival, .. } => arrival,
                other => panic!("{other:?}"),
            });
            assert_eq!(found, expected.map(us), "{peak:?}");
            // 9000 of the 10,000 bytes that the rate offers.
            let summary = link.finish((0, &plan.name), us(10_000), &mut samples);
            assert!((summary.utilization - 0.9).abs() < 1e-12, "{}", summary.utilization);
        }
    }
}
