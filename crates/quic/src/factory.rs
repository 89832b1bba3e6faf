//! Controllers of connections, from the name of an algorithm.

use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use selfclock_congestion::entry::{Marks, Need};
use selfclock_congestion::registry::WrittenError;
use selfclock_congestion::{Bytes, Registry, Selection, Setup};

use crate::driver::{Driver, usual_initial_window};
use crate::traces::Traces;

/// A stack's services to an algorithm.
pub trait Stack {
    /// Name in messages.
    const NAME: &'static str;
    /// Why it cannot pace at the controller's rate; `None` if it can.
    const WITHOUT_PACING: Option<&'static str>;
    /// Why it does not report the number of marked packets, as part of a sentence.
    const WITHOUT_COUNTS: &'static str;
}

/// Error of a factory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FactoryError {
    /// The label names no algorithm, or an invalid parameter.
    Written(WrittenError),
    /// The stack does not meet a requirement of the algorithm.
    Refused {
        /// The algorithm.
        label: String,
        /// The stack.
        stack: &'static str,
        /// A requirement, and the reason why the stack does not meet it.
        reason: String,
    },
    /// The initial window is not from 1 to 10 000 segments.
    InitialWindow,
}

impl fmt::Display for FactoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Written(error) => error.fmt(f),
            Self::Refused { label, stack, reason } => write!(f, "{label} cannot run in {stack}: {reason}"),
            Self::InitialWindow => f.write_str("initial window: allowed are 1 to 10000 segments"),
        }
    }
}

impl std::error::Error for FactoryError {}

impl From<WrittenError> for FactoryError {
    fn from(error: WrittenError) -> Self {
        Self::Written(error)
    }
}

/// An algorithm with its parameters, for the connections of a stack `S`: it implements that stack's
/// factory trait.
///
/// ```
/// use selfclock_quic::{Factory, Quinn};
///
/// let factory = Factory::<Quinn>::read("cubic+hystart++")?;
/// let factory = factory.set("beta", 0.8)?.initial_window(20.0)?;
/// assert_eq!(factory.label(), "cubic+hystart++");
/// # Ok::<(), selfclock_quic::FactoryError>(())
/// ```
pub struct Factory<S> {
    selection: Selection,
    /// Initial window in segments; `None` for that of RFC 9002.
    initial_window: Option<f64>,
    seed: u64,
    built: AtomicU64,
    traces: Option<Traces>,
    stack: PhantomData<fn() -> S>,
}

impl<S> fmt::Debug for Factory<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Factory").field("label", &self.label()).finish_non_exhaustive()
    }
}

impl<S: Stack> Factory<S> {
    /// The algorithm of a label with optional settings: `cubic`, `cubic+hystart++:beta=0.8`.
    ///
    /// # Errors
    /// There is no such algorithm or parameter, or the stack does not meet a requirement.
    pub fn read(text: &str) -> Result<Self, FactoryError> {
        Self::new(Registry::built_in().read(text)?)
    }

    /// An algorithm selected elsewhere, such as a user-defined one from a registry.
    ///
    /// # Errors
    /// The stack does not meet a requirement.
    pub fn new(selection: Selection) -> Result<Self, FactoryError> {
        if let Some(reason) = refusal::<S>(&selection) {
            return Err(FactoryError::Refused { label: selection.label(), stack: S::NAME, reason });
        }
        Ok(Self {
            selection,
            initial_window: None,
            seed: 0,
            built: AtomicU64::new(0),
            traces: None,
            stack: PhantomData,
        })
    }

    /// Sets a parameter of the algorithm, in the syntax of a label: `0.8`, `true`, `"25 ms"`.
    ///
    /// # Errors
    /// There is no such parameter, or the value is invalid.
    pub fn set(mut self, name: &str, value: impl fmt::Display) -> Result<Self, FactoryError> {
        self.selection.set_written(name, &value.to_string())?;
        self.selection.check_requirements()?;
        Ok(self)
    }

    /// Initial window in full packets. Default: ten, but at most the larger of 14 720 bytes and
    /// two packets (RFC 9002, section 7.2).
    ///
    /// # Errors
    /// It is not from 1 to 10 000.
    pub fn initial_window(mut self, segments: f64) -> Result<Self, FactoryError> {
        if !(1.0..=10_000.0).contains(&segments) {
            return Err(FactoryError::InitialWindow);
        }
        self.initial_window = Some(segments);
        Ok(self)
    }

    /// Seed of the algorithms' random numbers, together with the number of the connection.
    /// Default: 0.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Records the events of every connection.
    #[must_use]
    pub fn traced(mut self, traces: &Traces) -> Self {
        self.traces = Some(traces.clone());
        self
    }

    /// A new connection, whose packets have this UDP payload.
    pub fn driver(&self, mtu: u16) -> Driver {
        let mtu = u64::from(mtu.max(1));
        let setup = Setup {
            mss: Bytes(mtu),
            // Rates are of UDP payload, as stacks count.
            header: Bytes::ZERO,
            initial_window: self.initial_window.unwrap_or_else(|| usual_initial_window(mtu)),
            seed: self.seed.wrapping_add(self.built.fetch_add(1, Ordering::Relaxed)),
            ..Setup::default()
        };
        Driver::new(&self.selection, setup, self.traces.as_ref())
    }
}

impl<S> Factory<S> {
    /// The label of the algorithm.
    pub fn label(&self) -> String {
        self.selection.label()
    }
}

/// Why the stack cannot run an algorithm.
fn refusal<S: Stack>(selection: &Selection) -> Option<String> {
    let stack = S::NAME;
    if let Some(router) = selection.routers().next() {
        let mechanism = router.mechanism;
        return Some(format!(
            "it needs routers with the mechanism {mechanism}, for which QUIC packets carry nothing"
        ));
    }
    if !selection.partner().is_none() {
        return Some(
            "it needs a partner at the receiver, which replies in TCP options; QUIC has none".to_owned(),
        );
    }
    if selection.marks() == Marks::InProportion {
        let lacking = S::WITHOUT_COUNTS;
        return Some(format!("it needs counts of CE marks on packets with ECT(1), and {stack} {lacking}"));
    }
    selection.needs().find_map(|(_, need)| {
        let what = need.name();
        let why = match need {
            Need::Pacing => S::WITHOUT_PACING?.to_owned(),
            Need::Trains => format!("{stack} sends as soon as the window allows"),
            Need::EveryAck => "QUIC receivers acknowledge every second packet".to_owned(),
            _ => format!("{stack} is not known to provide that"),
        };
        Some(format!("it needs {what}, and {why}"))
    })
}
