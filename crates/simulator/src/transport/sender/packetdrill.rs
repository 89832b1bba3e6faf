//! Linux's segments and windows from packetdrill's scripts (github.com/google/packetdrill, folder
//! `gtests/net/tcp`): slow start, HyStart, proportional rate reduction. Segments are numbered from
//! 0 and have 1000 bytes, times are milliseconds, as in the scripts. Rows note where Linux and the
//! RFC differ. The windows of CUBIC in congestion avoidance are in `selfclock-congestion`,
//! `tests/packetdrill.rs`.

use super::tests::Rig;
use crate::packet::PacketKind;
use crate::plan::{ReceiveWindow, Recovery, Source, Transport};
use selfclock_congestion::parameter::Value;
use selfclock_congestion::registry::Selection;
use selfclock_congestion::units::Bytes;

/// A connection in the scripts' initial state: CUBIC, the SYN-ACK after this time, and ten segments
/// sent.
fn established(handshake: u64, segments: Option<u64>, limited_transmit: bool) -> Rig {
    let mut control = Selection::new("hystart++", "cubic").expect("both are built in");
    // RFC 9406, section 4.3: no limit for a sender that paces; that of Linux does.
    control.set("segments_per_ack", Value::Number(1e6)).expect("a parameter of it");
    let transport = Transport {
        mss: Bytes(1000),
        recovery: Recovery::Rack,
        prr: true,
        handshake: true,
        timestamps: false,
        limited_transmit,
        initial_window: 10.0,
        receive_window: ReceiveWindow::UNLIMITED,
        ..Transport::modern()
    };
    let source = segments.map_or(Source::Bulk, |segments| Source::Size(Bytes(segments * 1000)));
    let mut rig = Rig::with(control, source, transport);
    rig.answer(handshake, PacketKind::SynAck, 0, &[]);
    assert_eq!(rig.sent(), (0..10).collect::<Vec<_>>());
    rig
}

/// The segments from the first to before the second.
fn range(first: u64, end: u64) -> Vec<u64> {
    (first..end).collect()
}

/// `slow_start/slow-start-ack-per-1pkt`, `-2pkt`, `-4pkt`: the segments sent on each ACK, and a
/// window of 20 after ten segments. All rows are Linux's.
#[test]
fn slow_start() {
    let at = |times: &[u64], every: u64| -> Vec<(u64, u64)> {
        times.iter().zip(1..).map(|(&time, number)| (time, (number * every).min(10))).collect()
    };
    for acknowledgements in [
        at(&[105, 105, 110, 110, 115, 115, 120, 120, 125, 125], 1),
        at(&[105, 110, 115, 120, 125], 2),
        at(&[110, 120, 125], 4),
    ] {
        let mut rig = established(100, Some(30), true);
        let mut sent = 10;
        for (time, next) in acknowledgements {
            rig.ack(100 + time, next, &[]);
            assert_eq!(rig.sent(), range(sent, 10 + 2 * next), "acknowledged {next}");
            sent = 10 + 2 * next;
        }
        assert_eq!(rig.cwnd(), 20.0);
    }
}

/// `slow_start/slow-start-app-limited`: exactly the ten segments of the initial window are written.
/// Linux, which lets a window grow that is at least half used, reaches 20; here a window grows only
/// while it limits the sender, and stays at 10.
#[test]
fn slow_start_of_ten_segments() {
    let mut rig = established(100, Some(10), true);
    for (time, next) in [(205, 2), (210, 4), (215, 6), (220, 8), (225, 10)] {
        rig.ack(time, next, &[]);
        assert_eq!(rig.cwnd(), 10.0, "Linux has {}", 10 + next);
    }
}

/// `cubic/cubic-hystart-delay-min-rtt-jumps-downward`: samples that rise slowly and then fall must
/// not end slow start. Every window is Linux's.
#[test]
fn hystart_stays_when_the_round_trip_becomes_shorter() {
    let mut rig = established(200, None, true);
    rig.ack(400, 10, &[]);
    assert_eq!(rig.cwnd(), 20.0);
    for step in 0..9 {
        rig.ack(600 + step, 12 + 2 * step, &[]);
        assert_eq!(rig.cwnd(), 22.0 + 2.0 * step as f64);
        assert_eq!(rig.ssthresh(), f64::INFINITY);
    }
}

/// `cubic/cubic-hystart-delay-rtt-jumps-upward`: a round whose samples are all 40 ms above the 200
/// ms of the one before.
///
/// Linux ends slow start on the ninth sample (`> HYSTART_MIN_SAMPLES`), with ssthresh at the window
/// of 36, which the ninth ACK no longer raises. RFC 9406 decides on the eighth ("at least
/// N_RTT_SAMPLE") and continues with a quarter of the growth, so that ssthresh is still open: 22,
/// 24, ... 34 on the first seven as in Linux, and then half a segment each.
#[test]
fn hystart_leaves_when_the_round_trip_becomes_longer() {
    let mut rig = established(200, None, true);
    rig.ack(400, 10, &[]);
    assert_eq!(rig.cwnd(), 20.0);
    for step in 0..7 {
        rig.ack(640 + step, 12 + 2 * step, &[]);
        assert_eq!(rig.cwnd(), 22.0 + 2.0 * step as f64);
    }
    for (step, linux, ours) in [(7, 36.0, 34.5), (8, 36.0, 35.0), (9, 36.0, 35.5)] {
        rig.ack(640 + step, 12 + 2 * step, &[]);
        assert_eq!(rig.cwnd(), ours, "Linux has {linux}");
    }
}

