//! BIC (Xu, Harfoush, Rhee): binary search for the window at which losses begin.

use super::reno::Reno;
use crate::entry::Entry;
use crate::estimate::round_trip::RoundTrip;
use crate::event::{Acknowledged, LossDetected, SpuriousLoss, Timeout};
use crate::parameters;
use crate::part::WindowPart;
use crate::state::{WindowBefore, WindowState};

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "bic",
    about: "Binary search between the window after the last loss and the window at which it happened, then probing \
            beyond.",
    source: "Xu, Harfoush, Rhee: Binary Increase Congestion Control for Fast Long-Distance Networks",
    parameters: Parameters::TABLE,
    ..Entry::WINDOW
};

parameters! {
    /// Parameters of BIC.
    Parameters {
        /// Most segments that are added per round trip.
        s_max: f64 = 32.0, shown "32", unit "segments", range (0.01, 1e6),
            source "Xu, Harfoush, Rhee 2004: Smax = 32";
        /// Fewest segments that are added per round trip.
        s_min: f64 = 0.01, shown "0.01", unit "segments", range (0.0001, 1e3),
            source "Xu, Harfoush, Rhee 2004: Smin = 0.01";
        /// Part of the window that a loss takes.
        beta: f64 = 0.125, shown "0.125", unit "", range (0.01, 0.9),
            source "Xu, Harfoush, Rhee 2004: beta = 0.125; Linux takes 0.2";
        /// Window up to which it is Reno.
        low_window: f64 = 14.0, shown "14", unit "segments", range (2.0, 1e6),
            source "Xu, Harfoush, Rhee 2004: low_window = 14";
        /// Aim lower when a loss comes at a smaller window than the one before.
        fast_convergence: bool = true, shown "true", unit "", range (0.0, 0.0),
            source "Xu, Harfoush, Rhee 2004: fast convergence";
    }
}

/// BIC.
#[derive(Clone, Debug)]
pub struct Bic {
    parameters: Parameters,
    reno: Reno,
    round: RoundTrip,
    /// Wmax: the window at the last loss; 0 before the first.
    maximum: f64,
    /// Wmax before the last reduction.
    maximum_before: f64,
    /// Segments to add in the round trip that began with this window.
    step: Step,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    window: f64,
    increment: f64,
}

impl Bic {
    /// With these parameters.
    pub fn new(parameters: Parameters) -> Self {
        let step = Step { window: 1.0, increment: 0.0 };
        Self {
            parameters,
            reno: Reno::STANDARD,
            round: RoundTrip::default(),
            maximum: 0.0,
            maximum_before: 0.0,
            step,
        }
    }

    /// Increase in a round trip that begins with this window.
    fn increment(&self, window: f64) -> f64 {
        let distance = if window < self.maximum {
            // "inc = (Wmin+Wmax)/2 - Wbic"; "if (no packet losses) Wmin = Wbic", so Wmin is the
            // window itself.
            (self.maximum - window) / 2.0
        } else {
            // Max probing, the mirror image: the step that binary search would have made on the way
            // here. Before the first loss there is no maximum, and the distance exceeds Smax.
            window - self.maximum
        };
        // "if (inc > Smax) inc = Smax; else if (inc < Smin) inc = Smin"
        distance.min(self.parameters.s_max).max(self.parameters.s_min)
    }

    /// Stores the window of a loss; returns the reduced window.
    fn decreased(&mut self, state: &WindowState) -> f64 {
        let w = state.window_in_use();
        let beta = self.parameters.beta;
        self.maximum_before = self.maximum;
        self.maximum = if self.parameters.fast_convergence && w < self.maximum {
            // The saturation point has moved down: aim for the middle between here and the window
            // after the loss.
            w * (2.0 - beta) / 2.0
        } else {
            w
        };
        w * (1.0 - beta)
    }
}

