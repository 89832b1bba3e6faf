//! Spurious recoveries and timeouts: D-SACK, timestamps and F-RTO, as in Linux 6.18.

use super::tests::{MSS, Rig, at, transport};
use super::*;
use crate::plan::Transport;

fn rig(recovery: Recovery, segments: u64) -> Rig {
    Rig::new(&transport(recovery), segments)
}

/// RFC 3708 and Linux, `tcp_try_undo_dsack`: once every retransmission is reported as a duplicate,
/// and not before.
#[test]
fn duplicates_of_all_retransmissions_undo_a_recovery() {
    for recovery in [Recovery::Sack, Recovery::Rack] {
        let mut rig = rig(recovery, 20);
        assert!(rig.ack(100, 0, &[(2, 9)]).is_fast_retransmit());
        assert_eq!(rig.retransmit(100), [0, 1]);
        assert!(!rig.ack(105, 9, &[]).spurious, "nothing tells");
        assert!(!rig.ack(200, 9, &[(0, 1)]).spurious, "{recovery:?}: one of two");
        assert!(rig.ack(201, 9, &[(1, 2)]).spurious, "{recovery:?}");
        assert!(!rig.recovery.is_recovering());
        assert!(!rig.ack(202, 9, &[(1, 2)]).spurious, "once");
    }
}

/// The recovery ends before the duplicates are reported (Linux: `TCP_CA_Open`), also when nothing
/// is outstanding any more.
#[test]
fn duplicates_undo_a_recovery_that_is_over() {
    let mut rig = rig(Recovery::Rack, 10);
    rig.ack(100, 0, &[(1, 9)]);
    assert_eq!(rig.retransmit(100), [0]);
    let verdict = rig.ack(105, 10, &[]);
    assert_eq!((verdict.ended, verdict.spurious), (true, false));
    assert!(rig.ack(200, 10, &[(0, 1)]).spurious);
}

/// A retransmission that was needed is never reported. Neither are more duplicates than
/// retransmissions evidence: the network made them (Linux, `tcp_dsack_seen`).
#[test]
fn a_loss_is_not_undone() {
    let mut rig = rig(Recovery::Rack, 20);
    rig.ack(100, 0, &[(2, 9)]);
    assert_eq!(rig.retransmit(100), [0, 1]);
    rig.ack(200, 9, &[]);
    assert!(!rig.ack(201, 9, &[(1, 2)]).spurious, "one of two was needed");
    let verdict = rig.ack(300, 20, &[]);
    assert_eq!((verdict.ended, verdict.spurious), (true, false));
    for time in 301..310 {
        rig.ack(time, 20, &[(1, 2)]);
    }
    rig.send(400, 10);
    rig.ack(500, 20, &[(21, 29)]);
    assert_eq!(rig.retransmit(500), [20]);
    rig.ack(505, 30, &[]);
    assert!(!rig.ack(600, 30, &[(20, 21)]).spurious, "more reports than retransmissions");
}

/// "In response to ECE: prohibit cwnd undoing, the reduction is required" (Linux,
/// `tcp_fastretrans_alert`).
#[test]
fn a_mark_is_not_undone() {
    let settings = Transport { ecn: Ecn::Classic, ..transport(Recovery::Rack) };
    let mut rig = Rig::new(&settings, 10);
    rig.ack(100, 0, &[(1, 9)]);
    rig.retransmit(100);
    rig.echo(104, 9);
    assert!(!rig.ack(200, 10, &[(0, 1)]).spurious);
}

/// RFC 8985, section 6.2, step 4: "RACK.reo_wnd_mult + 1" for a D-SACK, once per round trip, up to
/// the smoothed RTT, for 16 recoveries; in Linux only where reordering was seen.
#[test]
fn duplicates_widen_the_reordering_window() {
    let mut rig = rig(Recovery::Rack, 10);
    // Segment 1 is overtaken, segment 0 is retransmitted, and both copies of it arrive.
    rig.ack(100, 0, &[(2, 3)]);
    rig.ack(101, 0, &[(1, 3)]);
    rig.ack(126, 0, &[(1, 9)]);
    rig.recovery.on_reordering_timer(at(152), &rig.rtt);
    assert_eq!(rig.retransmit(152), [0]);
    rig.ack(153, 10, &[]);
    let window = |rig: &mut Rig, time: u64, first: u64| {
        rig.send(time, 1);
        rig.send(time + 1, 1);
        rig.ack(time + 101, first, &[(first + 1, first + 2)]);
        let timer = rig.rack_timer(time + 101);
        rig.ack(time + 102, first + 2, &[]);
        match timer {
            RackTimer::Set(deadline) => deadline.since(at(time + 101)).seconds() * 1e3,
            other => panic!("{other:?}"),
        }
    };
    assert!((window(&mut rig, 160, 10) - 25.0).abs() < 0.1);
    rig.ack(270, 12, &[(0, 1)]);
    assert!((window(&mut rig, 280, 12) - 50.0).abs() < 0.1);
    // No more duplicates than retransmissions, so no further reports.
    rig.ack(390, 14, &[(0, 1)]);
    assert!((window(&mut rig, 400, 14) - 50.0).abs() < 0.1);
}

/// RFC 8985, section 7.4.2, and Linux (`FLAG_DSACK_TLP`): a D-SACK of the probe shows that nothing
/// was lost, and widens nothing.
#[test]
fn the_duplicate_of_a_probe_is_no_loss() {
    for arrived_twice in [true, false] {
        let mut rig = rig(Recovery::Rack, 10);
        rig.ack(100, 5, &[]);
        rig.recovery.retransmit_as_probe(at(300));
        rig.recovery.on_probe_sent(true);
        assert_eq!(rig.ack(310, 10, &[]).repaired_by_probe, None);
        rig.send(320, 2);
        if arrived_twice {
            rig.ack(400, 10, &[(9, 10)]);
        }
        assert_eq!(rig.ack(420, 12, &[]).repaired_by_probe.is_none(), arrived_twice);
    }
}

