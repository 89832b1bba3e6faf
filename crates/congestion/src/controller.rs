//! One connection's congestion control: events in, decision out. The rules here hold for every
//! algorithm.

mod custom;
mod group;

use crate::algorithm::Algorithm;
use crate::composition::{Alone, Composition, Pair, Roles};
use crate::decision::{Decision, Phase, ProbePart, Snapshot};
use crate::estimate::Estimate;
use crate::event::{
    Acknowledged, DuplicateAck, EcnEcho, Established, Event, HandshakeLost, LossDetected, MssChanged,
    RecoveryEnded, RestartCause, Resumed, Sent, SpuriousLoss, Stamped, Timeout,
};
use crate::failure::{Failure, Reason};
use crate::held::Held;
use crate::model::Model;
use crate::option::PeerOption;
use crate::part::{EstimatePart, ModelPart, StartPart, WindowPart};
use crate::start::Start;
use crate::state::{PathModel, Setup, WindowBefore, WindowState};
use crate::units::{Bytes, Time};
use crate::window::Window;

/// A congestion control: events in, decision out. Its algorithm is any in the registry, chosen at
/// run time, unless `A` is a [`Pair`] or [`Alone`] of types.
#[derive(Clone, Debug)]
pub struct Controller<A = Algorithm> {
    state: WindowState,
    recovering: bool,
    /// Data outstanding at the last timeout is not all acknowledged: an ACK may cover data that
    /// left the network long ago ([`WindowState::slow_start_limit`]).
    repairing: bool,
    /// See [`Controller::only_grows`].
    only_grows: bool,
    algorithm: A,
    /// The window before the last loss or timeout, until it is restored or a CE mark confirms the
    /// reduction.
    before: Option<Held<WindowBefore>>,
    /// [`Acknowledged::acknowledged_total`] with which `repairing` ends; the maximum until the
    /// first ACK after the timeout.
    repaired: Bytes,
}

impl<A> Controller<A> {
    /// A connection at its beginning.
    fn assembled(state: WindowState, only_grows: bool, algorithm: A) -> Self {
        Self {
            state,
            recovering: false,
            repairing: false,
            only_grows,
            algorithm,
            before: None,
            repaired: Bytes::MAX,
        }
    }
}

impl Controller {
    /// A connection with this start and window algorithm, and optionally an estimator:
    /// [`Selection::controller`](crate::Selection::controller).
    #[doc(hidden)]
    pub fn new(setup: Setup, start: Start, window: Window, estimate: Option<Estimate>) -> Self {
        let mut state = WindowState::new(&setup);
        let only_grows = estimate.is_none() && start.only_grows();
        let algorithm = Algorithm::parts(&setup, &mut state, start, window, estimate);
        Self::assembled(state, only_grows, algorithm)
    }

    /// A connection controlled by `model`: [`Selection::controller`](crate::Selection::controller).
    #[doc(hidden)]
    pub fn with_model(setup: Setup, model: Model) -> Self {
        let mut state = WindowState::new(&setup);
        let algorithm = Algorithm::model(&setup, &mut state, model);
        Self::assembled(state, false, algorithm)
    }

    /// Current value of [`Controller::only_grows`]: a user-defined model may change it.
    #[inline(never)]
    pub fn sets_window_alone(&self) -> bool {
        self.only_grows
            || matches!(self.algorithm.roles(), Roles::Model(Model::Custom(model)) if model.sets_window_alone())
    }
}

impl<S: StartPart, W: WindowPart> Controller<Pair<S, W>> {
    /// A connection that begins with `start` and continues with `window`, both of types known at
    /// compile time.
    pub fn of_parts(setup: Setup, start: S, window: W) -> Self {
        let mut state = WindowState::new(&setup);
        let only_grows = start.only_grows();
        let algorithm = Pair::new(&setup, &mut state, start, window);
        Self::assembled(state, only_grows, algorithm)
    }
}

impl<M: ModelPart> Controller<Alone<M>> {
    /// A connection controlled by a model of a type known at compile time.
    pub fn of_model(setup: Setup, model: M) -> Self {
        let mut state = WindowState::new(&setup);
        let algorithm = Alone::new(&setup, &mut state, model);
        Self::assembled(state, false, algorithm)
    }
}

