//! Growth of the window before the first loss.

use super::super::peer::Connection;
use super::each;
use crate::plan::Recovery;

const ALL: [Recovery; 5] =
    [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack, Recovery::Rack];

/// `slow-start-ack-per-1pkt`.
#[test]
fn an_ack_per_segment() {
    each(
        &ALL,
        "write 30
         0.100 < synack; > 0:10; cwnd 10
         0.205 < ack 1; > 10:12
         +0 < ack 2; > 12:14
         +0.005 < ack 3; > 14:16
         +0 < ack 4; > 16:18
         +0.005 < ack 5; > 18:20
         +0 < ack 6; > 20:22
         +0.005 < ack 7; > 22:24
         +0 < ack 8; > 24:26
         +0.005 < ack 9; > 26:28
         +0 < ack 10; > 28:30; cwnd 20; ssthresh inf; state open",
    );
}

/// `slow-start-ack-per-2pkt`.
#[test]
fn an_ack_per_two_segments() {
    each(
        &ALL,
        "write 30
         0.100 < synack; > 0:10
         0.205 < ack 2; > 10:14; cwnd 12
         +0.005 < ack 4; > 14:18
         +0.005 < ack 6; > 18:22
         +0.005 < ack 8; > 22:26
         +0.005 < ack 10; > 26:30; cwnd 20",
    );
}

/// `slow-start-ack-per-4pkt`: "an ACK of four segments releases eight".
#[test]
fn an_ack_per_four_segments() {
    each(
        &ALL,
        "write 30
         0.100 < synack; > 0:10
         0.210 < ack 4; > 10:18; cwnd 14
         +0.010 < ack 8; > 18:26; cwnd 18
         +0.005 < ack 10; > 26:30; cwnd 20",
    );
}

/// `slow-start-app-limited`: exactly the initial window is written, and it doubles
/// (`tcp_is_cwnd_limited`: in slow start a window grows while it is less than twice the most that
/// was outstanding).
#[test]
fn ten_segments_of_an_application() {
    each(
        &ALL,
        "write 10
         0.100 < synack; > 0:10; cwnd 10
         0.205 < ack 2; cwnd 12
         +0.005 < ack 4; cwnd 14
         +0.005 < ack 6; cwnd 16
         +0.005 < ack 8; cwnd 18
         +0.005 < ack 10; cwnd 20",
    );
}

/// `slow-start-app-limited-9-packets-out`: twice the nine segments that were outstanding.
#[test]
fn nine_segments_of_an_application() {
    each(
        &ALL,
        "write 9
         0.100 < synack; > 0:9; cwnd 10
         0.205 < ack 2; cwnd 12
         +0.005 < ack 4; cwnd 14
         +0.005 < ack 6; cwnd 16
         +0.005 < ack 8; cwnd 18
         +0.005 < ack 9; cwnd 18",
    );
}

/// `slow-start-ack-per-2pkt-send-5pkt`: five segments use no more than half the window.
#[test]
fn five_segments_of_an_application() {
    each(
        &ALL,
        "write 5
         0.010 < synack; > 0:5; cwnd 10
         0.020 < ack 2; cwnd 10
         +0 < ack 4; cwnd 10
         +0 < ack 5; cwnd 10",
    );
}

/// `slow-start-ack-per-2pkt-send-6pkt`: six use more, until it is twelve.
#[test]
fn six_segments_of_an_application() {
    each(
        &ALL,
        "write 6
         0.010 < synack; > 0:6; cwnd 10
         0.020 < ack 2; cwnd 12
         +0 < ack 4; cwnd 12
         +0 < ack 6; cwnd 12",
    );
}

/// `slow-start-after-idle`: after 2 s, six RTOs, the window is the initial one again. Linux sends
/// the ten segments in two TSO packets.
#[test]
fn after_a_pause() {
    each(
        &ALL,
        "0.1 write 26
         +0 < synack; > 0:10; cwnd 10
         0.2 < ack 10; cwnd 20; > 10:26
         0.3 < ack 26; cwnd 36
         2.3 write 20; > 26:36; cwnd 10",
    );
}

/// The same with `tcp_slow_start_after_idle = 0`, as in the scripts' defaults.
#[test]
fn after_a_pause_without_restart() {
    Connection::new("cubic").with(|transport| transport.restart_after_idle = false).plays(
        "0.1 write 26
         +0 < synack; > 0:10
         0.2 < ack 10; > 10:26
         0.3 < ack 26; cwnd 36
         2.3 write 20; > 26:46; cwnd 36",
    );
}

/// `slow-start-after-win-update`: a closed window is probed after a retransmission timeout, then at
/// twice the intervals: 0.3 s, the RTT and 200 ms (`tcp_rtt_estimator` bounds the variation from
/// below).
///
/// Linux's probes have no payload; here they have a byte ("at least one octet of new data", RFC
/// 9293, section 3.8.6.1), and one that nobody answers, as in the script, is a timeout of that
/// byte, which ends at a window of one. A receiver answers each.
#[test]
fn after_a_closed_window() {
    each(
        &ALL,
        "0.1 write 26
         +0 < synack; > 0:10; cwnd 10
         0.2 < ack 10; cwnd 20; > 10:26
         0.3 < ack 26 win 0; cwnd 36
         +0 write 20
         +0.30~+0.303 > 26:26.001; cwnd 36
         +0.60~+0.605 > 26:26.001; cwnd 1  # Linux: 36",
    );
}

/// `tcp-info-rwnd-limited`: the receiver's window alone decides.
#[test]
fn limited_by_the_receiver() {
    each(
        &ALL,
        "write 20
         0.10 < synack; > 0:10
         0.20 < ack 10 win 4; > 10:14
         0.30 < ack 14 win 1; > 14:15
         0.40 < ack 15; > 15:20",
    );
}
