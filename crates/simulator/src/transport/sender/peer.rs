//! A scripted peer: a test writes what the peer answers, and which segments must leave when.
//!
//! ```text
//! write 15                              # the application writes, in segments
//! 0.100 < synack; > 0:10                # at 0.1 s the handshake ends; segments 0 to 9 leave
//! +0.010 < ack 0 sack 1:2; > 10:11      # 10 ms later: a SACK block, and Limited Transmit
//! +0.200~0.210 > 0:1; cwnd 1            # a timer: at some time in this range
//! 0.500 cwnd 12; ssthresh inf; state open
//! ```
//!
//! A line has a time (absolute, after the line before with `+`, or a range), and clauses:
//!
//! | clause | meaning |
//! |---|---|
//! | `write N` | the application writes N segments (decimals: bytes); without any, it writes all |
//! | `< synack` | the SYN-ACK arrives |
//! | `< ack N [sack A:B,C:D] [win N] [ece] [marked N] [ecr T]` | an ACK up to segment N (below) |
//! | `> A:B [C:D ...] [cwr]` | segments from A to before B leave now, in this order (below) |
//! | `cwnd N`, `ssthresh N` | in whole segments, rounded down, as Linux counts them; `inf` |
//! | `state open\|disorder\|recovery\|loss` | `TCP_CA_Open` and so on, see [`State`] |
//!
//! Segments are numbered from 0 and have 1000 bytes; so byte 3999 is 3.999. Of an ACK, `win` is in
//! segments, `marked` the total of CE-marked segments, and `ecr` the echoed timestamp in seconds.
//! With `>`, nothing else has left since the line before.

use super::tests::{MSS, Rig};
use crate::packet::{Extra, Flags, PacketKind};
use crate::plan::{Activity, Period, Source, Transport};
use crate::record::packets::{PacketEvent, PacketRecord};
use selfclock_congestion::registry::Selection;
use selfclock_congestion::units::{Bytes, Duration, Time};
use std::fmt::Write as _;
use std::str::FromStr;

/// A connection that a script can meet.
pub(super) struct Connection {
    pub control: Selection,
    pub transport: Transport,
}

impl Connection {
    /// The window algorithm of this name after slow start, on a current stack with segments of 1000
    /// bytes and no timestamps, as in packetdrill's scripts.
    pub(super) fn new(window: &str) -> Self {
        let control = Selection::new("slow-start", window).expect("both are built in");
        Self { control, transport: Transport { mss: Bytes(MSS), timestamps: false, ..Transport::modern() } }
    }

    /// With other settings of the transport.
    pub(super) fn with(mut self, change: impl FnOnce(&mut Transport)) -> Self {
        change(&mut self.transport);
        self
    }

    /// Plays a script.
    ///
    /// # Panics
    /// An expectation fails: the message has the script's line.
    #[track_caller]
    pub(super) fn plays(self, script: &str) {
        if let Err(message) = self.play(script) {
            panic!("{message}");
        }
    }

    /// Plays a script, and returns the first failure with its line.
    pub(super) fn play(self, script: &str) -> Result<(), String> {
        let lines = parse(script)?;
        let source = source(&lines);
        let mut play = Play::new(Rig::with(self.control, source, self.transport));
        for line in &lines {
            play.line(line).map_err(|what| {
                format!("line {}: {}\n  {what}\n  so far:{}", line.number, line.text, play.log)
            })?;
        }
        Ok(())
    }
}

/// The states of Linux's `tcpi_ca_state`, as a peer can tell them.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// All is well.
    Open,
    /// Data beyond a gap was acknowledged, and nothing is retransmitted yet.
    Disorder,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until what was then outstanding is acknowledged.
    Loss,
}

// --- the text
// ---------------------------------------------------------------------------------------------

#[derive(Debug)]
enum Clause {
    Write(u64),
    SynAck,
    Ack {
        next: u64,
        sack: Vec<(u64, u64)>,
        window: Option<u64>,
        ece: bool,
        marked: Option<u32>,
        echo: Option<Time>,
    },
    Sends {
        ranges: Vec<(u64, u64)>,
        cwr: bool,
    },
    Cwnd(f64),
    Ssthresh(f64),
    State(State),
}

#[derive(Debug)]
struct Line {
    number: usize,
    text: String,
    /// Whether the times are after the line before.
    relative: bool,
    from: Duration,
    until: Duration,
    clauses: Vec<Clause>,
}