/// Linux, `tcp_try_undo_partial`: an original that was late ends the recovery, unless further
/// retransmissions are in the network; then nothing is retransmitted until the next ACK.
#[test]
fn a_late_original_undoes_or_holds_back() {
    let mut rig = rig(Recovery::Rack, 20);
    rig.ack(100, 0, &[(2, 3), (4, 9)]);
    assert_eq!(rig.retransmit(100), [0, 1, 3]);
    rig.echo = Some(at(0));
    let verdict = rig.ack(105, 3, &[(4, 9), (12, 15)]);
    assert!(!verdict.spurious && rig.recovery.is_recovering());
    assert!(rig.retransmit(105).is_empty(), "the retransmission of segment 3 is in the network");
    let verdict = rig.ack(106, 9, &[(12, 15)]);
    assert!(verdict.spurious && !rig.recovery.is_recovering());
}

/// RFC 5682, section 3.1, and Linux, `tcp_process_loss`: new data after the first ACK, and the ACK
/// of data that was never retransmitted decides. Without timestamps.
#[test]
fn data_never_retransmitted_shows_that_a_timeout_was_spurious() {
    for recovery in [Recovery::NewReno, Recovery::Sack, Recovery::Rack] {
        for spurious in [true, false] {
            let settings = Transport { timestamps: false, dsack: false, ..transport(recovery) };
            let mut rig = Rig::new(&settings, 10);
            let verdict = rig.recovery.on_timeout(at(1000), &rig.rtt);
            assert!(verdict.retransmit_first);
            let index = rig.recovery.next_retransmission().expect("the first");
            rig.recovery.retransmit(index, at(1000));
            assert!(!rig.ack(1100, 1, &[]).spurious);
            assert_eq!(rig.recovery.next_retransmission(), None, "{recovery:?}: new data comes first");
            rig.send(1100, 2);
            let verdict = if spurious {
                rig.ack(1101, 2, &[])
            } else if recovery == Recovery::NewReno {
                rig.ack(1200, 1, &[])
            } else {
                rig.ack(1200, 1, &[(10, 11)])
            };
            assert_eq!(verdict.spurious, spurious, "{recovery:?}");
            assert_eq!(rig.recovery.next_retransmission().is_none(), spurious, "{recovery:?}");
        }
    }
}

/// Without SACK, data that waited at the receiver for a retransmission tells nothing (Linux,
/// `tcp_clean_rtx_queue`: "non-SACK case cannot confirm that progress was due to original
/// transmission").
#[test]
fn data_that_waited_for_a_retransmission_is_no_sign() {
    for recovery in [Recovery::Reno, Recovery::NewReno] {
        let settings = Transport { timestamps: false, ..transport(recovery) };
        let mut rig = Rig::new(&settings, 10);
        rig.recovery.on_timeout(at(1000), &rig.rtt);
        let index = rig.recovery.next_retransmission().expect("the first");
        rig.recovery.retransmit(index, at(1000));
        assert!(!rig.ack(1100, 5, &[]).spurious, "{recovery:?}");
    }
}

/// "Otherwise fall back to the conventional recovery": without new data the retransmissions follow
/// at once.
#[test]
fn without_new_data_retransmissions_follow_at_once() {
    let mut rig = rig(Recovery::Rack, 10);
    rig.recovery.on_timeout(at(1000), &rig.rtt);
    let index = rig.recovery.next_retransmission().expect("the first");
    rig.recovery.retransmit(index, at(1000));
    rig.echo = Some(at(1000));
    rig.ack(1100, 1, &[]);
    assert_eq!(rig.recovery.next_retransmission(), None);
    assert!(rig.recovery.abandons_frto());
    assert_eq!(rig.retransmit(1100), (1..10).collect::<Vec<_>>());
    assert!(!rig.recovery.abandons_frto());
}

/// The retransmission of a timeout whose original had arrived: its ACK reports the duplicate, and
/// the timeout is undone, although the echoed timestamp is that of the retransmission.
#[test]
fn the_duplicate_of_a_timeout_undoes_it() {
    let mut rig = rig(Recovery::Rack, 10);
    rig.recovery.on_timeout(at(1000), &rig.rtt);
    let index = rig.recovery.next_retransmission().expect("the first");
    rig.recovery.retransmit(index, at(1000));
    rig.echo = Some(at(1000));
    let verdict = rig.ack(1100, 10, &[(0, 1)]);
    assert!(verdict.spurious && rig.recovery.is_calm());
}

/// "Reduce ssthresh if it has not yet been made inside this window" (Linux, `tcp_enter_loss`): not
/// again for a timeout in a recovery.
#[test]
fn a_timeout_in_a_recovery_is_a_repeated_reduction() {
    for undo in [true, false] {
        let settings = Transport { undo, ..transport(Recovery::Rack) };
        let mut rig = Rig::new(&settings, 10);
        assert!(rig.ack(100, 0, &[(2, 5)]).is_fast_retransmit());
        let verdict = rig.recovery.on_timeout(at(1000), &rig.rtt);
        let Some(Event::Restart { repeated, .. }) = verdict.event else { panic!("{verdict:?}") };
        assert_eq!(repeated, undo);
        assert_eq!(rig.recovery.outstanding().outstanding_bytes(), 10 * MSS);
    }
}
