//! The parts of one connection's algorithm, and the distribution of events to them.

use alloc::boxed::Box;

use crate::composition::{Composition, Roles, RolesMut, RolesRef, advance};
use crate::decision::Pacing;
use crate::estimate::Estimate;
use crate::event::Acknowledged;
use crate::failure::{Failure, InvalidWindow, Reason, Shared};
use crate::model::Model;
use crate::part::{EstimatePart, ModelPart, StartPart};
use crate::start::Start;
use crate::state::{MAXIMUM_WINDOW_SEGMENTS, Setup, WindowState};
use crate::units::{Bytes, Duration, Time};
use crate::window::Window;

/// Owner of the window.
#[derive(Clone, Debug)]
pub enum Algorithm {
    /// A built-in start below ssthresh, a built-in window algorithm above: the usual case, stored
    /// inline.
    Parts {
        /// The start.
        start: Start,
        /// The window algorithm.
        window: Window,
    },
    /// Everything else, which is larger or can fail.
    Other(Box<Other>),
}

/// An algorithm held outside its connection.
#[derive(Clone, Debug)]
pub struct Other {
    kind: Kind,
    /// Whether a part is user-defined: its values are checked.
    custom: bool,
    /// After a failure it receives no more events, and its window is one segment.
    failure: Option<Failure>,
}

#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "it is boxed as a whole")]
enum Kind {
    Parts { start: Start, window: Window, estimate: Option<Estimate> },
    Model(Model),
}

impl Algorithm {
    /// Begins a connection with a start, a window algorithm, and optionally an estimator.
    pub(crate) fn parts(
        setup: &Setup,
        state: &mut WindowState,
        mut start: Start,
        window: Window,
        estimate: Option<Estimate>,
    ) -> Self {
        start.begin(setup, state);
        let custom = matches!(start, Start::Custom(_)) || matches!(window, Window::Custom(_));
        if !custom && estimate.is_none() {
            state.hold();
            return Self::Parts { start, window };
        }
        Self::other(Kind::Parts { start, window, estimate }, custom, state)
    }

    /// Begins a connection with a model.
    pub(crate) fn model(setup: &Setup, state: &mut WindowState, mut model: Model) -> Self {
        model.begin(setup, state);
        let custom = matches!(model, Model::Custom(_));
        Self::other(Kind::Model(model), custom, state)
    }

    fn other(kind: Kind, custom: bool, state: &mut WindowState) -> Self {
        let mut other = Other { kind, custom, failure: None };
        other.tell(Time::ZERO, state, |_, _| ());
        Self::Other(Box::new(other))
    }
}

impl crate::composition::private::Sealed for Algorithm {}

impl Composition for Algorithm {
    type Start = Start;
    type Window = Window;
    type Estimate = Estimate;
    type Model = Model;

    /// The usual algorithm is inlined, the others are not.
    #[inline(always)]
    fn tell(
        &mut self,
        now: Time,
        state: &mut WindowState,
        event: impl FnOnce(RolesMut<'_, Self>, &mut WindowState),
    ) {
        match self {
            Self::Parts { start, window } => event(Roles::Parts(start, window, None), state),
            Self::Other(other) => other.tell(now, state, event),
        }
    }

    /// The usual algorithm is called in place, as `tell` would do if closures were always inlined.
    #[inline(always)]
    fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        match self {
            Self::Parts { start, window } => {
                advance(start, window, event, state);
                state.cwnd = state.cwnd.min(MAXIMUM_WINDOW_SEGMENTS);
            }
            Self::Other(other) => other.tell(event.now, state, |roles, state| match roles {
                Roles::Parts(start, window, estimate) => {
                    if let Some(estimate) = estimate {
                        estimate.on_ack(event, state);
                    }
                    advance(start, window, event, state);
                }
                Roles::Model(model) => model.on_ack(event, state),
            }),
        }
    }

    #[inline]
    fn roles(&self) -> RolesRef<'_, Self> {
        match self {
            Self::Parts { start, window } => Roles::Parts(start, window, None),
            Self::Other(other) => match &other.kind {
                Kind::Parts { start, window, estimate } => Roles::Parts(start, window, estimate.as_ref()),
                Kind::Model(model) => Roles::Model(model),
            },
        }
    }

    #[inline]
    fn roles_mut(&mut self) -> Option<RolesMut<'_, Self>> {
        match self {
            Self::Parts { start, window } => Some(Roles::Parts(start, window, None)),
            Self::Other(other) if other.failure.is_none() => Some(other.kind.roles_mut()),
            Self::Other(_) => None,
        }
    }

    fn failure(&self) -> Option<&Failure> {
        if let Self::Other(other) = self { other.failure.as_ref() } else { None }
    }

    fn is_custom(&self) -> bool {
        matches!(self, Self::Other(other) if other.custom)
    }

    fn fail(&mut self, now: Time, reason: Reason, state: &mut WindowState) {
        if let Self::Other(other) = self
            && other.custom
        {
            other.failure.get_or_insert(Failure { now, reason });
            (state.cwnd, state.ssthresh) = (1.0, 2.0);
        }
    }

    /// The requested pacing, if usable: an interval or size of zero would release segments forever.
    fn usable(&self, pacing: Pacing) -> Option<Pacing> {
        if !self.is_custom() {
            return Some(pacing);
        }
        let (interval, size) =
            (pacing.interval.max(Duration::from_picoseconds(1)), pacing.size.max(Bytes(1)));
        self.failure().is_none().then_some(Pacing { interval, size, ..pacing })
    }
}

impl Kind {
    #[inline]
    fn roles_mut(&mut self) -> RolesMut<'_, Algorithm> {
        match self {
            Self::Parts { start, window, estimate } => Roles::Parts(start, window, estimate.as_mut()),
            Self::Model(model) => Roles::Model(model),
        }
    }
}

impl Other {
    /// See [`Algorithm::tell`].
    #[inline(never)]
    pub(crate) fn tell(
        &mut self,
        now: Time,
        state: &mut WindowState,
        event: impl FnOnce(RolesMut<'_, Algorithm>, &mut WindowState),
    ) {
        if self.failure.is_some() {
            return;
        }
        event(self.kind.roles_mut(), state);
        if self.custom {
            self.check(now, state);
        }
        state.hold();
    }

    /// Checks what a user-defined algorithm made of an event.
    fn check(&mut self, now: Time, state: &mut WindowState) {
        let own = if let Kind::Model(model) = &mut self.kind { model.failure() } else { None };
        // NaN is outside every range.
        let invalid = if !(0.0..f64::INFINITY).contains(&state.cwnd) {
            Some(InvalidWindow::Cwnd(state.cwnd))
        } else if !(0.0..=f64::INFINITY).contains(&state.ssthresh) {
            Some(InvalidWindow::Ssthresh(state.ssthresh))
        } else {
            None
        };
        let reason = own.or_else(|| invalid.map(|invalid| Shared::new(invalid) as Reason));
        self.failure = reason.map(|reason| Failure { now, reason });
        if self.failure.is_some() {
            (state.cwnd, state.ssthresh) = (1.0, 2.0);
        }
        state.ssthresh = state.ssthresh.max(2.0);
    }
}
