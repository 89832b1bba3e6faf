//! ALTCP (Kavidha, Sadasivam): LTCP with a larger increase on long paths while the flow searches
//! for bandwidth.
//!
//! The abstract has "a three-dimensional congestion control framework": layers (macroscopic), the
//! response to each ACK (microscopic), and an "intermediate control [...] for decoupling the
//! aggregate throughput from the number of opened TCP flows in parallel". Section 3 describes the
//! third as Adaptive TCP's: k = 1, which is TCP, in competition and in congestion. The pseudo-code
//! of section 4, "of the ALTCP", has the first two, and the conclusion calls Adaptive TCP "another
//! protocol". So the third is an option, in the two forms that the text gives it: `competition`, by
//! Adaptive TCP's detector, and a group of parallel flows that act as one.

use super::adaptive::{self, Adaptive, Group};
use super::ltcp::Layers;
use super::reno::Reno;
use crate::entry::Entry;
use crate::event::{Acknowledged, LossDetected, RestartCause, Resumed, Timeout};
use crate::held::Held;
use crate::part::WindowPart;
use crate::state::WindowState;
use crate::units::Duration;
use crate::{choice, parameters};

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "altcp",
    about: "LTCP that grows K_R = 0.5 RTT^(1/3) times as fast (RTT in ms), until three losses in a row in layers that do \
            not rise.",
    source: "Kavidha, Sadasivam: Exploring Round Trip Time fairness for Adaptive Layered Transmission Control Protocol",
    parameters: Parameters::TABLE,
    groups: true,
    ..Entry::WINDOW
};

choice! {
    /// The intermediate control.
    Competition {
        /// None: the pseudo-code of section 4.
        Ignore = "ignore",
        /// TCP in competition and in congestion, as Adaptive TCP's detector finds them (abstract
        /// and section 3).
        Detect = "detect",
    }
}

choice! {
    /// Nature of the first layer.
    FirstLayer {
        /// TCP in every respect.
        Reno = "reno",
        /// A layer like the others: K_R and beta.
        Printed = "printed",
    }
}

choice! {
    /// How K_R depends on the round-trip time.
    RttForm {
        /// Its cube root.
        CubeRoot = "cube-root",
        /// A third of it.
        Third = "third",
    }
}

choice! {
    /// When K_R is on.
    Compensation {
        /// In the transient state: off after three losses in layers that do not rise, until the
        /// window rises above the layer of the last loss.
        Paper = "paper",
        /// At all times.
        Always = "always",
    }
}

parameters! {
    /// Parameters of ALTCP.
    Parameters {
        /// W_T, the window at which the second layer begins.
        layer_window: f64 = 50.0, shown "50", unit "segments", range (2.0, 1e6),
            source "draft-bhandarkar-ltcp-01: W_T = 50; the ALTCP paper gives none";
        /// Part of the window that a loss takes from the second layer on.
        beta: f64 = 0.15, shown "0.15", unit "", range (0.01, 0.5),
            source "draft-bhandarkar-ltcp-01: beta = 0.15; the ALTCP paper gives none";
        /// K_R of a path of 1 ms; with "third", of one of 3 ms.
        rtt_factor: f64 = 0.5, shown "0.5", unit "ms^(-1/3)", range (0.0, 100.0),
            source "ALTCP paper, equation 2: 0.5 (RTT)^(1/3), RTT in milliseconds";
        /// How K_R depends on the round-trip time: its cube root, or a third of it.
        rtt_form: RttForm = RttForm::CubeRoot, shown "cube-root", unit "", range (0.0, 0.0),
            source "ALTCP paper, equation 2: 0.5(RTT) 1/3, an exponent set on the line; third: section 4, 0.5(RTT)/3";
        /// Nature of the first layer: TCP in every respect, or a layer like the others, with K_R
        /// and beta.
        first_layer: FirstLayer = FirstLayer::Reno, shown "reno", unit "", range (0.0, 0.0),
            source "draft-bhandarkar-ltcp-01: below W_T as TCP; printed: ALTCP paper, section 4, whose handlers know no \
                    first layer";
        /// The intermediate control: none, or TCP in competition and in congestion.
        competition: Competition = Competition::Ignore, shown "ignore", unit "", range (0.0, 0.0),
            source "ALTCP paper, section 4: the pseudo-code of the ALTCP; detect: abstract, a three-dimensional framework, and \
                    section 3, k = 1 whenever it detects competition and during periods of congestion";
        /// When K_R is on: in the transient state, as the paper's handler of losses has it, or
        /// always.
        compensation: Compensation = Compensation::Paper, shown "paper", unit "", range (0.0, 0.0),
            source "ALTCP paper, section 4, K_R = 1 in the steady state; always is ours: only with it throughput goes with \
                    RTT^-2 where losses are at the same times";
        /// K_R is at least 1, so that paths below 8 ms are no slower than LTCP.
        at_least_ltcp: bool = true, shown "true", unit "", range (0.0, 0.0),
            source "our choice: the paper's formula alone gives 0.5 at 1 ms";
    }
}

