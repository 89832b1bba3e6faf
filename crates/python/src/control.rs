//! Algorithms written in Python: the class they derive from, and what stands for one in a simulation.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString, PyType};
use selfclock_congestion as congestion;
use selfclock_congestion::controller::{Setup, WindowState};
use selfclock_congestion::custom::{Custom, Reason};
use selfclock_congestion::event::Pacing;
use selfclock_congestion::model::ModelPart;
use selfclock_congestion::parameter::{Kind, Parameter, ParameterError, Value, magnitude};
use selfclock_congestion::registry::{Entry, Part, Registry};
use selfclock_congestion::{Bytes, Duration, Rate};

use crate::events;

/// What can be named in a scenario in this process.
static REGISTRY: Mutex<Registry> = Mutex::new(Registry::built_in());

/// What can be named in a scenario in this process.
pub fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A congestion control written in Python derives from this.
///
/// An instance is one connection. Before `__init__` is called, without arguments, the window and the constants of the
/// connection are there. An event method sets `cwnd`, `ssthresh` and `pacing_bps`; what it does not set stays.
#[pyclass(subclass, module = "selfclock._core")]
#[derive(Clone, Copy)]
pub struct CongestionControl {
    cwnd: f64,
    ssthresh: f64,
    pacing_bps: Option<f64>,
    mss: Bytes,
    header: Bytes,
    receive_window: Bytes,
    selective_acks: bool,
    seed: u64,
}

/// A number that was assigned, or an error that shows it.
fn number(name: &str, what: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    let number = if value.is_instance_of::<PyBool>() { None } else { value.extract::<f64>().ok() };
    number.ok_or_else(|| PyTypeError::new_err(format!("{name} = {}: {what}", shown(value))))
}

/// A value for a message, not too long.
fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| value.get_type().to_string(), |repr| repr.to_string());
    if text.chars().count() > 80 { text.chars().take(79).chain(['…']).collect() } else { text }
}

const SEGMENTS: &str = "a window is a number of segments from 0";
const RATE: &str = "a pacing rate is a number of bit/s above 0, or None";

#[pymethods]
impl CongestionControl {
    #[new]
    fn new() -> Self {
        // What a connection begins with is filled in before __init__.
        Self {
            cwnd: 1.0,
            ssthresh: f64::INFINITY,
            pacing_bps: None,
            mss: Bytes(1448),
            header: Bytes(52),
            receive_window: Bytes::MAX,
            selective_acks: true,
            seed: 0,
        }
    }

