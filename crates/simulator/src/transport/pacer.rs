//! Release times of segments without an ACK clock.

use crate::plan::Shaper;
use selfclock_congestion::decision::Pacing;
use selfclock_congestion::units::{Bytes, Duration, Time};

/// Paces segments for the algorithm, and shapes them to the scenario's rate.
#[derive(Clone, Debug)]
pub struct Pacer {
    /// Release time of the next segment by the algorithm's pacing.
    release: Time,
    /// Virtual finishing time of the leaky bucket: the bucket is empty from then on.
    bucket_empty: Time,
    shaper: Option<Shaper>,
}

impl Pacer {
    /// State before the first segment.
    pub const fn new(shaper: Option<Shaper>) -> Self {
        Self { release: Time::ZERO, bucket_empty: Time::ZERO, shaper }
    }

    /// The earliest time at which a segment of `size` bytes on the wire may leave.
    #[inline]
    pub fn earliest(&self, pacing: Option<Pacing>, size: Bytes) -> Time {
        let spaced = if pacing.is_some() { self.release } else { Time::ZERO };
        match self.shaper {
            None => spaced,
            Some(shaper) => {
                // A bucket that drains at `rate` and holds `burst`: a segment may leave when it
                // fits beside the bucket's contents. One larger than the bucket waits until it is
                // empty.
                let room = shaper.burst.saturating_sub(size);
                let lead = shaper.rate.transmission_time(room);
                let fits = self.bucket_empty.picoseconds().saturating_sub(lead.picoseconds());
                spaced.max(Time::from_picoseconds(fits))
            }
        }
    }

    /// Whether this many bytes can leave at once.
    pub fn holds(&self, size: Bytes) -> bool {
        self.shaper.is_none_or(|shaper| shaper.burst >= size)
    }

    /// A segment of `size` bytes on the wire has left.
    #[inline]
    pub fn on_sent(&mut self, now: Time, size: Bytes, pacing: Option<Pacing>) {
        if let Some(pacing) = pacing {
            let delay = scaled(pacing, size);
            // The second of a pair leaves early: the next segment waits for both. A coarse clock
            // has one release a tick.
            self.release = if pacing.tick.is_zero() {
                self.release.max(now) + delay
            } else {
                self.release.max(beginning_of_tick(now, pacing.tick) + delay)
            };
        }
        if let Some(shaper) = self.shaper {
            self.bucket_empty = self.bucket_empty.max(now) + shaper.rate.transmission_time(size);
        }
    }
}

/// Delay of the segment after one of this size: "T scales with size".
fn scaled(pacing: Pacing, size: Bytes) -> Duration {
    // A full segment, nearly always, needs no division.
    let interval = if size == pacing.size {
        pacing.interval
    } else {
        pacing.interval.scaled(size.get(), pacing.size.get())
    };
    if pacing.tick.is_zero() {
        return interval;
    }
    // On a coarse clock, whole ticks, at least one: a nearly full segment delays as long as a full
    // one.
    let tick = pacing.tick.picoseconds();
    let ticks = (interval.picoseconds() + tick / 2) / tick;
    pacing.tick.times(ticks.max(1))
}

fn beginning_of_tick(now: Time, tick: Duration) -> Time {
    if tick.is_zero() { now } else { Time::ZERO + tick.times(now.ticks(tick)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selfclock_congestion::units::Rate;

    fn at(milliseconds: f64) -> Time {
        Time::ZERO + Duration::from_seconds(milliseconds / 1000.0)
    }

    #[test]
    fn releases_fall_on_ticks() {
        let pacing = Pacing {
            interval: Duration::from_milliseconds(40),
            size: Bytes(512),
            tick: Duration::from_milliseconds(10),
        };
        let mut pacer = Pacer::new(None);
        pacer.on_sent(at(541.3), Bytes(512), Some(pacing));
        assert_eq!(pacer.earliest(Some(pacing), Bytes(512)), at(580.0));
        assert_eq!(
            pacer.earliest(None, Bytes(512)),
            Time::ZERO,
            "not spaced: acknowledgements are the clock"
        );
    }

    #[test]
    fn a_leaky_bucket_never_exceeds_burst_plus_rate_times_time() {
        let shaper = Shaper { rate: Rate::from_bits_per_second(1_000_000), burst: Bytes(3000) };
        let mut pacer = Pacer::new(Some(shaper));
        let (mut now, mut sent) = (at(0.0), 0);
        for _ in 0..1000 {
            now = now.max(pacer.earliest(None, Bytes(1000)));
            pacer.on_sent(now, Bytes(1000), None);
            sent += 1000;
            let envelope = 3000 + shaper.rate.bytes_in(now.since(Time::ZERO)).get();
            assert!(sent <= envelope, "{sent} > {envelope} at {now:?}");
        }
        // No starvation: the 997 kB beyond the burst take exactly 7.976 s at 1 Mbit/s.
        assert_eq!(now, at(7976.0));
    }
}
