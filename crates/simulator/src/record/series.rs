//! Series sampled at a fixed interval, one column per quantity.
//!
//! A sample shows the state after everything that happened up to and at its time. Samples are taken when the next
//! thing happens to the flow or link, so they cost no events.

use crate::engine::memory;
use crate::network::link::LinkSample;
use crate::plan::Plan;
use selfclock_congestion::Phase;
use selfclock_congestion::units::{Duration, Time};

/// Samples of all flows or links for which room is made before the first.
const MOST_EXPECTED: usize = 1 << 22;

/// When samples are taken.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// Time between two samples.
    pub interval: Duration,
    /// Each flow and link will have so many.
    pub expected: usize,
}

impl Sampling {
    /// That of a run of this plan that ends then; `None`: there is none.
    pub fn of(plan: &Plan, end: Time) -> Option<Self> {
        let interval = plan.record.interval?;
        let samples = end.picoseconds() / interval.picoseconds().max(1);
        Some(Self { interval, expected: usize::try_from(samples).unwrap_or(usize::MAX) })
    }
}

/// Samples of many things, taken of all at the same times. Those of one time lie side by side: things whose turn comes at about
/// the same time then write near to one another.
#[derive(Clone, Debug)]
pub struct Rows<T> {
    samples: Vec<T>,
    /// Things.
    width: usize,
}

impl<T: Copy> Rows<T> {
    /// None yet, of so many things.
    pub fn new(width: usize, sampling: Option<Sampling>) -> Self {
        let expected = sampling.map_or(0, |sampling| sampling.expected.saturating_mul(width));
        // With room for all of them they need not be moved to more room again and again.
        Self { samples: memory::vector(expected.min(MOST_EXPECTED)), width }
    }

    /// The sample of this thing with this number, counted from zero.
    #[inline]
    pub fn put(&mut self, number: usize, thing: usize, sample: T) {
        let place = number * self.width + thing;
        if place >= self.samples.len() {
            self.samples.resize((number + 1) * self.width, sample);
        }
        self.samples[place] = sample;
    }

    /// All samples of a thing, one behind the other. At the end all things have as many.
    pub fn collect(&self, thing: u32, samples: &mut Vec<T>) {
        samples.clear();
        samples.extend(self.samples.chunks_exact(self.width.max(1)).map(|row| row[thing as usize]));
    }
}

/// What was sampled in a run, as it was taken. Nobody pays for columns that he does not look at.
#[derive(Clone)]
pub struct Sampled<T> {
    rows: Rows<T>,
    /// The things whose samples have a meaning.
    things: Vec<u32>,
    interval: Duration,
}

impl<T: Copy> Sampled<T> {
    /// The samples of these things. Without an interval there are none.
    pub fn new(rows: Rows<T>, things: Vec<u32>, interval: Option<Duration>) -> Self {
        Self { rows, things, interval: interval.unwrap_or(Duration::ZERO) }
    }

    /// Samples of all things together.
    fn count(&self) -> usize {
        self.rows.samples.len() / self.rows.width.max(1) * self.things.len()
    }

    /// The time of each sample of a thing, s: the first is taken after one interval.
    fn times(&self) -> impl Iterator<Item = f64> {
        let samples = self.rows.samples.len() / self.rows.width.max(1);
        (1..=samples as u64).map(|number| (Time::ZERO + self.interval.times(number)).seconds())
    }

    /// Shows all samples of each thing.
    fn of_each(&self, mut show: impl FnMut(u32, &[T])) {
        let mut samples = Vec::new();
        for &thing in &self.things {
            self.rows.collect(thing, &mut samples);
            show(thing, &samples);
        }
    }
}

/// All samples of a run.
#[derive(Clone, Debug)]
pub struct Samples {
    /// Of the flows; those of flows that are not one TCP connection have no meaning.
    pub flows: Rows<FlowSample>,
    /// Of the links.
    pub links: Rows<LinkSample>,
}

impl Samples {
    /// None yet.
    pub fn new(plan: &Plan, sampling: Option<Sampling>) -> Self {
        Self { flows: Rows::new(plan.flows.len(), sampling), links: Rows::new(plan.links.len(), sampling) }
    }
}

/// Shown in columns: what stands in the place of things without samples is none of it.
impl std::fmt::Debug for Sampled<FlowSample> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.columns().fmt(formatter)
    }
}

impl std::fmt::Debug for Sampled<LinkSample> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.columns().fmt(formatter)
    }
}

/// State of a flow at a sample time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowSample {
    /// Congestion window, bytes.
    pub cwnd_bytes: f64,
    /// Slow start threshold, bytes.
    pub ssthresh_bytes: f64,
    /// Payload in flight, bytes.
    pub in_flight_bytes: u64,
    /// Pacing rate, bit/s; NaN where segments are not paced.
    pub pacing_bps: f64,
    /// Smoothed round-trip time, s; NaN before the first sample.
    pub srtt_s: f64,
    /// Highest payload byte sent so far.
    pub sent_bytes: u64,
    /// Payload acknowledged cumulatively so far, bytes.
    pub acknowledged_bytes: u64,
    /// What the congestion control is doing.
    pub phase: Phase,
    /// Available bandwidth as its estimator has it, bit/s; NaN without.
    pub available_bps: f64,
    /// Physical bandwidth as its estimator has it, bit/s; NaN without.
    pub capacity_bps: f64,
}

