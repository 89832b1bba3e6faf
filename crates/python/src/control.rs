//! Algorithms written in Python: their base class, and their representation in a simulation.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyString, PyType};
use selfclock_congestion as congestion;
use selfclock_congestion::custom::Custom;
use selfclock_congestion::decision::Pacing;
use selfclock_congestion::entry::{Entry, InRecovery, Marks};
use selfclock_congestion::failure::Reason;
use selfclock_congestion::parameter::{Kind, Parameter, ParameterError, Value, magnitude};
use selfclock_congestion::part::ModelPart;
use selfclock_congestion::registry::Registry;
use selfclock_congestion::state::{Setup, WindowBefore, WindowState};
use selfclock_congestion::{Bytes, Duration, Rate, Time};

use crate::calls::{self, Method};
use crate::events;

/// Names available to scenarios in this process.
static REGISTRY: Mutex<Registry> = Mutex::new(Registry::built_in());

/// Names available to scenarios in this process.
pub fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Base class of congestion controls written in Python.
///
/// An instance is one connection. `__init__` is called without arguments, and can already read the
/// window and the constants of the connection. Event methods set `cwnd`, `ssthresh` and
/// `pacing_bps`, which otherwise keep their values.
#[pyclass(subclass, frozen, module = "selfclock._core")]
#[derive(Debug)]
pub struct CongestionControl {
    /// Segments.
    cwnd: Number,
    /// Segments.
    ssthresh: Number,
    /// 0: none.
    pacing_bps: Number,
    /// Segments that one ACK may add in slow start.
    slow_start_limit: Number,
    connection: Connection,
    /// Payload of a full segment.
    #[pyo3(get)]
    mss_bytes: Py<PyInt>,
}

/// A number that an instance changes. Not behind a borrow, which every attribute access would
/// check.
#[derive(Debug)]
struct Number(AtomicU64);

impl Number {
    const fn new(value: f64) -> Self {
        Self(AtomicU64::new(value.to_bits()))
    }
    #[inline]
    fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }
    #[inline]
    fn set(&self, value: f64) {
        self.0.store(value.to_bits(), Ordering::Relaxed);
    }
}

/// Constant part.
#[derive(Clone, Copy, Debug)]
struct Connection {
    mss: Bytes,
    header: Bytes,
    receive_window: Bytes,
    selective_acks: bool,
    byte_counting: bool,
    slow_start_limit: f64,
    seed: u64,
}

thread_local! {
    /// Initial state of the next instance.
    static BEGINS_WITH: Cell<Option<(f64, f64, Connection)>> = const { Cell::new(None) };
}

/// An assigned number, or an error that shows it.
fn number(name: &str, what: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    let number = if value.is_instance_of::<PyBool>() { None } else { value.extract::<f64>().ok() };
    number.ok_or_else(|| PyTypeError::new_err(format!("{name} = {}: {what}", shown(value))))
}

/// A value for a message, shortened.
fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| value.get_type().to_string(), |repr| repr.to_string());
    if text.chars().count() > 80 { text.chars().take(79).chain(['…']).collect() } else { text }
}

const SEGMENTS: &str = "a window is a number of segments from 0";
const RATE: &str = "a pacing rate is a number of bit/s above 0, or None";

#[pymethods]
impl CongestionControl {
    #[new]
    fn new(py: Python<'_>) -> Self {
        let (cwnd, ssthresh, connection) = BEGINS_WITH.take().unwrap_or_else(|| {
            let (mss, header, receive_window) = (Bytes(1448), Bytes(52), Bytes::MAX);
            let connection = Connection {
                mss,
                header,
                receive_window,
                selective_acks: true,
                byte_counting: true,
                slow_start_limit: f64::INFINITY,
                seed: 0,
            };
            (1.0, f64::INFINITY, connection)
        });
        let (cwnd, ssthresh, pacing_bps) = (Number::new(cwnd), Number::new(ssthresh), Number::new(0.0));
        let slow_start_limit = Number::new(connection.slow_start_limit);
        let mss_bytes = PyInt::new(py, connection.mss.get()).unbind();
        Self { cwnd, ssthresh, pacing_bps, slow_start_limit, connection, mss_bytes }
    }

