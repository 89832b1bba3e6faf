//! Algorithms of other crates: registered by name, run beside the built-in ones.
//!
//! Another crate implements [`ModelPart`] for its algorithm and [`Custom`] for its parameters, and registers the
//! parameters with [`Registry::register`](crate::registry::Registry::register). `examples/rust-algorithm` in the
//! repository is such a crate.
//!
//! Calls of these go through a pointer. Built-in algorithms do not: their path stays as it is.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::controller::{Setup, WindowState};
use crate::event::{
    Acknowledged, DuplicateAck, EcnEcho, Established, LossDetected, Pacing, Phase, RecoveryEnded, Sent,
    Timeout,
};
use crate::model::ModelPart;
use crate::option::PeerOption;
use crate::parameter::{ParameterError, Value};
use crate::registry::Entry;
use crate::units::{Bytes, Duration, Time};

/// An algorithm of another crate with the parameters chosen for it. Plain data: a scenario is copied to other threads.
pub trait Custom: Clone + fmt::Debug + Send + Sync + 'static {
    /// What runs a connection.
    type Model: ModelPart + Clone + fmt::Debug + Send + Sync + 'static;
    /// Its row in the registry. It counts as a model, whatever part the row says.
    fn entry(&self) -> Entry;
    /// Sets one parameter by name. The struct that [`parameters!`](crate::parameters) declares has a function for it.
    fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), ParameterError>;
    /// It reduces its window when marks are echoed, counted (`accurate`) or as RFC 3168 has it. If not, a scenario with
    /// ECN is refused: nothing would tell the algorithm of congestion.
    fn responds_to_marks(&self, _accurate: bool) -> bool {
        false
    }
    /// A new one for a connection.
    fn build(&self) -> Self::Model;
}

/// Why an algorithm could not go on.
#[derive(Clone, Debug)]
pub struct Failure {
    /// At which event.
    pub now: Time,
    /// Why.
    pub reason: Reason,
}

/// The error that made an algorithm give up.
pub type Reason = Arc<dyn Error + Send + Sync>;

/// A window that is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoWindow {
    /// cwnd is this: negative, or not a number.
    Cwnd(f64),
    /// ssthresh is this: negative, or not a number.
    Ssthresh(f64),
}

impl fmt::Display for NoWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, value) = match self {
            Self::Cwnd(value) => ("cwnd", value),
            Self::Ssthresh(value) => ("ssthresh", value),
        };
        write!(f, "{name} was set to {value}: it is a number of segments from 0")
    }
}

impl Error for NoWindow {}

/// [`Custom`] without its type.
#[derive(Debug)]
pub(crate) struct CustomChoice(Box<dyn AnyCustom>);

trait AnyCustom: fmt::Debug + Send + Sync {
    fn clone_box(&self) -> Box<dyn AnyCustom>;
    fn entry(&self) -> Entry;
    fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), ParameterError>;
    fn responds_to_marks(&self, accurate: bool) -> bool;
    fn build(&self) -> Box<dyn AnyModel>;
}

impl<C: Custom> AnyCustom for C {
    fn clone_box(&self) -> Box<dyn AnyCustom> {
        Box::new(self.clone())
    }
    fn entry(&self) -> Entry {
        Custom::entry(self)
    }
    fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), ParameterError> {
        Custom::set(self, name, value)
    }
    fn responds_to_marks(&self, accurate: bool) -> bool {
        Custom::responds_to_marks(self, accurate)
    }
    fn build(&self) -> Box<dyn AnyModel> {
        Box::new(Custom::build(self))
    }
}

impl Clone for CustomChoice {
    fn clone(&self) -> Self {
        Self(self.0.clone_box())
    }
}

impl CustomChoice {
    pub(crate) fn new(custom: impl Custom) -> Self {
        Self(Box::new(custom))
    }
    pub(crate) fn entry(&self) -> Entry {
        self.0.entry()
    }
    pub(crate) fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), ParameterError> {
        self.0.set(name, value)
    }
    pub(crate) fn responds_to_marks(&self, accurate: bool) -> bool {
        self.0.responds_to_marks(accurate)
    }
    /// A new one for a connection that begins like this.
    pub(crate) fn build(&self, setup: &Setup, state: &WindowState) -> CustomModel {
        let mut model = CustomModel { model: self.0.build(), failure: None };
        model.model.begin(setup, state);
        model.look_for_failure(Time::ZERO);
        model
    }
}

/// A model of another crate. Once it has failed it hears of nothing more, and its window is one segment.
#[derive(Debug)]
pub(crate) struct CustomModel {
    model: Box<dyn AnyModel>,
    failure: Option<Failure>,
}

