//! Real endpoints of QUIC stacks on simulated links.

use selfclock_simulator::scenario::{Scenario, ScenarioError};
use selfclock_simulator::{Outcome, Simulation};

/// Available stacks and controllers.
const CONTROLS: [&str; 9] = [
    "quinn:cubic",
    "quinn:bbr",
    "quinn:new_reno",
    "noq:cubic",
    "noq:new_reno",
    "cubic@quinn",
    "reno@quinn",
    "cubic+hystart++@noq",
    "bbr3@noq",
];

/// Headers of IPv4 and UDP, and a full datagram with them, bytes.
const WIRE: f64 = 1500.0;
/// Stream data of a full datagram of 1472 bytes at most: a first byte, a connection id of 8, a
/// packet number of 1, type and id of a stream frame, and the tag of 16 are not data (RFC 9000,
/// sections 17.3 and 19.8; RFC 9001, section 5.3).
const MOST_DATA: f64 = 1472.0 - 1.0 - 8.0 - 1.0 - 2.0 - 16.0;
/// At least: with a packet number of 4, an offset of 8 and a length of 2 besides.
const LEAST_DATA: f64 = 1472.0 - 1.0 - 8.0 - 4.0 - 2.0 - 8.0 - 2.0 - 16.0;

fn parse(queue: &str, flows: &str) -> Result<Scenario, ScenarioError> {
    selfclock_stacks::register();
    let text = format!(
        "schema = 1\nname = \"test\"\nduration = \"10 s\"\n[network]\ntopology = \"dumbbell\"\n\
         bottleneck = {{ rate = \"20 Mbps\", delay = \"18 ms\", queue = {queue} }}\n\
         access = {{ rate = \"1 Gbps\", delay = \"1 ms\" }}\n{flows}"
    );
    Scenario::parse(&text, "test", &[])
}

fn run(queue: &str, flows: &str) -> Outcome {
    let scenario = parse(queue, flows).unwrap_or_else(|error| panic!("{error}"));
    Simulation::new(&scenario.plan).run().unwrap_or_else(|error| panic!("{error}"))
}

fn flow(control: &str, rest: &str) -> String {
    format!("[[flow]]\ncongestion_control = \"{control}\"\n{rest}\n")
}

#[test]
fn two_runs_leave_the_same_records_and_all_bytes_arrive() {
    for control in CONTROLS {
        let text = flow(control, "traffic = { size = \"3 MB\" }") + "[record]\npackets = true\n";
        let records = || {
            let outcome = run("\"1 bdp\"", &text);
            let flow = &outcome.summary.flows[0];
            assert_eq!(flow.delivered_bytes, 3_000_000, "{control}");
            assert!(flow.completion_s.is_some(), "{control}");
            assert!(outcome.packets.len() > 10_000, "{control}");
            format!("{outcome:?}")
        };
        assert!(records() == records(), "{control}: two runs differ");
    }
}

#[test]
fn another_seed_is_another_connection() {
    let scenario = parse("\"1 bdp\"", &(flow("quinn:cubic", "") + "[record]\npackets = true\n"));
    let plan = scenario.expect("a scenario").plan;
    let packets = |seed| {
        let plan = selfclock_simulator::plan::Plan { seed, ..plan.clone() };
        format!("{:?}", Simulation::new(&plan).run().expect("a run").packets)
    };
    // The numbers of packets that the stacks leave out on purpose are drawn, and so are lengths of
    // padding.
    assert!(packets(1) != packets(2));
}

/// The share of data in what crosses the bottleneck. The handshake (six datagrams),
/// acknowledgements of the sender and the packets that are not full make it less: 1 % is room for
/// 300 of 30,000.
#[test]
fn the_wire_carries_the_share_of_data_that_the_headers_leave() {
    for control in CONTROLS {
        let outcome = run("\"unlimited\"", &flow(control, "traffic = { size = \"20 MB\" }"));
        let (flow, link) = (&outcome.summary.flows[0], &outcome.summary.links[0]);
        assert_eq!(flow.delivered_bytes, 20_000_000, "{control}");
        assert_eq!(link.drops, 0);
        let share = flow.delivered_bytes as f64 / link.bytes as f64;
        assert!(share < MOST_DATA / WIRE && share > 0.99 * LEAST_DATA / WIRE, "{control}: {share}");
    }
}