    /// Congestion window in segments, fractional. Clamped to 1 to 1e9.
    #[getter]
    fn cwnd(&self) -> f64 {
        self.cwnd.get()
    }
    #[setter]
    fn set_cwnd(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let segments = number("cwnd", SEGMENTS, value)?;
        if !(0.0..f64::INFINITY).contains(&segments) {
            return Err(PyValueError::new_err(format!("cwnd = {}: {SEGMENTS}", shown(value))));
        }
        self.cwnd.set(segments);
        Ok(())
    }
    /// The congestion window in bytes.
    #[getter]
    fn cwnd_bytes(&self) -> f64 {
        self.cwnd.get() * self.connection.mss.get() as f64
    }
    #[setter]
    fn set_cwnd_bytes(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        const BYTES: &str = "a window is a number of bytes from 0";
        let bytes = number("cwnd_bytes", BYTES, value)?;
        if !(0.0..f64::INFINITY).contains(&bytes) {
            return Err(PyValueError::new_err(format!("cwnd_bytes = {}: {BYTES}", shown(value))));
        }
        self.cwnd.set(bytes / self.connection.mss.get() as f64);
        Ok(())
    }
    /// Slow start threshold in segments, at least two; infinite without one.
    #[getter]
    fn ssthresh(&self) -> f64 {
        self.ssthresh.get()
    }
    #[setter]
    fn set_ssthresh(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let segments = number("ssthresh", SEGMENTS, value)?;
        if !(0.0..=f64::INFINITY).contains(&segments) {
            return Err(PyValueError::new_err(format!("ssthresh = {}: {SEGMENTS}", shown(value))));
        }
        self.ssthresh.set(segments);
        Ok(())
    }
    /// Pacing rate on the wire, bit/s; `None` without pacing.
    #[getter]
    fn pacing_bps(&self) -> Option<f64> {
        let rate = self.pacing_bps.get();
        (rate > 0.0).then_some(rate)
    }
    #[setter]
    fn set_pacing_bps(&self, value: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        self.pacing_bps.set(match value {
            None => 0.0,
            Some(value) => {
                let rate = number("pacing_bps", RATE, value)?;
                if !(rate > 0.0 && rate < f64::INFINITY) {
                    return Err(PyValueError::new_err(format!("pacing_bps = {}: {RATE}", shown(value))));
                }
                rate
            }
        });
        Ok(())
    }
    /// Whether cwnd is below ssthresh.
    #[getter]
    fn in_slow_start(&self) -> bool {
        self.cwnd.get() < self.ssthresh.get()
    }
    /// TCP and IP headers with constant options of a segment, in bytes.
    #[getter]
    fn header_bytes(&self) -> u64 {
        self.connection.header.get()
    }
    /// Advertised window in bytes; `None` without a limit.
    #[getter]
    fn receive_window_bytes(&self) -> Option<u64> {
        events::limited(self.connection.receive_window)
    }
    /// Whether the receiver sends SACK blocks.
    #[getter]
    fn selective_acks(&self) -> bool {
        self.connection.selective_acks
    }
    /// Seed for `random.Random`, derived from the run's seed and unique to this connection.
    #[getter]
    fn seed(&self) -> u64 {
        self.connection.seed
    }
    /// Converts bytes to full segments.
    fn segments(&self, size_bytes: f64) -> f64 {
        size_bytes / self.connection.mss.get() as f64
    }

