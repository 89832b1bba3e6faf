//! What can happen to a connection.

use crate::option::PeerOption;
use crate::units::{Bytes, Duration, Rate, Time};

/// The answer to the SYN has arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Established {
    /// When.
    pub now: Time,
    /// Round-trip time measured by the handshake, if it could be (Karn's rule).
    pub rtt: Option<Duration>,
    /// The peer's option on the SYN-ACK.
    pub option: Option<PeerOption>,
}

/// A segment of data left the sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sent {
    /// When.
    pub now: Time,
    /// Payload of the segment.
    pub size: Bytes,
    /// Payload in flight, this segment included.
    pub in_flight: Bytes,
    /// Payload the window allows now but pacing holds back.
    pub held_back: Bytes,
}

/// What an acknowledgement says of the rate at which data is delivered, after draft-ietf-ccwg-bbr, section 4.1.
/// Only computed for algorithms that ask for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Delivery rate over the interval. Zero if the interval is shorter than the smallest round-trip time, and so tells
    /// nothing.
    pub delivery_rate: Rate,
    /// The longer of the send and the acknowledgement interval.
    pub interval: Duration,
    /// Payload delivered over the interval.
    pub delivered: Bytes,
    /// Payload delivered since the connection began, this acknowledgement included.
    pub delivered_total: Bytes,
    /// What `delivered_total` was when the newest segment acknowledged here was sent.
    pub prior_delivered: Bytes,
    /// Payload acknowledged or SACKed by this acknowledgement.
    pub newly_acked: Bytes,
    /// Payload marked lost since the previous sample, with this acknowledgement too.
    pub newly_lost: Bytes,
    /// Payload marked lost between the sending of the newest segment acknowledged here and now.
    pub lost: Bytes,
    /// Payload in flight when the newest segment acknowledged here had been sent.
    pub tx_in_flight: Bytes,
    /// The sample was taken while the application had too little to send.
    pub is_app_limited: bool,
}

/// An acknowledgement advanced the cumulative acknowledgement number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acknowledged {
    /// When it arrived at the sender.
    pub now: Time,
    /// Payload newly acknowledged.
    pub size: Bytes,
    /// Payload acknowledged since the connection began, this included.
    pub acknowledged_total: Bytes,
    /// Payload sent since the connection began, repeated segments counted once. A round trip is over when
    /// `acknowledged_total` reaches what this was at its beginning.
    pub sent_total: Bytes,
    /// Round-trip time of the newest segment that this acknowledgement covers, without the wait for a delayed
    /// acknowledgement that older ones have in it, if it could be measured (Karn's rule).
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time of the retransmission timer (RFC 6298), once there is one. With that wait.
    pub smoothed_rtt: Option<Duration>,
    /// Smallest `rtt` seen so far; before there is any, that of the handshake.
    pub minimum_rtt: Option<Duration>,
    /// Payload still in flight afterwards.
    pub in_flight: Bytes,
    /// The window was what kept the sender from sending more. A window that is not used should not grow.
    pub window_limited: bool,
    /// The sender is repairing a loss (fast recovery), or the acknowledgement echoes a congestion mark (RFC 3168): the
    /// window is not to grow on it.
    pub recovering: bool,
    /// Payload that the receiver newly reports as marked congestion-experienced (accurate ECN feedback).
    pub marked: Bytes,
    /// Delivery rate, for algorithms that ask for it.
    pub rate: Option<RateSample>,
    /// The peer's option on this acknowledgement.
    pub option: Option<PeerOption>,
}

/// An acknowledgement repeated the last number while data was outstanding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DuplicateAck {
    /// When it arrived at the sender.
    pub now: Time,
    /// How many in a row, this one included.
    pub count: u32,
    /// Round-trip time measured from a newly SACKed segment, if it could be.
    pub rtt: Option<Duration>,
    /// Payload in flight afterwards.
    pub in_flight: Bytes,
    /// Payload that the receiver newly reports as marked congestion-experienced (accurate ECN feedback).
    pub marked: Bytes,
    /// Delivery rate, for algorithms that ask for it: a duplicate may report newly SACKed data.
    pub rate: Option<RateSample>,
    /// The peer's option on this acknowledgement.
    pub option: Option<PeerOption>,
}

/// Loss was detected by duplicate or selective acknowledgements; the missing segment is about to be sent again.
/// Reported once per window of data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossDetected {
    /// When.
    pub now: Time,
    /// FlightSize of RFC 5681: payload outstanding when the loss was detected, without what Limited Transmit sent.
    pub flight_size: Bytes,
}

/// The sender starts again from one segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timeout {
    /// When.
    pub now: Time,
    /// FlightSize of RFC 5681: payload outstanding.
    pub flight_size: Bytes,
    /// The segment had timed out before: ssthresh stays as the first expiry set it (RFC 5681, section 3.1).
    pub repeated: bool,
    /// What made it start again.
    pub cause: RestartCause,
}

/// Why a sender starts again from one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestartCause {
    /// The retransmission timer expired.
    TimerExpired,
    /// The third duplicate acknowledgement, in a Tahoe sender, which has no fast recovery.
    TahoeFastRetransmit,
}

/// The receiver echoed a congestion mark (RFC 3168). Reported at most once per window of data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EcnEcho {
    /// When.
    pub now: Time,
    /// FlightSize of RFC 5681: payload outstanding.
    pub flight_size: Bytes,
}

/// Everything outstanding when the loss was detected has been acknowledged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecoveryEnded {
    /// When.
    pub now: Time,
}
