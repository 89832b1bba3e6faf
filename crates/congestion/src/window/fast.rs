//! FAST TCP (Jin, Wei, Low): keeps a fixed number of its own segments in the queue, in steps
//! proportional to the shortfall.

use super::reno::Reno;
use crate::entry::Entry;
use crate::estimate::round_trip::RoundTrip;
use crate::event::{Acknowledged, LossDetected, Timeout};
use crate::parameters;
use crate::part::WindowPart;
use crate::state::WindowState;
use crate::units::Duration;

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "fast",
    about: "Keeps alpha segments of its own in the queue, in steps in proportion to how many are missing.",
    source: "Jin, Wei, Low: FAST TCP: Motivation, Architecture, Algorithms, Performance",
    parameters: Parameters::TABLE,
    ..Entry::WINDOW
};

parameters! {
    /// Parameters of FAST TCP.
    Parameters {
        /// Segments that it keeps in the queue.
        alpha: f64 = 100.0, shown "100", unit "segments", range (1.0, 1e6),
            source "ns-2 module of FAST (tcp/tcp-fast.cc): 100";
        /// Part of the way to the new window that one update goes.
        gamma: f64 = 0.5, shown "0.5", unit "", range (0.01, 1.0),
            source "ns-2 module of FAST: 0.5";
        /// Queueing delay up to which the window doubles every round trip, and at which slow start
        /// ends.
        mi_threshold: Duration = Duration::from_microseconds(750), shown "0.75 ms", unit "s", range (0.0, 10.0),
            source "ns-2 module of FAST: mi_threshold 0.75 ms";
        /// Largest weight of a new sample in the mean round-trip time; for a large window the
        /// weight is 3/cwnd.
        rtt_weight: f64 = 0.00390625, shown "0.00390625", unit "", range (0.0001, 1.0),
            source "ns-2 module of FAST: 1/256";
    }
}

/// FAST TCP.
#[derive(Clone, Debug)]
pub struct Fast {
    parameters: Parameters,
    reno: Reno,
    round: RoundTrip,
    /// avgRTT, in seconds; 0 before the first sample.
    mean_rtt: f64,
    /// baseRTT, in seconds.
    base_rtt: f64,
    /// The current round trip follows an update: its end brings none.
    settling: bool,
    /// A round trip that brings an update has ended; pending.
    due: bool,
    /// The window to reach, and the increase per acknowledged segment on the way.
    target: f64,
    slope: f64,
}

impl Fast {
    /// With these parameters.
    pub fn new(parameters: Parameters) -> Self {
        Self {
            parameters,
            reno: Reno::OF_WINDOW,
            round: RoundTrip::default(),
            mean_rtt: 0.0,
            base_rtt: 0.0,
            settling: false,
            due: false,
            target: 0.0,
            slope: 0.0,
        }
    }

    fn queueing_delay(&self) -> f64 {
        (self.mean_rtt - self.base_rtt).max(0.0)
    }

    fn is_far_from_full(&self) -> bool {
        self.queueing_delay() < self.parameters.mi_threshold.seconds()
    }

    /// "w <- min{2w, (1 - gamma) w + gamma (baseRTT/RTT w + alpha)}"
    fn update(&self, w: f64) -> f64 {
        let Parameters { alpha, gamma, .. } = self.parameters;
        let part = if self.mean_rtt > 0.0 { (self.base_rtt / self.mean_rtt).min(1.0) } else { 1.0 };
        // baseRTT/RTT belongs to the segments acknowledged now, so w is the window under which
        // those were sent. Updates are two round trips apart and complete after one, so that is the
        // current window.
        (2.0 * w).min((1.0 - gamma) * w + gamma * (part * w + alpha)).max(2.0)
    }

    fn forget_steps(&mut self) {
        (self.due, self.settling, self.slope) = (false, true, 0.0);
    }
}

