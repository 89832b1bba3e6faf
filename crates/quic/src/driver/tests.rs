//! The driver with events by hand: packets of 1200 bytes, a round trip of 50 ms.

use selfclock_congestion::trace::{Reader, Record, replay};
use selfclock_congestion::{Duration, Event, Phase, Registry, Selection, Setup, Time};

use super::*;

const PACKET: u64 = 1200;

fn at(milliseconds: u64) -> Time {
    Time::ZERO + Duration::from_milliseconds(milliseconds)
}

fn setup() -> Setup {
    Setup { mss: Bytes(PACKET), header: Bytes::ZERO, ..Setup::default() }
}

fn driver(label: &str) -> Driver {
    Driver::new(&Selection::from_label(label).expect("listed"), setup(), None)
}

/// `packets` leave at `sent`, and are acknowledged 50 ms later by one frame.
fn round_trip(driver: &mut Driver, sent: u64, packets: u64) {
    for _ in 0..packets {
        driver.on_packet_sent(at(sent), PACKET);
    }
    for _ in 0..packets {
        driver.on_packet_acked(at(sent + 50), at(sent), PACKET);
    }
    driver.on_acks_end(at(sent + 50), Some(0), false);
}

fn lost(sent: u64, packets: u64) -> Congestion {
    Congestion::Lost { sent: at(sent), bytes: packets * PACKET, persistent: false }
}

/// RFC 9002, section 7.3.2: losses and marks of what left before the reduction change nothing; the
/// next round trip's do.
#[test]
fn one_reduction_a_round_trip() {
    let mut driver = driver("reno");
    for packet in 0..10 {
        driver.on_packet_sent(at(packet), PACKET);
    }
    driver.on_congestion(at(60), lost(0, 1));
    assert_eq!(driver.window(), 5 * PACKET, "half of ten in flight");
    driver.on_congestion(at(61), lost(8, 2));
    driver.on_congestion(at(62), Congestion::Marked { sent: at(9) });
    assert_eq!((driver.window(), driver.in_flight()), (5 * PACKET, 7 * PACKET));

    // Neither does the window grow for what left before, until something that left later is
    // acknowledged.
    driver.on_packet_acked(at(63), at(9), PACKET);
    driver.on_acks_end(at(63), None, false);
    assert_eq!((driver.window(), driver.controller().snapshot().phase), (5 * PACKET, Phase::Recovery));
    driver.on_packet_sent(at(64), PACKET);
    driver.on_packet_acked(at(114), at(64), PACKET);
    driver.on_acks_end(at(114), None, false);
    assert_ne!(driver.controller().snapshot().phase, Phase::Recovery);
    assert!(driver.window() > 5 * PACKET, "a fifth of a packet more");
    driver.on_packet_sent(at(115), 6 * PACKET);
    driver.on_congestion(at(170), lost(115, 1));
    assert!(driver.window() < 5 * PACKET);
}

/// "kMinimumWindow": two packets, whatever the algorithm makes of losses that never end; after
/// persistent congestion, too.
#[test]
fn never_below_two_packets() {
    for label in ["reno", "cubic", "vegas", "scalable", "bbr3"] {
        let mut driver = driver(label);
        for round in 0..20 {
            driver.on_packet_sent(at(100 * round), PACKET);
            driver.on_congestion(at(100 * round + 99), lost(100 * round, 1));
            assert!(driver.window() >= 2 * PACKET, "{label}");
        }
        driver.on_packet_sent(at(3000), PACKET);
        let congestion = Congestion::Lost { sent: at(3000), bytes: PACKET, persistent: true };
        driver.on_congestion(at(3999), congestion);
        assert_eq!(driver.window(), 2 * PACKET, "{label}");
    }
}

/// Persistent congestion in the round trip of a loss: the window is the minimum, and the threshold
/// stays half of what was in flight at the loss (section 7.6.2).
#[test]
fn persistent_congestion_keeps_the_threshold_of_the_loss() {
    let mut driver = driver("reno");
    for _ in 0..10 {
        driver.on_packet_sent(at(0), PACKET);
    }
    driver.on_congestion(at(60), lost(0, 1));
    assert_eq!(driver.slow_start_threshold(), Some(5 * PACKET));
    driver.on_congestion(at(900), Congestion::Lost { sent: at(0), bytes: 9 * PACKET, persistent: true });
    assert_eq!((driver.window(), driver.slow_start_threshold()), (2 * PACKET, Some(5 * PACKET)));
    // The recovery is over: the window grows at once, in slow start.
    round_trip(&mut driver, 901, 2);
    round_trip(&mut driver, 1000, 2);
    assert!(driver.window() > 2 * PACKET);
}

#[test]
fn a_spurious_loss_is_undone() {
    let mut driver = driver("cubic");
    round_trip(&mut driver, 0, 10);
    let before = driver.window();
    driver.on_packet_sent(at(60), before);
    driver.on_congestion(at(120), lost(60, 1));
    assert!(driver.window() < before);
    driver.on_spurious_loss();
    assert_eq!(driver.window(), before);
}

/// A window that is not used does not grow.
#[test]
fn application_limited() {
    let mut driver = driver("reno");
    let before = driver.window();
    driver.on_packet_sent(at(0), PACKET);
    driver.on_packet_acked(at(50), at(0), PACKET);
    driver.on_acks_end(at(50), Some(0), true);
    assert_eq!(driver.window(), before);
    round_trip(&mut driver, 60, 10);
    assert!(driver.window() > before);
}

