//! Algorithms of other crates: registered by name, run beside the built-in ones.
//!
//! Another crate implements [`ModelPart`] for its algorithm and [`Custom`] for its parameters, and registers the
//! parameters with [`Registry::register`](crate::registry::Registry::register). `examples/rust-algorithm` in the
//! repository is such a crate.
//!
//! Calls of these go through a pointer. Built-in algorithms do not: their path stays as it is.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::decision::{Pacing, Phase};
use crate::entry::Entry;
use crate::event::{
    Acknowledged, DuplicateAck, EcnEcho, Established, LossDetected, RecoveryEnded, Sent, Timeout,
};
use crate::failure::{Failure, InvalidWindow, Reason};
use crate::option::PeerOption;
use crate::parameter::{ParameterError, Value};
use crate::part::ModelPart;
use crate::receiver::Partner;
use crate::state::{Setup, WindowState};
use crate::units::{Bytes, Duration, Time};

/// An algorithm of another crate with the parameters chosen for it. Plain data: a scenario is copied to other threads.
pub trait Custom: Clone + fmt::Debug + Send + Sync + 'static {
    /// What runs a connection.
    type Model: ModelPart + Clone + fmt::Debug + Send + Sync + 'static;
    /// Its row in the registry. It counts as a model, whatever part the row says.
    fn entry(&self) -> Entry;
    /// Sets one parameter by name. The struct that [`parameters!`](crate::parameters) declares has a function for it.
    fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), ParameterError>;
    /// A new one for a connection.
    fn build(&self) -> Self::Model;
}

/// [`Custom`] without its type.
#[derive(Debug)]
pub(crate) struct CustomChoice(Box<dyn AnyCustom>);

