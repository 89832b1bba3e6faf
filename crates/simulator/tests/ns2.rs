//! Against ns-2.35: the two networks of the packet-pair paper, figures 7 and 10.

mod common;

use common::{Dumbbell, add_flow, bytes, ms, run, tcp};
use selfclock_congestion::parameter::Value;
use selfclock_congestion::units::Duration;
use selfclock_simulator::plan::{
    AckClock, DelayedAck, Plan, Protocol, QueueLimit, Recovery, RetransmissionTimer, RttSamples,
    TimerArithmetic, Transport,
};

/// One row of ns-2's results: highest segment sent and acknowledged, data drops, timeouts; figure 7, then figure 10
/// with the acknowledgements dropped.
struct Row {
    recovery: Recovery,
    delayed_ack: bool,
    packet: u64,
    window: u64,
    symmetric: [u64; 4],
    asymmetric: [u64; 5],
}

const fn row(
    recovery: Recovery,
    delayed_ack: bool,
    packet: u64,
    window: u64,
    symmetric: [u64; 4],
    asymmetric: [u64; 5],
) -> Row {
    Row { recovery, delayed_ack, packet, window, symmetric, asymmetric }
}

const ROWS: &[Row] = &[
    row(Recovery::Tahoe, false, 512, 20, [521, 501, 5, 0], [568, 548, 0, 273, 0]),
    row(Recovery::Reno, false, 512, 20, [550, 530, 4, 1], [568, 548, 0, 273, 0]),
    row(Recovery::NewReno, false, 512, 20, [583, 563, 4, 1], [568, 548, 0, 273, 0]),
    row(Recovery::Sack, false, 512, 20, [614, 594, 5, 0], [568, 548, 0, 273, 0]),
    row(Recovery::Tahoe, true, 512, 20, [744, 724, 0, 0], [566, 546, 0, 0, 0]),
    row(Recovery::Reno, true, 512, 20, [744, 724, 0, 0], [566, 546, 0, 0, 0]),
    row(Recovery::NewReno, true, 512, 20, [744, 724, 0, 0], [566, 546, 0, 0, 0]),
    row(Recovery::Sack, true, 512, 20, [744, 724, 0, 0], [566, 546, 0, 0, 0]),
    row(Recovery::Tahoe, false, 1000, 20, [338, 325, 7, 0], [542, 522, 0, 248, 0]),
    row(Recovery::Reno, false, 1000, 20, [282, 277, 10, 2], [542, 522, 0, 248, 0]),
    row(Recovery::NewReno, false, 1000, 20, [305, 298, 10, 2], [542, 522, 0, 248, 0]),
    row(Recovery::Sack, false, 1000, 20, [363, 351, 10, 0], [542, 522, 0, 248, 0]),
    row(Recovery::Tahoe, true, 1000, 20, [396, 390, 3, 0], [564, 544, 0, 0, 0]),
    row(Recovery::Reno, true, 1000, 20, [326, 310, 2, 1], [564, 544, 0, 0, 0]),
    row(Recovery::NewReno, true, 1000, 20, [276, 263, 5, 1], [564, 544, 0, 0, 0]),
    row(Recovery::Sack, true, 1000, 20, [376, 359, 4, 0], [564, 544, 0, 0, 0]),
    row(Recovery::Reno, false, 512, 1000, [596, 580, 10, 1], [349, 339, 14, 174, 2]),
    row(Recovery::Sack, false, 512, 1000, [666, 647, 11, 0], [336, 324, 14, 169, 2]),
    row(Recovery::Reno, true, 512, 1000, [337, 322, 7, 1], [399, 387, 23, 80, 2]),
    row(Recovery::Sack, true, 512, 1000, [577, 555, 7, 0], [370, 359, 23, 82, 2]),
    row(Recovery::Reno, false, 1000, 1000, [401, 382, 11, 1], [438, 417, 12, 211, 1]),
    row(Recovery::Sack, false, 1000, 1000, [447, 438, 12, 0], [406, 386, 12, 200, 1]),
    row(Recovery::Reno, true, 1000, 1000, [358, 341, 10, 1], [411, 396, 12, 55, 1]),
    row(Recovery::Sack, true, 1000, 1000, [424, 406, 12, 0], [364, 351, 13, 61, 1]),
];

impl Row {
    fn plan(&self, symmetric: bool) -> Plan {
        let mut dumbbell = Dumbbell::new(1, (10_000_000, ms(5)), (500_000, ms(100)), QueueLimit::Packets(5));
        dumbbell.counts_packet_in_service = true;
        if !symmetric {
            dumbbell.reverse_bps = 4_800;
            dumbbell.reverse_delay = ms(200);
        }
        let mut plan = dumbbell.plan(ms(if symmetric { 10_000 } else { 20_000 }));
        let transport = Transport {
            mss: bytes(self.packet),
            recovery: self.recovery,
            handshake: true,
            limited_transmit: true,
            initial_window: 2.0,
            initial_ssthresh: self.window as f64,
            receive_window: bytes(self.window * self.packet),
            delayed_ack: DelayedAck {
                every: if self.delayed_ack { 2 } else { 1 },
                timer: ms(100),
                clock: AckClock::Segment,
            },
            timer: RetransmissionTimer {
                initial: ms(3000),
                minimum: ms(200),
                maximum: ms(60_000),
                granularity: ms(10),
                backoff: 2.0,
                arithmetic: TimerArithmetic::Bsd,
                samples: RttSamples::OneAtATime,
            },
            ..Transport::classic()
        };
        let mut protocol = tcp("slow-start", "reno", transport);
        if let Protocol::Tcp(tcp) = &mut protocol {
            tcp.control.set("halved", Value::Choice("window")).expect("a parameter of reno");
        }
        add_flow(&mut plan, 0, protocol);
        plan
    }
}

#[test]
fn table() {
    for row in ROWS {
        for symmetric in [true, false] {
            let outcome = run(&row.plan(symmetric));
            let (flow, links) = (&outcome.summary.flows[0], &outcome.summary.links);
            let sent = flow.sent_segments - flow.retransmitted_segments;
            let ours = [sent, flow.delivered_segments, links[0].drops, links[1].drops, flow.timeouts];
            let theirs = if symmetric {
                let [sent, acked, drops, timeouts] = row.symmetric;
                [sent, acked, drops, 0, timeouts]
            } else {
                row.asymmetric
            };
            println!(
                "{:?} delack={} {} w{} sym={symmetric}: ours {ours:?} ns-2 {theirs:?} {}",
                row.recovery,
                row.delayed_ack,
                row.packet,
                row.window,
                if ours == theirs { "" } else { "<<<" }
            );
        }
    }
}
#[allow(dead_code)]
fn unused() -> Duration {
    Duration::ZERO
}
