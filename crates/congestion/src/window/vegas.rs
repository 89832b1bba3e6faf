//! TCP Vegas (Brakmo, Peterson): keeps a few segments of its own in the queue, estimated from the
//! delay.

use super::reno::Reno;
use crate::entry::Entry;
use crate::estimate::round_trip::{RoundTrip, RoundTripTimes};
use crate::event::{Acknowledged, LossDetected, Timeout};
use crate::part::WindowPart;
use crate::state::WindowState;
use crate::{choice, parameters};

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "vegas",
    about: "Keeps alpha to beta segments of its own in the queue: one segment more or less per round-trip time.",
    source: "Brakmo, Peterson: TCP Vegas: End to End Congestion Avoidance on a Global Internet",
    parameters: Parameters::TABLE,
    ..Entry::WINDOW
};

choice! {
    /// Whose Vegas.
    Variant {
        /// As in ns-2: the mean round-trip time of a round trip counts, slow start doubles every
        /// other round trip and ends with an eighth less, a loss takes a quarter.
        Ns2 = "ns2",
        /// As in Linux: the smallest round-trip time of a round trip counts, slow start doubles
        /// every round trip and ends at the window that leaves the queue empty, a loss takes half.
        Linux = "linux",
    }
}

parameters! {
    /// Parameters of Vegas.
    Parameters {
        /// As in ns-2, or as in Linux.
        variant: Variant = Variant::Ns2, shown "ns2", unit "", range (0.0, 0.0),
            source "ns-2: tcp/tcp-vegas.cc; Linux: net/ipv4/tcp_vegas.c";
        /// Segments in the queue below which the window grows.
        alpha: f64 = 1.0, shown "1", unit "segments", range (0.0, 1e6),
            source "Brakmo and Peterson 1995, and ns-2: 1; Linux: 2";
        /// Segments in the queue above which the window shrinks.
        beta: f64 = 3.0, shown "3", unit "segments", range (0.0, 1e6),
            source "Brakmo and Peterson 1995, and ns-2: 3; Linux: 4";
        /// Segments in the queue above which slow start ends.
        gamma: f64 = 1.0, shown "1", unit "segments", range (0.0, 1e6),
            source "Brakmo and Peterson 1995, ns-2 and Linux: 1";
    }
}

/// Vegas.
#[derive(Clone, Debug)]
pub struct Vegas {
    parameters: Parameters,
    reno: Reno,
    round: RoundTrip,
    times: RoundTripTimes,
    /// Action until the round trip ends.
    advice: Advice,
    /// Slow start pauses in this round trip.
    holding: bool,
}

/// Conclusion from the last round trip for the next.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Advice {
    /// Stay.
    Stay,
    /// Segments in the queue; not yet acted on.
    Queued(f64),
    /// Too few samples to decide (Linux): grow like Reno.
    LikeReno,
}

impl Vegas {
    /// With these parameters.
    pub fn new(parameters: Parameters) -> Self {
        Self {
            parameters,
            reno: Reno::OF_WINDOW,
            round: RoundTrip::default(),
            times: RoundTripTimes::NONE,
            advice: Advice::Stay,
            holding: false,
        }
    }

    fn is_linux(&self) -> bool {
        self.parameters.variant == Variant::Linux
    }

    /// Result of a round trip's samples: diff = cwnd (RTT - baseRTT)/RTT segments are queued.
    fn advise(&self, times: RoundTripTimes, base: f64, cwnd: f64) -> Advice {
        // Linux requires more than two samples, in case all are of delayed ACKs.
        if self.is_linux() && times.count <= 2 {
            return Advice::LikeReno;
        }
        match times.mean() {
            Some(mean) if mean > 0.0 && base > 0.0 => Advice::Queued(if self.is_linux() {
                cwnd * (times.minimum - base).max(0.0) / base
            } else {
                cwnd * (mean - base).max(0.0) / mean
            }),
            _ => Advice::Stay,
        }
    }

