//! Series sampled at a fixed interval, one column per quantity.
//!
//! A sample shows the state after everything that happened up to and at its time. Samples are taken
//! at the next event of the flow or link, so they cost no events.

use crate::engine::memory;
use crate::plan::Plan;
use crate::subset::Subset;
use selfclock_congestion::Phase;
use selfclock_congestion::units::{Duration, Time};

/// Samples of all flows or links for which room is made before the first.
const MOST_EXPECTED: usize = 1 << 22;

/// When samples are taken.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// Time between two samples.
    pub interval: Duration,
    /// Samples that each flow and link will have.
    pub expected: usize,
}

impl Sampling {
    /// The sampling of a run of this plan that ends at `end`, if any.
    pub fn of(plan: &Plan, end: Time) -> Option<Self> {
        let interval = plan.record.interval?;
        let samples = end.picoseconds() / interval.picoseconds().max(1);
        Some(Self { interval, expected: usize::try_from(samples).unwrap_or(usize::MAX) })
    }
}

/// Samples of many flows or links, taken of all at the same times. Those of one time lie side by
/// side: the flows whose turn comes at about the same time then write near to one another.
#[derive(Clone, Debug)]
pub struct Rows<T> {
    samples: Vec<T>,
    /// Flows or links: which, and how many.
    members: Subset,
    width: usize,
    /// Time between two samples; zero if none are taken.
    interval: Duration,
}

impl<T: Copy> Rows<T> {
    /// No samples yet, of the members of a list of `all` flows or links.
    pub fn new(members: Subset, all: usize, sampling: Option<Sampling>) -> Self {
        let width = members.count(all);
        let expected = sampling.map_or(0, |sampling| sampling.expected.saturating_mul(width));
        let interval = sampling.map_or(Duration::ZERO, |sampling| sampling.interval);
        // With room for all of them they need not be moved to more room again and again.
        Self { samples: memory::vector(expected.min(MOST_EXPECTED)), members, width, interval }
    }

    /// Time between two samples; zero if none are taken.
    pub fn interval(&self) -> Duration {
        self.interval
    }

    /// The place in a row of the flow or link with this index.
    #[inline]
    pub fn place(&self, index: usize) -> usize {
        self.members.place(index)
    }

    /// Puts a sample at this place in the row of this time, a multiple of the interval.
    #[inline]
    pub fn put(&mut self, time: Time, place: usize, sample: T) {
        let number = time.ticks(self.interval) as usize - 1;
        let place = number * self.width + place;
        if place >= self.samples.len() {
            self.samples.resize((number + 1) * self.width, sample);
        }
        self.samples[place] = sample;
    }

    /// Whether it is a member.
    pub fn holds(&self, index: usize) -> bool {
        self.members.holds(index)
    }

    /// These samples with other members of a list of `all`. The samples of a new member are still
    /// to be put, all of them.
    fn with_members(&self, members: Subset, all: usize) -> Self {
        let width = members.count(all);
        let mut samples = Vec::new();
        if let Some(&any) = self.samples.first() {
            for row in self.samples.chunks_exact(self.width) {
                let of = |index| row.get(self.members.place(index)).copied().unwrap_or(any);
                samples.extend(members.members(all).map(of));
            }
        }
        Self { samples, members, width, interval: self.interval }
    }

    /// All samples of a flow or link. At the end all have as many.
    pub fn of(&self, index: usize) -> impl Iterator<Item = T> {
        let place = self.members.place(index);
        self.samples.chunks_exact(self.width.max(1)).map(move |row| row[place])
    }

    /// Samples of each flow or link.
    fn each(&self) -> usize {
        self.samples.len() / self.width.max(1)
    }
}

/// Samples of a run, as they were taken. Columns are made on demand.
#[derive(Clone)]
pub struct Sampled<T> {
    /// Each has some of the flows or links.
    rows: Vec<Rows<T>>,
    /// The flows or links whose samples have a meaning.
    indices: Vec<u32>,
}

impl<T: Copy> Sampled<T> {
    /// The samples of the flows or links with these indices.
    pub fn new(rows: Vec<Rows<T>>, indices: Vec<u32>) -> Self {
        Self { rows, indices }
    }

    /// Samples of each flow or link. Where none is one TCP connection, there are none of flows.
    fn each(&self) -> usize {
        self.rows.iter().map(Rows::each).max().unwrap_or(0)
    }

    /// Those of a flow or link.
    fn of(&self, index: u32) -> impl Iterator<Item = T> {
        let held = self.rows.iter().find(move |rows| rows.members.holds(index as usize));
        held.into_iter().flat_map(move |rows| rows.of(index as usize))
    }

