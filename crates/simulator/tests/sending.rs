//! Laws of what a sender sends, from the record and the series: pacer and shaper hold for every
//! segment, the window stays in proportion to what is in flight, and losses slow the sender.

mod common;

use common::run;
use selfclock_simulator::Outcome;
use selfclock_simulator::record::packets::{PacketEvent, PacketKind};
use selfclock_simulator::scenario::Scenario;

const RECOVERIES: [&str; 5] = ["tahoe", "reno", "newreno", "sack", "rack"];

fn outcome(seconds: u32, network: &str, transport: &str, flow: &str) -> Outcome {
    let text = format!(
        "schema = 1\nduration = \"{seconds} s\"\n[network]\ntopology = \"dumbbell\"\n{network}\n\
         [transport]\n{transport}\n[[flow]]\n{flow}\n[record]\npackets = true\ninterval = \"10 ms\"\n"
    );
    run(&Scenario::parse(&text, "law.toml", &[]).unwrap_or_else(|error| panic!("{error}")).plan)
}

/// Time in seconds and size of everything that the flow sends.
fn sent(outcome: &Outcome) -> Vec<(f64, f64)> {
    let sent = outcome
        .packets
        .iter()
        .filter(|it| it.event == PacketEvent::Send && matches!(it.kind, PacketKind::Data | PacketKind::Syn));
    sent.map(|it| (it.time.seconds(), f64::from(it.size))).collect()
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// A leaky bucket: at most burst + rate × time leaves in any time (the shaper's definition), with
/// random losses and with each recovery, in timeouts and probes, too.
#[test]
fn a_shaper_shapes_every_segment() {
    for recovery in RECOVERIES {
        for loss in [0.01, 0.05] {
            let network = format!(
                "bottleneck = {{ rate = \"20 Mbps\", delay = \"16 ms\", queue = \"unlimited\", loss = {{ probability = {loss} }} }}\n\
                 access = {{ rate = \"1 Gbps\", delay = \"2 ms\" }}"
            );
            let transport =
                format!("recovery = \"{recovery}\"\nshaper = {{ rate = \"5 Mbps\", burst = \"1500 B\" }}");
            let outcome = outcome(20, &network, &transport, "congestion_control = \"reno\"");
            assert!(outcome.summary.flows[0].retransmitted_segments > 20);
            let (mut level, mut before) = (0.0_f64, 0.0);
            for (time, size) in sent(&outcome) {
                level = (level - (time - before) * 5e6 / 8.0).max(0.0) + size;
                before = time;
                // A picosecond at 5 Mbit/s is no byte.
                assert!(level <= 1500.001, "{recovery}, {loss}: {level} B at {time}");
            }
        }
    }
}

/// Pacing spaces every segment, the first retransmission of a recovery included, by at least the
/// smallest smoothed round-trip time / (gain × largest window).
#[test]
fn a_pacer_spaces_every_segment() {
    let network = "bottleneck = { rate = \"10 Mbps\", delay = \"8 ms\", queue = \"1 bdp\" }\n\
                   reverse = { rate = \"500 Mbps\", delay = \"8 ms\", queue = \"unlimited\" }\n\
                   access = { rate = \"500 Mbps\", delay = \"1 ms\" }";
    for recovery in RECOVERIES {
        let with = |pacing: &str| {
            let transport = format!("recovery = \"{recovery}\"\nhandshake = false\npacing_gain = {pacing}");
            outcome(30, network, &transport, "congestion_control = \"reno\"")
        };
        let (paced, unpaced) = (with("1.25"), with("\"off\""));
        let series = paced.flow_series.columns();
        let smallest = series.srtt_s.iter().copied().fold(f64::INFINITY, f64::min);
        let interval = smallest / 1.25 / (most(&series.cwnd_bytes) / 1448.0);
        // Before the first round-trip time there is no rate.
        let sent: Vec<f64> = sent(&paced).iter().map(|it| it.0).filter(|&time| time > 0.03).collect();
        let closest = sent.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
        assert!(closest >= 0.9 * interval, "{recovery}: {closest} s for {interval} s");
        let [paced, unpaced] = [&paced, &unpaced].map(|it| &it.summary.flows[0]);
        println!(
            "{recovery}: {:.2} Mbit/s and {} timeouts, unpaced {:.2} and {}",
            paced.goodput_bps / 1e6,
            paced.timeouts,
            unpaced.goodput_bps / 1e6,
            unpaced.timeouts
        );
        // The others cannot tell that a retransmission is lost. Paced segments keep a full queue
        // full, where bursts leave room between them, so they have more timeouts.
        if recovery == "rack" {
            assert!(paced.timeouts <= unpaced.timeouts, "{recovery}: {}", paced.timeouts);
            assert!(paced.goodput_bps > 0.97 * unpaced.goodput_bps, "{recovery}");
        }
    }
}

/// RFC 7661: a window that is not used does not grow. None is ever above three times what was in
/// flight, whoever limits the sender: the application or the receiver, beside a pacer, a shaper or
/// an algorithm that spaces by itself.
#[test]
fn a_window_is_never_far_above_what_is_in_flight() {
    let network = "bottleneck = { rate = \"100 Mbps\", delay = \"18 ms\", queue = \"1 bdp\" }\n\
                   access = { rate = \"1 Gbps\", delay = \"1 ms\" }";
    let limits = [
        ("traffic = { rate = \"5 Mbps\", write = \"25 kB\" }", ""),
        ("traffic = { rate = \"3 Mbps\", write = \"12 kB\" }", ""),
        ("", "receive_window = \"60 kB\""),
        ("", "shaper = { rate = \"5 Mbps\", burst = \"3000 B\" }"),
    ];
    for (traffic, limit) in limits {
        for spacing in ["", "pacing_gain = 1.25", "pacing_gain = 0.9", "delayed_ack = { every = 8 }"] {
            for control in [
                "\"reno\"",
                "\"cubic\"",
                "\"bic\"",
                "\"prague\"",
                "{ window = \"cubic\", start = \"packet-pair\" }",
                "{ window = \"cubic\", start = \"hystart++\" }",
            ] {
                let flow = format!("congestion_control = {control}\n{traffic}");
                let outcome = outcome(20, network, &format!("{limit}\n{spacing}"), &flow);
                let series = outcome.flow_series.columns();
                let in_flight: Vec<f64> = series.in_flight_bytes.iter().map(|&bytes| bytes as f64).collect();
                let (window, used) = (most(&series.cwnd_bytes) / 1448.0, most(&in_flight) / 1448.0);
                // The initial window of ten may stay unused.
                assert!(
                    window <= (3.0 * used).max(10.0),
                    "{control}, {traffic}{limit}, {spacing}: {window} for {used}"
                );
            }
        }
    }
}

/// A policer with a deep bucket drops a flight, and then retransmissions, too. Each round of them
/// reduces the window: of what Linux's Reno sends through this policer (6.18, network namespaces)
/// 12 to 18 % are retransmissions. With an unmoved window most would be.
#[test]
fn lost_retransmissions_slow_a_sender_after_a_timeout() {
    let network = "bottleneck = { rate = \"500 Mbps\", delay = \"20 ms\", queue = \"4000 packets\" }\n\
                   access = { rate = \"1 Gbps\", delay = \"0 s\" }\n\
                   [[router]]\nmechanism = \"policer\"\nlinks = [\"bottleneck\"]\nrate = \"20 Mbps\"\nburst = \"2 MB\"";
    let outcome = outcome(6, network, "", "congestion_control = \"reno\"");
    let flow = &outcome.summary.flows[0];
    println!("{} of {}", flow.retransmitted_segments, flow.sent_segments);
    assert!(flow.timeouts > 0, "the test needs one");
    assert!(4 * flow.retransmitted_segments < flow.sent_segments);
}
