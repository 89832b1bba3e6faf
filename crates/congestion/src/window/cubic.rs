//! CUBIC, RFC 9438: the window is a cubic function of the time since the last loss.
//!
//! Section numbers below are those of RFC 9438.

use crate::entry::Entry;
use crate::event::{Acknowledged, EcnEcho, LossDetected, Resumed, SpuriousLoss, Timeout};
use crate::held::Held;
use crate::parameters;
use crate::part::WindowPart;
use crate::state::{WindowBefore, WindowState};
use crate::units::{Bytes, Duration, Time};

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "cubic",
    about: "A cubic function of the time since the last loss, flat near the window at which it happened; never less \
            than Reno would have.",
    source: "RFC 9438",
    parameters: Parameters::TABLE,
    ..Entry::WINDOW
};

parameters! {
    /// Parameters of CUBIC.
    Parameters {
        /// C of the cubic function: how fast the window grows away from the plateau.
        c: f64 = 0.4, shown "0.4", unit "segments/s^3", range (0.0001, 1e3),
            source "RFC 9438 section 5.1: C SHOULD be set to 0.4";
        /// Part of the window that is kept at a loss.
        beta: f64 = 0.7, shown "0.7", unit "", range (0.1, 0.99),
            source "RFC 9438 section 4.6: SHOULD be set to 0.7";
        /// Aim lower when a loss comes at a smaller window than the one before.
        fast_convergence: bool = true, shown "true", unit "", range (0.0, 0.0),
            source "RFC 9438 section 4.7: SHOULD be implemented";
        /// React to a congestion mark with `beta_ecn`, not as to a loss.
        abe: bool = false, shown "false", unit "", range (0.0, 0.0),
            source "RFC 8511 is experimental; RFC 3168 treats a mark as a loss";
        /// Part of the window that is kept at a congestion mark, with `abe`.
        beta_ecn: f64 = 0.85, shown "0.85", unit "", range (0.1, 0.99), requires abe = true,
            source "RFC 8511 section 3.1";
    }
}

/// The current congestion avoidance stage.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// t_epoch: its start, shifted by application-limited periods.
    began: Time,
    /// K, in seconds.
    k: f64,
    /// W_est: Reno's window.
    estimate: f64,
}

/// State of the curve, restored if a reduction proves spurious.
#[derive(Clone, Copy, Debug)]
struct Curve {
    /// W_max; `None`: the next stage begins on the plateau, at its initial window.
    maximum: Option<f64>,
    /// cwnd_prior; 0 before ssthresh is first set.
    prior: f64,
    /// `None` between a loss and the first ACK of the next congestion avoidance stage.
    epoch: Option<Epoch>,
}

/// CUBIC.
#[derive(Clone, Debug)]
pub struct Cubic {
    parameters: Parameters,
    curve: Curve,
    /// The curve before the last reduction. Boxed to keep other window algorithms small.
    before: Option<Held<Curve>>,
    last_ack: Time,
}

impl Cubic {
    /// With these parameters.
    pub const fn new(parameters: Parameters) -> Self {
        let curve = Curve { maximum: None, prior: 0.0, epoch: None };
        Self { parameters, curve, before: None, last_ack: Time::ZERO }
    }

    fn begin_epoch(&mut self, now: Time, cwnd: f64) -> Epoch {
        if self.curve.prior == 0.0 {
            // "When CUBIC uses HyStart++, it may exit the first slow start without incurring any
            // packet loss and thus W_max is undefined. In this special case, CUBIC sets cwnd_prior
            // = cwnd" (section 4.10).
            self.curve.prior = cwnd;
        }
        let maximum = match self.curve.maximum {
            Some(maximum) => maximum.max(cwnd),
            // After a timeout or such a slow start "K is set to 0, and W_max is set to the
            // congestion window size at the beginning of the current congestion avoidance stage"
            // (sections 4.8 and 4.10).
            None => cwnd,
        };
        self.curve.maximum = Some(maximum);
        // "K = cubic root of ((W_max - cwnd_epoch)/C)" (section 4.2). Our choice: 0 where the
        // window is above W_max.
        let k = libm::cbrt((maximum - cwnd) / self.parameters.c);
        // "W_est is set equal to cwnd_epoch at the start of the congestion avoidance stage"
        // (section 4.3).
        Epoch { began: now, k, estimate: cwnd }
    }

