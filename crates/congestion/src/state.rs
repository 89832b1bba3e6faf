//! A connection's set-up, and the window that its algorithm controls.

use crate::units::{Bytes, Duration};

/// Knowledge of the path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathEstimate {
    /// Available bandwidth A on the wire, bit/s: the capacity less the cross traffic.
    pub available_bps: Option<f64>,
    /// Physical bandwidth K of the narrowest link, bit/s.
    pub capacity_bps: Option<f64>,
}

/// A model's view of the path: the variables of draft-ietf-ccwg-bbr, sections 2.9 to 2.13. Rates
/// and volumes are of payload; infinite without a bound, `None` where the algorithm has no such
/// quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathModel {
    /// BBR.max_bw, bit/s.
    pub max_bw_bps: Option<f64>,
    /// BBR.min_rtt, s; infinite before the first sample.
    pub min_rtt_s: Option<f64>,
    /// BBR.bw_shortterm, bit/s.
    pub bw_shortterm_bps: Option<f64>,
    /// BBR.inflight_shortterm, bytes.
    pub inflight_shortterm_bytes: Option<f64>,
    /// BBR.inflight_longterm, bytes.
    pub inflight_longterm_bytes: Option<f64>,
    /// BBR.extra_acked, bytes.
    pub extra_acked_bytes: Option<f64>,
}

/// The window, which the start and the window algorithm both work on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowState {
    /// Congestion window, in segments; fractional.
    pub cwnd: f64,
    /// Slow start threshold, in segments.
    pub ssthresh: f64,
    /// Payload of a full segment.
    pub mss: Bytes,
    /// TCP, IP and constant option bytes of a segment on the wire.
    pub header: Bytes,
    /// Advertised window; `Bytes::MAX` without a limit.
    pub receive_window: Bytes,
    /// Whether acknowledged bytes count instead of ACKs: [`Setup::byte_counting`].
    pub byte_counting: bool,
    /// Maximum increase per ACK in slow start, in segments. One: "During slow start, a TCP
    /// increments cwnd by at most SMSS bytes for each ACK received" (RFC 5681). With byte counting
    /// infinite, as in Linux (since its commit 9f9843a751d0 an ACK for N segments counts as N) and
    /// in QUIC (RFC 9002, section 7.3.1); RFC 3465, section 2.3, has L = 2 SMSS. After a timeout it
    /// is one segment (section 2.4) until everything outstanding at the timeout is acknowledged,
    /// because an ACK may then cover much that left the network long ago.
    pub slow_start_limit: f64,
    /// Window after an idle period, in segments; infinite if it does not restart:
    /// [`Setup::restart_after_idle`].
    pub restart_window: f64,
    /// Whether a CE mark is being answered, not a loss: [`WindowState::reduce_to`].
    pub marked: bool,
    /// The estimator's view of the path, if any.
    pub path: PathEstimate,
}

