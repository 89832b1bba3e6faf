//! Transport settings.

use super::value::{HeaderSize, OrOff, PacketSize, Positive, SmallCount, ranges};
use crate::plan::{
    self, AckClock, DelayedAck, Ecn, MisbehaviourPlan, Recovery, RetransmissionTimer, RttSamples, Shaper,
    TimerArithmetic, Transport,
};
use crate::scenario::error::Problem;
use crate::scenario::layer::{KeyDefault, Layer, Setting, inline, layers};
use crate::scenario::reader::{FromItem, Item, Needed, quantity_schema, table, words};
use selfclock_congestion::quantity::{self, Dimension, Quantity};
use selfclock_congestion::units::{Bytes, Duration, Rate};
use serde_json::{Value as Json, json};

layers! {
    /// Transport settings. A key that is not written keeps the value of the profile.
    TransportTable => Transport {
        /// Payload of a full segment, 1 to 65535 B.
        mss: PacketSize,
        /// TCP and IP header on the wire, without options, at most 65535 B.
        header: HeaderSize,
        /// Size of an ACK on the wire, without data and options, at most 65535 B.
        ack: HeaderSize,
        /// Loss recovery; `"rack"` is SACK with RACK-TLP (RFC 8985): time-based loss detection,
        /// tail loss probes; the loss of a retransmission after a timeout begins a recovery (RFC
        /// 5681, 4.3).
        recovery: Recovery,
        /// Proportional rate reduction, RFC 9937: in a recovery with `"sack"` or `"rack"` the
        /// window is reduced over a round trip, not at once; not for an algorithm that sets its
        /// window in recovery itself (`bbr3`; `selfclock algorithms NAME` says it).
        prr: bool,
        /// RFC 3042: a new segment on each of the first two duplicate ACKs.
        limited_transmit: bool,
        /// No fast retransmit until all data outstanding at the last one, or at the last RTO, is
        /// acknowledged (RFC 6582); off: 4.3BSD's Reno. Always on with SACK.
        one_recovery_per_window: bool,
        /// Window at the start; RFC 3390: min(4 MSS, max(2 MSS, 4380 B)), RFC 6928: min(10 MSS,
        /// max(2 MSS, 14600 B)); one segment after lost SYNs (`syn_timeouts`).
        initial_window: InitialWindow,
        /// Slow start threshold at the start.
        initial_ssthresh: Threshold,
        /// Window that the receiver advertises; `"auto"` grows with what arrives, from 64 KiB in
        /// whole segments to 20 MiB, as Linux tunes it with its default buffers; for a QUIC stack
        /// `"auto"` is no limit.
        receive_window: ReceiveWindow,
        /// Window scale option: without it no more than 65535 bytes can be advertised.
        window_scaling: bool,
        /// SYN and SYN-ACK before the first data.
        handshake: bool,
        /// Timestamps option: 12 bytes on every segment.
        timestamps: bool,
        /// With `"sack"` and `"rack"`, the receiver reports a duplicate segment as the first SACK
        /// block of its ACK (D-SACK, RFC 2883); RACK widens its reordering window by it (RFC 8985,
        /// 6.2), and it shows that a tail loss probe has repaired nothing.
        dsack: bool,
        /// Undo the response to a loss or an RTO that proves spurious: by timestamps (the Eifel
        /// algorithm, RFC 3522 and RFC 4015), by D-SACK of every retransmission (RFC 3708), or by
        /// F-RTO; needs one of `timestamps`, `dsack` and `frto`. Not after an ECN mark.
        undo: bool,
        /// After an RTO, the first ACK that advances releases new data instead of retransmissions;
        /// if the next one is of data never retransmitted, the RTO was spurious (F-RTO, RFC 5682).
        /// Ignored without `undo`.
        frto: bool,
        /// Timeouts of the SYN after which the initial window is one segment: 1 is RFC 5681, 2 is
        /// RFC 6928 and Linux. With `undo` and timestamps, and more than 1, not if the first SYN
        /// was answered.
        syn_timeouts: SynTimeouts,
        /// Explicit congestion notification: none, RFC 3168 (ECT on new data only), or exact counts
        /// of marked bytes (ECT on all data and ACKs).
        ecn: Ecn,
        /// Delayed ACKs; `"off"` is `every = 1`.
        delayed_ack: OrOff<DelayedAckTable>,
        /// Retransmission timer.
        timer: TimerTable,
        /// Grow the window only while it limits the sender: in a window of data that has filled it
        /// at least once (Linux: `tcp_cwnd_validate`); in slow start also if more than half of it
        /// was in use (Linux: `tcp_is_cwnd_limited`; RFC 7661, 4.3). A sender held back by pacing
        /// or `shaper` counts as limited if its data would otherwise fill the window (RFC 9002,
        /// 7.8) and half of the window is in use.
        grow_only_when_limited: bool,
        /// Slow start and the increase of every window count acknowledged bytes, as in Linux, not
        /// ACKs (RFC 5681); after an RTO slow start adds at most one segment per ACK until
        /// everything outstanding is acknowledged (RFC 3465, section 2.4).
        byte_counting: bool,
        /// After a pause longer than the RTO the window is halved for each RTO of the pause, down
        /// to the initial window (RFC 5681, section 4.1; Linux's `tcp_slow_start_after_idle`);
        /// models (BBRv3, Prague, XCP) are exempt.
        restart_after_idle: bool,
        /// Pace segments at this multiple of window / smoothed RTT even if the algorithm does not
        /// pace.
        pacing_gain: OrOff<Gain>,
        /// A paced segment that left later than it might have, because it waited for an ACK or for
        /// data, shortens the wait of the next by the delay, at most by half (Linux:
        /// `tcp_update_skb_after_send`). A pacer with a coarse clock has none.
        pacing_credit: bool,
        /// A leaky bucket that shapes all of the sender's packets.
        shaper: OrOff<ShaperTable>,
        /// The receiver supports the algorithm's option; otherwise it ignores it.
        peer_knows_option: bool,
        /// Violations by the receiver, to see what it gains by them and what they cost others; an
        /// honest one without it.
        misbehaviour: MisbehaviourTable,
        /// Routers can neither read nor change the transport header, as with IPsec and QUIC.
        encrypted: bool,
    }

    /// A receiver that wants more than its share, or is broken. A key that is not written keeps its
    /// value.
    MisbehaviourTable => MisbehaviourPlan {
        /// ACKs sent in place of one that acknowledges new data.
        ack_parts: SmallCount,
        /// Acknowledges data that has not arrived: gaps, and this many segments beyond the last.
        ack_ahead: OrOff<Ahead>,
        /// Copies of each ACK.
        ack_repeats: Repeats,
        /// With every Nth ACK that carries SACK blocks, discards the data just reported (reneging).
        renege_every: OrOff<SmallCount>,
        /// Factor on the reported interval of a pair; Quick-Start rates and XCP feedback are
        /// divided by it.
        interval_factor: ReportFactor,
    }

    /// Delayed acknowledgement. A key that is not written keeps its value.
    DelayedAckTable => DelayedAck {
        /// Full segments per ACK.
        every: SmallCount,
        /// Longest delay of an ACK; with `quick` the shortest, which grows with the gaps between
        /// segments, up to the RTT and 200 ms.
        timer: Positive<Duration>,
        /// Whether the timer starts at the first segment not yet acknowledged, or is a free-running
        /// clock, as in 4.4BSD.
        clock: AckClock,
        /// Quick ACKs, as in Linux: up to 16 segments at the beginning, after a pause and after a
        /// duplicate, two after a mark (`ecn = "classic"`), each segment that opens an autotuned
        /// window, and the end of each write are acknowledged at once.
        quick: bool,
    }

    /// Retransmission timer. A key that is not written keeps its value.
    TimerTable => RetransmissionTimer {
        /// Before the first RTT sample; above 0.
        initial: Positive<Duration>,
        /// Smallest value.
        minimum: Duration,
        /// Largest value, from `minimum`.
        maximum: Positive<Duration>,
        /// Clock granularity; 0 is exact, and not for `"bsd"`.
        granularity: Duration,
        /// Factor at each expiry.
        backoff: Backoff,
        /// Expiries for the SYN before the factor applies (Linux: `tcp_syn_linear_timeouts`).
        linear_syn_timeouts: LinearTimeouts,
        /// As in Linux: SRTT + max(4 RTTVAR, `minimum`), without `granularity`, RTTVAR falls once
        /// per round trip, SACKed segments are timed, too, and a tail loss probe of one segment
        /// waits for `minimum` beyond two round trips; RFC 6298 as written: max(SRTT + max(G, 4
        /// RTTVAR), `minimum`); or in whole ticks of the granularity, as in 4.3BSD.
        arithmetic: TimerArithmetic,
        /// Which segments are timed for the timer; congestion control gets the RTT of the newest
        /// segment of every ACK.
        samples: RttSamples,
    }
}