/// ALTCP.
#[derive(Clone, Debug)]
pub struct Altcp {
    parameters: Parameters,
    reno: Reno,
    layers: Layers,
    /// Layers at the latest losses: current_layer, last_layer and second_last_layer of the paper.
    losses: [u32; 3],
    /// Transient state: K_R is on.
    transient: bool,
    /// Smallest round-trip time, and stored_KR for it.
    minimum_rtt: Duration,
    stored: f64,
    /// The third dimension: Adaptive TCP's knowledge of the path, and of parallel flows.
    intermediate: Held<Adaptive>,
}

impl Altcp {
    /// A flow with these parameters. Our choice, as the paper leaves K_R open at the start:
    /// transient, because a new flow searches for bandwidth.
    pub fn new(parameters: Parameters) -> Self {
        Self {
            parameters,
            reno: Reno::STANDARD,
            layers: Layers::new(parameters.layer_window),
            losses: [1; 3],
            transient: true,
            minimum_rtt: Duration::ZERO,
            stored: 1.0,
            intermediate: Held::new(Adaptive::new(adaptive::Parameters::default())),
        }
    }

    /// Whether it is TCP now: in the first layer, or by the intermediate control.
    fn is_tcp(&self) -> bool {
        let first = self.layers.current() == 1 && self.parameters.first_layer == FirstLayer::Reno;
        first || self.parameters.competition == Competition::Detect && !self.intermediate.is_strong()
    }

    /// Whether the intermediate control is in use.
    fn is_controlled(&self) -> bool {
        self.parameters.competition == Competition::Detect || self.intermediate.members() > 1.0
    }

    /// "stored K_R: stored value of K_R which is calculated at the start of the flow and updated
    /// whenever minimum RTT changes".
    fn store_factor(&mut self, minimum_rtt: Duration) {
        self.minimum_rtt = minimum_rtt;
        let milliseconds = minimum_rtt.seconds() * 1000.0;
        let factor = self.parameters.rtt_factor
            * match self.parameters.rtt_form {
                RttForm::CubeRoot => libm::cbrt(milliseconds),
                RttForm::Third => milliseconds / 3.0,
            };
        self.stored = if self.parameters.at_least_ltcp { factor.max(1.0) } else { factor };
    }

    fn climb(&mut self, cwnd: f64) {
        let before = self.layers.current();
        self.layers.climb(cwnd);
        // "K ++; if K > current layer then [...] K_R = stored K_R"
        if self.layers.current() > before && self.layers.current() > self.losses[0] {
            self.transient = true;
        }
    }

    /// Remembers the layer of a loss and decides between the steady and the transient state.
    fn note_loss(&mut self) {
        let [current, last, _] = self.losses;
        self.losses = [self.layers.current(), current, last];
        // "if (second_last_layer >= last_layer && last_layer >= current_layer) then K_R = 1; else
        // K_R = stored K_R"
        self.transient = self.parameters.compensation == Compensation::Always || !self.losses.is_sorted();
    }
}

