//! Events and answers of real connections in a file, and their replay.
//!
//! The file starts with `selfkern`, the version, the algorithm and its parameters (the head of a
//! [trace](selfclock_congestion::trace)) and a text that says where the record was made. Each event
//! is a record: the slot, a mask of the fields that differ from the slot's previous record, and the
//! differences, zigzag-coded, seven bits a byte. An end mark with the number of events closes the
//! file: without it the file is incomplete.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

use selfclock_congestion::composition::Composition;
use selfclock_congestion::trace::{Reader as TraceReader, Recorder, TraceError};
use selfclock_congestion::{Controller, Registry, Selection, Setup};

use crate::bridge::{Answer, Block, Bridge, Flow, NO_THRESHOLD};
use crate::event::{KernelEvent, kind};
use crate::phase::{Phases, phase};

const MAGIC: &[u8; 8] = b"selfkern";
/// Version of the format; changes with the fields of an event.
pub const VERSION: u8 = 1;
/// End mark, in the place of a slot.
const END: u64 = u32::MAX as u64 + 1;
const FIELDS: usize = KernelEvent::FIELDS + Answer::FIELDS;
const _: () = assert!(FIELDS <= 64, "the mask has 64 bits");

type Fields = [u64; FIELDS];

/// One event, and its answer if it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The event.
    pub event: KernelEvent,
    /// The answer; `None` for kinds of events without one.
    pub answer: Option<Answer>,
}

/// Why a log could not be read, or was not replayed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LogError {
    /// The file does not begin like a log.
    NotALog,
    /// The version is not supported.
    Version(u8),
    /// It ends without its end mark, after this many whole events.
    Incomplete(u64),
    /// This event is of no connection: too many bytes acknowledged, or too large segments.
    Impossible(u64),
    /// The head does not describe a known algorithm.
    Algorithm(TraceError),
    /// An answer differs from the one on record.
    Differs(Box<Difference>),
    /// A segment left with other options than the algorithm gives it: the number of the event, the
    /// options on record, and those given now.
    OtherOptions(u64, Block, Block),
}

/// Where a replay differs from its log.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Events up to and including this one.
    pub events: u64,
    /// The event.
    pub event: KernelEvent,
    /// The answer on record.
    pub recorded: Option<Answer>,
    /// The answer now.
    pub answered: Option<Answer>,
    /// The preceding answer of this connection, on record and now.
    pub before: Option<Answer>,
    /// State of the replay's algorithm after the event.
    pub state: String,
    /// State of the log's algorithm, if another one was replayed.
    pub recorded_state: Option<String>,
}

/// An answer in words.
fn written(answer: Option<&Answer>) -> String {
    let Some(Answer { cwnd, ssthresh, pacing, flags, slope }) = answer else { return "nothing".to_owned() };
    let threshold =
        if *ssthresh == NO_THRESHOLD { "none".to_owned() } else { format!("{ssthresh} segments") };
    let pacing = if *pacing == 0 { "none".to_owned() } else { format!("{pacing} B/s") };
    format!(
        "window {cwnd} segments, threshold {threshold}, pacing {pacing}, flags {flags}, slope {:.4}",
        f64::from(*slope) / 65536.0
    )
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let KernelEvent { id, number, .. } = self.event;
        writeln!(
            f,
            "event {}, number {number} of flow {id}, is answered otherwise than on record",
            self.events
        )?;
        writeln!(f, "  before, both: {}", written(self.before.as_ref()))?;
        writeln!(f, "  on record:    {}", written(self.recorded.as_ref()))?;
        writeln!(f, "  replayed:     {}", written(self.answered.as_ref()))?;
        writeln!(f, "  event:        {:?}", self.event)?;
        if let Some(state) = &self.recorded_state {
            writeln!(f, "  state of the algorithm on record: {state}")?;
        }
        write!(f, "  state of the algorithm replayed:  {}", self.state)
    }
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotALog => f.write_str("this is no record of kernel events"),
            Self::Version(version) => {
                write!(f, "the record is of version {version}; this program reads version {VERSION}")
            }
            Self::Incomplete(events) => write!(f, "the record ends in the middle, after {events} events"),
            Self::Impossible(event) => write!(
                f,
                "event {event} of the record is of no connection, which acknowledges at most {MOST_BYTES} \
                 bytes in segments of at most {MOST_MSS}"
            ),
            Self::Algorithm(error) => write!(f, "the algorithm of the record: {error}"),
            Self::Differs(difference) => difference.fmt(f),
            Self::OtherOptions(events, recorded, now) => {
                write!(
                    f,
                    "event {events}: on record a segment left with {recorded:?}; now it is given {now:?}"
                )
            }
        }
    }
}

impl std::error::Error for LogError {}