impl<A: Composition> Controller<A> {
    /// Processes any event: one entry point for traces, fuzzers and adapters. Each event also has
    /// its own method.
    pub fn on(&mut self, event: &Event) {
        match event {
            Event::Established(event) => self.on_established(event),
            Event::HandshakeLost(event) => self.on_handshake_loss(event),
            Event::Resumed(event) => self.on_resumed(event),
            Event::Sent(event) => self.on_sent(event),
            Event::Acknowledged(event) => self.on_ack(event),
            Event::Stamped(event) => self.on_stamped(event),
            Event::DuplicateAck(event) => self.on_duplicate_ack(event),
            Event::LossDetected(event) => self.on_loss(event),
            Event::EcnEcho(event) => self.on_ecn_echo(event),
            Event::Timeout(event) => self.on_timeout(event),
            Event::RecoveryEnded(event) => self.on_recovery_ended(event),
            Event::SpuriousLoss(event) => self.on_spurious_loss(event),
            Event::MssChanged(event) => self.on_mss_changed(event),
        }
    }

    /// An ACK advanced.
    #[inline(always)]
    pub fn on_ack(&mut self, event: &Acknowledged) {
        self.algorithm.on_ack(event, &mut self.state);
        if self.repairing {
            self.on_repair(event);
        }
    }

    /// An ACK between a timeout and the ACK of everything that was then outstanding.
    #[cold]
    fn on_repair(&mut self, event: &Acknowledged) {
        if self.repaired == Bytes::MAX {
            self.repaired = event.sent_total;
        }
        if event.acknowledged_total >= self.repaired {
            self.end_repair();
        }
    }

    const fn end_repair(&mut self) {
        if core::mem::replace(&mut self.repairing, false) {
            self.state.slow_start_limit = f64::INFINITY;
        }
    }

    /// A duplicate ACK arrived.
    pub fn on_duplicate_ack(&mut self, event: &DuplicateAck) {
        self.algorithm.tell(event.now, &mut self.state, |roles, state| match roles {
            Roles::Parts(start, _, estimate) => {
                abandon(estimate, event.now);
                start.on_duplicate_ack(event);
            }
            Roles::Model(model) => model.on_duplicate_ack(event, state),
        });
    }

    /// A loss was detected.
    pub fn on_loss(&mut self, event: &LossDetected) {
        self.recovering = true;
        let before = self.state.before();
        self.before = Some(Held::new(before));
        self.algorithm.tell(event.now, &mut self.state, |roles, state| match roles {
            Roles::Parts(start, window, estimate) => {
                abandon(estimate, event.now);
                window.on_loss(event, state);
                start.on_loss(event, state);
            }
            Roles::Model(model) => model.on_loss(event, state),
        });
        // Our choice: a loss never raises the window. By the letter of RFC 5681 it could shortly
        // after a timeout, when cwnd is one segment and FlightSize still a whole window.
        self.state.cwnd = self.state.cwnd.min(before.cwnd);
    }

    /// The receiver echoed a CE mark.
    pub fn on_ecn_echo(&mut self, event: &EcnEcho) {
        let before = self.state.cwnd;
        self.before = None;
        self.state.marked = true;
        self.algorithm.tell(event.now, &mut self.state, |roles, state| match roles {
            Roles::Parts(start, window, estimate) => {
                abandon(estimate, event.now);
                window.on_ecn_echo(event, state);
                start.on_ecn_echo(event);
            }
            Roles::Model(model) => model.on_ecn_echo(event, state),
        });
        self.state.marked = false;
        self.state.cwnd = self.state.cwnd.min(before);
    }

    /// The connection restarts from one segment.
    pub fn on_timeout(&mut self, event: &Timeout) {
        let before = self.state.cwnd;
        self.recovering = false;
        if !event.repeated {
            self.before = Some(Held::new(self.state.before()));
        }
        if self.state.byte_counting && event.cause != RestartCause::PersistentCongestion {
            (self.state.slow_start_limit, self.repairing, self.repaired) = (1.0, true, Bytes::MAX);
        }
        self.algorithm.tell(event.now, &mut self.state, |roles, state| match roles {
            Roles::Parts(start, window, estimate) => {
                abandon(estimate, event.now);
                window.on_timeout(event, state);
                start.on_timeout(event);
            }
            Roles::Model(model) => model.on_timeout(event, state),
        });
        // "the sender's congestion window MUST be reduced to the minimum congestion window", two
        // packets (RFC 9002, section 7.6.2). It may be smaller if packets have become larger.
        let persistent = event.cause == RestartCause::PersistentCongestion;
        self.state.cwnd = if persistent { before.clamp(1.0, 2.0) } else { 1.0 };
    }

