//! Reno's congestion avoidance, RFC 5681.

use crate::entry::Entry;
use crate::event::{Acknowledged, EcnEcho, LossDetected, Timeout};
use crate::part::WindowPart;
use crate::state::WindowState;
use crate::{choice, parameters};

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "reno",
    about: "One segment more per round-trip time, half the flight at a loss.",
    source: "RFC 5681",
    parameters: Parameters::TABLE,
    ..Entry::WINDOW
};

choice! {
    /// Unit of congestion avoidance.
    Counting {
        /// As `byte_counting` of the transport says: bytes with the profile `modern`,
        /// acknowledgements with `classic`.
        Transport = "transport",
        /// Acknowledgements: SMSS*SMSS/cwnd each, equation 3 of RFC 5681.
        PerAck = "per-ack",
        /// Acknowledged bytes: one SMSS per window of data whatever the receiver's acknowledgement
        /// ratio.
        PerByte = "per-byte",
    }
}

choice! {
    /// Quantity that a loss halves.
    Halved {
        /// FlightSize, RFC 5681 equation 4: the data outstanding, at most the window.
        FlightSize = "flight-size",
        /// cwnd, as the simulators of the 1990s did.
        Window = "window",
    }
}

choice! {
    /// Rounding of ssthresh.
    Threshold {
        /// Nothing: RFC 5681 counts bytes.
        Exact = "exact",
        /// Down to whole segments, as 4.4BSD, Linux and ns-2 do.
        WholeSegments = "whole-segments",
    }
}

parameters! {
    /// Parameters of Reno.
    Parameters {
        /// Unit of congestion avoidance.
        counting: Counting = Counting::Transport, shown "transport", unit "", range (0.0, 0.0),
            source "RFC 5681 section 3.1, equation 3; RFC 3465 section 2.1; Linux tcp_cong_avoid_ai counts segments";
        /// Quantity that a loss halves.
        halved: Halved = Halved::FlightSize, shown "flight-size", unit "", range (0.0, 0.0),
            source "RFC 5681 section 3.1, equation 4";
        /// Rounding of ssthresh.
        threshold: Threshold = Threshold::Exact, shown "exact", unit "", range (0.0, 0.0),
            source "RFC 5681 section 3.1, equation 4; whole segments: 4.4BSD tcp_input.c, Linux tcp_reno_ssthresh";
        /// React to a congestion mark with `beta_ecn`, not as to a loss.
        abe: bool = false, shown "false", unit "", range (0.0, 0.0),
            source "RFC 8511 is experimental; RFC 3168 treats a mark as a loss";
        /// Part of the window that is kept at a congestion mark, with `abe`.
        beta_ecn: f64 = 0.8, shown "0.8", unit "", range (0.1, 0.99), requires abe = true,
            source "RFC 8511 section 3.1";
    }
}

/// Reno.
#[derive(Clone, Copy, Debug)]
pub struct Reno {
    parameters: Parameters,
}

impl Reno {
    /// As in RFC 5681. Many algorithms behave like this while the window is small.
    pub const STANDARD: Self = Self::new(Parameters {
        counting: Counting::Transport,
        halved: Halved::FlightSize,
        threshold: Threshold::Exact,
        abe: false,
        beta_ecn: 0.8,
    });

    /// Halves the window instead of the flight. For algorithms that do not grow an unused window:
    /// there the flight equals the window, except during a recovery so long that more than a window
    /// has been sent since the oldest outstanding segment, and half of that would be too much.
    pub const OF_WINDOW: Self = Self::new(Parameters {
        counting: Counting::Transport,
        halved: Halved::Window,
        threshold: Threshold::Exact,
        abe: false,
        beta_ecn: 0.8,
    });

    /// With these parameters.
    pub const fn new(parameters: Parameters) -> Self {
        Self { parameters }
    }

    /// FlightSize / 2 of "ssthresh = max (FlightSize / 2, 2*SMSS)"; in segments.
    fn half(&self, flight: f64, state: &WindowState) -> f64 {
        self.part(0.5, flight, state)
    }

    /// Like [`Reno::half`] with another factor.
    fn part(&self, factor: f64, flight: f64, state: &WindowState) -> f64 {
        let base = match self.parameters.halved {
            Halved::FlightSize => flight,
            Halved::Window => state.window_in_use(),
        };
        match self.parameters.threshold {
            Threshold::Exact => base * factor,
            Threshold::WholeSegments => libm::floor(base * factor),
        }
    }
}

