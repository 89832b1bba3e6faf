//! A start and a window algorithm together, or a model that is both: one congestion control.

use crate::custom::{CustomChoice, CustomModel};
use crate::decision::{Decision, Pacing, Phase, ProbePart, Snapshot};
use crate::estimate::Estimate;
use crate::event::{
    Acknowledged, DuplicateAck, EcnEcho, Established, LossDetected, RecoveryEnded, Sent, Timeout,
};
use crate::failure::{Failure, Reason};
use crate::model::Model;
use crate::option::PeerOption;
use crate::part::{EstimatePart, ModelPart, StartPart, WindowPart};
use crate::start::Start;
use crate::state::{MAXIMUM_WINDOW_SEGMENTS, Setup, WindowState};
use crate::units::{Bytes, Time};
use crate::window::{Group, Window};

/// A congestion control: events in, decision out.
#[derive(Clone, Debug)]
pub struct Controller {
    state: WindowState,
    recovering: bool,
    /// See [`Controller::only_grows`].
    only_grows: bool,
    algorithm: Algorithm,
}

/// Who owns the window.
#[derive(Clone, Debug)]
enum Algorithm {
    /// The start below ssthresh, the window algorithm above.
    Parts { start: Start, window: Window },
    /// The same, and an estimator beside them. Boxed, as a model is.
    Measured(Box<Measured>),
    /// One algorithm. Boxed, because it is larger than any pair of parts.
    Model(Box<Owner>),
}

/// Whose algorithm owns the whole of the window.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a controller boxes the whole of it")]
enum Owner {
    BuiltIn(Model),
    Custom(CustomModel),
}

/// Calls the same method on whichever it is.
macro_rules! either {
    ($of:expr, $model:ident => $call:expr) => {
        match $of {
            Owner::BuiltIn($model) => $call,
            Owner::Custom($model) => $call,
        }
    };
}

/// Out of line where the call comes for every segment, so that what is inlined into the sender is the usual case alone.
impl Owner {
    fn wants_rate_samples(&self) -> bool {
        either!(self, model => model.wants_rate_samples())
    }
    fn on_established(&mut self, event: &Established, state: &mut WindowState) {
        either!(self, model => model.on_established(event, state));
        state.hold();
    }
    #[inline(never)]
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        either!(self, model => model.on_ack(event, state));
        state.hold();
    }
    fn on_duplicate_ack(&mut self, event: &DuplicateAck, state: &mut WindowState) {
        either!(self, model => model.on_duplicate_ack(event, state));
        state.hold();
    }
    fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState) {
        either!(self, model => model.on_loss(event, state));
        state.hold();
    }
    fn on_ecn_echo(&mut self, event: &EcnEcho, state: &mut WindowState) {
        either!(self, model => model.on_ecn_echo(event, state));
        state.hold();
    }
    fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState) {
        either!(self, model => model.on_timeout(event, state));
    }
    fn on_recovery_ended(&mut self, event: &RecoveryEnded, state: &mut WindowState) {
        either!(self, model => model.on_recovery_ended(event, state));
        state.hold();
    }
    #[inline(never)]
    fn on_sent(&mut self, event: &Sent, state: &mut WindowState) {
        either!(self, model => model.on_sent(event, state));
        state.hold();
    }
    #[inline(never)]
    fn pacing(&self, state: &WindowState) -> Option<Pacing> {
        either!(self, model => model.pacing(state))
    }
    fn option_for(&mut self, state: &WindowState) -> Option<PeerOption> {
        either!(self, model => model.option_for(state))
    }
    fn phase(&self) -> Option<Phase> {
        either!(self, model => model.phase())
    }
}

/// A start and a window algorithm that know what an estimator finds.
#[derive(Clone, Debug)]
struct Measured {
    start: Start,
    window: Window,
    estimate: Estimate,
}

/// The window of a connection that begins with `start`.
fn begin(setup: &Setup, start: &mut Start) -> WindowState {
    let mut state = WindowState::new(setup);
    start.begin(setup, &mut state);
    state.hold();
    state
}

/// An acknowledgement advanced: grows the window.
#[inline(always)]
fn advance(start: &mut Start, window: &mut Window, event: &Acknowledged, state: &mut WindowState) {
    start.on_ack(event, state);
    window.on_ack(event, state);
    if event.recovering || !event.window_limited {
        return;
    }
    if start.holds_window() {
        start.grow(event, state);
    } else if !state.in_slow_start() {
        window.grow(event, state);
    } else if !window.holds_slow_start() {
        start.grow(event, state);
    }
    state.cwnd = state.cwnd.min(MAXIMUM_WINDOW_SEGMENTS);
}

