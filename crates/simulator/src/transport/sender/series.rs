//! Samples of a sender for the series.

use super::Sender;
use crate::record::series::{FlowSample, ModelSample, Samples, Sampling};
use crate::transport::Context;
use selfclock_congestion::PathModel;
use selfclock_congestion::units::{Duration, Time};

/// When to take samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampler {
    /// When the next one is due.
    next: Time,
    /// Payload known to have arrived at the last one. It never decreases, although a timeout
    /// discards SACK information.
    delivered_seen: u64,
}

impl Sampler {
    pub(super) fn new(sampling: Option<Sampling>) -> Self {
        Self {
            next: sampling.map_or(Time::NEVER, |sampling| Time::ZERO + sampling.interval),
            delivered_seen: 0,
        }
    }
}

impl Sender {
    /// Takes due samples; the state has not changed since.
    #[inline]
    pub(super) fn sample_before(&mut self, context: &mut Context<'_>) {
        if self.sampler.next < context.now {
            self.take_samples(context.now, &mut context.network.samples);
        }
    }

    /// Takes the remaining samples up to the end of the simulation.
    pub fn finish(&mut self, end: Time, samples: &mut Samples) {
        if self.sampler.next <= end {
            self.take_samples(end + Duration::from_picoseconds(1), samples);
        }
    }

    #[cold]
    fn take_samples(&mut self, now: Time, samples: &mut Samples) {
        let decision = self.congestion.controller.decision();
        let snapshot = self.congestion.controller.snapshot();
        let pacing = self.pacing(&decision);
        let mss = self.mss as f64;
        let sampler = &mut self.sampler;
        sampler.delivered_seen = sampler.delivered_seen.max(self.recovery.delivered());
        let sample = FlowSample {
            cwnd_bytes: snapshot.cwnd_segments * mss,
            ssthresh_bytes: snapshot.ssthresh_segments * mss,
            in_flight_bytes: self.recovery.outstanding().pipe_bytes(),
            pacing_bps: pacing
                .map_or(f64::NAN, |pacing| pacing.size.get() as f64 * 8.0 / pacing.interval.seconds()),
            srtt_s: self.estimators.rtt.smoothed().map_or(f64::NAN, Duration::seconds),
            sent_bytes: self.recovery.next(),
            acknowledged_bytes: self.recovery.una(),
            delivered_bytes: sampler.delivered_seen,
            phase: snapshot.phase,
            available_bps: snapshot.path.available_bps.unwrap_or(f64::NAN),
            capacity_bps: snapshot.path.capacity_bps.unwrap_or(f64::NAN),
        };
        let flow = self.outbox.flow() as usize;
        if samples.models.holds(flow) {
            let model = model_sample(&self.congestion.controller.path_model());
            let place = samples.models.place(flow);
            let mut next = sampler.next;
            while next < now {
                samples.models.put(next, place, model);
                next += samples.models.interval();
            }
        }
        let place = samples.flows.place(flow);
        while sampler.next < now {
            samples.flows.put(sampler.next, place, sample);
            sampler.next += samples.flows.interval();
        }
    }
}

fn model_sample(model: &PathModel) -> ModelSample {
    let known = |value: Option<f64>| value.unwrap_or(f64::NAN);
    ModelSample {
        max_bw_bps: known(model.max_bw_bps),
        min_rtt_s: known(model.min_rtt_s),
        bw_shortterm_bps: known(model.bw_shortterm_bps),
        inflight_shortterm_bytes: known(model.inflight_shortterm_bytes),
        inflight_longterm_bytes: known(model.inflight_longterm_bytes),
        extra_acked_bytes: known(model.extra_acked_bytes),
    }
}