    /// All samples, one flow or link after the other.
    fn in_order(&self) -> Vec<T> {
        let mut samples = Vec::with_capacity(self.each() * self.indices.len());
        self.indices.iter().for_each(|&index| samples.extend(self.of(index)));
        samples
    }

    /// The flow or link of each of them.
    fn numbers(&self) -> Vec<u32> {
        self.indices.iter().flat_map(|&index| std::iter::repeat_n(index, self.each())).collect()
    }

    /// The time of each of them, s: the first is taken after one interval.
    fn times(&self) -> Vec<f64> {
        let interval = self.rows.first().map_or(Duration::ZERO, |rows| rows.interval);
        let time = |number| (Time::ZERO + interval.times(number)).seconds();
        self.indices.iter().flat_map(|_| (1..=self.each() as u64).map(time)).collect()
    }
}

/// All samples of a run.
#[derive(Clone, Debug)]
pub struct Samples {
    /// Samples of the flows; those of flows that are not one TCP connection have no meaning.
    pub flows: Rows<FlowSample>,
    /// Samples of the models of the flows that have one: few have, and a sample is half as large
    /// as a flow's.
    pub models: Rows<ModelSample>,
    /// Samples of the links.
    pub links: Rows<LinkSample>,
}

impl Samples {
    /// None yet, of the senders and links that a part of the network holds.
    pub fn new(plan: &Plan, sampling: Option<Sampling>, senders: Subset, links: Subset) -> Self {
        Self {
            models: Rows::new(models_of(plan, &senders), plan.flows.len(), sampling),
            flows: Rows::new(senders, plan.flows.len(), sampling),
            links: Rows::new(links, plan.links.len(), sampling),
        }
    }

    /// The run continues by another plan, in which a flow that has not started may have another
    /// algorithm.
    pub fn change_plan(&mut self, plan: &Plan) {
        let models = models_of(plan, &self.flows.members);
        self.models = self.models.with_members(models, plan.flows.len());
    }
}

/// Those of these senders that have a model of the path.
fn models_of(plan: &Plan, senders: &Subset) -> Subset {
    let is_model = |index: usize| plan.flows[index].protocol.tcp().is_some_and(|tcp| tcp.control.is_model());
    senders.only(plan.flows.len(), is_model)
}

/// One sampled quantity, a value for each sample.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Real numbers.
    Reals(Vec<f64>),
    /// Whole numbers.
    Counts(Vec<u64>),
    /// [`Phase`]s by their numbers.
    Phases(Vec<u8>),
}

impl From<Vec<f64>> for Column {
    fn from(values: Vec<f64>) -> Self {
        Self::Reals(values)
    }
}

impl From<Vec<u64>> for Column {
    fn from(values: Vec<u64>) -> Self {
        Self::Counts(values)
    }
}

impl From<Vec<u8>> for Column {
    fn from(values: Vec<u8>) -> Self {
        Self::Phases(values)
    }
}

/// A sampled quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// Name of its column.
    pub name: &'static str,
    /// Its meaning.
    pub about: &'static str,
    /// Unit of its values.
    pub unit: &'static str,
    /// Type of its values in columns.
    pub stored: Stored,
}

/// Type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// As in [`Column::Reals`].
    Reals,
    /// As in [`Column::Counts`].
    Counts,
    /// As in [`Column::Phases`].
    Phases,
}

/// The column of values of a type.
trait StoredAs {
    const AS: Stored;
}

/// The value of a quantity of which nothing is known.
trait Unknown {
    const UNKNOWN: Self;
}

impl StoredAs for f64 {
    const AS: Stored = Stored::Reals;
}

impl StoredAs for u64 {
    const AS: Stored = Stored::Counts;
}

impl StoredAs for u8 {
    const AS: Stored = Stored::Phases;
}

impl Unknown for f64 {
    const UNKNOWN: Self = Self::NAN;
}

impl Unknown for u64 {
    const UNKNOWN: Self = 0;
}

impl Unknown for Phase {
    const UNKNOWN: Self = Self::SlowStart;
}