impl Controller {
    /// A connection that begins with `start` and goes on with `window`.
    pub fn new(setup: Setup, mut start: Start, window: Window) -> Self {
        let state = begin(&setup, &mut start);
        let only_grows = start.entry().only_grows;
        Self { state, recovering: false, only_grows, algorithm: Algorithm::Parts { start, window } }
    }

    /// As [`Controller::new`], with an estimator beside them.
    pub fn with_estimate(setup: Setup, mut start: Start, window: Window, estimate: Estimate) -> Self {
        let state = begin(&setup, &mut start);
        let measured = Box::new(Measured { start, window, estimate });
        Self { state, recovering: false, only_grows: false, algorithm: Algorithm::Measured(measured) }
    }

    /// A connection that `model` begins and goes on with.
    pub fn with_model(setup: Setup, mut model: Model) -> Self {
        let state = WindowState::new(&setup);
        model.begin(&setup, &state);
        Self {
            state,
            recovering: false,
            only_grows: false,
            algorithm: Algorithm::Model(Box::new(Owner::BuiltIn(model))),
        }
    }

    /// A connection that an algorithm of another crate begins and goes on with.
    pub(crate) fn with_custom(setup: Setup, choice: &CustomChoice) -> Self {
        let state = WindowState::new(&setup);
        let model = Owner::Custom(choice.build(&setup, &state));
        Self { state, recovering: false, only_grows: false, algorithm: Algorithm::Model(Box::new(model)) }
    }

    /// An acknowledgement advanced.
    #[inline(always)]
    pub fn on_ack(&mut self, event: &Acknowledged) {
        match &mut self.algorithm {
            Algorithm::Parts { start, window } => advance(start, window, event, &mut self.state),
            Algorithm::Measured(measured) => {
                let Measured { start, window, estimate } = &mut **measured;
                estimate.on_ack(event, &mut self.state);
                advance(start, window, event, &mut self.state);
            }
            Algorithm::Model(model) => model.on_ack(event, &mut self.state),
        }
    }

    /// An acknowledgement repeated.
    pub fn on_duplicate_ack(&mut self, event: &DuplicateAck) {
        match &mut self.algorithm {
            Algorithm::Parts { start, .. } => start.on_duplicate_ack(event),
            Algorithm::Measured(measured) => {
                measured.estimate.abandon(event.now);
                measured.start.on_duplicate_ack(event);
            }
            Algorithm::Model(model) => model.on_duplicate_ack(event, &mut self.state),
        }
    }

    /// A loss was detected.
    pub fn on_loss(&mut self, event: &LossDetected) {
        self.recovering = true;
        let before = self.state.cwnd;
        match &mut self.algorithm {
            Algorithm::Parts { start, window } => {
                window.on_loss(event, &mut self.state);
                start.on_loss(event, &mut self.state);
            }
            Algorithm::Measured(measured) => {
                measured.estimate.abandon(event.now);
                measured.window.on_loss(event, &mut self.state);
                measured.start.on_loss(event, &mut self.state);
            }
            Algorithm::Model(model) => model.on_loss(event, &mut self.state),
        }
        // Our choice: a loss never raises the window. By the letter of RFC 5681 it could shortly after a timeout,
        // when cwnd is one segment and FlightSize still a whole window.
        self.state.cwnd = self.state.cwnd.min(before);
    }

    /// The receiver echoed a congestion mark.
    pub fn on_ecn_echo(&mut self, event: &EcnEcho) {
        let before = self.state.cwnd;
        match &mut self.algorithm {
            Algorithm::Parts { start, window } => {
                window.on_ecn_echo(event, &mut self.state);
                start.on_ecn_echo(event);
            }
            Algorithm::Measured(measured) => {
                measured.estimate.abandon(event.now);
                measured.window.on_ecn_echo(event, &mut self.state);
                measured.start.on_ecn_echo(event);
            }
            Algorithm::Model(model) => model.on_ecn_echo(event, &mut self.state),
        }
        self.state.cwnd = self.state.cwnd.min(before);
    }

    /// The connection starts again from one segment.
    pub fn on_timeout(&mut self, event: &Timeout) {
        self.recovering = false;
        self.state.slow_start_limit = 1.0;
        match &mut self.algorithm {
            Algorithm::Parts { start, window } => {
                window.on_timeout(event, &mut self.state);
                start.on_timeout(event);
            }
            Algorithm::Measured(measured) => {
                measured.estimate.abandon(event.now);
                measured.window.on_timeout(event, &mut self.state);
                measured.start.on_timeout(event);
            }
            Algorithm::Model(model) => model.on_timeout(event, &mut self.state),
        }
        self.state.cwnd = 1.0;
    }

