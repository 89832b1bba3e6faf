//! Data that applications send.

use super::{DUMBBELL, flow_with, parse, refused, refused_flow, tcp};
use crate::plan::{Activity, Arrivals, Protocol, SizeDistribution, Source};
use selfclock_congestion::units::{Bytes, Duration, Rate};

#[test]
fn traffic() {
    let source = |value: &str| tcp(&flow_with(&format!("traffic = {value}")), 0).source.clone();
    assert_eq!(source("\"bulk\""), Source::Bulk);
    assert_eq!(source("{ size = \"10 MB\" }"), Source::Size(Bytes(10_000_000)));
    assert!(
        matches!(source("{ rate = \"1 Mbps\" }"), Source::Rate(rate) if rate.bits_per_second() == 1_000_000)
    );
    assert!(matches!(
        source("{ rate = \"1 Mbps\", write = \"30 kB\" }"),
        Source::Writes { rate, size: Bytes(30_000) } if rate.bits_per_second() == 1_000_000
    ));
    let plan = flow_with("protocol = \"udp\"\ntraffic = { rate = \"1 Mbps\", arrivals = \"poisson\" }");
    let Protocol::Udp(udp) = &plan.flows[0].protocol else { panic!("{plan:?}") };
    assert_eq!((&udp.packets[..], udp.arrivals), (&[(Bytes(1500), 1.0)][..], Arrivals::Poisson));
    assert!(plan.flows[0].reverse.is_empty());
}

#[test]
fn writes_have_a_rate() {
    let line = "traffic = { size = \"1 MB\", write = \"30 kB\" }";
    let key = "flow[0].traffic.write";
    refused_flow(line, 36, key, "not allowed here", "it is the size of a write at a rate");
    let line = "traffic = { load = \"1 Mbps\", size = \"30 kB\", write = \"3 kB\" }";
    refused_flow(line, 54, key, "not allowed here", "short connections write all at once");
}

#[test]
fn udp_steps_and_mixes() {
    let udp = |traffic: &str| {
        let plan = flow_with(&format!("protocol = \"udp\"\ntraffic = {traffic}"));
        let Protocol::Udp(udp) = plan.flows[0].protocol.clone() else { panic!("{plan:?}") };
        udp
    };
    let steps = udp(
        "{ rate = \"1 Mbps\", packet = \"imix\", steps = [{ at = \"3 s\", rate = \"0 bps\" }, { at = \"5 s\", rate = \"2 Mbps\" }] }",
    );
    let rates: Vec<_> =
        steps.rates.iter().map(|&(at, rate)| (at.seconds(), rate.bits_per_second())).collect();
    assert_eq!(rates, [(0.0, 1_000_000), (3.0, 0), (5.0, 2_000_000)]);
    assert_eq!(steps.packets, [(Bytes(40), 7.0), (Bytes(576), 4.0), (Bytes(1500), 1.0)]);
    let mix = udp(
        "{ rate = \"1 Mbps\", packet = [{ size = \"100 B\", weight = 1 }, { size = \"1 kB\", weight = 0.5 }] }",
    );
    assert_eq!(mix.packets, [(Bytes(100), 1.0), (Bytes(1000), 0.5)]);
    let key = "flow[0].traffic.steps[1].at";
    let line = "protocol = \"udp\"\ntraffic = { rate = \"1 Mbps\", steps = [{ at = \"3 s\", rate = \"1 bps\" }, { at = \"3 s\", rate = \"2 bps\" }] }";
    let error = parse(&format!("{DUMBBELL}{line}\n")).unwrap_err();
    assert_eq!((error.line(), error.key.as_str()), (Some(12), key), "{error}");
    let silent = udp("{ rate = \"1 Mbps\", steps = [{ at = \"3 s\", rate = \"off\" }] }");
    assert_eq!(silent.rates[1].1.bits_per_second(), 0);
    let line =
        "protocol = \"udp\"\ntraffic = { rate = \"1 Mbps\", steps = [{ at = \"3 s\", rate = \"bulk\" }] }";
    let error = parse(&format!("{DUMBBELL}{line}\n")).unwrap_err();
    assert_eq!(error.key, "flow[0].traffic.steps[0].rate", "{error}");
    assert!(error.to_string().contains("UDP has no bulk traffic"), "{error}");
}

