//! The runs of ns-2, and the same with this simulator.

use crate::common;
use selfclock_congestion::parameter::Value;
use selfclock_congestion::registry::Selection;
use selfclock_congestion::units::{Bytes, Duration, Time};
use selfclock_simulator::plan::{
    AckClock, DelayedAck, Flow, Plan, ReceiveWindow, RecordPlan, Recovery, RetransmissionTimer, RttSamples,
    TimerArithmetic, Transport, bps, dumbbell, kbps, mbps, ms, packets, s, wire,
};
use selfclock_simulator::record::packets::PacketEvent;
use selfclock_simulator::record::packets::PacketKind;

/// Identity of a run: a key of the file of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    pub recovery: Recovery,
    /// Segments per acknowledgement: 1, or 2 with a delay of at most 100 ms.
    pub every: u32,
    /// Payload of a segment.
    pub size: u64,
    /// The receiver's window and the initial ssthresh, in segments.
    pub window: u64,
    /// Figure 7: both directions of the bottleneck alike. Figure 10: ACKs return at 4.8 kbit/s.
    pub figure: u32,
    pub limited_transmit: bool,
}

/// Results of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Highest segment sent, counted from 1.
    pub sent: u64,
    /// Highest segment acknowledged, as known to the sender.
    pub acknowledged: u64,
    pub drops: u64,
    pub acknowledgements_dropped: u64,
    pub timeouts: u64,
}

/// Results of a run, packet by packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    pub totals: Totals,
    /// Every packet that the sender sent: microseconds, and the segment's number; 0 is the SYN.
    pub sends: Vec<(u64, u64)>,
}

/// Every run of ns-2, in the order of the file.
pub fn of_ns2() -> Vec<(Settings, Run)> {
    let mut runs: Vec<(Settings, Run)> = Vec::new();
    let mut without_sends = 0;
    for line in include_str!("traces.txt").lines().filter(|line| !line.starts_with('#')) {
        if let Some(run) = line.strip_prefix("run ") {
            runs.push(read_run(run));
        } else if let Some(sends) = line.strip_prefix("sent ") {
            let sends = read_sends(sends);
            for (_, result) in &mut runs[without_sends..] {
                result.sends = sends.clone();
            }
            without_sends = runs.len();
        } else {
            panic!("what is {line:?}?");
        }
    }
    runs
}

fn read_run(line: &str) -> (Settings, Run) {
    let words: Vec<&str> = line.split(' ').collect();
    let [recovery, every, size, window, figure, limited, "=", totals @ ..] = &words[..] else {
        panic!("what is {line:?}?");
    };
    let number = |word: &str| word.parse::<u64>().expect("a number");
    let settings = Settings {
        recovery: match *recovery {
            "tahoe" => Recovery::Tahoe,
            "reno" => Recovery::Reno,
            "newreno" => Recovery::NewReno,
            "sack" => Recovery::Sack,
            other => panic!("what is {other:?}?"),
        },
        every: number(every) as u32,
        size: number(size),
        window: number(window),
        figure: number(figure) as u32,
        limited_transmit: *limited == "limited-transmit",
    };
    let [sent, acknowledged, drops, acknowledgements_dropped, timeouts] =
        <[u64; 5]>::try_from(totals.iter().map(|word| number(word)).collect::<Vec<_>>()).expect("five");
    let totals = Totals { sent, acknowledged, drops, acknowledgements_dropped, timeouts };
    (settings, Run { totals, sends: Vec::new() })
}

fn read_sends(line: &str) -> Vec<(u64, u64)> {
    let mut sends = Vec::new();
    let (mut time, mut next) = (0, 0);
    for word in line.split(' ') {
        let (wait, segment) = word.split_once(':').unwrap_or((word, ""));
        time += wait.parse::<u64>().expect("microseconds");
        let segment = if segment.is_empty() { next } else { segment.parse().expect("a number") };
        sends.push((time, segment));
        next = segment + 1;
    }
    sends
}

/// ns-2 draws for each sender how far its clock of 10 ms ticks is ahead of the simulation's; a
/// round-trip sample is the number of ticks in it, which determines the retransmission timer. In
/// these runs the offset was between 5.34 and 5.81 ms. Our clocks tick at the multiples of 10 ms,
/// so a flow that starts this much later sees the same ticks.
const START: Duration = Duration::from_microseconds(5_600);