impl WindowPart for Altcp {
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        if self.is_controlled() {
            self.intermediate.on_ack(event, state);
        }
    }

    #[inline]
    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        if let Some(minimum) = event.minimum_rtt
            && minimum != self.minimum_rtt
        {
            self.store_factor(minimum);
        }
        self.climb(self.intermediate.window(state));
        let members = self.intermediate.members();
        let increase = match self.is_tcp() {
            // In the first layer our choice: no K_R, because LTCP's first layer is TCP in every
            // respect.
            true if members <= 1.0 => return self.reno.grow(event, state),
            true => 1.0,
            // "cwnd = cwnd + (K_R * K)/cwnd"
            false => (if self.transient { self.stored } else { 1.0 }) * f64::from(self.layers.current()),
        };
        state.cwnd += increase / members * state.counted(event.size) / state.cwnd;
    }

    fn on_resumed(&mut self, event: &Resumed, state: &mut WindowState) {
        self.intermediate.on_resumed(event, state);
    }

    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState) {
        if self.intermediate.has_answered(event.now) {
            return state.reduce_to(state.cwnd);
        }
        self.climb(self.intermediate.window(state));
        self.note_loss();
        // "cwnd = (1 - beta) * cwnd". The paper prints it, and what follows, inside the "else"
        // above; a flow in the steady state would then not respond to a loss.
        let kept = if self.is_tcp() {
            self.reno.on_loss(event, state);
            0.5
        } else {
            let kept = 1.0 - self.parameters.beta;
            let window = state.window_in_use() * kept;
            state.reduce_to(window);
            kept
        };
        if self.is_controlled() {
            self.intermediate.lose(event.now, kept);
        }
        // "while cwnd < W_K do K = K - 1"
        self.layers.descend(self.intermediate.window(state));
    }

    /// Our choice: half the window, as in Reno, unless duplicate ACKs reported the loss, and one
    /// more loss in the history.
    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState) {
        self.climb(self.intermediate.window(state));
        self.note_loss();
        if self.is_tcp() {
            self.reno.on_timeout(event, state);
        } else if !event.repeated {
            let kept = match event.cause {
                RestartCause::TahoeFastRetransmit => 1.0 - self.parameters.beta,
                RestartCause::TimerExpired | RestartCause::PersistentCongestion => 0.5,
            };
            state.ssthresh = (state.window_in_use() * kept).max(2.0);
        }
        if self.is_controlled() {
            self.intermediate.lose(event.now, 0.5);
        }
        self.layers.descend(1.0);
    }
}

/// Parallel flows as one: "decoupling the aggregate throughout from the number of opened TCP flows
/// in parallel" (abstract). The layer is that of the sum of their windows, each of N members grows
/// by K_R K/N, and a loss of one is a loss of all.
impl Altcp {
    /// Before an event of a member of a group: takes the group's knowledge.
    pub(super) fn take_from(&mut self, group: &Group, state: &mut WindowState) {
        let before = self.intermediate.window(state);
        if self.intermediate.take_from(group, state) {
            self.climb(before);
            self.note_loss();
            self.layers.descend(self.intermediate.window(state));
        }
    }

