//! The window by the sentences of RFC 9002, with events by hand: packets of 1200 bytes, a round
//! trip of 50 ms.

use super::rig::{PACKET, at, driver, every_window, lose, send, window, windows};
use super::*;
use selfclock_congestion::Selection;

/// "While a sender is in slow start, the congestion window increases by the number of bytes
/// acknowledged when each acknowledgment is processed" (section 7.3.1), and HyStart++ has "L =
/// infinity if paced" (RFC 9406, section 4.3).
#[test]
fn slow_start_counts_every_byte_of_a_frame() {
    for label in ["reno", "cubic", "cubic+hystart++", "highspeed", "bic", "scalable", "ltcp"] {
        for frame in [1, 2, 4, 8, 10, 16, 64] {
            let mut driver = driver(label);
            windows(&mut driver, 0, 4, frame);
            assert_eq!(window(&driver), 160, "{label}, frames of {frame}");
        }
    }
}

/// The same in congestion avoidance. A frame of n packets adds at once what n frames would add one
/// by one to a slightly growing window, so the growth may differ by n/w of itself; and windows are
/// whole packets here. CUBIC looks one round trip ahead, whose target moves while the ACKs of a
/// window come at one time: the same n/w.
#[test]
fn congestion_avoidance_does_not_depend_on_the_size_of_frames() {
    for label in ["reno", "cubic", "highspeed", "bic", "scalable", "ltcp", "altcp", "adaptive"] {
        let mut grown = Vec::new();
        for frame in [1, 2, 4, 8, 16] {
            let mut driver = driver(label);
            let now = windows(&mut driver, 0, 5, frame);
            driver.on_packet_sent(at(now), PACKET);
            lose(&mut driver, now, now + 50);
            driver.on_packet_sent(at(now + 50), PACKET);
            driver.on_packet_acked(at(now + 100), at(now + 50), PACKET);
            driver.on_acks_end(at(now + 100), Some(0), false);
            let before = driver.window();
            windows(&mut driver, now + 100, 20, frame);
            grown.push((driver.window() - before) as f64 / PACKET as f64);
        }
        let tolerance = 16.0 / 160.0 * grown[0] + 1.0;
        assert!(grown.iter().all(|growth| (growth - grown[0]).abs() <= tolerance), "{label}: {grown:?}");
    }
}

/// "On entering a recovery period, a sender MUST set the slow start threshold to half the value of
/// the congestion window when loss is detected" (section 7.3.2), however little is in flight.
#[test]
fn a_loss_halves_the_window_of_an_application_limited_sender() {
    for (label, kept) in [("reno", 0.5), ("cubic", 0.7)] {
        let mut driver = driver(label);
        let now = windows(&mut driver, 0, 5, 2);
        let before = driver.window();
        for _ in 0..20 {
            driver.on_packet_sent(at(now), PACKET);
        }
        lose(&mut driver, now, now + 60);
        assert_eq!(driver.window(), (before as f64 * kept) as u64, "{label}");
    }
}

/// After persistent congestion the window is two packets, and slow start doubles it (sections 7.6.2
/// and 7.3.1), however many packets a frame acknowledges. Vegas doubles every other round trip.
#[test]
fn slow_start_after_persistent_congestion() {
    for label in every_window().filter(|&name| name != "vegas").chain(["cubic+hystart++"]) {
        for frame in [1, 2, 8, 64] {
            let mut driver = driver(label);
            let now = windows(&mut driver, 0, 3, 2);
            driver.on_packet_sent(at(now), PACKET);
            let lost = Congestion::Lost { sent: at(now), bytes: PACKET, persistent: true };
            driver.on_congestion(at(now + 500), lost);
            let mut found = Vec::new();
            for round in 0..5 {
                found.push(window(&driver));
                windows(&mut driver, now + 500 + 50 * round, 1, frame);
            }
            assert_eq!(found, [2, 4, 8, 16, 32], "{label}, frames of {frame}");
        }
    }
}

