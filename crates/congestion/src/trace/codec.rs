//! The bytes of a trace: one function per structure both writes and reads it.

use alloc::string::String;
use alloc::vec::Vec;

use super::header::{Header, Setting};
use super::record::{Record, TraceError, VERSION};
use crate::decision::{Decision, Pacing, Probe, ProbePart};
use crate::entry::Part;
use crate::event::{
    Acknowledged, DuplicateAck, EcnEcho, Established, Event, HandshakeLost, LossDetected, MssChanged,
    RateSample, RecoveryEnded, RestartCause, Resumed, Sent, SpuriousLoss, Stamped, Timeout,
};
use crate::option::{CustomOption, PeerOption};
use crate::state::Setup;
use crate::units::{Bytes, Duration, Rate, Time};

/// First bytes of a trace.
const MAGIC: &[u8; 6] = b"selfcc";
/// Record tags beyond those of events.
const DECISION: u8 = 32;
const OPTION_FOR_SYN: u8 = 33;
const OPTION_FOR: u8 = 34;
const END: u8 = 35;

/// Written bytes, or those left to read.
#[derive(Clone, Debug)]
pub(super) enum Bytestream<'a> {
    Write(Vec<u8>),
    Read(&'a [u8]),
}

/// Meanings of numbers: each number is coded as the difference from the last one of the same
/// meaning.
#[derive(Clone, Copy)]
enum Slot {
    Plain,
    Now,
    Size,
    Acknowledged,
    Sent,
    Rtt,
    SmoothedRtt,
    MinimumRtt,
    InFlight,
    HeldBack,
    Marked,
    Count,
    DeliveryRate,
    Interval,
    Delivered,
    DeliveredTotal,
    PriorDelivered,
    NewlyAcked,
    NewlyLost,
    Lost,
    TxInFlight,
    FlightSize,
    Mss,
    Window,
    PacingInterval,
    PacingSize,
    PacingTick,
    Allowance,
    Last,
}

/// Writes and reads with the same functions: reading overwrites the field that writing takes.
#[derive(Clone, Debug)]
pub(super) struct Codec<'a> {
    pub(super) bytes: Bytestream<'a>,
    last: [u64; Slot::Last as usize],
}

pub(super) type Coded = Result<(), TraceError>;

impl<'a> Codec<'a> {
    pub(super) const fn new(bytes: Bytestream<'a>) -> Self {
        Self { bytes, last: [0; Slot::Last as usize] }
    }

    /// Writing never fails.
    pub(super) fn written(&mut self, write: impl FnOnce(&mut Self) -> Coded) {
        let result = write(self);
        debug_assert_eq!(result, Ok(()));
    }

    fn byte(&mut self, value: &mut u8) -> Coded {
        match &mut self.bytes {
            Bytestream::Write(bytes) => bytes.push(*value),
            Bytestream::Read(rest) => {
                let (first, others) = rest.split_first().ok_or(TraceError::Truncated)?;
                (*value, *rest) = (*first, others);
            }
        }
        Ok(())
    }

