//! The fields of a rate sample that BBR uses.

use crate::event::RateSample;
use crate::units::{Bytes, Time};

/// An ACK and its rate sample, in bytes and bytes per second.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub now: Time,
    pub in_flight: f64,
    /// C.cwnd, in segments.
    pub cwnd: f64,
    pub rate: f64,
    pub delivered: f64,
    pub prior_delivered: Bytes,
    pub newly_acked: f64,
    pub newly_lost: f64,
    pub lost: f64,
    pub tx_in_flight: f64,
    pub is_app_limited: bool,
}

impl Sample {
    /// The sample of an ACK that arrives now, leaves this many bytes in flight and finds this
    /// window.
    pub fn new(now: Time, in_flight: f64, cwnd: f64, rate: &RateSample) -> Self {
        Self {
            now,
            in_flight,
            cwnd,
            rate: rate.delivery_rate.bits_per_second() as f64 / 8.0,
            delivered: rate.delivered.get() as f64,
            prior_delivered: rate.prior_delivered,
            newly_acked: rate.newly_acked.get() as f64,
            newly_lost: rate.newly_lost.get() as f64,
            lost: rate.lost.get() as f64,
            tx_in_flight: rate.tx_in_flight.get() as f64,
            is_app_limited: rate.is_app_limited,
        }
    }
}

#[cfg(test)]
impl Sample {
    /// A segment sent with this many bytes in flight, and without loss.
    pub const fn of_flight(bytes: f64) -> Self {
        Self {
            now: Time::ZERO,
            in_flight: bytes,
            cwnd: 10.0,
            rate: 0.0,
            delivered: bytes,
            prior_delivered: Bytes::ZERO,
            newly_acked: 0.0,
            newly_lost: 0.0,
            lost: 0.0,
            tx_in_flight: bytes,
            is_app_limited: false,
        }
    }
}
