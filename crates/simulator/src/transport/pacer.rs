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
    /// A segment that left later than it might have shortens the wait of the next by the delay, at
    /// most by half: Linux's `tcp_update_skb_after_send`, against the jitter of its timers. A
    /// segment that waited for its ACK then does not push the next ones off the ACK clock.
    credit: bool,
}

impl Pacer {
    /// State before the first segment.
    pub const fn new(shaper: Option<Shaper>, credit: bool) -> Self {
        Self { release: Time::ZERO, bucket_empty: Time::ZERO, shaper, credit }
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
                let late = if self.credit { now.since(self.release) } else { Duration::ZERO };
                self.release.max(now) + less_credit(delay, late)
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

fn less_credit(delay: Duration, late: Duration) -> Duration {
    let delay = delay.picoseconds();
    Duration::from_picoseconds(delay - late.picoseconds().min(delay / 2))
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
        let mut pacer = Pacer::new(None, false);
        pacer.on_sent(at(541.3), Bytes(512), Some(pacing));
        assert_eq!(pacer.earliest(Some(pacing), Bytes(512)), at(580.0));
        assert_eq!(
            pacer.earliest(None, Bytes(512)),
            Time::ZERO,
            "not spaced: acknowledgements are the clock"
        );
    }

    /// Linux 6.18, net/ipv4/tcp_output.c: `len_ns -= min_t(u64, len_ns / 2, credit)`, where the
    /// credit is how much later than its own release the segment has left.
    #[test]
    fn a_late_segment_shortens_the_next_wait_by_half_at_most() {
        let size = Bytes(1500);
        let pacing = Pacing { interval: Duration::from_milliseconds(10), size, tick: Duration::ZERO };
        for (left, next) in [(10.0, 20.0), (13.0, 20.0), (15.0, 20.0), (18.0, 23.0), (500.0, 505.0)] {
            let mut pacer = Pacer::new(None, true);
            pacer.on_sent(at(0.0), size, Some(pacing));
            pacer.on_sent(at(left), size, Some(pacing));
            assert_eq!(pacer.earliest(Some(pacing), size), at(next), "left at {left} ms");
        }
    }

    #[test]
    fn a_leaky_bucket_never_exceeds_burst_plus_rate_times_time() {
        let shaper = Shaper { rate: Rate::from_bits_per_second(1_000_000), burst: Bytes(3000) };
        let mut pacer = Pacer::new(Some(shaper), false);
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
