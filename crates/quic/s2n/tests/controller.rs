//! The controller of s2n-quic with calls by hand.

use std::time::Duration;

use s2n_quic_core::event::builder::{BbrState, SlowStartExitCause};
use s2n_quic_core::inet::SocketAddress;
use s2n_quic_core::path::Config;
use s2n_quic_core::recovery::RttEstimator;
use s2n_quic_core::recovery::bandwidth::{Bandwidth, RateSample};
use s2n_quic_core::recovery::congestion_controller::{CongestionController, Endpoint, PathInfo, Publisher};
use s2n_quic_core::time::{Clock as _, NoopClock};
use selfclock_quic::s2n::{Controller, factory};

/// Nobody is told.
struct Nobody;

impl Publisher for Nobody {
    fn on_slow_start_exited(&mut self, _cause: SlowStartExitCause, _congestion_window: u32) {}
    fn on_delivery_rate_sampled(&mut self, _rate_sample: RateSample) {}
    fn on_pacing_rate_updated(&mut self, _rate: Bandwidth, _burst: u32, _gain: num_rational::Ratio<u64>) {}
    fn on_bbr_state_changed(&mut self, _state: BbrState) {}
}

fn controller(label: &str) -> Controller {
    let path = Config::default();
    factory(label).expect(label).new_congestion_controller(PathInfo::new(&path, &SocketAddress::default()))
}

/// Ten packets that leave at once have used up the rate for ten: the eleventh leaves when they are
/// paid for. After a pause only the millisecond is left over that a timer may be late.
#[test]
fn packets_are_paced() {
    let (mut bbr, rtt) = (controller("bbr3"), RttEstimator::default());
    let start = NoopClock.get_time();
    assert_eq!(bbr.earliest_departure_time(), None);
    let send = |bbr: &mut Controller, at| bbr.on_packet_sent(at, 1200, None, &rtt, &mut Nobody);
    for _ in 0..10 {
        send(&mut bbr, start);
    }
    let rate = bbr.driver().pacing_rate().expect("BBR paces") as f64;
    let departs = |bbr: &Controller, since| {
        let departure = bbr.earliest_departure_time().expect("it paces");
        departure.saturating_duration_since(since).as_secs_f64()
    };
    // s2n-quic counts microseconds.
    assert!((departs(&bbr, start) - 12_000.0 / rate).abs() < 2e-6, "{}", departs(&bbr, start));
    let later = start + Duration::from_secs(1);
    send(&mut bbr, later);
    let expected = (1200.0 / rate - 0.001).max(0.0);
    assert!((departs(&bbr, later) - expected).abs() < 2e-6, "{} and {expected}", departs(&bbr, later));
    assert_eq!(controller("cubic").earliest_departure_time(), None);
}

/// A window is full when no packet fits; what a discarded packet number space held is in flight no
/// more.
#[test]
fn full_windows() {
    let (mut cubic, rtt) = (controller("cubic"), RttEstimator::default());
    let start = NoopClock.get_time();
    let packet = cubic.driver().mtu() as usize;
    for sent in 0..10 {
        assert!(!cubic.is_congestion_limited(), "{sent} packets");
        cubic.on_packet_sent(start, packet, Some(false), &rtt, &mut Nobody);
    }
    assert!(cubic.is_congestion_limited());
    assert_eq!(cubic.congestion_window(), cubic.bytes_in_flight());
    cubic.on_packet_discarded(packet, &mut Nobody);
    assert_eq!((cubic.bytes_in_flight(), cubic.is_congestion_limited()), (9 * packet as u32, false));
}