table! {
    /// A leaky bucket.
    ShaperTable {
        /// Rate on the wire.
        rate: Needed<Rate>,
        /// Bytes that may leave at once after an idle time.
        burst: Needed<Positive<Bytes>>,
    }
}

words! {
    Recovery { "tahoe" => Self::Tahoe, "reno" => Self::Reno, "newreno" => Self::NewReno, "sack" => Self::Sack, "rack" => Self::Rack, }
    Ecn { "off" => Self::Off, "classic" => Self::Classic, "accurate" => Self::Accurate, }
    AckClock { "segment" => Self::Segment, "grid" => Self::Grid, }
    TimerArithmetic { "rfc6298" => Self::Rfc6298, "linux" => Self::Linux, "bsd" => Self::Bsd, }
    RttSamples { "one-at-a-time" => Self::OneAtATime, "every-segment" => Self::EverySegment, }
}

ranges! {
    /// Segments that are acknowledged before they arrive.
    Ahead(u32) = integer, "integer", 0, 1_000_000;
    /// Repetitions of an acknowledgement.
    Repeats(u32) = integer, "integer", 0, 1000;
    /// Timeouts of a SYN.
    SynTimeouts(u32) = integer, "integer", 1, 1000;
    /// Timeouts of a SYN.
    LinearTimeouts(u32) = integer, "integer", 0, 1000;
    /// Factor on a receiver's reports.
    ReportFactor(f64) = number_within, "number", 0.001, 1000.0;
    /// Factor of a timer at each expiry.
    Backoff(f64) = number_within, "number", 1.0, 100.0;
    /// Factor of the pacing rate.
    Gain(f64) = number_within, "number", 0.01, 100.0;
}