    /// Increase of the window by an ACK of this size in slow start: the segments acknowledged, at
    /// most one; with the transport's `byte_counting` without limit, as in Linux, except after an
    /// RTO until what was outstanding is acknowledged. Ends at ssthresh.
    fn slow_start_step(&self, size_bytes: f64) -> f64 {
        let room = (self.ssthresh.get() - self.cwnd.get()).max(1.0);
        self.segments(size_bytes).min(self.slow_start_limit.get()).min(room)
    }
    /// Weight of an ACK of this size in congestion avoidance, where Reno adds 1/cwnd each: the
    /// segments acknowledged, without the transport's `byte_counting` at most one.
    fn counted(&self, size_bytes: f64) -> f64 {
        let segments = self.segments(size_bytes);
        if self.connection.byte_counting { segments } else { segments.min(1.0) }
    }

    /// The handshake is complete, and no data has left. Not called without a handshake.
    #[expect(unused_variables, clippy::unused_self, reason = "a derived class has a use for it")]
    fn on_established(&self, event: &events::Established) {}
    /// Data is about to leave after a pause. The window is kept unless this changes it.
    #[expect(unused_variables, clippy::unused_self, reason = "a derived class has a use for it")]
    fn on_resumed(&self, event: &events::Resumed) {}
    /// A segment left.
    #[expect(unused_variables, clippy::unused_self, reason = "a derived class has a use for it")]
    fn on_sent(&self, event: &events::Sent) {}
    /// A cumulative ACK advanced.
    #[expect(unused_variables, clippy::unused_self, reason = "a derived class has a use for it")]
    fn on_ack(&self, event: &events::Acknowledged) {}
    /// A duplicate ACK arrived.
    #[expect(unused_variables, clippy::unused_self, reason = "a derived class has a use for it")]
    fn on_duplicate_ack(&self, event: &events::DuplicateAck) {}
    /// A loss was detected. It never raises the window.
    #[expect(unused_variables, clippy::unused_self, reason = "a derived class has a use for it")]
    fn on_loss(&self, event: &events::LossDetected) {}
    /// The receiver echoed a CE mark. It never raises the window.
    #[expect(unused_variables, clippy::unused_self, reason = "a derived class has a use for it")]
    fn on_ecn_echo(&self, event: &events::EcnEcho) {}
    /// The retransmission timer expired (RTO): afterwards the window is one segment.
    #[expect(unused_variables, clippy::unused_self, reason = "a derived class has a use for it")]
    fn on_timeout(&self, event: &events::Timeout) {}
    /// Fast recovery is complete.
    #[expect(unused_variables, clippy::unused_self, reason = "a derived class has a use for it")]
    fn on_recovery_ended(&self, event: &events::RecoveryEnded) {}
    /// The last loss or RTO was spurious. `cwnd` and `ssthresh` are at least at their earlier
    /// values.
    #[expect(unused_variables, clippy::unused_self, reason = "a derived class has a use for it")]
    fn on_spurious_loss(&self, event: &events::SpuriousLoss) {}
}

/// The events that a class handles; others need no call.
#[derive(Clone, Copy, Debug)]
struct Heard {
    established: bool,
    sent: bool,
    duplicate_ack: bool,
    ecn_echo: bool,
    recovery_ended: bool,
    spurious_loss: bool,
    resumed: bool,
}

/// A registered class.
struct Class {
    class: Py<PyType>,
    entry: Entry,
    heard: Heard,
    wants_rate_samples: bool,
    /// For [`calls::during`].
    number: usize,
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

/// All inputs of a run, including the code, by which sweeps identify runs.
impl fmt::Debug for PythonAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Class { entry, code, .. } = &*self.class;
        f.debug_tuple(entry.name).field(&self.values).field(code).finish()
    }
}

impl Custom for PythonAlgorithm {
    type Part = PythonModel;

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
            (Kind::Count, Value::Count(count)) => Value::Count(count),
            (Kind::Packets, Value::Packets(packets)) => Value::Packets(packets),
            (Kind::Choice(words), Value::Choice(chosen)) => {
                let word = words.iter().copied().find(|word| *word == chosen);
                Value::Choice(word.ok_or(ParameterError::WrongKind(kind))?)
            }
            _ => return Err(ParameterError::WrongKind(kind)),
        };
        self.values[index] = kept;
        Ok(())
    }
    fn build(&self) -> PythonModel {
        PythonModel { algorithm: self.clone(), object: None, pacing: None, failure: None, size: None }
    }
}

