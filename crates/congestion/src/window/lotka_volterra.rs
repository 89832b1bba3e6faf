//! The Lotka-Volterra window: a connection as one of several species that live on one link
//! (Matsuura, section 2.1).
//!
//! The sending rate N of a connection grows as dN/dt = ε (1 − (N + γ (K − A)) / K) N, where K is
//! the physical bandwidth of the path and K − A the cross traffic. With w = N τ, τ the smallest
//! round-trip time, that is equation 9 of the thesis, and its solution over the time between two
//! ACKs, equation 10, is the new window.

use super::reno::Reno;
use crate::entry::Entry;
use crate::estimate::icim;
use crate::event::{Acknowledged, LossDetected, Resumed, Timeout};
use crate::part::WindowPart;
use crate::state::WindowState;
use crate::units::{Duration, Rate, Time};
use crate::{choice, parameters};

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "lotka-volterra",
    about: "Grows as a species in competition, towards what measured physical and available bandwidth leave it.",
    source: "Matsuura: Performance Evaluation of TCP Congestion Control Mechanism based on Inline Network Measurement, 2006",
    parameters: Parameters::TABLE,
    estimate: Some(icim::ENTRY.name),
    ..Entry::WINDOW
};

choice! {
    /// How e^x is computed.
    Exponential {
        /// With the mathematical library.
        Libm = "libm",
        /// As in a kernel without one: a Taylor polynomial of degree 4 about the integer below, and
        /// a table.
        Taylor4 = "taylor4",
    }
}

choice! {
    /// Where a bandwidth comes from.
    Origin {
        /// The estimator of the connection.
        Measured = "measured",
        /// The scenario.
        Oracle = "oracle",
    }
}

parameters! {
    /// Parameters of the Lotka-Volterra window.
    Parameters {
        /// Growth rate of the species.
        epsilon: f64 = 1.95, shown "1.95", unit "1/s", range (0.01, 100.0),
            source "thesis section 3.1; at most pi/2 over the age of the feedback, section 4.2.2";
        /// Strength of the competition. The more, the shorter the queue and the slower the way to
        /// equal shares.
        gamma: f64 = 0.9, shown "0.9", unit "", range (0.0, 0.999),
            source "thesis section 3.1; below 1 so that all species survive, equation 4";
        /// How e^x is computed.
        exp: Exponential = Exponential::Libm, shown "libm", unit "", range (0.0, 0.0),
            source "our choice; taylor4: thesis section 2.1.3";
        /// Where the physical bandwidth K comes from.
        physical: Origin = Origin::Measured, shown "measured", unit "", range (0.0, 0.0),
            source "thesis section 1; oracle: as in its reference 10";
        /// Where the available bandwidth A comes from.
        available: Origin = Origin::Measured, shown "measured", unit "", range (0.0, 0.0),
            source "thesis section 2.1.3";
        /// Physical bandwidth on the wire, with `physical = "oracle"`.
        physical_rate: Rate = Rate::from_bits_per_second(0), shown "", unit "bit/s", range (0.0, 1e15), requires physical = "oracle",
            source "the scenario has to say it";
        /// Available bandwidth on the wire, with `available = "oracle"`.
        available_rate: Rate = Rate::from_bits_per_second(0), shown "", unit "bit/s", range (0.0, 1e15), requires available = "oracle",
            source "the scenario has to say it";
    }
}

/// Maximum time between two ACKs that counts: the thesis assumes at most 10 s of round-trip time.
const LONGEST_STEP: Duration = Duration::from_milliseconds(10_000);

/// The Lotka-Volterra window.
#[derive(Clone, Debug)]
pub struct LotkaVolterra {
    parameters: Parameters,
    reno: Reno,
    last_ack: Option<Time>,
    /// Time between the last two ACKs.
    step: Duration,
    /// K and A were known at the last ACK.
    knows: bool,
    /// Smallest round-trip time.
    tau: Option<Duration>,
}

/// Bandwidths in full segments per second.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bandwidths {
    physical: f64,
    available: f64,
}

impl LotkaVolterra {
    /// With these parameters.
    pub const fn new(parameters: Parameters) -> Self {
        Self {
            parameters,
            reno: Reno::STANDARD,
            last_ack: None,
            step: Duration::ZERO,
            knows: false,
            tau: None,
        }
    }