    /// "W_cubic(t) = C * (t - K)^3 + W_max" (section 4.2).
    fn cubic(&self, epoch: &Epoch, seconds: f64) -> f64 {
        let from_plateau = seconds - epoch.k;
        self.parameters.c * from_plateau * from_plateau * from_plateau
            + self.curve.maximum.unwrap_or_default()
    }

    /// Sets W_max and cwnd_prior; returns the new ssthresh.
    fn decreased(&mut self, beta: f64, flight_size: Bytes, state: &WindowState) -> f64 {
        match &mut self.before {
            Some(before) => **before = self.curve,
            None => self.before = Some(Held::new(self.curve)),
        }
        let fast_convergence = self.parameters.fast_convergence;
        let cwnd = state.window_in_use();
        // "W_max = cwnd * (1 + beta_cubic)/2 if cwnd < W_max and fast convergence enabled, further
        // reduce W_max; cwnd otherwise, remember cwnd before reduction" (section 4.7). Our choice:
        // in whole segments, as in Linux. A lone flow's losses come at windows that differ by a
        // fraction of one, now above and now below; every other one would look like a new competing
        // flow.
        let earlier = fast_convergence
            && self.curve.maximum.is_some_and(|maximum| libm::floor(cwnd) < libm::floor(maximum));
        self.curve.maximum = Some(if earlier { cwnd * (1.0 + beta) / 2.0 } else { cwnd });
        self.curve.prior = cwnd;
        self.curve.epoch = None;
        // "ssthresh = flight_size * beta_cubic" (section 4.6).
        state.flight(flight_size) * beta
    }
}

impl WindowPart for Cubic {
    #[inline]
    fn on_ack(&mut self, event: &Acknowledged, _state: &mut WindowState) {
        // "The elapsed time t MUST NOT include periods during which cwnd has not been updated due
        // to application-limited behavior" (section 4.2).
        if !event.window_limited
            && let Some(epoch) = &mut self.curve.epoch
        {
            epoch.began += event.now.since(self.last_ack);
        }
        self.last_ack = event.now;
    }

    /// The pause is such a period, and no ACK tells: the next one comes when the window is full
    /// again. Linux shifts its epoch at the same event (commit 30927520dbae).
    fn on_resumed(&mut self, event: &Resumed, _state: &mut WindowState) {
        if let Some(epoch) = &mut self.curve.epoch {
            epoch.began += event.now.since(self.last_ack);
        }
        self.last_ack = event.now;
    }

    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        let Parameters { beta, .. } = self.parameters;
        let mut epoch = match self.curve.epoch {
            Some(epoch) => epoch,
            None => self.begin_epoch(event.now, state.cwnd),
        };
        // "alpha_cubic = 3 * (1 - beta_cubic)/(1 + beta_cubic)"; "Once W_est has grown to reach the
        // cwnd at the time of most recently setting ssthresh, that is, W_est >= cwnd_prior, the
        // sender SHOULD set alpha_cubic to 1" (section 4.3).
        let alpha = if epoch.estimate >= self.curve.prior { 1.0 } else { 3.0 * (1.0 - beta) / (1.0 + beta) };
        // "W_est = W_est + alpha_cubic * segments_acked/cwnd"
        epoch.estimate += alpha * state.segments(event.size) / state.cwnd;
        self.curve.epoch = Some(epoch);