    fn number(&mut self, slot: Slot, value: &mut u64) -> Coded {
        let last = if let Slot::Plain = slot { 0 } else { self.last[slot as usize] };
        let difference = value.wrapping_sub(last);
        let mut left = difference << 1 ^ ((difference as i64) >> 63) as u64;
        let mut read = 0;
        for shift in (0..70).step_by(7) {
            let mut byte = (left & 0x7f) as u8 | if left > 0x7f { 0x80 } else { 0 };
            self.byte(&mut byte)?;
            left >>= 7;
            read |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        *value = last.wrapping_add(read >> 1 ^ (read & 1).wrapping_neg());
        self.last[slot as usize] = *value;
        Ok(())
    }

    fn flag(&mut self, value: &mut bool) -> Coded {
        let mut byte = (*value).into();
        self.byte(&mut byte)?;
        *value = byte != 0;
        Ok(())
    }

    fn float(&mut self, value: &mut f64) -> Coded {
        let mut bits = value.to_bits();
        self.number(Slot::Plain, &mut bits)?;
        *value = f64::from_bits(bits);
        Ok(())
    }

    fn time(&mut self, value: &mut Time) -> Coded {
        let mut picoseconds = value.picoseconds();
        self.number(Slot::Now, &mut picoseconds)?;
        *value = Time::from_picoseconds(picoseconds);
        Ok(())
    }

    fn span(&mut self, slot: Slot, value: &mut Duration) -> Coded {
        let mut picoseconds = value.picoseconds();
        self.number(slot, &mut picoseconds)?;
        *value = Duration::from_picoseconds(picoseconds);
        Ok(())
    }

    fn size(&mut self, slot: Slot, value: &mut Bytes) -> Coded {
        self.number(slot, &mut value.0)
    }

    fn optional<T: Default>(
        &mut self,
        value: &mut Option<T>,
        code: impl FnOnce(&mut Self, &mut T) -> Coded,
    ) -> Coded {
        let mut there = value.is_some();
        self.flag(&mut there)?;
        if there { code(self, value.get_or_insert_default()) } else { Ok(()) }
    }

    fn maybe_span(&mut self, slot: Slot, value: &mut Option<Duration>) -> Coded {
        self.optional(value, |codec, span| codec.span(slot, span))
    }

    /// Bytes preceded by their number.
    fn block(&mut self, value: &mut Vec<u8>) -> Coded {
        let mut length = value.len() as u64;
        self.number(Slot::Plain, &mut length)?;
        match &mut self.bytes {
            Bytestream::Write(bytes) => bytes.extend_from_slice(value),
            Bytestream::Read(rest) => {
                let length = usize::try_from(length).map_err(|_| TraceError::Truncated)?;
                let (read, others) = rest.split_at_checked(length).ok_or(TraceError::Truncated)?;
                (*value, *rest) = (read.to_vec(), others);
            }
        }
        Ok(())
    }

    fn text(&mut self, value: &mut String) -> Coded {
        let mut bytes = core::mem::take(value).into_bytes();
        self.block(&mut bytes)?;
        *value = String::from_utf8(bytes).map_err(|_| TraceError::Malformed)?;
        Ok(())
    }

    fn list<T>(
        &mut self,
        value: &mut Vec<T>,
        blank: impl Fn() -> T,
        code: impl Fn(&mut Self, &mut T) -> Coded,
    ) -> Coded {
        let mut length = value.len() as u64;
        self.number(Slot::Plain, &mut length)?;
        for index in 0..length {
            if index == value.len() as u64 {
                value.push(blank());
            }
            code(self, &mut value[index as usize])?;
        }
        Ok(())
    }

    pub(super) fn header(&mut self, header: &mut Header) -> Coded {
        for expected in MAGIC {
            let mut byte = *expected;
            self.byte(&mut byte).map_err(|_| TraceError::NotATrace)?;
            if byte != *expected {
                return Err(TraceError::NotATrace);
            }
        }
        let mut version = VERSION;
        self.byte(&mut version)?;
        if version != VERSION {
            return Err(TraceError::Version(version));
        }
        let Header { parts, settings, setup } = header;
        self.list(
            parts,
            || (Part::Model, String::new()),
            |codec, (part, name)| {
                const PARTS: [Part; 4] = [Part::Start, Part::Window, Part::Model, Part::Estimate];
                codec.one_of(&PARTS, part)?;
                codec.text(name)
            },
        )?;
        let blank = || (String::new(), Setting::Number(0, 0));
        self.list(settings, blank, |codec, (name, setting)| {
            codec.text(name)?;
            codec.setting(setting)
        })?;
        self.setup(setup)
    }

    fn setting(&mut self, setting: &mut Setting) -> Coded {
        let mut is_word = matches!(setting, Setting::Word(_));
        self.flag(&mut is_word)?;
        if is_word {
            let mut word =
                if let Setting::Word(word) = setting { core::mem::take(word) } else { String::new() };
            self.text(&mut word)?;
            *setting = Setting::Word(word);
        } else if let Setting::Number(kind, number) = setting {
            self.byte(kind)?;
            self.number(Slot::Plain, number)?;
        }
        Ok(())
    }

    fn setup(&mut self, setup: &mut Setup) -> Coded {
        let Setup {
            mss,
            header,
            initial_window,
            initial_ssthresh,
            receive_window,
            selective_acks,
            byte_counting,
            restart_after_idle,
            paced,
            seed,
        } = setup;
        self.size(Slot::Mss, mss)?;
        self.size(Slot::Plain, header)?;
        self.float(initial_window)?;
        self.float(initial_ssthresh)?;
        self.size(Slot::Plain, receive_window)?;
        self.flag(selective_acks)?;
        self.flag(byte_counting)?;
        self.flag(restart_after_idle)?;
        self.flag(paced)?;
        self.number(Slot::Plain, seed)?;
        // A controller divides by the first, and clamps the other two to a range that excludes NaN.
        let possible =
            mss.0 > 0 && mss.0 <= u32::MAX.into() && !initial_window.is_nan() && !initial_ssthresh.is_nan();
        if possible { Ok(()) } else { Err(TraceError::Malformed) }
    }

    /// One of a few values, as its number.
    fn one_of<T: Copy + PartialEq>(&mut self, all: &[T], value: &mut T) -> Coded {
        let mut number = all.iter().position(|other| other == value).unwrap_or(0) as u8;
        self.byte(&mut number)?;
        *value = *all.get(usize::from(number)).ok_or(TraceError::Malformed)?;
        Ok(())
    }

    pub(super) fn record(&mut self, record: &mut Record) -> Coded {
        let mut tag = match record {
            Record::Event(event) => kind_of(event),
            Record::Decision(_) => DECISION,
            Record::OptionForSyn(_) => OPTION_FOR_SYN,
            Record::OptionFor(..) => OPTION_FOR,
            Record::End { .. } => END,
        };
        self.byte(&mut tag)?;
        if let Bytestream::Read(_) = self.bytes {
            *record = match tag {
                DECISION => Record::Decision(Decision {
                    window: Bytes::ZERO,
                    pacing: None,
                    probe: None,
                    allowance: Bytes::ZERO,
                }),
                OPTION_FOR_SYN => Record::OptionForSyn(None),
                OPTION_FOR => Record::OptionFor(ProbePart::Single, None),
                END => Record::End { cwnd: 0, ssthresh: 0, phase: 0 },
                kind => Record::Event(blank(kind)?),
            };
        }
        match record {
            Record::Event(event) => self.event(event),
            Record::Decision(decision) => self.decision(decision),
            Record::OptionForSyn(option) => self.option(option),
            Record::OptionFor(part, option) => {
                self.one_of(&[ProbePart::Single, ProbePart::PairFirst, ProbePart::PairSecond], part)?;
                self.option(option)
            }
            Record::End { cwnd, ssthresh, phase } => {
                self.number(Slot::Plain, cwnd)?;
                self.number(Slot::Plain, ssthresh)?;
                self.byte(phase)
            }
        }
    }

    fn event(&mut self, event: &mut Event) -> Coded {
        let mut now = event.now();
        self.time(&mut now)?;
        *event = event.at(now);
        match event {
            Event::HandshakeLost(_) | Event::RecoveryEnded(_) | Event::SpuriousLoss(_) => Ok(()),
            Event::Established(event) => {
                self.maybe_span(Slot::Rtt, &mut event.rtt)?;
                self.option(&mut event.option)
            }
            Event::Sent(event) => {
                self.size(Slot::Size, &mut event.size)?;
                self.size(Slot::InFlight, &mut event.in_flight)?;
                self.size(Slot::HeldBack, &mut event.held_back)?;
                self.flag(&mut event.app_limited)
            }
            Event::Acknowledged(event) => self.acknowledged(event),
            Event::DuplicateAck(event) => {
                let mut count = event.count.into();
                self.number(Slot::Count, &mut count)?;
                event.count = count as u32;
                self.maybe_span(Slot::Rtt, &mut event.rtt)?;
                self.size(Slot::InFlight, &mut event.in_flight)?;
                self.size(Slot::Marked, &mut event.marked)?;
                self.optional(&mut event.rate, Self::rate_sample)?;
                self.option(&mut event.option)
            }
            Event::LossDetected(event) => {
                self.size(Slot::FlightSize, &mut event.flight_size)?;
                self.size(Slot::Lost, &mut event.lost)
            }
            Event::EcnEcho(event) => self.size(Slot::FlightSize, &mut event.flight_size),
            Event::Timeout(event) => {
                const CAUSES: [RestartCause; 3] = [
                    RestartCause::TimerExpired,
                    RestartCause::TahoeFastRetransmit,
                    RestartCause::PersistentCongestion,
                ];
                self.size(Slot::FlightSize, &mut event.flight_size)?;
                self.flag(&mut event.repeated)?;
                self.one_of(&CAUSES, &mut event.cause)
            }
            Event::MssChanged(event) => {
                self.size(Slot::Mss, &mut event.mss)?;
                self.float(&mut event.initial_window)?;
                if event.initial_window.is_nan() { Err(TraceError::Malformed) } else { Ok(()) }
            }
            Event::Stamped(event) => {
                for time in [&mut event.card, &mut event.peer] {
                    let mut picoseconds = time.picoseconds();
                    self.number(Slot::Plain, &mut picoseconds)?;
                    *time = Time::from_picoseconds(picoseconds);
                }
                Ok(())
            }
            Event::Resumed(event) => {
                self.span(Slot::Plain, &mut event.idle)?;
                self.span(Slot::Plain, &mut event.timeout)
            }
        }
    }

    fn acknowledged(&mut self, event: &mut Acknowledged) -> Coded {
        self.size(Slot::Size, &mut event.size)?;
        self.size(Slot::Acknowledged, &mut event.acknowledged_total)?;
        self.size(Slot::Sent, &mut event.sent_total)?;
        self.maybe_span(Slot::Rtt, &mut event.rtt)?;
        self.maybe_span(Slot::SmoothedRtt, &mut event.smoothed_rtt)?;
        self.maybe_span(Slot::MinimumRtt, &mut event.minimum_rtt)?;
        self.size(Slot::InFlight, &mut event.in_flight)?;
        self.flag(&mut event.window_limited)?;
        self.flag(&mut event.recovering)?;
        self.size(Slot::Marked, &mut event.marked)?;
        self.optional(&mut event.rate, Self::rate_sample)?;
        self.option(&mut event.option)
    }

    fn rate_sample(&mut self, sample: &mut RateSample) -> Coded {
        let mut bits = sample.delivery_rate.bits_per_second();
        self.number(Slot::DeliveryRate, &mut bits)?;
        sample.delivery_rate = Rate::from_bits_per_second(bits);
        self.span(Slot::Interval, &mut sample.interval)?;
        self.size(Slot::Delivered, &mut sample.delivered)?;
        self.size(Slot::DeliveredTotal, &mut sample.delivered_total)?;
        self.size(Slot::PriorDelivered, &mut sample.prior_delivered)?;
        self.size(Slot::NewlyAcked, &mut sample.newly_acked)?;
        self.size(Slot::NewlyLost, &mut sample.newly_lost)?;
        self.size(Slot::Lost, &mut sample.lost)?;
        self.size(Slot::TxInFlight, &mut sample.tx_in_flight)?;
        self.flag(&mut sample.is_app_limited)
    }

    /// An option in its wire format; a user-defined one after its ExID.
    fn option(&mut self, option: &mut Option<PeerOption>) -> Coded {
        let (mut kind, mut bytes) = match option {
            None => (0, Vec::new()),
            Some(PeerOption::Custom(custom)) => (2, [&custom.exid()[..], custom.body()].concat()),
            Some(option) => {
                let (bytes, length) = option.encode();
                (1, bytes[..length].to_vec())
            }
        };
        self.byte(&mut kind)?;
        if kind == 0 {
            *option = None;
            return Ok(());
        }
        self.block(&mut bytes)?;
        let read = match (kind, bytes.split_first_chunk::<2>()) {
            (1, _) => PeerOption::decode(&bytes).ok().flatten(),
            (2, Some((exid, body))) => CustomOption::new(*exid, body).map(PeerOption::Custom),
            _ => None,
        };
        *option = Some(read.ok_or(TraceError::Malformed)?);
        Ok(())
    }

    fn decision(&mut self, decision: &mut Decision) -> Coded {
        self.size(Slot::Window, &mut decision.window)?;
        self.optional(&mut decision.pacing, |codec, Pacing { interval, size, tick }| {
            codec.span(Slot::PacingInterval, interval)?;
            codec.size(Slot::PacingSize, size)?;
            codec.span(Slot::PacingTick, tick)
        })?;
        self.one_of(&[None, Some(Probe::Pair)], &mut decision.probe)?;
        self.size(Slot::Allowance, &mut decision.allowance)
    }
}

const fn kind_of(event: &Event) -> u8 {
    match event {
        Event::Established(_) => 0,
        Event::HandshakeLost(_) => 1,
        Event::Sent(_) => 2,
        Event::Acknowledged(_) => 3,
        Event::DuplicateAck(_) => 4,
        Event::LossDetected(_) => 5,
        Event::EcnEcho(_) => 6,
        Event::Timeout(_) => 7,
        Event::RecoveryEnded(_) => 8,
        Event::SpuriousLoss(_) => 9,
        Event::MssChanged(_) => 10,
        Event::Resumed(_) => 11,
        Event::Stamped(_) => 12,
    }
}

/// An empty event of this kind, to be read into.
fn blank(kind: u8) -> Result<Event, TraceError> {
    Ok(match kind {
        0 => Established::default().into(),
        1 => HandshakeLost::default().into(),
        2 => Sent::default().into(),
        3 => Acknowledged::default().into(),
        4 => DuplicateAck::default().into(),
        5 => LossDetected::default().into(),
        6 => EcnEcho::default().into(),
        7 => Timeout::default().into(),
        8 => RecoveryEnded::default().into(),
        9 => SpuriousLoss::default().into(),
        10 => MssChanged::default().into(),
        11 => Resumed::default().into(),
        12 => Stamped::default().into(),
        _ => return Err(TraceError::Malformed),
    })
}