    /// Congestion window in segments, fractional. Held between one segment and 1e9.
    #[getter]
    fn cwnd(&self) -> f64 {
        self.cwnd
    }
    #[setter]
    fn set_cwnd(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let segments = number("cwnd", SEGMENTS, value)?;
        if !(0.0..f64::INFINITY).contains(&segments) {
            return Err(PyValueError::new_err(format!("cwnd = {}: {SEGMENTS}", shown(value))));
        }
        self.cwnd = segments;
        Ok(())
    }
    /// The same in bytes.
    #[getter]
    fn cwnd_bytes(&self) -> f64 {
        self.cwnd * self.mss.get() as f64
    }
    #[setter]
    fn set_cwnd_bytes(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        const BYTES: &str = "a window is a number of bytes from 0";
        let bytes = number("cwnd_bytes", BYTES, value)?;
        if !(0.0..f64::INFINITY).contains(&bytes) {
            return Err(PyValueError::new_err(format!("cwnd_bytes = {}: {BYTES}", shown(value))));
        }
        self.cwnd = bytes / self.mss.get() as f64;
        Ok(())
    }
    /// Slow start threshold in segments; infinite: none. Held at two segments at least.
    #[getter]
    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }
    #[setter]
    fn set_ssthresh(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let segments = number("ssthresh", SEGMENTS, value)?;
        if !(0.0..=f64::INFINITY).contains(&segments) {
            return Err(PyValueError::new_err(format!("ssthresh = {}: {SEGMENTS}", shown(value))));
        }
        self.ssthresh = segments;
        Ok(())
    }
    /// Rate on the wire at which segments are spaced; `None`: acknowledgements are the clock.
    #[getter]
    fn pacing_bps(&self) -> Option<f64> {
        self.pacing_bps
    }
    #[setter]
    fn set_pacing_bps(&mut self, value: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        self.pacing_bps = match value {
            None => None,
            Some(value) => {
                let rate = number("pacing_bps", RATE, value)?;
                if !(rate > 0.0 && rate < f64::INFINITY) {
                    return Err(PyValueError::new_err(format!("pacing_bps = {}: {RATE}", shown(value))));
                }
                Some(rate)
            }
        };
        Ok(())
    }
    /// cwnd is below ssthresh.
    #[getter]
    fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }
    /// Payload of a full segment.
    #[getter]
    fn mss_bytes(&self) -> u64 {
        self.mss.get()
    }
    /// TCP, IP and constant option bytes that a segment has on the wire beside its payload.
    #[getter]
    fn header_bytes(&self) -> u64 {
        self.header.get()
    }
    /// What the receiver advertises; `None`: no limit.
    #[getter]
    fn receive_window_bytes(&self) -> Option<u64> {
        events::limited(self.receive_window)
    }
    /// The receiver reports what has arrived out of order.
    #[getter]
    fn selective_acks(&self) -> bool {
        self.selective_acks
    }
    /// Seed for `random.Random`, of this connection alone: it follows from that of the run.
    #[getter]
    fn seed(&self) -> u64 {
        self.seed
    }
    /// A number of bytes as a number of full segments.
    fn segments(&self, size_bytes: f64) -> f64 {
        size_bytes / self.mss.get() as f64
    }

    /// The handshake is complete, and no data has left. Without a handshake there is no such event.
    #[expect(unused_variables, clippy::unused_self, reason = "a derived class has a use for it")]
    fn on_established(&self, event: &events::Established) {}
    /// A segment left.
    #[expect(unused_variables, clippy::unused_self, reason = "a derived class has a use for it")]
    fn on_sent(&self, event: &events::Sent) {}
    /// An acknowledgement advanced.
    #[expect(unused_variables, clippy::unused_self, reason = "a derived class has a use for it")]
    fn on_ack(&self, event: &events::Acknowledged) {}
    /// An acknowledgement repeated.
    #[expect(unused_variables, clippy::unused_self, reason = "a derived class has a use for it")]
    fn on_duplicate_ack(&self, event: &events::DuplicateAck) {}
    /// A loss was detected. It never raises the window.
    #[expect(unused_variables, clippy::unused_self, reason = "a derived class has a use for it")]
    fn on_loss(&self, event: &events::LossDetected) {}
    /// The receiver echoed a congestion mark. It never raises the window.
    #[expect(unused_variables, clippy::unused_self, reason = "a derived class has a use for it")]
    fn on_ecn_echo(&self, event: &events::EcnEcho) {}
    /// The connection starts again: afterwards the window is one segment.
    #[expect(unused_variables, clippy::unused_self, reason = "a derived class has a use for it")]
    fn on_timeout(&self, event: &events::Timeout) {}
    /// A repair is complete.
    #[expect(unused_variables, clippy::unused_self, reason = "a derived class has a use for it")]
    fn on_recovery_ended(&self, event: &events::RecoveryEnded) {}
}

/// Which events a class has a method for: the others are not worth a call.
#[derive(Clone, Copy, Debug)]
struct Heard {
    established: bool,
    sent: bool,
    duplicate_ack: bool,
    ecn_echo: bool,
    recovery_ended: bool,
}

/// A registered class.
struct Class {
    class: Py<PyType>,
    entry: Entry,
    heard: Heard,
    wants_rate_samples: bool,
    /// Digest of its source.
    code: String,
}

/// A registered class with the parameters chosen for it.
#[derive(Clone)]
struct PythonAlgorithm {
    class: Arc<Class>,
    /// In the order of the class's parameters.
    values: Vec<Value<'static>>,
}

