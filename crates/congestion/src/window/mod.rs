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
        match self {
            Self::Adaptive(part) => {
                part.take_from(group, state);
            }
            Self::Altcp(part) => part.take_from(group, state),
            _ => {}
        }
    }

    /// After each event: shares its knowledge with the group.
    pub(crate) fn give_to(&mut self, group: &mut Group, state: &WindowState) {
        match self {
            Self::Adaptive(part) => part.give_to(group, state),
            Self::Altcp(part) => part.give_to(group, state),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{ack_at, avoiding};
    use crate::units::Bytes;

    /// All windows.
    fn names() -> impl Iterator<Item = &'static str> {
        ENTRIES.iter().map(|entry| entry.name)
    }

    /// With byte counting growth does not depend on how many segments an ACK covers. An ACK for n
    /// of w segments adds at once what n ACKs would add one by one to a window that grows
    /// meanwhile, so growth may differ by n/w of itself, and the round trip in which it is read by
    /// as much again.
    #[test]
    fn growth_does_not_depend_on_the_ack_ratio() {
        const WINDOW: f64 = 1000.0;
        for name in names() {
            let grown = |ratio: u64| {
                let mut window = WindowChoice::named(name).expect("listed").build();
                let mut state = WindowState { byte_counting: true, ..avoiding(WINDOW) };
                let rtt = 0.1;
                let (mut acknowledged, mut now, mut round_end) = (0_u64, 0.0, 0_u64);
                let mut begun = 0.0;
                // The first two round trips settle what is measured by round trips.
                let mut rounds = 0;
                while rounds <= if name == "fast" { 4 } else { 22 } {
                    now += rtt * ratio as f64 / state.cwnd;
                    acknowledged += ratio * 1000;
                    let sent = acknowledged + state.cwnd as u64 * 1000;
                    if acknowledged >= round_end {
                        (round_end, rounds) = (sent, rounds + 1);
                        begun = if rounds == 3 { state.cwnd } else { begun };
                    }
                    let event = Acknowledged {
                        size: Bytes(ratio * 1000),
                        acknowledged_total: Bytes(acknowledged),
                        sent_total: Bytes(sent),
                        ..ack_at(now, rtt)
                    };
                    window.on_ack(&event, &mut state);
                    window.grow(&event, &mut state);
                }
                state.cwnd - begun
            };
            let one = grown(1);
            assert!(one > 0.0, "{name}");
            for ratio in [2, 4, 8, 16] {
                let (found, tolerance) = (grown(ratio), 2.0 * ratio as f64 / WINDOW);
                assert!((found / one - 1.0).abs() <= tolerance, "{name}: {found} for {one}, {ratio} an ACK");
            }
        }
    }

    /// A CE mark reduces down to one segment, a loss to two; ssthresh is at least two (RFC 9438,
    /// section 4.6; RFC 3168, section 6.1.2).
    #[test]
    fn marks_reduce_to_one_segment() {
        use crate::controller::Controller;
        use crate::event::{EcnEcho, LossDetected};
        use crate::fixtures::setup;
        use crate::start::StartChoice;
        use crate::units::Time;
        for name in names() {
            let reduced = |mark: bool| {
                let start = StartChoice::named("slow-start").expect("listed").build();
                let mut controller =
                    Controller::new(setup(), start, WindowChoice::named(name).expect("listed").build(), None);
                for _ in 0..40 {
                    let flight_size = controller.window();
                    if mark {
                        controller.on_ecn_echo(&EcnEcho::new(Time::ZERO, flight_size));
                    } else {
                        controller.on_loss(&LossDetected::new(Time::ZERO, flight_size));
                    }
                }
                let snapshot = controller.snapshot();
                (snapshot.cwnd_segments, snapshot.ssthresh_segments)
            };
            assert_eq!((reduced(true), reduced(false)), ((1.0, 2.0), (2.0, 2.0)), "{name}");
        }
    }

    /// FlightSize counts up to the window: half of everything that a long recovery has sent would
    /// be above the window itself (RFC 5681, section 3.1, has the flight as an upper bound).
    #[test]
    fn a_timeout_after_a_long_recovery_leaves_at_most_a_loss_of_the_window() {
        use crate::event::Timeout;
        use crate::units::Time;
        for name in names() {
            for cwnd in [12.0, 250.0] {
                let threshold = |flight: u64| {
                    let mut window = WindowChoice::named(name).expect("listed").build();
                    let mut state = avoiding(cwnd);
                    window.on_timeout(&Timeout::new(Time::ZERO, Bytes(flight * 1000)), &mut state);
                    state.ssthresh
                };
                assert_eq!(threshold(1420), threshold(cwnd as u64), "{name} at {cwnd}");
            }
        }
    }

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
