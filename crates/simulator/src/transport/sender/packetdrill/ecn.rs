//! Explicit congestion notification.

use super::super::peer::Connection;
use crate::plan::Ecn;

fn classic(script: &str) {
    Connection::new("cubic").with(|transport| transport.ecn = Ecn::Classic).plays(script);
}

/// `cwnd-moderation-ecn-enter-cwr-no-moderation-700`: an ECN-Echo acknowledges the first of four
/// segments. Here the window is at once 0.7 of the four that were in flight (RFC 9438, section
/// 4.6); Linux takes 0.7 of the window, seven, and lowers the window by proportional rate
/// reduction, to four ("3 packets in flight"), and over the next ACKs to seven.
#[test]
fn an_echo_lowers_the_window() {
    classic(
        "write 4
         0.2 < synack; > 0:4; cwnd 10
         0.3 < ack 1 ece; cwnd 2; ssthresh 2; state open  # Linux: 4, 7",
    );
}

/// RFC 3168, section 6.1.2: "TCP should not react to congestion indications more than once every
/// window of data"; and the first new segment after the reduction has CWR. Linux's
/// `tcp_enter_cwr` and `TCP_ECN_QUEUE_CWR` do the same.
#[test]
fn one_reduction_per_window_of_data() {
    classic(
        "write 40
         0.1 < synack; > 0:10
         0.2 < ack 2 ece; cwnd 7; ssthresh 7
         +0 < ack 4 ece; cwnd 7; > 10:11 cwr
         +0 < ack 6; cwnd 7; > 11:13
         +0 < ack 10; > 13:17",
    );
}