fn parse(script: &str) -> Result<Vec<Line>, String> {
    let mut lines = Vec::new();
    for (text, number) in script.lines().zip(1..) {
        let text = text.split('#').next().unwrap_or("").trim();
        if !text.is_empty() {
            lines.push(parse_line(number, text).map_err(|what| format!("line {number}: {text}\n  {what}"))?);
        }
    }
    Ok(lines)
}

fn parse_line(number: usize, text: &str) -> Result<Line, String> {
    let starts_with_time = text.starts_with(|first: char| first == '+' || first.is_ascii_digit());
    let (time, rest) = match text.split_once(' ') {
        Some((time, rest)) if starts_with_time => (time, rest),
        _ if starts_with_time => (text, ""),
        _ => ("+0", text),
    };
    let (from, until) = time.trim_start_matches('+').split_once('~').unwrap_or_else(|| {
        let time = time.trim_start_matches('+');
        (time, time)
    });
    let clauses = rest.split(';').map(str::trim).filter(|clause| !clause.is_empty()).map(clause);
    Ok(Line {
        number,
        text: text.to_owned(),
        relative: time.starts_with('+'),
        from: seconds(from)?,
        until: seconds(until)?,
        clauses: clauses.collect::<Result<_, _>>()?,
    })
}

fn clause(text: &str) -> Result<Clause, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        ["write", amount] => Ok(Clause::Write(bytes(amount)?)),
        ["<", "synack"] => Ok(Clause::SynAck),
        ["<", "ack", next, ref options @ ..] => ack(bytes(next)?, options),
        [">", ref ranges @ .., "cwr"] => Ok(Clause::Sends { ranges: pairs(ranges)?, cwr: true }),
        [">", ref ranges @ ..] => Ok(Clause::Sends { ranges: pairs(ranges)?, cwr: false }),
        ["cwnd", value] => Ok(Clause::Cwnd(number(value)?)),
        ["ssthresh", value] => Ok(Clause::Ssthresh(number(value)?)),
        ["state", "open"] => Ok(Clause::State(State::Open)),
        ["state", "disorder"] => Ok(Clause::State(State::Disorder)),
        ["state", "recovery"] => Ok(Clause::State(State::Recovery)),
        ["state", "loss"] => Ok(Clause::State(State::Loss)),
        _ => Err(format!("no such clause: {text:?}")),
    }
}

fn ack(next: u64, options: &[&str]) -> Result<Clause, String> {
    let (mut sack, mut window, mut ece, mut marked, mut echo) = (Vec::new(), None, false, None, None);
    let mut words = options.iter();
    while let Some(&option) = words.next() {
        let mut value = || words.next().copied().ok_or_else(|| format!("{option} needs a value"));
        match option {
            "sack" => sack = pairs(&value()?.split(',').collect::<Vec<_>>())?,
            "win" => window = Some(bytes(value()?)?),
            "ece" => ece = true,
            "marked" => marked = Some(bytes(value()?)? as u32),
            "ecr" => echo = Some(Time::ZERO + seconds(value()?)?),
            _ => return Err(format!("an ACK has no {option:?}")),
        }
    }
    Ok(Clause::Ack { next, sack, window, ece, marked, echo })
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{text:?} is no number"))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let microseconds = number::<f64>(text)? * 1e6;
    Ok(Duration::from_microseconds(microseconds.round() as u64))
}

/// A number of segments in bytes.
fn bytes(text: &str) -> Result<u64, String> {
    Ok((number::<f64>(text)? * MSS as f64).round() as u64)
}

fn pairs(ranges: &[&str]) -> Result<Vec<(u64, u64)>, String> {
    let pair = |range: &&str| {
        let (first, end) =
            range.split_once(':').ok_or_else(|| format!("{range:?} is no range such as 1:2"))?;
        Ok((bytes(first)?, bytes(end)?))
    };
    ranges.iter().map(pair).collect()
}

/// Bulk without any writes; else nothing before the first.
fn source(lines: &[Line]) -> Source {
    let writes = lines.iter().flat_map(|line| &line.clauses).any(|clause| matches!(clause, Clause::Write(_)));
    if writes {
        Source::Steps([Period { from: Time::ZERO, activity: Activity::Silence }].as_slice().into())
    } else {
        Source::Bulk
    }
}

// --- the connection
// ---------------------------------------------------------------------------------------------

