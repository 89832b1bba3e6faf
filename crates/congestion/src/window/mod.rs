//! Growth and reduction of the window after slow start.
//!
//! A start grows the window while it is below ssthresh, the window algorithm above, so any start
//! goes with any window algorithm. Delay-based ones (Vegas, FAST) also influence slow start: they
//! can end it ([`WindowPart::on_ack`]), and Vegas lets the start grow only in every other round
//! trip ([`WindowPart::holds_slow_start`]). The increase per ACK in slow start is up to the start.
//!
//! A new algorithm is a file, declared below (rustfmt finds files by these declarations), and a
//! line in the list.

use alloc::boxed::Box;

pub mod adaptive;
pub mod altcp;
pub mod bic;
pub mod cubic;
pub mod decrease;
pub mod fast;
pub mod highspeed;
pub mod lotka_volterra;
pub mod ltcp;
pub mod reno;
pub mod scalable;
pub mod tri_s;
pub mod vegas;

pub use adaptive::Group;

use crate::dispatch::algorithms;
use crate::event::{Acknowledged, EcnEcho, LossDetected, Resumed, SpuriousLoss, Timeout};
use crate::open::AnyWindow;
use crate::part::{WindowPart, window_methods};
use crate::state::{WindowBefore, WindowState};

algorithms! {
    /// One of the window algorithms.
    Window, chosen by WindowChoice, open as AnyWindow {
        reno::Reno,
        highspeed::HighSpeed,
        scalable::Scalable,
        fast::Fast,
        bic::Bic,
        cubic::Cubic,
        vegas::Vegas in Box,
        tri_s::TriS in Box,
        ltcp::Ltcp,
        altcp::Altcp,
        adaptive::Adaptive in Box,
        lotka_volterra::LotkaVolterra in Box,
    }
}

impl WindowPart for Window {
    window_methods! { Window, mostly Reno }
}

impl Window {
    /// For a member of a group of parallel flows, before each event: takes the group's knowledge.
    pub(crate) fn take_from(&mut self, group: &Group, state: &mut WindowState) {
        if let Self::Adaptive(part) = self {
            part.take_from(group, state);
        }
    }

    /// After each event: shares its knowledge with the group.
    pub(crate) fn give_to(&mut self, group: &mut Group, state: &WindowState) {
        if let Self::Adaptive(part) = self {
            part.give_to(group, state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{ack_at, avoiding};
    use crate::units::Bytes;

    /// Windows that grow per ACK grow by half as much for an ACK of half a segment; otherwise a
    /// receiver that divides its ACKs would accelerate them (RFC 3465). Tolerance a tenth of a per
    /// cent, because the window has grown meanwhile.
    #[test]
    fn half_an_acknowledgement_is_worth_half() {
        for name in ["reno", "highspeed", "scalable", "bic", "cubic", "ltcp", "altcp", "adaptive"] {
            let grown = |size: u64| {
                let mut window = WindowChoice::named(name).expect("listed").build();
                // Two layers of LTCP; beyond the Reno region of HighSpeed, BIC and Scalable.
                let mut state = avoiding(120.0);
                for segment in 1..=10 {
                    let event = Acknowledged {
                        size: Bytes(size),
                        acknowledged_total: Bytes(segment * size),
                        sent_total: Bytes(1_000_000),
                        ..ack_at(0.1 + 0.001 * segment as f64, 0.1)
                    };
                    window.on_ack(&event, &mut state);
                    window.grow(&event, &mut state);
                }
                state.cwnd - 120.0
            };
            let (half, whole) = (grown(500), grown(1000));
            assert!(whole > 0.0 && (half / whole - 0.5).abs() < 1e-3, "{name}: {half} and {whole}");
            assert!((grown(250) / whole - 0.25).abs() < 1e-3, "{name}");
        }
    }
}