    fn kept(&self) -> f64 {
        // Our choice: ns-2 takes half if the lost segment had been retransmitted, which is unknown
        // here.
        if self.is_linux() { 0.5 } else { 0.75 }
    }
}

impl WindowPart for Vegas {
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        if self.round.ended(event) {
            let base = event.minimum_rtt.map_or(0.0, |rtt| rtt.seconds());
            // Round-trip times of recovery do not show the queue.
            self.advice =
                if event.recovering { Advice::Stay } else { self.advise(self.times, base, state.cwnd) };
            self.times = RoundTripTimes::NONE;
            if state.in_slow_start() && !event.recovering {
                // Exponential growth only every other round trip: in between the window stays
                // fixed, so that the expected and the actual rate can be compared.
                self.holding = !self.is_linux() && !self.holding;
                if let Advice::Queued(queued) = self.advice
                    && queued > self.parameters.gamma
                {
                    self.advice = Advice::Stay;
                    if self.is_linux() {
                        // The window at which the queue would be empty, plus one segment.
                        let empty = state.cwnd * base / (base + queued * base / state.cwnd);
                        state.cwnd = state.cwnd.min(libm::floor(empty) + 1.0).max(2.0);
                        state.ssthresh = state.ssthresh.min(state.cwnd - 1.0).max(2.0);
                    } else {
                        state.cwnd = (state.cwnd - state.cwnd / 8.0).max(2.0);
                        state.ssthresh = 2.0;
                    }
                }
            } else {
                self.holding = false;
            }
        }
        if let Some(rtt) = event.rtt {
            // Linux takes the smallest, which no delayed ACK affects.
            let covers_more = event.size > state.mss && !self.is_linux();
            self.times.record_of(rtt.seconds(), covers_more);
        }
    }

    #[inline]
    fn holds_slow_start(&self) -> bool {
        self.holding
    }

    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        match self.advice {
            Advice::Stay => {}
            Advice::LikeReno => self.reno.grow(event, state),
            Advice::Queued(queued) => {
                self.advice = Advice::Stay;
                if queued > self.parameters.beta {
                    state.cwnd = (state.cwnd - 1.0).max(2.0);
                    // As in Linux: the reduced window must not return to slow start.
                    state.ssthresh = state.ssthresh.min(state.cwnd);
                } else if queued < self.parameters.alpha {
                    state.cwnd += 1.0;
                }
            }
        }
    }

    fn on_loss(&mut self, _event: &LossDetected, state: &mut WindowState) {
        self.advice = Advice::Stay;
        self.holding = false;
        let kept = state.window_in_use() * self.kept();
        state.reduce_to(kept);
    }

    /// ns-2 continues from two segments; here every algorithm restarts from one.
    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState) {
        self.advice = Advice::Stay;
        self.holding = false;
        self.reno.on_timeout(event, state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{LoneFlow, avoiding, loss};
    use crate::part::StartPart;
    use crate::start::slow_start::{self, SlowStart};

    fn vegas(variant: Variant) -> Vegas {
        let (alpha, beta) = if variant == Variant::Linux { (2.0, 4.0) } else { (1.0, 3.0) };
        Vegas::new(Parameters { variant, alpha, beta, gamma: 1.0 })
    }

    /// From above and from below, the queue settles between alpha and beta segments.
    #[test]
    fn the_queue_holds_between_alpha_and_beta_segments() {
        for variant in [Variant::Ns2, Variant::Linux] {
            for begin in [60.0, 140.0] {
                let mut vegas = vegas(variant);
                let mut state = avoiding(begin);
                let mut flow = LoneFlow::new(0.1, 1000.0);
                flow.run_until(&mut vegas, &mut state, 10.0);
                for _ in 0..50 {
                    flow.run(&mut vegas, &mut state, 100);
                    let queued = state.cwnd - 100.0;
                    let Parameters { alpha, beta, .. } = vegas.parameters;
                    assert!(
                        (alpha - 0.1..=beta + 0.1).contains(&queued),
                        "{variant:?} from {begin}: {queued}"
                    );
                }
            }
        }
    }

    #[test]
    fn one_segment_per_round_trip() {
        let mut vegas = vegas(Variant::Ns2);
        let mut state = avoiding(50.0);
        let mut flow = LoneFlow::new(0.1, 1000.0);
        flow.run_until(&mut vegas, &mut state, 2.05);
        assert!((69.0..=71.0).contains(&state.cwnd), "20 round trips from 50: {}", state.cwnd);
    }

    /// Windows at the ends of the round trips of slow start, and the window after it.
    fn slow_start(variant: Variant, capacity: f64) -> (Vec<f64>, WindowState) {
        let mut vegas = vegas(variant);
        let mut start = SlowStart::new(slow_start::Parameters::default());
        let mut state = crate::fixtures::state(2.0);
        let mut flow = LoneFlow::new(0.1, capacity);
        let mut windows = Vec::new();
        let mut round = RoundTrip::default();
        while state.in_slow_start() {
            let event = flow.next(state.cwnd);
            if round.ended(&event) {
                windows.push(state.cwnd);
            }
            vegas.on_ack(&event, &mut state);
            if state.in_slow_start() && !vegas.holds_slow_start() {
                start.grow(&event, &mut state);
            }
        }
        (windows, state)
    }

    #[test]
    fn slow_start_doubles_every_other_round_trip_and_ends_when_the_queue_begins() {
        let (windows, state) = slow_start(Variant::Ns2, 1000.0);
        for pair in windows[1..windows.len() - 1].chunks_exact(2) {
            assert!((pair[1] / pair[0] - 2.0).abs() < 0.01 || pair[1] == pair[0], "{windows:?}");
        }
        assert!(windows.windows(3).all(|three| three[2] / three[0] < 2.6), "{windows:?}");
        let last = windows.last().expect("a window");
        assert_eq!(state.cwnd, last - last / 8.0);
        assert!((101.0..260.0).contains(last), "{windows:?}");
        assert_eq!(state.ssthresh, 2.0);
    }

    #[test]
    fn linux_doubles_every_round_trip_and_ends_at_the_window_that_left_the_queue_empty() {
        let (windows, state) = slow_start(Variant::Linux, 1000.0);
        let [.., begin, end] = windows[..] else { panic!("{windows:?}") };
        assert!(windows[1..].windows(2).all(|two| (two[1] / two[0] - 2.0).abs() < 0.02), "{windows:?}");
        // The first segment of the last round trip had the smallest round-trip time: begin/1000 s
        // where 0.1 s is the least.
        let expected = (end * 0.1 / (begin / 1000.0)).floor() + 1.0;
        assert!((state.cwnd - expected).abs() <= 1.0, "{} against {expected}, {windows:?}", state.cwnd);
        assert_eq!(state.ssthresh, state.cwnd - 1.0);
    }

    #[test]
    fn a_loss_takes_a_quarter_or_half() {
        for (variant, kept) in [(Variant::Ns2, 75.0), (Variant::Linux, 50.0)] {
            let mut vegas = vegas(variant);
            let mut state = avoiding(100.0);
            vegas.on_loss(&loss(&state), &mut state);
            assert_eq!((state.cwnd, state.ssthresh), (kept, kept));
        }
    }

    #[test]
    fn linux_grows_like_reno_without_enough_samples() {
        let vegas = vegas(Variant::Linux);
        let mut times = RoundTripTimes::NONE;
        times.record(0.1);
        times.record(0.1);
        assert_eq!(vegas.advise(times, 0.1, 10.0), Advice::LikeReno);
        times.record(0.1);
        assert_eq!(vegas.advise(times, 0.1, 10.0), Advice::Queued(0.0));
    }
}
