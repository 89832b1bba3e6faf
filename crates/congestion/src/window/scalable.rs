//! Scalable TCP (Kelly): the window grows in proportion to itself, so recovery from a loss takes
//! the same number of round trips at any window.

use super::decrease::{SlowStartLoss, time_out_to};
use super::reno::Reno;
use crate::entry::Entry;
use crate::event::{Acknowledged, LossDetected, Timeout};
use crate::part::WindowPart;
use crate::state::WindowState;
use crate::{choice, parameters};

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "scalable",
    about: "Grows by 0.01 segment per acknowledgement and loses an eighth at a loss; Reno while the window is small.",
    source: "Kelly: Scalable TCP: Improving Performance in Highspeed Wide Area Networks",
    parameters: Parameters::TABLE,
    ..Entry::WINDOW
};

choice! {
    /// Whose Scalable TCP.
    Variant {
        /// As published: Reno up to legacy_window, then `increase` per acknowledgement; a loss
        /// takes whole segments, rounded up.
        Kelly = "kelly",
        /// As in Linux: 1/min(cwnd, linux_count) per acknowledged segment; a loss takes whole
        /// segments, rounded down.
        Linux = "linux",
    }
}

parameters! {
    /// Parameters of Scalable TCP.
    Parameters {
        /// As published, or as in Linux.
        variant: Variant = Variant::Kelly, shown "kelly", unit "", range (0.0, 0.0),
            source "Kelly 2003; Linux: net/ipv4/tcp_scalable.c";
        /// Increase per ACK, in the published variant.
        increase: f64 = 0.01, shown "0.01", unit "segments", range (0.0001, 1.0),
            source "Kelly 2003: a = 0.01";
        /// Part of the window that a loss takes.
        decrease: f64 = 0.125, shown "0.125", unit "", range (0.01, 0.9),
            source "Kelly 2003: b = 0.125; Linux: a shift by 3";
        /// Window up to which the published variant is Reno.
        legacy_window: f64 = 16.0, shown "16", unit "segments", range (2.0, 1e6),
            source "Kelly 2003: lwnd = 16";
        /// Acknowledged segments that add one segment to a larger window, in Linux.
        linux_count: f64 = 100.0, shown "100", unit "segments", range (1.0, 1e6), requires variant = "linux",
            source "Linux tcp_scalable.c: TCP_SCALABLE_AI_CNT, 100; 50 in older kernels";
        /// Reduction for a loss in slow start and for an RTO: as for any other loss, or half of the
        /// window.
        slow_start_loss: SlowStartLoss = SlowStartLoss::Usual, shown "usual", unit "", range (0.0, 0.0),
            source "Kelly 2003 makes no exception; ns-2 halves";
    }
}

/// Scalable TCP.
#[derive(Clone, Debug)]
pub struct Scalable {
    parameters: Parameters,
    reno: Reno,
    /// Whether there has been a loss.
    has_lost: bool,
}

impl Scalable {
    /// With these parameters.
    pub const fn new(parameters: Parameters) -> Self {
        Self { parameters, reno: Reno::STANDARD, has_lost: false }
    }

    fn is_reno(&self, w: f64) -> bool {
        self.parameters.variant == Variant::Kelly && w <= self.parameters.legacy_window
    }

    fn kept(&self, state: &WindowState) -> f64 {
        let w = state.window_in_use();
        let lost = self.parameters.decrease * w;
        match self.parameters.variant {
            // "w <- w - ceil(b w)"
            Variant::Kelly => w - libm::ceil(lost),
            // Linux shifts, so that up to 7 segments a loss takes nothing. Our choice: at least
            // one.
            Variant::Linux => w - libm::floor(lost).max(1.0),
        }
    }
}

