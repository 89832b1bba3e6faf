//! Events for algorithms in Python. The names are those of the Rust events, followed by the unit.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyString};
use selfclock_congestion as congestion;
use selfclock_congestion::event::RestartCause;
use selfclock_congestion::{Bytes, Duration};

/// Declares the Python class of an event: each attribute with its type and origin. Attributes are
/// created when read, except those `in slots`: Python 3.11 reads a slot ten times as fast, so the
/// attributes that most algorithms read are in slots if they are cheap to fill.
macro_rules! event {
    ($(#[doc = $about:literal])+ $name:ident of $inner:ty {
        $(in slots {
            $($(#[doc = $slot_about:literal])+ $slot:ident: $slot_kind:ty;)+
        })?
        $($(#[doc = $attribute_about:literal])+ $attribute:ident: $kind:ty = |$event:ident| $value:expr;)+
    }) => {
        $(#[doc = $about])+
        #[pyclass(frozen, module = "selfclock._core")]
        pub struct $name {
            pub event: $inner,
            $($($(#[doc = $slot_about])+
            #[pyo3(get)]
            pub $slot: Py<$slot_kind>,)+)?
        }

        #[pymethods]
        impl $name {
            $($(#[doc = $attribute_about])+
            #[getter]
            fn $attribute(&self) -> $kind {
                let $event = &self.event;
                $value
            })+

            fn __repr__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyString>> {
                let mut attributes = Vec::new();
                for name in [$(stringify!($attribute),)+ $($(stringify!($slot)),+)?] {
                    attributes.push(format!("{name}={}", slf.getattr(name)?.repr()?));
                }
                let text = format!("{}({})", stringify!($name), attributes.join(", "));
                Ok(PyString::new(slf.py(), &text))
            }
        }
    };
}

fn seconds(span: Option<Duration>) -> Option<f64> {
    span.map(Duration::seconds)
}

fn sample(rate: Option<congestion::RateSample>) -> Option<RateSample> {
    rate.map(|event| RateSample { event })
}

/// A number of bytes; `None` without a limit.
pub fn limited(size: Bytes) -> Option<u64> {
    (size != Bytes::MAX).then_some(size.get())
}

event! {
    /// The handshake is complete, and no data has left.
    Established of congestion::Established {
        /// Time of the event.
        now_s: f64 = |event| event.now.seconds();
        /// RTT of the handshake; `None` if ambiguous (Karn's rule).
        rtt_s: Option<f64> = |event| seconds(event.rtt);
    }
}

event! {
    /// Data is about to leave after a pause: all that had been sent is acknowledged, and the
    /// application or the receiver's window let no more be sent.
    Resumed of congestion::Resumed {
        /// Time of the event.
        now_s: f64 = |event| event.now.seconds();
        /// Time since the last segment left.
        idle_s: f64 = |event| event.idle.seconds();
        /// The retransmission timeout (RFC 6298). After a longer pause RFC 5681, section 4.1, lets
        /// the window restart; a class does that itself.
        timeout_s: f64 = |event| event.timeout.seconds();
    }
}

event! {
    /// A segment of data left the sender.
    Sent of congestion::Sent {
        /// Time of the event.
        now_s: f64 = |event| event.now.seconds();
        /// Payload of the segment.
        size_bytes: u64 = |event| event.size.get();
        /// Payload in flight, this segment included.
        in_flight_bytes: u64 = |event| event.in_flight.get();
        /// Payload that the window allows but pacing holds back.
        held_back_bytes: u64 = |event| event.held_back.get();
        /// Whether the application has no more to send, so that the window is not the limit.
        app_limited: bool = |event| event.app_limited;
    }
}

event! {
    /// A delivery-rate sample from an ACK, after draft-ietf-ccwg-bbr, section 4.1.
    RateSample of congestion::RateSample {
        /// Payload delivered per second over the interval; zero if the interval is too short.
        delivery_rate_bps: u64 = |sample| sample.delivery_rate.bits_per_second();
        /// The longer of the send and the ACK interval.
        interval_s: f64 = |sample| sample.interval.seconds();
        /// Payload delivered over the interval.
        delivered_bytes: u64 = |sample| sample.delivered.get();
        /// Payload delivered since the start of the connection, this ACK included.
        delivered_total_bytes: u64 = |sample| sample.delivered_total.get();
        /// `delivered_total_bytes` when the newest segment acknowledged here was sent.
        prior_delivered_bytes: u64 = |sample| sample.prior_delivered.get();
        /// Payload acknowledged or SACKed by this ACK.
        newly_acked_bytes: u64 = |sample| sample.newly_acked.get();
        /// Payload declared lost since the previous sample.
        newly_lost_bytes: u64 = |sample| sample.newly_lost.get();
        /// Payload declared lost since the newest segment acknowledged here was sent.
        lost_bytes: u64 = |sample| sample.lost.get();
        /// Payload in flight when the newest segment acknowledged here had been sent.
        tx_in_flight_bytes: u64 = |sample| sample.tx_in_flight.get();
        /// Whether the sample was limited by the application.
        is_app_limited: bool = |sample| sample.is_app_limited;
    }
}

event! {
    /// A cumulative ACK advanced.
    Acknowledged of congestion::Acknowledged {
        in slots {
            /// Payload newly acknowledged.
            size_bytes: PyInt;
            /// Whether the window limited the sender. A window that is not used should not grow.
            window_limited: PyBool;
            /// Whether the sender is in recovery, or the ACK echoes a mark: the window must not
            /// grow.
            recovering: PyBool;
        }
        /// Arrival time at the sender.
        now_s: f64 = |event| event.now.seconds();
        /// Payload acknowledged since the start of the connection, this ACK included.
        acknowledged_total_bytes: u64 = |event| event.acknowledged_total.get();
        /// Payload sent since the start of the connection, without retransmissions. A round trip
        /// ends when `acknowledged_total_bytes` reaches this number's value at its start.
        sent_total_bytes: u64 = |event| event.sent_total.get();
        /// RTT measured by this ACK; `None` if ambiguous (Karn's rule).
        rtt_s: Option<f64> = |event| seconds(event.rtt);
        /// Smoothed RTT (RFC 6298); `None` before the first sample.
        smoothed_rtt_s: Option<f64> = |event| seconds(event.smoothed_rtt);
        /// Minimum RTT so far; `None` before the first sample.
        minimum_rtt_s: Option<f64> = |event| seconds(event.minimum_rtt);
        /// Payload still in flight afterwards.
        in_flight_bytes: u64 = |event| event.in_flight.get();
        /// Payload newly reported as CE-marked (accurate ECN feedback).
        marked_bytes: u64 = |event| event.marked.get();
        /// Delivery rate, for a class with `wants_rate_samples = True`.
        rate: Option<RateSample> = |event| sample(event.rate);
    }
}

event! {
    /// A duplicate ACK arrived while data was outstanding.
    DuplicateAck of congestion::DuplicateAck {
        /// Arrival time at the sender.
        now_s: f64 = |event| event.now.seconds();
        /// Number of consecutive duplicates, this one included.
        count: u32 = |event| event.count;
        /// RTT of a newly SACKed segment; `None` if ambiguous.
        rtt_s: Option<f64> = |event| seconds(event.rtt);
        /// Payload in flight afterwards.
        in_flight_bytes: u64 = |event| event.in_flight.get();
        /// Payload newly reported as CE-marked (accurate ECN feedback).
        marked_bytes: u64 = |event| event.marked.get();
        /// Delivery rate, for a class with `wants_rate_samples = True`.
        rate: Option<RateSample> = |event| sample(event.rate);
    }
}

event! {
    /// Loss was detected; the missing segment is about to be retransmitted. Reported once per
    /// window of data.
    LossDetected of congestion::LossDetected {
        /// Time of the event.
        now_s: f64 = |event| event.now.seconds();
        /// FlightSize of RFC 5681: payload outstanding when the loss was detected.
        flight_size_bytes: u64 = |event| event.flight_size.get();
        /// Payload known to be lost.
        lost_bytes: u64 = |event| event.lost.get();
    }
}

event! {
    /// The receiver echoed a CE mark. Reported at most once per window of data.
    EcnEcho of congestion::EcnEcho {
        /// Time of the event.
        now_s: f64 = |event| event.now.seconds();
        /// FlightSize of RFC 5681: payload outstanding.
        flight_size_bytes: u64 = |event| event.flight_size.get();
    }
}

event! {
    /// The retransmission timer expired (RTO); the sender restarts from one segment.
    Timeout of congestion::Timeout {
        /// Time of the event.
        now_s: f64 = |event| event.now.seconds();
        /// FlightSize of RFC 5681: payload outstanding.
        flight_size_bytes: u64 = |event| event.flight_size.get();
        /// Whether the segment had timed out before: ssthresh then keeps the value of the first RTO
        /// (RFC 5681, section 3.1).
        repeated: bool = |event| event.repeated;
        /// "timer" for the retransmission timer, "fast-retransmit" for a loss detected by a Tahoe
        /// sender.
        cause: &'static str = |event| match event.cause {
            RestartCause::TimerExpired => "timer",
            RestartCause::TahoeFastRetransmit => "fast-retransmit",
            RestartCause::PersistentCongestion => "persistent-congestion",
            _ => "other",
        };
    }
}

event! {
    /// All data outstanding at the detection of the loss has been acknowledged.
    RecoveryEnded of congestion::RecoveryEnded {
        /// Time of the event.
        now_s: f64 = |event| event.now.seconds();
    }
}

event! {
    /// The last loss or RTO was spurious: nothing was lost.
    SpuriousLoss of congestion::SpuriousLoss {
        /// Time of its detection.
        now_s: f64 = |event| event.now.seconds();
    }
}
