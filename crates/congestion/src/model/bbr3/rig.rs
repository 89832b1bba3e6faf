//! Two rigs for the tests: a whole path, and hand-made ACKs.

use super::{Bbr3, Parameters};
use crate::decision::Phase;
use crate::event::{Acknowledged, RateSample, Resumed, Sent};
use crate::fixtures::{ack_at, setup, state};
use crate::model::harness::{Bench, Path};
use crate::part::ModelPart;
use crate::registry::Selection;
use crate::state::{Setup, WindowState};
use crate::units::{Bytes, Duration, Rate, Time};

/// Flows of BBR that begin at these times on one path.
pub fn bench(path: Path, starts: &[f64]) -> Bench {
    Bench::new(path, Selection::model("bbr3").expect("it is listed"), starts)
}

/// One flow that receives the ACKs of a whole round trip of 40 ms at once: 100 segments of 1000
/// bytes.
pub struct Rounds {
    pub bbr: Bbr3,
    pub state: WindowState,
    delivered: u64,
    pub now: f64,
}

impl Rounds {
    const VOLUME: u64 = 100_000;

    pub fn new() -> Self {
        let mut bbr = Bbr3::new(Parameters::default());
        let state = state(10.0);
        let setup = Setup { initial_ssthresh: f64::INFINITY, seed: 3, ..setup() };
        bbr.begin(&setup, &state);
        Self { bbr, state, delivered: 0, now: 0.0 }
    }

    pub fn round(&mut self, rate: f64, lost: u64, in_flight: u64) {
        let prior = self.delivered;
        self.delivered += Self::VOLUME;
        self.now += 0.04;
        let event = Acknowledged {
            size: Bytes(Self::VOLUME),
            in_flight: Bytes(in_flight),
            rate: Some(RateSample {
                delivery_rate: Rate::from_bits_per_second((rate * 8.0) as u64),
                interval: Duration::from_milliseconds(40),
                delivered: Bytes(Self::VOLUME),
                delivered_total: Bytes(self.delivered),
                prior_delivered: Bytes(prior),
                newly_acked: Bytes(Self::VOLUME),
                newly_lost: Bytes(lost),
                lost: Bytes(lost),
                tx_in_flight: Bytes(Self::VOLUME),
                is_app_limited: false,
            }),
            ..ack_at(self.now, 0.04)
        };
        self.bbr.on_ack(&event, &mut self.state);
    }

    /// Data leaves after a pause of `idle` seconds.
    pub fn resume(&mut self, idle: f64) {
        self.now += idle;
        let (now, idle) = (Time::ZERO + Duration::from_seconds(self.now), Duration::from_seconds(idle));
        let resumed = Resumed::new(now, idle, Duration::from_milliseconds(300));
        self.bbr.on_resumed(&resumed, &mut self.state);
    }

    /// One ACK for a whole flight of `bytes`, the only one, after `seconds`.
    pub fn flight(&mut self, seconds: f64, bytes: u64) {
        let prior = self.delivered;
        self.delivered += bytes;
        self.now += seconds;
        let now = Time::ZERO + Duration::from_seconds(self.now);
        self.bbr.on_sent(&Sent::new(now, Bytes(1000), Bytes(bytes)), &mut self.state);
        let event = Acknowledged {
            size: Bytes(bytes),
            in_flight: Bytes::ZERO,
            rate: Some(RateSample {
                delivery_rate: Rate::from_bits_per_second((bytes as f64 * 8.0 / seconds) as u64),
                interval: Duration::from_seconds(seconds),
                delivered: Bytes(bytes),
                delivered_total: Bytes(self.delivered),
                prior_delivered: Bytes(prior),
                newly_acked: Bytes(bytes),
                tx_in_flight: Bytes(bytes),
                ..RateSample::default()
            }),
            ..ack_at(self.now, seconds)
        };
        self.bbr.on_ack(&event, &mut self.state);
    }

    /// Its state.
    pub fn phase(&self) -> Phase {
        self.bbr.state.phase()
    }

    /// The same rate until this phase.
    pub fn until(&mut self, phase: Phase) {
        for _ in 0..200 {
            if self.phase() == phase {
                return;
            }
            self.round(2.5e6, 0, 40_000);
        }
        panic!("{phase:?} does not come: {:?}", self.bbr);
    }
}