impl WindowPart for Bic {
    #[inline]
    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        if state.cwnd <= self.parameters.low_window {
            return self.reno.grow(event, state);
        }
        if self.round.ended(event) || self.step.increment == 0.0 {
            self.step = Step { window: state.cwnd, increment: self.increment(state.cwnd) };
        }
        // Our choice: in proportion to the acknowledged data, so that a round trip adds the
        // increment whatever the ACK ratio.
        let part = state.segments(event.size) / self.step.window;
        state.cwnd += self.step.increment * part.min(1.0);
    }

    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState) {
        self.step.increment = 0.0;
        let kept = self.decreased(state);
        if state.window_in_use() <= self.parameters.low_window {
            self.reno.on_loss(event, state);
        } else {
            state.reduce_to(kept);
        }
    }

    /// Our choice: the search continues as after a loss; Linux resets the maximum.
    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState) {
        self.step.increment = 0.0;
        if event.repeated {
            return;
        }
        let kept = self.decreased(state);
        if state.window_in_use() <= self.parameters.low_window {
            self.reno.on_timeout(event, state);
        } else {
            state.ssthresh = kept.max(2.0);
        }
    }

    /// Our choice, after CUBIC (RFC 9438, section 4.9.2).
    fn on_spurious_loss(&mut self, _event: &SpuriousLoss, before: &WindowBefore, state: &mut WindowState) {
        if state.cwnd < before.cwnd {
            self.maximum = self.maximum_before;
        }
        state.restore(before);
    }

    fn on_mss_changed(&mut self, ratio: f64) {
        self.maximum *= ratio;
        self.step.increment = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{LoneFlow, avoiding, loss};

    /// Windows at the ends of the first `count` round trips.
    fn rounds(bic: &mut Bic, state: &mut WindowState, count: usize) -> Vec<f64> {
        let mut flow = LoneFlow::without_queue(0.1);
        let mut windows = Vec::new();
        flow.run(bic, state, 1);
        while windows.len() < count {
            let (before, began) = (bic.step.window, flow.now);
            while bic.step.window == before && flow.now - began < 1.0 {
                flow.run(bic, state, 1);
            }
            windows.push(bic.step.window);
        }
        windows
    }

    #[test]
    fn additive_increase_then_binary_search_then_max_probing() {
        let mut bic = Bic::new(Parameters::default());
        let mut state = avoiding(1000.0);
        bic.on_loss(&loss(&state), &mut state);
        assert_eq!(state.cwnd, 875.0);
        let windows = rounds(&mut bic, &mut state, 30);
        // 125 to go: Smax while half the distance exceeds 32, then half the distance each round
        // trip.
        let mut expected: f64 = 875.0;
        for (round, window) in windows.iter().enumerate() {
            let half = (1000.0 - expected) / 2.0;
            if half < 0.02 {
                break;
            }
            expected += half.min(32.0);
            // One ACK more or less at the borders of a round trip.
            let tolerance = 0.01 * half.min(32.0) + 0.05;
            assert!((window - expected).abs() < tolerance, "round {round}: {window} against {expected}");
            expected = *window;
        }
        let mut beyond = windows.iter().filter(|window| **window > 1000.2);
        let (first, second) = (beyond.next().expect("probing"), beyond.next().expect("probing"));
        assert!(((second - 1000.0) / (first - 1000.0) - 2.0).abs() < 0.05, "the distance doubles");
        assert!((windows[29] - windows[28] - 32.0).abs() < 0.5, "up to Smax per round trip");
    }

    #[test]
    fn fast_convergence_aims_lower_after_an_earlier_loss() {
        let mut bic = Bic::new(Parameters::default());
        let mut state = avoiding(1000.0);
        bic.on_loss(&loss(&state), &mut state);
        state.cwnd = 900.0;
        bic.on_loss(&loss(&state), &mut state);
        assert_eq!(bic.maximum, 900.0 * 1.875 / 2.0);
        assert_eq!(state.cwnd, 787.5);
    }

    #[test]
    fn small_windows_are_renos() {
        let mut bic = Bic::new(Parameters::default());
        let mut state = avoiding(10.0);
        LoneFlow::without_queue(0.1).run(&mut bic, &mut state, 1);
        assert_eq!(state.cwnd, 10.1);
        bic.on_loss(&loss(&state), &mut state);
        assert_eq!(state.cwnd, 5.05);
    }
}
