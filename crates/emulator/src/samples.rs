//! Series of flows, in bounded memory.

use crate::passive::Data;
use selfclock_congestion::units::{Duration, Time};

/// Maximum number of stored samples of all flows: 28 MB. Beyond it, every second one is dropped and
/// the interval doubles.
pub const MOST_SAMPLES: usize = 500_000;

/// State of one direction of a connection at a sample time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Sample time, in intervals.
    pub tick: u64,
    /// Highest payload byte sent so far; of UDP payload sent.
    pub sent: u64,
    /// Acknowledged so far.
    pub acknowledged: u64,
    /// Payload known to have arrived so far.
    pub delivered: u64,
    /// Payload sent and not known to have arrived.
    pub in_flight: u64,
    /// Smoothed round-trip time.
    pub smoothed_rtt: Option<Duration>,
    /// Window that the receiver advertised last, bytes.
    pub receive_window: Option<u64>,
}

impl Sample {
    /// Of a TCP connection.
    pub fn of(tick: u64, data: &Data, receive_window: Option<u64>) -> Self {
        Self {
            tick,
            sent: data.sent,
            acknowledged: data.acknowledged,
            delivered: data.delivered(),
            in_flight: data.in_flight(),
            smoothed_rtt: data.smoothed_rtt,
            receive_window,
        }
    }
}

/// Sampling times, and the number of samples.
#[derive(Clone, Copy, Debug)]
pub struct Sampler {
    /// `None`: none are.
    pub interval: Option<Duration>,
    /// Samples of all flows.
    pub taken: usize,
}

impl Sampler {
    /// The first sample time after `now`, in intervals; [`u64::MAX`] without one.
    pub fn next_tick(&self, now: Time) -> u64 {
        self.interval.map_or(u64::MAX, |interval| now.ticks(interval) + 1)
    }

    /// Whether a sample time is before `now`.
    pub fn is_before(&self, tick: u64, now: Time) -> bool {
        self.interval.is_some_and(|interval| Time::ZERO + interval.times(tick) < now)
    }
}

/// Every second sample: those whose times are multiples of twice the interval.
pub fn halve(samples: &mut Vec<Sample>) {
    samples.retain(|sample| sample.tick.is_multiple_of(2));
    samples.iter_mut().for_each(|sample| sample.tick /= 2);
}

/// Series of flows, in the order of the flow, then of time. Quantities unknown on a path have no
/// column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowColumns {
    /// Sample time, s.
    pub time_s: Vec<f64>,
    /// Index of the flow.
    pub flow: Vec<u32>,
    /// Highest payload byte sent so far; of UDP payload sent.
    pub sent_bytes: Vec<u64>,
    /// Payload acknowledged cumulatively so far, as far as its sender knows; `None` for UDP.
    pub acknowledged_bytes: Vec<Option<u64>>,
    /// Payload known to have arrived so far: to the sender of a TCP connection, to the receiver of
    /// UDP.
    pub delivered_bytes: Vec<u64>,
    /// Payload of which the sender knows no arrival; `None` for UDP.
    pub in_flight_bytes: Vec<Option<u64>>,
    /// Smoothed round-trip time, s; `None` before the first sample and for UDP.
    pub srtt_s: Vec<Option<f64>>,
    /// Window that the receiver advertises, bytes; `None` before it is known and for UDP.
    pub receive_window_bytes: Vec<Option<u64>>,
}

impl FlowColumns {
    /// Adds the samples of a flow.
    pub fn add(&mut self, flow: u32, is_tcp: bool, interval: Duration, samples: &[Sample]) {
        for sample in samples {
            self.time_s.push((Time::ZERO + interval.times(sample.tick)).seconds());
            self.flow.push(flow);
            self.sent_bytes.push(sample.sent);
            self.acknowledged_bytes.push(is_tcp.then_some(sample.acknowledged));
            self.delivered_bytes.push(sample.delivered);
            self.in_flight_bytes.push(is_tcp.then_some(sample.in_flight));
            self.srtt_s.push(sample.smoothed_rtt.map(Duration::seconds));
            self.receive_window_bytes.push(sample.receive_window);
        }
    }
}
