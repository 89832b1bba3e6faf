//! The traits of an algorithm's parts: all that an author implements.
//!
//! A [start](StartPart) grows the window below ssthresh, a [window algorithm](WindowPart) above; an
//! [estimator](EstimatePart) measures the path beside them. A [model](ModelPart) does all of it.
//! The receiver's side of an algorithm is a [`ReceiverPart`](crate::receiver::ReceiverPart).

use crate::decision::{Pacing, Phase, Probe, ProbePart};
use crate::event::{
    Acknowledged, DuplicateAck, EcnEcho, Established, LossDetected, RecoveryEnded, Resumed, Sent,
    SpuriousLoss, Stamped, Timeout,
};
use crate::failure::Reason;
use crate::option::PeerOption;
use crate::receiver::Partner;
use crate::state::{PathModel, Setup, WindowBefore, WindowState};
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
/// Growth of the window at the beginning and after an RTO. It receives every event, also in
/// congestion avoidance, because some starts keep watching; it changes the window only in the
/// methods that take a mutable state.
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
    /// An ACK advanced, in any phase; the window is not yet updated.
    fn on_ack(&mut self, _event: &Acknowledged, _state: &WindowState) {}
    /// Whether it controls the window even if cwnd is not below ssthresh.
    fn holds_window(&self) -> bool {
        false
    }
    /// Grow the window on this ACK; cwnd is below ssthresh, or the start holds the window, and the
    /// sender is not in recovery.
    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState);
    /// A duplicate ACK arrived.
    fn on_duplicate_ack(&mut self, _event: &DuplicateAck) {}
    /// A loss was detected, and the window algorithm has reduced the window. Values set here take
    /// precedence; cwnd stays at or below its value before the loss.
    fn on_loss(&mut self, _event: &LossDetected, _state: &mut WindowState) {}
    /// The receiver echoed a CE mark. There is nothing to retransmit.
    fn on_ecn_echo(&mut self, _event: &EcnEcho) {}
    /// The connection restarts from one segment.
    fn on_timeout(&mut self, _event: &Timeout) {}
    /// Data is about to leave after a pause: what has been measured of time is not the path's.
    fn on_resumed(&mut self, _event: &Resumed) {}
    /// A segment left.
    fn on_sent(&mut self, _event: &Sent) {}
    /// Current pacing.
    fn pacing(&self, _state: &WindowState) -> Option<Pacing> {
        None
    }
    /// Probe to send as the next new data.
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
    /// Whether it sets only the window: no pacing, no probes, no options, and no use of
    /// [`StartPart::on_sent`]. The sender then takes its shortest path, and does not call these.
    /// Constant for a connection.
    fn only_grows(&self) -> bool {
        false
    }
    /// Whether it uses the delivery rates that ACKs measure. Constant for a connection.
    fn wants_rate_samples(&self) -> bool {
        false
    }
    /// Its own phase, if not slow start.
    fn phase(&self) -> Option<Phase> {
        None
    }
}
}

methods! { $ window_methods:
/// A window algorithm: growth and reduction of the window after slow start.
pub trait WindowPart {
    /// An ACK advanced, in any phase; called before any growth.
    #[inline]
    fn on_ack(&mut self, _event: &Acknowledged, _state: &mut WindowState) {}
    /// Whether the start must not grow the window now, although cwnd is below ssthresh.
    #[inline]
    fn holds_slow_start(&self) -> bool {
        false
    }
    /// Whether it uses the delivery rates that ACKs measure. Constant for a connection.
    fn wants_rate_samples(&self) -> bool {
        false
    }
    /// Grow on this ACK; cwnd is at or above ssthresh and the sender is not in recovery.
    fn grow(&mut self, event: &Acknowledged, state: &mut WindowState);
    /// A loss was detected: set ssthresh, and cwnd for recovery and after.
    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState);
    /// The receiver echoed a CE mark: set ssthresh and cwnd. "The indication of congestion should
    /// be treated just as a congestion loss in non-ECN-Capable TCP" (RFC 3168, section 6.1.2).
    fn on_ecn_echo(&mut self, event: &EcnEcho, state: &mut WindowState) {
        self.on_loss(&LossDetected::new(event.now, event.flight_size), state);
    }
    /// The connection restarts from one segment: set ssthresh.
    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState);
    /// Data is about to leave after a pause. The window restarts afterwards, if the pause was long
    /// ([`Setup::restart_after_idle`]); an algorithm only excludes the pause from its clocks.
    fn on_resumed(&mut self, _event: &Resumed, _state: &mut WindowState) {}
    /// The last loss or timeout was spurious: undo the response to it. `before` is the window
    /// before that response.
    fn on_spurious_loss(&mut self, _event: &SpuriousLoss, before: &WindowBefore, state: &mut WindowState) {
        state.restore(before);
    }
    /// The segment size has changed: multiply stored numbers of segments by `ratio`. The window and
    /// the threshold have been rescaled.
    fn on_mss_changed(&mut self, _ratio: f64) {}
}
}

