//! LTCP (Bhandarkar, Reddy): a flow in layer K grows like K flows of TCP, and the number of layers
//! grows with the window.

use super::reno::Reno;
use crate::entry::Entry;
use crate::event::{Acknowledged, LossDetected, RestartCause, Timeout};
use crate::parameters;
use crate::part::WindowPart;
use crate::state::WindowState;

/// Entry in the registry.
pub const ENTRY: Entry = Entry {
    name: "ltcp",
    about: "Grows by K segments per round-trip time in layer K and loses 15 % at a loss; Reno in the first layer.",
    source: "Bhandarkar, Reddy: draft-bhandarkar-ltcp-01",
    parameters: Parameters::TABLE,
    ..Entry::WINDOW
};

parameters! {
    /// Parameters of LTCP.
    Parameters {
        /// W_T, the window at which the second layer begins.
        layer_window: f64 = 50.0, shown "50", unit "segments", range (2.0, 1e6),
            source "draft-bhandarkar-ltcp-01: W_T = 50";
        /// Part of the window that a loss takes from the second layer on.
        beta: f64 = 0.15, shown "0.15", unit "", range (0.01, 0.5),
            source "draft-bhandarkar-ltcp-01: beta = 0.15";
    }
}

/// The layers of LTCP and ALTCP, and the one a flow is in.
#[derive(Clone, Copy, Debug)]
pub struct Layers {
    first_window: f64,
    layer: u32,
}

/// Maximum number of layers crossed per event; the next event continues. From the first layer to
/// the last of these the window grows to 273,000 segments with the usual W_T of 50. A program in
/// the Linux kernel must not contain an unbounded loop.
const STEPS: usize = 32;

impl Layers {
    /// In the first layer, with this W_T.
    pub const fn new(first_window: f64) -> Self {
        Self { first_window, layer: 1 }
    }

    /// K.
    pub const fn current(&self) -> u32 {
        self.layer
    }

    /// W_K = W_T K (K + 1)(K - 1)/6: the window at which layer K begins.
    pub fn boundary(&self, layer: u32) -> f64 {
        let k = f64::from(layer);
        self.first_window * k * (k + 1.0) * (k - 1.0) / 6.0
    }

    /// K grows while cwnd > W_(K+1), so that at the end of slow start it follows from the window.
    #[inline]
    pub fn climb(&mut self, cwnd: f64) {
        for _ in 0..STEPS {
            if cwnd > self.boundary(self.layer + 1) {
                self.layer += 1;
            } else {
                break;
            }
        }
    }

    /// K shrinks while cwnd < W_K.
    pub fn descend(&mut self, cwnd: f64) {
        for _ in 0..STEPS {
            if cwnd < self.boundary(self.layer) {
                self.layer -= 1;
            } else {
                break;
            }
        }
    }
}

/// LTCP.
#[derive(Clone, Debug)]
pub struct Ltcp {
    parameters: Parameters,
    reno: Reno,
    layers: Layers,
}

impl Ltcp {
    /// With these parameters.
    pub const fn new(parameters: Parameters) -> Self {
        Self { parameters, reno: Reno::STANDARD, layers: Layers::new(parameters.layer_window) }
    }
}

