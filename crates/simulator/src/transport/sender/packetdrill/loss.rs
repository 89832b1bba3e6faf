//! Duplicate ACKs and SACK blocks: Limited Transmit, fast retransmit.

use super::super::peer::Connection;
use super::{SELECTIVE, each, modern};
use crate::plan::Recovery;

/// `limited-transmit-sack`. The ACK that ends it acknowledges three segments, of which two were
/// SACKed: here the window grows by three (RFC 3465 counts what an ACK newly acknowledges
/// cumulatively), in Linux by the one that was not yet delivered, so that 14 leaves 20 ms later.
#[test]
fn limited_transmit_with_sack() {
    each(
        &SELECTIVE,
        "write 15
         0.10 < synack; > 0:10
         0.21 < ack 0 sack 1:2; > 10:11; state disorder
         +0.01 < ack 0 sack 1:3; > 11:12
         # Reordering, not loss.
         +0.01 < ack 3; > 12:15; state open; cwnd 13  # Linux: 12:14, cwnd 11
         +0.02 < ack 5
         +0.02 < ack 7
         +0.02 < ack 9
         +0.02 < ack 11
         +0.02 < ack 13
         +0.02 < ack 15; state open",
    );
}

/// `limited-transmit-no-sack`, with the same difference.
#[test]
fn limited_transmit_without_sack() {
    each(
        &[Recovery::Reno, Recovery::NewReno],
        "write 15
         0.10 < synack; > 0:10
         0.21 < ack 0; > 10:11; state disorder
         +0.01 < ack 0; > 11:12
         +0.01 < ack 3; > 12:15; state open  # Linux: 12:14
         +0.02 < ack 5",
    );
}

/// `fr-4pkt-sack`: three SACK blocks of one round trip. CUBIC's ssthresh is 0.7 of the data in
/// flight, as in RFC 9438, section 4.6; Linux takes 0.7 of the window.
#[test]
fn fast_retransmit_of_four_segments_with_sack() {
    each(
        &SELECTIVE,
        "write 4
         0.1 < synack; > 0:4
         0.2 < ack 0 sack 1:2; state disorder
         +0 < ack 0 sack 1:3
         +0 < ack 0 sack 1:4; > 0:1; state recovery; ssthresh 2  # Linux: 7
         +0.1 < ack 4; state open",
    );
}

/// An ACK may cover what a delayed ACK has held back and report what arrived beyond a hole, the
/// latest block first: nothing of it was reordered (Linux: `prior_fack` in `tcp_ack`, and sorted
/// blocks in `tcp_sacktag_write_queue`). So the third SACKed segment begins recovery at once, of
/// both holes: before reordering is seen there is no reordering window (RFC 8985, section 6.2).
#[test]
fn what_one_ack_reports_is_not_reordering() {
    each(
        &[Recovery::Rack],
        "write 10
         0.1 < synack; > 0:10
         0.2 < ack 1 sack 2:3; state disorder
         # An ACK between the two is lost.
         +0 < ack 1 sack 6:7,4:5,2:3; > 1:2 3:4; state recovery",
    );
}

/// `fr-4pkt`: the same without SACK.
#[test]
fn fast_retransmit_of_four_segments_without_sack() {
    each(
        &[Recovery::Reno, Recovery::NewReno],
        "write 4
         0.1 < synack; > 0:4
         0.2 < ack 0; state disorder
         +0 < ack 0
         +0 < ack 0; > 0:1; state recovery
         +0.1 < ack 4; state open",
    );
}

/// `fr-4pkt-fack-last-mss`: the last of four is SACKed. RACK waits a quarter of the RTT of 100 ms,
/// and Linux 40 ms, with the granularity of its jiffies.
#[test]
fn the_last_of_four_segments_is_sacked() {
    modern(
        "write 4
         0.1 < synack; > 0:4
         0.2 < ack 0 sack 3:4; state disorder
         +0.025~+0.041 > 0:1; state recovery",
    );
}

/// `sack-shift-sacked-2-6-8-3-9-nofack`: RACK's reordering window is that of time alone once three
/// segments are SACKed, so that all before the last SACKed one is lost.
#[test]
fn sacked_out_of_order() {
    modern(
        "write 10
         0.1 < synack; > 0:10
         0.2 < ack 0 sack 2:3
         +0.001 < ack 0 sack 2:3,6:7
         +0.001 < ack 0 sack 2:3,6:7,8:9; > 0:1; state recovery
         +0.007 < ack 0 sack 2:4,6:7,8:9; > 1:2
         +0.010 < ack 0 sack 2:4,6:7,8:10; > 4:5
         +0.083 < ack 1 sack 2:4,6:7,8:10; > 5:6 7:8
         +0.017 < ack 4 sack 6:7,8:10; state recovery
         +0.010 < ack 7 sack 8:10
         +0.100 < ack 10; state open",
    );
}

/// `sack-shift-sacked-7-3-4-8-9-fack`. One segment leaves on each SACK.
#[test]
fn sacked_after_the_reordering_timer() {
    modern(
        "write 10
         0.1 < synack; > 0:10
         0.2 < ack 0 sack 7:8
         +0.025~+0.028 > 0:1; state recovery
         +0.002 < ack 0 sack 3:4,7:8; > 1:2
         +0.002 < ack 0 sack 3:5,7:8; > 2:3
         +0.002 < ack 0 sack 3:5,7:9; > 5:6
         +0.002 < ack 0 sack 3:5,7:10; > 6:7
         +0.1 < ack 10; state open",
    );
}

/// `sack-shift-sacked-7-5-6-8-9-fack`.
#[test]
fn sacked_downwards_after_the_reordering_timer() {
    modern(
        "write 10
         0.1 < synack; > 0:10
         0.2 < ack 0 sack 7:8
         +0.025~+0.028 > 0:1; state recovery
         +0 < ack 0 sack 5:6,7:8; > 1:2
         +0 < ack 0 sack 5:8; > 2:3
         +0 < ack 0 sack 5:9; > 3:4
         +0 < ack 0 sack 5:10; > 4:5
         +0.1 < ack 10; state open",
    );
}

/// `cwnd-moderation-disorder-no-moderation`: a SACK block alone does not lower the window.
#[test]
fn disorder_keeps_the_window() {
    each(
        &SELECTIVE,
        "write 4
         0.2 < synack; > 0:4; cwnd 10
         0.3 < ack 0 sack 1:2; state disorder; cwnd 10",
    );
}

/// The same for an ACK that was overtaken, `prr-ss-ack-below-snd_una-cubic`: Linux processes the
/// late SACK block and sends the segments 7 and 10; here "a duplicate (SEG.ACK =< SND.UNA) [...]
/// can be ignored" (RFC 9293, section 3.10.7.4), and the next ACK repeats the block.
#[test]
fn an_acknowledgement_that_was_overtaken() {
    Connection::new("cubic").with(|transport| transport.limited_transmit = false).plays(
        "0.010 < synack; > 0:10
         0.020 < ack 0 sack 1:2
         +0 < ack 0 sack 1:3
         +0 < ack 0 sack 8:9,1:3; > 0:1
         +0.012 < ack 4 sack 8:9; > 4:7
         +0.002 < ack 3 sack 5:7
         +0.001 < ack 4 sack 5:7,8:9; > 7:8 9:10  # Linux: 7:8 10:11",
    );
}