impl WindowPart for Reno {
    #[inline]
    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        let counted = match self.parameters.counting {
            Counting::Transport => state.counted(event.size),
            Counting::PerAck => state.acknowledgements(event.size),
            Counting::PerByte => state.segments(event.size),
        };
        state.cwnd += counted / state.cwnd;
    }

    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState) {
        let kept = self.half(state.flight(event.flight_size), state);
        state.reduce_to(kept);
    }

    fn on_ecn_echo(&mut self, event: &EcnEcho, state: &mut WindowState) {
        let factor = if self.parameters.abe { self.parameters.beta_ecn } else { 0.5 };
        let kept = self.part(factor, state.flight(event.flight_size), state);
        state.reduce_to(kept);
    }

    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState) {
        // "when a TCP sender detects segment loss using the retransmission timer and the given
        // segment has already been retransmitted by way of the retransmission timer at least once,
        // the value of ssthresh is held constant"
        if !event.repeated {
            state.ssthresh = self.half(state.flight(event.flight_size), state).max(2.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{ack, state};
    use crate::units::{Bytes, Time};

    #[test]
    fn one_segment_per_round_trip() {
        let mut reno = Reno::new(Parameters::default());
        let mut state = state(100.0);
        for _ in 0..100 {
            reno.grow(&ack(1000), &mut state);
        }
        // 100 steps of 1/w with w from 100 to 101: sqrt(100² + 2·100) = 100.995 to first order.
        assert!((state.cwnd - 100.995).abs() < 1e-3, "{}", state.cwnd);
    }

    #[test]
    fn per_byte_growth_does_not_depend_on_the_ack_ratio() {
        let mut reno = Reno::new(Parameters { counting: Counting::PerByte, ..Parameters::default() });
        let mut state = state(100.0);
        for _ in 0..50 {
            reno.grow(&ack(2000), &mut state);
        }
        assert!((state.cwnd - 100.995).abs() < 1e-2, "{}", state.cwnd);
    }

    #[test]
    fn by_default_the_transport_says_what_counts() {
        for (byte_counting, expected) in [(true, 100.995), (false, 100.499)] {
            let mut reno = Reno::new(Parameters::default());
            let mut state = WindowState { byte_counting, ..state(100.0) };
            for _ in 0..50 {
                reno.grow(&ack(2000), &mut state);
            }
            // sqrt(100² + 2·100) or sqrt(100² + 2·50), to first order.
            assert!((state.cwnd - expected).abs() < 1e-2, "{}", state.cwnd);
        }
    }

    #[test]
    fn loss_halves_the_flight_but_never_below_two_segments() {
        let mut reno = Reno::new(Parameters::default());
        let mut state = state(100.0);
        reno.on_loss(&LossDetected::new(Time::ZERO, Bytes(60_000)), &mut state);
        assert_eq!((state.cwnd, state.ssthresh), (30.0, 30.0));
        reno.on_loss(&LossDetected::new(Time::ZERO, Bytes(3000)), &mut state);
        assert_eq!(state.ssthresh, 2.0);
    }

    #[test]
    fn half_in_whole_segments() {
        let mut reno = Reno::new(Parameters { threshold: Threshold::WholeSegments, ..Parameters::default() });
        let mut state = state(100.0);
        reno.on_loss(&LossDetected::new(Time::ZERO, Bytes(61_500)), &mut state);
        assert_eq!((state.cwnd, state.ssthresh), (30.0, 30.0));
    }

    #[test]
    fn a_mark_is_a_loss_unless_told_otherwise() {
        for (abe, expected) in [(false, 20.0), (true, 32.0)] {
            let mut reno = Reno::new(Parameters { abe, ..Parameters::default() });
            let mut state = state(40.0);
            reno.on_ecn_echo(&EcnEcho::new(Time::ZERO, Bytes(40_000)), &mut state);
            assert_eq!((state.cwnd, state.ssthresh), (expected, expected));
        }
    }

    #[test]
    fn a_repeated_timeout_keeps_ssthresh() {
        let mut reno = Reno::new(Parameters::default());
        let mut state = state(40.0);
        let timeout = |repeated, flight| Timeout { repeated, ..Timeout::new(Time::ZERO, Bytes(flight)) };
        reno.on_timeout(&timeout(false, 40_000), &mut state);
        assert_eq!(state.ssthresh, 20.0);
        reno.on_timeout(&timeout(true, 1000), &mut state);
        assert_eq!(state.ssthresh, 20.0);
    }
}
