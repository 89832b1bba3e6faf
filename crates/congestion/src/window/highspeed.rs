//! HighSpeed TCP, RFC 3649: a larger window grows faster per round trip and loses a smaller
//! fraction at a loss.

use super::decrease::{SlowStartLoss, time_out_to};
use super::reno::Reno;
use crate::entry::Entry;
use crate::event::{Acknowledged, LossDetected, Timeout};
use crate::parameters;
use crate::part::WindowPart;
use crate::state::WindowState;

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "highspeed",
    about: "Grows by a(w) segments per round-trip time and loses b(w) of the window at a loss; Reno up to 38 segments.",
    source: "RFC 3649",
    parameters: Parameters::TABLE,
    ..Entry::WINDOW
};

parameters! {
    /// Parameters of HighSpeed TCP.
    Parameters {
        /// Window up to which it is Reno.
        low_window: f64 = 38.0, shown "38", unit "segments", range (2.0, 1000.0),
            source "RFC 3649 section 5: Low_Window";
        /// Window that it has at the loss rate high_p.
        high_window: f64 = 83_000.0, shown "83000", unit "segments", range (2000.0, 1e9),
            source "RFC 3649 section 5: High_Window";
        /// Loss rate at which it has the window high_window.
        high_p: f64 = 1e-7, shown "1e-7", unit "losses per segment", range (1e-15, 1e-6),
            source "RFC 3649 section 5: High_P";
        /// Part of the window that a loss takes at high_window.
        high_decrease: f64 = 0.1, shown "0.1", unit "", range (0.01, 0.5),
            source "RFC 3649 section 5: High_Decrease";
        /// Reduction for a loss in slow start and for an RTO: as for any other loss, or half of the
        /// window.
        slow_start_loss: SlowStartLoss = SlowStartLoss::Usual, shown "usual", unit "", range (0.0, 0.0),
            source "RFC 3649 makes no exception; ns-2 halves";
    }
}

/// HighSpeed TCP.
#[derive(Clone, Debug)]
pub struct HighSpeed {
    parameters: Parameters,
    reno: Reno,
    /// a(w) for a window of `w` whole segments.
    ///
    /// a(w) takes a logarithm and an exponential. It changes by less than a segment per segment of
    /// w, so it is computed for whole segments, each time the window crosses one: a(w) times in a
    /// round trip of w ACKs.
    increase: (f64, f64),
    /// Whether there has been a loss.
    has_lost: bool,
}

impl HighSpeed {
    /// With these parameters.
    pub const fn new(parameters: Parameters) -> Self {
        Self { parameters, reno: Reno::STANDARD, increase: (0.0, 1.0), has_lost: false }
    }

    /// Position of w between Low_Window and High_Window on a logarithmic scale, 0 to 1. Our choice:
    /// above High_Window a(w) and b(w) stay constant.
    fn position(&self, w: f64) -> f64 {
        let Parameters { low_window, high_window, .. } = self.parameters;
        let w = w.clamp(low_window, high_window);
        libm::log(w / low_window) / libm::log(high_window / low_window)
    }

    /// b(w): from 0.5 at Low_Window to High_Decrease at High_Window, in proportion to log w.
    fn decrease(&self, w: f64) -> f64 {
        (self.parameters.high_decrease - 0.5) * self.position(w) + 0.5
    }

    /// a(w) = w^2 p(w) 2 b(w)/(2 - b(w)), with p(w) the loss rate at which the mean window is w: a
    /// straight line on logarithmic scales from (Low_Window, Low_P) to (High_Window, High_P).
    fn increase(&self, w: f64) -> f64 {
        let Parameters { low_window, high_window, high_p, .. } = self.parameters;
        let w = w.clamp(low_window, high_window);
        // Reno has the window w at the loss rate 1.5/w^2. The RFC rounds Low_P to 10^-3; exact,
        // a(Low_Window) is 1.
        let low_p = 1.5 / (low_window * low_window);
        let p = low_p * libm::exp(self.position(w) * libm::log(high_p / low_p));
        let b = self.decrease(w);
        2.0 * w * w * p * b / (2.0 - b)
    }

