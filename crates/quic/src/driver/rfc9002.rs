//! The window by the sentences of RFC 9002, with events by hand: packets of 1200 bytes, a round
//! trip of 50 ms.

use super::*;
use selfclock_congestion::{Duration, Selection};

const PACKET: u64 = 1200;

fn at(milliseconds: u64) -> Time {
    Time::ZERO + Duration::from_milliseconds(milliseconds)
}

fn driver(label: &str) -> Driver {
    let setup = Setup { mss: Bytes(PACKET), header: Bytes::ZERO, ..Setup::default() };
    Driver::new(&Selection::from_label(label).expect("listed"), setup, None)
}

/// Packets that the window allows.
fn window(driver: &Driver) -> u64 {
    driver.window() / PACKET
}

/// Windows of packets, each sent at once and acknowledged 50 ms later in frames of `frame` packets.
/// Returns the time of the next.
fn windows(driver: &mut Driver, begin: u64, rounds: u64, frame: u64) -> u64 {
    let mut now = begin;
    for _ in 0..rounds {
        let mut left = window(driver);
        for _ in 0..left {
            driver.on_packet_sent(at(now), PACKET);
        }
        while left > 0 {
            let size = frame.min(left);
            left -= size;
            for _ in 0..size {
                driver.on_packet_acked(at(now + 50), at(now), PACKET);
            }
            driver.on_acks_end(at(now + 50), Some(left * PACKET), false);
        }
        now += 50;
    }
    now
}

fn lose(driver: &mut Driver, sent: u64, now: u64) {
    let lost = Congestion::Lost { sent: at(sent), bytes: PACKET, persistent: false };
    driver.on_congestion(at(now), lost);
}

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
/// and 7.3.1).
#[test]
fn slow_start_after_persistent_congestion() {
    let mut driver = driver("reno");
    let now = windows(&mut driver, 0, 3, 2);
    driver.on_packet_sent(at(now), PACKET);
    let lost = Congestion::Lost { sent: at(now), bytes: PACKET, persistent: true };
    driver.on_congestion(at(now + 500), lost);
    let mut found = Vec::new();
    for round in 0..5 {
        found.push(window(&driver));
        windows(&mut driver, now + 500 + 50 * round, 1, 2);
    }
    assert_eq!(found, [2, 4, 8, 16, 32]);
}

/// RFC 9438, section 4.2: t "MUST NOT include periods during which cwnd has not been updated due to
/// application-limited behavior". The window after a minute of silence is that without it, within a
/// round trip's growth.
#[test]
fn no_window_counts_an_idle_minute() {
    for label in ["reno", "cubic", "bic", "highspeed", "scalable", "ltcp", "altcp", "vegas", "tri-s"] {
        let after = |pause: u64| {
            let mut driver = driver(label);
            let mut now = windows(&mut driver, 0, 6, 2);
            driver.on_packet_sent(at(now), PACKET);
            lose(&mut driver, now, now + 50);
            now = windows(&mut driver, now + 51, 40, 2);
            let before = driver.window();
            now = windows(&mut driver, now, 1, 2);
            let step = driver.window().abs_diff(before).max(PACKET);
            windows(&mut driver, now + pause, 4, 2);
            (driver.window(), step)
        };
        let ((without, step), (with, _)) = (after(0), after(60_000));
        assert!(without.abs_diff(with) <= 2 * step, "{label}: {without} and {with}");
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

/// Ten packets leave in every round trip, spaced by a pacer, which the stack takes for the limit
/// (section 7.8): the window stays below what such a flight can use, twice the flight.
#[test]
fn a_paced_trickle_grows_no_window() {
    for label in ["reno", "cubic", "scalable"] {
        let mut driver = driver(label);
        for packet in 0..20_000 {
            driver.on_packet_sent(at(5 * packet), PACKET);
            if let Some(acked) = packet.checked_sub(10) {
                driver.on_packet_acked(at(5 * packet), at(5 * acked), PACKET);
                driver.on_acks_end(at(5 * packet), None, false);
            }
        }
        assert!(window(&driver) <= 23, "{label}: {}", window(&driver));
    }
}