impl Settings {
    /// For tables and messages.
    pub fn name(&self) -> String {
        let acks = if self.every == 1 { "plain" } else { "delayed" };
        let limited = if self.limited_transmit { "" } else { ", no limited transmit" };
        format!(
            "{:?}, {acks}, {} B, window {}, fig {}{limited}",
            self.recovery, self.size, self.window, self.figure
        )
    }

    /// Tolerance between two transmissions of the same packet. SACK runs never agree to the
    /// microsecond: a SACK option has two bytes of kind and length and two of padding, which ns-2
    /// omits; they take 64 µs at 500 kbit/s and 6.7 ms at 4.8 kbit/s.
    fn tolerance_us(&self) -> u64 {
        match self.recovery {
            Recovery::Sack => 12_000,
            _ => 1,
        }
    }

    /// The first packet sent differently: ns-2's and ours, each with its time in microseconds;
    /// zeros where a run has ended.
    pub fn first_difference(&self, ns2: &Run, ours: &Run) -> Option<[(u64, u64); 2]> {
        let at = |result: &Run, index: usize| result.sends.get(index).copied().unwrap_or_default();
        (0..ns2.sends.len().max(ours.sends.len()))
            .map(|index| [at(ns2, index), at(ours, index)])
            .find(|[ns2, ours]| ns2.1 != ours.1 || ns2.0.abs_diff(ours.0) > self.tolerance_us())
    }

    fn plan(&self) -> Plan {
        let duration = if self.figure == 7 { s(10) } else { s(20) };
        let transport = Transport {
            mss: Bytes(self.size),
            recovery: self.recovery,
            handshake: true,
            limited_transmit: self.limited_transmit,
            initial_window: 2.0,
            initial_ssthresh: self.window as f64,
            receive_window: ReceiveWindow::Fixed(Bytes(self.window * self.size)),
            delayed_ack: DelayedAck {
                every: self.every,
                timer: ms(100),
                clock: AckClock::Segment,
                quick: false,
            },
            timer: RetransmissionTimer {
                initial: ms(3000),
                minimum: ms(200),
                maximum: ms(60_000),
                granularity: ms(10),
                backoff: 2.0,
                linear_syn_timeouts: 0,
                arithmetic: TimerArithmetic::Bsd,
                samples: RttSamples::OneAtATime,
            },
            ..Transport::classic()
        };
        let mut control = Selection::default();
        control.set("halved", Value::Choice("window")).expect("a parameter of reno");
        control.set("threshold", Value::Choice("whole-segments")).expect("a parameter of reno");
        let mut network = dumbbell(kbps(500), ms(220)).access(mbps(10), ms(5)).queue(packets(5)).classic();
        if self.figure == 10 {
            network = network.reverse(wire(bps(4_800), ms(200)).queue(packets(5)));
        }
        let flow = Flow::from(control).transport(transport).start(START);
        let record = RecordPlan { interval: None, packets: true, ..RecordPlan::NOTHING };
        common::plan(network.flow(flow).duration(START + duration).record(record))
    }

    /// The same here.
    pub fn run(&self) -> Run {
        let outcome = common::run(&self.plan());
        let (flow, links) = (&outcome.summary.flows[0], &outcome.summary.links);
        let mut result = Run::default();
        let totals = &mut result.totals;
        totals.drops = links[0].drops;
        totals.acknowledgements_dropped = links[1].drops;
        totals.timeouts = flow.timeouts;
        for record in &outcome.packets {
            let microseconds = (record.time.since(Time::ZERO + START).picoseconds() + 500_000) / 1_000_000;
            match (record.event, record.kind) {
                (PacketEvent::Send, PacketKind::Syn) => result.sends.push((microseconds, 0)),
                (PacketEvent::Send, PacketKind::Data) => {
                    let segment = record.sequence / self.size + 1;
                    result.sends.push((microseconds, segment));
                    totals.sent = totals.sent.max(segment);
                }
                (PacketEvent::Deliver, PacketKind::Ack) => {
                    totals.acknowledged = totals.acknowledged.max(record.acknowledgement / self.size);
                }
                _ => {}
            }
        }
        result
    }
}
