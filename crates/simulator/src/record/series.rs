//! Series sampled at a fixed interval, one column per quantity.
//!
//! A sample shows the state after everything that happened up to and at its time. Samples are taken when the next
//! thing happens to the flow or link, so they cost no events.

use crate::engine::memory;
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
    /// Time between two samples; zero if none are taken.
    interval: Duration,
}

impl<T: Copy> Rows<T> {
    /// None yet, of so many things.
    pub fn new(width: usize, sampling: Option<Sampling>) -> Self {
        let expected = sampling.map_or(0, |sampling| sampling.expected.saturating_mul(width));
        let interval = sampling.map_or(Duration::ZERO, |sampling| sampling.interval);
        // With room for all of them they need not be moved to more room again and again.
        Self { samples: memory::vector(expected.min(MOST_EXPECTED)), width, interval }
    }

    /// The sample of this thing at this time, a multiple of the interval.
    #[inline]
    pub fn put(&mut self, time: Time, thing: usize, sample: T) {
        let number = time.ticks(self.interval) as usize - 1;
        let place = number * self.width + thing;
        if place >= self.samples.len() {
            self.samples.resize((number + 1) * self.width, sample);
        }
        self.samples[place] = sample;
    }

    /// All samples of a thing. At the end all things have as many.
    pub fn of(&self, thing: usize) -> impl Iterator<Item = T> {
        self.samples.chunks_exact(self.width.max(1)).map(move |row| row[thing])
    }
}

/// What was sampled in a run, as it was taken. Nobody pays for columns that he does not look at.
#[derive(Clone)]
pub struct Sampled<T> {
    rows: Rows<T>,
    /// The things whose samples have a meaning.
    things: Vec<u32>,
}

impl<T: Copy> Sampled<T> {
    /// The samples of these things.
    pub fn new(rows: Rows<T>, things: Vec<u32>) -> Self {
        Self { rows, things }
    }

    /// Samples of each thing.
    fn each(&self) -> usize {
        self.rows.samples.len() / self.rows.width.max(1)
    }

    /// All samples, thing by thing.
    fn by_thing(&self) -> Vec<T> {
        let mut samples = Vec::with_capacity(self.each() * self.things.len());
        self.things.iter().for_each(|&thing| samples.extend(self.rows.of(thing as usize)));
        samples
    }

    /// The thing of each of them.
    fn numbers(&self) -> Vec<u32> {
        self.things.iter().flat_map(|&thing| std::iter::repeat_n(thing, self.each())).collect()
    }

    /// The time of each of them, s: the first of a thing is taken after one interval.
    fn times(&self) -> Vec<f64> {
        let time = |number| (Time::ZERO + self.rows.interval.times(number)).seconds();
        self.things.iter().flat_map(|_| (1..=self.each() as u64).map(time)).collect()
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

/// State of a link at a sample time.
#[derive(Clone, Copy, Debug)]
pub struct LinkSample {
    /// Packets waiting.
    pub queue_packets: u64,
    /// Drops so far.
    pub drops: u64,
    /// Bytes of packets whose transmission has begun.
    pub bytes: u64,
    /// Fraction of the interval in which the transmitter was busy; with a trace, of the bytes that were offered in it, zero if
    /// none were.
    pub utilization: f64,
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
    /// Payload known to have arrived, in order or not, bytes.
    pub delivered_bytes: u64,
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
    /// Payload known to have arrived so far, in order or not, bytes.
    pub delivered_bytes: Vec<u64>,
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
        let samples = self.by_thing();
        FlowSeries {
            time_s: self.times(),
            flow: self.numbers(),
            cwnd_bytes: samples.iter().map(|sample| sample.cwnd_bytes).collect(),
            ssthresh_bytes: samples.iter().map(|sample| sample.ssthresh_bytes).collect(),
            in_flight_bytes: samples.iter().map(|sample| sample.in_flight_bytes).collect(),
            pacing_bps: samples.iter().map(|sample| sample.pacing_bps).collect(),
            srtt_s: samples.iter().map(|sample| sample.srtt_s).collect(),
            sent_bytes: samples.iter().map(|sample| sample.sent_bytes).collect(),
            acknowledged_bytes: samples.iter().map(|sample| sample.acknowledged_bytes).collect(),
            delivered_bytes: samples.iter().map(|sample| sample.delivered_bytes).collect(),
            phase: samples.iter().map(|sample| sample.phase as u8).collect(),
            available_bps: samples.iter().map(|sample| sample.available_bps).collect(),
            capacity_bps: samples.iter().map(|sample| sample.capacity_bps).collect(),
        }
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
        let samples = self.by_thing();
        LinkSeries {
            time_s: self.times(),
            link: self.numbers(),
            queue_packets: samples.iter().map(|sample| sample.queue_packets).collect(),
            drops: samples.iter().map(|sample| sample.drops).collect(),
            bytes: samples.iter().map(|sample| sample.bytes).collect(),
            utilization: samples.iter().map(|sample| sample.utilization).collect(),
        }
    }
}