methods! { $ model_methods:
/// An algorithm that owns both start and window. It receives every event, and only it changes the
/// window. Its value is then clamped to between one segment and the maximum window; a loss never
/// raises the window, and a timeout sets it to one segment.
pub trait ModelPart {
    /// The connection begins.
    fn begin(&mut self, _setup: &Setup, _state: &WindowState) {}
    /// Its partner at the receiver, for a new connection.
    fn partner(&self) -> Partner {
        Partner::NONE
    }
    /// Whether it uses the delivery rates that ACKs measure. Constant for a connection.
    fn wants_rate_samples(&self) -> bool {
        false
    }
    /// The handshake is complete, and no data has left. Without a handshake this event is absent.
    fn on_established(&mut self, _event: &Established, _state: &mut WindowState) {}
    /// An ACK advanced.
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState);
    /// A duplicate ACK arrived.
    fn on_duplicate_ack(&mut self, _event: &DuplicateAck, _state: &mut WindowState) {}
    /// A loss was detected.
    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState);
    /// The receiver echoed a CE mark, for the first time in a window of data. An algorithm that
    /// counts marks uses [`Acknowledged::marked`] instead.
    fn on_ecn_echo(&mut self, _event: &EcnEcho, _state: &mut WindowState) {}
    /// The connection restarts from one segment.
    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState);
    /// The last loss or timeout was spurious: undo the response to it. `before` is the window
    /// before that response.
    fn on_spurious_loss(&mut self, _event: &SpuriousLoss, before: &WindowBefore, state: &mut WindowState) {
        state.restore(before);
    }
    /// The segment size has changed: multiply stored numbers of segments by `ratio`. The window and
    /// the threshold have been rescaled.
    fn on_mss_changed(&mut self, _ratio: f64) {}
    /// Data is about to leave after a pause. No window restarts by itself: a model answers for its
    /// own.
    fn on_resumed(&mut self, _event: &Resumed, _state: &mut WindowState) {}
    /// Recovery is over.
    fn on_recovery_ended(&mut self, _event: &RecoveryEnded, _state: &mut WindowState) {}
    /// A segment left.
    fn on_sent(&mut self, _event: &Sent, _state: &mut WindowState) {}
    /// The option that the next segment of new data carries.
    fn option_for(&mut self, _state: &WindowState) -> Option<PeerOption> {
        None
    }
    /// Current pacing.
    fn pacing(&self, state: &WindowState) -> Option<Pacing>;
    /// Whether it currently sets only the window: no pacing, no options, and no use of
    /// [`ModelPart::on_sent`]. The sender then takes its shortest path, and does not call these.
    /// Consulted only for user-defined models.
    fn sets_window_alone(&self) -> bool {
        false
    }
    /// Whether it controls the window in recovery itself, like an algorithm with `cong_control` in
    /// Linux: the transport must not apply proportional rate reduction (RFC 9937). Its entry says
    /// the same ([`Entry::recovery`](crate::entry::Entry::recovery)). Constant for a connection.
    fn owns_window_in_recovery(&self) -> bool {
        false
    }
    /// Its own phase.
    fn phase(&self) -> Option<Phase> {
        None
    }
    /// Its view of the path, for a recorder. Consulted once per sample.
    fn path_model(&self) -> PathModel {
        PathModel::default()
    }
    /// Why it cannot continue, if so. Consulted after every event, only for user-defined models;
    /// the first failure ends the run.
    fn failure(&mut self) -> Option<Reason> {
        None
    }
}
}

methods! { $ estimate_methods:
/// An estimator of the path's bandwidth, beside a start and a window algorithm.
pub trait EstimatePart {
    /// An ACK advanced; called before the start and the window algorithm.
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState);
    /// The clocks' times of the ACK that follows.
    fn on_stamped(&mut self, _event: &Stamped) {}
    /// Whether it uses them. Constant for a connection.
    fn wants_stamps(&self) -> bool {
        false
    }
    /// A segment left.
    fn on_sent(&mut self, event: &Sent, state: &WindowState);
    /// Data is about to leave after a pause.
    fn on_resumed(&mut self, _event: &Resumed) {}
    /// A loss, a CE mark or a timeout: discard the current measurement.
    fn abandon(&mut self, now: Time);
    /// Payload of new data that may leave before the next ACK.
    fn allowance(&self, state: &WindowState) -> Bytes;
    /// Spacing of the allowance.
    fn pacing(&self, _state: &WindowState) -> Option<Pacing> {
        None
    }
}
}
