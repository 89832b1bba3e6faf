//! Proportional rate reduction: how the window falls during a recovery.

use super::super::peer::Connection;
use super::{SELECTIVE, modern};
use crate::plan::{Recovery, Transport};

/// `prr-ss-10pkt-lost-1`: one of ten is lost; the flight equals ssthresh throughout, so that one
/// segment leaves on each ACK. Window and ssthresh are 7 then and at the end.
#[test]
fn one_of_ten_is_lost() {
    for recovery in SELECTIVE {
        Connection::new("cubic").with(|transport| transport.recovery = recovery).plays(
            "write 10
             0.10 < synack; > 0:10
             0.21 < ack 0 sack 1:2
             +0.01 < ack 0 sack 1:3
             +0.01 < ack 0 sack 1:4; > 0:1
             +0.01 state recovery; cwnd 7; ssthresh 7
             +0.01 write 7
             +0.01 < ack 0 sack 1:5; > 10:11
             +0.01 < ack 0 sack 1:6; > 11:12
             +0.01 < ack 0 sack 1:7; > 12:13
             +0.01 < ack 0 sack 1:8; > 13:14
             +0.01 < ack 0 sack 1:9; > 14:15
             +0.01 < ack 0 sack 1:10; > 15:16
             +0.02 < ack 10; > 16:17
             +0.01 state open; cwnd 7; ssthresh 7
             +0.03 < ack 12
             +0.02 < ack 14
             +0.02 < ack 16
             +0.02 < ack 17",
        );
    }
}

/// `prr-ss-30pkt-lost1_4`: the first four of ten are lost, and retransmitted one per ACK; after
/// recovery, ssthresh, seven segments, may leave at once.
#[test]
fn four_of_ten_are_lost() {
    modern(
        "write 10
         0.010 < synack; > 0:10
         0.020 < ack 0 sack 4:5
         +0.002 < ack 0 sack 4:6
         +0 < ack 0 sack 4:7; > 0:1
         +0 < ack 0 sack 4:8; > 1:2
         +0 < ack 0 sack 4:9; > 2:3
         +0 < ack 0 sack 4:10; > 3:4
         +0.010 < ack 1 sack 4:10
         +0 < ack 2 sack 4:10
         +0 < ack 3 sack 4:10
         +0 < ack 10; cwnd 7; ssthresh 7; state open
         +0 write 10; > 10:17",
    );
}

/// `prr-ss-30pkt-lost-1_4-11_16`: of twenty segments 0 to 3 and 10 to 15 are dropped, the last two
/// of them sent by Limited Transmit. The flight is below ssthresh, so delivered data is replaced,
/// plus one segment on the ACK that advances.
#[test]
fn ten_of_twenty_are_lost() {
    modern(
        "write 20
         0.010 < synack; > 0:10
         0.020 < ack 0 sack 4:5; > 10:11
         +0.002 < ack 0 sack 4:6; > 11:12
         +0.002 < ack 0 sack 4:7; > 0:1
         +0.002 < ack 0 sack 4:8; > 1:2
         +0.002 < ack 0 sack 4:9; > 2:3
         +0.002 < ack 0 sack 4:10; > 3:4
         +0.002 < ack 0 sack 4:11; > 12:13
         +0.002 < ack 0 sack 4:12; > 13:14
         +0.010 < ack 1 sack 4:12; > 14:16
         +0.002 < ack 1 sack 2:12; > 1:2 16:17
         +0.002 < ack 1 sack 2:13; > 17:18
         +0.002 < ack 1 sack 2:14; > 18:19; ssthresh 7",
    );
}

/// RFC 6582, section 3.2, of ten segments without the first and the fifth. FlightSize without what
/// Limited Transmit sent is ten, so ssthresh is five, and the window eight with the three
/// duplicates. Seven more inflate it to 15, and let 12, 13 and 14 go. The partial ACK of four
/// deflates it to 15 - 4 + 1 = 12: beside the retransmission, one new segment leaves.
#[test]
fn a_partial_ack_deflates_the_window() {
    let newreno = |transport: &mut Transport| transport.recovery = Recovery::NewReno;
    Connection::new("reno").with(newreno).plays(
        "0.10 < synack; > 0:10
         0.20 < ack 0; > 10:11
         +0.001 < ack 0; > 11:12
         +0.001 < ack 0; > 0:1; state recovery; ssthresh 5
         +0.001 < ack 0
         +0.001 < ack 0
         +0.001 < ack 0
         +0.001 < ack 0
         +0.001 < ack 0; > 12:13
         +0.090 < ack 0; > 13:14
         +0.001 < ack 0; > 14:15
         +0.001 < ack 4; > 4:5 15:16; state recovery",
    );
}
