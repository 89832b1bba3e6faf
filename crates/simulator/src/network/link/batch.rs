//! Many packets at once that cross a link alike: see `simulation::batch`, whose test
//! `batches_change_nothing` proves the result equal to [`Link::accept`], packet by packet.
//!
//! Applies where every packet would take the shortcut `accept_plain` and waits as long as its
//! counterpart in the previous group, or like it finds the transmitter free. Skips every packet but
//! those of the first group.

use super::Link;
use selfclock_congestion::units::{Duration, Time};

/// A group's passage.
struct Crossing {
    /// When the transmitter finishes them.
    free_at: Time,
    /// Sum of their waiting times, ps.
    waited: u64,
    /// Number of packets that wait: all, or all behind the first that does.
    waiting: u32,
}

impl Link {
    /// Packets of `size` bytes arrive at these times, in groups, each `gap` after the previous one.
    /// Returns the number of groups that cross like the first, each a `gap` later; 0 if unknown.
    /// The times become those at the far end.
    pub(crate) fn groups_alike(&self, size: u32, gap: Duration, times: &mut [Time]) -> u64 {
        let (Some(&first), Some(&last)) = (times.first(), times.last()) else { return 0 };
        let begins_waiting = self.free_at > first;
        let Some(crossing) = self.cross_as_group(size, times) else { return 0 };
        let alike = if begins_waiting {
            // Each waits as long as its counterpart in the previous group.
            crossing.waiting as usize == times.len()
                && crossing.free_at == self.free_at + gap
                && self.queue.ends_alike(self.free_at, size)
        } else {
            crossing.free_at <= first + gap
        };
        if !alike || last >= self.plain_until {
            return 0;
        }
        let before = self.plain_until.since(last).picoseconds() - 1;
        before / gap.picoseconds().max(1) + 1
    }

    /// Applies the passage of `groups` of these groups.
    pub(crate) fn take_groups(&mut self, size: u32, gap: Duration, times: &mut [Time], groups: u64) {
        let begins_waiting = times.first().is_some_and(|&first| self.free_at > first);
        let Some(Crossing { free_at, waited, waiting }) = self.cross_as_group(size, times) else { return };
        self.free_at = free_at + gap.times(groups - 1);
        self.order += groups * times.len() as u64;
        self.waited += u128::from(groups) * u128::from(waited);
        if begins_waiting {
            self.queue.extend_by(waiting * groups as u32);
        } else if waiting > 0 {
            self.queue.hold(waiting, size, self.recent_time, self.free_at);
        }
    }

    /// The rules of [`Link::accept_plain`]. `None`: some do not hold, or a packet waits and a later
    /// one does not.
    fn cross_as_group(&self, size: u32, times: &mut [Time]) -> Option<Crossing> {
        if size != self.recent_size {
            return None;
        }
        let mut crossing = Crossing { free_at: self.free_at, waited: 0, waiting: 0 };
        for time in times {
            if crossing.free_at > *time {
                let wait = crossing.free_at.since(*time);
                if wait > self.most_wait || self.marks {
                    return None;
                }
                crossing.waited += wait.picoseconds();
                crossing.waiting += 1;
            } else if crossing.waiting > 0 {
                return None;
            } else {
                crossing.free_at = *time;
            }
            crossing.free_at += self.recent_time;
            *time = crossing.free_at + self.delay;
        }
        Some(crossing)
    }
}
