//! Observations at a receiver for the totals of a run: what arrives from a time on, and how long it
//! was on its way.

use super::rtt_histogram::RttHistogram;
use crate::record::summary::DelaySummary;
use selfclock_congestion::units::{Duration, Time};

/// Times that packets took, in bins of 1.6 %.
#[derive(Clone, Debug, Default)]
pub struct Delays {
    histogram: RttHistogram,
    least: Option<Duration>,
    most: Duration,
}

impl Delays {
    /// Adds a packet's.
    pub fn add(&mut self, delay: Duration) {
        self.histogram.add(delay);
        self.least = Some(self.least.map_or(delay, |least| least.min(delay)));
        self.most = self.most.max(delay);
    }

    /// Adds those of others.
    pub fn merge(&mut self, others: &Self) {
        self.histogram.merge(&others.histogram);
        self.least = self.least.into_iter().chain(others.least).min();
        self.most = self.most.max(others.most);
    }

    /// Mean and quantiles; `None` without packets.
    pub fn summary(&self) -> Option<DelaySummary> {
        let (least, most) = (self.least?.seconds(), self.most.seconds());
        let quantile = |fraction| self.histogram.interpolated_seconds(fraction).clamp(least, most);
        Some(DelaySummary {
            packets: self.histogram.samples(),
            mean_s: self.histogram.mean_seconds()?,
            min_s: least,
            p50_s: quantile(0.5),
            p95_s: quantile(0.95),
            p99_s: quantile(0.99),
            p999_s: quantile(0.999),
            max_s: most,
        })
    }
}

/// Observes a receiver. One that is run ahead of the clock passes the time from which a run is
/// measured with its packets, so that is noted by their arrival.
#[derive(Clone, Debug)]
pub struct Observer {
    from: Time,
    /// Payload and wire bytes until then, once that time has passed.
    before: Option<(u64, u64)>,
    /// One-way delays of the packets that arrive later, if measured.
    delays: Option<Delays>,
}

impl Observer {
    /// Nothing has arrived; `None` if a run is measured from its beginning and without delays.
    pub fn new(from: Time, delays: bool) -> Option<Box<Self>> {
        let observes = from > Time::ZERO || delays;
        observes.then(|| Box::new(Self { from, before: None, delays: delays.then(Delays::default) }))
    }

    /// A packet that was sent at `sent` arrives at `now`; before it, this payload and these wire
    /// bytes have.
    pub fn note(&mut self, (sent, now): (Time, Time), payload: u64, wire: u64) {
        if now <= self.from {
            return;
        }
        self.before.get_or_insert((payload, wire));
        if let Some(delays) = &mut self.delays {
            delays.add(now.since(sent));
        }
    }

    /// Whether it still observes every packet.
    pub fn is_attentive(&self) -> bool {
        self.before.is_none() || self.delays.is_some()
    }

    /// The delays, if measured.
    pub fn delays(&self) -> Option<&Delays> {
        self.delays.as_ref()
    }
}

/// The part of this payload and these wire bytes that arrived since the run is measured.
pub fn since(observer: Option<&Observer>, (payload, wire): (u64, u64)) -> (u64, u64) {
    match observer {
        None => (payload, wire),
        Some(Observer { before: None, from, .. }) => {
            if *from > Time::ZERO {
                (0, 0)
            } else {
                (payload, wire)
            }
        }
        Some(Observer { before: Some((payload_before, wire_before)), .. }) => {
            (payload - payload_before, wire - wire_before)
        }
    }
}