/// A connection whose algorithm is an instance of a Python class.
struct PythonModel {
    algorithm: PythonAlgorithm,
    object: Option<Py<CongestionControl>>,
    pacing: Option<Pacing>,
    failure: Option<Reason>,
    /// Bytes acknowledged by the last ACK.
    size: Option<(u64, Py<PyInt>)>,
}

impl fmt::Debug for PythonModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PythonModel").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

impl Clone for PythonModel {
    /// Copies attributes by `copy.deepcopy`; if that fails, the copy fails at its next event.
    fn clone(&self) -> Self {
        let copied =
            self.object.as_ref().map(|object| Python::attach(|py| copy(object.bind(py)))).transpose();
        let (object, failure) = match copied {
            Ok(object) => (object, self.failure.clone()),
            Err(error) => (None, Some(reason(error))),
        };
        Self { algorithm: self.algorithm.clone(), object, pacing: self.pacing, failure, size: None }
    }
}

fn reason(error: PyErr) -> Reason {
    Arc::new(error)
}

/// An instance of a class with this window, threshold and connection, before its `__init__` is
/// called.
fn instance<'py>(
    class: &Bound<'py, PyType>,
    begins_with: (f64, f64, Connection),
) -> PyResult<Bound<'py, CongestionControl>> {
    BEGINS_WITH.set(Some(begins_with));
    let object = class.call_method1(intern!(class.py(), "__new__"), (class,))?;
    Ok(object.cast_into::<CongestionControl>()?)
}

/// `object.name(argument)`. Restricted to the stable ABI of Python 3.11, PyO3 makes a bound method
/// and a tuple for each call.
#[allow(unsafe_code)]
fn call_method<'py>(
    object: &Bound<'py, CongestionControl>,
    name: &Bound<'py, PyString>,
    argument: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let end = std::ptr::null_mut::<ffi::PyObject>();
    // SAFETY: all three outlive the call, a null ends the arguments, and the result is owned, or
    // null with an exception set.
    unsafe {
        let returned =
            ffi::PyObject_CallMethodObjArgs(object.as_ptr(), name.as_ptr(), argument.as_ptr(), end);
        Bound::from_owned_ptr_or_err(object.py(), returned)
    }
}

fn copy(object: &Bound<'_, CongestionControl>) -> PyResult<Py<CongestionControl>> {
    let py = object.py();
    let own = object.get();
    let copied = instance(&object.get_type(), (own.cwnd.get(), own.ssthresh.get(), own.connection))?;
    copied.get().pacing_bps.set(own.pacing_bps.get());
    let attributes = object.getattr(intern!(py, "__dict__"))?;
    let attributes = py.import(intern!(py, "copy"))?.call_method1(intern!(py, "deepcopy"), (attributes,))?;
    copied.getattr(intern!(py, "__dict__"))?.call_method1(intern!(py, "update"), (attributes,))?;
    Ok(copied.unbind())
}

impl PythonModel {
    fn begin_in_python(&mut self, py: Python<'_>, setup: &Setup, state: &WindowState) -> PyResult<()> {
        let Class { class, entry, .. } = &*self.algorithm.class;
        let connection = Connection {
            mss: setup.mss,
            header: setup.header,
            receive_window: setup.receive_window,
            selective_acks: setup.selective_acks,
            byte_counting: setup.byte_counting,
            slow_start_limit: state.slow_start_limit,
            seed: setup.seed,
        };
        let object = instance(class.bind(py), (state.cwnd, state.ssthresh, connection))?;
        for (parameter, value) in entry.parameters.iter().zip(&self.algorithm.values) {
            match *value {
                Value::Switch(on) => object.setattr(parameter.name, on),
                Value::Number(number) => object.setattr(parameter.name, number),
                Value::Duration(span) => object.setattr(parameter.name, span.seconds()),
                Value::Bytes(size) => object.setattr(parameter.name, size.get()),
                Value::Count(number) | Value::Packets(number) => object.setattr(parameter.name, number),
                Value::Rate(rate) => object.setattr(parameter.name, rate.bits_per_second()),
                Value::Choice(word) => object.setattr(parameter.name, word),
                Value::Several(words) => object.setattr(parameter.name, words),
                Value::Counts(counts) => object.setattr(parameter.name, counts.as_slice().to_vec()),
            }?;
        }
        let init = || object.call_method0(intern!(py, "__init__"));
        calls::during(self.algorithm.class.number, Method::Init, Time::ZERO, init)?;
        self.object = Some(object.unbind());
        Ok(())
    }