impl WindowState {
    /// State of a new connection.
    pub(crate) fn new(setup: &Setup) -> Self {
        Self {
            cwnd: setup.initial_window.clamp(1.0, MAXIMUM_WINDOW_SEGMENTS),
            ssthresh: setup.initial_ssthresh.max(2.0),
            mss: setup.mss,
            header: setup.header,
            receive_window: setup.receive_window,
            byte_counting: setup.byte_counting,
            slow_start_limit: if setup.byte_counting { f64::INFINITY } else { 1.0 },
            restart_window: if setup.restart_after_idle {
                setup.initial_window.max(1.0)
            } else {
                f64::INFINITY
            },
            marked: false,
            path: PathEstimate::default(),
        }
    }
    /// Nothing has been sent for `idle`. "If the TCP has not sent data in an interval exceeding the
    /// retransmission timeout", cwnd falls "to no more than RW" (RFC 5681, section 4.1). As in
    /// Linux (`tcp_cwnd_restart`), after RFC 2861, it is halved for each timeout that the pause
    /// lasted, down to the restart window, and ssthresh keeps three quarters of it, so that slow
    /// start returns there.
    pub(crate) fn restart_after(&mut self, idle: Duration, timeout: Duration) {
        if idle <= timeout || self.cwnd <= self.restart_window {
            return;
        }
        self.ssthresh = self.ssthresh.max(0.75 * self.cwnd);
        // At 30 halvings any window is below one segment.
        let halvings = ((idle.picoseconds() - 1) / timeout.picoseconds().max(1)).min(30);
        self.cwnd = (self.cwnd / (1_u64 << halvings) as f64).max(self.restart_window.max(1.0));
    }
    /// A part may set any window; it is clamped to between one segment and the maximum.
    #[inline]
    pub(crate) fn hold(&mut self) {
        self.cwnd = self.cwnd.clamp(1.0, MAXIMUM_WINDOW_SEGMENTS);
    }
    /// The state that a response to a loss changes.
    pub(crate) const fn before(&self) -> WindowBefore {
        let Self { cwnd, ssthresh, .. } = *self;
        WindowBefore { cwnd, ssthresh }
    }
    /// Undoes the response to a loss, unless the window has grown beyond its former value: "if the
    /// current cwnd has already exceeded the previous cwnd, CUBIC will continue to use the current
    /// cwnd" (RFC 9438, section 4.9.2).
    pub fn restore(&mut self, before: &WindowBefore) {
        if self.cwnd < before.cwnd {
            (self.cwnd, self.ssthresh) = (before.cwnd, before.ssthresh);
        }
    }
    /// The segment size has changed: multiplies numbers of segments by `ratio`.
    pub(crate) fn rescale(&mut self, ratio: f64) {
        self.cwnd *= ratio;
        self.ssthresh = (self.ssthresh * ratio).max(2.0);
        self.restart_window *= ratio;
        self.hold();
    }
    /// Whether cwnd is below ssthresh.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }
    /// Wire size of a full segment.
    pub fn full_segment_on_wire(&self) -> Bytes {
        self.mss + self.header
    }
    /// Converts bytes to full segments.
    #[inline]
    pub fn segments(&self, size: Bytes) -> f64 {
        size.get() as f64 / self.mss.get() as f64
    }
    /// Weight of an ACK of this size where each adds to the window: one, or the acknowledged
    /// fraction of a segment. Counting ACKs whatever they cover is "a security hole TCP receivers
    /// can use to induce the sender into increasing the sending rate too rapidly" (RFC 3465): by
    /// dividing them.
    #[inline]
    pub fn acknowledgements(&self, size: Bytes) -> f64 {
        if size >= self.mss { 1.0 } else { self.segments(size) }
    }
    /// Weight of an ACK of this size in congestion avoidance, where Reno adds 1/cwnd each: the
    /// segments acknowledged with byte counting, so that growth does not depend on how many
    /// segments an ACK covers; one without.
    #[inline]
    pub fn counted(&self, size: Bytes) -> f64 {
        if self.byte_counting { self.segments(size) } else { self.acknowledgements(size) }
    }
    /// Increase of the window by an ACK of this size in slow start.
    #[inline]
    pub fn slow_start_step(&self, size: Bytes) -> f64 {
        self.slow_start_step_up_to(size, self.slow_start_limit)
    }
    /// Like [`WindowState::slow_start_step`], with another limit per ACK, in segments. What passes
    /// ssthresh does not count, as in Linux (`tcp_slow_start`), where it counts in congestion
    /// avoidance; except for the one segment that RFC 5681 adds at once.
    #[inline]
    pub fn slow_start_step_up_to(&self, size: Bytes, limit: f64) -> f64 {
        self.segments(size).min(limit).min((self.ssthresh - self.cwnd).max(1.0))
    }
    /// The data outstanding, in segments, that a reduction takes its part of: "ssthresh = max
    /// (FlightSize / 2, 2*SMSS)", with at most the window. More than a window has been sent since
    /// the oldest outstanding segment during a long recovery, and while a sender waits whether a
    /// segment is late or lost: what left then "MUST NOT be included in this calculation" (RFC
    /// 5681, section 3.2, of Limited Transmit). Linux takes the window (`tcp_reno_ssthresh`).
    pub fn flight(&self, flight_size: Bytes) -> f64 {
        self.segments(flight_size).min(self.window_in_use())
    }
    /// Sets cwnd and ssthresh in response to congestion: cwnd at least two segments after a loss
    /// and one after a CE mark, ssthresh at least two: "cwnd = max(ssthresh, 2)" on loss, "cwnd =
    /// max(ssthresh, 1)" on ECE, "ssthresh = max(ssthresh, 2)" (RFC 9438, section 4.6). RFC 3168
    /// asks for the same (section 6.1.2): below two segments a mark still reduces.
    pub fn reduce_to(&mut self, window: f64) {
        self.cwnd = window.max(if self.marked { 1.0 } else { 2.0 });
        self.ssthresh = window.max(2.0);
    }
    /// The advertised window, in segments.
    pub fn receive_window_segments(&self) -> f64 {
        self.segments(self.receive_window)
    }
    /// The window that limits the sender, in segments: the smaller of cwnd and the advertised
    /// window.
    pub fn window_in_use(&self) -> f64 {
        self.cwnd.min(self.receive_window_segments())
    }
}