    /// K and A, A no larger than K, once both are known.
    fn bandwidths(&self, state: &WindowState) -> Option<Bandwidths> {
        let value = |origin, rate: Rate, measured: Option<f64>| match origin {
            Origin::Measured => measured,
            Origin::Oracle => Some(rate.bits_per_second() as f64),
        };
        let Parameters { physical, available, physical_rate, available_rate, .. } = self.parameters;
        let bits = state.full_segment_on_wire().get() as f64 * 8.0;
        let physical = value(physical, physical_rate, state.path.capacity_bps)? / bits;
        let available = value(available, available_rate, state.path.available_bps)? / bits;
        (physical > 0.0 && physical.is_finite())
            .then(|| Bandwidths { physical, available: available.clamp(0.0, physical) })
    }

    /// Equation 14: the window to which equation 10 leads.
    fn limit(&self, bandwidths: Bandwidths, tau: f64) -> f64 {
        let Bandwidths { physical, available } = bandwidths;
        (physical - self.parameters.gamma * (physical - available)) * tau
    }

    /// Equation 10: the window after `seconds` from `window` on.
    ///
    /// The thesis prints the factor {K − γ(K − A)} τ into the exponent. Equation 9 is dw/dt =
    /// (ε/(Kτ)) w (w* − w) with w* = {K − γ(K − A)} τ, a logistic equation, and its solution has w*
    /// as a factor of the numerator; the bound of the exponent that the thesis gives next agrees.
    fn solution(&self, window: f64, bandwidths: Bandwidths, tau: f64, seconds: f64) -> f64 {
        let Bandwidths { physical, available } = bandwidths;
        let Parameters { epsilon, gamma, exp, .. } = self.parameters;
        let limit = self.limit(bandwidths, tau);
        let x = epsilon * seconds * (1.0 - gamma * (1.0 - available / physical));
        let growth = match exp {
            Exponential::Libm => libm::exp(x),
            Exponential::Taylor4 => taylor4(x),
        };
        // Numerator and denominator divided by e^x, which may be infinite.
        window * limit / (window * (1.0 - 1.0 / growth) + limit / growth)
    }
}

/// e^a for every integer that epsilon × 10 s can reach in the thesis, floor(19.5); beyond, the last
/// one is reused.
const POWERS: [f64; 20] = [
    1.0,
    core::f64::consts::E,
    7.38905609893065,
    20.085536923187668,
    54.598150033144236,
    148.4131591025766,
    403.4287934927351,
    1096.6331584284585,
    2980.9579870417283,
    8103.083927575384,
    22026.465794806718,
    59874.14171519782,
    162754.79141900392,
    442413.3920089205,
    1202604.2841647768,
    3269017.3724721107,
    8886110.520507872,
    24154952.7535753,
    65659969.13733051,
    178482300.96318725,
];

/// "e^x ~ e^a sum (x − a)^k / k!, k = 0..4, where a is the integer part of x". For x of zero or
/// more. Beyond the table the polynomial continues from its last entry; any such x brings the
/// window to its limit.
fn taylor4(x: f64) -> f64 {
    let a = (x as usize).min(POWERS.len() - 1);
    let d = x - a as f64;
    POWERS[a] * (1.0 + d * (1.0 + d / 2.0 * (1.0 + d / 3.0 * (1.0 + d / 4.0))))
}

