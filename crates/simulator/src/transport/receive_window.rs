//! The receive window: constant, or autotuned by Linux's dynamic right-sizing
//! (`net/ipv4/tcp_input.c` of Linux 6.18).
//!
//! Two limits grow. The advertised window ("`rcv_ssthresh`") grows by two segments with each that
//! arrives (`tcp_grow_window`), up to the buffer's share for data ("`window_clamp`"). That share
//! grows once per round trip to twice what the application has read in it, and in slow start to
//! twice more than the next round trip can bring (`tcp_rcv_space_adjust`, `tcp_rcvbuf_grow`).

use crate::plan::{ReceiveWindow, Transport};
use selfclock_congestion::units::{Duration, Time};

/// Payload below which a segment does not open the window (`tcp_event_data_recv`), bytes.
const SHORT: u32 = 128;
/// Segments that the first round trip is expected to bring (`tcp_init_buffer_space`:
/// `TCP_INIT_CWND`).
const FIRST_ROUND: u64 = 10;

/// The window of one receiver, bytes.
#[derive(Clone, Copy, Debug)]
pub struct AdvertisedWindow {
    /// The advertised window.
    window: u64,
    /// Bound of it, which grows.
    clamp: u64,
    /// Bound of that.
    maximum: u64,
    mss: u64,
    /// Most payload that arrived in a round trip ("rcvq_space.space").
    space: u64,
    /// Next byte expected when the current round trip began, and when it ends.
    round_start: u64,
    round_end: Time,
}

impl AdvertisedWindow {
    /// The window of a connection with this transport.
    pub fn new(transport: &Transport) -> Self {
        let (window, maximum) = (transport.first_window().get(), transport.advertised_window().get());
        let mss = transport.mss.get();
        let grows = transport.receive_window == ReceiveWindow::Auto;
        Self {
            window,
            clamp: window,
            maximum,
            mss,
            space: window.min(FIRST_ROUND * mss),
            round_start: 0,
            round_end: if grows { Time::ZERO } else { Time::NEVER },
        }
    }

    /// The window that the receiver advertises now, bytes.
    #[inline(always)]
    pub const fn get(&self) -> u64 {
        self.window
    }

    /// Payload of a full segment, bytes.
    #[inline(always)]
    pub const fn mss(&self) -> u64 {
        self.mss
    }

    /// The window in segments.
    pub const fn segments(&self) -> u64 {
        self.window / self.mss
    }

    /// A segment in order arrives; `next` is the next byte expected now, and `highest` the one
    /// after the highest that has arrived. `echo`: when the ACK left that the segment answers. True
    /// if the advertised window grows.
    #[inline(always)]
    pub fn on_data(&mut self, now: Time, echo: Time, payload: u32, (next, highest): (u64, u64)) -> bool {
        if now >= self.round_end {
            self.end_round(now, echo, next, highest);
        }
        self.window < self.clamp && self.open(payload)
    }

    /// The same for a segment beyond a gap: what is held takes room, too.
    pub fn on_data_beyond(&mut self, payload: u32, (next, highest): (u64, u64)) -> bool {
        if self.clamp < self.maximum {
            self.raise_to(self.space.saturating_mul(2).saturating_add(highest - next));
        }
        self.window < self.clamp && self.open(payload)
    }

    #[inline(never)]
    fn open(&mut self, payload: u32) -> bool {
        let opens = payload >= SHORT;
        if opens {
            self.window = (self.window + 2 * self.mss).min(self.clamp);
        }
        opens
    }

