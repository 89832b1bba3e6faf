//! States, events and paths for the tests of the algorithms.

use crate::event::{Acknowledged, EcnEcho, LossDetected, Timeout};
use crate::part::{StartPart, WindowPart};
use crate::state::{PathEstimate, Setup, WindowState};
use crate::units::{Bytes, Duration, Time};

/// A window of `cwnd` 1000-byte segments, in slow start.
pub fn state(cwnd: f64) -> WindowState {
    WindowState {
        cwnd,
        ssthresh: f64::INFINITY,
        mss: Bytes(1000),
        header: Bytes(40),
        receive_window: Bytes::MAX,
        byte_counting: false,
        slow_start_limit: 1.0,
        restart_window: f64::INFINITY,
        marked: false,
        path: PathEstimate::default(),
    }
}

/// A connection that begins with ten segments of 1000 bytes, in slow start up to 64.
pub fn setup() -> Setup {
    Setup {
        mss: Bytes(1000),
        header: Bytes(40),
        initial_window: 10.0,
        initial_ssthresh: 64.0,
        receive_window: Bytes::MAX,
        selective_acks: true,
        byte_counting: false,
        restart_after_idle: false,
        paced: false,
        seed: 1,
    }
}

/// An ACK of this many bytes.
pub fn ack(size: u64) -> Acknowledged {
    Acknowledged::new(Time::ZERO, Bytes(size))
}

/// An ACK of one segment at this time with this round-trip time, both in seconds.
pub fn ack_at(now: f64, rtt: f64) -> Acknowledged {
    let rtt = Some(Duration::from_seconds(rtt));
    let now = Time::ZERO + Duration::from_seconds(now);
    Acknowledged { now, rtt, smoothed_rtt: rtt, minimum_rtt: rtt, ..ack(1000) }
}

/// A window of `cwnd` segments, in congestion avoidance.
pub fn avoiding(cwnd: f64) -> WindowState {
    WindowState { cwnd, ssthresh: 2.0, ..crate::fixtures::state(cwnd) }
}

/// A loss when all of the window is in flight.
pub fn loss(state: &WindowState) -> LossDetected {
    LossDetected::new(Time::ZERO, Bytes((state.cwnd * 1000.0) as u64))
}

/// A CE mark when all of the window is in flight.
pub fn echo(state: &WindowState) -> EcnEcho {
    let LossDetected { now, flight_size, .. } = loss(state);
    EcnEcho::new(now, flight_size)
}

/// A timeout when all of the window is in flight.
pub fn timeout(state: &WindowState) -> Timeout {
    let LossDetected { now, flight_size, .. } = loss(state);
    Timeout::new(now, flight_size)
}

/// One flow of full segments, each acknowledged separately unless told otherwise, on a path with
/// one queue. The ACK clock in closed form: a window takes one RTT, and its excess over the BDP is
/// in the queue.
#[derive(Clone)]
pub struct LoneFlow {
    /// Round-trip time without a queue, in seconds.
    pub base_rtt: f64,
    /// Segments per second.
    pub capacity: f64,
    /// Time of the last ACK, in seconds.
    pub now: f64,
    /// Segments that an ACK covers.
    pub every: f64,
    acknowledged: f64,
}

impl LoneFlow {
    /// On such a path.
    pub fn new(base_rtt: f64, capacity: f64) -> Self {
        Self { base_rtt, capacity, now: 0.0, every: 1.0, acknowledged: 0.0 }
    }
    /// On a path that never has a queue.
    pub fn without_queue(rtt: f64) -> Self {
        Self::new(rtt, f64::INFINITY)
    }
    /// Round-trip time with this window.
    pub fn rtt(&self, cwnd: f64) -> f64 {
        self.base_rtt.max(cwnd / self.capacity)
    }
    /// The next ACK under this window.
    pub fn next(&mut self, cwnd: f64) -> Acknowledged {
        let rtt = self.rtt(cwnd);
        self.now += self.every * rtt / cwnd;
        self.acknowledged += self.every;
        Acknowledged {
            size: Bytes((self.every * 1000.0) as u64),
            acknowledged_total: Bytes((self.acknowledged * 1000.0) as u64),
            sent_total: Bytes(((self.acknowledged + cwnd) * 1000.0) as u64),
            minimum_rtt: Some(crate::units::Duration::from_seconds(self.base_rtt)),
            ..ack_at(self.now, rtt)
        }
    }
    /// `n` ACKs.
    pub fn run(&mut self, window: &mut impl WindowPart, state: &mut WindowState, acknowledgements: u64) {
        for _ in 0..acknowledgements {
            let event = self.next(state.cwnd);
            window.on_ack(&event, state);
            window.grow(&event, state);
        }
    }
    /// Feeds ACKs until this time.
    pub fn run_until(&mut self, window: &mut impl WindowPart, state: &mut WindowState, seconds: f64) {
        while self.now < seconds {
            self.run(window, state, 1);
        }
    }
}

/// Mean window, in segments, when every `period`-th segment is lost: the segments of 20 periods
/// over the round trips they take, after `settle` periods. Recovery takes no time.
pub fn response(
    window: &mut impl WindowPart,
    state: &mut WindowState,
    rtt: f64,
    period: u64,
    settle: u32,
) -> f64 {
    response_to(&mut LoneFlow::without_queue(rtt), window, state, period, settle)
}

/// The same of this flow.
pub fn response_to(
    flow: &mut LoneFlow,
    window: &mut impl WindowPart,
    state: &mut WindowState,
    period: u64,
    settle: u32,
) -> f64 {
    let mut begin = 0.0;
    for cycle in 0..settle + 20 {
        if cycle == settle {
            begin = flow.now;
        }
        flow.run(window, state, (period as f64 / flow.every) as u64);
        window.on_loss(&loss(state), state);
    }
    20.0 * period as f64 * flow.base_rtt / (flow.now - begin)
}

/// Passes an event to a start.
type Tell = fn(&mut dyn StartPart, &mut WindowState);

/// A loss, a mark and a timeout.
pub fn ends() -> [(&'static str, Tell); 3] {
    const NOW: Time = Time::ZERO;
    const FLIGHT: Bytes = Bytes(10_000);
    [
        ("loss", |start, state| start.on_loss(&LossDetected::new(NOW, FLIGHT), state)),
        ("mark", |start, _| start.on_ecn_echo(&EcnEcho::new(NOW, FLIGHT))),
        ("timeout", |start, _| {
            start.on_timeout(&Timeout::new(NOW, FLIGHT));
        }),
    ]
}

/// Asserts that the start has reverted to slow start as in RFC 5681, a segment per ACK.
pub fn is_plain_slow_start(start: &mut dyn StartPart, state: &mut WindowState, after: &str) {
    let event = Acknowledged { size: Bytes(3 * state.mss.get()), ..ack(0) };
    start.on_ack(&event, state);
    assert!(!start.holds_window(), "after a {after}");
    assert_eq!(
        (start.pacing(state), start.probe(state), start.phase()),
        (None, None, None),
        "after a {after}"
    );
    let before = state.cwnd;
    start.grow(&event, state);
    assert_eq!(state.cwnd, before + 1.0, "after a {after}");
}