/// A receive window, as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReceiveWindow {
    /// Any size.
    Unlimited,
    /// It grows with what arrives.
    Auto,
    /// A number of segments.
    Segments(f64),
    /// A number of bytes.
    Bytes(Bytes),
}

impl FromItem for ReceiveWindow {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        if item.is_word("unlimited") {
            return Ok(Self::Unlimited);
        }
        if item.is_word("auto") {
            return Ok(Self::Auto);
        }
        match item.quantity(&[Dimension::Segments, Dimension::Size])? {
            Quantity::Size(size) => Ok(Self::Bytes(size)),
            Quantity::Segments(segments) => Ok(Self::Segments(segments)),
            _ => Err(item.expected("a window")),
        }
    }
    fn schema() -> Json {
        let quantity = quantity_schema(&[Dimension::Segments, Dimension::Size]);
        json!({ "anyOf": [{ "enum": ["auto", "unlimited"] }, quantity] })
    }
}

/// At least one segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segments(pub f64);

impl FromItem for Segments {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        match item.quantity(&[Dimension::Segments])? {
            Quantity::Segments(segments) if segments >= 1.0 => Ok(Self(segments)),
            _ => Err(item.place.problem("less than one segment", quantity::example(&[Dimension::Segments]))),
        }
    }
    fn schema() -> Json {
        quantity_schema(&[Dimension::Segments])
    }
}

/// An initial window, as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InitialWindow {
    /// A number of segments.
    Segments(f64),
    /// min(4 MSS, max(2 MSS, 4380 bytes)).
    Rfc3390,
    /// min(10 MSS, max(2 MSS, 14600 bytes)).
    Rfc6928,
}

impl InitialWindow {
    /// In segments of this size.
    pub fn segments(self, mss: Bytes) -> f64 {
        let formula = |most: u64, bytes: u64| {
            let window = (most * mss.get()).min((2 * mss.get()).max(bytes));
            window as f64 / mss.get() as f64
        };
        match self {
            Self::Segments(segments) => segments,
            Self::Rfc3390 => formula(4, 4380),
            Self::Rfc6928 => formula(10, 14_600),
        }
    }
}

impl FromItem for InitialWindow {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        match item.value.as_str() {
            Some("rfc3390") => Ok(Self::Rfc3390),
            Some("rfc6928") => Ok(Self::Rfc6928),
            Some(word) if word.starts_with(|first: char| first.is_ascii_alphabetic()) => {
                Err(item.place.problem(
                    format!("unknown initial window {word:?}"),
                    format!("{}, \"rfc3390\" or \"rfc6928\"", quantity::example(&[Dimension::Segments])),
                ))
            }
            _ => Segments::read(item).map(|segments| Self::Segments(segments.0)),
        }
    }
    fn schema() -> Json {
        json!({ "anyOf": [{ "enum": ["rfc3390", "rfc6928"] }, Segments::schema()] })
    }
}