/// Larger packets: the same number of bytes, and two of the larger at least. A size of zero is
/// ignored.
#[test]
fn a_larger_mtu() {
    let mut driver = driver("cubic");
    driver.on_mtu_changed(1452);
    driver.on_mtu_changed(0);
    assert!(driver.window().abs_diff(10 * PACKET) <= 1);
    driver.on_packet_sent(at(0), 1452);
    driver.on_congestion(at(900), Congestion::Lost { sent: at(0), bytes: 1452, persistent: true });
    assert_eq!(driver.window(), 2 * 1452);
}

/// Twenty packets, one each millisecond, acknowledged one by one 50 ms later: 1200 bytes a
/// millisecond are 9.6 Mbit/s, and as the first sample spans the round trip, the rate is reached
/// when a whole one has been acknowledged.
#[test]
fn delivery_rates_by_hand() {
    let traces = Traces::in_memory();
    let mut driver = Driver::new(&Selection::model("bbr3").expect("listed"), setup(), Some(&traces));
    for packet in 0..200 {
        driver.on_packet_sent(at(packet), PACKET);
        if let Some(acked) = packet.checked_sub(50) {
            driver.on_packet_acked(at(packet), at(acked), PACKET);
            driver.on_acks_end(at(packet), None, false);
        }
    }
    assert!(driver.pacing_rate().is_some());
    drop(driver);
    let trace = traces.take().remove(0);
    let samples: Vec<_> = Reader::new(&trace)
        .expect("a header")
        .filter_map(|record| match record.expect("a record") {
            Record::Event(Event::Acknowledged(ack)) => ack.rate,
            _ => None,
        })
        .collect();
    // The packet of the 50th millisecond left before the first ACK was taken.
    assert_eq!(samples[0].delivery_rate.bits_per_second(), 8 * PACKET * 1000 / 50);
    for sample in &samples[51..] {
        assert_eq!(sample.delivery_rate.bits_per_second(), 9_600_000, "{sample:?}");
        assert_eq!((sample.newly_acked, sample.is_app_limited), (Bytes(PACKET), false));
    }
    assert!(replay(&Registry::built_in(), &trace).is_ok());
}

/// Packets that are lost are forgotten, so that a long connection keeps no more than what is in
/// flight.
#[test]
fn lost_packets_are_forgotten() {
    let mut driver = driver("bbr3");
    for round in 0..1000 {
        let now = 100 * round;
        for _ in 0..4 {
            driver.on_packet_sent(at(now), PACKET);
        }
        for _ in 0..3 {
            driver.on_packet_acked(at(now + 50), at(now), PACKET);
        }
        driver.on_acks_end(at(now + 50), Some(PACKET), false);
        driver.on_congestion(at(now + 60), lost(now, 1));
    }
    assert!(driver.flight.packets() <= 12, "{}", driver.flight.packets());
}

/// A burst may hold what does not count as in flight: it is not taken for more than the window.
#[test]
fn acknowledgements_that_are_sent_do_not_fill_the_window() {
    let mut driver = driver("cubic");
    for _ in 0..10_000 {
        driver.on_burst_sent(at(1), 40);
    }
    assert_eq!(driver.in_flight(), driver.window());
    driver.on_acks_end(at(51), Some(PACKET), true);
    assert_eq!(driver.in_flight(), PACKET);
}

/// A copy that is only looked at leaves no trace; one that goes on has what was before, too.
#[test]
fn copies_have_traces_of_their_own() {
    let folder = std::env::temp_dir().join(format!("selfclock-quic-{}", std::process::id()));
    let selection = Selection::from_label("cubic+hystart++").expect("listed");
    for traces in [Traces::in_memory(), Traces::in_folder(&folder).expect("a folder")] {
        let mut driver = Driver::new(&selection, setup(), Some(&traces));
        // More than one piece of a file.
        for round in 0..4000 {
            round_trip(&mut driver, 50 * round, 4);
        }
        drop(driver.clone());
        let mut other = driver.clone();
        round_trip(&mut other, 300_000, 4);
        round_trip(&mut driver, 400_000, 5);
        drop((driver, other));
        assert!(traces.error().is_none());
        let mut written = traces.take();
        if written.is_empty() {
            let mut files: Vec<_> = std::fs::read_dir(&folder)
                .expect("the folder")
                .map(|file| file.expect("a file").path())
                .collect();
            files.sort();
            assert!(files[0].ends_with("000001-cubic+hystart++.trace"), "{files:?}");
            written = files.iter().map(|file| std::fs::read(file).expect("a file")).collect();
            std::fs::remove_dir_all(&folder).expect("removed");
        }
        assert_eq!(written.len(), 2);
        for trace in written {
            assert!(trace.len() > 1 << 16);
            assert_eq!(
                replay(&Registry::built_in(), &trace).expect("the same").events,
                4002,
                "a pause in each"
            );
        }
    }
}

/// A folder that has gone: the connection goes on without a trace, and the reason is there.
#[test]
fn a_trace_that_cannot_be_written() {
    let folder = std::env::temp_dir().join(format!("selfclock-quic-gone-{}", std::process::id()));
    let traces = Traces::in_folder(&folder).expect("a folder");
    std::fs::remove_dir_all(&folder).expect("removed");
    let mut driver = Driver::new(&Selection::default(), setup(), Some(&traces));
    round_trip(&mut driver, 0, 10);
    round_trip(&mut driver, 50, 20);
    assert_eq!(driver.window(), 40 * PACKET, "slow start");
    assert_eq!(traces.error().expect("gone").kind(), std::io::ErrorKind::NotFound);
}
