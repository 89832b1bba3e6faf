//! The traits of the parts of an algorithm: all that an author implements.
//!
//! A [start](StartPart) grows the window below ssthresh, a [window algorithm](WindowPart) above; an
//! [estimator](EstimatePart) measures the path beside them. A [model](ModelPart) is all in one.
//! What an algorithm needs at the other end is a [`ReceiverPart`](crate::receiver::ReceiverPart).

use crate::decision::{Pacing, Phase, Probe, ProbePart};
use crate::event::{
    Acknowledged, DuplicateAck, EcnEcho, Established, LossDetected, RecoveryEnded, Sent, SpuriousLoss,
    Timeout,
};
use crate::failure::Reason;
use crate::option::PeerOption;
use crate::receiver::Partner;
use crate::state::{Setup, WindowBefore, WindowState};
use crate::units::{Bytes, Time};

/// Declares a trait, and a macro that forwards each of its methods ([`crate::dispatch`]).
macro_rules! methods {
    ($d:tt $methods:ident: $(#[$meta:meta])* pub trait $name:ident { $($body:tt)* }) => {
        $(#[$meta])*
        pub trait $name { $($body)* }

        /// Forwards every method of the trait.
        macro_rules! $methods {
            ($d($d how:tt)*) => { $crate::dispatch::forward! { ($d($d how)*) $($body)* } };
        }
        pub(crate) use $methods;
    };
}

methods! { $ start_methods:
/// A way to begin, and to begin again after a timeout. It hears of every event, also in congestion
/// avoidance, because some starts keep watching; it changes the window only in the methods that
/// take a mutable state.
pub trait StartPart {
    /// The connection begins; the window is the initial one.
    fn begin(&mut self, _setup: &Setup, _state: &mut WindowState) {}
    /// The option that the SYN carries. Asked for each SYN.
    fn option_for_syn(&mut self) -> Option<PeerOption> {
        None
    }
    /// Its partner at the receiver, for a new connection.
    fn partner(&self) -> Partner {
        Partner::NONE
    }
    /// The handshake is complete, and no data has left.
    fn on_established(&mut self, _event: &Established, _state: &mut WindowState) {}
    /// An ACK advanced, in whatever phase; the window is still as it was before it.
    fn on_ack(&mut self, _event: &Acknowledged, _state: &WindowState) {}
    /// It is in charge of the window also where cwnd is not below ssthresh.
    fn holds_window(&self) -> bool {
        false
    }
    /// Grow the window on this ACK; cwnd is below ssthresh, or the start holds the window, and the
    /// sender is not in recovery.
    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState);
    /// A duplicate ACK arrived.
    fn on_duplicate_ack(&mut self, _event: &DuplicateAck) {}
    /// A loss was detected, and the window algorithm has set the window for it. What is set here
    /// counts; cwnd stays at or below its value before the loss.
    fn on_loss(&mut self, _event: &LossDetected, _state: &mut WindowState) {}
    /// The receiver echoed a CE mark. There is nothing to retransmit.
    fn on_ecn_echo(&mut self, _event: &EcnEcho) {}
    /// The connection restarts from one segment.
    fn on_timeout(&mut self, _event: &Timeout) {}
    /// A segment left.
    fn on_sent(&mut self, _event: &Sent) {}
    /// The pacing that it wants now.
    fn pacing(&self, _state: &WindowState) -> Option<Pacing> {
        None
    }
    /// The probe that it wants as the next new data.
    fn probe(&self, _state: &WindowState) -> Option<Probe> {
        None
    }
    /// Payload of new data that may leave before the next ACK, whatever the window.
    fn allowance(&self, _state: &WindowState) -> Bytes {
        Bytes::MAX
    }
    /// The option that the next segment of new data carries.
    fn option_for(&mut self, _part: ProbePart) -> Option<PeerOption> {
        None
    }
    /// It sets nothing but the window: no pacing, no probes, no options, and it ignores
    /// [`StartPart::on_sent`]. The sender then takes its shortest path, and does not call these.
    /// Constant for a connection.
    fn only_grows(&self) -> bool {
        false
    }
    /// It uses the delivery rates that ACKs measure. Constant for a connection.
    fn wants_rate_samples(&self) -> bool {
        false
    }
    /// Its own phase, outside of slow start.
    fn phase(&self) -> Option<Phase> {
        None
    }
}
}

methods! { $ window_methods:
/// A window algorithm: how the window grows and shrinks once slow start is over.
pub trait WindowPart {
    /// An ACK advanced, in whatever phase; called before any growth.
    #[inline]
    fn on_ack(&mut self, _event: &Acknowledged, _state: &mut WindowState) {}
    /// The start is not to grow the window now, although cwnd is below ssthresh.
    #[inline]
    fn holds_slow_start(&self) -> bool {
        false
    }
    /// It uses the delivery rates that ACKs measure. Constant for a connection.
    fn wants_rate_samples(&self) -> bool {
        false
    }
    /// Grow on this ACK; cwnd is at or above ssthresh and the sender is not in recovery.
    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState);
    /// A loss was detected: set ssthresh, and cwnd for the recovery and after.
    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState);
    /// The receiver echoed a CE mark: set ssthresh and cwnd. "The indication of congestion should
    /// be treated just as a congestion loss in non-ECN-Capable TCP" (RFC 3168, section 6.1.2).
    fn on_ecn_echo(&mut self, event: &EcnEcho, state: &mut WindowState) {
        self.on_loss(&LossDetected::new(event.now, event.flight_size), state);
    }
    /// The connection restarts from one segment: set ssthresh.
    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState);
    /// The last loss or timeout was spurious: undo the response to it. `before` is the window that
    /// it met.
    fn on_spurious_loss(&mut self, _event: &SpuriousLoss, before: &WindowBefore, state: &mut WindowState) {
        state.restore(before);
    }
    /// The size of a segment has changed: a number of segments that is remembered becomes `ratio`
    /// times as large. The window and the threshold have been rescaled.
    fn on_mss_changed(&mut self, _ratio: f64) {}
}
}