/// `fast_recovery/prr-ss-10pkt-lost-1`: one of ten is lost; the flight equals ssthresh throughout,
/// so that one segment leaves on each ACK. Window and ssthresh are 7 then and at the end. All rows
/// are Linux's.
#[test]
fn prr_with_one_of_ten_lost() {
    let mut rig = established(100, None, false);
    rig.ack(210, 0, &[(1, 2)]);
    rig.ack(220, 0, &[(1, 3)]);
    assert!(rig.sent().is_empty());
    rig.ack(230, 0, &[(1, 4)]);
    assert_eq!(rig.sent(), [0]);
    assert_eq!((rig.ssthresh(), rig.cwnd()), (7.0, 7.0));
    for (step, end) in (5..=10).enumerate() {
        rig.ack(260 + 10 * step as u64, 0, &[(1, end)]);
        assert_eq!(rig.sent(), [5 + end], "SACKed up to {end}");
    }
    rig.ack(330, 10, &[]);
    assert_eq!(rig.sent(), [16]);
    assert_eq!((rig.ssthresh(), rig.cwnd()), (7.0, 7.0));
}

/// `fast_recovery/prr-ss-30pkt-lost1_4`: the first four of ten are lost, and retransmitted one per
/// ACK; after recovery, ssthresh, seven segments, leave at once. All rows are Linux's.
#[test]
fn prr_with_four_of_ten_lost() {
    let mut rig = established(10, Some(10), false);
    rig.ack(20, 0, &[(4, 5)]);
    rig.ack(22, 0, &[(4, 6)]);
    assert!(rig.sent().is_empty());
    for (end, again) in [(7, 0), (8, 1), (9, 2), (10, 3)] {
        rig.ack(22, 0, &[(4, end)]);
        assert_eq!(rig.sent(), [again], "SACKed up to {end}");
    }
    for next in [1, 2, 3] {
        rig.ack(32, next, &[(4, 10)]);
    }
    rig.ack(32, 10, &[]);
    assert!(rig.sent().is_empty());
    assert_eq!((rig.ssthresh(), rig.cwnd()), (7.0, 7.0));
}

/// `fast_recovery/prr-ss-30pkt-lost-1_4-11_16`: of twenty segments 0 to 3 and 10 to 15 are dropped,
/// the last two of them sent by Limited Transmit. All rows are Linux's: the flight is below
/// ssthresh, so delivered data is replaced, plus one segment on the ACK that advances.
#[test]
fn prr_with_losses_below_ssthresh() {
    let mut rig = established(10, Some(20), true);
    let mut step = |time, next, block, linux: &[u64]| {
        rig.ack(time, next, &[block]);
        assert_eq!(rig.sent(), linux, "{time} ms, {next}, {block:?}");
    };
    step(20, 0, (4, 5), &[10]);
    step(22, 0, (4, 6), &[11]);
    step(24, 0, (4, 7), &[0]);
    step(26, 0, (4, 8), &[1]);
    step(28, 0, (4, 9), &[2]);
    step(30, 0, (4, 10), &[3]);
    step(32, 0, (4, 11), &[12]);
    step(34, 0, (4, 12), &[13]);
    step(44, 1, (4, 12), &[14, 15]);
    step(46, 1, (2, 12), &[1, 16]);
    step(48, 1, (2, 13), &[17]);
    step(50, 1, (2, 14), &[18]);
    assert_eq!(rig.ssthresh(), 7.0);
}

/// `fast_recovery/prr-ss-ack-below-snd_una-cubic`: the last two ACKs are reordered. Linux processes
/// the late SACK block and sends two segments; here "a duplicate (SEG.ACK =< SND.UNA) [...] can be
/// ignored" (RFC 9293, section 3.10.7.4), and the next ACK repeats the block.
#[test]
fn prr_with_an_acknowledgement_that_was_overtaken() {
    let mut rig = established(10, None, false);
    rig.ack(20, 0, &[(1, 2)]);
    rig.ack(20, 0, &[(1, 3)]);
    assert!(rig.sent().is_empty());
    rig.ack(20, 0, &[(8, 9), (1, 3)]);
    assert_eq!(rig.sent(), [0]);
    rig.ack(32, 4, &[(8, 9)]);
    assert_eq!(rig.sent(), [4, 5, 6]);
    rig.ack(34, 3, &[(5, 7)]);
    assert!(rig.sent().is_empty(), "Linux sends 7 and 10");
    rig.ack(35, 4, &[(5, 7), (8, 9)]);
    assert_eq!(rig.sent().len(), 2, "what it told of lets two go now");
}
