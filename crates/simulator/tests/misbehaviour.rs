//! Misbehaving receivers and routers: their gain, their harm to others, and the bounds of both.
//!
//! `docs/misbehaviour.md` has the table that `make misbehaviour` makes here.

mod common;

use common::run;
use selfclock_congestion::entry::Part;
use selfclock_congestion::registry::ENTRIES;
use selfclock_simulator::Outcome;
use selfclock_simulator::record::summary::FlowSummary;
use selfclock_simulator::scenario::Scenario;

fn outcome(text: &str) -> Outcome {
    let scenario = Scenario::parse(text, "misbehaviour.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario.plan)
}

/// One flow of 100 Mbit/s and 50 ms in which every 200th packet is lost at random: its rate is
/// determined by its rules of growth and reduction, not by the link.
fn alone(algorithm: &str, transport: &str, seconds: u32) -> FlowSummary {
    let router =
        if algorithm == "xcp" { "[[router]]\nmechanism = \"xcp\"\nlinks = [\"bottleneck\"]\n" } else { "" };
    let text = format!(
        "schema = 1\nduration = \"{seconds} s\"\n[record]\ninterval = \"off\"\n\
         [network]\ntopology = \"dumbbell\"\n\
         bottleneck = {{ rate = \"100 Mbps\", delay = \"24 ms\", queue = \"1 bdp\", loss = {{ probability = 0.005 }} }}\n\
         access = {{ rate = \"1 Gbps\", delay = \"0.5 ms\" }}\n\
         [[flow]]\ncongestion_control = \"{algorithm}\"\ntransport = {{ {transport} }}\n{router}"
    );
    outcome(&text).summary.flows.remove(0)
}

/// Two flows of the same algorithm, the second of them honest, over 20 Mbit/s, 40 ms and a queue of
/// one BDP. Delays vary by more than a packet time; otherwise phase effects would decide the drops.
fn beside_another(algorithm: &str, transport: &str, seconds: u32, seed: u32) -> [FlowSummary; 2] {
    let router =
        if algorithm == "xcp" { "[[router]]\nmechanism = \"xcp\"\nlinks = [\"bottleneck\"]\n" } else { "" };
    let text = format!(
        "schema = 1\nseed = {seed}\nduration = \"{seconds} s\"\n[record]\ninterval = \"off\"\n\
         [network]\ntopology = \"dumbbell\"\n\
         bottleneck = {{ rate = \"20 Mbps\", delay = \"19 ms\", queue = \"1 bdp\" }}\n\
         access = {{ rate = \"1 Gbps\", delay = \"0.5 ms\", jitter = \"1 ms\" }}\n\
         [[flow]]\ncongestion_control = \"{algorithm}\"\ntransport = {{ {transport} }}\n\
         [[flow]]\ncongestion_control = \"{algorithm}\"\nstart = \"50 ms\"\n{router}"
    );
    let mut flows = outcome(&text).summary.flows.into_iter();
    [flows.next().expect("two flows"), flows.next().expect("two flows")]
}

/// Bytes that arrive, even if earlier ones are missing: a receiver that acknowledges lost data has
/// to fetch it by other means.
fn received(flow: &FlowSummary) -> f64 {
    flow.throughput_bps
}

/// In order, each byte once.
fn delivered(flow: &FlowSummary) -> f64 {
    flow.goodput_bps
}

/// A misbehaviour: its keys, additional settings, and the metric.
struct Attack {
    title: &'static str,
    keys: &'static str,
    /// Settings of both the honest and the misbehaving run.
    transport: &'static str,
    gets: fn(&FlowSummary) -> f64,
    /// Bound on the attacker's gain without competition, over its honest rate.
    bound: Option<f64>,
    of: fn(&str) -> bool,
}

/// Whether the algorithm's receiver sends reports.
fn has_reports(name: &str) -> bool {
    ["packet-pair", "modified-swift-start", "quick-start", "xcp"].contains(&name)
}

/// The bounds were written down before the first run: 1.1, the 10 % of a scorecard's good row,
/// where a rule of an RFC closes the hole; two for reports, which can only raise the beginning;
/// none for the second. The first run showed the right baseline for dividing ACKs: an honest
/// receiver that acknowledges every segment, which is legitimate. Reno then gets sqrt 2 of its rate
/// with delayed ACKs, and division gave it as much.
const ATTACKS: [Attack; 5] = [
    Attack {
        title: "divides each ACK into 10",
        keys: "ack_parts = 10",
        transport: "delayed_ack = \"off\"",
        gets: delivered,
        bound: Some(1.1),
        // Byte counting closes it. XCP's window is the sum of the routers' feedback, which a
        // receiver can repeat with each part; no rule forbids it.
        of: |algorithm| algorithm != "xcp",
    },
    Attack {
        title: "acknowledges gaps, and 2 segments ahead",
        keys: "ack_ahead = 2",
        transport: "",
        gets: received,
        bound: None,
        of: |_| true,
    },
    Attack {
        title: "repeats each ACK 3 times (NewReno)",
        keys: "ack_repeats = 3",
        // With undo, the early retransmissions that it causes count as spurious, which no rule of
        // an RFC forbids: Prague then gains 1.8. So do the quick ACKs that each of them brings:
        // they make an ACK per segment, which is legitimate, of one for two.
        transport: "recovery = \"newreno\", undo = false, delayed_ack = { quick = false }",
        gets: delivered,
        bound: Some(1.1),
        of: |_| true,
    },
    Attack {
        title: "discards what every tenth SACK reported",
        keys: "renege_every = 10",
        transport: "",
        gets: delivered,
        bound: Some(1.1),
        of: |_| true,
    },
    Attack {
        title: "reports a tenth of the interval",
        keys: "interval_factor = 0.1",
        transport: "",
        gets: delivered,
        bound: Some(2.0),
        of: has_reports,
    },
];

fn transports(attack: &Attack) -> (String, String) {
    let separator = if attack.transport.is_empty() { "" } else { ", " };
    let with = format!("{}{separator}misbehaviour = {{ {} }}", attack.transport, attack.keys);
    (attack.transport.to_owned(), with)
}

/// The attacker's rate without competition, over its honest rate.
fn gain_alone(attack: &Attack, algorithm: &str, seconds: u32) -> f64 {
    let (without, with) = transports(attack);
    (attack.gets)(&alone(algorithm, &with, seconds)) / (attack.gets)(&alone(algorithm, &without, seconds))
}

/// The same beside an honest flow, and that flow's relative loss: three seeds together.
fn gain_and_harm(attack: &Attack, algorithm: &str, seconds: u32) -> (f64, f64) {
    let (without, with) = transports(attack);
    let runs = |transport: &str| {
        let runs = (1..4).map(|seed| beside_another(algorithm, transport, seconds, seed));
        runs.fold((0.0, 0.0), |sum, [flow, other]| (sum.0 + (attack.gets)(&flow), sum.1 + delivered(&other)))
    };
    let ((honest, beside_honest), (attacker, beside_attacker)) = (runs(&without), runs(&with));
    (attacker / honest, 1.0 - beside_attacker / beside_honest)
}

/// Every start, window algorithm and model, including later additions.
fn algorithms() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().filter(|entry| entry.part != Part::Estimate).map(|entry| entry.name)
}

