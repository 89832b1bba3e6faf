//! A one-way link: queue, transmitter, wire.
//!
//! A packet's whole passage is computed when it arrives: when its transmission begins and ends, and when it is at the
//! other end. Arrivals must come in the order of time, but they may come ahead of the simulation's clock; see
//! [`super::path`]. So everything a link reports is computed from these times, never from a counter read "now".

use super::loss::Loss;
use super::packet::Packet;
use crate::engine::random::{Purpose, Stream};
use crate::plan::LinkPlan;
use crate::queue::DropTail;
use crate::record::summary::LinkSummary;
use selfclock_congestion::units::{Bytes, Duration, PICOSECONDS_PER_SECOND, Rate, Time};
use std::collections::VecDeque;

/// What becomes of a packet that arrives at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// Its transmission begins and it reaches the other end at these times.
    Crosses {
        /// Beginning of transmission.
        start: Time,
        /// At the other end.
        arrival: Time,
    },
    /// The queue had no room.
    Dropped,
    /// It was transmitted and lost on the wire.
    Lost {
        /// Beginning of transmission.
        start: Time,
        /// End of transmission.
        end: Time,
    },
}

/// A one-way link.
#[derive(Clone, Debug)]
pub struct Link {
    /// When the transmitter will have sent everything accepted so far.
    free_at: Time,
    /// Transmission time of the size sent last: most links see one size only.
    recent_size: u32,
    recent_time: Duration,
    delay: Duration,
    rate: Rate,
    queue: DropTail,
    imperfections: Option<Box<Imperfections>>,
    totals: Totals,
    sampler: Option<LinkSampler>,
    /// Packets on the wire whose next stop is the other end of this link, in the order of arrival.
    pub(super) in_flight: VecDeque<Packet>,
    name: String,
}

/// What most links do not have.
#[derive(Clone, Debug)]
struct Imperfections {
    loss: Option<Loss>,
    jitter: Duration,
    jitter_stream: Stream,
    last_arrival: Time,
}

#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    accepted: u64,
    accepted_bytes: u64,
    drops: u64,
    /// Sum of transmission times, ps.
    busy: u128,
    /// Sum of waiting times, ps.
    waited: u128,
    most_waiting: u64,
}

/// Sampled columns of one link, filled as time passes its sample times.
#[derive(Clone, Debug)]
struct LinkSampler {
    next: Time,
    interval: Duration,
    busy_before: u128,
    samples: Vec<LinkSample>,
}

/// State of a link at a sample time.
#[derive(Clone, Copy, Debug)]
pub struct LinkSample {
    /// Sample time.
    pub time: Time,
    /// Packets waiting.
    pub queue_packets: u64,
    /// Drops so far.
    pub drops: u64,
    /// Bytes of packets whose transmission has begun.
    pub bytes: u64,
    /// Fraction of the interval in which the transmitter was busy.
    pub utilization: f64,
}

impl Link {
    /// An idle link.
    pub fn new(plan: &LinkPlan, seed: u64, index: usize, sample_interval: Option<Duration>) -> Self {
        let loss = Loss::new(plan.loss, seed, index);
        let imperfections = (loss.is_some() || !plan.jitter.is_zero()).then(|| {
            Box::new(Imperfections {
                loss,
                jitter: plan.jitter,
                jitter_stream: Stream::new(seed, Purpose::LinkJitter, index),
                last_arrival: Time::ZERO,
            })
        });
        Self {
            free_at: Time::ZERO,
            recent_size: 0,
            recent_time: Duration::ZERO,
            delay: plan.delay,
            rate: plan.rate,
            queue: DropTail::new(plan.queue, plan.counts_packet_in_service),
            imperfections,
            totals: Totals::default(),
            sampler: sample_interval.map(|interval| LinkSampler {
                next: Time::ZERO + interval,
                interval,
                busy_before: 0,
                samples: Vec::new(),
            }),
            in_flight: VecDeque::new(),
            name: plan.name.clone(),
        }
    }