    /// After an event: shares its knowledge with the group.
    pub(super) fn give_to(&mut self, group: &mut Group, state: &WindowState) {
        self.intermediate.give_to(group, state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{LoneFlow, avoiding, loss};

    #[test]
    fn k_r_of_the_minimum_round_trip_time_in_milliseconds() {
        for (rtt, factor, literal) in [
            (1, 1.0, 0.5),
            (8, 1.0, 1.0),
            (50, 1.842, 1.842),
            (120, 2.466, 2.466),
            (200, 2.924, 2.924),
            (500, 3.969, 3.969),
        ] {
            for (at_least_ltcp, expected) in [(true, factor), (false, literal)] {
                let mut altcp = Altcp::new(Parameters { at_least_ltcp, ..Parameters::default() });
                altcp.store_factor(Duration::from_milliseconds(rtt));
                assert!((altcp.stored - expected).abs() < 0.0005, "{rtt} ms: {}", altcp.stored);
            }
        }
    }

    /// Section 4: "stored K_R = 0.5(RTT)/3", 20 at the paper's 120 ms.
    #[test]
    fn k_r_as_a_third_of_the_round_trip_time() {
        let parameters = Parameters { rtt_form: RttForm::Third, ..Parameters::default() };
        for (rtt, expected) in [(3, 1.0), (6, 1.0), (60, 10.0), (120, 20.0)] {
            let mut altcp = Altcp::new(parameters);
            altcp.store_factor(Duration::from_milliseconds(rtt));
            assert!((altcp.stored - expected).abs() < 1e-9, "{rtt} ms: {}", altcp.stored);
        }
    }

    /// The handlers of section 4 know no first layer: K_R from the first window on, and beta at
    /// each loss.
    #[test]
    fn the_first_layer_as_printed() {
        let mut altcp = Altcp::new(Parameters { first_layer: FirstLayer::Printed, ..Parameters::default() });
        let mut state = avoiding(30.0);
        assert!((factor(&mut altcp, &mut state) - 2.466).abs() < 0.1);
        assert_eq!(altcp.layers.current(), 1);
        lose_at(&mut altcp, &mut state, 40.0);
        assert_eq!(state.cwnd, 34.0);
    }

    /// Round trips of 50 ms on a link of 10,000 segments/s, with `others` segments of other flows
    /// that grow by one per round trip; the growth of the last, in segments.
    fn last_growth(altcp: &mut Altcp, state: &mut WindowState, others: f64, rounds: u32) -> f64 {
        let (mut total, mut grown) = (0, 0.0);
        for round in 0..rounds {
            let before = state.cwnd;
            let rtt = 0.05_f64.max((before + others + f64::from(round)) / 10_000.0);
            for _ in 0..before as u64 {
                total += 1000;
                let seconds = |seconds| Some(Duration::from_seconds(seconds));
                let event = Acknowledged {
                    rtt: seconds(rtt),
                    smoothed_rtt: seconds(rtt),
                    minimum_rtt: seconds(0.05),
                    acknowledged_total: crate::units::Bytes(total),
                    sent_total: crate::units::Bytes(total + before as u64 * 1000),
                    ..crate::fixtures::ack(1000)
                };
                altcp.on_ack(&event, state);
                altcp.grow(&event, state);
            }
            grown = state.cwnd - before;
        }
        grown
    }

    /// Section 3: the strength rises "when there is no competition", and "k = 1 during periods of
    /// congestion", where it "is identical to standard TCP", at a loss too.
    #[test]
    fn the_third_dimension_is_tcp_in_congestion() {
        let parameters = Parameters { competition: Competition::Detect, ..Parameters::default() };
        for (window, others, expected) in [(300.0, 0.0, 3.0 * 1.842), (700.0, 0.0, 1.0), (300.0, 400.0, 1.0)]
        {
            let mut altcp = Altcp::new(parameters);
            let mut state = avoiding(window);
            // The smallest smoothed round-trip time is that of an empty queue.
            last_growth(&mut altcp, &mut avoiding(10.0), 0.0, 2);
            let grown = last_growth(&mut altcp, &mut state, others, 4);
            assert!((grown / expected - 1.0).abs() < 0.1, "{window} beside {others}: {grown}");
            let before = state.cwnd;
            altcp.on_loss(&loss(&state), &mut state);
            let kept = if expected > 1.0 { 0.85 } else { 0.5 };
            assert!((state.cwnd / before - kept).abs() < 0.01, "{window}: {} of {before}", state.cwnd);
        }
    }

    /// Abstract: "decoupling the aggregate throughout from the number of opened TCP flows in
    /// parallel". Four of 375 segments grow together like one of 1500, and lose together.
    #[test]
    fn parallel_flows_grow_and_lose_as_one() {
        let mut group = Group::default();
        let mut flows: [(Altcp, WindowState); 4] =
            core::array::from_fn(|_| (Altcp::new(Parameters::default()), avoiding(375.0)));
        let round = |flows: &mut [(Altcp, WindowState); 4], group: &mut Group| {
            let before: f64 = flows.iter().map(|(_, state)| state.cwnd).sum();
            for _ in 0..375 {
                for (altcp, state) in flows.iter_mut() {
                    let event = crate::fixtures::ack_at(1.0, 0.12);
                    altcp.take_from(group, state);
                    altcp.grow(&event, state);
                    altcp.give_to(group, state);
                }
            }
            flows.iter().map(|(_, state)| state.cwnd).sum::<f64>() - before
        };
        round(&mut flows, &mut group);
        let mut one = Altcp::new(Parameters::default());
        let mut alone = avoiding(1512.0);
        let expected = factor(&mut one, &mut alone) * 5.0;
        let grown = round(&mut flows, &mut group);
        assert!((grown / expected - 1.0).abs() < 0.02, "{grown} together, {expected} alone");
        let sum = |flows: &[(Altcp, WindowState); 4]| flows.iter().map(|(_, state)| state.cwnd).sum::<f64>();
        let before = sum(&flows);
        for (place, (altcp, state)) in flows.iter_mut().enumerate() {
            altcp.take_from(&group, state);
            if place == 0 {
                altcp.on_loss(&loss(state), state);
            }
            altcp.give_to(&mut group, state);
        }
        assert!((sum(&flows) / before - 0.85).abs() < 0.001, "{} of {before}", sum(&flows));
    }

    /// Growth in one round trip, as a multiple of LTCP's K.
    fn factor(altcp: &mut Altcp, state: &mut WindowState) -> f64 {
        let mut flow = LoneFlow::without_queue(0.12);
        let before = state.cwnd;
        flow.run(altcp, state, before as u64);
        (state.cwnd - before) / f64::from(altcp.layers.current())
    }

    /// A loss at this window.
    fn lose_at(altcp: &mut Altcp, state: &mut WindowState, window: f64) {
        state.cwnd = window;
        altcp.layers.descend(window);
        altcp.on_loss(&loss(state), state);
    }

    #[test]
    fn three_losses_in_layers_that_do_not_rise_are_the_steady_state() {
        let mut altcp = Altcp::new(Parameters::default());
        let mut state = avoiding(1200.0);
        assert!((factor(&mut altcp, &mut state) - 2.466).abs() < 0.02, "a new flow is transient");
        lose_at(&mut altcp, &mut state, 1500.0);
        assert!(altcp.transient, "layers 1, 1, 5: it has risen");
        lose_at(&mut altcp, &mut state, 1500.0);
        assert!(altcp.transient, "layers 1, 5, 5");
        lose_at(&mut altcp, &mut state, 1500.0);
        assert!(!altcp.transient, "layers 5, 5, 5");
        assert!((factor(&mut altcp, &mut state) - 1.0).abs() < 0.01);
        lose_at(&mut altcp, &mut state, 900.0);
        assert!(!altcp.transient, "layers 5, 5, 4");
        lose_at(&mut altcp, &mut state, 1500.0);
        assert!(altcp.transient, "layers 5, 4, 5");
    }

    #[test]
    fn rising_above_the_layer_of_the_last_loss_ends_the_steady_state() {
        let mut altcp = Altcp::new(Parameters::default());
        let mut state = avoiding(1500.0);
        for _ in 0..3 {
            lose_at(&mut altcp, &mut state, 1500.0);
        }
        assert!(!altcp.transient);
        state.cwnd = 1749.0;
        factor(&mut altcp, &mut state);
        assert_eq!(altcp.layers.current(), 6, "W_6 = 1750");
        assert!(altcp.transient);
    }

    #[test]
    fn always_has_no_steady_state() {
        let parameters = Parameters { compensation: Compensation::Always, ..Parameters::default() };
        let mut altcp = Altcp::new(parameters);
        let mut state = avoiding(1500.0);
        for _ in 0..4 {
            lose_at(&mut altcp, &mut state, 1500.0);
            assert!((factor(&mut altcp, &mut state) - 2.466).abs() < 0.02);
        }
    }

    /// Throughput of flows that all lose every `period` seconds, in closed form, each without a
    /// queue: RTT^-2.5 with K_R = 1 and RTT^-2 with K_R on, because W is proportional to K_R K/RTT
    /// and to K^3, up to the granularity of the layers. The paper's handler turns K_R off at the
    /// third loss, so its law is the former.
    #[test]
    fn losses_at_the_same_times_have_the_law_of_tcp_only_with_k_r_on() {
        for (compensation, law) in [(Compensation::Paper, 2.5), (Compensation::Always, 2.0)] {
            let sent_with = |rtt: f64| {
                let mut altcp = Altcp::new(Parameters { compensation, ..Parameters::default() });
                let mut state = avoiding(1000.0);
                let mut flow = LoneFlow::without_queue(rtt);
                let mut sent = 0.0_f64;
                for period in 1..=40_u32 {
                    while flow.now < f64::from(period) * 2.0 {
                        flow.run(&mut altcp, &mut state, 1);
                        sent += if period > 20 { 1.0 } else { 0.0 };
                    }
                    altcp.on_loss(&loss(&state), &mut state);
                }
                assert_eq!(altcp.transient, compensation == Compensation::Always);
                sent
            };
            let exponent = libm::log(sent_with(0.02) / sent_with(0.08)) / libm::log(4.0);
            println!("{compensation:?}: {exponent:.3}");
            assert!((exponent - law).abs() < 0.1, "{compensation:?}: {exponent}");
        }
    }

    #[test]
    fn a_loss_takes_15_percent_in_the_steady_state_too() {
        let mut altcp = Altcp::new(Parameters::default());
        let mut state = avoiding(1500.0);
        for _ in 0..4 {
            lose_at(&mut altcp, &mut state, 1500.0);
            assert_eq!(state.cwnd, 1275.0);
        }
        assert!(!altcp.transient);
    }

    #[test]
    fn without_k_r_it_is_ltcp() {
        use crate::window::ltcp::{self, Ltcp};
        let mut altcp = Altcp::new(Parameters { rtt_factor: 0.0, ..Parameters::default() });
        let mut ltcp = Ltcp::new(ltcp::Parameters::default());
        let (mut one, mut other) = (avoiding(30.0), avoiding(30.0));
        for _ in 0..20 {
            LoneFlow::without_queue(0.12).run(&mut altcp, &mut one, 20_000);
            LoneFlow::without_queue(0.12).run(&mut ltcp, &mut other, 20_000);
            assert_eq!(one, other);
            altcp.on_loss(&loss(&one), &mut one);
            ltcp.on_loss(&loss(&other), &mut other);
        }
    }
}