/// A slow start threshold in segments; "unlimited" is infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold(pub f64);

impl FromItem for Threshold {
    fn read(item: &Item<'_>) -> Result<Self, Problem> {
        if item.is_word("unlimited") {
            return Ok(Self(f64::INFINITY));
        }
        Segments::read(item).map(|segments| Self(segments.0))
    }
    fn schema() -> Json {
        json!({ "anyOf": [{ "const": "unlimited" }, Segments::schema()] })
    }
}

/// A key that is left out of the table keeps its value; "off" acknowledges every segment.
impl Setting<DelayedAck> for OrOff<DelayedAckTable> {
    fn put(&self, delayed_ack: &mut DelayedAck) {
        match self {
            Self::Off => delayed_ack.every = 1,
            Self::On(written) => written.overlay(delayed_ack),
        }
    }
    fn write(delayed_ack: &DelayedAck, mss: Bytes) -> String {
        if delayed_ack.every == 1 {
            "\"off\"".to_owned()
        } else {
            inline(&DelayedAckTable::defaults([delayed_ack; 2], [mss; 2]))
        }
    }
    fn keys(profiles: [&DelayedAck; 2], mss: [Bytes; 2]) -> Vec<KeyDefault> {
        DelayedAckTable::defaults(profiles, mss)
    }
}

/// Its keys have defaults, the table has none.
impl Setting<RetransmissionTimer> for TimerTable {
    fn put(&self, timer: &mut RetransmissionTimer) {
        self.overlay(timer);
    }
    fn write(_: &RetransmissionTimer, _: Bytes) -> String {
        String::new()
    }
    fn keys(profiles: [&RetransmissionTimer; 2], mss: [Bytes; 2]) -> Vec<KeyDefault> {
        Self::defaults(profiles, mss)
    }
}

/// Without the table the receiver is honest, as it is with an empty one.
impl Setting<Option<MisbehaviourPlan>> for MisbehaviourTable {
    fn put(&self, misbehaviour: &mut Option<MisbehaviourPlan>) {
        self.overlay(misbehaviour.get_or_insert(MisbehaviourPlan::NONE));
    }
    fn write(_: &Option<MisbehaviourPlan>, _: Bytes) -> String {
        String::new()
    }
    fn keys(_: [&Option<MisbehaviourPlan>; 2], mss: [Bytes; 2]) -> Vec<KeyDefault> {
        Self::defaults([&MisbehaviourPlan::NONE; 2], mss)
    }
}

impl Setting<Shaper> for ShaperTable {
    fn put(&self, shaper: &mut Shaper) {
        *shaper = Shaper { rate: self.rate.value, burst: self.burst.value.0 };
    }
    fn write(_: &Shaper, _: Bytes) -> String {
        String::new()
    }
}

/// It follows the MSS, whichever layer sets that, so it is put last.
impl Setting<plan::ReceiveWindow> for ReceiveWindow {
    fn put(&self, _: &mut plan::ReceiveWindow) {}
    fn write(window: &plan::ReceiveWindow, mss: Bytes) -> String {
        match *window {
            plan::ReceiveWindow::Auto => "\"auto\"".to_owned(),
            plan::ReceiveWindow::UNLIMITED => "\"unlimited\"".to_owned(),
            plan::ReceiveWindow::Fixed(size) => segments(size.get() as f64 / mss.get() as f64),
        }
    }
}

/// As the receive window.
impl Setting<f64> for InitialWindow {
    fn put(&self, _: &mut f64) {}
    fn write(window: &f64, _: Bytes) -> String {
        segments(*window)
    }
}

impl Setting<f64> for Threshold {
    fn put(&self, threshold: &mut f64) {
        *threshold = self.0;
    }
    fn write(threshold: &f64, _: Bytes) -> String {
        if threshold.is_finite() { segments(*threshold) } else { "\"unlimited\"".to_owned() }
    }
}

/// A number of segments as files have it.
fn segments(number: f64) -> String {
    format!("\"{number} segment{}\"", if number == 1.0 { "" } else { "s" })
}