/// All that a run depends on, the code too: a sweep tells runs apart by this.
impl fmt::Debug for PythonAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Class { entry, code, .. } = &*self.class;
        f.debug_tuple(entry.name).field(&self.values).field(code).finish()
    }
}

impl Custom for PythonAlgorithm {
    type Model = PythonModel;

    fn entry(&self) -> Entry {
        self.class.entry
    }
    fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), ParameterError> {
        let parameters = self.class.entry.parameters;
        let index = parameters.iter().position(|parameter| parameter.name == name);
        let index = index.ok_or(ParameterError::Unknown)?;
        let Parameter { kind, range: (low, high), .. } = parameters[index];
        if magnitude(value).is_some_and(|number| !(low..=high).contains(&number)) {
            return Err(ParameterError::OutOfRange(low, high));
        }
        let kept = match (kind, value) {
            (Kind::Switch, Value::Switch(on)) => Value::Switch(on),
            (Kind::Number, Value::Number(number)) => Value::Number(number),
            (Kind::Duration, Value::Duration(span)) => Value::Duration(span),
            (Kind::Bytes, Value::Bytes(size)) => Value::Bytes(size),
            (Kind::Rate, Value::Rate(rate)) => Value::Rate(rate),
            (Kind::Choice(words), Value::Choice(chosen)) => {
                let word = words.iter().copied().find(|word| *word == chosen);
                Value::Choice(word.ok_or(ParameterError::WrongKind(kind))?)
            }
            _ => return Err(ParameterError::WrongKind(kind)),
        };
        self.values[index] = kept;
        Ok(())
    }
    fn responds_to_marks(&self, _accurate: bool) -> bool {
        self.class.heard.ecn_echo
    }
    fn build(&self) -> PythonModel {
        PythonModel { algorithm: self.clone(), object: None, pacing: None, failure: None }
    }
}

/// A connection whose algorithm is an instance of a Python class.
struct PythonModel {
    algorithm: PythonAlgorithm,
    object: Option<Py<CongestionControl>>,
    pacing: Option<Pacing>,
    failure: Option<Reason>,
}

impl fmt::Debug for PythonModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PythonModel").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

impl Clone for PythonModel {
    /// The instance's attributes are copied by `copy.deepcopy`; a copy that cannot be made fails at its next event.
    fn clone(&self) -> Self {
        let copied =
            self.object.as_ref().map(|object| Python::attach(|py| copy(object.bind(py)))).transpose();
        let (object, failure) = match copied {
            Ok(object) => (object, self.failure.clone()),
            Err(error) => (None, Some(reason(error))),
        };
        Self { algorithm: self.algorithm.clone(), object, pacing: self.pacing, failure }
    }
}

fn reason(error: PyErr) -> Reason {
    Arc::new(error)
}

/// An instance of a class, before its `__init__` is called.
fn instance<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, CongestionControl>> {
    let object = class.call_method1(intern!(class.py(), "__new__"), (class,))?;
    Ok(object.cast_into::<CongestionControl>()?)
}

fn copy(object: &Bound<'_, CongestionControl>) -> PyResult<Py<CongestionControl>> {
    let py = object.py();
    let copied = instance(&object.get_type())?;
    *copied.borrow_mut() = *object.borrow();
    let attributes = object.getattr(intern!(py, "__dict__"))?;
    let attributes = py.import(intern!(py, "copy"))?.call_method1(intern!(py, "deepcopy"), (attributes,))?;
    copied.getattr(intern!(py, "__dict__"))?.call_method1(intern!(py, "update"), (attributes,))?;
    Ok(copied.unbind())
}