trait AnyModel: ModelPart + fmt::Debug + Send + Sync + Any {
    fn clone_box(&self) -> Box<dyn AnyModel>;
}

impl<M: ModelPart + Clone + fmt::Debug + Send + Sync + 'static> AnyModel for M {
    fn clone_box(&self) -> Box<dyn AnyModel> {
        Box::new(self.clone())
    }
}

impl Clone for CustomModel {
    fn clone(&self) -> Self {
        Self { model: self.model.clone_box(), failure: self.failure.clone() }
    }
}

impl CustomModel {
    /// The model, if it is of this type.
    pub(crate) fn get<M: ModelPart + 'static>(&self) -> Option<&M> {
        let model: &dyn Any = self.model.as_ref();
        model.downcast_ref()
    }

    /// Lets someone outside change the model, if it is of this type.
    pub(crate) fn steer<M: ModelPart + 'static, R>(
        &mut self,
        now: Time,
        state: &mut WindowState,
        change: impl FnOnce(&mut M, &mut WindowState) -> R,
    ) -> Option<R> {
        let mut result = None;
        self.tell(now, state, |model, state| {
            let model: &mut dyn Any = model;
            result = model.downcast_mut().map(|model| change(model, state));
        });
        result
    }

    pub(crate) fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// Tells the model of an event and looks at what it made of it.
    fn tell(
        &mut self,
        now: Time,
        state: &mut WindowState,
        event: impl FnOnce(&mut dyn AnyModel, &mut WindowState),
    ) {
        if self.failure.is_some() {
            return;
        }
        event(self.model.as_mut(), state);
        self.look_for_failure(now);
        // NaN is in no range.
        let no_window = if !(0.0..f64::INFINITY).contains(&state.cwnd) {
            Some(NoWindow::Cwnd(state.cwnd))
        } else if !(0.0..=f64::INFINITY).contains(&state.ssthresh) {
            Some(NoWindow::Ssthresh(state.ssthresh))
        } else {
            None
        };
        if let Some(refused) = no_window
            && self.failure.is_none()
        {
            self.failure = Some(Failure { now, reason: Arc::new(refused) });
        }
        if self.failure.is_some() {
            (state.cwnd, state.ssthresh) = (1.0, 2.0);
        }
        state.ssthresh = state.ssthresh.max(2.0);
    }

    fn look_for_failure(&mut self, now: Time) {
        self.failure = self.model.failure().map(|reason| Failure { now, reason });
    }

    pub(crate) fn wants_rate_samples(&self) -> bool {
        self.model.wants_rate_samples()
    }
    pub(crate) fn on_established(&mut self, event: &Established, state: &mut WindowState) {
        self.tell(event.now, state, |model, state| model.on_established(event, state));
    }
    pub(crate) fn on_ack(&mut self, event: &Acknowledged, state: &mut WindowState) {
        self.tell(event.now, state, |model, state| model.on_ack(event, state));
    }
    pub(crate) fn on_duplicate_ack(&mut self, event: &DuplicateAck, state: &mut WindowState) {
        self.tell(event.now, state, |model, state| model.on_duplicate_ack(event, state));
    }
    pub(crate) fn on_loss(&mut self, event: &LossDetected, state: &mut WindowState) {
        self.tell(event.now, state, |model, state| model.on_loss(event, state));
    }
    pub(crate) fn on_ecn_echo(&mut self, event: &EcnEcho, state: &mut WindowState) {
        self.tell(event.now, state, |model, state| model.on_ecn_echo(event, state));
    }
    pub(crate) fn on_timeout(&mut self, event: &Timeout, state: &mut WindowState) {
        self.tell(event.now, state, |model, state| model.on_timeout(event, state));
    }
    pub(crate) fn on_recovery_ended(&mut self, event: &RecoveryEnded, state: &mut WindowState) {
        self.tell(event.now, state, |model, state| model.on_recovery_ended(event, state));
    }
    pub(crate) fn on_sent(&mut self, event: &Sent, state: &mut WindowState) {
        self.tell(event.now, state, |model, state| model.on_sent(event, state));
    }
    pub(crate) fn pacing(&self, state: &WindowState) -> Option<Pacing> {
        if self.failure.is_some() {
            return None;
        }
        // A release that takes no time or no bytes would be repeated for ever.
        self.model.pacing(state).map(|pacing| Pacing {
            interval: pacing.interval.max(Duration::from_picoseconds(1)),
            size: pacing.size.max(Bytes(1)),
            ..pacing
        })
    }
    pub(crate) fn option_for(&mut self, state: &WindowState) -> Option<PeerOption> {
        if self.failure.is_some() { None } else { self.model.option_for(state) }
    }
    pub(crate) fn phase(&self) -> Option<Phase> {
        self.model.phase()
    }
}