    /// The last loss or timeout was spurious: the response to it is undone, once.
    pub fn on_spurious_loss(&mut self, event: &SpuriousLoss) {
        let Some(before) = self.before.take() else { return };
        self.recovering = false;
        self.end_repair();
        self.algorithm.tell(event.now, &mut self.state, |roles, state| match roles {
            Roles::Parts(_, window, _) => window.on_spurious_loss(event, &before, state),
            Roles::Model(model) => model.on_spurious_loss(event, &before, state),
        });
        self.state.hold();
    }

    /// The size of a segment has changed. The window stays the same number of bytes, unless it is
    /// an initial window to be set anew.
    pub fn on_mss_changed(&mut self, event: &MssChanged) {
        if event.mss == Bytes::ZERO {
            return;
        }
        let ratio = self.state.mss.get() as f64 / event.mss.get() as f64;
        self.state.mss = event.mss;
        self.before = None;
        self.algorithm.tell(event.now, &mut self.state, |roles, state| {
            state.rescale(ratio);
            if event.initial_window > 0.0 {
                state.cwnd = event.initial_window;
                state.hold();
            }
            match roles {
                Roles::Parts(_, window, _) => window.on_mss_changed(ratio),
                Roles::Model(model) => model.on_mss_changed(ratio),
            }
        });
    }

    /// The option that the SYN carries. Asked for each SYN.
    pub fn option_for_syn(&mut self) -> Option<PeerOption> {
        match self.algorithm.roles_mut()? {
            Roles::Parts(start, ..) => start.option_for_syn(),
            Roles::Model(_) => None,
        }
    }

    /// The handshake is complete, and no data has left.
    pub fn on_established(&mut self, event: &Established) {
        self.algorithm.tell(event.now, &mut self.state, |roles, state| match roles {
            Roles::Parts(start, ..) => start.on_established(event, state),
            Roles::Model(model) => model.on_established(event, state),
        });
        self.state.hold();
    }

    /// The SYN or its answer was lost: "the initial window used by a sender after a correctly
    /// transmitted SYN MUST be one segment" (RFC 5681, section 3.1).
    pub const fn on_handshake_loss(&mut self, _event: &HandshakeLost) {
        self.state.cwnd = 1.0;
    }

    /// Recovery is over.
    pub fn on_recovery_ended(&mut self, event: &RecoveryEnded) {
        self.recovering = false;
        self.algorithm.tell(event.now, &mut self.state, |roles, state| {
            if let Roles::Model(model) = roles {
                model.on_recovery_ended(event, state);
            }
        });
    }

    /// Data is about to leave after a pause. A window that has not been used for a retransmission
    /// timeout restarts, unless a model owns it.
    #[cold]
    pub fn on_resumed(&mut self, event: &Resumed) {
        self.algorithm.tell(event.now, &mut self.state, |roles, state| match roles {
            Roles::Parts(start, window, estimate) => {
                start.on_resumed(event);
                window.on_resumed(event, state);
                if let Some(estimate) = estimate {
                    estimate.on_resumed(event);
                }
                state.restart_after(event.idle, event.timeout);
            }
            Roles::Model(model) => model.on_resumed(event, state),
        });
    }

    /// A segment left.
    #[inline]
    pub fn on_sent(&mut self, event: &Sent) {
        if self.only_grows {
            return;
        }
        self.algorithm.tell(event.now, &mut self.state, |roles, state| match roles {
            Roles::Parts(start, _, estimate) => {
                start.on_sent(event);
                if let Some(estimate) = estimate {
                    estimate.on_sent(event, state);
                }
            }
            Roles::Model(model) => model.on_sent(event, state),
        });
    }

    /// Whether it uses [`Acknowledged::rate`] and [`DuplicateAck::rate`], which the sender must
    /// then measure.
    pub fn wants_rate_samples(&self) -> bool {
        match self.algorithm.roles() {
            Roles::Parts(start, window, _) => start.wants_rate_samples() || window.wants_rate_samples(),
            Roles::Model(model) => model.wants_rate_samples(),
        }
    }

