//! User-defined algorithms: starts, window algorithms and models of other crates, registered by
//! name and combined freely with the built-in ones.
//!
//! Another crate implements [`StartPart`], [`WindowPart`] or [`ModelPart`] for its algorithm and
//! [`Custom`] for its parameters, and registers the parameters with a
//! [`Registry`](crate::Registry). `examples/rust-algorithm` in the repository is such a crate.

use alloc::boxed::Box;

use core::fmt;

use crate::entry::Entry;
use crate::open::{AnyModel, AnyStart, AnyWindow};
use crate::parameter::{ParameterError, Value};
use crate::part::{ModelPart, StartPart, WindowPart};

/// A user-defined algorithm with the parameters chosen for it. Plain data: a scenario is copied to
/// other threads.
pub trait Custom: Clone + fmt::Debug + Send + Sync + 'static {
    /// The parts that control a connection: a start, a window algorithm or a model.
    type Part: Clone + fmt::Debug + Send + Sync + 'static;
    /// Its row in the registry.
    fn entry(&self) -> Entry;
    /// Sets one parameter by name. The struct that [`parameters!`](crate::parameters) declares has
    /// a function for it.
    fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), ParameterError>;
    /// Makes the algorithm of a new connection.
    fn build(&self) -> Self::Part;
    /// Passes on all parameters as 64-bit words for the kernel
    /// ([`Words`](crate::parameter::Words)); `None`: it cannot be loaded there.
    fn words(&self, _each: &mut dyn FnMut(u64)) -> Option<()> {
        None
    }
}

/// [`Custom`] with its type erased, for one kind of part.
#[derive(Debug)]
pub(crate) struct CustomChoice<P: ?Sized>(Box<dyn AnyCustom<P>>);

trait AnyCustom<P: ?Sized>: fmt::Debug + Send + Sync {
    fn clone_box(&self) -> Box<dyn AnyCustom<P>>;
    fn entry(&self) -> Entry;
    fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), ParameterError>;
    fn build(&self) -> Box<P>;
    fn words(&self, each: &mut dyn FnMut(u64)) -> Option<()>;
}

macro_rules! choices {
    ($($part:ident => $any:ident, $kind:ident;)+) => {
        $(impl<C: Custom<Part: $part>> AnyCustom<dyn $any> for C {
            fn clone_box(&self) -> Box<dyn AnyCustom<dyn $any>> {
                Box::new(self.clone())
            }
            fn entry(&self) -> Entry {
                Entry { part: crate::entry::Part::$kind, ..Custom::entry(self) }
            }
            fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), ParameterError> {
                Custom::set(self, name, value)
            }
            fn build(&self) -> Box<dyn $any> {
                Box::new(Custom::build(self))
            }
            fn words(&self, each: &mut dyn FnMut(u64)) -> Option<()> {
                Custom::words(self, each)
            }
        }

        impl CustomChoice<dyn $any> {
            pub(crate) fn new(custom: impl Custom<Part: $part>) -> Self {
                Self(Box::new(custom))
            }
        })+
    };
}

choices! {
    StartPart => AnyStart, Start;
    WindowPart => AnyWindow, Window;
    ModelPart => AnyModel, Model;
}

impl<P: ?Sized> Clone for CustomChoice<P> {
    fn clone(&self) -> Self {
        Self(self.0.clone_box())
    }
}