/// Initial and its answer take a round trip; data leaves with the client's Finished, and its
/// acknowledgement comes a round trip later, at most 25 ms delayed (RFC 9000, section 18.2). The
/// path alone takes 40 ms; of its links the slowest takes 0.6 ms for a full datagram, of which each
/// way carries two at most before the data is acknowledged.
#[test]
fn data_is_acknowledged_two_round_trips_after_the_beginning() {
    for control in CONTROLS {
        let outcome = run("\"1 bdp\"", &flow(control, "start = \"1 s\"\ntraffic = { size = \"1 B\" }"));
        let seconds = outcome.summary.flows[0].completion_s.expect("it completes");
        assert!((0.080..0.080 + 0.025 + 0.004).contains(&seconds), "{control}: {seconds}");
        assert_eq!(outcome.summary.flows[0].retransmitted_segments, 0, "{control}");
    }
}

#[test]
fn losses_and_marks_reach_the_controller() {
    for control in ["quinn:cubic", "quinn:new_reno", "noq:cubic", "noq:new_reno", "cubic@quinn", "reno@noq"] {
        let queue = "{ discipline = \"codel\", limit = \"unlimited\" }";
        let marked = run(queue, &flow(control, "transport = { ecn = \"classic\" }"));
        let (flow_, link) = (&marked.summary.flows[0], &marked.summary.links[0]);
        assert!(link.ce_marks > 0 && link.drops == 0, "{control}: {link:?}");
        assert!(flow_.fast_retransmits > 0 && flow_.retransmitted_segments == 0, "{control}: {flow_:?}");

        let dropped = run(queue, &flow(control, ""));
        let (flow_, link) = (&dropped.summary.flows[0], &dropped.summary.links[0]);
        assert!(link.ce_marks == 0 && link.drops > 0, "{control}");
        assert!(flow_.fast_retransmits > 0 && flow_.retransmitted_segments >= link.drops, "{control}");
    }
}

/// Every discipline carries a stack beside TCP, and no packet is lost from the books.
#[test]
fn every_queue_carries_a_stack_beside_tcp() {
    let flows = flow("quinn:cubic", "") + &flow("cubic", "") + &flow("noq:new_reno", "start = \"1 s\"");
    for queue in ["drop-tail", "codel", "fq-codel", "fq-pie", "pie", "red", "dualpi2", "drr"] {
        let scenario = parse(&format!("{{ discipline = \"{queue}\" }}"), &flows);
        let mut simulation = Simulation::new(&scenario.unwrap_or_else(|error| panic!("{error}")).plan);
        while !simulation.advance(u64::MAX).expect("a run").is_finished() {}
        let (sent, in_flight) = simulation.packets_sent_and_in_flight();
        let outcome = simulation.finish();
        let dropped: u64 = outcome.summary.links.iter().map(|link| link.drops).sum();
        let shares: Vec<f64> = outcome.summary.flows.iter().map(|flow| flow.goodput_bps).collect();
        assert!(sent > in_flight + dropped, "{queue}");
        // None starves: a tenth of a third.
        assert!(shares.iter().all(|&share| share > 20e6 / 30.0), "{queue}: {shares:?}");
        assert!(shares.iter().sum::<f64>() < 20e6, "{queue}: {shares:?}");
    }
}

#[test]
fn an_application_with_a_rate_writes_at_it_and_stops() {
    for control in CONTROLS {
        let text = flow(control, "traffic = { rate = \"4 Mbps\" }\nstop = \"5 s\"");
        let outcome = run("\"1 bdp\"", &text);
        let flow = &outcome.summary.flows[0];
        // A write of 1448 bytes every 2.896 ms, the first at the start: 1727 in 5 s.
        assert_eq!(flow.delivered_bytes, 1727 * 1448, "{control}");
        assert!(flow.completion_s.is_some_and(|seconds| (5.0..5.2).contains(&seconds)), "{control}");
    }
}

