//! Congestion that an ACK frame reveals comes before the growth by the packets that it
//! acknowledges: "ProcessECN" and "OnPacketsLost" precede "OnPacketsAcked" (RFC 9002, section A.7),
//! and the latter grows nothing for packets sent before the reduction (section B.5).

use super::rig::{PACKET, at, driver, every_window, lose, send, windows};
use super::*;

/// The window before and after the last of its packets are acknowledged by one frame of so many,
/// which reveals `congestion`.
fn revealed(label: &str, frame: u64, congestion: impl Fn(Time) -> Congestion) -> (u64, u64) {
    let mut driver = driver(label);
    let now = windows(&mut driver, 0, 5, 2);
    let before = driver.window();
    let frame = frame.min(before / PACKET - 1);
    send(&mut driver, now, before / PACKET);
    for _ in 0..frame {
        driver.on_packet_acked(at(now + 50), at(now), PACKET);
    }
    driver.on_acks_end(at(now + 50), Some(before - frame * PACKET), false);
    driver.on_congestion(at(now + 50), congestion(at(now)));
    (before, driver.window())
}

/// In slow start a frame of the whole flight would double the window, and half of that would be no
/// reduction at all.
#[test]
fn a_loss_reduces_the_window_from_before_the_frame() {
    for label in every_window().chain(["cubic+hystart++"]) {
        let loss = |sent| Congestion::Lost { sent, bytes: PACKET, persistent: false };
        let mark = |sent| Congestion::Marked { sent };
        for frame in [2, 10, 64, 300] {
            let (before, after) = revealed(label, frame, loss);
            assert_eq!((before, after), revealed(label, 1, loss), "{label}, a frame of {frame}");
            assert!(after < before, "{label}");
            assert_eq!(revealed(label, frame, mark), revealed(label, 1, mark), "{label}, marked, {frame}");
        }
    }
    for (label, kept) in [("reno", 0.5), ("cubic", 0.7)] {
        let (before, after) =
            revealed(label, 64, |sent| Congestion::Lost { sent, bytes: PACKET, persistent: false });
        assert_eq!(after, (before as f64 * kept) as u64, "{label}");
    }
}

/// Section 7.6.2: the minimum window, whatever the frame acknowledges.
#[test]
fn persistent_congestion_leaves_two_packets() {
    for label in every_window() {
        for frame in [1, 10, 64] {
            let persistent = |sent| Congestion::Lost { sent, bytes: PACKET, persistent: true };
            assert_eq!(revealed(label, frame, persistent).1, 2 * PACKET, "{label}, a frame of {frame}");
        }
    }
}

/// A frame that ends one recovery and reveals the next loss: the algorithm sees the end first.
#[test]
fn the_end_of_a_recovery_and_the_next_loss_in_one_frame() {
    for label in every_window() {
        let mut driver = driver(label);
        let now = windows(&mut driver, 0, 5, 2);
        send(&mut driver, now, 100);
        lose(&mut driver, now, now + 50);
        let first = driver.window();
        send(&mut driver, now + 60, 20);
        for _ in 0..19 {
            driver.on_packet_acked(at(now + 110), at(now + 60), PACKET);
        }
        driver.on_acks_end(at(now + 110), Some(80 * PACKET), false);
        lose(&mut driver, now + 60, now + 110);
        assert!(driver.window() < first, "{label}");
        assert_eq!(driver.controller().snapshot().phase, selfclock_congestion::Phase::Recovery, "{label}");
    }
}

/// A loss of packets that an earlier reduction has answered takes no growth away.
#[test]
fn an_old_loss_takes_no_growth() {
    let grown = |old_loss: bool| {
        let mut driver = driver("reno");
        let now = windows(&mut driver, 0, 5, 2);
        send(&mut driver, now, 100);
        lose(&mut driver, now, now + 50);
        send(&mut driver, now + 60, 100);
        for _ in 0..100 {
            driver.on_packet_acked(at(now + 110), at(now + 60), PACKET);
        }
        driver.on_acks_end(at(now + 110), Some(90 * PACKET), false);
        if old_loss {
            lose(&mut driver, now, now + 110);
        }
        driver.window()
    };
    assert_eq!(grown(true), grown(false));
}

/// Readings before and after the algorithm has the frame are the same.
#[test]
fn reading_the_window_changes_nothing() {
    let (mut read, mut unread) = (driver("cubic+hystart++"), driver("cubic+hystart++"));
    for round in 0..60 {
        for driver in [&mut read, &mut unread] {
            windows(driver, 50 * round, 1, 4);
            if round % 6 == 5 {
                lose(driver, 50 * round, 50 * round + 49);
            }
        }
        let seen = (read.window(), read.slow_start_threshold(), read.pacing_rate());
        assert_eq!(seen, (read.clone().window(), read.slow_start_threshold(), read.pacing_rate()));
    }
    assert_eq!(read.window(), unread.window());
}