    /// The clocks' times of the ACK that follows.
    pub fn on_stamped(&mut self, event: &Stamped) {
        self.algorithm.tell(event.now, &mut self.state, |roles, _| {
            if let Roles::Parts(_, _, Some(estimate)) = roles {
                estimate.on_stamped(event);
            }
        });
    }

    /// Whether it uses [`Stamped`], which the sender must then tell before each ACK.
    pub fn wants_stamps(&self) -> bool {
        matches!(self.algorithm.roles(), Roles::Parts(_, _, Some(estimate)) if estimate.wants_stamps())
    }

    /// Whether it controls the window in recovery itself: proportional rate reduction (RFC 6937)
    /// must stay off.
    pub fn owns_window_in_recovery(&self) -> bool {
        matches!(self.algorithm.roles(), Roles::Model(model) if model.owns_window_in_recovery())
    }

    /// Whether its window restarts after a pause longer than the retransmission timeout. A
    /// transport whose algorithm decides elsewhere, as in the kernel, must do that at once.
    pub fn restarts_after_idle(&self) -> bool {
        self.state.restart_window.is_finite() && matches!(self.algorithm.roles(), Roles::Parts(..))
    }

    /// The option that the next segment of new data carries. Taken once per segment.
    #[inline]
    pub fn option_for(&mut self, part: ProbePart) -> Option<PeerOption> {
        if self.only_grows {
            return None;
        }
        match self.algorithm.roles_mut()? {
            Roles::Parts(start, ..) => start.option_for(part),
            Roles::Model(model) => model.option_for(&self.state),
        }
    }

    /// Whether a part of the algorithm is user-defined and can fail.
    pub fn is_custom(&self) -> bool {
        self.algorithm.is_custom()
    }

    /// Makes a user-defined algorithm fail, unless it already has: its window is then one segment.
    /// Does nothing to built-in ones.
    pub fn fail(&mut self, now: Time, reason: Reason) {
        self.algorithm.fail(now, reason, &mut self.state);
    }

    /// Why the algorithm cannot continue, after a failure. Only a user-defined one can fail.
    pub fn failure(&self) -> Option<&Failure> {
        self.algorithm.failure()
    }

    /// Whether [`Controller::decision`] is only a window, no segment carries an option, and
    /// [`Controller::on_sent`] does nothing. Constant for a connection.
    pub const fn only_grows(&self) -> bool {
        self.only_grows
    }

    /// Payload that may be in flight now.
    #[inline(always)]
    pub fn window(&self) -> Bytes {
        // Converted through i64, which is shorter; the bounds on cwnd and MSS keep the product
        // below 2^47.
        Bytes((self.state.cwnd * self.state.mss.get() as i64 as f64) as i64 as u64)
    }

    /// Current permission to send.
    #[inline]
    pub fn decision(&self) -> Decision {
        let window = self.window();
        if self.only_grows {
            return Decision { window, pacing: None, probe: None, allowance: Bytes::MAX };
        }
        self.shaped_decision(window)
    }

    /// Out of line to keep the common decision short.
    #[inline(never)]
    fn shaped_decision(&self, window: Bytes) -> Decision {
        let state = &self.state;
        let (pacing, probe, allowance) = match self.algorithm.roles() {
            Roles::Parts(start, _, estimate) => {
                let probe = if self.recovering { None } else { start.probe(state) };
                let measured = estimate.map(|estimate| (estimate.pacing(state), estimate.allowance(state)));
                let (pacing, allowance) = measured.unwrap_or((None, Bytes::MAX));
                (pacing.or_else(|| start.pacing(state)), probe, allowance.min(start.allowance(state)))
            }
            Roles::Model(model) => (model.pacing(state), None, Bytes::MAX),
        };
        let pacing = pacing.and_then(|pacing| self.algorithm.usable(pacing));
        Decision { window, pacing, probe, allowance }
    }