/// Frames of a video at 4.8 Mbit/s: 18 segments of 1448 bytes every 43.4 ms, which are 18 full
/// datagrams and one more.
///
/// The pacers of both stacks fill their buckets of ten packets only when they are empty, and then
/// for all the time since they last were: 20 packets leave at once, so no frame is ever paced. They
/// arrive at the bottleneck at 1 Gbit/s, and packet i waits for the i - 1 before it, 0.588 ms each.
#[test]
fn an_application_limited_flow_is_never_paced_by_its_window() {
    const FULL: f64 = 18.0;
    let wait = |packets: f64| 0.5 * (packets - 1.0) * (1500.0 * 8.0 / 20e6 - 1500.0 * 8.0 / 1e9);
    let traffic = "traffic = { rate = \"4.8 Mbps\", write = \"25 kB\" }\n";
    let queue = |control: &str, rest: &str| {
        let outcome = run("\"4 bdp\"", &flow(control, &format!("{traffic}{rest}")));
        let (flow, link) = (&outcome.summary.flows[0], &outcome.summary.links[0]);
        // 231 frames of 18 segments in 10 s, one each 43.44 ms, the last of them on its way.
        assert!((229 * 26_064..=231 * 26_064).contains(&flow.delivered_bytes), "{control}: {flow:?}");
        link.queue_mean_s
    };
    for control in ["quinn:cubic", "quinn:bbr", "quinn:new_reno", "noq:cubic", "noq:new_reno", "cubic@quinn"]
    {
        let found = queue(control, "");
        // The packet that is not full waits longest; the first round trips have smaller bursts.
        assert!((0.95 * wait(FULL)..wait(FULL + 1.5)).contains(&found), "{control}: {found}");
    }
    // RFC 9002, section 7.7: bursts should not exceed the initial window, ten packets. BBRv3 of our
    // TCP, which paces by its rate, keeps its queue below what bursts of ten would make.
    let by_rate = queue("bbr3", "");
    assert!(by_rate < wait(10.0), "{by_rate}");
}

#[test]
fn a_run_with_a_stack_is_not_copied() {
    let plan = parse("\"1 bdp\"", &flow("quinn:cubic", "")).expect("a scenario").plan;
    let mut run = Simulation::new(&plan);
    run.advance(100).expect("it runs");
    assert!(run.fork_to(&plan).is_err());
    let stopped = run.fork().run().expect_err("a copy has no stack").to_string();
    assert!(stopped.contains("cannot be copied"), "{stopped}");
}

#[test]
fn what_a_stack_cannot_do_is_refused_in_one_line() {
    for (text, said, key) in [
        ("stack = \"quin\"", "unknown stack \"quin\"", "flow[0].stack"),
        (
            "congestion_control = \"quinn:bbr2\"",
            "quinn has no congestion controller \"bbr2\"",
            "congestion_control",
        ),
        ("congestion_control = \"noq:bbr\"", "takes no seed, so two runs would differ", "congestion_control"),
        ("congestion_control = \"quin:cubic\"", "unknown stack \"quin\"", "congestion_control"),
        ("congestion_control = \"cubic@quin\"", "unknown stack \"quin\"", "congestion_control"),
        (
            "stack = \"noq\"\ncongestion_control = \"quinn:bbr\"",
            "names quinn, and the flow's stack is noq",
            "congestion_control",
        ),
        ("stack = \"quinn\"\nprotocol = \"udp\"", "a stack sends QUIC", "protocol"),
        ("stack = \"quinn\"\ngroup = \"a\"", "not allowed here", "group"),
        ("stack = \"quinn\"\ntransport = { mss = \"1000 B\" }", "leaves 1024 bytes", "transport.mss"),
        ("stack = \"quinn\"\ntransport = { recovery = \"sack\" }", "not allowed here", "transport.recovery"),
        ("stack = \"quinn\"\ntransport = { ecn = \"accurate\" }", "not how many", "transport.ecn"),
        (
            "stack = \"quinn\"\ntraffic = { load = \"1 Mbps\", size = \"30 kB\" }",
            "short connections are TCP",
            "traffic.load",
        ),
        ("congestion_control = \"bbr3@quinn\"", "pac", "congestion_control"),
        ("congestion_control = \"packet-pair@noq\"", "packet-pair", "congestion_control"),
        ("congestion_control = \"renoo@quinn\"", "'renoo'", "congestion_control"),
    ] {
        let error = parse("\"1 bdp\"", &format!("[[flow]]\n{text}\n")).map(|_| ()).expect_err(text);
        assert!(error.to_string().contains(said), "{error}");
        assert!(error.key.ends_with(key) && error.line().is_some(), "{error}");
    }
}