#[test]
fn tcp_steps() {
    let periods = |traffic: &str| match tcp(&flow_with(&format!("traffic = {traffic}")), 0).source.clone() {
        Source::Steps(periods) => {
            periods.iter().map(|each| (each.from.seconds(), each.activity)).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    let rate =
        |mbps: u64, write| Activity::Rate { rate: Rate::from_bits_per_second(mbps * 1_000_000), write };
    assert_eq!(
        periods("{ steps = [{ at = \"3 s\", rate = \"off\" }, { at = \"5 s\", rate = \"bulk\" }] }"),
        [(0.0, Activity::Bulk), (3.0, Activity::Silence), (5.0, Activity::Bulk)]
    );
    assert_eq!(
        periods(
            "{ rate = \"1 Mbps\", write = \"30 kB\", steps = [{ at = \"3 s\", rate = \"0 bps\" }, { at = \"5 s\", rate = \"2 Mbps\" }] }"
        ),
        [(0.0, rate(1, Some(Bytes(30_000)))), (3.0, Activity::Silence), (5.0, rate(2, Some(Bytes(30_000))))]
    );
    let key = |key: &str| format!("flow[0].traffic.{key}");
    let steps = "steps = [{ at = \"3 s\", rate = \"off\" }]";
    let line = format!("traffic = {{ size = \"1 MB\", {steps} }}");
    refused_flow(&line, 20, &key("size"), "not allowed here", "the flow ends at stop");
    let line = format!("traffic = {{ write = \"1 kB\", {steps} }}");
    refused_flow(&line, 21, &key("write"), "not allowed here", "it is the size of a write at a rate");
    let line = format!("traffic = {{ {steps}, load = \"1 Mbps\", size = \"1 kB\" }}");
    refused_flow(&line, 21, &key("steps"), "not allowed here", "short connections have a load");
    let line = "traffic = { steps = [{ at = \"3 s\", rate = \"on\" }] }";
    refused_flow(line, 43, &key("steps[0].rate"), "\"on\" does not begin with a number", "10 Mbps");
}

#[test]
fn short_connections_are_read() {
    let size = "{ distribution = \"pareto\", minimum = \"4 kB\", maximum = \"10 MB\", shape = 1.5 }";
    let plan =
        parse(&format!("{DUMBBELL}traffic = {{ load = \"8 Mbps\", size = {size} }}\n")).expect("valid").plan;
    let Protocol::Connections(connections) = &plan.flows[0].protocol else { panic!("short connections") };
    let expected = SizeDistribution::Pareto { minimum: Bytes(4_000), maximum: Bytes(10_000_000), shape: 1.5 };
    assert_eq!(connections.size, expected);
    // Mean 4000 × 3 × (1 − 0.02) / (1 − 8 × 10⁻⁶) B at 1 MB/s.
    assert!(
        (connections.interval.seconds() / 0.011_760_094 - 1.0).abs() < 1e-6,
        "{:?}",
        connections.interval
    );
    let every =
        parse(&format!("{DUMBBELL}traffic = {{ interval = \"20 ms\", size = \"30 kB\" }}\n")).expect("valid");
    let Protocol::Connections(connections) = &every.plan.flows[0].protocol else {
        panic!("short connections")
    };
    assert_eq!(connections.interval, Duration::from_milliseconds(20));
    assert_eq!(connections.size, SizeDistribution::Constant(Bytes(30_000)));
}

#[test]
fn what_is_no_short_connection_is_refused() {
    let traffic = "flow[0].traffic";
    let case = |text: &str, column: usize, key: &str, message: &str, help: &str| {
        let key = format!("{traffic}{key}");
        refused_flow(&format!("traffic = {{ {text} }}"), column, &key, message, help);
    };
    case("load = \"1 Mbps\"", 11, "", "short connections need a size", "size = \"30 kB\"");
    case(
        "load = \"1 Mbps\", interval = \"1 s\", size = \"1 kB\"",
        11,
        "",
        "load and interval are alternatives",
        "one of them",
    );
    case("load = \"1 Mbps\", rate = \"1 Mbps\", size = \"1 kB\"", 37, ".rate", "not allowed here", "load");
    case(
        "size = { distribution = \"exponential\", mean = \"1 kB\" }",
        20,
        ".size",
        "a distribution of sizes is for short connections",
        "load",
    );
    let size = |size: &str| format!("load = \"1 Mbps\", size = {{ {size} }}");
    case(&size("distribution = \"zipf\""), 54, ".size.distribution", "unknown value \"zipf\"", "pareto");
    case(&size("distribution = \"pareto\""), 37, ".size", "a key is missing", "minimum = \"4 kB\"");
    case(
        &size("distribution = \"exponential\", mean = \"1 kB\", shape = 1.2"),
        84,
        ".size.shape",
        "not a key of this distribution",
        "mean = \"30 kB\"",
    );
    case(
        &size("distribution = \"pareto\", minimum = \"2 kB\", maximum = \"1 kB\", shape = 1.2"),
        92,
        ".size.maximum",
        "smaller than the minimum",
        "",
    );
    // 10 s at one connection per picosecond.
    case(
        "interval = \"1 ps\", size = \"1 kB\"",
        11,
        "",
        "needs about 1192092 GiB of memory, 1192092 GiB of it for 10000000000000 short connections",
        "at most 16 GiB",
    );
}

#[test]
fn keys_of_the_other_protocol() {
    let udp = "protocol = \"udp\"\ntraffic = { rate = \"1 Mbps\" }\n";
    let text = format!("{DUMBBELL}{udp}congestion_control = \"reno\"\n");
    refused(
        &text,
        (13, 22),
        "flow[0].congestion_control",
        "not allowed here",
        "UDP has no congestion control",
    );
    let text = format!("{DUMBBELL}{udp}transport = {{}}\n");
    refused(&text, (13, 13), "flow[0].transport", "not allowed here", "UDP has no transport settings");
    refused_flow(
        "traffic = { rate = \"1 Mbps\", packet = \"9 B\" }",
        39,
        "flow[0].traffic.packet",
        "not allowed here",
        "segments",
    );
    refused_flow("traffic = {}", 11, "flow[0].traffic", "either size, rate or steps are needed", "10 MB");
    refused_flow("traffic = \"web\"", 11, "flow[0].traffic", "unknown value \"web\"", "bulk");
}