    fn kept(&self, state: &WindowState) -> f64 {
        let w = state.window_in_use();
        w * (1.0 - self.decrease(w))
    }
}

impl WindowPart for HighSpeed {
    #[inline]
    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        if state.cwnd <= self.parameters.low_window {
            return self.reno.grow(event, state);
        }
        let w = libm::floor(state.cwnd);
        if self.increase.0 != w {
            self.increase = (w, self.increase(w));
        }
        // w <- w + a(w)/w on each ACK; with byte counting for each segment acknowledged, like Reno:
        // by ACKs, half as many when delayed, it would be less than Reno with byte counting.
        state.cwnd += self.increase.1 * state.counted(event.size) / state.cwnd;
    }

    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState) {
        let halves = self.parameters.slow_start_loss.halves(state.in_slow_start(), self.has_lost);
        self.has_lost = true;
        if halves || state.window_in_use() <= self.parameters.low_window {
            return self.reno.on_loss(event, state);
        }
        // w <- (1 - b(w)) w
        let kept = self.kept(state);
        state.reduce_to(kept);
    }

    /// Our choice: ssthresh as after a loss.
    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState) {
        if state.window_in_use() <= self.parameters.low_window {
            self.reno.on_timeout(event, state);
        } else {
            time_out_to(self.kept(state), self.parameters.slow_start_loss, event, state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{LoneFlow, avoiding, loss, response, response_to, timeout};

    /// The first loss comes in congestion avoidance: only ns-2's rule halves there, and only once.
    #[test]
    fn the_first_loss_may_take_half() {
        for (slow_start_loss, first) in
            [(SlowStartLoss::Half, 0.8..0.9), (SlowStartLoss::HalfAndFirst, 0.5..0.51)]
        {
            let mut window = HighSpeed::new(Parameters { slow_start_loss, ..Parameters::default() });
            let mut state = avoiding(20_000.0);
            window.on_loss(&loss(&state), &mut state);
            assert!(first.contains(&(state.cwnd / 20_000.0)), "{}", state.cwnd);
            let before = state.cwnd;
            window.on_loss(&loss(&state), &mut state);
            assert!(state.cwnd > 0.7 * before, "the next loss is an ordinary one");
        }
    }

    /// ns-2 halves at any loss in slow start and at a timeout, whatever the algorithm's usual
    /// reduction.
    #[test]
    fn a_loss_in_slow_start_and_a_timeout_may_take_half() {
        for (slow_start_loss, part) in [(SlowStartLoss::Usual, 0.8..0.9), (SlowStartLoss::Half, 0.5..0.51)] {
            let mut window = HighSpeed::new(Parameters { slow_start_loss, ..Parameters::default() });
            let mut state = avoiding(20_000.0);
            state.ssthresh = f64::INFINITY;
            window.on_loss(&loss(&state), &mut state);
            assert!(part.contains(&(state.cwnd / 20_000.0)), "{}", state.cwnd);
            let before = state.cwnd;
            window.on_loss(&loss(&state), &mut state);
            assert!(state.cwnd > 0.7 * before, "the next loss is an ordinary one");
            let before = state.cwnd;
            window.on_timeout(&timeout(&state), &mut state);
            assert!(part.contains(&(state.ssthresh / before)), "{}", state.ssthresh);
        }
    }

    #[test]
    fn a_and_b_at_the_ends_and_between() {
        let highspeed = HighSpeed::new(Parameters::default());
        for (w, a, b) in [(38.0, 1.0, 0.5), (1058.0, 8.3, 0.327), (83_000.0, 72.5, 0.1), (1e9, 72.5, 0.1)] {
            assert!((highspeed.increase(w) - a).abs() < 0.05, "a({w}) = {}", highspeed.increase(w));
            assert!((highspeed.decrease(w) - b).abs() < 0.001, "b({w}) = {}", highspeed.decrease(w));
        }
    }

    /// Rows of the table in appendix B of RFC 3649: the smallest window with a whole a(w). The RFC
    /// has Low_P = 10^-3 where we have 1.04 * 10^-3, so its a(w) is up to 4 % smaller, 5 % with its
    /// rounded b(w).
    #[test]
    fn a_and_b_agree_with_the_table_of_the_rfc() {
        let highspeed = HighSpeed::new(Parameters::default());
        for (w, a, b) in [
            (38.0, 1.0, 0.50),
            (118.0, 2.0, 0.44),
            (221.0, 3.0, 0.41),
            (347.0, 4.0, 0.38),
            (495.0, 5.0, 0.37),
            (851.0, 7.0, 0.34),
            (1058.0, 8.0, 0.33),
            (1793.0, 11.0, 0.30),
            (3039.0, 15.0, 0.27),
        ] {
            assert!((highspeed.increase(w) / a - 1.0).abs() < 0.055, "a({w}) = {}", highspeed.increase(w));
            assert!((highspeed.decrease(w) - b).abs() < 0.006, "b({w}) = {}", highspeed.decrease(w));
        }
    }

    /// RFC 3649: W = 0.12/p^0.835 for p below 10^-3. The formula assumes constant a and b over a
    /// sawtooth.
    #[test]
    fn response_function() {
        for p in [1e-4, 1e-5, 1e-6] {
            let mut highspeed = HighSpeed::new(Parameters::default());
            let expected = 0.12 / libm::pow(p, 0.835);
            let mut state = avoiding(expected);
            let w = response(&mut highspeed, &mut state, 0.1, (1.0 / p) as u64, 20);
            println!("HighSpeed p {p}: mean window {w:.1}, formula {expected:.1}");
            assert!((w / expected - 1.0).abs() < 0.05, "p {p}: {w} against {expected}");
        }
    }

    /// Table 5 of RFC 3649, with byte counting and an ACK for one segment, two or eight: counted by
    /// ACKs the window was half of it, less than Reno's. 5 % as for the formula above, of which the
    /// table is.
    #[test]
    fn the_table_of_the_rfc_whatever_an_ack_covers() {
        for every in [1.0, 2.0, 8.0] {
            for (p, expected) in [(1e-4, 263.0), (1e-5, 1795.0), (1e-6, 12_279.0)] {
                let mut highspeed = HighSpeed::new(Parameters::default());
                let mut state = WindowState { byte_counting: true, ..avoiding(expected) };
                let mut flow = LoneFlow::without_queue(0.1);
                flow.every = every;
                let w = response_to(&mut flow, &mut highspeed, &mut state, (1.0 / p) as u64, 20);
                println!("HighSpeed p {p}, an ACK for {every}: {w:.1}, RFC 3649 {expected}");
                assert!((w / expected - 1.0).abs() < 0.05, "p {p}, {every}: {w} against {expected}");
            }
        }
    }

    #[test]
    fn the_cached_increase_follows_the_window() {
        let mut highspeed = HighSpeed::new(Parameters::default());
        let mut state = avoiding(5000.0);
        let (mut exact, mut flow) = (5000.0, LoneFlow::without_queue(0.1));
        for _ in 0..20_000 {
            flow.run(&mut highspeed, &mut state, 1);
            exact += highspeed.increase(exact) / exact;
        }
        assert!((state.cwnd / exact - 1.0).abs() < 1e-5, "{} against {exact}", state.cwnd);
    }

    #[test]
    fn small_windows_are_renos() {
        let (mut highspeed, mut reno) = (HighSpeed::new(Parameters::default()), Reno::STANDARD);
        let (mut one, mut other) = (avoiding(20.0), avoiding(20.0));
        LoneFlow::without_queue(0.1).run(&mut highspeed, &mut one, 300);
        LoneFlow::without_queue(0.1).run(&mut reno, &mut other, 300);
        assert_eq!(one, other);
        highspeed.on_loss(&loss(&one), &mut one);
        reno.on_loss(&loss(&other), &mut other);
        assert_eq!(one, other);
    }
}
