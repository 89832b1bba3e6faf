//! Composition of a connection's algorithm, and distribution of events: [`Pair`] and [`Alone`] of
//! types known at compile time, or any algorithm of the registry (`Algorithm`).

use crate::decision::{Pacing, Phase};
use crate::event::{Acknowledged, LossDetected, Sent, Timeout};
use crate::failure::{Failure, Reason};
use crate::part::{EstimatePart, ModelPart, StartPart, WindowPart};
use crate::state::{MAXIMUM_WINDOW_SEGMENTS, Setup, WindowState};
use crate::units::{Bytes, Time};

/// The parts of an algorithm.
#[derive(Clone, Copy, Debug)]
pub enum Roles<S, W, E, M> {
    /// A start and a window algorithm, which see the findings of the estimator, if any.
    Parts(S, W, Option<E>),
    /// A monolithic algorithm.
    Model(M),
}

/// The parts of `A`, to receive an event.
pub type RolesMut<'a, A> = Roles<
    &'a mut <A as Composition>::Start,
    &'a mut <A as Composition>::Window,
    &'a mut <A as Composition>::Estimate,
    &'a mut <A as Composition>::Model,
>;
/// The parts of `A`, to be queried.
pub type RolesRef<'a, A> = Roles<
    &'a <A as Composition>::Start,
    &'a <A as Composition>::Window,
    &'a <A as Composition>::Estimate,
    &'a <A as Composition>::Model,
>;

/// Keeps [`Composition`] to this crate: a method more does not break a user.
pub(crate) mod private {
    pub trait Sealed {}
}

/// The algorithm of a connection, composed of any parts. Implemented here only.
pub trait Composition: private::Sealed {
    /// The start.
    type Start: StartPart;
    /// The window algorithm.
    type Window: WindowPart;
    /// The estimator beside them.
    type Estimate: EstimatePart;
    /// A monolithic algorithm.
    type Model: ModelPart;

    /// Passes an event to the parts.
    fn tell(
        &mut self,
        now: Time,
        state: &mut WindowState,
        event: impl FnOnce(RolesMut<'_, Self>, &mut WindowState),
    );
    /// An ACK advanced.
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState);
    /// The parts.
    fn roles(&self) -> RolesRef<'_, Self>;
    /// The parts, to take outputs that are given once; `None` after a failure.
    fn roles_mut(&mut self) -> Option<RolesMut<'_, Self>>;
    /// Whether a part is user-defined, and therefore checked.
    fn is_custom(&self) -> bool {
        false
    }
    /// Makes a user-defined algorithm fail, unless it has failed before.
    fn fail(&mut self, _now: Time, _reason: Reason, _state: &mut WindowState) {}
    /// Why it cannot continue, after a failure.
    fn failure(&self) -> Option<&Failure> {
        None
    }
    /// The requested pacing, if usable.
    fn usable(&self, pacing: Pacing) -> Option<Pacing> {
        Some(pacing)
    }
}

/// An ACK advanced: grows the window.
#[inline(always)]
pub(crate) fn advance<S: StartPart, W: WindowPart>(
    start: &mut S,
    window: &mut W,
    event: &Acknowledged,
    state: &mut WindowState,
) {
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
}

/// A start and a window algorithm, without dynamic dispatch, as compiled for the kernel.
#[derive(Clone, Debug)]
pub struct Pair<S, W> {
    start: S,
    window: W,
}

impl<S: StartPart, W: WindowPart> Pair<S, W> {
    pub(crate) fn new(setup: &Setup, state: &mut WindowState, mut start: S, window: W) -> Self {
        start.begin(setup, state);
        state.hold();
        Self { start, window }
    }
}

impl<S, W> private::Sealed for Pair<S, W> {}

impl<S: StartPart, W: WindowPart> Composition for Pair<S, W> {
    type Start = S;
    type Window = W;
    type Estimate = Never;
    type Model = Never;

    #[inline(always)]
    fn tell(
        &mut self,
        _now: Time,
        state: &mut WindowState,
        event: impl FnOnce(RolesMut<'_, Self>, &mut WindowState),
    ) {
        event(Roles::Parts(&mut self.start, &mut self.window, None), state);
    }
    #[inline(always)]
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        advance(&mut self.start, &mut self.window, event, state);
        state.cwnd = state.cwnd.min(MAXIMUM_WINDOW_SEGMENTS);
    }
    #[inline(always)]
    fn roles(&self) -> RolesRef<'_, Self> {
        Roles::Parts(&self.start, &self.window, None)
    }
    #[inline(always)]
    fn roles_mut(&mut self) -> Option<RolesMut<'_, Self>> {
        Some(Roles::Parts(&mut self.start, &mut self.window, None))
    }
}

/// A model, without dynamic dispatch.
#[derive(Clone, Debug)]
pub struct Alone<M> {
    model: M,
}

impl<M: ModelPart> Alone<M> {
    pub(crate) fn new(setup: &Setup, state: &mut WindowState, mut model: M) -> Self {
        model.begin(setup, state);
        state.hold();
        Self { model }
    }
}

impl<M> private::Sealed for Alone<M> {}

impl<M: ModelPart> Composition for Alone<M> {
    type Start = Never;
    type Window = Never;
    type Estimate = Never;
    type Model = M;

    #[inline(always)]
    fn tell(
        &mut self,
        _now: Time,
        state: &mut WindowState,
        event: impl FnOnce(RolesMut<'_, Self>, &mut WindowState),
    ) {
        event(Roles::Model(&mut self.model), state);
        state.hold();
    }
    #[inline(always)]
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        self.model.on_ack(event, state);
        state.hold();
    }
    #[inline(always)]
    fn roles(&self) -> RolesRef<'_, Self> {
        Roles::Model(&self.model)
    }
    #[inline(always)]
    fn roles_mut(&mut self) -> Option<RolesMut<'_, Self>> {
        Some(Roles::Model(&mut self.model))
    }
}

/// An absent part.
#[derive(Clone, Copy, Debug)]
pub enum Never {}

impl StartPart for Never {
    fn grow(&mut self, _event: &Acknowledged, _state: &mut WindowState) {
        match *self {}
    }
}

impl WindowPart for Never {
    fn grow(&mut self, _event: &Acknowledged, _state: &mut WindowState) {
        match *self {}
    }
    fn on_loss(&mut self, _event: &LossDetected, _state: &mut WindowState) {
        match *self {}
    }
    fn on_timeout(&mut self, _event: &Timeout, _state: &mut WindowState) {
        match *self {}
    }
}

impl ModelPart for Never {
    fn on_ack(&mut self, _event: &Acknowledged, _state: &mut WindowState) {
        match *self {}
    }
    fn on_loss(&mut self, _event: &LossDetected, _state: &mut WindowState) {
        match *self {}
    }
    fn on_timeout(&mut self, _event: &Timeout, _state: &mut WindowState) {
        match *self {}
    }
    fn pacing(&self, _state: &WindowState) -> Option<Pacing> {
        match *self {}
    }
    fn phase(&self) -> Option<Phase> {
        match *self {}
    }
}

impl EstimatePart for Never {
    fn on_ack(&mut self, _event: &Acknowledged, _state: &mut WindowState) {
        match *self {}
    }
    fn on_sent(&mut self, _event: &Sent, _state: &WindowState) {
        match *self {}
    }
    fn abandon(&mut self, _now: Time) {
        match *self {}
    }
    fn allowance(&self, _state: &WindowState) -> Bytes {
        match *self {}
    }
}
