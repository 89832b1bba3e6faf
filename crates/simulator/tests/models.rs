//! Models in whole runs: what a transport may do to their windows, and what bounds them.

mod common;

use common::run;
use selfclock_congestion::entry::{InRecovery, Part};
use selfclock_congestion::registry::ENTRIES;
use selfclock_simulator::Outcome;
use selfclock_simulator::scenario::Scenario;

const PATH: &str = r#"
schema = 1
duration = "20 s"
[network]
topology = "dumbbell"
bottleneck = { rate = "100 Mbps", delay = "45 ms", queue = "1 bdp", loss = { probability = 0.01 } }
access = { rate = "1 Gbps", delay = "1 ms" }
[record]
interval = "10 ms"
[[flow]]
congestion_control = "bbr3"
"#;

fn outcome(overrides: &[&str]) -> Outcome {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    let scenario = Scenario::parse(PATH, "models.toml", &overrides).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario.plan)
}

fn goodput(overrides: &[&str]) -> f64 {
    outcome(overrides).summary.flows[0].goodput_bps
}

/// Whether proportional rate reduction is on makes no difference, to the bit, for an algorithm that
/// sets its window in recovery itself, and some for every other.
#[test]
fn prr_is_for_those_that_leave_the_window_to_the_transport() {
    for entry in ENTRIES.iter().filter(|it| it.part == Part::Model || it.name == "cubic") {
        let named = format!("flow.0.congestion_control={:?}", entry.name);
        let few = "network.bottleneck.loss.probability=0.001";
        let [on, off] = ["true", "false"]
            .map(|prr| goodput(&[&named, few, "duration=\"10 s\"", &format!("transport.prr={prr}")]));
        let owns = entry.recovery == InRecovery::Algorithm;
        assert_eq!(on == off, owns, "{}: {on} and {off}", entry.name);
    }
}

/// BBRv3 under 1 % of random loss, 100 Mbit/s, RTT 94 ms: at worst each of 62 round trips between
/// two probes costs the loss and the pacing margin of 1 % (section 5.3.3.8 of its draft), which
/// leaves (1 - 0.98^62) / (62 0.02) of the rate; that is 0.58. Proportional rate reduction left it
/// 0.29. 4 % for Startup.
#[test]
fn bbr_under_random_loss() {
    let goodput = goodput(&[]);
    let left = (0..62).fold(1.0, |left, _| left * 0.98);
    let worst = (1.0 - left) / (62.0 * 0.02);
    println!("BBR, 1 % loss: {:.1} Mbit/s, at worst {:.1}", goodput / 1e6, worst * 100.0);
    assert!(goodput > 0.96 * worst * 100e6, "{goodput}");
}

/// The largest window, in segments of 1448 bytes.
fn largest_window(overrides: &[&str]) -> f64 {
    let windows = outcome(overrides).flow_series.columns().cwnd_bytes;
    windows.iter().copied().fold(0.0, f64::max) / 1448.0
}

/// Receivers that acknowledge rarely, and applications that pause, from the beginning of the
/// connection: the window is at most 2.25 BDP of the path, what is acknowledged at once, and four
/// segments of minimum; Startup, which does not cut, adds an acknowledgement, and its queue doubles
/// the round-trip time at most.
#[test]
fn the_window_of_bbr_has_a_bound() {
    let lossless = "network.bottleneck.loss.probability=0.0";
    // BDP in segments, segments acknowledged at once.
    for (what, bdp, at_once) in [
        (
            vec![
                "network.bottleneck.delay=\"0.4 ms\"",
                "network.access.delay=\"50 us\"",
                "flow.0.transport.delayed_ack={every=64,timer=\"2 ms\"}",
            ],
            8.3,
            64.0,
        ),
        (
            vec![
                "network.bottleneck.rate=\"2 Mbps\"",
                "network.bottleneck.delay=\"3 ms\"",
                "flow.0.transport.delayed_ack={every=4,timer=\"40 ms\"}",
            ],
            1.7,
            4.0,
        ),
        (
            vec![
                "network.bottleneck.rate=\"20 Mbps\"",
                "network.bottleneck.delay=\"18 ms\"",
                "flow.0.traffic={rate=\"4 Mbps\",write=\"100 kB\"}",
            ],
            67.0,
            70.0,
        ),
    ] {
        let largest = largest_window(&[&what[..], &[lossless]].concat());
        let bound = 2.25 * 2.0 * bdp + 2.0 * at_once + 14.0;
        println!("{what:?}: {largest:.0} segments, bound {bound:.0}");
        assert!(largest < bound, "{what:?}: {largest}");
    }
}

/// Behind a queue that marks as it drops Prague beside a classic flow is a note; alone, in queues
/// of their own, or behind DualPI2 it is none.
#[test]
fn prague_beside_a_classic_flow() {
    for (queue, beside, expected) in [
        ("{ discipline = \"codel\", ecn = true }", "cubic", true),
        ("{ discipline = \"pie\", ecn = true }", "cubic", true),
        ("{ discipline = \"codel\", ecn = true }", "prague", false),
        ("{ discipline = \"fq-codel\", ecn = true }", "cubic", false),
        ("{ discipline = \"dualpi2\" }", "cubic", false),
    ] {
        let ecn = if beside == "prague" { "accurate" } else { "classic" };
        let path = PATH.replace("bbr3", "prague");
        let text = format!(
            "{path}transport = {{ ecn = \"accurate\" }}\n[[flow]]\ncongestion_control = \"{beside}\"\n\
             transport = {{ ecn = \"{ecn}\" }}\n"
        );
        let overrides = [format!("network.bottleneck.queue={queue}")];
        let scenario =
            Scenario::parse(&text, "models.toml", &overrides).unwrap_or_else(|error| panic!("{error}"));
        let notes = selfclock_simulator::scenario::notes(&scenario.plan);
        assert_eq!(
            notes.iter().any(|note| note.contains("RFC 9331")),
            expected,
            "{queue} {beside}: {notes:?}"
        );
    }
}