fn write_number(out: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn read_number(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = from.split_first()?;
        *from = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

const fn zigzag(difference: u64) -> u64 {
    (difference << 1) ^ ((difference as i64 >> 63) as u64)
}

const fn unzigzag(coded: u64) -> u64 {
    (coded >> 1) ^ (coded & 1).wrapping_neg()
}

/// Fields of the last record, by slot.
#[derive(Clone, Debug, Default)]
struct Before(BTreeMap<u32, Fields>);

impl Before {
    fn of(&mut self, slot: u32) -> &mut Fields {
        self.0.entry(slot).or_insert([0; FIELDS])
    }
}

/// An algorithm and its parameters, as a log begins with them.
pub fn head(selection: &Selection) -> Vec<u8> {
    Recorder::new(selection, Setup::default()).finish()
}

/// Writes a log.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    before: Before,
    events: u64,
    buffer: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Starts a log of connections under this algorithm. `about` says where it was made.
    pub fn new(out: W, selection: &Selection, about: &str) -> io::Result<Self> {
        Self::with_head(out, &head(selection), about)
    }

    /// Starts a log of connections under the algorithm of this [`head`].
    pub fn with_head(mut out: W, algorithm: &[u8], about: &str) -> io::Result<Self> {
        let mut buffer = MAGIC.to_vec();
        buffer.push(VERSION);
        for part in [algorithm, about.as_bytes()] {
            write_number(&mut buffer, part.len() as u64);
            buffer.extend_from_slice(part);
        }
        out.write_all(&buffer)?;
        Ok(Self { out, before: Before::default(), events: 0, buffer })
    }

    /// Adds an event and its answer.
    pub fn write(&mut self, entry: &Entry) -> io::Result<()> {
        let before = self.before.of(entry.event.slot);
        let fields = fields(entry, before);
        let mut mask = 0_u64;
        for (index, (now, before)) in fields.iter().zip(before.iter()).enumerate() {
            mask |= u64::from(now != before) << index;
        }
        self.buffer.clear();
        write_number(&mut self.buffer, entry.event.slot.into());
        write_number(&mut self.buffer, mask);
        for (now, before) in fields.iter().zip(before.iter()).filter(|(now, before)| now != before) {
            write_number(&mut self.buffer, zigzag(now.wrapping_sub(*before)));
        }
        *before = fields;
        self.events += 1;
        self.out.write_all(&self.buffer)
    }

    /// Writes the end mark. Returns the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.buffer.clear();
        write_number(&mut self.buffer, END);
        write_number(&mut self.buffer, self.events);
        self.out.write_all(&self.buffer)?;
        self.out.flush()?;
        Ok(self.out)
    }
}

fn fields(entry: &Entry, before: &Fields) -> Fields {
    let mut fields = *before;
    let (event, answer) = fields.split_at_mut(KernelEvent::FIELDS);
    event.copy_from_slice(&entry.event.numbers());
    if let Some(own) = entry.answer {
        answer.copy_from_slice(&own.numbers());
    }
    fields
}

/// Eleven years at 100 Gbit/s, and far below an overflow of what is added to it.
const MOST_BYTES: u64 = 1 << 62;
/// The option of the handshake has 16 bits (RFC 9293, section 3.2). A count of bytes then overflows
/// after 65,536 events that each count 2^32 segments, at the earliest.
const MOST_MSS: u32 = u16::MAX as u32;

/// Reads a log: its head first, then entry by entry. An error ends the iteration.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    algorithm: &'a [u8],
    about: &'a str,
    rest: Option<&'a [u8]>,
    before: Before,
    events: u64,
}

impl<'a> Reader<'a> {
    /// Reads the head.
    pub fn new(log: &'a [u8]) -> Result<Self, LogError> {
        let mut rest = log.strip_prefix(MAGIC).ok_or(LogError::NotALog)?;
        let (&version, after) = rest.split_first().ok_or(LogError::NotALog)?;
        if version != VERSION {
            return Err(LogError::Version(version));
        }
        rest = after;
        let mut part = || {
            let length = usize::try_from(read_number(&mut rest)?).ok()?;
            let (part, after) = rest.split_at_checked(length)?;
            rest = after;
            Some(part)
        };
        let (algorithm, about) = part().zip(part()).ok_or(LogError::NotALog)?;
        let about = std::str::from_utf8(about).map_err(|_| LogError::NotALog)?;
        Ok(Self { algorithm, about, rest: Some(rest), before: Before::default(), events: 0 })
    }

    /// The algorithm with its parameters.
    pub fn selection(&self, registry: &Registry) -> Result<Selection, LogError> {
        TraceReader::new(self.algorithm)
            .and_then(|reader| reader.selection(registry))
            .map_err(LogError::Algorithm)
    }

    /// Where it was made.
    pub const fn about(&self) -> &'a str {
        self.about
    }

    fn entry(&mut self, mut rest: &'a [u8]) -> Option<Option<Entry>> {
        let slot = read_number(&mut rest)?;
        if slot == END {
            return (read_number(&mut rest)? == self.events).then_some(None);
        }
        let before = self.before.of(u32::try_from(slot).ok()?);
        let mask = read_number(&mut rest)?;
        let mut fields = *before;
        for (index, field) in fields.iter_mut().enumerate() {
            if mask >> index & 1 != 0 {
                *field = field.wrapping_add(unzigzag(read_number(&mut rest)?));
            }
        }
        *before = fields;
        let (event, answer) = fields.split_first_chunk()?;
        let event = KernelEvent::from_numbers(*event);
        let answer = Answer::from_numbers(*answer.first_chunk()?);
        self.rest = Some(rest);
        self.events += 1;
        Some(Some(Entry { event, answer: kind::is_answered(event.kind).then_some(answer) }))
    }
}