/// Declares what is sampled of a flow or link: one sample, and the series with a column for each
/// quantity of it.
macro_rules! series {
    (
        $(#[doc = $about_sample:literal])+ $Sample:ident,
        $(#[doc = $about_series:literal])+ $Series:ident of $owner:ident:
        $($(#[doc = $about:literal])+ $quantity:ident: $value:ty as $stored:ty, $unit:literal;)+
    ) => {
        $(#[doc = $about_sample])+
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $Sample {
            $($(#[doc = $about])+ pub $quantity: $value,)+
        }

        impl $Sample {
            /// The sampled quantities, in the order of the columns.
            pub const QUANTITIES: &'static [Quantity] = &[$(Quantity {
                name: stringify!($quantity),
                about: concat!($($about),+),
                unit: $unit,
                stored: <$stored as StoredAs>::AS,
            },)+];

            /// Nothing is known: real numbers are NaN, whole ones zero.
            pub const UNKNOWN: Self = Self { $($quantity: <$value as Unknown>::UNKNOWN,)+ };
        }

        $(#[doc = $about_series])+
        ///
        /// In the order of the index, then of time. All columns have the same length.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $Series {
            /// Sample time, s.
            pub time_s: Vec<f64>,
            #[doc = concat!("Index of the ", stringify!($owner), ".")]
            pub $owner: Vec<u32>,
            $($(#[doc = $about])+ pub $quantity: Vec<$stored>,)+
        }

        impl $Series {
            /// The sampled quantities with their names, in the order of the fields, without time
            /// and index.
            pub fn quantities(self) -> Vec<(&'static str, Column)> {
                vec![$((stringify!($quantity), self.$quantity.into())),+]
            }
        }

        impl Sampled<$Sample> {
            /// In columns.
            pub fn columns(&self) -> $Series {
                let samples = self.in_order();
                $Series {
                    time_s: self.times(),
                    $owner: self.numbers(),
                    $($quantity: samples.iter().map(|sample| sample.$quantity as $stored).collect(),)+
                }
            }
        }

        /// Formats as columns; flows and links without samples of a meaning are skipped.
        impl std::fmt::Debug for Sampled<$Sample> {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.columns().fmt(formatter)
            }
        }
    };
}

series! {
    /// State of a flow at a sample time.
    FlowSample,
    /// Samples of every flow that is one TCP connection.
    FlowSeries of flow:
    /// Congestion window, bytes.
    cwnd_bytes: f64 as f64, "B";
    /// Slow start threshold, bytes; infinite before the first loss unless set.
    ssthresh_bytes: f64 as f64, "B";
    /// Payload in flight, bytes.
    in_flight_bytes: u64 as u64, "B";
    /// Pacing rate, bit/s; NaN where segments are not paced.
    pacing_bps: f64 as f64, "bit/s on the wire";
    /// Smoothed round-trip time, s; NaN before the first sample.
    srtt_s: f64 as f64, "s";
    /// Highest payload byte sent so far.
    sent_bytes: u64 as u64, "B";
    /// Payload acknowledged cumulatively so far, bytes.
    acknowledged_bytes: u64 as u64, "B";
    /// Payload known to have arrived so far, in order or not, bytes.
    delivered_bytes: u64 as u64, "B";
    /// Phase of the congestion control.
    phase: Phase as u8, "name";
    /// Available bandwidth as the estimator has it, bit/s; NaN without.
    available_bps: f64 as f64, "bit/s";
    /// Physical bandwidth as the estimator has it, bit/s; NaN without.
    capacity_bps: f64 as f64, "bit/s";
}

series! {
    /// A model's view of the path at a sample time, as BBR has it; NaN where another model has no
    /// such quantity.
    ModelSample,
    /// Samples of every flow with a model.
    ModelSeries of flow:
    /// Largest delivery rate in the last two cycles of probing, bit/s of payload.
    max_bw_bps: f64 as f64, "bit/s of payload";
    /// Smallest round-trip time, s; infinite before the first sample.
    min_rtt_s: f64 as f64, "s";
    /// Bound on the bandwidth after losses, bit/s of payload; infinite without a bound.
    bw_shortterm_bps: f64 as f64, "bit/s of payload";
    /// Bound on the volume in flight after losses, bytes; infinite without a bound.
    inflight_shortterm_bytes: f64 as f64, "B";
    /// Volume in flight that a probe found tolerable, bytes; infinite without a bound.
    inflight_longterm_bytes: f64 as f64, "B";
    /// Allowance for aggregated acknowledgements, bytes.
    extra_acked_bytes: f64 as f64, "B";
}

series! {
    /// State of a link at a sample time.
    LinkSample,
    /// Samples of every link.
    LinkSeries of link:
    /// Packets waiting, without the one in service.
    queue_packets: u64 as u64, "packets";
    /// Drops so far.
    drops: u64 as u64, "packets";
    /// Bytes of packets whose transmission has begun so far.
    bytes: u64 as u64, "B";
    /// Fraction of the time since the previous sample in which the transmitter was busy, weighted
    /// by its rate if that changed; with a trace, of the bytes offered in it, zero if none were.
    utilization: f64 as f64, "";
}
