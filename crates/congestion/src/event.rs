//! Events of a connection.
//!
//! Every event is a small struct with a constructor for its required fields; the others are set
//! afterwards. [`Event`] is any of them: one entry point for traces, fuzzers and adapters
//! ([`Controller::on`](crate::Controller::on)).

use crate::option::PeerOption;
use crate::units::{Bytes, Duration, Rate, Time};

/// Declares [`Event`] from the list of events.
macro_rules! events {
    ($($(#[$meta:meta])* $event:ident,)+) => {
        /// Any event of a connection.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Event {
            $($(#[$meta])* $event($event),)+
        }

        impl Event {
            /// When it happens.
            pub const fn now(&self) -> Time {
                match self {
                    $(Self::$event(event) => event.now,)+
                }
            }

            /// The same event at another time.
            #[must_use]
            pub const fn at(mut self, now: Time) -> Self {
                match &mut self {
                    $(Self::$event(event) => event.now = now,)+
                }
                self
            }
        }

        $(impl From<$event> for Event {
            fn from(event: $event) -> Self {
                Self::$event(event)
            }
        })+
    };
}

events! {
    /// The SYN-ACK has arrived.
    Established,
    /// The SYN or the SYN-ACK was lost.
    HandshakeLost,
    /// Data is about to leave after a pause of the application.
    Resumed,
    /// A segment of data left.
    Sent,
    /// An ACK advanced.
    Acknowledged,
    /// The clocks' times of the ACK that follows.
    Stamped,
    /// A duplicate ACK arrived.
    DuplicateAck,
    /// A loss was detected.
    LossDetected,
    /// The receiver echoed a CE mark.
    EcnEcho,
    /// The connection restarts from one segment.
    Timeout,
    /// Recovery is over.
    RecoveryEnded,
    /// The last loss or timeout was spurious.
    SpuriousLoss,
    /// The segment size of the path has changed.
    MssChanged,
}

/// The SYN-ACK has arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Established {
    /// When.
    pub now: Time,
    /// Round-trip time measured by the handshake, if possible (Karn's rule).
    pub rtt: Option<Duration>,
    /// The peer's option on the SYN-ACK.
    pub option: Option<PeerOption>,
}

impl Established {
    /// At this time, with this round-trip time.
    #[inline]
    pub const fn new(now: Time, rtt: Option<Duration>) -> Self {
        Self { now, rtt, option: None }
    }
}

/// The SYN or the SYN-ACK was lost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct HandshakeLost {
    /// When.
    pub now: Time,
}

impl HandshakeLost {
    /// At this time.
    #[inline]
    pub const fn new(now: Time) -> Self {
        Self { now }
    }
}

/// Data is about to leave after a pause: everything sent had been acknowledged, and the application
/// (or the receiver's window) had let no more be sent. An ACK that covers a whole flight of a
/// sender that the window limits is no pause. Precedes the [`Sent`] of that data.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Resumed {
    /// When.
    pub now: Time,
    /// Time since the last segment of data left.
    pub idle: Duration,
    /// The retransmission timeout (RFC 6298). "If the TCP has not sent data in an interval
    /// exceeding the retransmission timeout", the window restarts (RFC 5681, section 4.1).
    pub timeout: Duration,
}

impl Resumed {
    /// At this time, so long after the last segment, with this retransmission timeout.
    #[inline]
    pub const fn new(now: Time, idle: Duration, timeout: Duration) -> Self {
        Self { now, idle, timeout }
    }
}

/// A segment of data left the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Sent {
    /// When.
    pub now: Time,
    /// Payload of the segment.
    pub size: Bytes,
    /// Payload in flight, this segment included.
    pub in_flight: Bytes,
    /// Payload that the window allows now but pacing holds back.
    pub held_back: Bytes,
    /// The application has no more data: the window does not limit the sender.
    pub app_limited: bool,
}

impl Sent {
    /// At this time, a segment of this size, which brings the flight to `in_flight`.
    #[inline]
    pub const fn new(now: Time, size: Bytes, in_flight: Bytes) -> Self {
        Self { now, size, in_flight, held_back: Bytes::ZERO, app_limited: false }
    }
}