impl Iterator for Reader<'_> {
    type Item = Result<Entry, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest.take()?;
        match self.entry(rest) {
            Some(Some(Entry { event, .. })) if event.bytes_acked > MOST_BYTES || event.mss > MOST_MSS => {
                self.rest = None;
                Some(Err(LogError::Impossible(self.events)))
            }
            Some(entry) => entry.map(Ok),
            None => Some(Err(LogError::Incomplete(self.events))),
        }
    }
}

/// Extent of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// Events replayed.
    pub events: u64,
    /// Answers that were compared, all equal.
    pub answers: u64,
    /// Options of segments that were compared, all equal.
    pub options: u64,
    /// Connections.
    pub flows: u64,
    /// Number of events of each kind.
    pub phases: Phases,
}

fn state<A, M>(bridge: &Bridge<Controller<A>, M>, event: &KernelEvent) -> String
where
    A: Composition + fmt::Debug,
    M: FnMut(Setup) -> Controller<A>,
{
    bridge.flow(event.slot).map_or_else(String::new, |flow| format!("{:?}", flow.control()))
}

/// State of a log's algorithm for a connection after this many events.
fn state_at(registry: &Registry, log: &[u8], events: u64) -> Option<String> {
    let mut reader = Reader::new(log).ok()?;
    let selection = reader.selection(registry).ok()?;
    let mut bridge = Bridge::new(|setup| selection.controller(setup));
    for _ in 1..events {
        bridge.on(&reader.next()?.ok()?.event);
    }
    let event = reader.next()?.ok()?.event;
    bridge.on(&event);
    Some(state(&bridge, &event))
}

/// Replays the events of a log through new connections under `other`, or the algorithm of the log,
/// and compares every answer, bit for bit.
pub fn replay(registry: &Registry, log: &[u8], other: Option<&Selection>) -> Result<Replay, LogError> {
    let own = Reader::new(log)?.selection(registry);
    let selection = match other {
        Some(other) => other.clone(),
        None => own?,
    };
    let bridge = Bridge::new(|setup| selection.controller(setup)).with_partner(selection.partner());
    let mut done = replay_through(log, bridge, other.is_none());
    if let Err(LogError::Differs(difference)) = &mut done
        && other.is_some()
    {
        difference.recorded_state = state_at(registry, log, difference.events);
    }
    done
}

/// Replays the events of a log through new connections of the algorithm that `make` makes, and
/// compares every answer, bit for bit.
pub fn replay_under<A: Composition + fmt::Debug>(
    log: &[u8],
    make: impl FnMut(Setup) -> Controller<A>,
) -> Result<Replay, LogError> {
    replay_through(log, Bridge::new(make), true)
}

fn replay_through<A, M>(
    log: &[u8],
    mut bridge: Bridge<Controller<A>, M>,
    compares_options: bool,
) -> Result<Replay, LogError>
where
    A: Composition + fmt::Debug,
    M: FnMut(Setup) -> Controller<A>,
{
    let mut done = Replay::default();
    let mut last = BTreeMap::new();
    for entry in Reader::new(log)? {
        let Entry { event, answer: recorded } = entry?;
        let (answered, _) = bridge.on(&event);
        let before = answered.and_then(|answer| last.insert(event.slot, answer));
        done.events += 1;
        *done.phases.entry(phase(&event)).or_default() += 1;
        done.answers += u64::from(answered.is_some());
        if answered != recorded {
            let (events, state) = (done.events, state(&bridge, &event));
            let difference =
                Difference { events, event, recorded, answered, before, state, recorded_state: None };
            return Err(LogError::Differs(Box::new(difference)));
        }
        if let Some(given) = bridge.wrote(&event).filter(|_| compares_options) {
            let recorded = Block::reported(&event);
            if recorded != given {
                return Err(LogError::OtherOptions(done.events, recorded, given));
            }
            done.options += 1;
        }
    }
    done.flows = bridge.counts().flows;
    Ok(done)
}

/// Replays the events of a log and hands over every connection as a
/// [trace](selfclock_congestion::trace), with its last event.
pub fn traces(
    registry: &Registry,
    log: &[u8],
    mut take: impl FnMut(KernelEvent, Vec<u8>),
) -> Result<(), LogError> {
    let reader = Reader::new(log)?;
    let selection = reader.selection(registry)?;
    let mut bridge = Bridge::new(|setup| Recorder::new(&selection, setup));
    let mut over = |flow: Flow<Recorder>| {
        let last = *flow.last();
        take(last, flow.into_control().finish());
    };
    for entry in reader {
        bridge.on(&entry?.event).1.map(&mut over);
    }
    bridge.into_flows().for_each(over);
    Ok(())
}
