//! Laws that hold whatever the algorithm: one stream of events is fed twice, with one thing
//! changed.

use super::rig::{PACKET, acknowledge, at, driver, driver_of, every_window, send, window, windows};
use super::*;

/// BBR's rate doubles with the bytes.
#[test]
fn twice_the_bytes_at_twice_the_rate() {
    let [once, twice] = [PACKET, 2 * PACKET].map(|packet| {
        let mut driver = driver_of("bbr3", packet);
        let mut found = Vec::new();
        for packet_number in 0..8000 {
            driver.on_packet_sent(at(packet_number), packet);
            if let Some(acked) = packet_number.checked_sub(50) {
                acknowledge(&mut driver, at(acked), at(packet_number), 1, 1);
                found.push((driver.window() / packet, driver.pacing_rate().expect("paced") / packet));
            }
        }
        found
    });
    let close = |a: u64, b: u64| a.abs_diff(b) <= 1;
    let differs = once.iter().zip(&twice).position(|(a, b)| !close(a.0, b.0) || !close(a.1, b.1));
    assert_eq!(differs, None, "{:?} {:?}", once.last(), twice.last());
}

/// A loss reduces the window, whatever part of it an application-limited sender has in flight (RFC
/// 9002, section 7.3.2; RFC 9438, section 4.6, allows it where an unused window does not grow): 20
/// packets of 320 in flight leave the same as 320 of 320. So does a mark.
#[test]
fn congestion_of_a_sender_limited_by_the_application() {
    for label in every_window().chain(["cubic+hystart++"]) {
        for marked in [false, true] {
            let left = |flight: u64| {
                let mut driver = driver(label);
                let now = windows(&mut driver, 0, 5, 2);
                let flight = flight.min(window(&driver));
                send(&mut driver, now, flight);
                let sent = at(now);
                let congestion = match marked {
                    true => Congestion::Marked { sent },
                    false => Congestion::Lost { sent, bytes: PACKET, persistent: false },
                };
                let before = driver.window();
                driver.on_congestion(at(now + 60), congestion);
                (before, driver.window())
            };
            let ((before, full), (_, part)) = (left(u64::MAX), left(20));
            assert_eq!(full, part, "{label}, marked: {marked}");
            assert!(full < before, "{label}, marked: {marked}: {before} {full}");
        }
    }
}

/// A pacer spaces ten packets a round trip, as the application gives them, and the stack calls that
/// limited by the window: none grows beyond what it uses (section 7.8).
#[test]
fn a_paced_trickle_grows_no_window() {
    for label in every_window().chain(["cubic+hystart++"]) {
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