impl WindowPart for Ltcp {
    #[inline]
    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
        self.layers.climb(state.cwnd);
        match self.layers.current() {
            // With K = 1 it is TCP in every respect.
            1 => self.reno.grow(event, state),
            // "cwnd = cwnd + K/cwnd" (the draft prints "cwnd = K/cwnd").
            layer => state.cwnd += f64::from(layer) * state.counted(event.size) / state.cwnd,
        }
    }

    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState) {
        self.layers.climb(state.cwnd);
        match self.layers.current() {
            1 => self.reno.on_loss(event, state),
            _ => {
                let kept = state.window_in_use() * (1.0 - self.parameters.beta);
                state.reduce_to(kept);
            }
        }
        // The draft drops one layer, which up to K = 18 is all that a cut of 0.15 can cross. Our
        // choice beyond: as many as necessary.
        self.layers.descend(state.cwnd);
    }

    /// Half the window, as in Reno, unless duplicate ACKs reported the loss; K then follows from
    /// the window of one segment.
    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState) {
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
    use crate::fixtures::ack;
    use crate::fixtures::{LoneFlow, avoiding, loss, response, timeout};

    #[test]
    fn boundaries_of_the_layers() {
        let layers = Layers::new(50.0);
        let expected = [
            0, 50, 200, 500, 1000, 1750, 2800, 4200, 6000, 8250, 11_000, 14_300, 18_200, 22_750, 28_000,
            34_000, 40_800, 48_450, 57_000, 66_500,
        ];
        for (layer, window) in (1..).zip(expected) {
            assert_eq!(layers.boundary(layer), f64::from(window), "W_{layer}");
        }
    }

    #[test]
    fn layers_go_up_and_down_with_the_window() {
        let mut ltcp = Ltcp::new(Parameters::default());
        let mut state = avoiding(10.0);
        for (window, layer) in [(49.0, 1), (51.0, 2), (199.0, 2), (201.0, 3), (5000.0, 8)] {
            state.cwnd = window;
            ltcp.grow(&ack(1000), &mut state);
            assert_eq!(ltcp.layers.current(), layer, "{window}");
        }
        state.cwnd = 4300.0;
        ltcp.on_loss(&loss(&state), &mut state);
        assert_eq!((state.cwnd, ltcp.layers.current()), (3655.0, 7), "below W_8 = 4200");
        ltcp.on_timeout(&timeout(&state), &mut state);
        assert_eq!((state.ssthresh, ltcp.layers.current()), (1827.5, 1));
    }

    /// "beta < 3/(K + 1)": a cut of 0.15 crosses at most one boundary up to K = 18.
    #[test]
    fn a_cut_crosses_at_most_one_boundary_up_to_layer_18() {
        for layer in 2..=18 {
            let mut layers = Layers { layer, ..Layers::new(50.0) };
            layers.descend(layers.boundary(layer) * 0.85);
            assert_eq!(layers.current(), layer - 1);
        }
        let mut layers = Layers { layer: 21, ..Layers::new(50.0) };
        layers.descend(layers.boundary(21) * 0.85);
        assert_eq!(layers.current(), 19);
    }

    /// Within layer K the mean window is sqrt(K (1/beta - 1/2)/p).
    #[test]
    fn response_function() {
        // A sawtooth from 1445 to 1700 segments, all in layer 5.
        let p: f64 = 2.0 * 5.0 / (0.15 * 1.85 * 1700.0 * 1700.0);
        let mut ltcp = Ltcp::new(Parameters::default());
        let mut state = avoiding(1700.0);
        let w = response(&mut ltcp, &mut state, 0.1, (1.0 / p) as u64, 20);
        let expected = (5.0 * (1.0 / 0.15 - 0.5) / p).sqrt();
        println!("LTCP p {p:.3e}: mean window {w:.1}, formula {expected:.1}");
        assert!((w / expected - 1.0).abs() < 0.005, "{w} against {expected}");
    }

    #[test]
    fn the_first_layer_is_reno() {
        let (mut ltcp, mut reno) = (Ltcp::new(Parameters::default()), Reno::STANDARD);
        let (mut one, mut other) = (avoiding(20.0), avoiding(20.0));
        for _ in 0..5 {
            LoneFlow::without_queue(0.1).run(&mut ltcp, &mut one, 500);
            LoneFlow::without_queue(0.1).run(&mut reno, &mut other, 500);
            assert_eq!(one, other);
            ltcp.on_loss(&loss(&one), &mut one);
            reno.on_loss(&loss(&other), &mut other);
            assert_eq!(one, other);
        }
    }
}