impl WindowPart for LotkaVolterra {
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        // A duplicate ACK changes nothing, so the next cumulative ACK covers the whole time since
        // the last one.
        let since = self.last_ack.map_or(Duration::ZERO, |last| event.now.since(last));
        self.step = since.min(LONGEST_STEP);
        self.last_ack = Some(event.now);
        self.tau = event.minimum_rtt;
        let knew = self.knows;
        self.knows = self.bandwidths(state).is_some() && event.minimum_rtt.is_some();
        // "The slow start phase is used as other TCP congestion control methods", until there are
        // measurements.
        if self.knows && !knew && !event.recovering {
            state.ssthresh = state.ssthresh.min(state.cwnd).max(2.0);
        }
    }

    /// Equation 9 describes a flow that sends: a pause is no time in which it competes.
    fn on_resumed(&mut self, event: &Resumed, _state: &mut WindowState) {
        self.last_ack = Some(event.now);
    }

    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        let (Some(bandwidths), Some(tau)) = (self.bandwidths(state), event.minimum_rtt) else {
            return self.reno.grow(event, state);
        };
        if self.step.is_zero() {
            return;
        }
        let window = self.solution(state.cwnd, bandwidths, tau.seconds(), self.step.seconds());
        // Our choice: never below two segments, RFC 5681's minimum threshold. Not a number only if
        // K τ is zero.
        if window.is_finite() {
            state.cwnd = window.max(2.0);
        }
        // A shrinking window must not return to slow start.
        state.ssthresh = state.ssthresh.min(state.cwnd).max(2.0);
    }

    /// "In cases of packet loss, the window size is decreased in a manner identical to that of TCP
    /// Reno".
    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState) {
        self.reno.on_loss(event, state);
    }

    /// As in Reno. Our choice: the slow start after it is Reno's, too, because from one segment
    /// equation 10 takes ln(w*)/ε, some five seconds to 25000 segments. It does not exceed the
    /// window that equation 10 leads to: half of the flight can be several times that, when the
    /// first slow start overran the buffer.
    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState) {
        self.reno.on_timeout(event, state);
        if let (Some(bandwidths), Some(tau)) = (self.bandwidths(state), self.tau) {
            state.ssthresh = state.ssthresh.min(self.limit(bandwidths, tau.seconds())).max(2.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::ack_at;
    use crate::fixtures::{avoiding, loss, timeout};

    /// 5 Gbit/s in segments of 12000 bit.
    const K: f64 = 5e9 / 12000.0;
    const TAU: f64 = 0.06;

    fn bandwidths(part: f64) -> Bandwidths {
        Bandwidths { physical: K, available: part * K }
    }

    fn window(exp: Exponential) -> LotkaVolterra {
        LotkaVolterra::new(Parameters { exp, ..Parameters::default() })
    }

    /// Equation 9 by the Runge-Kutta method, in steps of 0.1 ms.
    fn integrated(mut w: f64, part: f64, seconds: f64) -> f64 {
        let slope = |w: f64| 1.95 * (1.0 - (w + 0.9 * (1.0 - part) * K * TAU) / (K * TAU)) * w;
        let (steps, h) = (seconds * 1e4, 1e-4);
        for _ in 0..steps as u64 {
            let a = slope(w);
            let b = slope(w + h / 2.0 * a);
            let c = slope(w + h / 2.0 * b);
            let d = slope(w + h * c);
            w += h / 6.0 * (a + 2.0 * b + 2.0 * c + d);
        }
        w
    }

    #[test]
    fn the_closed_form_solves_equation_9() {
        for part in [1.0, 0.8, 0.6, 0.4] {
            let closed = window(Exponential::Libm).solution(100.0, bandwidths(part), TAU, 3.0);
            // The Runge-Kutta error at this step is some 1e-12.
            assert!((closed / integrated(100.0, part, 3.0) - 1.0).abs() < 1e-9, "{part}: {closed}");
        }
    }

    #[test]
    fn windows_after_three_seconds() {
        let after = |part| window(Exponential::Libm).solution(100.0, bandwidths(part), TAU, 3.0);
        // Computed once by hand from the formula, to the digits given.
        assert!((after(1.0) - 14559.5).abs() < 0.1, "{}", after(1.0));
        assert!((after(0.4) - 1317.2).abs() < 0.1, "{}", after(0.4));
    }

    #[test]
    fn it_ends_at_what_competition_leaves() {
        for (part, limit) in [(1.0, 25_000.0), (0.4, 11_500.0)] {
            for begin in [10.0, 60_000.0] {
                let w = window(Exponential::Libm).solution(begin, bandwidths(part), TAU, 100.0);
                assert!((w - limit).abs() < 1e-6 * limit, "{w}");
            }
        }
    }

    #[test]
    fn many_small_steps_are_one_large_step() {
        for exp in [Exponential::Libm, Exponential::Taylor4] {
            let lotka_volterra = window(exp);
            let mut w = 100.0;
            for _ in 0..3000 {
                w = lotka_volterra.solution(w, bandwidths(0.6), TAU, 0.001);
            }
            let once = window(Exponential::Libm).solution(100.0, bandwidths(0.6), TAU, 3.0);
            // The polynomial is exact to 1e-15 at x of 0.002.
            assert!((w / once - 1.0).abs() < 1e-10, "{w} {once}");
        }
    }

    #[test]
    fn the_polynomial_is_low_by_at_most_0_4_percent() {
        let worst = (0..20_000).map(|i| f64::from(i) / 1000.0).map(|x| 1.0 - taylor4(x) / libm::exp(x)).fold(
            0.0_f64,
            |worst, error| {
                assert!(error >= -1e-15);
                worst.max(error)
            },
        );
        // The remainder just below the next integer: 1 − (65/24)/e = 0.00366.
        assert!((worst - 0.00366).abs() < 2e-5, "{worst}");
    }

    #[test]
    fn reno_until_it_knows_and_at_a_loss() {
        let mut lotka_volterra = window(Exponential::Libm);
        let mut state = avoiding(100.0);
        lotka_volterra.on_ack(&ack_at(1.0, TAU), &mut state);
        lotka_volterra.grow(&ack_at(1.0, TAU), &mut state);
        assert_eq!(state.cwnd, 100.01);
        lotka_volterra.on_loss(&loss(&state), &mut state);
        assert_eq!((state.cwnd, state.ssthresh), (50.005, 50.005));
    }

    /// Equation 10 over a pause of 5 s would be a factor of up to e^9.75 (epsilon 1.95/s).
    #[test]
    fn a_pause_does_not_count() {
        use crate::event::Resumed;
        let mut lotka_volterra = window(Exponential::Libm);
        let mut state = avoiding(100.0);
        let bits = state.full_segment_on_wire().get() as f64 * 8.0;
        (state.path.capacity_bps, state.path.available_bps) = (Some(K * bits), Some(K * bits));
        lotka_volterra.on_ack(&ack_at(1.0, TAU), &mut state);
        let [idle, timeout] = [5.0, 0.2].map(Duration::from_seconds);
        let now = Time::ZERO + Duration::from_seconds(6.0);
        lotka_volterra.on_resumed(&Resumed::new(now, idle, timeout), &mut state);
        let event = ack_at(6.0 + TAU, TAU);
        lotka_volterra.on_ack(&event, &mut state);
        lotka_volterra.grow(&event, &mut state);
        // A round trip: e^(1.95 * 0.06) = 1.124.
        assert!((state.cwnd - 112.4).abs() < 0.2, "{}", state.cwnd);
    }

    /// Slow start after a timeout ends at w* at the latest; without bandwidths where Reno's does.
    #[test]
    fn slow_start_after_a_timeout_does_not_pass_the_limit() {
        let mut lotka_volterra = window(Exponential::Libm);
        let mut state = avoiding(40_000.0);
        lotka_volterra.on_timeout(&timeout(&state), &mut state);
        assert_eq!(state.ssthresh, 20_000.0);
        let bits = state.full_segment_on_wire().get() as f64 * 8.0;
        (state.path.capacity_bps, state.path.available_bps) = (Some(K * bits), Some(0.4 * K * bits));
        lotka_volterra.on_ack(&ack_at(0.0, TAU), &mut state);
        lotka_volterra.on_timeout(&timeout(&state), &mut state);
        assert!((state.ssthresh - 11_500.0).abs() < 1e-6, "{}", state.ssthresh);
    }

    /// Measurements end slow start and take the window to w* at the pace of equation 10.
    #[test]
    fn measured_bandwidths_drive_the_window() {
        let mut lotka_volterra = window(Exponential::Libm);
        let mut state = crate::fixtures::state(100.0);
        let bits = state.full_segment_on_wire().get() as f64 * 8.0;
        lotka_volterra.on_ack(&ack_at(0.0, TAU), &mut state);
        assert!(state.in_slow_start());
        state.path.capacity_bps = Some(K * bits);
        state.path.available_bps = Some(0.4 * K * bits);
        for i in 0..=3000 {
            let event = ack_at(f64::from(i) / 1000.0, TAU);
            lotka_volterra.on_ack(&event, &mut state);
            assert!(!state.in_slow_start());
            lotka_volterra.grow(&event, &mut state);
        }
        assert!((state.cwnd - 1317.2).abs() < 0.1, "{}", state.cwnd);
    }
}
