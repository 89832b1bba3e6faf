//! Cases from the bytes of a fuzzer: any bytes are a case, and a change of one byte changes little.

use super::{Case, Event, MSS, groups, subjects};
use selfclock_congestion::option::{
    PacketPairOption, PairMark, PeerOption, QuickStartOption, SwiftStartOption, XcpOption,
};
use selfclock_congestion::{Acknowledged, Bytes, Duration, Rate, RateSample, Time};

/// Most events of a case.
const EVENTS: usize = 200;

/// The bytes not read yet. Where there are none any more they are zeros.
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
    /// Mostly like what happens, with the ends of the range among it.
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
        self.maybe(|source| RateSample {
            delivery_rate: Rate::from_bits_per_second(match source.byte() % 4 {
                0 => 0,
                1 => source.long(),
                _ => u64::from(source.word()),
            }),
            interval: source.span(),
            delivered: Bytes(source.size()),
            delivered_total: Bytes(source.size()),
            prior_delivered: Bytes(source.size()),
            newly_acked: Bytes(source.size()),
            newly_lost: Bytes(source.size()),
            lost: Bytes(source.size()),
            tx_in_flight: Bytes(source.size()),
            is_app_limited: source.flag(),
        })
    }
    fn event(&mut self) -> Event {
        match self.byte() % 16 {
            0 | 1 => Event::Loss(self.maybe(Self::size)),
            2 => Event::Echo(self.maybe(Self::size)),
            3 => Event::Timeout { flight: self.maybe(Self::size), repeated: self.flag() },
            4 => Event::RecoveryEnded,
            5 => Event::Sent { size: self.size(), held_back: self.size() },
            6 => Event::HandshakeLoss,
            7 => Event::Established { rtt: self.maybe(Self::span), rate: self.byte() % 16 },
            8 => Event::Duplicate {
                count: self.byte().into(),
                marked: self.size(),
                rate: self.rate(),
                option: self.option(),
            },
            _ => Event::Acknowledged {
                repeat: u32::from(self.byte()) + 1,
                interval: self.span(),
                event: Acknowledged {
                    now: Time::ZERO,
                    size: Bytes(self.size()),
                    acknowledged_total: Bytes(self.size()),
                    sent_total: Bytes(self.size()),
                    rtt: self.maybe(Self::span),
                    smoothed_rtt: self.maybe(Self::span),
                    minimum_rtt: self.maybe(Self::span),
                    in_flight: Bytes(self.size()),
                    window_limited: self.flag(),
                    recovering: self.flag(),
                    marked: Bytes(if self.flag() { self.size() } else { 0 }),
                    rate: self.rate(),
                    option: self.option(),
                },
            },
        }
    }
}

/// Runs the case that the bytes stand for: one algorithm, or a group of one that forms groups.
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
        events.push((usize::from(source.byte()), source.event()));
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