impl WindowPart for Scalable {
    #[inline]
    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        if self.is_reno(state.cwnd) {
            return self.reno.grow(event, state);
        }
        state.cwnd += match self.parameters.variant {
            Variant::Kelly => self.parameters.increase * state.counted(event.size),
            Variant::Linux => state.segments(event.size) / state.cwnd.min(self.parameters.linux_count),
        };
    }

    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState) {
        let halves = self.parameters.slow_start_loss.halves(state.in_slow_start(), self.has_lost);
        self.has_lost = true;
        if halves || self.is_reno(state.window_in_use()) {
            self.reno.on_loss(event, state);
        } else {
            let kept = self.kept(state);
            state.reduce_to(kept);
        }
    }

    /// Our choice for the published variant, and as in Linux: ssthresh as after a loss.
    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState) {
        if self.is_reno(state.window_in_use()) {
            self.reno.on_timeout(event, state);
        } else {
            time_out_to(self.kept(state), self.parameters.slow_start_loss, event, state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::ack;
    use crate::fixtures::{LoneFlow, avoiding, loss, response, response_to, timeout};

    fn linux() -> Scalable {
        Scalable::new(Parameters { variant: Variant::Linux, ..Parameters::default() })
    }

    /// Kelly's equilibrium a/(b p) whatever an ACK covers, with byte counting. The window of whole
    /// segments that a loss takes, rounded up, is up to 1/125 of what it takes at these windows.
    #[test]
    fn the_response_does_not_depend_on_the_ack_ratio() {
        let found = [1.0, 2.0, 8.0].map(|every| {
            let mut scalable = Scalable::new(Parameters::default());
            let mut state = WindowState { byte_counting: true, ..avoiding(800.0) };
            let mut flow = LoneFlow::without_queue(0.1);
            flow.every = every;
            response_to(&mut flow, &mut scalable, &mut state, 10_000, 20)
        });
        println!("{found:?}");
        assert!(found.iter().all(|w| (w / found[0] - 1.0).abs() < 0.01), "{found:?}");
    }

    /// ns-2 halves at any loss in slow start and at a timeout, whatever the algorithm's usual
    /// reduction.
    #[test]
    fn a_loss_in_slow_start_and_a_timeout_may_take_half() {
        for (slow_start_loss, part) in [(SlowStartLoss::Usual, 0.8..0.9), (SlowStartLoss::Half, 0.5..0.51)] {
            let mut window = Scalable::new(Parameters { slow_start_loss, ..Parameters::default() });
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
    fn a_hundredth_per_acknowledgement_and_an_eighth_per_loss() {
        let mut scalable = Scalable::new(Parameters::default());
        let mut state = avoiding(1000.0);
        scalable.grow(&ack(2000), &mut state);
        assert_eq!(state.cwnd, 1000.01);
        scalable.on_loss(&loss(&state), &mut state);
        assert_eq!(state.cwnd, 1000.01 - 126.0, "a loss takes 125.00125, rounded up");
    }

    #[test]
    fn linux_is_like_reno_below_100_segments_but_loses_an_eighth() {
        let mut scalable = linux();
        let mut state = avoiding(50.0);
        scalable.grow(&ack(1000), &mut state);
        assert_eq!(state.cwnd, 50.0 + 1.0 / 50.0);
        scalable.on_loss(&loss(&state), &mut state);
        assert_eq!(state.cwnd, 50.02 - 6.0, "a loss takes 6.2525, rounded down");
        state.cwnd = 400.0;
        scalable.grow(&ack(2000), &mut state);
        assert_eq!(state.cwnd, 400.02, "two segments acknowledged");
    }

    #[test]
    fn up_to_16_segments_it_is_reno() {
        let mut scalable = Scalable::new(Parameters::default());
        let mut state = avoiding(10.0);
        scalable.grow(&ack(1000), &mut state);
        assert_eq!(state.cwnd, 10.1);
        scalable.on_loss(&loss(&state), &mut state);
        assert_eq!(state.cwnd, 5.05);
    }

    /// From (1 - b) W to W in 1/p = bW/a ACKs, exponentially in time: mean window (a/p)/ln(1/(1 -
    /// b)).
    #[test]
    fn response_function() {
        for p in [1e-4, 1e-5] {
            let mut scalable = Scalable::new(Parameters::default());
            let expected = 0.01 / p / -libm::log(1.0 - 0.125);
            let mut state = avoiding(expected);
            let w = response(&mut scalable, &mut state, 0.1, (1.0 / p) as u64, 20);
            println!("Scalable p {p}: mean window {w:.1}, formula {expected:.1}");
            assert!((w / expected - 1.0).abs() < 0.01, "p {p}: {w} against {expected}");
        }
    }

    #[test]
    fn it_recovers_in_the_same_number_of_round_trips_whatever_the_window() {
        for w in [100.0, 10_000.0] {
            let mut scalable = Scalable::new(Parameters::default());
            let mut state = avoiding(w);
            scalable.on_loss(&loss(&state), &mut state);
            let mut flow = LoneFlow::without_queue(0.1);
            while state.cwnd < w {
                flow.run(&mut scalable, &mut state, 1);
            }
            // ln(1/(1 - b))/ln(1 + a) = 13.4 round trips; at 100 segments rounding up takes 13
            // instead of 12.5.
            let rounds = flow.now / 0.1;
            assert!((rounds - 13.4).abs() < 0.7, "{rounds}");
        }
    }
}