methods! { $ model_methods:
/// An algorithm that owns both start and window. It hears of every event and is alone in changing
/// the window. What it sets is then held between one segment and the largest window there can be, a
/// loss never raises the window, and after a timeout it is one segment.
pub trait ModelPart {
    /// The connection begins.
    fn begin(&mut self, _setup: &Setup, _state: &WindowState) {}
    /// Its partner at the receiver, for a new connection.
    fn partner(&self) -> Partner {
        Partner::NONE
    }
    /// It uses the delivery rates that ACKs measure. Constant for a connection.
    fn wants_rate_samples(&self) -> bool {
        false
    }
    /// The handshake is complete, and no data has left. Without a handshake there is no such event.
    fn on_established(&mut self, _event: &Established, _state: &mut WindowState) {}
    /// An ACK advanced.
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState);
    /// A duplicate ACK arrived.
    fn on_duplicate_ack(&mut self, _event: &DuplicateAck, _state: &mut WindowState) {}
    /// A loss was detected.
    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState);
    /// The receiver echoed a CE mark, for the first time in a window of data. An algorithm that
    /// counts marks learns of them from [`Acknowledged::marked`] instead.
    fn on_ecn_echo(&mut self, _event: &EcnEcho, _state: &mut WindowState) {}
    /// The connection restarts from one segment.
    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState);
    /// The last loss or timeout was spurious: undo the response to it. `before` is the window that
    /// it met.
    fn on_spurious_loss(&mut self, _event: &SpuriousLoss, before: &WindowBefore, state: &mut WindowState) {
        state.restore(before);
    }
    /// The size of a segment has changed: a number of segments that is remembered becomes `ratio`
    /// times as large. The window and the threshold have been rescaled.
    fn on_mss_changed(&mut self, _ratio: f64) {}
    /// Recovery is over.
    fn on_recovery_ended(&mut self, _event: &RecoveryEnded, _state: &mut WindowState) {}
    /// A segment left.
    fn on_sent(&mut self, _event: &Sent, _state: &mut WindowState) {}
    /// The option that the next segment of new data carries.
    fn option_for(&mut self, _state: &WindowState) -> Option<PeerOption> {
        None
    }
    /// The pacing that it wants now.
    fn pacing(&self, state: &WindowState) -> Option<Pacing>;
    /// For now it sets nothing but the window: no pacing, no options, and it ignores
    /// [`ModelPart::on_sent`]. The sender then takes its shortest path, and does not call these.
    /// Consulted for user-defined models only.
    fn sets_window_alone(&self) -> bool {
        false
    }
    /// It controls the window in recovery itself, as an algorithm with `cong_control` does in
    /// Linux: the transport must not apply proportional rate reduction (RFC 6937). Constant for a
    /// connection.
    fn owns_window_in_recovery(&self) -> bool {
        false
    }
    /// Its own phase.
    fn phase(&self) -> Option<Phase> {
        None
    }
    /// Why it cannot go on. Consulted for user-defined models only, after every event; the first
    /// failure ends the run.
    fn failure(&mut self) -> Option<Reason> {
        None
    }
}
}

methods! { $ estimate_methods:
/// An estimator of what the path can carry, beside a start and a window algorithm.
pub trait EstimatePart {
    /// An ACK advanced; before start and window algorithm hear of it.
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState);
    /// A segment left.
    fn on_sent(&mut self, event: &Sent, state: &WindowState);
    /// A loss, a mark or a timeout: the measurement under way is void.
    fn abandon(&mut self, now: Time);
    /// Payload of new data that may leave before the next ACK.
    fn allowance(&self, state: &WindowState) -> Bytes;
    /// Spacing of what may leave.
    fn pacing(&self, _state: &WindowState) -> Option<Pacing> {
        None
    }
}
}