    /// Size of an ACK as a Python object, reused while it stays the same.
    fn size_bytes(&mut self, py: Python<'_>, bytes: u64) -> Py<PyInt> {
        match &self.size {
            Some((known, size)) if *known == bytes => size.clone_ref(py),
            _ => {
                let size = PyInt::new(py, bytes).unbind();
                self.size = Some((bytes, size.clone_ref(py)));
                size
            }
        }
    }

    /// Calls the method of an event and applies the values it sets.
    fn tell<'py>(
        &mut self,
        state: &mut WindowState,
        (method, name): (Method, &Bound<'py, PyString>),
        now: Time,
        event: PyResult<Bound<'py, PyAny>>,
    ) {
        let Some(object) = &self.object else { return };
        let object = object.bind(name.py());
        let call = || -> PyResult<()> {
            let own = object.get();
            own.cwnd.set(state.cwnd);
            own.ssthresh.set(state.ssthresh);
            own.slow_start_limit.set(state.slow_start_limit);
            let event = event?;
            let call = || call_method(object, name, &event);
            let returned = calls::during(self.algorithm.class.number, method, now, call)?;
            if !returned.is_none() {
                let (class, returned) = (object.get_type().name()?, shown(&returned));
                return Err(PyTypeError::new_err(format!(
                    "{class}.{name} returned {returned}: an event returns nothing; set self.cwnd, self.ssthresh and \
                     self.pacing_bps"
                )));
            }
            (state.cwnd, state.ssthresh) = (own.cwnd.get(), own.ssthresh.get());
            let paced = |rate| Pacing::at_wire_rate(rate, state.full_segment_on_wire());
            self.pacing = own.pacing_bps().map(paced);
            Ok(())
        };
        if let Err(error) = call() {
            self.failure = Some(reason(error));
        }
    }
}