/// Samples of every TCP flow, in the order flow by flow, time ascending. All columns have the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowSeries {
    /// Sample time, s.
    pub time_s: Vec<f64>,
    /// Index of the flow.
    pub flow: Vec<u32>,
    /// Congestion window, bytes.
    pub cwnd_bytes: Vec<f64>,
    /// Slow start threshold, bytes; infinite before the first loss unless set.
    pub ssthresh_bytes: Vec<f64>,
    /// Payload in flight, bytes.
    pub in_flight_bytes: Vec<u64>,
    /// Pacing rate, bit/s; NaN where segments are not paced.
    pub pacing_bps: Vec<f64>,
    /// Smoothed round-trip time, s; NaN before the first sample.
    pub srtt_s: Vec<f64>,
    /// Highest payload byte sent so far.
    pub sent_bytes: Vec<u64>,
    /// Payload acknowledged cumulatively so far, bytes.
    pub acknowledged_bytes: Vec<u64>,
    /// [`Phase`] as a number.
    pub phase: Vec<u8>,
    /// Available bandwidth as the estimator has it, bit/s; NaN without.
    pub available_bps: Vec<f64>,
    /// Physical bandwidth as the estimator has it, bit/s; NaN without.
    pub capacity_bps: Vec<f64>,
}

impl Sampled<FlowSample> {
    /// In columns.
    pub fn columns(&self) -> FlowSeries {
        let count = self.count();
        let mut series = FlowSeries {
            time_s: Vec::with_capacity(count),
            flow: Vec::with_capacity(count),
            cwnd_bytes: Vec::with_capacity(count),
            ssthresh_bytes: Vec::with_capacity(count),
            in_flight_bytes: Vec::with_capacity(count),
            pacing_bps: Vec::with_capacity(count),
            srtt_s: Vec::with_capacity(count),
            sent_bytes: Vec::with_capacity(count),
            acknowledged_bytes: Vec::with_capacity(count),
            phase: Vec::with_capacity(count),
            available_bps: Vec::with_capacity(count),
            capacity_bps: Vec::with_capacity(count),
        };
        self.of_each(|flow, samples| {
            series.time_s.extend(self.times());
            series.flow.extend(samples.iter().map(|_| flow));
            series.cwnd_bytes.extend(samples.iter().map(|sample| sample.cwnd_bytes));
            series.ssthresh_bytes.extend(samples.iter().map(|sample| sample.ssthresh_bytes));
            series.in_flight_bytes.extend(samples.iter().map(|sample| sample.in_flight_bytes));
            series.pacing_bps.extend(samples.iter().map(|sample| sample.pacing_bps));
            series.srtt_s.extend(samples.iter().map(|sample| sample.srtt_s));
            series.sent_bytes.extend(samples.iter().map(|sample| sample.sent_bytes));
            series.acknowledged_bytes.extend(samples.iter().map(|sample| sample.acknowledged_bytes));
            series.phase.extend(samples.iter().map(|sample| sample.phase as u8));
            series.available_bps.extend(samples.iter().map(|sample| sample.available_bps));
            series.capacity_bps.extend(samples.iter().map(|sample| sample.capacity_bps));
        });
        series
    }
}

/// Samples of every link, in the order link by link, time ascending. All columns have the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkSeries {
    /// Sample time, s.
    pub time_s: Vec<f64>,
    /// Index of the link.
    pub link: Vec<u32>,
    /// Packets waiting, without the one in service.
    pub queue_packets: Vec<u64>,
    /// Drops so far.
    pub drops: Vec<u64>,
    /// Bytes of packets whose transmission has begun so far.
    pub bytes: Vec<u64>,
    /// Fraction of the time since the previous sample in which the transmitter was busy.
    pub utilization: Vec<f64>,
}

impl Sampled<LinkSample> {
    /// In columns.
    pub fn columns(&self) -> LinkSeries {
        let count = self.count();
        let mut series = LinkSeries {
            time_s: Vec::with_capacity(count),
            link: Vec::with_capacity(count),
            queue_packets: Vec::with_capacity(count),
            drops: Vec::with_capacity(count),
            bytes: Vec::with_capacity(count),
            utilization: Vec::with_capacity(count),
        };
        self.of_each(|link, samples| {
            series.time_s.extend(self.times());
            series.link.extend(samples.iter().map(|_| link));
            series.queue_packets.extend(samples.iter().map(|sample| sample.queue_packets));
            series.drops.extend(samples.iter().map(|sample| sample.drops));
            series.bytes.extend(samples.iter().map(|sample| sample.bytes));
            series.utilization.extend(samples.iter().map(|sample| sample.utilization));
        });
        series
    }
}
