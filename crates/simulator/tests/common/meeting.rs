//! Random networks in which packets meet at equal times: whole milliseconds, rates that are
//! multiples of each other, packets of 1000 bytes and ACKs of 40.
#![allow(dead_code)]

use proptest::prelude::*;
use selfclock_simulator::plan::Plan;
use selfclock_simulator::scenario::Scenario;

/// The plan of a scenario.
pub fn plan(text: &str) -> Plan {
    Scenario::parse(text, "meeting.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}")).plan
}

prop_compose! {
    /// A link both ways.
    fn wires()(
        megabits in prop::sample::select(&[8_u64, 8, 8, 16, 80, 800][..]),
        delay in prop::sample::select(&["1 ms", "1 ms", "2 ms", "5 ms", "10 ms", "10 us"][..]),
        queue in prop::sample::select(&["8 packets", "30 packets", "20 kB", "unlimited"][..]),
        discipline in prop_oneof![
            8 => Just(""), 2 => prop::sample::select(&["codel", "fq-codel", "red", "pie", "drr", "dualpi2"][..])
        ],
        imperfection in prop_oneof![
            8 => Just(""), 1 => Just("loss = { probability = 0.01 }"), 1 => Just("jitter = \"1 ms\""),
            1 => Just("changes = [{ at = \"700 ms\", rate = \"4 Mbps\", delay = \"3 ms\" }]")
        ],
    ) -> String {
        let limit = if queue == "unlimited" && !discipline.is_empty() { "40 packets" } else { queue };
        let queue = match discipline {
            "" => format!("\"{queue}\""),
            _ => format!("{{ discipline = \"{discipline}\", limit = \"{limit}\" }}"),
        };
        format!("rate = \"{megabits} Mbps\"\ndelay = \"{delay}\"\nqueue = {queue}\n{imperfection}\n")
    }
}

prop_compose! {
    /// A flow between two of `nodes` nodes.
    fn flows(nodes: usize)(
        from in 0..nodes, step in 1..nodes,
        start in prop_oneof![2 => Just(0_u64), 1 => (0_u64..40).prop_map(|steps| 10 * steps)],
        carries in prop_oneof![
            6 => prop::sample::select(&["reno", "cubic", "bbr3", "vegas", "prague", "altcp", "packet-pair"][..])
                .prop_map(|control| format!("congestion_control = \"{control}\"")),
            1 => (1_u64..400).prop_map(|size| format!("congestion_control = \"reno\"\ntraffic = {{ size = \"{size} kB\" }}")),
            1 => prop::sample::select(&["constant", "poisson"][..])
                .prop_map(|arrivals| format!(
                    "protocol = \"udp\"\ntraffic = {{ rate = \"2 Mbps\", packet = \"1000 B\", arrivals = \"{arrivals}\" }}")),
        ],
    ) -> String {
        format!("[[flow]]\nfrom = \"n{from}\"\nto = \"n{}\"\nstart = \"{start} ms\"\n{carries}\n", (from + step) % nodes)
    }
}

prop_compose! {
    fn transports()(
        recovery in prop::sample::select(&["newreno", "sack", "rack"][..]),
        delayed_ack in prop::sample::select(&[
            "\"off\"", "{ every = 2, timer = \"40 ms\" }", "{ every = 2, timer = \"100 ms\", clock = \"grid\" }"
        ][..]),
        window in 4_u64..60,
    ) -> String {
        format!(
            "[transport]\nmss = \"960 B\"\ntimestamps = false\nrecovery = \"{recovery}\"\ndelayed_ack = {delayed_ack}\nreceive_window = \"{window} segments\"\n"
        )
    }
}

prop_compose! {
    /// A tree of nodes, optionally with one additional link, and flows across it.
    pub fn scenarios()(nodes in 2_usize..9)(
        parents in prop::collection::vec(0.0..1.0_f64, nodes - 1), wires in prop::collection::vec(wires(), nodes),
        chord in any::<bool>(), flows in prop::collection::vec(flows(nodes), 1..9), transport in transports(),
        nodes in Just(nodes), seed in 1_u64..100,
    ) -> String {
        let names: Vec<String> = (0..nodes).map(|node| format!("\"n{node}\"")).collect();
        let mut text = format!(
            "schema = 1\nseed = {seed}\nduration = \"1500 ms\"\n[record]\ninterval = \"50 ms\"\n\
             [network]\ntopology = \"graph\"\nnodes = [{}]\n", names.join(", ")
        );
        let tree = parents.iter().enumerate().map(|(index, part)| ((part * (index + 1) as f64) as usize, index + 1));
        let ring = (chord && nodes > 3).then_some((0, nodes - 1));
        let mut pairs: Vec<_> = tree.chain(ring).collect();
        pairs.sort_unstable();
        pairs.dedup();
        for ((from, to), wire) in pairs.into_iter().zip(&wires) {
            text += &format!("[[network.link]]\nfrom = \"n{from}\"\nto = \"n{to}\"\n{wire}");
        }
        text + &transport + &flows.concat()
    }
}