/// A segment as it left.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Left {
    time: Time,
    first: u64,
    end: u64,
    cwr: bool,
}

/// A script in progress.
struct Play {
    rig: Rig,
    now: Time,
    /// Bytes that the application has written.
    written: u64,
    /// Segments recorded so far.
    recorded: usize,
    /// Segments that left and are not yet in a clause.
    unclaimed: Vec<Left>,
    acknowledged: u64,
    beyond_gap: bool,
    timeouts: u64,
    /// The data outstanding at the last timeout.
    loss_until: u64,
    log: String,
}

impl Play {
    fn new(rig: Rig) -> Self {
        Self {
            rig,
            now: Time::ZERO,
            written: 0,
            recorded: 0,
            unclaimed: Vec::new(),
            acknowledged: 0,
            beyond_gap: false,
            timeouts: 0,
            loss_until: 0,
            log: String::new(),
        }
    }

    fn line(&mut self, line: &Line) -> Result<(), String> {
        let start = if line.relative { self.now } else { Time::ZERO };
        let (from, until) = (start + line.from, start + line.until);
        if from < self.now {
            return Err(format!("earlier than the line before, at {}", at(self.now)));
        }
        self.run_until(before(from));
        self.nothing_has_left()?;
        if line.from == line.until {
            self.run_until(from);
        } else {
            self.run_to_next_segment(until);
        }
        line.clauses.iter().try_for_each(|clause| self.clause(clause))?;
        self.nothing_has_left()
    }

    fn run_until(&mut self, time: Time) {
        self.rig.run_until_time(time);
        self.now = self.now.max(time);
        self.look();
    }

    /// Runs until something leaves, at most until this time.
    fn run_to_next_segment(&mut self, until: Time) {
        while self.unclaimed.is_empty()
            && let Some(next) = self.rig.next_event()
            && next <= until
        {
            self.run_until(next);
        }
        if self.unclaimed.is_empty() {
            self.run_until(until);
        }
    }

    /// Looks at what has left.
    fn look(&mut self) {
        let records: Vec<PacketRecord> = self.rig.records();
        let data = records.iter().filter(|record| record.event == PacketEvent::Send);
        let data = data.filter(|record| record.kind == PacketKind::Data);
        let new: Vec<Left> = data.skip(self.recorded).map(Left::from).collect();
        self.recorded += new.len();
        for left in &new {
            let _ = write!(self.log, "\n    {} > {}", at(left.time), left.range());
        }
        self.unclaimed.extend(new);
        let timeouts = self.rig.sender.totals().timeouts;
        if timeouts > self.timeouts {
            self.timeouts = timeouts;
            self.loss_until = self.rig.sender.recovery.next();
        }
    }

    fn nothing_has_left(&self) -> Result<(), String> {
        match self.unclaimed.first() {
            None => Ok(()),
            Some(left) => Err(format!("unexpected: {} left at {}", left.range(), at(left.time))),
        }
    }

    fn clause(&mut self, clause: &Clause) -> Result<(), String> {
        match clause {
            Clause::Write(size) => {
                self.written += size;
                self.rig.write_up_to(self.now, self.written);
                self.look();
            }
            Clause::SynAck => {
                self.rig.arrive_at(self.now, PacketKind::SynAck, 0, None);
                self.look();
            }
            Clause::Ack { next, sack, window, ece, marked, echo } => {
                let mut extra =
                    Extra { receive_window: *window, sack_blocks: sack.len() as u8, ..Extra::default() };
                for (block, &range) in extra.sack.iter_mut().zip(sack) {
                    *block = range;
                }
                self.rig.flags = if *ece { Flags::ECE } else { Flags::NONE };
                self.rig.marked = marked.unwrap_or(self.rig.marked);
                self.rig.echo = echo.unwrap_or(Time::NEVER);
                let has_extra = window.is_some() || !sack.is_empty();
                let _ = write!(self.log, "\n    {} < ack {}", at(self.now), segments(*next));
                self.rig.arrive_at(self.now, PacketKind::Ack, *next, has_extra.then_some(extra));
                self.beyond_gap = !sack.is_empty() || *next == self.acknowledged;
                self.acknowledged = self.acknowledged.max(*next);
                self.look();
            }
            Clause::Sends { ranges, cwr } => self.expect_segments(ranges, *cwr)?,
            Clause::Cwnd(expected) => is_window("cwnd", self.rig.cwnd(), *expected)?,
            Clause::Ssthresh(expected) => is_window("ssthresh", self.rig.ssthresh(), *expected)?,
            Clause::State(expected) => {
                let state = self.state();
                if state != *expected {
                    return Err(format!("state {state:?}, not {expected:?}"));
                }
            }
        }
        Ok(())
    }