/// A delivery-rate sample from an ACK, after draft-ietf-ccwg-bbr, section 4.1. Computed only for
/// algorithms that request it
/// ([`Controller::wants_rate_samples`](crate::Controller::wants_rate_samples)).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RateSample {
    /// Delivery rate over the interval. Zero, hence no sample, if the interval is shorter than the
    /// minimum RTT.
    pub delivery_rate: Rate,
    /// The longer of the send and the ACK interval.
    pub interval: Duration,
    /// Payload delivered over the interval.
    pub delivered: Bytes,
    /// Payload delivered since the connection began, this ACK included.
    pub delivered_total: Bytes,
    /// `delivered_total` when the newest segment acknowledged here was sent.
    pub prior_delivered: Bytes,
    /// Payload acknowledged or SACKed by this ACK.
    pub newly_acked: Bytes,
    /// Payload marked lost since the previous sample, this ACK included.
    pub newly_lost: Bytes,
    /// Payload marked lost since the newest segment acknowledged here was sent.
    pub lost: Bytes,
    /// Payload in flight just after the newest segment acknowledged here was sent.
    pub tx_in_flight: Bytes,
    /// Whether the application had too little to send while the sample was taken.
    pub is_app_limited: bool,
}

/// Data was newly acknowledged: the cumulative ACK advanced. A transport that acknowledges packets
/// one by one (QUIC) passes the sum of one ACK frame.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Acknowledged {
    /// When the ACK arrived at the sender.
    pub now: Time,
    /// Payload newly acknowledged.
    pub size: Bytes,
    /// Payload acknowledged since the connection began, this ACK included: bytes, not a sequence
    /// number.
    pub acknowledged_total: Bytes,
    /// Payload sent since the connection began, retransmitted segments counted once. A round trip
    /// ends when `acknowledged_total` reaches the value this had at its beginning.
    pub sent_total: Bytes,
    /// Round-trip time of the newest segment that this ACK covers, if measurable (Karn's rule).
    /// Unlike that of older segments it excludes the delay of the ACK.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time of the retransmission timer (RFC 6298), once available. Includes
    /// the delay of ACKs.
    pub smoothed_rtt: Option<Duration>,
    /// Smallest `rtt` so far; before the first sample, that of the handshake.
    pub minimum_rtt: Option<Duration>,
    /// Payload in flight after this ACK.
    pub in_flight: Bytes,
    /// Whether the window limited the sender. An unused window should not grow.
    pub window_limited: bool,
    /// Whether the sender is in recovery, or the ACK echoes a CE mark (RFC 3168): the window must
    /// not grow on it.
    pub recovering: bool,
    /// Payload that the receiver newly reports as CE-marked (accurate ECN feedback).
    pub marked: Bytes,
    /// Delivery rate, for algorithms that request it.
    pub rate: Option<RateSample>,
    /// The peer's option on this ACK.
    pub option: Option<PeerOption>,
}

impl Acknowledged {
    /// An ACK at this time, of this much payload, of a sender that the window limits.
    #[inline]
    pub const fn new(now: Time, size: Bytes) -> Self {
        Self {
            now,
            size,
            acknowledged_total: size,
            sent_total: size,
            rtt: None,
            smoothed_rtt: None,
            minimum_rtt: None,
            in_flight: Bytes::ZERO,
            window_limited: true,
            recovering: false,
            marked: Bytes::ZERO,
            rate: None,
            option: None,
        }
    }
}

impl Default for Acknowledged {
    fn default() -> Self {
        Self::new(Time::ZERO, Bytes::ZERO)
    }
}

/// The clocks' times of an ACK, before the event of that ACK: told only to algorithms that request
/// them ([`Controller::wants_stamps`](crate::Controller::wants_stamps)). A host may process an ACK
/// later than its network card received it, and the receiver's clock is near the bottleneck.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Stamped {
    /// When the sender processes the ACK.
    pub now: Time,
    /// When the sender's network card received it, by the card's time stamp.
    pub card: Time,
    /// When the receiver received the segment that it answers, by the receiver's clock, whose
    /// offset is unknown: the time stamp of RFC 7323 in a fine unit, or the receive time stamp of
    /// QUIC.
    pub peer: Time,
}

impl Stamped {
    /// At this time, with these time stamps.
    #[inline]
    pub const fn new(now: Time, card: Time, peer: Time) -> Self {
        Self { now, card, peer }
    }
}

