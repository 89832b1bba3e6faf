//! Events as an algorithm in Python receives them. The names are those of the Rust events, with the
//! unit after them.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyString};
use selfclock_congestion as congestion;
use selfclock_congestion::event::RestartCause;
use selfclock_congestion::{Bytes, Duration};

/// Declares the Python class of an event: each attribute with its type and where it comes from.
/// Attributes are made when they are read, but for those `in slots`: Python 3.11 reads a slot ten
/// times as fast, so what most algorithms read stands in one, where it costs little to fill.
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

/// A number of bytes, or none where there is no limit.
pub fn limited(size: Bytes) -> Option<u64> {
    (size != Bytes::MAX).then_some(size.get())
}

event! {
    /// The handshake is complete, and no data has left.
    Established of congestion::Established {
        /// When.
        now_s: f64 = |event| event.now.seconds();
        /// Round-trip time measured by the handshake, if it could be (Karn's rule).
        rtt_s: Option<f64> = |event| seconds(event.rtt);
    }
}

event! {
    /// A segment of data left the sender.
    Sent of congestion::Sent {
        /// When.
        now_s: f64 = |event| event.now.seconds();
        /// Payload of the segment.
        size_bytes: u64 = |event| event.size.get();
        /// Payload in flight, this segment included.
        in_flight_bytes: u64 = |event| event.in_flight.get();
        /// Payload that the window allows now but pacing holds back.
        held_back_bytes: u64 = |event| event.held_back.get();
        /// The application has no more to send: the window does not limit what is sent now.
        app_limited: bool = |event| event.app_limited;
    }
}

event! {
    /// A delivery-rate sample from an ACK, after draft-ietf-ccwg-bbr, section 4.1.
    RateSample of congestion::RateSample {
        /// Payload delivered per second over the interval; zero if the interval is too short to
        /// tell.
        delivery_rate_bps: u64 = |sample| sample.delivery_rate.bits_per_second();
        /// The longer of the send and the acknowledgement interval.
        interval_s: f64 = |sample| sample.interval.seconds();
        /// Payload delivered over the interval.
        delivered_bytes: u64 = |sample| sample.delivered.get();
        /// Payload delivered since the connection began, this acknowledgement included.
        delivered_total_bytes: u64 = |sample| sample.delivered_total.get();
        /// `delivered_total_bytes` when the newest segment acknowledged here was sent.
        prior_delivered_bytes: u64 = |sample| sample.prior_delivered.get();
        /// Payload acknowledged or SACKed by this acknowledgement.
        newly_acked_bytes: u64 = |sample| sample.newly_acked.get();
        /// Payload marked lost since the previous sample.
        newly_lost_bytes: u64 = |sample| sample.newly_lost.get();
        /// Payload marked lost between the sending of the newest segment acknowledged here and now.
        lost_bytes: u64 = |sample| sample.lost.get();
        /// Payload in flight when the newest segment acknowledged here had been sent.
        tx_in_flight_bytes: u64 = |sample| sample.tx_in_flight.get();
        /// The sample was taken while the application had too little to send.
        is_app_limited: bool = |sample| sample.is_app_limited;
    }
}