/// Passes an event to the Python object: number and name of the method, the event, its Python
/// class.
macro_rules! tell {
    ($self:ident, $state:ident, $method:ident $name:literal, $event:ident $class:ident) => {
        Python::attach(|py| {
            let event = Bound::new(py, events::$class { event: *$event }).map(Bound::into_any);
            $self.tell($state, (Method::$method, intern!(py, $name)), $event.now, event);
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
    fn owns_window_in_recovery(&self) -> bool {
        self.algorithm.class.entry.recovery == InRecovery::Algorithm
    }
    fn on_established(&mut self, event: &congestion::Established, state: &mut WindowState) {
        if self.algorithm.class.heard.established {
            tell!(self, state, Established "on_established", event Established);
        }
    }
    fn on_ack(&mut self, event: &congestion::Acknowledged, state: &mut WindowState) {
        Python::attach(|py| {
            let told = events::Acknowledged {
                event: *event,
                size_bytes: self.size_bytes(py, event.size.get()),
                window_limited: PyBool::new(py, event.window_limited).to_owned().unbind(),
                recovering: PyBool::new(py, event.recovering).to_owned().unbind(),
            };
            let told = Bound::new(py, told).map(Bound::into_any);
            self.tell(state, (Method::Ack, intern!(py, "on_ack")), event.now, told);
        });
    }
    fn on_duplicate_ack(&mut self, event: &congestion::DuplicateAck, state: &mut WindowState) {
        if self.algorithm.class.heard.duplicate_ack {
            tell!(self, state, DuplicateAck "on_duplicate_ack", event DuplicateAck);
        }
    }
    fn on_loss(&mut self, event: &congestion::LossDetected, state: &mut WindowState) {
        tell!(self, state, Loss "on_loss", event LossDetected);
    }
    fn on_ecn_echo(&mut self, event: &congestion::EcnEcho, state: &mut WindowState) {
        if self.algorithm.class.heard.ecn_echo {
            tell!(self, state, EcnEcho "on_ecn_echo", event EcnEcho);
        }
    }
    fn on_timeout(&mut self, event: &congestion::Timeout, state: &mut WindowState) {
        tell!(self, state, Timeout "on_timeout", event Timeout);
    }
    fn on_recovery_ended(&mut self, event: &congestion::RecoveryEnded, state: &mut WindowState) {
        if self.algorithm.class.heard.recovery_ended {
            tell!(self, state, RecoveryEnded "on_recovery_ended", event RecoveryEnded);
        }
    }
    fn on_spurious_loss(
        &mut self,
        event: &congestion::SpuriousLoss,
        before: &WindowBefore,
        state: &mut WindowState,
    ) {
        state.restore(before);
        if self.algorithm.class.heard.spurious_loss {
            tell!(self, state, SpuriousLoss "on_spurious_loss", event SpuriousLoss);
        }
    }
    fn on_resumed(&mut self, event: &congestion::Resumed, state: &mut WindowState) {
        if self.algorithm.class.heard.resumed {
            tell!(self, state, Resumed "on_resumed", event Resumed);
        }
    }
    fn on_sent(&mut self, event: &congestion::Sent, state: &mut WindowState) {
        if self.algorithm.class.heard.sent {
            tell!(self, state, Sent "on_sent", event Sent);
        }
    }
    fn pacing(&self, _state: &WindowState) -> Option<Pacing> {
        self.pacing
    }
    fn sets_window_alone(&self) -> bool {
        self.pacing.is_none() && !self.algorithm.class.heard.sent
    }
    fn failure(&mut self) -> Option<Reason> {
        self.failure.take()
    }
}

/// A parameter as declared in Python: name, meaning, unit, default, allowed words, smallest and
/// largest number, source. The kind follows from the default and the unit.
type Declared<'py> = (String, String, String, Bound<'py, PyAny>, Vec<String>, (f64, f64), String);

/// Leaks a text for the life of the process, as the registry requires: a few hundred bytes per
/// registered class.
pub fn kept(text: String) -> &'static str {
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
    Ok((Parameter { name, about, unit, kind, default: kept(shown), source, range, requires: None }, value))
}

/// Registers a class that derives from `CongestionControl` under a name. `selfclock.custom` has
/// checked it.
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
        spurious_loss: heard("on_spurious_loss")?,
        resumed: heard("on_resumed")?,
    };
    let declared = |attribute: &str| match own.getattr_opt(attribute)? {
        Some(value) => value.is_truthy(),
        None => Ok(false),
    };
    let wants_rate_samples = declared("wants_rate_samples")?;
    let owns_window_in_recovery = declared("owns_window_in_recovery")?;
    let declared: PyResult<Vec<_>> = parameters.into_iter().map(parameter).collect();
    let (parameters, values): (Vec<Parameter>, Vec<Value<'static>>) = declared?.into_iter().unzip();
    let entry = Entry {
        name: kept(name),
        about: kept(about),
        source: kept(source),
        parameters: Box::leak(parameters.into_boxed_slice()),
        marks: if heard.ecn_echo { Marks::Once } else { Marks::Ignored },
        recovery: if owns_window_in_recovery { InRecovery::Algorithm } else { InRecovery::Transport },
        ..Entry::MODEL
    };
    let number = calls::number_of(entry.name);
    let class = Arc::new(Class { class: own.unbind(), entry, heard, wants_rate_samples, number, code });
    let algorithm = PythonAlgorithm { class, values };
    registry().register_model(algorithm).map_err(|error| PyValueError::new_err(error.to_string()))
}