impl<P: ?Sized> CustomChoice<P> {
    pub(crate) fn entry(&self) -> Entry {
        self.0.entry()
    }
    pub(crate) fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), ParameterError> {
        self.0.set(name, value)
    }
    pub(crate) fn build(&self) -> Box<P> {
        self.0.build()
    }
    pub(crate) fn words(&self, each: &mut dyn FnMut(u64)) -> Option<()> {
        self.0.words(each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::Controller;
    use crate::decision::ProbePart;
    use crate::decision::{Pacing, Phase};
    use crate::entry::{Marks, Part};
    use crate::event::{
        Acknowledged, DuplicateAck, EcnEcho, Established, LossDetected, RecoveryEnded, Sent, Timeout,
    };
    use crate::failure::{InvalidWindow, Reason};
    use crate::fixtures::ack;
    use crate::option::PeerOption;
    use crate::option::XcpOption;
    use crate::registry::{RegistrationError, Registry, Selection};
    use crate::state::{Setup, WindowState};
    use crate::units::{Bytes, Duration, Time};
    use std::sync::Arc;

    /// A model that follows commands, and records its events.
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
        type Part = Self;
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
        Setup { initial_ssthresh: f64::INFINITY, ..crate::fixtures::setup() }
    }

    /// Feeds every event, in this order.
    fn all_events(controller: &mut Controller) {
        let now = Time::from_picoseconds(5);
        let nothing = Bytes::ZERO;
        controller.on_established(&Established::new(now, None));
        controller.on_sent(&Sent::new(now, nothing, nothing));
        controller.on_ack(&Acknowledged { now, ..ack(1000) });
        let (count, rtt, rate, option) = (1, None, None, None);
        controller.on_duplicate_ack(&DuplicateAck {
            rtt,
            in_flight: nothing,
            marked: nothing,
            rate,
            option,
            ..DuplicateAck::new(now, count)
        });
        controller.on_ecn_echo(&EcnEcho::new(now, nothing));
        controller.on_loss(&LossDetected::new(now, nothing));
        controller.on_recovery_ended(&RecoveryEnded::new(now));
        controller.on_timeout(&Timeout::new(now, nothing));
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
        let mut built_in = Selection::from_label("reno").expect("listed").controller(setup());
        built_in.fail(now, Arc::new(fmt::Error));
        assert!(built_in.failure().is_none() && !built_in.is_custom() && controller.is_custom());
    }

    /// Parameters reach the kernel only if the algorithm passes them on.
    #[test]
    fn words_for_the_kernel() {
        #[derive(Clone, Debug)]
        struct InKernel;
        impl Custom for InKernel {
            type Part = Told;
            fn entry(&self) -> Entry {
                Entry { name: "in-kernel", ..Entry::MODEL }
            }
            fn set(&mut self, _: &str, _: Value<'_>) -> Result<(), ParameterError> {
                Err(ParameterError::Unknown)
            }
            fn build(&self) -> Told {
                Told::default()
            }
            fn words(&self, each: &mut dyn FnMut(u64)) -> Option<()> {
                [7, 9].into_iter().for_each(each);
                Some(())
            }
        }
        assert_eq!(Selection::custom(Told::default()).parameter_words(), None);
        assert_eq!(Selection::custom(InKernel).parameter_words(), Some(vec![2, 7, 9]));
        let mut registry = Registry::built_in();
        registry.register_model(InKernel).expect("a new name");
        let selection = registry.model("in-kernel").expect("registered");
        assert_eq!(selection.parameter_words(), Some(vec![2, 7, 9]));
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
        // 0 and 10^12 segments are valid windows, though no sender can have them; the threshold is
        // never below two.
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

    /// The first error is reported, even if the model then sets an invalid window.
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
        // A model that cannot begin has failed before its first event.
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
        registry.register_model(Told::default()).expect("a new name");
        let mut selection = registry.model("told").expect("registered");
        assert!(selection.is_custom() && !Selection::from_label("bbr3").expect("listed").is_custom());
        let groups = |name| Selection::from_label(name).expect("listed").forms_groups();
        assert!(!selection.forms_groups() && !groups("bbr3") && !groups("reno") && groups("adaptive"));
        assert!(selection.responds_to_marks(true));
        assert!(!selection.responds_to_marks(false));
        assert_eq!(selection.set("none", Value::Switch(true)), Err(ParameterError::Unknown));
        assert_eq!(selection.set("fails", Value::Switch(true)), Ok(()));
        assert!(registry.model("told").is_some_and(|told| told.is_custom()));
        assert!(registry.model("tolled").is_none());
        let entries: Vec<_> = registry.entries().skip(crate::registry::ENTRIES.len()).collect();
        assert_eq!(entries.len(), 1);
        // It is listed among the models, whichever part it claims to be.
        assert_eq!((entries[0].name, entries[0].part), ("told", Part::Model));
    }

    /// A name is one word that no built-in algorithm has, and its parameters avoid the reserved
    /// words of a scenario.
    #[test]
    fn names_that_are_refused() {
        #[derive(Clone, Debug)]
        struct Named(&'static str, &'static [crate::parameter::Parameter]);
        impl Custom for Named {
            type Part = Told;
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
            assert_eq!(registry.register_model(Named(good, &[])), Ok(()), "{good}");
        }
        let too_long: &'static str = Box::leak(format!("{longest}b").into_boxed_str());
        for bad in ["", "1a", "-a", "_", "A", "aB", "a b", "ä", "aä", too_long] {
            assert_eq!(registry.register_model(Named(bad, &[])), Err(RegistrationError::BadName), "{bad}");
        }
        assert_eq!(registry.register_model(Named("cubic", &[])), Err(RegistrationError::BuiltIn));
        for error in [RegistrationError::BadName, RegistrationError::BuiltIn] {
            assert!(error.to_string().contains("name"));
        }
        // A second registration replaces the first of the same name.
        assert_eq!(registry.entries().count(), crate::registry::ENTRIES.len() + 3);
        assert_eq!(registry.register_model(Named("a", &[])), Ok(()));
        assert_eq!(registry.entries().count(), crate::registry::ENTRIES.len() + 3);
        assert!(!registry.model("a").expect("registered").responds_to_marks(true), "nothing said: no");
    }

    /// A start that doubles per ACK and paces, and a window algorithm that follows commands.
    #[derive(Clone, Debug)]
    struct Eager;

    impl StartPart for Eager {
        fn grow(&mut self, event: &Acknowledged, state: &mut WindowState) {
            state.cwnd += 2.0 * state.segments(event.size);
        }
        fn pacing(&self, _state: &WindowState) -> Option<Pacing> {
            Some(Pacing { interval: Duration::ZERO, size: Bytes(1000), tick: Duration::ZERO })
        }
    }

    impl Custom for Eager {
        type Part = Self;
        fn entry(&self) -> Entry {
            Entry { name: "eager", ..Entry::START }
        }
        fn set(&mut self, _name: &str, _value: Value<'_>) -> Result<(), ParameterError> {
            Err(ParameterError::Unknown)
        }
        fn build(&self) -> Self {
            self.clone()
        }
    }

    #[derive(Clone, Debug)]
    struct Obedient(f64);

    impl WindowPart for Obedient {
        fn grow(&mut self, _event: &Acknowledged, state: &mut WindowState) {
            state.cwnd = self.0;
        }
        fn on_loss(&mut self, _event: &LossDetected, state: &mut WindowState) {
            (state.cwnd, state.ssthresh) = (5.0, 5.0);
        }
        fn on_timeout(&mut self, _event: &Timeout, _state: &mut WindowState) {}
    }

    impl Custom for Obedient {
        type Part = Self;
        fn entry(&self) -> Entry {
            Entry { name: "obedient", ..Entry::WINDOW }
        }
        fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), ParameterError> {
            let ("cwnd", Value::Number(cwnd)) = (name, value) else { return Err(ParameterError::Unknown) };
            self.0 = cwnd;
            Ok(())
        }
        fn build(&self) -> Self {
            self.clone()
        }
    }

    /// A user-defined start with a built-in window algorithm, the reverse, and both user-defined.
    #[test]
    fn starts_and_windows_combine_freely() {
        let mut registry = Registry::built_in();
        registry.register_start(Eager).expect("a new name");
        registry.register_window(Obedient(33.0)).expect("a new name");
        let own = registry.entries().skip(crate::registry::ENTRIES.len());
        let parts: Vec<_> = own.map(|entry| (entry.name, entry.part)).collect();
        assert_eq!(parts, [("eager", Part::Start), ("obedient", Part::Window)]);
        for (start, window, slow, avoiding) in [
            ("eager", "reno", 12.0, 12.0 + 1.0 / 12.0),
            ("slow-start", "obedient", 11.0, 33.0),
            ("eager", "obedient", 12.0, 33.0),
        ] {
            let selection = registry.parts(start, window).expect("both are there");
            assert!(selection.is_custom() && selection.responds_to_marks(false), "{start} and {window}");
            let mut control = selection.controller(setup());
            control.on_ack(&ack(1000));
            assert_eq!(control.snapshot().cwnd_segments, slow, "{start} and {window}");
            let mut control =
                selection.controller(Setup { initial_window: 12.0, initial_ssthresh: 12.0, ..setup() });
            control.on_ack(&ack(1000));
            assert_eq!(control.snapshot().cwnd_segments, avoiding, "{start} and {window}");
            assert_eq!(control.only_grows(), start == "slow-start");
            let pacing = control.decision().pacing.map(|pacing| pacing.interval.picoseconds());
            assert_eq!(pacing, (start == "eager").then_some(1), "a release takes time");
        }
        let unknown = registry.parts("eager", "obedience").or_else(|| registry.parts("eagle", "obedient"));
        assert!(unknown.is_none());
        assert!(registry.select("eager").is_ok() && Selection::from_label("eager").is_err());
    }

    /// An invalid window stops it, as it stops a model; the start's pacing is no longer consulted.
    #[test]
    fn an_invalid_window_of_a_part_ends_it() {
        let mut registry = Registry::built_in();
        registry.register_start(Eager).expect("a new name");
        registry.register_window(Obedient(33.0)).expect("a new name");
        let mut selection = registry.parts("eager", "obedient").expect("both are there");
        selection.set("cwnd", Value::Number(f64::NAN)).expect("a parameter of the window");
        let mut control = selection.controller(Setup { initial_ssthresh: 5.0, ..setup() });
        assert!(control.decision().pacing.is_some() && control.failure().is_none());
        control.on_ack(&ack(1000));
        assert!(control.failure().is_some_and(|failure| failure.reason.to_string().contains("cwnd")));
        assert_eq!((control.window(), control.decision().pacing), (Bytes(1000), None));
    }
}