        let t = event.now.since(epoch.began).seconds();
        if self.cubic(&epoch, t) < epoch.estimate {
            // "CUBIC checks whether W_cubic(t) is less than W_est. If so, CUBIC is in the
            // Reno-friendly region and cwnd SHOULD be set to W_est at each reception of a new ACK."
            // Our choice: only upwards. The cubic function is followed one round trip ahead, so
            // that cwnd can be above W_est when this region is entered.
            state.cwnd = state.cwnd.max(epoch.estimate);
        } else {
            // "target = cwnd if W_cubic(t + RTT) < cwnd; 1.5 * cwnd if W_cubic(t + RTT) > 1.5 *
            // cwnd; W_cubic(t + RTT) otherwise" (section 4.2), "where RTT is the smoothed
            // round-trip time".
            let rtt = event.smoothed_rtt.unwrap_or(Duration::ZERO).seconds();
            let target = self.cubic(&epoch, t + rtt).clamp(state.cwnd, 1.5 * state.cwnd);
            // "cwnd MUST be incremented by (target - cwnd)/cwnd for each received new ACK"
            // (sections 4.4 and 4.5).
            // Our choice: with byte counting for each segment acknowledged, as in Linux.
            let part = state.counted(event.size) / state.cwnd;
            state.cwnd += (target - state.cwnd) * part.min(1.0);
        }
    }

    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState) {
        // "cwnd = max(ssthresh, 2), reduction on loss, cwnd is at least 2 MSS" (section 4.6).
        let kept = self.decreased(self.parameters.beta, event.flight_size, state);
        state.reduce_to(kept);
    }

    fn on_ecn_echo(&mut self, event: &EcnEcho, state: &mut WindowState) {
        let beta = if self.parameters.abe { self.parameters.beta_ecn } else { self.parameters.beta };
        let kept = self.decreased(beta, event.flight_size, state);
        state.reduce_to(kept);
    }

    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState) {
        // "In case of a timeout, CUBIC follows Reno to reduce cwnd, but sets ssthresh using
        // beta_cubic" (section 4.8). As in Reno, a repeated timeout leaves it unchanged.
        if !event.repeated {
            state.ssthresh = self.decreased(self.parameters.beta, event.flight_size, state).max(2.0);
        }
        self.curve.epoch = None;
        self.curve.maximum = None;
    }

    /// "cwnd = undo_cwnd, cwnd_prior = undo_cwnd_prior, ssthresh = undo_ssthresh, W_max =
    /// undo_W_max, K = undo_K, t_epoch = undo_t_epoch, W_est = undo_W_est", if cwnd is below
    /// undo_cwnd (section 4.9.2).
    fn on_spurious_loss(&mut self, _event: &SpuriousLoss, before: &WindowBefore, state: &mut WindowState) {
        if state.cwnd < before.cwnd
            && let Some(curve) = &self.before
        {
            self.curve = **curve;
        }
        state.restore(before);
    }

    /// Our choice: a new stage begins, towards the same plateau.
    fn on_mss_changed(&mut self, ratio: f64) {
        let Curve { maximum, prior, .. } = self.curve;
        self.curve =
            Curve { maximum: maximum.map(|maximum| maximum * ratio), prior: prior * ratio, epoch: None };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{LoneFlow, avoiding, echo, loss, response, response_to, timeout};

    /// A minute of silence is no elapsed time, although the ACK that ends it comes from a sender
    /// that the window limits again: with the pause the window is the one without it.
    #[test]
    fn a_pause_does_not_count() {
        let after = |pause: f64| {
            let mut cubic = Cubic::new(Parameters::default());
            let mut state = avoiding(1000.0);
            cubic.on_loss(&loss(&state), &mut state);
            let mut flow = LoneFlow::without_queue(0.1);
            flow.run_until(&mut cubic, &mut state, 2.0);
            if pause > 0.0 {
                flow.now += pause;
                let now = Time::ZERO + Duration::from_seconds(flow.now);
                let [idle, timeout] = [pause, 0.2].map(Duration::from_seconds);
                cubic.on_resumed(&Resumed::new(now, idle, timeout), &mut state);
            }
            flow.run_until(&mut cubic, &mut state, 4.0 + pause);
            state.cwnd
        };
        // Times in picoseconds are rounded.
        assert!((after(60.0) / after(0.0) - 1.0).abs() < 1e-3, "{} and {}", after(60.0), after(0.0));
    }

    /// Section 4.2 on a path with an ACK every rtt/cwnd.
    #[test]
    fn the_window_after_a_loss_is_the_cubic_function() {
        let mut cubic = Cubic::new(Parameters::default());
        let mut state = avoiding(1000.0);
        cubic.on_loss(&loss(&state), &mut state);
        assert_eq!((state.cwnd, state.ssthresh), (700.0, 700.0));
        let k = libm::cbrt(300.0 / 0.4);
        let mut flow = LoneFlow::without_queue(0.1);
        let mut worst: f64 = 0.0;
        for tenth in 1..200 {
            let t = f64::from(tenth) / 10.0;
            flow.run_until(&mut cubic, &mut state, t);
            let expected = 0.4 * (t - k) * (t - k) * (t - k) + 1000.0;
            worst = worst.max((state.cwnd / expected - 1.0).abs());
        }
        println!("CUBIC against C(t-K)^3+Wmax over 20 s: worst {:.3} %, K {k:.3} s", worst * 100.0);
        assert!(worst < 0.01, "{worst}");
    }

    /// Section 5.1: mean window 1.054 (RTT/p)^(3/4), where CUBIC is above Reno. Near the plateau a
    /// loss changes W_max only by the cube of its deviation, so it takes hundreds of losses to
    /// settle.
    #[test]
    fn response_function() {
        for (begin, p) in [(0.8, 1e-4), (1.2, 1e-4), (1.2, 3e-5)] {
            let mut cubic = Cubic::new(Parameters { fast_convergence: false, ..Parameters::default() });
            let expected = 1.054 * libm::pow(0.1 / p, 0.75);
            let mut state = avoiding(begin * expected);
            let w = response(&mut cubic, &mut state, 0.1, (1.0 / p) as u64, 1000);
            println!("CUBIC p {p} from {begin}: mean window {w:.1}, formula {expected:.1}");
            assert!((w / expected - 1.0).abs() < 0.03, "p {p}: {w} against {expected}");
        }
    }

    /// Table 1 of RFC 9438 (RTT 0.1 s, C = 0.4), whatever an ACK covers. The table is for losses at
    /// equal distances and without fast convergence; its integers are cut off, hence up to a
    /// segment beside the 3 % of the formula that it is computed with. At 1e-3 it has the larger of
    /// the mean windows of Reno and CUBIC, where cwnd follows the larger of both at each moment:
    /// with W_max = 44 and K = 3.2 s CUBIC is ahead of W_est by up to a tenth for half of the time,
    /// 5 %.
    #[test]
    fn table_1_of_the_rfc_whatever_an_ack_covers() {
        for every in [1.0, 2.0, 8.0] {
            for (p, expected, ahead, losses) in
                [(1e-2, 12.0, 0.0, 200), (1e-3, 38.0, 0.05, 200), (1e-4, 187.0, 0.0, 1000)]
            {
                let mut cubic = Cubic::new(Parameters { fast_convergence: false, ..Parameters::default() });
                let mut state = WindowState { byte_counting: true, ..avoiding(expected) };
                let mut flow = LoneFlow::without_queue(0.1);
                flow.every = every;
                let w = response_to(&mut flow, &mut cubic, &mut state, (1.0 / p) as u64, losses);
                println!("CUBIC p {p}, an ACK for {every}: {w:.1}, table 1 of RFC 9438 {expected}");
                let range = expected * 0.97..expected * (1.03 + ahead) + 1.0;
                assert!(range.contains(&w), "p {p}, {every}: {w} against {expected}");
            }
        }
    }

    /// Section 4.3: with a short round-trip time the window is W_est, and the mean window Reno's
    /// sqrt(1.5/p).
    #[test]
    fn reno_friendly_region() {
        let mut cubic = Cubic::new(Parameters::default());
        let mut state = avoiding(100.0);
        cubic.on_loss(&loss(&state), &mut state);
        let mut flow = LoneFlow::without_queue(0.01);
        let alpha = 3.0 * 0.3 / 1.7;
        // AIMD(alpha, beta) of equation 3: alpha segments per round trip until cwnd_prior, then
        // one.
        flow.run_until(&mut cubic, &mut state, 0.2);
        assert!((state.cwnd - (70.0 + 20.0 * alpha)).abs() < 0.6, "{}", state.cwnd);
        let to_prior = 30.0 / alpha * 0.01;
        flow.run_until(&mut cubic, &mut state, to_prior + 0.2);
        assert!((state.cwnd - 120.0).abs() < 1.0, "alpha is 1 from cwnd_prior on: {}", state.cwnd);

        let p: f64 = 1e-4;
        let mut cubic = Cubic::new(Parameters { fast_convergence: false, ..Parameters::default() });
        let mut state = avoiding(120.0);
        let w = response(&mut cubic, &mut state, 0.01, (1.0 / p) as u64, 20);
        let reno = (1.5 / p).sqrt();
        println!("CUBIC at 10 ms, p {p}: mean window {w:.1}, Reno {reno:.1}");
        assert!((w / reno - 1.0).abs() < 0.03, "{w} against {reno}");
    }

    #[test]
    fn fast_convergence_aims_lower_after_an_earlier_loss() {
        for (fast_convergence, maximum) in [(true, 800.0 * 0.85), (false, 800.0)] {
            let mut cubic = Cubic::new(Parameters { fast_convergence, ..Parameters::default() });
            let mut state = avoiding(1000.0);
            cubic.on_loss(&loss(&state), &mut state);
            state.cwnd = 800.0;
            cubic.on_loss(&loss(&state), &mut state);
            assert_eq!(cubic.curve.maximum, Some(maximum));
            assert_eq!(cubic.curve.prior, 800.0);
        }
    }

    #[test]
    fn a_fraction_of_a_segment_is_no_earlier_loss() {
        for (earlier, later, maximum) in [(133.5, 133.1, 133.1), (133.1, 132.9, 132.9 * 0.85)] {
            let mut cubic = Cubic::new(Parameters::default());
            let mut state = avoiding(earlier);
            cubic.on_loss(&loss(&state), &mut state);
            state.cwnd = later;
            cubic.on_loss(&loss(&state), &mut state);
            assert_eq!(cubic.curve.maximum, Some(maximum));
        }
    }

    #[test]
    fn after_a_timeout_and_after_a_slow_start_without_loss_k_is_zero() {
        for with_timeout in [true, false] {
            let mut cubic = Cubic::new(Parameters::default());
            let mut state = avoiding(1000.0);
            if with_timeout {
                cubic.on_timeout(&timeout(&state), &mut state);
                assert_eq!(state.ssthresh, 700.0);
                state.cwnd = 700.0;
            }
            let begin = state.cwnd;
            let mut flow = LoneFlow::without_queue(0.5);
            flow.run_until(&mut cubic, &mut state, 10.0);
            let expected = begin + 0.4 * 1000.0;
            assert!((state.cwnd / expected - 1.0).abs() < 0.01, "{} against {expected}", state.cwnd);
            assert_eq!(cubic.curve.prior, 1000.0);
        }
    }

    /// During a long recovery more than the window is outstanding; observed as timeout after
    /// timeout.
    #[test]
    fn what_is_outstanding_beyond_the_window_does_not_count() {
        let mut cubic = Cubic::new(Parameters::default());
        let mut state = avoiding(1000.0);
        let event = Timeout { flight_size: Bytes(4_000_000), ..timeout(&state) };
        cubic.on_timeout(&event, &mut state);
        assert_eq!(state.ssthresh, 700.0);
    }

    #[test]
    fn a_mark_is_a_loss_unless_told_otherwise() {
        for (abe, expected) in [(false, 700.0), (true, 850.0)] {
            let mut cubic = Cubic::new(Parameters { abe, ..Parameters::default() });
            let mut state = avoiding(1000.0);
            cubic.on_ecn_echo(&echo(&state), &mut state);
            assert_eq!((state.cwnd, state.ssthresh, cubic.curve.maximum), (expected, expected, Some(1000.0)));
        }
    }

    #[test]
    fn the_target_is_at_most_one_and_a_half_windows() {
        let mut cubic = Cubic::new(Parameters { c: 1000.0, ..Parameters::default() });
        let mut state = avoiding(100.0);
        let mut flow = LoneFlow::without_queue(1.0);
        flow.run(&mut cubic, &mut state, 1);
        flow.now += 1000.0;
        let before = state.cwnd;
        flow.run(&mut cubic, &mut state, 1);
        assert_eq!(state.cwnd, before + 0.5);
    }

    #[test]
    fn time_limited_by_the_application_does_not_count() {
        let mut cubic = Cubic::new(Parameters::default());
        let mut state = avoiding(1000.0);
        let mut flow = LoneFlow::without_queue(0.1);
        flow.run_until(&mut cubic, &mut state, 3.0);
        let before = state.cwnd;
        flow.now += 100.0;
        cubic.on_ack(&Acknowledged { window_limited: false, ..flow.next(state.cwnd) }, &mut state);
        flow.run(&mut cubic, &mut state, 10);
        assert!(state.cwnd - before < 0.1, "{} from {before}", state.cwnd);
    }

    /// Section 4.9.2: after an undone reduction the window continues as if it had not happened, to
    /// the bit.
    #[test]
    fn an_undone_reduction_leaves_no_trace() {
        for timeouts in [false, true] {
            let (mut cubic, mut state) = (Cubic::new(Parameters::default()), avoiding(100.0));
            let mut flow = LoneFlow::without_queue(0.1);
            flow.run(&mut cubic, &mut state, 500);
            cubic.on_loss(&loss(&state), &mut state);
            flow.run(&mut cubic, &mut state, 500);
            let (mut other, mut undisturbed) = (cubic.clone(), state);
            let mut alone = flow.clone();
            let before = state.before();
            if timeouts {
                cubic.on_timeout(&timeout(&state), &mut state);
                state.cwnd = 1.0;
            } else {
                cubic.on_loss(&loss(&state), &mut state);
            }
            cubic.on_spurious_loss(&SpuriousLoss::default(), &before, &mut state);
            for _ in 0..2000 {
                flow.run(&mut cubic, &mut state, 1);
                alone.run(&mut other, &mut undisturbed, 1);
                assert_eq!(state, undisturbed);
            }
        }
    }
}