impl WindowPart for Fast {
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        if let (Some(rtt), Some(base)) = (event.rtt, event.minimum_rtt) {
            self.base_rtt = base.seconds();
            // With byte counting a sample weighs as much as one for each segment would.
            let weight = (3.0 / state.cwnd).min(self.parameters.rtt_weight);
            let weight = (weight * state.counted(event.size)).min(1.0);
            let rtt = rtt.seconds();
            self.mean_rtt += if self.mean_rtt > 0.0 { weight * (rtt - self.mean_rtt) } else { rtt };
        }
        if self.round.ended(event) {
            // As in ns-2, an update every other round trip: after one without, the round-trip times
            // reflect it.
            self.due = !self.settling;
            self.settling = !self.settling;
        }
        // Our choice: slow start ends where multiplicative increase does, because by then the queue
        // has begun to fill.
        if state.in_slow_start() && !event.recovering && !self.is_far_from_full() {
            state.ssthresh = state.cwnd.max(2.0);
            self.forget_steps();
        }
    }

    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        if self.is_far_from_full() {
            // Multiplicative increase: one segment per ACK, with byte counting per segment
            // acknowledged.
            self.forget_steps();
            state.cwnd += state.counted(event.size);
            return;
        }
        if self.due {
            self.due = false;
            self.target = self.update(state.cwnd);
            if self.target < state.cwnd {
                state.cwnd = self.target;
                // The reduced window must not return to slow start.
                state.ssthresh = state.ssthresh.min(state.cwnd).max(2.0);
                self.slope = 0.0;
            } else {
                // Increases are spread over a round trip, not made in one burst. Our choice: also
                // on paths below 4 ms, where ns-2 makes them at once.
                self.slope = (self.target - state.cwnd) / state.cwnd;
            }
        }
        if self.slope > 0.0 {
            state.cwnd =
                (state.cwnd + self.slope * state.segments(event.size)).min(self.target.max(state.cwnd));
        }
    }

    /// As Reno.
    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState) {
        self.forget_steps();
        self.reno.on_loss(event, state);
    }

    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState) {
        self.forget_steps();
        self.reno.on_timeout(event, state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{LoneFlow, avoiding, loss};
    use crate::part::StartPart;
    use crate::start::slow_start::{self, SlowStart};

    /// A BDP of 1000 segments; from above and below, alpha more end up in the queue.
    #[test]
    fn alpha_segments_are_queued_in_equilibrium() {
        for begin in [600.0, 1600.0] {
            for alpha in [50.0, 100.0, 200.0] {
                let mut fast = Fast::new(Parameters { alpha, ..Parameters::default() });
                let mut state = avoiding(begin);
                let mut flow = LoneFlow::new(0.1, 10_000.0);
                flow.run_until(&mut fast, &mut state, 10.0);
                let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
                while flow.now < 20.0 {
                    flow.run(&mut fast, &mut state, 1);
                    low = low.min(state.cwnd - 1000.0);
                    high = high.max(state.cwnd - 1000.0);
                }
                println!("FAST alpha {alpha} from {begin}: {low:.2} to {high:.2} segments queued");
                assert!(
                    (low / alpha - 1.0).abs() < 0.02 && (high / alpha - 1.0).abs() < 0.02,
                    "{low} {high}"
                );
            }
        }
    }

    #[test]
    fn an_update_is_the_printed_formula() {
        let mut fast = Fast::new(Parameters { alpha: 100.0, gamma: 0.5, ..Parameters::default() });
        (fast.base_rtt, fast.mean_rtt) = (0.1, 0.125);
        assert_eq!(fast.update(1000.0), 0.5 * 1000.0 + 0.5 * (0.8 * 1000.0 + 100.0));
        assert_eq!(fast.update(10.0), 20.0, "at most doubled");
    }

    #[test]
    fn without_a_queue_the_window_doubles_every_round_trip() {
        let mut fast = Fast::new(Parameters::default());
        let mut state = avoiding(10.0);
        LoneFlow::new(0.1, 10_000.0).run(&mut fast, &mut state, 10);
        assert_eq!(state.cwnd, 20.0);
    }

    #[test]
    fn slow_start_ends_when_a_queue_builds_up() {
        let mut fast = Fast::new(Parameters::default());
        let mut start = SlowStart::new(slow_start::Parameters::default());
        let mut state = crate::fixtures::state(10.0);
        let mut flow = LoneFlow::new(0.1, 10_000.0);
        while state.in_slow_start() {
            let event = flow.next(state.cwnd);
            fast.on_ack(&event, &mut state);
            start.grow(&event, &mut state);
        }
        // 0.75 ms of queue are 7.5 segments; the mean lags by some 1000/3 samples.
        assert!((1007.0..1250.0).contains(&state.cwnd), "{}", state.cwnd);
    }

    #[test]
    fn a_loss_halves() {
        let mut fast = Fast::new(Parameters::default());
        let mut state = avoiding(1000.0);
        fast.on_loss(&loss(&state), &mut state);
        assert_eq!((state.cwnd, state.ssthresh), (500.0, 500.0));
    }
}