/// The window before a loss or a timeout, in case it was spurious.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowBefore {
    /// [`WindowState::cwnd`].
    pub cwnd: f64,
    /// [`WindowState::ssthresh`].
    pub ssthresh: f64,
}

/// Largest window, in segments: far beyond any path, and small enough that a window in bytes cannot
/// overflow.
pub const MAXIMUM_WINDOW_SEGMENTS: f64 = 1e9;

/// Set-up of a connection. The default is a present-day connection: ten segments of 1448 bytes,
/// SACK, byte counting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setup {
    /// Payload of a full segment.
    pub mss: Bytes,
    /// TCP, IP and constant option bytes on the wire.
    pub header: Bytes,
    /// Initial window, in segments.
    pub initial_window: f64,
    /// Initial slow start threshold, in segments; infinite without one.
    pub initial_ssthresh: f64,
    /// The receiver's window.
    pub receive_window: Bytes,
    /// Whether the receiver sends SACK blocks, which reveal more than one loss per round trip.
    pub selective_acks: bool,
    /// Whether slow start and the increase of every window count acknowledged bytes, as in Linux,
    /// instead of ACKs.
    pub byte_counting: bool,
    /// Whether the window restarts after an idle period longer than the retransmission timeout (RFC
    /// 5681, section 4.1), as in Linux (`tcp_slow_start_after_idle`). Models are exempt.
    pub restart_after_idle: bool,
    /// Whether the sender paces at all times, whatever the algorithm: QUIC stacks (RFC 9002,
    /// section 7.7). Bursts then need no limit per ACK (RFC 9406, section 4.3).
    pub paced: bool,
    /// Seed of the algorithm's random numbers.
    pub seed: u64,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            mss: Bytes(1448),
            header: Bytes(52),
            initial_window: 10.0,
            initial_ssthresh: f64::INFINITY,
            receive_window: Bytes::MAX,
            selective_acks: true,
            byte_counting: true,
            restart_after_idle: true,
            paced: false,
            seed: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::state;

    #[test]
    fn windows_in_segments() {
        let mut state = state(10.0);
        assert_eq!(state.full_segment_on_wire(), Bytes(1040));
        assert_eq!(state.segments(Bytes(2500)), 2.5);
        // An ACK of a whole segment or more counts as one, of a fraction as that fraction.
        assert_eq!(
            [250, 999, 1000, 2000].map(|size| state.acknowledgements(Bytes(size))),
            [0.25, 0.999, 1.0, 1.0]
        );
        assert_eq!(state.window_in_use(), 10.0);
        state.receive_window = Bytes(7500);
        assert_eq!((state.receive_window_segments(), state.window_in_use()), (7.5, 7.5));
        state.ssthresh = 10.0;
        assert!(!state.in_slow_start(), "at the threshold it is over");
        state.cwnd = 9.999;
        assert!(state.in_slow_start());
    }

    /// `tcp_cwnd_restart` of Linux: halved per timeout of the pause, not below the initial window,
    /// and ssthresh at three quarters. RFC 5681, section 4.1: only after more than a timeout.
    #[test]
    fn an_unused_window_decays() {
        let second = Duration::from_seconds(1.0);
        for (idle, expected) in
            [(0.9, 160.0), (1.0, 160.0), (1.1, 80.0), (2.0, 80.0), (2.5, 40.0), (15.0, 10.0)]
        {
            let mut state = WindowState { restart_window: 10.0, ..state(160.0) };
            state.ssthresh = 2.0;
            state.restart_after(Duration::from_seconds(idle), second);
            assert_eq!(state.cwnd, expected, "{idle} s");
            assert_eq!(state.ssthresh, if expected < 160.0 { 120.0 } else { 2.0 });
        }
        let mut small = WindowState { restart_window: 10.0, ..state(4.0) };
        small.restart_after(Duration::from_seconds(9.0), second);
        assert_eq!(small.cwnd, 4.0, "RW = min(IW, cwnd)");
        let mut kept = state(160.0);
        kept.restart_after(Duration::from_seconds(9.0), second);
        assert_eq!(kept.cwnd, 160.0, "no restart window");
    }
}
