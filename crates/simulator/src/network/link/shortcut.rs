//! Shortcuts of [`Link::accept`]: the same result for the usual packet in fewer steps.
//!
//! Each returns when the packet is at the other end, or `None`: the shortcut does not apply, nothing has happened to the
//! packet, and the next one or `accept` is to be asked. The test below, `shortcuts_equal_accept`, runs random packets
//! through random links both ways and compares departures, samples, totals and drops.

use super::Link;
use crate::record::series::{LinkSample, Rows};
use selfclock_congestion::units::Time;

impl Link {
    /// From this time on no packet takes the shortcut [`Link::accept_plain`].
    pub(in crate::network) fn limit_plain(&mut self, until: Time) {
        self.plain_limit = self.plain_limit.min(until);
        self.plain_until = self.plain_until.min(until);
    }

    /// A packet of `size` bytes arrives at `now`, not before the previous one.
    ///
    /// Applies until `plain_until` (no sample is due, and the link has no imperfections), to a packet of the size before
    /// it that finds the transmitter free, or waits behind packets of its size, not longer than one of them has. Skips the
    /// looks at the samples, the imperfections and the marks, the computation of the transmission time, what the queue has
    /// served, and the largest number of packets waiting: it cannot become larger.
    #[inline(always)]
    pub(in crate::network) fn accept_plain(&mut self, now: Time, size: u32) -> Option<Time> {
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

    /// Applies where [`Link::accept_plain`] does, to a packet that waits longer than any before it or behind packets of
    /// another size, if the link does not mark. Skips the looks at the samples and the imperfections, and the computation
    /// of the transmission time.
    #[inline(never)]
    fn accept_waiting(&mut self, now: Time, size: u32) -> Option<Time> {
        if self.marks || !self.queue.admits(now, size, size) {
            return None;
        }
        self.wait(now, size, size);
        self.recent_count += 1;
        self.free_at += self.recent_time;
        Some(self.free_at + self.delay)
    }

    /// Takes the samples that are due before the packet.
    ///
    /// Applies then where `accept_plain` does, and to a packet of any size on a link that neither marks nor does anything
    /// to its packets but delay them. Skips the loss process, the changes of the path and the losses to be counted: there
    /// are none.
    #[inline]
    pub(in crate::network) fn accept_simple(
        &mut self,
        now: Time,
        size: u32,
        samples: &mut Rows<LinkSample>,
    ) -> Option<Time> {
        if self.next_sample < now {
            self.sample_before(now, samples);
            if let Some(arrival) = self.accept_plain(now, size) {
                return Some(arrival);
            }
        }
        let only_delays = self.imperfections.as_ref().is_none_or(|own| own.only_delays());
        if self.marks || !only_delays {
            return None;
        }
        let arrival = self.enter(now, size)?.end + self.delay;
        Some(self.imperfections.as_mut().map_or(arrival, |own| own.delayed(arrival)))
    }
}
