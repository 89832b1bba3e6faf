//! Transport settings.

use super::value::{HeaderSize, OrOff, PacketSize, Positive, SmallCount, ranges};
use crate::plan::{AckClock, Ecn, Recovery, RttSamples, TimerArithmetic};
use crate::scenario::error::Problem;
use crate::scenario::reader::{FromItem, Item, Maybe, Needed, quantity_schema, table, words};
use selfclock_congestion::quantity::{self, Dimension, Quantity};
use selfclock_congestion::units::{Bytes, Duration, Rate};
use serde_json::{Value as Json, json};

table! {
    /// Transport settings. A key that is not written keeps the value of the profile.
    TransportTable {
        /// Payload of a full segment, 1 to 65535 B. Modern: "1448 B"; classic: "1000 B".
        mss: Maybe<PacketSize>,
        /// TCP and IP header on the wire, without options. "40 B".
        header: Maybe<HeaderSize>,
        /// Size of an acknowledgement on the wire, without data and options. "40 B".
        ack: Maybe<HeaderSize>,
        /// Loss recovery; "rack" is RACK-TLP, RFC 8985. Modern: "rack"; classic: "reno".
        recovery: Maybe<Recovery>,
        /// Proportional rate reduction, RFC 9937, in recoveries of "sack" and "rack". Modern: true;
        /// classic: false.
        prr: Maybe<bool>,
        /// Limited Transmit, RFC 3042. Modern: true; classic: false.
        limited_transmit: Maybe<bool>,
        /// No fast retransmit until everything outstanding at the last one, or at the last timeout,
        /// is acknowledged (RFC 6582); off: Reno as in 4.3BSD. With SACK always on. true.
        one_recovery_per_window: Maybe<bool>,
        /// Initial window: segments, or that of RFC 3390 (2 to 4 segments) or RFC 6928 (2 to 10)
        /// for the MSS. One segment after lost SYNs (syn_timeouts). Modern: "10 segments"; classic:
        /// "1 segment".
        initial_window: Maybe<InitialWindow>,
        /// Initial slow start threshold. "unlimited".
        initial_ssthresh: Maybe<Threshold>,
        /// The window that the receiver advertises: constant, or "auto", which grows with what
        /// arrives from 64 KiB to 20 MiB, as in Linux with its default buffers; for a QUIC stack
        /// "auto" is no limit. Modern: "auto"; classic: "20 segments".
        receive_window: Maybe<ReceiveWindow>,
        /// The window scale option: without it no more than 65535 bytes can be advertised. true.
        window_scaling: Maybe<bool>,
        /// SYN and SYN-ACK before the first data. Modern: true; classic: false.
        handshake: Maybe<bool>,
        /// Timestamps option: 12 bytes on every segment. Modern: true; classic: false.
        timestamps: Maybe<bool>,
        /// The receiver reports duplicate segments (D-SACK, RFC 2883), in recoveries of "sack" and
        /// "rack". Modern: true; classic: false.
        dsack: Maybe<bool>,
        /// Undo the response to a loss or a timeout that proves spurious: by timestamps (the Eifel
        /// algorithm, RFC 3522 and RFC 4015), by D-SACK (RFC 3708), by F-RTO. Needs one of
        /// timestamps, dsack and frto. Modern: true; classic: false.
        undo: Maybe<bool>,
        /// After a timeout, new data before further retransmissions shows whether it was spurious
        /// (F-RTO, RFC 5682). Without undo ignored. Modern: true; classic: false.
        frto: Maybe<bool>,
        /// Timeouts of the SYN, 1 to 1000, after which the initial window is one segment; with more
        /// than 1 not if timestamps show that the first SYN was answered and undo is on. Modern: 2
        /// (RFC 6928, Linux); classic: 1 (RFC 5681).
        syn_timeouts: Maybe<SynTimeouts>,
        /// Explicit congestion notification: none, RFC 3168, or exact counts of marked bytes.
        /// "off".
        ecn: Maybe<Ecn>,
        /// Delayed acknowledgement. Modern: every 2 segments, 40 ms after the segment, with quick
        /// acknowledgements; classic: "off".
        delayed_ack: Maybe<OrOff<DelayedAckTable>>,
        /// Retransmission timer.
        timer: Maybe<TimerTable>,
        /// Grow the window only when it is what limits the sender. Modern: true; classic: false.
        grow_only_when_limited: Maybe<bool>,
        /// Slow start and the increase of every window count acknowledged bytes, as in Linux, not
        /// acknowledgements (RFC 5681). Modern: true; classic: false.
        byte_counting: Maybe<bool>,
        /// After a pause longer than the retransmission timeout, halve the window for each timeout
        /// of the pause, down to the initial window: RFC 5681, section 4.1, as Linux does. Models
        /// are exempt. Modern: true; classic: false.
        restart_after_idle: Maybe<bool>,
        /// Space segments at this multiple of window / smoothed round-trip time even where the
        /// algorithm does not ask for it. "off".
        pacing_gain: Maybe<OrOff<Gain>>,
        /// A paced segment that left later than it might have shortens the wait of the next by the
        /// delay, at most by half, as in Linux. Modern: true; classic: false.
        pacing_credit: Maybe<bool>,
        /// A leaky bucket that shapes everything the sender sends. "off".
        shaper: Maybe<OrOff<ShaperTable>>,
        /// The receiver knows the algorithm's option. true.
        peer_knows_option: Maybe<bool>,
        /// Misbehaviour of the receiver: to see what it gains by it, and what it costs others.
        /// None.
        misbehaviour: Maybe<MisbehaviourTable>,
        /// Routers can neither read nor change the transport header, as with IPsec and QUIC. false.
        encrypted: Maybe<bool>,
    }

    /// A receiver that wants more than its share, or is broken. A key that is not written keeps its
    /// value.
    MisbehaviourTable {
        /// Divides acknowledgements: sends this many in place of one of new data. 1.
        ack_parts: Maybe<SmallCount>,
        /// Acknowledges data that has not arrived: gaps as if nothing were missing, and N segments
        /// beyond what has arrived, 0 to 1000000. "off".
        ack_ahead: Maybe<OrOff<Ahead>>,
        /// Repeats each acknowledgement N times, 0 to 1000. 0.
        ack_repeats: Maybe<Repeats>,
        /// Every Nth acknowledgement that carries SACK blocks, discards the data just reported
        /// (reneging). "off".
        renege_every: Maybe<OrOff<SmallCount>>,
        /// Multiplies the interval of a pair by this, 0.001 to 1000, before it reports it; it
        /// divides Quick-Start rates and XCP feedback by it. 1.
        interval_factor: Maybe<ReportFactor>,
    }

    /// Delayed acknowledgement. A key that is not written keeps its value.
    DelayedAckTable {
        /// Full segments for each acknowledgement. Modern: 2; classic: 1.
        every: Maybe<SmallCount>,
        /// Acknowledge at the latest after this time. Modern: "40 ms"; classic: "200 ms".
        timer: Maybe<Positive<Duration>>,
        /// Start of the timer: the first segment not yet acknowledged, or a free-running clock.
        /// Modern: "segment"; classic: "grid".
        clock: Maybe<AckClock>,
        /// Quick acknowledgements, as in Linux: up to 16 segments at the beginning, after a pause
        /// and after a duplicate, and the end of every write are acknowledged at once; the timer
        /// follows the gaps between segments, up to the round-trip time and 200 ms. Modern: true;
        /// classic: false.
        quick: Maybe<bool>,
    }

    /// Retransmission timer. A key that is not written keeps its value.
    TimerTable {
        /// Before the first round-trip sample. Modern: "1 s"; classic: "3 s".
        initial: Maybe<Positive<Duration>>,
        /// Smallest value. Modern: "200 ms"; classic: "1 s".
        minimum: Maybe<Duration>,
        /// Largest value. Modern: "120 s"; classic: "64 s".
        maximum: Maybe<Positive<Duration>>,
        /// Clock granularity; "0 s" is exact. Modern: "1 ms"; classic: "500 ms".
        granularity: Maybe<Duration>,
        /// Factor at each expiry, 1 to 100. 2.
        backoff: Maybe<Backoff>,
        /// Timeouts of the SYN before its timer backs off, 0 to 1000. Modern: 4
        /// (net.ipv4.tcp_syn_linear_timeouts of Linux); classic: 0 (RFC 6298).
        linear_syn_timeouts: Maybe<LinearTimeouts>,
        /// How samples become the timeout. Modern: "linux", SRTT + max(4 RTTVAR, minimum);
        /// classic: "bsd", in whole ticks of the granularity; or "rfc6298".
        arithmetic: Maybe<TimerArithmetic>,
        /// Which segments are timed. Modern: "every-segment"; classic: "one-at-a-time".
        samples: Maybe<RttSamples>,
    }

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