    /// "Number of bytes copied to user in last RTT" (`tcp_rcv_space_adjust`).
    #[inline(never)]
    fn end_round(&mut self, now: Time, echo: Time, next: u64, highest: u64) {
        // Nothing has told the round-trip time yet.
        if echo == Time::NEVER {
            return;
        }
        let copied = next - self.round_start;
        let first = self.round_end == Time::ZERO;
        if !first && copied > self.space {
            // "DRS is always one RTT late. [...] allow the sender to double its rate."
            let twice = copied.saturating_mul(2);
            let growth = u128::from(twice) * u128::from(copied - self.space) / u128::from(self.space);
            self.space = copied;
            let wanted = u128::from(twice) + 2 * growth + u128::from(highest - next);
            self.raise_to(u64::try_from(wanted).unwrap_or(u64::MAX));
        }
        if !first {
            self.round_start = next;
        }
        self.round_end = now + now.since(echo);
    }

    fn raise_to(&mut self, wanted: u64) {
        self.clamp = self.clamp.max(wanted.min(self.maximum));
    }

    /// How many groups of segments, `gap` apart and the last of the first one at `first`, arrive
    /// before something changes here; `u64::MAX` if nothing can. See
    /// `Receiver::batch_acknowledgement`.
    pub fn steady_groups(&self, first: Time, gap: Duration) -> u64 {
        if self.window < self.clamp {
            return 0;
        }
        if self.round_end == Time::NEVER {
            return u64::MAX;
        }
        if first >= self.round_end {
            return 0;
        }
        (self.round_end.since(first).picoseconds() - 1) / gap.picoseconds().max(1) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selfclock_congestion::units::Bytes;

    const MSS: u64 = 1448;

    /// Lets `segments` segments arrive at `now`, in answer to an ACK a tenth of a second earlier.
    fn arrive(window: &mut AdvertisedWindow, now: Time, next: &mut u64, segments: u64) {
        let echo = Time::from_picoseconds(now.picoseconds() - 100_000_000_000);
        for _ in 0..segments {
            *next += MSS;
            window.on_data(now, echo, MSS as u32, (*next, *next));
        }
    }

    fn at(milliseconds: u64) -> Time {
        Time::ZERO + Duration::from_milliseconds(milliseconds)
    }

    /// `tcp_rcvbuf_grow` of Linux 6.18: 2 × 20 segments in a round trip after 11, and for slow
    /// start 2 × 40 × (20 - 11) / 11 more. The window opens by two segments each.
    #[test]
    fn the_window_of_a_slow_start() {
        let mut window = AdvertisedWindow::new(&Transport::modern());
        assert_eq!(window.get(), 65_160);
        let mut next = 0;
        for (round, segments) in [(1, 10), (2, 20), (3, 40)] {
            arrive(&mut window, at(round * 100), &mut next, segments);
        }
        // The first segment of a round ends the one before and counts in it, as what the
        // application has just read: 11 segments were measured, then 20.
        let expected = 40 * MSS + 2 * (40 * MSS * 9 / 11);
        assert_eq!((window.clamp, window.get()), (expected, expected));
        for round in 4..20 {
            arrive(&mut window, at(round * 100), &mut next, 40 << (round - 3).min(12));
        }
        assert_eq!(window.get(), 20_971_520);
    }

    /// A steady flow has twice what a round trip brings, and a fixed window stays as it is.
    #[test]
    fn a_steady_flow_and_a_fixed_window() {
        let mut window = AdvertisedWindow::new(&Transport::modern());
        let mut next = 0;
        (1..50).for_each(|round| arrive(&mut window, at(round * 100), &mut next, 40));
        // 41 where 10 were expected: 2 × 41 and 2 × 82 × 31 / 10.
        assert_eq!(window.get(), 82 * MSS + 2 * (82 * MSS * 31 / 10));
        let receive_window = ReceiveWindow::Fixed(Bytes(100_000));
        let mut window = AdvertisedWindow::new(&Transport { receive_window, ..Transport::modern() });
        (1..50).for_each(|round| arrive(&mut window, at(round * 100), &mut next, 40));
        assert_eq!(window.get(), 100_000);
        assert_eq!(window.steady_groups(at(1), Duration::from_milliseconds(1)), u64::MAX);
    }
}