    /// Whether cwnd is below ssthresh.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.state.in_slow_start()
    }

    /// State for a recorder.
    pub fn snapshot(&self) -> Snapshot {
        let recovery = self.recovering.then_some(Phase::Recovery);
        let own = match self.algorithm.roles() {
            Roles::Parts(start, ..) => recovery.or_else(|| start.phase()),
            // A model with phases of its own keeps them in recovery.
            Roles::Model(model) => model.phase().or(recovery),
        };
        let phase = own.unwrap_or(if self.state.in_slow_start() {
            Phase::SlowStart
        } else {
            Phase::CongestionAvoidance
        });
        Snapshot {
            cwnd_segments: self.state.cwnd,
            ssthresh_segments: self.state.ssthresh,
            phase,
            path: self.state.path,
        }
    }

    /// The model's view of the path, for a recorder. Not in [`Controller::snapshot`], which drivers
    /// take on every event.
    pub fn path_model(&self) -> PathModel {
        match self.algorithm.roles() {
            Roles::Parts(..) => PathModel::default(),
            Roles::Model(model) => model.path_model(),
        }
    }
}

/// Discards the estimator's measurements.
fn abandon(estimate: Option<&mut impl EstimatePart>, now: Time) {
    if let Some(estimate) = estimate {
        estimate.abandon(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::setup;

    /// Values are clamped: a window to 1 to 10^9 segments, the threshold to at least two.
    #[test]
    fn a_connection_begins_within_bounds() {
        use crate::registry::Selection;
        for (initial_window, initial_ssthresh, window, threshold) in
            [(0.0, 0.0, 1.0, 2.0), (1e12, f64::INFINITY, 1e9, f64::INFINITY), (3.5, 64.0, 3.5, 64.0)]
        {
            let setup = Setup { initial_window, initial_ssthresh, ..setup() };
            for name in ["reno", "prague", "icim"] {
                let snapshot = Selection::from_label(name).expect("listed").controller(setup).snapshot();
                assert_eq!(
                    (snapshot.cwnd_segments, snapshot.ssthresh_segments),
                    (window, threshold),
                    "{name}"
                );
            }
        }
    }

    /// Rates, which cost time, are measured only for algorithms that use them.
    #[test]
    fn who_wants_rates() {
        use crate::entry::Part;
        use crate::registry::{ENTRIES, Selection};
        let wants = |selection: Option<Selection>| {
            selection.expect("listed").controller(setup()).wants_rate_samples()
        };
        for entry in ENTRIES {
            let expected = ["bbr3", "bbr-startup"].contains(&entry.name);
            assert_eq!(wants(Selection::from_label(entry.name).ok()), expected, "{}", entry.name);
            if entry.part == Part::Start {
                let measured = Selection::new(entry.name, "cubic").and_then(|it| it.with_estimate("icim"));
                assert_eq!(wants(measured), expected, "{} beside an estimator", entry.name);
            }
        }
    }

    /// Grows to ten times the initial window, past ssthresh, at 100 ms a round trip.
    fn grown(name: &str) -> (Controller, Time) {
        let mut control = crate::registry::Selection::from_label(name).expect("listed").controller(setup());
        let rtt = crate::units::Duration::from_milliseconds(100);
        let (mut now, mut total) = (Time::ZERO, 0);
        for _ in 0..20 {
            now += rtt;
            for _ in 0..control.window().get() / 1000 {
                total += 1000;
                control.on_ack(&Acknowledged {
                    acknowledged_total: Bytes(total),
                    sent_total: Bytes(total) + control.window(),
                    in_flight: control.window(),
                    ..crate::fixtures::ack_at(now.seconds(), 0.1)
                });
            }
        }
        (control, now)
    }

    fn window(control: &Controller) -> (f64, f64) {
        let snapshot = control.snapshot();
        (snapshot.cwnd_segments, snapshot.ssthresh_segments)
    }

    /// After a loss, a timeout, or both, the state before the last of them is restored, once.
    #[test]
    fn a_spurious_loss_is_undone() {
        let mut names: Vec<&str> = crate::window::ENTRIES.iter().map(|entry| entry.name).collect();
        names.extend(["prague", "xcp"]);
        for name in names {
            let (mut control, now) = grown(name);
            let (before, flight) = (window(&control), control.window());
            control.on(&LossDetected::new(now, flight).into());
            assert!(window(&control).0 < before.0, "{name}");
            assert_eq!(control.snapshot().phase, Phase::Recovery);
            control.on(&SpuriousLoss::new(now).into());
            assert_eq!(window(&control), before, "{name}");
            assert_ne!(control.snapshot().phase, Phase::Recovery);
            control.on(&SpuriousLoss::new(now).into());
            assert_eq!(window(&control), before, "{name}: there is nothing left to undo");

            control.on(&Timeout::new(now, flight).into());
            let repeated = Timeout { repeated: true, ..Timeout::new(now, Bytes(1000)) };
            control.on(&repeated.into());
            control.on(&SpuriousLoss::new(now).into());
            assert_eq!(window(&control), before, "{name}: all of the timeouts");
        }
    }

    /// A larger window stays, and a mark is congestion whether or not the loss was spurious.
    #[test]
    fn what_is_not_undone() {
        for name in ["reno", "cubic", "bic"] {
            let (mut control, now) = grown(name);
            let flight = control.window();
            control.on_loss(&LossDetected::new(now, flight));
            control.state.cwnd = 1e4;
            let beyond = window(&control);
            control.on_spurious_loss(&SpuriousLoss::new(now));
            assert_eq!(window(&control), beyond, "{name}");

            control.on_loss(&LossDetected::new(now, flight));
            control.on_ecn_echo(&EcnEcho::new(now, flight));
            let marked = window(&control);
            control.on_spurious_loss(&SpuriousLoss::new(now));
            assert_eq!(window(&control), marked, "{name}");
        }
    }

    #[test]
    fn the_window_stays_the_same_number_of_bytes() {
        for name in ["reno", "cubic", "bic", "prague"] {
            let (mut control, now) = grown(name);
            let (before, bytes) = (window(&control), control.window());
            control.on(&MssChanged::new(now, Bytes::ZERO).into());
            assert_eq!(control.window(), bytes, "no size at all is ignored");
            control.on(&MssChanged::new(now, Bytes(500)).into());
            assert_eq!(window(&control), (2.0 * before.0, 2.0 * before.1), "{name}");
            assert!(control.window().get().abs_diff(bytes.get()) <= 1);
        }
    }

    /// draft-ietf-ccwg-bbr, "Modulating cwnd in Loss Recovery": the response in fast recovery is
    /// the model's. Katabi et al. 2002 and the Prague draft respond to losses as Reno does, so the
    /// transport's rules for Reno are theirs, as of all windows. Entry and algorithm say the same.
    #[test]
    fn who_sets_the_window_in_recovery() {
        use crate::entry::InRecovery;
        use crate::registry::Selection;
        for entry in crate::registry::ENTRIES {
            let control = Selection::from_label(entry.name).expect("listed").controller(setup());
            assert_eq!(control.owns_window_in_recovery(), entry.name == "bbr3", "{}", entry.name);
            let owns = entry.recovery == InRecovery::Algorithm;
            assert_eq!(control.owns_window_in_recovery(), owns, "{}", entry.name);
        }
    }

    /// The rules that hold whoever sets the window in recovery: a loss never raises it, a timeout
    /// makes it one segment, a spurious loss gives it back; and a pause restarts the window of all
    /// that say so, and of no other.
    #[test]
    fn what_the_transport_does_to_a_window() {
        use crate::entry::{AfterIdle, Part};
        let second = crate::units::Duration::from_seconds(1.0);
        for entry in
            crate::registry::ENTRIES.iter().filter(|it| matches!(it.part, Part::Window | Part::Model))
        {
            let name = entry.name;
            let (mut control, now) = grown(name);
            let (before, flight) = (window(&control).0, control.window());
            control.on_loss(&LossDetected::new(now, flight));
            assert!(window(&control).0 <= before, "{name}");
            control.on_spurious_loss(&SpuriousLoss::new(now));
            assert!(window(&control).0 >= before.min(window(&control).1), "{name}");
            control.on_timeout(&Timeout::new(now, flight));
            assert_eq!(window(&control).0, 1.0, "{name}");

            let (mut control, now) = grown(name);
            control.state.restart_window = 10.0;
            control.state.cwnd = 160.0;
            control.on_resumed(&Resumed::new(now + second.times(60), second.times(60), second));
            let restarts = entry.after_idle == AfterIdle::Restarts;
            assert_eq!(window(&control).0, if restarts { 10.0 } else { 160.0 }, "{name}");
            assert_eq!(control.restarts_after_idle(), restarts, "{name}");
        }
    }
}