/// Section 7.2: "the initial congestion window SHOULD be recalculated with the new size", and with
/// a smaller size before the handshake is complete the window "SHOULD be set to the new initial
/// congestion window". Afterwards a window keeps its bytes.
#[test]
fn datagram_sizes_and_the_initial_window() {
    let begin = |mtu: u64| {
        let initial_window = usual_initial_window(mtu);
        let setup = Setup { mss: Bytes(mtu), header: Bytes::ZERO, initial_window, ..Setup::default() };
        Driver::new(&Selection::from_label("cubic").expect("listed"), setup, None)
    };
    for (before, initial, after, recalculated, window) in [
        (9000, 18_000, 1200, 12_000, 12_000),
        (1200, 12_000, 1452, 14_520, 12_000),
        (1452, 14_520, 1200, 12_000, 12_000),
    ] {
        let mut driver = begin(before);
        assert_eq!((driver.initial_window(), driver.window()), (initial, initial));
        driver.on_packet_sent(at(0), before);
        driver.on_mtu_changed(after as u16);
        assert_eq!(driver.initial_window(), recalculated, "{before} to {after}");
        assert!(driver.window().abs_diff(window) <= 1, "{before} to {after}: {}", driver.window());
    }
    let mut driver = begin(9000);
    driver.on_packet_sent(at(0), 9000);
    driver.on_packet_acked(at(50), at(0), 9000);
    driver.on_acks_end(at(50), Some(0), false);
    let window = driver.window();
    driver.on_mtu_changed(1200);
    assert!(driver.window().abs_diff(window) <= 1, "the same bytes");
}

/// Section B.5: "Do not increase congestion_window in recovery period", by the time each packet was
/// sent. Of a frame that ends the recovery, packets sent before the reduction grow nothing; nor do
/// they when they come later.
#[test]
fn packets_sent_before_a_reduction_grow_nothing() {
    let mut driver = driver("reno");
    let now = windows(&mut driver, 0, 5, 2);
    for _ in 0..300 {
        driver.on_packet_sent(at(now), PACKET);
    }
    lose(&mut driver, now, now + 50);
    let reduced = driver.window();
    assert_eq!(reduced, 160 * PACKET);
    driver.on_packet_sent(at(now + 60), PACKET);
    for _ in 0..298 {
        driver.on_packet_acked(at(now + 110), at(now), PACKET);
    }
    driver.on_packet_acked(at(now + 110), at(now + 60), PACKET);
    driver.on_acks_end(at(now + 110), Some(PACKET), false);
    // One packet's worth of congestion avoidance: 1200/160 bytes.
    assert_eq!(driver.window(), reduced + 7);
    driver.on_packet_acked(at(now + 120), at(now), PACKET);
    driver.on_acks_end(at(now + 120), Some(0), false);
    assert_eq!(driver.window(), reduced + 7);
}

/// RFC 8899, section 3: a change of the size "MUST NOT" change the window in bytes. After
/// persistent congestion with packets of 1200 bytes the window is 2400; it cannot be less than one
/// packet of 9000, and is no more. The next responses to congestion do not raise it either, and it
/// is two packets again when it has grown.
#[test]
fn larger_packets_do_not_raise_a_small_window() {
    for label in every_window().chain(["bbr3"]) {
        let mut driver = driver(label);
        send(&mut driver, 0, 10);
        let lost = |sent, bytes| Congestion::Lost { sent: at(sent), bytes, persistent: true };
        driver.on_congestion(at(500), lost(0, 10 * PACKET));
        assert_eq!(driver.window(), 2 * PACKET, "{label}");
        driver.on_mtu_changed(9000);
        assert_eq!(driver.window(), 9000, "{label}");
        driver.on_packet_sent(at(600), 9000);
        driver.on_congestion(at(1600), lost(600, 9000));
        assert_eq!(driver.window(), 9000, "{label}");
        windows(&mut driver, 1700, 4, 1);
        assert!(driver.window() >= 18_000, "{label}: {}", driver.window());
        driver.on_packet_sent(at(3000), 9000);
        driver.on_congestion(at(4600), lost(3000, 9000));
        assert_eq!(driver.window(), 18_000, "{label}");
        driver.on_mtu_changed(1200);
        assert_eq!(driver.window(), 18_000, "{label}: the same bytes");
    }
}
