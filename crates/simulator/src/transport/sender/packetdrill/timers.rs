//! Tail loss probes and the retransmission timer.

use super::super::peer::Connection;
use super::modern;
use crate::plan::Recovery;

/// `cubic-rto-ss-ca-cwnd-bump`: a lost segment is probed and retransmitted after 0.3 s each (two
/// RTTs and the delayed-ACK allowance; the RTT and 200 ms), and the timeout leaves a window of one.
/// ssthresh is 2 here, the least, after 0.7 of the one segment in flight (RFC 9438, section 4.8);
/// Linux takes 0.7 of the window of ten, and slow start goes on to seven.
#[test]
fn timeout_of_a_single_segment() {
    modern(
        "0.1 write 1
         +0 < synack; > 0:1
         0.2 < ack 1; cwnd 10
         +0 write 1; > 1:2
         +0.2~+0.303 > 1:2
         +0.2~+0.303 > 1:2; state loss; cwnd 1
         +0.1 < ack 2; cwnd 2; ssthresh 2; state open  # Linux: ssthresh 7
         +0 write 200; > 2:4; cwnd 2",
    );
}

/// The rest of it, from a flight of ten: slow start to seven, two segments for each ACK, and then
/// one. Without F-RTO: of the ten, all but the first are acknowledged without a retransmission,
/// which Linux and profile `modern` take for a spurious timeout.
#[test]
fn timeout_then_slow_start_then_congestion_avoidance() {
    Connection::new("cubic").with(|transport| transport.frto = false).plays(
        "0.1 write 10
         +0 < synack; > 0:10
         +0.2~+0.206 > 9:10
         +0.3~+0.31 > 0:1; state loss; cwnd 1; ssthresh 7
         +0.1 write 200
         +0 < ack 10; cwnd 2; > 10:12
         +0.100 < ack 11; > 12:14; cwnd 3
         +0.002 < ack 12; > 14:16; cwnd 4
         +0.098 < ack 13; > 16:18; cwnd 5
         +0.002 < ack 14; > 18:20; cwnd 6
         +0.002 < ack 15; > 20:22; cwnd 7
         +0.002 < ack 16; > 22:23; cwnd 7
         +0.098 < ack 17; > 23:24
         +0.002 < ack 18; > 24:25; cwnd 7; ssthresh 7",
    );
}

/// `fr-4pkt-fack-last-byte`: the last byte of four segments is SACKed, which is no whole segment,
/// so that RACK sees no delivery; the probe is the last segment, and the timeout comes 0.3 s after
/// it.
#[test]
fn the_last_byte_of_four_segments_is_sacked() {
    modern(
        "write 4
         0.1 < synack; > 0:4
         0.2 < ack 0 sack 3.999:4
         +0.1~+0.105 > 3:4
         +0.3~+0.310 > 0:1; state loss; cwnd 1
         +0.5 < ack 1 sack 3.999:4; > 1:3; cwnd 2
         +0.1 < ack 3 sack 3.999:4; > 3:4
         +0.1 < ack 4; state open",
    );
}

/// RFC 6298, rule 5.5, and Linux's `tcp_retransmit_timer`: each timeout doubles the next; only the
/// first lowers ssthresh (RFC 5681, section 3.1: "When a TCP sender detects segment loss using the
/// retransmission timer and the given segment has already been retransmitted"). The timeout is the
/// RTT of 100 ms and 200 ms (`tcp_rtt_estimator` bounds the variation from below).
#[test]
fn timeouts_back_off() {
    for recovery in [Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        // With it, F-RTO takes the last ACK, of data never retransmitted, for a spurious timeout.
        let connection = Connection::new("cubic").with(|transport| {
            (transport.recovery, transport.undo) = (recovery, false);
        });
        let played = connection.play(
            "0.1 write 1
             +0 < synack; > 0:1
             0.2 < ack 1
             +0 write 10; > 1:11
             +0.30~+0.303 > 1:2; cwnd 1; ssthresh 7; state loss
             +0.60~+0.605 > 1:2; cwnd 1; ssthresh 7
             +1.20~+1.210 > 1:2; cwnd 1; ssthresh 7
             +0.1 < ack 11; cwnd 2; state open",
        );
        assert_eq!(played, Ok(()), "{recovery:?}");
    }
}

/// The same in RACK-TLP, where a probe of the last segment comes first (RFC 8985, section 7.2).
#[test]
fn timeouts_after_a_probe_back_off() {
    modern(
        "0.1 write 1
         +0 < synack; > 0:1
         0.2 < ack 1
         +0 write 10; > 1:11
         +0.2~+0.206 > 10:11; state open; cwnd 10
         +0.30~+0.303 > 1:2; cwnd 1; ssthresh 7; state loss
         +0.60~+0.605 > 1:2; cwnd 1; ssthresh 7
         +1.20~+1.210 > 1:2; cwnd 1; ssthresh 7",
    );
}

/// RFC 8985, section 7.4.2: an ACK beyond the probe, without a sign that the probe was a duplicate:
/// it repaired a loss, which the congestion control answers (Linux's `tcp_process_tlp_ack`).
#[test]
fn a_probe_that_repairs_the_only_loss() {
    modern(
        "write 10
         0.1 < synack; > 0:10
         0.2 < ack 9; cwnd 19
         +0.30~+0.303 > 9:10; state open
         +0.1 < ack 10; ssthresh inf; state open
         +0 write 5; > 10:15
         +0.1 < ack 12; ssthresh 3; state open",
    );
}

/// RFC 8985, section 6.2: the reordering window ends a recovery's wait, not the RTO. Segments 0 to
/// 2 are lost, the three behind them arrive at once.
#[test]
fn rack_marks_a_flight_by_time() {
    Connection::new("reno").plays(
        "write 6
         0.1 < synack; > 0:6
         0.2 < ack 0 sack 3:4
         +0 < ack 0 sack 3:5
         +0 < ack 0 sack 3:6; > 0:1; state recovery; ssthresh 3
         +0.1 < ack 1 sack 3:6; > 1:3
         +0.1 < ack 6; state open; cwnd 3",
    );
}

/// Linux's `tcp_process_loss` without SACK: F-RTO sends two new segments beyond the hole, and each
/// duplicate ACK that they bring lowers what is in flight, so that the next hole is retransmitted
/// at once and not by the timer.
#[test]
fn duplicates_after_a_timeout_clock_out_the_next_hole() {
    let connection = Connection::new("reno").with(|transport| transport.recovery = Recovery::NewReno);
    connection.plays(
        "0.1 write 30
         +0 < synack; > 0:10
         +0.3~+0.31 > 0:1; state loss; cwnd 1
         +0.1 < ack 2; > 10:12
         +0.1 < ack 2; > 2:3",
    );
}
