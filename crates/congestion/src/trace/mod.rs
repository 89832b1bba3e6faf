//! Events and decisions of a connection in a compact file, and their replay.
//!
//! A trace holds the events an algorithm received, the queries it was asked, and its answers.
//! [`replay`] repeats events and queries on a new connection and requires the same answers, to the
//! bit: a test of an algorithm against an earlier version of itself, and of an adapter (a QUIC
//! stack, a kernel, a browser) against the simulator.
//!
//! ```
//! use selfclock_congestion::trace::{Recorder, replay};
//! use selfclock_congestion::{Acknowledged, Bytes, Registry, Selection, Setup, Time};
//!
//! let cubic = Selection::from_label("cubic").expect("built in");
//! let mut connection = Recorder::new(&cubic, Setup::default());
//! connection.on(&Acknowledged::new(Time::ZERO, Bytes(1448)).into());
//! let trace = connection.finish();
//! assert_eq!(replay(&Registry::built_in(), &trace).expect("the same").events, 1);
//! ```
//!
//! # Format
//!
//! `selfcc`, the version, then the header: the algorithm's parts by name, the parameters that were
//! set, the [`Setup`]. Then records up to the end: an event, a query with its answer, or a
//! [`Decision`], which follows an event that changed it. Numbers are differences from the
//! last number of the same meaning, zigzag-coded, seven bits a byte.

mod codec;
mod header;
mod record;

use alloc::boxed::Box;
use alloc::vec::Vec;

use codec::{Bytestream, Codec};
use header::Header;
pub use record::{Difference, Record, TraceError, VERSION};

use crate::controller::Controller;
use crate::decision::{Decision, ProbePart};
use crate::event::Event;
use crate::option::PeerOption;
use crate::registry::{Registry, Selection};
use crate::state::Setup;

/// A connection that records its events.
#[derive(Clone, Debug)]
pub struct Recorder {
    control: Controller,
    codec: Codec<'static>,
    decision: Option<Decision>,
}

impl Recorder {
    /// A new connection under this algorithm.
    pub fn new(selection: &Selection, setup: Setup) -> Self {
        let mut codec = Codec::new(Bytestream::Write(Vec::new()));
        let mut header = Header::new(selection, setup);
        codec.written(|codec| codec.header(&mut header));
        Self { control: selection.controller(setup), codec, decision: None }
    }

    /// The connection.
    pub const fn controller(&self) -> &Controller {
        &self.control
    }

    fn write(&mut self, mut record: Record) {
        self.codec.written(|codec| codec.record(&mut record));
    }

    /// Processes an event: see [`Controller::on`].
    pub fn on(&mut self, event: &Event) -> Decision {
        self.control.on(event);
        self.write(Record::Event(*event));
        let decision = self.control.decision();
        if self.decision.replace(decision) != Some(decision) {
            self.write(Record::Decision(decision));
        }
        decision
    }

    /// See [`Controller::option_for_syn`].
    pub fn option_for_syn(&mut self) -> Option<PeerOption> {
        let option = self.control.option_for_syn();
        self.write(Record::OptionForSyn(option));
        option
    }

    /// See [`Controller::option_for`].
    pub fn option_for(&mut self, part: ProbePart) -> Option<PeerOption> {
        let option = self.control.option_for(part);
        self.write(Record::OptionFor(part, option));
        option
    }

    /// Bytes written since the last call, so that a long trace can go to a file piece by piece.
    /// [`Recorder::finish`] then returns the last piece.
    pub fn take(&mut self) -> Vec<u8> {
        match &mut self.codec.bytes {
            Bytestream::Write(bytes) => core::mem::take(bytes),
            Bytestream::Read(_) => Vec::new(),
        }
    }

    /// Number of bytes that [`Recorder::take`] would return.
    pub const fn pending(&self) -> usize {
        match &self.codec.bytes {
            Bytestream::Write(bytes) => bytes.len(),
            Bytestream::Read(_) => 0,
        }
    }

    /// The trace.
    pub fn finish(mut self) -> Vec<u8> {
        self.write(end(&self.control));
        match self.codec.bytes {
            Bytestream::Write(bytes) => bytes,
            Bytestream::Read(_) => Vec::new(),
        }
    }
}

fn end(control: &Controller) -> Record {
    let snapshot = control.snapshot();
    let (cwnd, ssthresh) = (snapshot.cwnd_segments.to_bits(), snapshot.ssthresh_segments.to_bits());
    Record::End { cwnd, ssthresh, phase: snapshot.phase as u8 }
}

/// The records of a trace, in order. An error ends the iteration.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    header: Header,
    codec: Codec<'a>,
}

impl<'a> Reader<'a> {
    /// Reads the header.
    pub fn new(trace: &'a [u8]) -> Result<Self, TraceError> {
        let (mut header, mut codec) = (Header::default(), Codec::new(Bytestream::Read(trace)));
        codec.header(&mut header)?;
        Ok(Self { header, codec })
    }

    /// The algorithm with its parameters.
    pub fn selection(&self, registry: &Registry) -> Result<Selection, TraceError> {
        self.header.selection(registry)
    }

    /// Set-up of the connection.
    pub const fn setup(&self) -> Setup {
        self.header.setup
    }
}

impl Iterator for Reader<'_> {
    type Item = Result<Record, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Bytestream::Read([_, ..]) = self.codec.bytes else { return None };
        let mut record = Record::OptionForSyn(None);
        let read = self.codec.record(&mut record).map(|()| record);
        if read.is_err() {
            self.codec.bytes = Bytestream::Read(&[]);
        }
        Some(read)
    }
}

/// Extent of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replay {
    /// Number of events replayed.
    pub events: u64,
    /// Answers that were compared.
    pub answers: u64,
}

/// Feeds a trace's events to a new connection, and compares every decision.
pub fn replay(registry: &Registry, trace: &[u8]) -> Result<Replay, TraceError> {
    let reader = Reader::new(trace)?;
    replay_with(&reader.selection(registry)?, reader)
}

/// Like [`replay`], with another algorithm than the trace names: the error locates the first
/// different decision.
pub fn replay_as(selection: &Selection, trace: &[u8]) -> Result<Replay, TraceError> {
    replay_with(selection, Reader::new(trace)?)
}

fn replay_with(selection: &Selection, reader: Reader<'_>) -> Result<Replay, TraceError> {
    let mut control = selection.controller(reader.setup());
    let mut done = Replay::default();
    let (mut event, mut decision) = (None, None);
    let mut records = reader.peekable();
    while let Some(record) = records.next() {
        let recorded = record?;
        let answered = match recorded {
            Record::OptionForSyn(_) => Record::OptionForSyn(control.option_for_syn()),
            Record::OptionFor(part, _) => Record::OptionFor(part, control.option_for(part)),
            Record::Decision(recorded) => {
                decision = Some(recorded);
                Record::Decision(control.decision())
            }
            Record::End { .. } => end(&control),
            Record::Event(now) => {
                control.on(&now);
                done.events += 1;
                event = Some(now);
                // Without a following decision, the event has left the last one unchanged.
                if matches!(records.peek(), Some(Ok(Record::Decision(_))))
                    || decision == Some(control.decision())
                {
                    recorded
                } else {
                    Record::Decision(control.decision())
                }
            }
        };
        done.answers += 1;
        if recorded != answered {
            let recorded = match (recorded, decision) {
                (Record::Event(_), Some(decision)) => Record::Decision(decision),
                _ => recorded,
            };
            let events = done.events;
            return Err(TraceError::Differs(Box::new(Difference { events, event, recorded, answered })));
        }
    }
    Ok(done)
}
