//! Cases from the bytes of a fuzzer: any bytes are a case, and a change of one byte changes little.

use super::{Case, MSS, Step, groups, subjects};
use selfclock_congestion::option::{
    PacketPairOption, PairMark, PeerOption, QuickStartOption, SwiftStartOption, XcpOption,
};
use selfclock_congestion::{
    Acknowledged, Bytes, DuplicateAck, Duration, EcnEcho, Established, HandshakeLost, LossDetected,
    MssChanged, Rate, RateSample, RecoveryEnded, Resumed, Sent, SpuriousLoss, Time, Timeout,
};

/// Maximum number of events in a case.
const EVENTS: usize = 200;

/// The unread bytes, followed by zeros.
struct Source<'a>(&'a [u8]);

impl Source<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }
    fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }
    fn short(&mut self) -> u16 {
        u16::from_be_bytes([self.byte(), self.byte()])
    }
    fn word(&mut self) -> u32 {
        u32::from(self.short()) << 16 | u32::from(self.short())
    }
    fn long(&mut self) -> u64 {
        u64::from(self.word()) << 32 | u64::from(self.word())
    }
    /// Mostly realistic sizes, including the ends of the range.
    fn size(&mut self) -> u64 {
        match self.byte() % 8 {
            0 => 0,
            1 => u64::MAX,
            2 => self.long(),
            3..=5 => MSS,
            _ => self.short().into(),
        }
    }
    fn span(&mut self) -> Duration {
        match self.byte() % 8 {
            0 => Duration::ZERO,
            1 => Duration::from_picoseconds(1),
            2 => Duration::MAX,
            3 => Duration::from_picoseconds(self.long()),
            _ => Duration::from_microseconds(u64::from(self.short()) * 8),
        }
    }
    fn maybe<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.flag().then(|| value(self))
    }
    fn mark(&mut self) -> PairMark {
        if self.flag() { PairMark::First } else { PairMark::Second }
    }
    fn option(&mut self) -> Option<PeerOption> {
        Some(match self.byte() % 6 {
            0 => {
                let mark = self.maybe(|source| (source.mark(), source.byte()));
                let reply = self.maybe(|source| (source.byte(), source.short()));
                PeerOption::PacketPair(PacketPairOption { mark, reply, ..PacketPairOption::default() })
            }
            1 => {
                PeerOption::SwiftStart(SwiftStartOption::Reply { id: self.byte(), microseconds: self.word() })
            }
            2 => PeerOption::SwiftStart(SwiftStartOption::Mark(self.mark(), self.byte())),
            3 => PeerOption::QuickStart(QuickStartOption::Response {
                rate: self.byte(),
                ttl_difference: self.byte(),
                nonce: self.word(),
            }),
            4 => PeerOption::Xcp(XcpOption::Reply { feedback: self.word() as i32 }),
            _ => return None,
        })
    }
    fn rate(&mut self) -> Option<RateSample> {
        self.maybe(|source| {
            let mut sample = RateSample::default();
            sample.delivery_rate = Rate::from_bits_per_second(match source.byte() % 4 {
                0 => 0,
                1 => source.long(),
                _ => u64::from(source.word()),
            });
            sample.interval = source.span();
            sample.delivered = Bytes(source.size());
            sample.delivered_total = Bytes(source.size());
            sample.prior_delivered = Bytes(source.size());
            sample.newly_acked = Bytes(source.size());
            sample.newly_lost = Bytes(source.size());
            sample.lost = Bytes(source.size());
            sample.tx_in_flight = Bytes(source.size());
            sample.is_app_limited = source.flag();
            sample
        })
    }
    fn step(&mut self) -> Step {
        const NOW: Time = Time::ZERO;
        match self.byte() % 19 {
            0 | 1 => Step::with_flight(self.maybe(Self::size), LossDetected::new),
            2 => Step::with_flight(self.maybe(Self::size), EcnEcho::new),
            3 => {
                let (flight, repeated) = (self.maybe(Self::size), self.flag());
                Step::with_flight(flight, |now, flight| {
                    let mut event = Timeout::new(now, flight);
                    event.repeated = repeated;
                    event
                })
            }
            4 => RecoveryEnded::new(NOW).into(),
            5 => {
                let size = Bytes(self.size());
                let mut event = Sent::new(NOW, size, size);
                event.held_back = Bytes(self.size());
                event.into()
            }
            6 => HandshakeLost::new(NOW).into(),
            7 => {
                let event = Established::new(NOW, self.maybe(Self::span));
                Step { approved: self.byte() % 16, ..event.into() }
            }
            8 => {
                let mut event = DuplicateAck::new(NOW, self.byte().into());
                event.marked = Bytes(self.size());
                event.rate = self.rate();
                event.option = self.option();
                event.into()
            }
            18 => Resumed::new(NOW, self.span(), self.span()).into(),
            16 => SpuriousLoss::new(NOW).into(),
            17 => MssChanged::new(NOW, Bytes(self.short().into())).into(),
            _ => {
                let (repeat, interval) = (u32::from(self.byte()) + 1, self.span());
                let mut event = Acknowledged::new(NOW, Bytes(self.size()));
                event.acknowledged_total = Bytes(self.size());
                event.sent_total = Bytes(self.size());
                event.rtt = self.maybe(Self::span);
                event.smoothed_rtt = self.maybe(Self::span);
                event.minimum_rtt = self.maybe(Self::span);
                event.in_flight = Bytes(self.size());
                event.window_limited = self.flag();
                event.recovering = self.flag();
                event.marked = Bytes(if self.flag() { self.size() } else { 0 });
                event.rate = self.rate();
                event.option = self.option();
                Step { repeat, interval, ..event.into() }
            }
        }
    }
}

/// Runs the case encoded in the bytes: one algorithm, or a group of one that forms groups.
pub fn run(bytes: &[u8]) {
    let mut source = Source(bytes);
    let (which, members) = (usize::from(source.short()), usize::from(source.byte() % 9));
    let choices = (0..32).map(|_| source.byte()).collect();
    let initial_window = [1.0, 10.0, 1e9, f64::from(source.short()) + 1.0][usize::from(source.byte() % 4)];
    let initial_ssthresh = if source.flag() { f64::INFINITY } else { f64::from(source.short()) + 1.0 };
    let receive_window = if source.flag() { Bytes::MAX } else { Bytes(MSS + u64::from(source.word())) };
    let (selective_acks, seed) = (source.flag(), source.long());
    let mut events = Vec::new();
    while !source.0.is_empty() && events.len() < EVENTS {
        events.push((usize::from(source.byte()), source.step()));
    }
    let case =
        Case { events, choices, initial_window, initial_ssthresh, receive_window, selective_acks, seed };
    let mut of = if members == 0 { subjects() } else { groups() };
    let subject = of.swap_remove(which % of.len());
    match members {
        0 => case.one(subject),
        _ => case.group(subject, members),
    }
}