impl PythonModel {
    fn begin_in_python(&mut self, py: Python<'_>, setup: &Setup, state: &WindowState) -> PyResult<()> {
        let Class { class, entry, .. } = &*self.algorithm.class;
        let object = instance(class.bind(py))?;
        *object.borrow_mut() = CongestionControl {
            cwnd: state.cwnd,
            ssthresh: state.ssthresh,
            pacing_bps: None,
            mss: setup.mss,
            header: setup.header,
            receive_window: setup.receive_window,
            selective_acks: setup.selective_acks,
            seed: setup.seed,
        };
        for (parameter, value) in entry.parameters.iter().zip(&self.algorithm.values) {
            match *value {
                Value::Switch(on) => object.setattr(parameter.name, on),
                Value::Number(number) => object.setattr(parameter.name, number),
                Value::Duration(span) => object.setattr(parameter.name, span.seconds()),
                Value::Bytes(size) => object.setattr(parameter.name, size.get()),
                Value::Rate(rate) => object.setattr(parameter.name, rate.bits_per_second()),
                Value::Choice(word) => object.setattr(parameter.name, word),
            }?;
        }
        object.call_method0(intern!(py, "__init__"))?;
        self.object = Some(object.unbind());
        Ok(())
    }

    /// Calls the method of an event and takes over what it has set.
    fn tell<'py>(
        &mut self,
        state: &mut WindowState,
        method: &Bound<'py, PyString>,
        event: PyResult<Bound<'py, PyAny>>,
    ) {
        let Some(object) = &self.object else { return };
        let object = object.bind(method.py());
        let call = || -> PyResult<()> {
            {
                let mut own = object.borrow_mut();
                (own.cwnd, own.ssthresh) = (state.cwnd, state.ssthresh);
            }
            let returned = object.call_method1(method, (event?,))?;
            if !returned.is_none() {
                let (class, returned) = (object.get_type().name()?, shown(&returned));
                return Err(PyTypeError::new_err(format!(
                    "{class}.{method} returned {returned}: an event returns nothing; set self.cwnd, self.ssthresh and \
                     self.pacing_bps"
                )));
            }
            let own = object.borrow();
            (state.cwnd, state.ssthresh) = (own.cwnd, own.ssthresh);
            self.pacing = own.pacing_bps.map(|rate| Pacing::at_wire_rate(rate, state.full_segment_on_wire()));
            Ok(())
        };
        if let Err(error) = call() {
            self.failure = Some(reason(error));
        }
    }
}

/// Tells the Python object of an event.
macro_rules! tell {
    ($self:ident, $state:ident, $method:literal, $event:expr) => {
        Python::attach(|py| {
            let event = Bound::new(py, $event).map(Bound::into_any);
            $self.tell($state, intern!(py, $method), event);
        })
    };
}

impl ModelPart for PythonModel {
    fn begin(&mut self, setup: &Setup, state: &WindowState) {
        if let Err(error) = Python::attach(|py| self.begin_in_python(py, setup, state)) {
            self.failure = Some(reason(error));
        }
    }
    fn wants_rate_samples(&self) -> bool {
        self.algorithm.class.wants_rate_samples
    }
    fn on_established(&mut self, event: &congestion::Established, state: &mut WindowState) {
        if self.algorithm.class.heard.established {
            tell!(self, state, "on_established", events::Established(*event));
        }
    }
    fn on_ack(&mut self, event: &congestion::Acknowledged, state: &mut WindowState) {
        tell!(self, state, "on_ack", events::Acknowledged(*event));
    }
    fn on_duplicate_ack(&mut self, event: &congestion::DuplicateAck, state: &mut WindowState) {
        if self.algorithm.class.heard.duplicate_ack {
            tell!(self, state, "on_duplicate_ack", events::DuplicateAck(*event));
        }
    }
    fn on_loss(&mut self, event: &congestion::LossDetected, state: &mut WindowState) {
        tell!(self, state, "on_loss", events::LossDetected(*event));
    }
    fn on_ecn_echo(&mut self, event: &congestion::EcnEcho, state: &mut WindowState) {
        if self.algorithm.class.heard.ecn_echo {
            tell!(self, state, "on_ecn_echo", events::EcnEcho(*event));
        }
    }
    fn on_timeout(&mut self, event: &congestion::Timeout, state: &mut WindowState) {
        tell!(self, state, "on_timeout", events::Timeout(*event));
    }
    fn on_recovery_ended(&mut self, event: &congestion::RecoveryEnded, state: &mut WindowState) {
        if self.algorithm.class.heard.recovery_ended {
            tell!(self, state, "on_recovery_ended", events::RecoveryEnded(*event));
        }
    }
    fn on_sent(&mut self, event: &congestion::Sent, state: &mut WindowState) {
        if self.algorithm.class.heard.sent {
            tell!(self, state, "on_sent", events::Sent(*event));
        }
    }
    fn pacing(&self, _state: &WindowState) -> Option<Pacing> {
        self.pacing
    }
    fn failure(&mut self) -> Option<Reason> {
        self.failure.take()
    }
}

