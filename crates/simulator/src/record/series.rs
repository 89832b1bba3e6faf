//! Series sampled at a fixed interval, one column per quantity.

/// Samples of every flow, in the order flow by flow, time ascending. All columns have the same length.
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
    /// [`selfclock_congestion::Phase`] as a number.
    pub phase: Vec<u8>,
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
    /// Bytes handed to the transmitter so far.
    pub bytes: Vec<u64>,
    /// Fraction of the time since the previous sample in which the transmitter was busy.
    pub utilization: Vec<f64>,
}
