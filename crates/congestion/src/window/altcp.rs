//! ALTCP (Kavidha, Sadasivam): LTCP with a larger increase on long paths while the flow searches
//! for bandwidth.

use super::ltcp::Layers;
use super::reno::Reno;
use crate::entry::Entry;
use crate::event::{Acknowledged, LossDetected, RestartCause, Timeout};
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
    ..Entry::WINDOW
};

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
        /// K_R of a path of 1 ms.
        rtt_factor: f64 = 0.5, shown "0.5", unit "ms^(-1/3)", range (0.0, 100.0),
            source "ALTCP paper, equation 2: 0.5 (RTT)^(1/3), RTT in milliseconds";
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
}

impl Altcp {
    /// A flow with these parameters. Our choice, as the paper leaves K_R open at the start:
    /// transient, because a new flow searches for bandwidth.
    pub const fn new(parameters: Parameters) -> Self {
        Self {
            parameters,
            reno: Reno::STANDARD,
            layers: Layers::new(parameters.layer_window),
            losses: [1; 3],
            transient: true,
            minimum_rtt: Duration::ZERO,
            stored: 1.0,
        }
    }

    /// "stored K_R: stored value of K_R which is calculated at the start of the flow and updated
    /// whenever minimum RTT changes".
    fn store_factor(&mut self, minimum_rtt: Duration) {
        self.minimum_rtt = minimum_rtt;
        let milliseconds = minimum_rtt.seconds() * 1000.0;
        let factor = self.parameters.rtt_factor * libm::cbrt(milliseconds);
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
    #[inline]
    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        if let Some(minimum) = event.minimum_rtt
            && minimum != self.minimum_rtt
        {
            self.store_factor(minimum);
        }
        self.climb(state.cwnd);
        match self.layers.current() {
            // Our choice: no K_R here, because LTCP's first layer is TCP in every respect.
            1 => self.reno.grow(event, state),
            layer => {
                // "cwnd = cwnd + (K_R * K)/cwnd"
                let factor = if self.transient { self.stored } else { 1.0 };
                state.cwnd += factor * f64::from(layer) * state.counted(event.size) / state.cwnd;
            }
        }
    }

    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState) {
        self.climb(state.cwnd);
        self.note_loss();
        // "cwnd = (1 - beta) * cwnd". The paper prints it, and what follows, inside the "else"
        // above; a flow in the steady state would then not respond to a loss.
        match self.layers.current() {
            1 => self.reno.on_loss(event, state),
            _ => {
                let kept = state.window_in_use() * (1.0 - self.parameters.beta);
                state.reduce_to(kept);
            }
        }
        // "while cwnd < W_K do K = K - 1"
        self.layers.descend(state.cwnd);
    }

    /// Our choice: half the window, as in Reno, unless duplicate ACKs reported the loss, and one
    /// more loss in the history.
    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState) {
        self.climb(state.cwnd);
        self.note_loss();
        match self.layers.current() {
            1 => self.reno.on_timeout(event, state),
            // ssthresh is set already, by the recovery that the timeout ends.
            _ if event.repeated => {}
            _ => {
                let kept = match event.cause {
                    RestartCause::TahoeFastRetransmit => 1.0 - self.parameters.beta,
                    RestartCause::TimerExpired | RestartCause::PersistentCongestion => 0.5,
                };
                state.ssthresh = (state.window_in_use() * kept).max(2.0);
            }
        }
        self.layers.descend(1.0);
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