    /// The option that the SYN carries. Asked for each SYN.
    pub fn option_for_syn(&mut self) -> Option<PeerOption> {
        match &mut self.algorithm {
            Algorithm::Parts { start, .. } => start.option_for_syn(),
            Algorithm::Measured(measured) => measured.start.option_for_syn(),
            Algorithm::Model(_) => None,
        }
    }

    /// The handshake is complete, and no data has left.
    pub fn on_established(&mut self, event: &Established) {
        let start = match &mut self.algorithm {
            Algorithm::Parts { start, .. } => start,
            Algorithm::Measured(measured) => &mut measured.start,
            Algorithm::Model(model) => return model.on_established(event, &mut self.state),
        };
        start.on_established(event, &mut self.state);
        self.state.hold();
    }

    /// The SYN or its answer was lost: "the initial window used by a sender after a correctly transmitted SYN MUST be
    /// one segment" (RFC 5681, section 3.1).
    pub fn on_handshake_loss(&mut self) {
        self.state.cwnd = 1.0;
    }

    /// A repair is complete.
    pub fn on_recovery_ended(&mut self, event: &RecoveryEnded) {
        self.recovering = false;
        if let Algorithm::Model(model) = &mut self.algorithm {
            model.on_recovery_ended(event, &mut self.state);
        }
    }

    /// A segment left.
    #[inline]
    pub fn on_sent(&mut self, event: &Sent) {
        if self.only_grows {
            return;
        }
        match &mut self.algorithm {
            Algorithm::Parts { start, .. } => start.on_sent(event),
            Algorithm::Measured(measured) => {
                measured.start.on_sent(event);
                measured.estimate.on_sent(event, &self.state);
            }
            Algorithm::Model(model) => model.on_sent(event, &mut self.state),
        }
    }

    /// Of a member of a group of parallel flows, before each event: it takes what the group knows.
    pub fn take_from(&mut self, group: &Group) {
        if let Algorithm::Parts { window, .. } = &mut self.algorithm {
            window.take_from(group, &mut self.state);
        }
    }

    /// After each event it gives the group what there is to know.
    pub fn give_to(&mut self, group: &mut Group) {
        if let Algorithm::Parts { window, .. } = &mut self.algorithm {
            window.give_to(group, &self.state);
        }
    }

    /// It has a use for [`Acknowledged::rate`] and [`DuplicateAck::rate`]: the sender has to measure them.
    pub fn wants_rate_samples(&self) -> bool {
        match &self.algorithm {
            Algorithm::Parts { start, window } => start.wants_rate_samples() || window.wants_rate_samples(),
            Algorithm::Measured(measured) => {
                measured.start.wants_rate_samples() || measured.window.wants_rate_samples()
            }
            Algorithm::Model(model) => model.wants_rate_samples(),
        }
    }

    /// The option that the next segment of new data carries. Taken once per segment.
    #[inline]
    pub fn option_for(&mut self, part: ProbePart) -> Option<PeerOption> {
        if self.only_grows {
            return None;
        }
        match &mut self.algorithm {
            Algorithm::Parts { start, .. } => start.option_for(part),
            Algorithm::Measured(measured) => measured.start.option_for(part),
            Algorithm::Model(model) => model.option_for(&self.state),
        }
    }

    /// The algorithm is of another crate.
    pub fn is_custom(&self) -> bool {
        matches!(&self.algorithm, Algorithm::Model(model) if matches!(model.as_ref(), Owner::Custom(_)))
    }

    /// Makes an algorithm of another crate fail, unless it has failed before: its window is then one segment. Does nothing
    /// to others.
    pub fn fail(&mut self, now: Time, reason: Reason) {
        if let Algorithm::Model(model) = &mut self.algorithm
            && let Owner::Custom(model) = model.as_mut()
        {
            model.fail(now, reason, &mut self.state);
        }
    }

    /// Why the algorithm cannot go on, if it cannot. Only one of another crate can fail.
    pub fn failure(&self) -> Option<&Failure> {
        match &self.algorithm {
            Algorithm::Model(model) => match model.as_ref() {
                Owner::Custom(model) => model.failure(),
                Owner::BuiltIn(_) => None,
            },
            Algorithm::Parts { .. } | Algorithm::Measured(_) => None,
        }
    }

