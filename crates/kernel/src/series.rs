//! A record's connections as the simulator's table of flows: the same quantities, sampled at a
//! fixed interval.

use std::collections::BTreeMap;

use selfclock_congestion::composition::Composition;
use selfclock_congestion::{Controller, Registry, Setup};

use crate::bridge::{Bridge, Flow, in_flight, setup};
use crate::log::{LogError, Reader};

/// Values of one quantity, one for each sample.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Real numbers.
    Reals(Vec<f64>),
    /// Whole numbers.
    Counts(Vec<u64>),
    /// Names.
    Names(Vec<&'static str>),
    /// Yes or no.
    Flags(Vec<bool>),
}

impl Column {
    /// The value of a row, with every digit.
    pub fn text(&self, row: usize) -> String {
        match self {
            Self::Reals(values) => values[row].to_string(),
            Self::Counts(values) => values[row].to_string(),
            Self::Names(values) => values[row].to_owned(),
            Self::Flags(values) => values[row].to_string(),
        }
    }
}

macro_rules! series {
    ($(#[$attribute:meta])* pub struct $Series:ident {
        $($(#[$about:meta])+ $name:ident: $kind:ident($type:ty),)+
    }) => {
        $(#[$attribute])*
        pub struct $Series { $($(#[$about])+ pub $name: Vec<$type>,)+ }

        impl $Series {
            /// The columns with their names, in the order of the fields.
            pub fn columns(self) -> Vec<(&'static str, Column)> {
                vec![$((stringify!($name), Column::$kind(self.$name))),+]
            }
        }
    };
}

series! {
    /// Samples of connections, in columns. A sample shows the state after all events up to and
    /// including its time.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Series {
        /// Time since the first event of the record, s.
        time_s: Reals(f64),
        /// Number of the connection.
        flow: Counts(u64),
        /// Congestion window as the algorithm has it, bytes.
        cwnd_bytes: Reals(f64),
        /// Slow start threshold, bytes; infinite before the first loss.
        ssthresh_bytes: Reals(f64),
        /// Payload in flight, bytes, in whole segments.
        in_flight_bytes: Counts(u64),
        /// Pacing rate on the wire, bit/s; NaN without pacing.
        pacing_bps: Reals(f64),
        /// Smoothed round-trip time, s; NaN before the first sample.
        srtt_s: Reals(f64),
        /// Highest payload byte sent so far.
        sent_bytes: Counts(u64),
        /// Payload acknowledged cumulatively so far, bytes.
        acknowledged_bytes: Counts(u64),
        /// Payload known to have arrived so far, bytes, in whole segments.
        delivered_bytes: Counts(u64),
        /// Name of the phase.
        phase: Names(&'static str),
        /// Available bandwidth according to the estimator, bit/s; NaN without.
        available_bps: Reals(f64),
        /// Physical bandwidth according to the estimator, bit/s; NaN without.
        capacity_bps: Reals(f64),
        /// BBR: maximum of the delivery rate in the last two cycles of probing, bit/s of payload;
        /// NaN without a model.
        max_bw_bps: Reals(f64),
        /// BBR: smallest round-trip time, s; infinite before the first sample, NaN without a model.
        min_rtt_s: Reals(f64),
        /// BBR: bound on the bandwidth after losses, bit/s of payload; infinite without a bound,
        /// NaN without a model.
        bw_shortterm_bps: Reals(f64),
        /// BBR: bound on the volume in flight after losses, bytes; infinite without a bound, NaN
        /// without a model.
        inflight_shortterm_bytes: Reals(f64),
        /// BBR: volume in flight that a probe found tolerable, bytes; infinite without a bound, NaN
        /// without a model.
        inflight_longterm_bytes: Reals(f64),
        /// BBR: allowance for aggregated acknowledgements, bytes; NaN without a model.
        extra_acked_bytes: Reals(f64),
        /// Retransmissions so far.
        retransmissions: Counts(u64),
        /// Window in force in the kernel, segments: the algorithm's, except in recovery and under
        /// Reno.
        kernel_cwnd_segments: Counts(u64),
        /// Whether Reno controls the flow for lack of answers.
        fallback: Flags(bool),
    }
}

impl Series {
    fn sample<A: Composition>(&mut self, time_s: f64, flow: &Flow<Controller<A>>, delivered_before: u32) {
        let (last, control) = (flow.last(), flow.control());
        let (decision, snapshot) = (control.decision(), control.snapshot());
        let mss = setup(last).mss.get();
        let model = control.path_model();
        let known = |value: Option<f64>| value.unwrap_or(f64::NAN);
        self.time_s.push(time_s);
        self.flow.push(last.id);
        self.cwnd_bytes.push(snapshot.cwnd_segments * mss as f64);
        self.ssthresh_bytes.push(snapshot.ssthresh_segments * mss as f64);
        self.in_flight_bytes.push(u64::from(in_flight(last)) * mss);
        self.pacing_bps.push(known(decision.pacing.map(|pacing| pacing.bytes_per_second() * 8.0)));
        self.srtt_s.push(if last.srtt_us > 0 { f64::from(last.srtt_us) * 1e-6 } else { f64::NAN });
        let outstanding = last.snd_nxt.wrapping_sub(last.snd_una);
        self.sent_bytes.push(flow.acknowledged() + u64::from(outstanding));
        self.acknowledged_bytes.push(flow.acknowledged());
        self.delivered_bytes.push(u64::from(last.tp_delivered.wrapping_sub(delivered_before)) * mss);
        self.phase.push(snapshot.phase.name());
        self.available_bps.push(known(snapshot.path.available_bps));
        self.capacity_bps.push(known(snapshot.path.capacity_bps));
        self.max_bw_bps.push(known(model.max_bw_bps));
        self.min_rtt_s.push(known(model.min_rtt_s));
        self.bw_shortterm_bps.push(known(model.bw_shortterm_bps));
        self.inflight_shortterm_bytes.push(known(model.inflight_shortterm_bytes));
        self.inflight_longterm_bytes.push(known(model.inflight_longterm_bytes));
        self.extra_acked_bytes.push(known(model.extra_acked_bytes));
        self.retransmissions.push(last.total_retrans.into());
        self.kernel_cwnd_segments.push(last.cwnd.into());
        self.fallback.push(last.fallback != 0);
    }
}

/// Samples the connections of a record every `interval_ns`, from its first event on.
///
/// # Errors
/// The record cannot be read, or its algorithm is unknown.
pub fn series(registry: &Registry, log: &[u8], interval_ns: u64) -> Result<Series, LogError> {
    let selection = Reader::new(log)?.selection(registry)?;
    series_under(log, interval_ns, |setup| selection.controller(setup))
}

/// The same with the algorithm that `make` makes.
///
/// # Errors
/// The record cannot be read.
pub fn series_under<A: Composition>(
    log: &[u8],
    interval_ns: u64,
    make: impl FnMut(Setup) -> Controller<A>,
) -> Result<Series, LogError> {
    let reader = Reader::new(log)?;
    let mut bridge = Bridge::new(make);
    let mut series = Series::default();
    let interval = interval_ns.max(1);
    let mut began = None;
    // By connection: the number of its next sample, and the segments delivered before the first.
    let mut next: BTreeMap<u64, (u64, u32)> = BTreeMap::new();
    for entry in reader {
        let event = entry?.event;
        let began = *began.get_or_insert(event.now);
        let time = event.now.saturating_sub(began);
        let (number, delivered) =
            next.entry(event.id).or_insert((time.div_ceil(interval), event.tp_delivered));
        if let Some(flow) = bridge.flow(event.slot).filter(|flow| flow.last().id == event.id) {
            while *number * interval < time {
                series.sample((*number * interval) as f64 * 1e-9, flow, *delivered);
                *number += 1;
            }
        }
        bridge.on(&event);
    }
    Ok(series)
}