trait AnyCustom: fmt::Debug + Send + Sync {
    fn clone_box(&self) -> Box<dyn AnyCustom>;
    fn entry(&self) -> Entry;
    fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), ParameterError>;
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
    pub(crate) fn partner(&self) -> Partner {
        self.0.build().partner()
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
            Some(InvalidWindow::Cwnd(state.cwnd))
        } else if !(0.0..=f64::INFINITY).contains(&state.ssthresh) {
            Some(InvalidWindow::Ssthresh(state.ssthresh))
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

    /// Someone else has found that it cannot go on.
    pub(crate) fn fail(&mut self, now: Time, reason: Reason, state: &mut WindowState) {
        self.failure.get_or_insert(Failure { now, reason });
        (state.cwnd, state.ssthresh) = (1.0, 2.0);
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
    pub(crate) fn sets_window_alone(&self) -> bool {
        self.model.sets_window_alone()
    }
    pub(crate) fn phase(&self) -> Option<Phase> {
        self.model.phase()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::Controller;
    use crate::decision::ProbePart;
    use crate::entry::{Marks, Part};
    use crate::event::RestartCause;
    use crate::fixtures::ack;
    use crate::option::XcpOption;
    use crate::registry::{RegistrationError, Registry, Selection};

    /// A model that does as it is told, and keeps what it hears.
    #[derive(Clone, Debug, Default)]
    struct Told {
        heard: Vec<&'static str>,
        /// The window and the threshold that it sets at each event.
        sets: Option<(f64, f64)>,
        fails: bool,
        pacing: Option<Pacing>,
    }

    impl Told {
        fn hear(&mut self, what: &'static str, state: &mut WindowState) {
            self.heard.push(what);
            if let Some(sets) = self.sets {
                (state.cwnd, state.ssthresh) = sets;
            }
        }
    }

    const OPTION: PeerOption = PeerOption::Xcp(XcpOption::Reply { feedback: 7 });

    impl ModelPart for Told {
        fn begin(&mut self, _setup: &Setup, _state: &WindowState) {
            self.heard.push("begin");
        }
        fn wants_rate_samples(&self) -> bool {
            self.fails
        }
        fn on_established(&mut self, _event: &Established, state: &mut WindowState) {
            self.hear("established", state);
        }
        fn on_ack(&mut self, _event: &Acknowledged, state: &mut WindowState) {
            self.hear("ack", state);
        }
        fn on_duplicate_ack(&mut self, _event: &DuplicateAck, state: &mut WindowState) {
            self.hear("duplicate", state);
        }
        fn on_loss(&mut self, _event: &LossDetected, state: &mut WindowState) {
            self.hear("loss", state);
        }
        fn on_ecn_echo(&mut self, _event: &EcnEcho, state: &mut WindowState) {
            self.hear("mark", state);
        }
        fn on_timeout(&mut self, _event: &Timeout, state: &mut WindowState) {
            self.hear("timeout", state);
        }
        fn on_recovery_ended(&mut self, _event: &RecoveryEnded, state: &mut WindowState) {
            self.hear("repaired", state);
        }
        fn on_sent(&mut self, _event: &Sent, state: &mut WindowState) {
            self.hear("sent", state);
        }
        fn option_for(&mut self, _state: &WindowState) -> Option<PeerOption> {
            Some(OPTION)
        }
        fn pacing(&self, _state: &WindowState) -> Option<Pacing> {
            self.pacing
        }
        fn phase(&self) -> Option<Phase> {
            Some(Phase::ProbeUp)
        }
        fn failure(&mut self) -> Option<Reason> {
            self.fails.then(|| Arc::new(fmt::Error) as Reason)
        }
    }

    impl Custom for Told {
        type Model = Self;
        fn entry(&self) -> Entry {
            Entry { name: "told", marks: Marks::InProportion, ..Entry::WINDOW }
        }
        fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), ParameterError> {
            match (name, value) {
                ("fails", Value::Switch(on)) => self.fails = on,
                _ => return Err(ParameterError::Unknown),
            }
            Ok(())
        }
        fn build(&self) -> Self {
            self.clone()
        }
    }

    fn connection(told: Told) -> Controller {
        Selection::custom(told).controller(setup())
    }

    fn setup() -> Setup {
        Setup {
            mss: Bytes(1000),
            header: Bytes(40),
            initial_window: 10.0,
            initial_ssthresh: f64::INFINITY,
            receive_window: Bytes::MAX,
            selective_acks: true,
            byte_counting: false,
            seed: 1,
        }
    }

    /// Every event, in this order.
    fn all_events(controller: &mut Controller) {
        let now = Time::from_picoseconds(5);
        let nothing = Bytes::ZERO;
        controller.on_established(&Established { now, rtt: None, option: None });
        controller.on_sent(&Sent { now, size: nothing, in_flight: nothing, held_back: nothing });
        controller.on_ack(&Acknowledged { now, ..ack(1000) });
        let (count, rtt, rate, option) = (1, None, None, None);
        controller.on_duplicate_ack(&DuplicateAck {
            now,
            count,
            rtt,
            in_flight: nothing,
            marked: nothing,
            rate,
            option,
        });
        controller.on_ecn_echo(&EcnEcho { now, flight_size: nothing });
        controller.on_loss(&LossDetected { now, flight_size: nothing });
        controller.on_recovery_ended(&RecoveryEnded { now });
        let cause = RestartCause::TimerExpired;
        controller.on_timeout(&Timeout { now, flight_size: nothing, repeated: false, cause });
    }

    const ALL: [&str; 9] =
        ["begin", "established", "sent", "ack", "duplicate", "mark", "loss", "repaired", "timeout"];

    fn heard(controller: &Controller) -> &[&'static str] {
        &controller.custom::<Told>().expect("its type").heard
    }

    #[test]
    fn someone_else_may_make_it_fail() {
        let now = Time::from_picoseconds(7);
        let mut controller = connection(Told::default());
        controller.fail(now, Arc::new(InvalidWindow::Cwnd(1e9)));
        controller.fail(Time::from_picoseconds(8), Arc::new(fmt::Error));
        all_events(&mut controller);
        assert_eq!(heard(&controller), ["begin"], "it hears of nothing more");
        assert_eq!(controller.window(), Bytes(1000));
        let failure = controller.failure().expect("it was made to fail");
        assert_eq!(
            (failure.now, failure.reason.to_string().as_str()),
            (now, "cwnd was set to 1000000000: it is a number of segments from 0")
        );
        let mut built_in = Selection::named("reno").expect("listed").controller(setup());
        built_in.fail(now, Arc::new(fmt::Error));
        assert!(built_in.failure().is_none() && !built_in.is_custom() && controller.is_custom());
    }

    #[test]
    fn it_may_set_the_window_alone() {
        assert!(!connection(Told::default()).sets_window_alone(), "unless it says so, it may want more");
    }

    #[test]
    fn it_hears_of_everything_once() {
        let mut controller = connection(Told::default());
        all_events(&mut controller);
        assert_eq!(heard(&controller), ALL);
        assert_eq!(heard(&controller.clone()), ALL, "a copy is a copy");
        assert!(controller.failure().is_none());
        assert!(!controller.wants_rate_samples());
        assert!(connection(Told { fails: true, ..Told::default() }).wants_rate_samples());
        assert_eq!(controller.option_for(ProbePart::Single), Some(OPTION));
        assert_eq!(controller.snapshot().phase, Phase::ProbeUp);
        assert!(controller.custom::<crate::model::Model>().is_none(), "another type");
    }

    #[test]
    fn what_it_sets_is_held_between_bounds() {
        // 0 and 10^12 segments are windows, though not such as a sender can have; the threshold is never below two.
        for (sets, window, threshold) in
            [((0.0, 0.0), 1.0, 2.0), ((1e12, f64::INFINITY), 1e9, f64::INFINITY), ((3.5, 7.0), 3.5, 7.0)]
        {
            let mut controller = connection(Told { sets: Some(sets), ..Told::default() });
            controller.on_ack(&ack(1000));
            assert!(controller.failure().is_none(), "{sets:?}");
            let snapshot = controller.snapshot();
            assert_eq!((snapshot.cwnd_segments, snapshot.ssthresh_segments), (window, threshold));
        }
    }

    #[test]
    fn no_window_ends_it() {
        let nan = f64::NAN;
        for (sets, says) in [
            ((nan, 5.0), "cwnd was set to NaN: it is a number of segments from 0"),
            ((-0.5, nan), "cwnd was set to -0.5: it is a number of segments from 0"),
            ((f64::INFINITY, 5.0), "cwnd was set to inf: it is a number of segments from 0"),
            ((5.0, nan), "ssthresh was set to NaN: it is a number of segments from 0"),
            ((5.0, -1.0), "ssthresh was set to -1: it is a number of segments from 0"),
        ] {
            let pacing = Some(Pacing::every(1.0, Bytes(1000)));
            let mut controller = connection(Told { sets: Some(sets), pacing, ..Told::default() });
            assert!(controller.decision().pacing.is_some());
            all_events(&mut controller);
            let failure = controller.failure().expect("no window");
            assert_eq!((failure.now.picoseconds(), failure.reason.to_string()), (5, says.to_owned()));
            assert_eq!(heard(&controller), &ALL[..2], "it hears of nothing more");
            let snapshot = controller.snapshot();
            assert_eq!((snapshot.cwnd_segments, snapshot.ssthresh_segments), (1.0, 2.0));
            assert_eq!(controller.decision().pacing, None);
            assert_eq!(controller.option_for(ProbePart::Single), None);
            assert_eq!(controller.steer(Time::ZERO, |_: &mut Told, _| ()), None);
        }
    }

    /// The first error counts, also where the model then leaves no window.
    #[test]
    fn an_error_of_its_own_ends_it() {
        let mut controller = connection(Told::default());
        let steered = controller.steer(Time::from_picoseconds(3), |told: &mut Told, state| {
            told.fails = true;
            state.cwnd = f64::NAN;
            state.mss
        });
        assert_eq!(steered, Some(Bytes(1000)), "what was said to it");
        let failure = controller.failure().expect("it fails");
        assert_eq!((failure.now.picoseconds(), failure.reason.to_string()), (3, fmt::Error.to_string()));
        // One that cannot begin has failed before its first event.
        let controller = connection(Told { fails: true, ..Told::default() });
        assert_eq!(controller.failure().expect("it fails").now, Time::ZERO);
    }

    #[test]
    fn a_release_takes_time_and_bytes() {
        let none = Pacing { interval: Duration::ZERO, size: Bytes::ZERO, tick: Duration::ZERO };
        let controller = connection(Told { pacing: Some(none), ..Told::default() });
        let pacing = controller.decision().pacing.expect("it paces");
        assert_eq!((pacing.interval.picoseconds(), pacing.size), (1, Bytes(1)));
    }

    #[test]
    fn parameters_and_what_it_says_of_itself_pass_through() {
        let mut registry = Registry::built_in();
        registry.register(Told::default()).expect("a new name");
        let mut selection = registry.model("told").expect("registered");
        assert!(selection.is_custom() && !Selection::named("bbr3").expect("listed").is_custom());
        let groups = |name| Selection::named(name).expect("listed").forms_groups();
        assert!(!selection.forms_groups() && !groups("bbr3") && !groups("reno") && groups("adaptive"));
        assert!(selection.responds_to_marks(true));
        assert!(!selection.responds_to_marks(false));
        assert_eq!(selection.set("none", Value::Switch(true)), Err(ParameterError::Unknown));
        assert_eq!(selection.set("fails", Value::Switch(true)), Ok(()));
        assert!(registry.model("told").is_some_and(|told| told.is_custom()));
        assert!(registry.model("tolled").is_none());
        let entries: Vec<_> = registry.entries().skip(crate::registry::ENTRIES.len()).collect();
        assert_eq!(entries.len(), 1);
        // It stands among the models, whatever part it says that it is.
        assert_eq!((entries[0].name, entries[0].part), ("told", Part::Model));
    }

    /// A name is one word that no built-in algorithm has, and its parameters are not the words beside which they stand.
    #[test]
    fn names_that_are_refused() {
        #[derive(Clone, Debug)]
        struct Named(&'static str, &'static [crate::parameter::Parameter]);
        impl Custom for Named {
            type Model = Told;
            fn entry(&self) -> Entry {
                Entry { name: self.0, parameters: self.1, ..Entry::MODEL }
            }
            fn set(&mut self, _name: &str, _value: Value<'_>) -> Result<(), ParameterError> {
                Err(ParameterError::Unknown)
            }
            fn build(&self) -> Told {
                Told::default()
            }
        }
        let longest: &str = "a123456789_123456789-123456789a123456789a123456789a123456789";
        assert_eq!(longest.len(), 60);
        let mut registry = Registry::built_in();
        for good in ["a", "x-1_b", longest] {
            assert_eq!(registry.register(Named(good, &[])), Ok(()), "{good}");
        }
        let too_long: &'static str = Box::leak(format!("{longest}b").into_boxed_str());
        for bad in ["", "1a", "-a", "_", "A", "aB", "a b", "ä", "aä", too_long] {
            assert_eq!(registry.register(Named(bad, &[])), Err(RegistrationError::BadName), "{bad}");
        }
        assert_eq!(registry.register(Named("cubic", &[])), Err(RegistrationError::BuiltIn));
        for error in [RegistrationError::BadName, RegistrationError::BuiltIn] {
            assert!(error.to_string().contains("name"));
        }
        // One of the same name takes the place of the earlier one.
        assert_eq!(registry.entries().count(), crate::registry::ENTRIES.len() + 3);
        assert_eq!(registry.register(Named("a", &[])), Ok(()));
        assert_eq!(registry.entries().count(), crate::registry::ENTRIES.len() + 3);
        assert!(!registry.model("a").expect("registered").responds_to_marks(true), "nothing said: no");
    }
}