event! {
    /// An acknowledgement advanced the cumulative acknowledgement number.
    Acknowledged of congestion::Acknowledged {
        in slots {
            /// Payload newly acknowledged.
            size_bytes: PyInt;
            /// The window was what kept the sender from sending more. A window that is not used
            /// should not grow.
            window_limited: PyBool;
            /// The sender is in recovery, or the acknowledgement echoes a mark: the window is not
            /// to grow on it.
            recovering: PyBool;
        }
        /// When it arrived at the sender.
        now_s: f64 = |event| event.now.seconds();
        /// Payload acknowledged since the connection began, this included.
        acknowledged_total_bytes: u64 = |event| event.acknowledged_total.get();
        /// Payload sent since the connection began, repeated segments counted once. A round trip is
        /// over when `acknowledged_total_bytes` reaches what this was at its beginning.
        sent_total_bytes: u64 = |event| event.sent_total.get();
        /// Round-trip time measured by this acknowledgement, if it could be (Karn's rule).
        rtt_s: Option<f64> = |event| seconds(event.rtt);
        /// Smoothed round-trip time (RFC 6298), once there is one.
        smoothed_rtt_s: Option<f64> = |event| seconds(event.smoothed_rtt);
        /// Smallest round-trip time seen so far, once there is one.
        minimum_rtt_s: Option<f64> = |event| seconds(event.minimum_rtt);
        /// Payload still in flight afterwards.
        in_flight_bytes: u64 = |event| event.in_flight.get();
        /// Payload newly reported as marked congestion-experienced (accurate ECN feedback).
        marked_bytes: u64 = |event| event.marked.get();
        /// Delivery rate, for a class with `wants_rate_samples = True`.
        rate: Option<RateSample> = |event| sample(event.rate);
    }
}

event! {
    /// An acknowledgement repeated the last number while data was outstanding.
    DuplicateAck of congestion::DuplicateAck {
        /// When it arrived at the sender.
        now_s: f64 = |event| event.now.seconds();
        /// How many in a row, this one included.
        count: u32 = |event| event.count;
        /// Round-trip time measured from a newly SACKed segment, if it could be.
        rtt_s: Option<f64> = |event| seconds(event.rtt);
        /// Payload in flight afterwards.
        in_flight_bytes: u64 = |event| event.in_flight.get();
        /// Payload newly reported as marked congestion-experienced (accurate ECN feedback).
        marked_bytes: u64 = |event| event.marked.get();
        /// Delivery rate, for a class with `wants_rate_samples = True`.
        rate: Option<RateSample> = |event| sample(event.rate);
    }
}

event! {
    /// Loss was detected; the missing segment is about to be retransmitted. Reported once per
    /// window of data.
    LossDetected of congestion::LossDetected {
        /// When.
        now_s: f64 = |event| event.now.seconds();
        /// FlightSize of RFC 5681: payload outstanding when the loss was detected.
        flight_size_bytes: u64 = |event| event.flight_size.get();
        /// Payload that is known to be lost.
        lost_bytes: u64 = |event| event.lost.get();
    }
}

event! {
    /// The receiver echoed a congestion mark. Reported at most once per window of data.
    EcnEcho of congestion::EcnEcho {
        /// When.
        now_s: f64 = |event| event.now.seconds();
        /// FlightSize of RFC 5681: payload outstanding.
        flight_size_bytes: u64 = |event| event.flight_size.get();
    }
}

event! {
    /// The sender starts again from one segment.
    Timeout of congestion::Timeout {
        /// When.
        now_s: f64 = |event| event.now.seconds();
        /// FlightSize of RFC 5681: payload outstanding.
        flight_size_bytes: u64 = |event| event.flight_size.get();
        /// The segment had timed out before: ssthresh stays as the first expiry set it (RFC 5681,
        /// section 3.1).
        repeated: bool = |event| event.repeated;
        /// "timer" if the retransmission timer expired, "fast-retransmit" if a Tahoe sender found a
        /// loss.
        cause: &'static str = |event| match event.cause {
            RestartCause::TimerExpired => "timer",
            RestartCause::TahoeFastRetransmit => "fast-retransmit",
        };
    }
}

event! {
    /// Everything outstanding when the loss was detected has been acknowledged.
    RecoveryEnded of congestion::RecoveryEnded {
        /// When.
        now_s: f64 = |event| event.now.seconds();
    }
}

event! {
    /// The last loss or timeout was spurious: nothing had been lost.
    SpuriousLoss of congestion::SpuriousLoss {
        /// When it became known.
        now_s: f64 = |event| event.now.seconds();
    }
}