    /// A packet of `size` bytes arrives at `now`, not before the previous one.
    #[inline]
    pub fn accept(&mut self, now: Time, size: u32) -> Passage {
        if let Some(sampler) = &self.sampler
            && sampler.next < now
        {
            self.sample_before(now);
        }
        let start = if self.free_at <= now {
            self.queue.serve_at_once(size);
            now
        } else {
            self.queue.serve_until(now);
            if !self.queue.has_room(size) {
                self.totals.drops += 1;
                return Passage::Dropped;
            }
            self.queue.add(self.free_at, size);
            self.totals.most_waiting = self.totals.most_waiting.max(self.queue.packets());
            self.totals.waited += u128::from(self.free_at.since(now).picoseconds());
            self.free_at
        };
        if size != self.recent_size {
            self.recent_size = size;
            self.recent_time = self.rate.transmission_time(Bytes(size.into()));
        }
        self.totals.accepted += 1;
        self.totals.accepted_bytes += u64::from(size);
        self.totals.busy += u128::from(self.recent_time.picoseconds());
        let end = start + self.recent_time;
        self.free_at = end;
        let arrival = end + self.delay;
        match &mut self.imperfections {
            None => Passage::Crosses { start, arrival },
            Some(imperfections) => imperfections.apply(start, end, arrival),
        }
    }

    #[cold]
    fn sample_before(&mut self, now: Time) {
        let Some(sampler) = &mut self.sampler else { return };
        while sampler.next < now {
            let time = sampler.next;
            self.queue.serve_until(time);
            // Everything accepted so far is transmitted without a pause until `free_at`.
            let busy =
                self.totals.busy - u128::from(self.free_at.since(time).picoseconds()).min(self.totals.busy);
            let interval = sampler.interval.picoseconds();
            sampler.samples.push(LinkSample {
                time,
                queue_packets: self.queue.packets(),
                drops: self.totals.drops,
                bytes: self.totals.accepted_bytes - self.queue.bytes(),
                utilization: (busy - sampler.busy_before) as f64 / interval as f64,
            });
            sampler.busy_before = busy;
            sampler.next = time + sampler.interval;
        }
    }

    /// Ends the run at `end`: takes the samples that are still to come, and the totals.
    pub fn finish(&mut self, end: Time) -> LinkSummary {
        self.sample_before(end + Duration::from_picoseconds(1));
        // What waits beyond the end has not been transmitted, and has waited only until the end.
        let mut totals = self.totals;
        for (start, size) in self.queue.starts().filter(|&(start, _)| start > end) {
            totals.accepted -= 1;
            totals.accepted_bytes -= u64::from(size);
            totals.waited -= u128::from(start.since(end).picoseconds());
        }
        totals.busy -= u128::from(self.free_at.since(end).picoseconds()).min(totals.busy);
        let length = end.picoseconds() as f64;
        LinkSummary {
            name: self.name.clone(),
            rate_bps: self.rate.bits_per_second(),
            utilization: totals.busy as f64 / length,
            packets: totals.accepted,
            bytes: totals.accepted_bytes,
            drops: totals.drops,
            ce_marks: 0,
            queue_mean_packets: totals.waited as f64 / length,
            queue_max_packets: totals.most_waiting,
            queue_mean_s: if self.totals.accepted == 0 {
                0.0
            } else {
                totals.waited as f64 / PICOSECONDS_PER_SECOND as f64 / self.totals.accepted as f64
            },
        }
    }

    /// The samples taken.
    pub fn samples(&self) -> &[LinkSample] {
        self.sampler.as_ref().map_or(&[], |sampler| &sampler.samples)
    }

    /// Packets accepted so far, and dropped by the queue or lost on the wire.
    pub fn counts(&self) -> (u64, u64) {
        (self.totals.accepted, self.totals.drops)
    }

    pub(super) fn count_loss_on_wire(&mut self) {
        self.totals.drops += 1;
    }
}

impl Imperfections {
    fn apply(&mut self, start: Time, end: Time, arrival: Time) -> Passage {
        if self.loss.as_mut().is_some_and(Loss::strikes) {
            return Passage::Lost { start, end };
        }
        let mut arrival = arrival;
        if !self.jitter.is_zero() {
            arrival += self.jitter_stream.duration_below(self.jitter);
            // A link does not reorder.
            arrival = arrival.max(self.last_arrival);
            self.last_arrival = arrival;
        }
        Passage::Crosses { start, arrival }
    }
}