    fn expect_segments(&mut self, ranges: &[(u64, u64)], cwr: bool) -> Result<(), String> {
        let left = std::mem::take(&mut self.unclaimed);
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for segment in &left {
            match joined.last_mut() {
                Some((_, end)) if *end == segment.first => *end = segment.end,
                _ => joined.push((segment.first, segment.end)),
            }
        }
        if joined != ranges {
            return Err(format!("sent {}, not {}", text(&joined), text(ranges)));
        }
        if left.iter().any(|segment| segment.cwr) != cwr {
            return Err(format!("CWR is {}", if cwr { "missing" } else { "set" }));
        }
        Ok(())
    }

    fn state(&self) -> State {
        let recovery = &self.rig.sender.recovery;
        if recovery.is_recovering() {
            State::Recovery
        } else if recovery.una() < self.loss_until {
            State::Loss
        } else if self.beyond_gap && !recovery.outstanding().is_empty() {
            State::Disorder
        } else {
            State::Open
        }
    }
}

impl From<&PacketRecord> for Left {
    fn from(record: &PacketRecord) -> Self {
        let first = record.sequence;
        Self { time: record.time, first, end: first + u64::from(record.payload), cwr: record.cwr }
    }
}

impl Left {
    fn range(&self) -> String {
        text(&[(self.first, self.end)])
    }
}

fn before(time: Time) -> Time {
    Time::from_picoseconds(time.picoseconds().saturating_sub(1))
}

fn at(time: Time) -> String {
    format!("{:.6}", time.seconds())
}

fn segments(bytes: u64) -> f64 {
    bytes as f64 / MSS as f64
}

fn text(ranges: &[(u64, u64)]) -> String {
    if ranges.is_empty() {
        return "nothing".to_owned();
    }
    let each = ranges.iter().map(|&(first, end)| format!("{}:{}", segments(first), segments(end)));
    each.collect::<Vec<_>>().join(" ")
}

/// Linux's windows are whole numbers of segments; the fraction here is what it counts beside them.
fn is_window(what: &str, found: f64, expected: f64) -> Result<(), String> {
    let whole = if found.is_finite() { (found + 1e-9).floor() } else { found };
    if whole == expected { Ok(()) } else { Err(format!("{what} {found}, not {expected}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(script: &str) -> String {
        Connection::new("reno").play(script).expect_err("it fails")
    }

    /// A failure names the script's line, what was expected and what happened.
    #[test]
    fn failures_are_located() {
        let begin = "write 20\n0.1 < synack; > 0:10\n";
        let cases = [
            ("0.2 < ack 2; > 10:12", "line 3: 0.2 < ack 2; > 10:12\n  sent 10:14, not 10:12"),
            ("0.2 < ack 2", "line 3: 0.2 < ack 2\n  unexpected: 10:11 left at 0.200000"),
            ("0.2 cwnd 11", "line 3: 0.2 cwnd 11\n  cwnd 10, not 11"),
            ("0.2 state loss", "state Open, not Loss"),
            ("0.05 cwnd 10", "earlier than the line before, at 0.100000"),
            ("0.2 < nak 2", "line 3: 0.2 < nak 2\n  no such clause: \"< nak 2\""),
            ("0.2 < ack 2 sack 3", "\"3\" is no range such as 1:2"),
            ("0.2 > 10:11", "sent nothing, not 10:11"),
            ("0.2~0.9 > 9:10", "sent 10:11, not 9:10"),
        ];
        for (line, expected) in cases {
            let found = said(&format!("{begin}{line}"));
            assert!(found.contains(expected), "{found}");
        }
        assert!(said(&format!("{begin}0.2 cwnd 11")).ends_with("0.100000 > 9:10"));
    }

    #[test]
    fn a_script_that_holds_passes() {
        Connection::new("reno").plays(
            "write 12
             0.1 < synack; > 0:10; cwnd 10; ssthresh inf; state open
             +0.1 < ack 0 sack 1:2; > 10:11; state disorder
             +0.01 write 2
             +0 < ack 11; > 11:14; cwnd 21; state open",
        );
    }
}