/// 60 s are some 130 losses for Reno: a standard error of about 7 % of each run, so 1.1 becomes 1.3
/// here; the table is made from 200 s, where it is 6 % of a gain.
#[test]
fn what_rfcs_close_gains_nothing_whatever_the_algorithm() {
    for attack in &ATTACKS {
        let Some(bound) = attack.bound else { continue };
        for algorithm in algorithms().filter(|name| (attack.of)(name)) {
            let gain = gain_alone(attack, algorithm, 60);
            assert!(gain < bound + 0.2, "{algorithm} {}: {gain}", attack.title);
        }
    }
}

/// Writes the table into `docs/misbehaviour.md`.
#[test]
#[ignore = "takes minutes: make misbehaviour"]
fn table() {
    let mut lines = String::from(
        "| algorithm | what the receiver does | alone | beside an honest flow | the other loses |\n|---|---|---:|---:|---:|\n",
    );
    let mut over = Vec::new();
    for algorithm in algorithms() {
        for attack in ATTACKS.iter().filter(|attack| (attack.of)(algorithm)) {
            let alone = gain_alone(attack, algorithm, 200);
            let (gain, harm) = gain_and_harm(attack, algorithm, 100);
            lines += &format!(
                "| {algorithm} | {} | {alone:.2} | {gain:.2} | {:.0} % |\n",
                attack.title,
                100.0 * harm
            );
            if attack.bound.is_some_and(|bound| alone > bound + 0.06) {
                over.push(format!("{algorithm} {}: {alone}", attack.title));
            }
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/misbehaviour.md");
    let text = std::fs::read_to_string(path).expect("the document");
    let (before, rest) = text.split_once("<!-- table -->\n").expect("where the table begins");
    let (_, after) = rest.split_once("<!-- end of table -->").expect("where it ends");
    let text = format!("{before}<!-- table -->\n{lines}<!-- end of table -->{after}");
    std::fs::write(path, text).expect("the document");
    assert!(over.is_empty(), "{over:#?}");
}

/// Found by a receiver that reneges: a segment that was SACKed and then discarded was never
/// retransmitted, because an RTO sent only data that was not SACKed, and so the connection stalled
/// forever.
#[test]
fn a_receiver_that_throws_everything_away_stops_nobody() {
    for recovery in ["sack", "rack"] {
        let text = format!(
            "schema = 1\nduration = \"300 s\"\n[record]\ninterval = \"off\"\n\
             [network]\ntopology = \"dumbbell\"\n\
             bottleneck = {{ rate = \"10 Mbps\", delay = \"20 ms\", queue = \"50 packets\", loss = {{ probability = 0.02 }} }}\n\
             access = {{ rate = \"100 Mbps\", delay = \"1 ms\" }}\n\
             [[flow]]\ntraffic = {{ size = \"500 kB\" }}\n\
             transport = {{ recovery = \"{recovery}\", misbehaviour = {{ renege_every = 1 }} }}\n"
        );
        let flow = outcome(&text).summary.flows.remove(0);
        assert_eq!(flow.delivered_bytes, 500_000, "{recovery}");
        assert!(flow.completion_s.is_some(), "{recovery}");
    }
}

/// An ACK of data not yet sent is invalid (RFC 9293, section 3.10.7.4). 1000 segments ahead is more
/// than are ever outstanding, so none is valid, and only the sender's timer is left: it retransmits
/// the first segment repeatedly.
#[test]
fn acknowledgements_of_what_was_not_sent_are_ignored() {
    let flow = alone("reno", "misbehaviour = { ack_ahead = 1000 }", 60);
    // 10 segments, then one per timeout: 1, 2, 4, 8, 16 s and so on.
    assert!(flow.sent_segments < 20, "{}", flow.sent_segments);
    assert!(flow.timeouts >= 5);
}

/// Without a defence a receiver that acknowledges gaps never shows a loss: a sender that responds
/// only to loss fills the link. That is its entry in the table, and its limit: at most the link,
/// and nothing beyond the data sent.
#[test]
fn a_receiver_that_conceals_losses_takes_the_whole_link() {
    let honest = alone("reno", "", 60);
    let attacker = alone("reno", "misbehaviour = { ack_ahead = 2 }", 60);
    assert!(received(&attacker) > 5.0 * received(&honest));
    // 0.5 % of 100 Mbit/s are lost behind the queue.
    assert!(received(&attacker) <= 100e6 * 0.996, "{}", received(&attacker));
    assert_eq!(attacker.fast_retransmits, 0);
}

const TWO_FLOWS: &str = r#"
schema = 1
duration = "100 s"
[network]
topology = "dumbbell"
bottleneck = { rate = "10 Mbps", delay = "20 ms", queue = "100 packets" }
access = { rate = "100 Mbps", delay = "2 ms" }
[transport]
recovery = "sack"
receive_window = "200 segments"
[record]
interval = "off"
[[flow]]
[[flow]]
start = "1 s"
"#;

fn two_flows(routers: &str) -> Outcome {
    outcome(&format!("{TWO_FLOWS}{routers}"))
}

/// A domain of three routers with its bottleneck behind the second, and a forger on the way back
/// from there: it modifies the rate allowed by the queue's router, and the ingress, which has no
/// queue of its own, accepts it.
fn domain(routers: &str) -> Outcome {
    outcome(&format!(
        r#"
schema = 1
duration = "100 s"
[network]
topology = "graph"
nodes = ["s1", "s2", "a", "b", "c", "d1", "d2"]
[[network.link]]
from = "b"
to = "c"
rate = "10 Mbps"
delay = "18 ms"
queue = "100 packets"
[[network.link]]
from = "a"
to = "b"
rate = "100 Mbps"
delay = "2 ms"
queue = "1000 packets"
{}
[transport]
recovery = "sack"
receive_window = "200 segments"
# As the paper's sources. With it slow start overshoots the queue before the first explicit rate is back.
byte_counting = false
[record]
interval = "off"
[[flow]]
from = "s1"
to = "d1"
[[flow]]
from = "s2"
to = "d2"
start = "1 s"
{routers}"#,
        [("s1", "a"), ("s2", "a"), ("c", "d1"), ("c", "d2")]
            .map(|(from, to)| format!(
                "[[network.link]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"100 Mbps\"\ndelay = \"1 ms\"\nqueue = \"unlimited\"\n"
            ))
            .concat()
    ))
}

const FICCRD: &str = "[[router]]\nmechanism = \"ficcrd\"\nnodes = [\"a\", \"b\", \"c\"]\n";

fn forged(allowed_rate: &str) -> Outcome {
    domain(&format!(
        "{FICCRD}[[router]]\nmechanism = \"tampering\"\nlinks = [\"b-a\"]\nallowed_rate = \"{allowed_rate}\"\n"
    ))
}

fn drops(outcome: &Outcome) -> u64 {
    outcome.summary.links[0].drops
}

/// A router that allows every source a gigabit only disables the control: what is left is TCP and
/// its losses. One that drops the resource discovery packets does the same.
#[test]
fn a_forged_explicit_rate_leaves_plain_tcp() {
    let plain = domain("");
    let controlled = domain(FICCRD);
    assert!(drops(&plain) > 20 && drops(&controlled) == 0, "{} {}", drops(&plain), drops(&controlled));
    let total = |outcome: &Outcome| outcome.summary.flows.iter().map(delivered).sum::<f64>();
    // Behind the mechanism that sends them.
    let lost = domain(&format!(
        "{FICCRD}[[router]]\nmechanism = \"loss\"\nlinks = [\"a-b\"]\nprobability = 1.0\nkinds = [\"resource-discovery\"]\n"
    ));
    for outcome in [forged("1 Gbps"), lost] {
        assert!(drops(&outcome) > 20, "{}", drops(&outcome));
        // Resource discovery packets take 64 B of every 32 full segments.
        assert!(
            (total(&outcome) / total(&plain) - 1.0).abs() < 0.02,
            "{} {}",
            total(&outcome),
            total(&plain)
        );
    }
}

/// A router that allows almost nothing limits each flow to the floor: two segments per round trip
/// of 44 ms.
#[test]
fn an_explicit_rate_of_nothing_leaves_the_floor() {
    for flow in &forged("1 bps").summary.flows {
        // The round trip also contains two packet times; the first packets of a flow meet no rate
        // yet.
        let floor = 2.0 * 1448.0 * 8.0 / 0.044;
        assert!((0.85..=1.05).contains(&(delivered(flow) / floor)), "{} {floor}", delivered(flow));
    }
}

/// A closed window stops a sender except for its probes, one byte each, at the times of the
/// retransmission timer; one closed in every second ACK opens again with the next.
#[test]
fn a_router_that_closes_the_window_stops_a_flow_only_as_long_as_it_does() {
    let tampering = |probability: &str| {
        format!(
            "[[router]]\nmechanism = \"tampering\"\nlinks = [\"reverse\"]\nreceive_window = \"0 B\"\nprobability = {probability}\n"
        )
    };
    let closed = two_flows(&tampering("1.0"));
    for flow in &closed.summary.flows {
        // The initial window of ten, and a handful of one-byte probes: 200 ms and doubled.
        assert!((10 * 1448..10 * 1448 + 12).contains(&flow.delivered_bytes), "{}", flow.delivered_bytes);
    }
    let half = two_flows(&tampering("0.5"));
    let total: f64 = half.summary.flows.iter().map(delivered).sum();
    assert!(total > 5e6, "{total}");
}

/// A duplicated or late option is outdated: it may mislead its algorithm, but the gain is bounded,
/// and nothing stalls.
#[test]
fn options_that_come_twice_or_in_the_wrong_order_stop_nobody() {
    for algorithm in algorithms().filter(|name| has_reports(name)) {
        let routers = if algorithm == "xcp" {
            "[[router]]\nmechanism = \"xcp\"\nlinks = [\"bottleneck\"]\n"
        } else {
            "[[router]]\nmechanism = \"quick-start\"\n"
        };
        let transfer = |tampering: &str| {
            let text = format!(
                "{}{routers}{tampering}",
                TWO_FLOWS.replace("[[flow]]", &format!("[[flow]]\ncongestion_control = \"{algorithm}\""))
            );
            outcome(&text).summary.flows.iter().map(delivered).sum::<f64>()
        };
        let honest = transfer("");
        for options in ["duplicate", "swap"] {
            for link in ["bottleneck", "reverse"] {
                let tampered = transfer(&format!(
                    "[[router]]\nmechanism = \"tampering\"\nlinks = [\"{link}\"]\noptions = \"{options}\"\n"
                ));
                let part = tampered / honest;
                // Packet pair has one pair at a time on its way: swapped, the options time a whole
                // round trip, T, and slow start, which pairs alone correct, sends a segment in
                // each: two of 1500 B in 48 ms are 0.05 of 10 Mbit/s.
                let least = if algorithm == "packet-pair" && options == "swap" { 0.05 } else { 0.5 };
                assert!((least..=1.1).contains(&part), "{algorithm} {options} {link}: {part}");
            }
        }
    }
}