    /// The model of another crate that controls the connection; `None` if that is none, or one of another type.
    pub fn custom<M: ModelPart + 'static>(&self) -> Option<&M> {
        let Algorithm::Model(model) = &self.algorithm else { return None };
        let Owner::Custom(model) = model.as_ref() else { return None };
        model.get()
    }

    /// Lets someone outside of the connection change a model of another crate and the window. `None` if the model is not
    /// of this type, or has failed.
    pub fn steer<M: ModelPart + 'static, R>(
        &mut self,
        now: Time,
        change: impl FnOnce(&mut M, &mut WindowState) -> R,
    ) -> Option<R> {
        let Algorithm::Model(model) = &mut self.algorithm else { return None };
        let Owner::Custom(model) = model.as_mut() else { return None };
        let result = model.steer(now, &mut self.state, change);
        self.state.hold();
        result
    }

    /// [`Controller::decision`] says no more than a window, no segment carries an option, and nobody listens to
    /// [`Controller::on_sent`]. Constant for a connection.
    pub const fn only_grows(&self) -> bool {
        self.only_grows
    }

    /// The same of an algorithm of another crate, as it is now.
    #[inline(never)]
    pub fn sets_window_alone(&self) -> bool {
        match &self.algorithm {
            Algorithm::Model(model) => match model.as_ref() {
                Owner::Custom(model) => model.sets_window_alone(),
                Owner::BuiltIn(_) => false,
            },
            Algorithm::Parts { .. } | Algorithm::Measured(_) => false,
        }
    }

    /// Payload that may be in flight now.
    #[inline(always)]
    pub fn window(&self) -> Bytes {
        // By way of i64, which are shorter conversions; the bounds on cwnd and MSS keep the product below 2^47.
        Bytes((self.state.cwnd * self.state.mss.get() as i64 as f64) as i64 as u64)
    }

    /// What the sender may do now.
    #[inline]
    pub fn decision(&self) -> Decision {
        let window = self.window();
        if self.only_grows {
            return Decision { window, pacing: None, probe: None, allowance: Bytes::MAX };
        }
        self.shaped_decision(window)
    }

    /// Apart, so that the usual decision is short where it is asked for.
    #[inline(never)]
    fn shaped_decision(&self, window: Bytes) -> Decision {
        let (pacing, probe, allowance) = match &self.algorithm {
            Algorithm::Parts { start, .. } => {
                let probe = if self.recovering { None } else { start.probe(&self.state) };
                (start.pacing(&self.state), probe, start.allowance(&self.state))
            }
            Algorithm::Measured(measured) => {
                let Measured { start, estimate, .. } = &**measured;
                let probe = if self.recovering { None } else { start.probe(&self.state) };
                let pacing = estimate.pacing(&self.state).or_else(|| start.pacing(&self.state));
                let allowance = estimate.allowance(&self.state).min(start.allowance(&self.state));
                (pacing, probe, allowance)
            }
            Algorithm::Model(model) => (model.pacing(&self.state), None, Bytes::MAX),
        };
        Decision { window, pacing, probe, allowance }
    }

    /// The state for a record.
    pub fn snapshot(&self) -> Snapshot {
        let own = match &self.algorithm {
            Algorithm::Parts { .. } | Algorithm::Measured(_) if self.recovering => Some(Phase::Recovery),
            Algorithm::Parts { start, .. } => start.phase(),
            Algorithm::Measured(measured) => measured.start.phase(),
            // A model that has phases of its own is in them also while a loss is under repair.
            Algorithm::Model(model) => model.phase().or(self.recovering.then_some(Phase::Recovery)),
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::setup;

    /// What is told is held: a window has one segment at least and 10^9 at most, the threshold two.
    #[test]
    fn a_connection_begins_within_bounds() {
        use crate::registry::Selection;
        for (initial_window, initial_ssthresh, window, threshold) in
            [(0.0, 0.0, 1.0, 2.0), (1e12, f64::INFINITY, 1e9, f64::INFINITY), (3.5, 64.0, 3.5, 64.0)]
        {
            let setup = Setup { initial_window, initial_ssthresh, ..setup() };
            for name in ["reno", "prague", "icim"] {
                let snapshot = Selection::named(name).expect("listed").controller(setup).snapshot();
                assert_eq!(
                    (snapshot.cwnd_segments, snapshot.ssthresh_segments),
                    (window, threshold),
                    "{name}"
                );
            }
        }
    }

    /// Rates are measured, which costs time, for those alone that use them.
    #[test]
    fn who_wants_rates() {
        use crate::entry::Part;
        use crate::registry::{ENTRIES, Selection};
        let wants = |selection: Option<Selection>| {
            selection.expect("listed").controller(setup()).wants_rate_samples()
        };
        for entry in ENTRIES {
            let expected = ["bbr3", "bbr-startup"].contains(&entry.name);
            assert_eq!(wants(Selection::named(entry.name)), expected, "{}", entry.name);
            if entry.part == Part::Start {
                let measured = Selection::new(entry.name, "cubic").and_then(|it| it.with_estimate("icim"));
                assert_eq!(wants(measured), expected, "{} beside an estimator", entry.name);
            }
        }
    }
}
