//! The end of slow start by delay. Linux's HyStart and RFC 9406's HyStart++ differ; the comments
//! say where.

use super::super::peer::Connection;
use selfclock_congestion::parameter::Value;
use selfclock_congestion::registry::Selection;

fn hystart() -> Connection {
    let mut control = Selection::new("hystart++", "cubic").expect("both are built in");
    // RFC 9406, section 4.3: no limit for a sender that paces; that of Linux does.
    control.set("segments_per_ack", Value::Number(1e6)).expect("a parameter of it");
    Connection { control, ..Connection::new("cubic") }
}

/// `cubic-hystart-delay-min-rtt-jumps-downward`: samples that rise slowly and then fall must not
/// end slow start. Every window is Linux's.
#[test]
fn stays_when_the_round_trip_becomes_shorter() {
    hystart().plays(
        "write 100
         0.2 < synack; > 0:10
         0.4 < ack 10; cwnd 20; > 10:30
         0.600 < ack 12; cwnd 22; > 30:34
         0.601 < ack 14; cwnd 24; > 34:38
         0.602 < ack 16; cwnd 26; > 38:42
         0.603 < ack 18; cwnd 28; > 42:46
         0.604 < ack 20; cwnd 30; > 46:50
         0.605 < ack 22; cwnd 32; > 50:54
         0.606 < ack 24; cwnd 34; > 54:58
         0.607 < ack 26; cwnd 36; > 58:62
         0.608 < ack 28; cwnd 38; > 62:66; ssthresh inf",
    );
}

/// `cubic-hystart-delay-rtt-jumps-upward`: a round whose samples are all 40 ms above the 200 ms of
/// the one before.
///
/// Linux ends slow start on the ninth sample (`> HYSTART_MIN_SAMPLES`), with ssthresh at the window
/// of 36, which the ninth ACK no longer raises. RFC 9406 decides on the eighth ("at least
/// N_RTT_SAMPLE") and continues with a quarter of the growth, so that ssthresh is still open: 22,
/// 24, ... 34 on the first seven as in Linux, and then half a segment each.
#[test]
fn leaves_when_the_round_trip_becomes_longer() {
    hystart().plays(
        "write 100
         0.2 < synack; > 0:10
         0.4 < ack 10; cwnd 20; > 10:30
         0.640 < ack 12; cwnd 22; > 30:34
         0.641 < ack 14; cwnd 24; > 34:38
         0.642 < ack 16; cwnd 26; > 38:42
         0.643 < ack 18; cwnd 28; > 42:46
         0.644 < ack 20; cwnd 30; > 46:50
         0.645 < ack 22; cwnd 32; > 50:54
         0.646 < ack 24; cwnd 34; > 54:58
         0.647 < ack 26; cwnd 34; > 58:60  # Linux: 36
         0.648 < ack 28; cwnd 35; > 60:63  # Linux: 36
         0.649 < ack 30; cwnd 35; > 63:65; ssthresh inf",
    );
}
