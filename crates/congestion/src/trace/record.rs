//! The entries of a trace, and the errors of reading or replaying one.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use crate::decision::{Decision, ProbePart};
use crate::event::Event;
use crate::option::PeerOption;
use crate::parameter::ParameterError;

/// Version of the format that is written, and the only one that is read.
pub const VERSION: u8 = 2;

/// Why a trace could not be read, or was not replayed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TraceError {
    /// The data does not begin like a trace.
    NotATrace,
    /// The version is not supported.
    Version(u8),
    /// The trace ends inside a record.
    Truncated,
    /// A field has an impossible value.
    Malformed,
    /// The registry has no such algorithm.
    UnknownAlgorithm(String),
    /// The algorithm does not take this parameter.
    Parameter(String, ParameterError),
    /// An answer differs from the one on record.
    Differs(Box<Difference>),
}

/// Where a replay differs from its trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Events up to and including the differing one.
    pub events: u64,
    /// The last event.
    pub event: Option<Event>,
    /// The answer on record.
    pub recorded: Record,
    /// The answer now.
    pub answered: Record,
}

/// One record of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Record {
    /// Something happened.
    Event(Event),
    /// The decision after the previous event, if it changed.
    Decision(Decision),
    /// The option for a SYN.
    OptionForSyn(Option<PeerOption>),
    /// The option for a segment.
    OptionFor(ProbePart, Option<PeerOption>),
    /// The window at the end.
    End {
        /// Congestion window in segments, as the bits of an f64.
        cwnd: u64,
        /// Slow start threshold in segments, as the bits of an f64.
        ssthresh: u64,
        /// Number of the phase.
        phase: u8,
    },
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotATrace => f.write_str("this is no trace"),
            Self::Version(version) => {
                write!(f, "the trace is of version {version}; this program reads version {VERSION}")
            }
            Self::Truncated => f.write_str("the trace ends inside a record"),
            Self::Malformed => f.write_str("the trace has a field with an impossible value"),
            Self::UnknownAlgorithm(name) => write!(f, "unknown algorithm {name:?}"),
            Self::Parameter(name, error) => write!(f, "parameter {name:?}: {error}"),
            Self::Differs(difference) => {
                let Difference { events, event, recorded, answered } = &**difference;
                write!(f, "after {events} events, the last {event:?}: {answered:?}, on record {recorded:?}")
            }
        }
    }
}

impl core::error::Error for TraceError {}
