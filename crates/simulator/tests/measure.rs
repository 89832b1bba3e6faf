//! Rates from a time of the run on are what the whole run has beyond a run that ends then.

use selfclock_simulator::record::summary::Summary;
use selfclock_simulator::scenario::Scenario;
use selfclock_simulator::{Outcome, Simulation};

fn run(text: &str, overrides: &[&str]) -> Outcome {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    let scenario =
        Scenario::parse(text, "measure.toml", &overrides).unwrap_or_else(|error| panic!("{error}"));
    Simulation::new(&scenario.plan).run().expect("it ends")
}

/// 4 of 10 Mbit/s until 5 s and 8 from then on, without a queue: 60 % of the whole run, 80 % of its
/// second half, of which the rate is exact but for the packet under way.
#[test]
fn a_steady_state_is_measured_without_what_was_before() {
    let text = r#"
        schema = 1
        duration = "10 s"
        measure_from = "5 s"
        [network]
        topology = "graph"
        nodes = ["a", "b"]
        link = [{ from = "a", to = "b", rate = "10 Mbps", delay = "1 ms" }]
        [[flow]]
        from = "a"
        to = "b"
        protocol = "udp"
        traffic = { rate = "4 Mbps", steps = [{ at = "5 s", rate = "8 Mbps" }] }
    "#;
    let packet = 12_000.0 / 5.0;
    for (overrides, rate) in [(&[][..], 8e6), (&["measure_from=0 s"][..], 6e6)] {
        let Summary { flows, links, .. } = run(text, overrides).summary;
        assert!((flows[0].throughput_bps - rate).abs() <= 2.0 * packet, "{}", flows[0].throughput_bps);
        assert!((links[0].utilization - rate / 1e7).abs() < 1e-3, "{}", links[0].utilization);
    }
}

/// Networks whose links are served ahead of the clock, in batches, with queues that hold packets,
/// at the opportunities of a trace, and along changes of the rate.
const BOTTLENECKS: [&str; 6] = [
    r#"rate = "10 Mbps", queue = "1 bdp""#,
    r#"rate = "10 Mbps", queue = { discipline = "codel" }"#,
    r#"rate = "10 Mbps", queue = { discipline = "fq-codel" }"#,
    r#"rate = "10 Mbps", loss = { probability = 0.003 }, jitter = "2 ms""#,
    r#"rate = "10 Mbps", changes = [{ at = "2 s", rate = "5 Mbps" }, { at = "6 s", rate = "20 Mbps" }]"#,
    r#"delivery_trace = { opportunities = "1 2x3 5 9" }"#,
];

const FLOWS: [&str; 4] = [
    "[[flow]]\ncongestion_control = \"cubic\"",
    "[[flow]]\ncount = 3\ncongestion_control = \"bbr3\"\n[[flow]]\nstart = \"5 s\"",
    "[[flow]]\ntraffic = { load = \"6 Mbps\", size = \"40 kB\" }\n[[flow]]\ntraffic = { size = \"1 MB\" }",
    "[[flow]]\nprotocol = \"udp\"\ntraffic = { rate = \"12 Mbps\", arrivals = \"poisson\" }",
];

#[test]
fn a_measured_run_is_the_difference_of_two_runs() {
    let (whole, from) = (8.0, 3.3);
    for bottleneck in BOTTLENECKS {
        for flows in FLOWS {
            let text = format!(
                "schema = 1\nduration = \"8 s\"\n[network]\ntopology = \"dumbbell\"\n\
                 bottleneck = {{ {bottleneck}, delay = \"15 ms\" }}\n\
                 access = {{ rate = \"1 Gbps\", delay = \"1 ms\" }}\n{flows}\n"
            );
            for interval in ["record.interval=off", "record.interval=110 ms"] {
                let all = run(&text, &[interval]);
                let before = run(&text, &["duration=3.3 s", "record.interval=off"]).summary;
                let measured = run(&text, &[interval, "measure_from=3.3 s"]);
                let same = |one: f64, other: f64, what: &str| {
                    let error = (one - other).abs();
                    assert!(
                        error <= 1e-9 * one.abs().max(other.abs()).max(1.0),
                        "{what}: {one} {other}\n{text}"
                    );
                };
                assert_eq!(format!("{:?}", all.flow_series), format!("{:?}", measured.flow_series), "{text}");
                assert_eq!(format!("{:?}", all.link_series), format!("{:?}", measured.link_series), "{text}");
                let (all, measured) = (all.summary, measured.summary);
                for ((all, before), measured) in all.links.iter().zip(&before.links).zip(&measured.links) {
                    let mean = |of: fn(&selfclock_simulator::record::summary::LinkSummary) -> f64| {
                        (of(all) * whole - of(before) * from) / (whole - from)
                    };
                    same(mean(|link| link.queue_mean_packets), measured.queue_mean_packets, "mean queue");
                    if !bottleneck.contains("changes") && !bottleneck.contains("trace") {
                        same(mean(|link| link.utilization), measured.utilization, "utilization");
                    }
                    assert_eq!((all.packets, all.drops), (measured.packets, measured.drops));
                }
                for ((all, before), measured) in all.flows.iter().zip(&before.flows).zip(&measured.flows) {
                    assert_eq!(all.delivered_bytes, measured.delivered_bytes);
                    let started = if all.name == "flow2" && flows.contains("start") { 5.0 } else { from };
                    let ended = all.completion_s.unwrap_or(whole).max(started);
                    let bits = 8.0 * (all.delivered_bytes - before.delivered_bytes) as f64;
                    let expected = if ended > started { bits / (ended - started) } else { 0.0 };
                    same(expected, measured.goodput_bps, "goodput");
                }
            }
        }
    }
}
