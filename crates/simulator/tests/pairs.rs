//! Laws for every pair of a queue discipline and a router mechanism, by counting: at random a pair
//! and the setting that it needs seldom meet.

use selfclock_simulator::Simulation;
use selfclock_simulator::named::Named;
use selfclock_simulator::plan::{DisciplinePlan, MechanismPlan};
use selfclock_simulator::scenario::Scenario;

/// The mechanisms, each with settings that make it act on 1 Mbit/s.
const MECHANISMS: [&str; 11] = [
    "mechanism = \"policer\"\nrate = \"0.9 Mbps\"\nburst = \"4500 B\"\nlinks = [\"bottleneck\"]",
    "mechanism = \"loss\"\nkinds = [\"data\"]\nevery = 37\nlinks = [\"bottleneck\"]",
    "mechanism = \"reordering\"\nprobability = 0.1\ndelay = \"7 ms\"\nlinks = [\"bottleneck\"]",
    "mechanism = \"tampering\"\nprobability = 0.1\nreceive_window = \"20 kB\"\nlinks = [\"bottleneck\", \"reverse\"]",
    "mechanism = \"ficcrd\"\nnodes = [\"left\", \"right\"]",
    "mechanism = \"xcp\"\nlinks = [\"bottleneck\", \"reverse\"]",
    "mechanism = \"csfq\"\nlinks = [\"bottleneck\"]",
    "mechanism = \"quick-start\"",
    "mechanism = \"ecn-rewriting\"\nof = [\"not-ect\"]\nto = \"ect(0)\"\nlinks = [\"bottleneck\"]",
    "mechanism = \"ack-thinning\"\ninterval = \"20 ms\"\nlinks = [\"reverse\"]",
    "mechanism = \"forwarding-limit\"\npackets_per_second = 90.0\nlimit = \"9 packets\"\nlinks = [\"bottleneck\"]",
];

/// The scenario of a pair, and its seed.
fn pair(discipline: &str, mechanism: &str, (limit, counts, record): (&str, &str, &str), seed: u64) -> String {
    let control = if mechanism.contains("xcp") { "xcp" } else { "cubic" };
    // A change of the rate in the middle.
    let changes = "changes = [{ at = \"3 s\", rate = \"1.7 Mbps\" }]";
    let changes = if seed % 2 == 1 { format!(", {changes}") } else { String::new() };
    format!(
        "schema = 1\nduration = \"6 s\"\nseed = {seed}\n[record]\n{record}\n[network]\ntopology = \"dumbbell\"\n\
         bottleneck = {{ rate = \"1 Mbps\", delay = \"8 ms\", queue_counts = \"{counts}\", \
         queue = {{ discipline = \"{discipline}\", limit = \"{limit}\" }}{changes} }}\n\
         reverse = {{ rate = \"2 Mbps\", delay = \"8 ms\", queue = \"unlimited\" }}\n\
         access = {{ rate = \"2 Mbps\", delay = \"1 ms\" }}\n\
         [[router]]\n{mechanism}\n\
         [[flow]]\ncongestion_control = \"{control}\"\ntransport = {{ recovery = \"reno\" }}\nstart = \"51 ms\"\n\
         [[flow]]\nprotocol = \"udp\"\nstart = \"1 s\"\nstop = \"5 s\"\ntraffic = {{ rate = \"400 kbps\", arrivals = \"poisson\", packet = \"500 B\" }}\n"
    )
}

/// The summary of a scenario, to the bit, but for the number of events.
fn summary(text: &str) -> String {
    let plan = Scenario::parse(text, "pair.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}")).plan;
    let mut summary = Simulation::new(&plan).run().expect("nothing stops the run").summary;
    summary.events = 0;
    format!("{summary:?}")
}

fn each_pair(check: impl Fn(&str, &str, u64)) {
    assert_eq!(MechanismPlan::all().count(), MECHANISMS.len());
    for discipline in DisciplinePlan::all() {
        for mechanism in MECHANISMS {
            for seed in 26..28 {
                check(discipline.entry().name, mechanism, seed);
            }
        }
    }
}

/// Samples only look. A sample served the packets that a later update of PIE should have seen
/// waiting, wherever a mechanism dropped a packet: the run depended on the interval.
#[test]
fn an_interval_changes_nothing() {
    each_pair(|discipline, mechanism, seed| {
        let of = |record| summary(&pair(discipline, mechanism, ("unlimited", "waiting", record), seed));
        let expected = of("interval = \"off\"");
        for record in ["interval = \"1 ms\"", "interval = \"17 ms\"", "interval = \"off\"\npackets = true"] {
            assert!(of(record) == expected, "{discipline}, {mechanism}, seed {seed}: {record}");
        }
    });
}

/// Four packets that wait and five in the system are one limit. CSFQ and FICCRD asked for the room
/// in a queue without its packet in service.
#[test]
fn five_in_the_system_are_four_that_wait() {
    each_pair(|discipline, mechanism, seed| {
        let of = |limit, counts| {
            summary(&pair(discipline, mechanism, (limit, counts, "interval = \"off\""), seed))
        };
        assert!(
            of("4 packets", "waiting") == of("5 packets", "in-system"),
            "{discipline}, {mechanism}, seed {seed}"
        );
    });
}

/// A packet that need not wait needs no place: packets of 1500 B at an eighth of the rate pass a
/// limit of 1000 B under every discipline. Only drop-tail let them pass.
#[test]
fn an_idle_transmitter_takes_every_packet() {
    for discipline in DisciplinePlan::all() {
        let name = discipline.entry().name;
        for counts in ["waiting", "in-system"] {
            let text = format!(
                "schema = 1\nduration = \"2 s\"\n[network]\ntopology = \"dumbbell\"\n\
                 bottleneck = {{ rate = \"8 Mbps\", delay = \"8 ms\", queue_counts = \"{counts}\", \
                 queue = {{ discipline = \"{name}\", limit = \"1000 B\" }} }}\n\
                 access = {{ rate = \"1 Gbps\", delay = \"1 ms\" }}\n\
                 [[flow]]\nprotocol = \"udp\"\ntraffic = {{ rate = \"1 Mbps\" }}\n"
            );
            let plan =
                Scenario::parse(&text, "idle.toml", &[]).unwrap_or_else(|error| panic!("{error}")).plan;
            let link = Simulation::new(&plan).run().expect("nothing stops the run").summary.links[0].clone();
            // 2 Mbit in packets of 12,000 bits.
            assert_eq!((link.packets, link.drops), (167, 0), "{name}, {counts}");
        }
    }
}