/// A parameter as Python declares it: name, meaning, unit, default, allowed words, smallest and largest number, source.
/// The kind follows from the default and the unit.
type Declared<'py> = (String, String, String, Bound<'py, PyAny>, Vec<String>, (f64, f64), String);

/// A text for the life of the process, as the registry wants it. A few hundred bytes for each class that is registered.
fn kept(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

fn parameter(declared: Declared<'_>) -> PyResult<(Parameter, Value<'static>)> {
    let (name, about, unit, default, words, range, source) = declared;
    let (kind, value, shown) = if !words.is_empty() {
        let words: &'static [&'static str] = Box::leak(words.into_iter().map(kept).collect());
        let chosen: String = default.extract()?;
        let chosen = words.iter().copied().find(|word| *word == chosen);
        let chosen = chosen.ok_or_else(|| PyValueError::new_err("the default is not one of the choices"))?;
        (Kind::Choice(words), Value::Choice(chosen), chosen.to_owned())
    } else if let Ok(on) = default.cast::<PyBool>() {
        (Kind::Switch, Value::Switch(on.is_true()), on.is_true().to_string())
    } else {
        let number: f64 = default.extract()?;
        match unit.as_str() {
            "s" => (Kind::Duration, Value::Duration(Duration::from_seconds(number)), format!("{number} s")),
            "B" => (Kind::Bytes, Value::Bytes(Bytes(number as u64)), format!("{number} B")),
            "bit/s" => {
                let rate = Rate::from_bits_per_second(number as u64);
                (Kind::Rate, Value::Rate(rate), format!("{number} bit/s"))
            }
            _ => (Kind::Number, Value::Number(number), format!("{number}")),
        }
    };
    let (name, about, unit, source) = (kept(name), kept(about), kept(unit), kept(source));
    Ok((Parameter { name, about, unit, kind, default: kept(shown), source, range }, value))
}

/// Makes a class that derives from `CongestionControl` known under a name. `selfclock.own` has checked it.
#[pyfunction]
pub fn register(
    own: Bound<'_, PyType>,
    name: String,
    about: String,
    source: String,
    parameters: Vec<Declared<'_>>,
    code: String,
) -> PyResult<()> {
    let py = own.py();
    let base = py.get_type::<CongestionControl>();
    let heard = |method: &str| -> PyResult<bool> { Ok(!own.getattr(method)?.is(&base.getattr(method)?)) };
    let heard = Heard {
        established: heard("on_established")?,
        sent: heard("on_sent")?,
        duplicate_ack: heard("on_duplicate_ack")?,
        ecn_echo: heard("on_ecn_echo")?,
        recovery_ended: heard("on_recovery_ended")?,
    };
    let wants_rate_samples = match own.getattr_opt("wants_rate_samples")? {
        Some(wanted) => wanted.is_truthy()?,
        None => false,
    };
    let declared: PyResult<Vec<_>> = parameters.into_iter().map(parameter).collect();
    let (parameters, values): (Vec<Parameter>, Vec<Value<'static>>) = declared?.into_iter().unzip();
    let entry = Entry {
        name: kept(name),
        part: Part::Model,
        about: kept(about),
        source: kept(source),
        parameters: Box::leak(parameters.into_boxed_slice()),
    };
    let class = Arc::new(Class { class: own.unbind(), entry, heard, wants_rate_samples, code });
    let algorithm = PythonAlgorithm { class, values };
    registry().register(algorithm).map_err(|error| PyValueError::new_err(error.to_string()))
}