/// An ACK repeated the previous cumulative ACK while data was outstanding.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct DuplicateAck {
    /// When it arrived at the sender.
    pub now: Time,
    /// Number of consecutive duplicates, this one included.
    pub count: u32,
    /// Round-trip time measured from a newly SACKed segment, if possible.
    pub rtt: Option<Duration>,
    /// Payload in flight after this ACK.
    pub in_flight: Bytes,
    /// Payload that the receiver newly reports as CE-marked (accurate ECN feedback).
    pub marked: Bytes,
    /// Delivery rate, for algorithms that request it: a duplicate may report newly SACKed data.
    pub rate: Option<RateSample>,
    /// The peer's option on this ACK.
    pub option: Option<PeerOption>,
}

impl DuplicateAck {
    /// At this time, the `count`th in a row.
    #[inline]
    pub const fn new(now: Time, count: u32) -> Self {
        let nothing = Bytes::ZERO;
        Self { now, count, rtt: None, in_flight: nothing, marked: nothing, rate: None, option: None }
    }
}

/// Loss was detected by duplicate or selective ACKs; the missing segment is about to be
/// retransmitted. Reported once per window of data.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct LossDetected {
    /// When.
    pub now: Time,
    /// FlightSize of RFC 5681: payload outstanding when the loss was detected, without segments
    /// sent by Limited Transmit.
    pub flight_size: Bytes,
    /// Payload known to be lost; zero if the transport does not report it.
    pub lost: Bytes,
}

impl LossDetected {
    /// At this time, with this much outstanding.
    #[inline]
    pub const fn new(now: Time, flight_size: Bytes) -> Self {
        Self { now, flight_size, lost: Bytes::ZERO }
    }
}

/// The sender restarts from one segment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Timeout {
    /// When.
    pub now: Time,
    /// FlightSize of RFC 5681: payload outstanding.
    pub flight_size: Bytes,
    /// Whether the window was reduced for this data before, so that ssthresh stays: the segment had
    /// timed out (RFC 5681, section 3.1), or the timeout ends a recovery (Linux, `tcp_enter_loss`).
    pub repeated: bool,
    /// Cause of the restart.
    pub cause: RestartCause,
}

impl Timeout {
    /// The retransmission timer expired for the first time, with this much outstanding.
    #[inline]
    pub const fn new(now: Time, flight_size: Bytes) -> Self {
        Self { now, flight_size, repeated: false, cause: RestartCause::TimerExpired }
    }
}

/// Why a sender restarts from one segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestartCause {
    /// The retransmission timer expired.
    #[default]
    TimerExpired,
    /// The third duplicate ACK, in a Tahoe sender, which has no fast recovery.
    TahoeFastRetransmit,
    /// QUIC: "all packets that are sent over a period of time" were lost (RFC 9002, section 7.6).
    /// QUIC acknowledges each packet once, so no later ACK covers what had arrived long before.
    PersistentCongestion,
}

/// The receiver echoed a CE mark (RFC 3168). Reported at most once per window of data.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct EcnEcho {
    /// When.
    pub now: Time,
    /// FlightSize of RFC 5681: payload outstanding.
    pub flight_size: Bytes,
}

impl EcnEcho {
    /// At this time, with this much outstanding.
    #[inline]
    pub const fn new(now: Time, flight_size: Bytes) -> Self {
        Self { now, flight_size }
    }
}

/// Everything outstanding when the loss was detected has been acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RecoveryEnded {
    /// When.
    pub now: Time,
}

impl RecoveryEnded {
    /// At this time.
    #[inline]
    pub const fn new(now: Time) -> Self {
        Self { now }
    }
}

/// The last [`LossDetected`] or [`Timeout`] was spurious: nothing had been lost, according to
/// timestamps (RFC 4015), F-RTO (RFC 5682) or DSACK (RFC 3708).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SpuriousLoss {
    /// When it was discovered.
    pub now: Time,
}

impl SpuriousLoss {
    /// At this time.
    #[inline]
    pub const fn new(now: Time) -> Self {
        Self { now }
    }
}

/// The segment size of the path has changed (RFC 8899).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MssChanged {
    /// When.
    pub now: Time,
    /// New payload of a full segment. Zero is ignored.
    pub mss: Bytes,
    /// New initial window, in segments, if nothing has been acknowledged and the size had to
    /// shrink: "If the maximum datagram size is decreased in order to complete the handshake, the
    /// congestion window SHOULD be set to the new initial congestion window" (RFC 9002, section
    /// 7.2). Zero: the window keeps its bytes.
    pub initial_window: f64,
}

impl MssChanged {
    /// At this time, to this payload.
    #[inline]
    pub const fn new(now: Time, mss: Bytes) -> Self {
        Self { now, mss, initial_window: 0.0 }
    }
}
