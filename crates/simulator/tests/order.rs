//! The order of events at equal times is a property of the network, whatever the engine computes
//! first.

mod common;
#[path = "common/meeting.rs"]
pub mod meeting;

use common::run;
use meeting::{plan, scenarios};
use proptest::prelude::*;
use selfclock_congestion::units::{Duration, Time};
use selfclock_simulator::Outcome;
use selfclock_simulator::plan::{Plan, Protocol};
use selfclock_simulator::record::series::Column;

/// The same with a silent flow across each link: every link then has several sources, so nothing is
/// computed ahead of the clock, and each packet is a separate event at each link.
fn with_every_stop(plan: &Plan) -> Plan {
    let mut stopping = plan.clone();
    let tcp = plan.flows.iter().find(|flow| matches!(flow.protocol, Protocol::Tcp(_)));
    let Some(idle) = tcp.or_else(|| plan.flows.first()) else { return stopping };
    for link in 0..plan.links.len() {
        let mut flow = idle.clone();
        (flow.forward, flow.reverse) = (vec![link], vec![link]);
        (flow.start, flow.start_jitter) = (Time::NEVER, Duration::ZERO);
        stopping.flows.push(flow);
    }
    stopping
}

/// Results of the first flows and all links, except the number of events.
fn bytes_of(outcome: &Outcome, flows: usize) -> String {
    let Outcome { summary, flow_series, link_series, .. } = outcome;
    let columns = flow_series.columns();
    let samples = columns.flow.iter().filter(|&&flow| (flow as usize) < flows).count();
    let of_flows: Vec<_> = columns
        .quantities()
        .into_iter()
        .map(|(name, column)| match column {
            Column::Reals(values) => format!("{name} {:?}", &values[..samples]),
            Column::Counts(values) => format!("{name} {:?}", &values[..samples]),
            Column::Phases(values) => format!("{name} {:?}", &values[..samples]),
        })
        .collect();
    format!("{:?}\n{:?}\n{of_flows:?}\n{link_series:?}", &summary.flows[..flows], summary.links)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn what_is_computed_ahead_has_its_place(text in scenarios()) {
        let plan = plan(&text);
        let flows = plan.flows.len();
        let (ahead, stopping) = (run(&plan), run(&with_every_stop(&plan)));
        prop_assert!(ahead.summary.events <= stopping.summary.events);
        prop_assert!(bytes_of(&ahead, flows) == bytes_of(&stopping, flows), "of\n{text}");
    }
}

/// Two senders at equal distance from a queue of one place, whose packets reach it at the same
/// times. The link that comes first in the plan comes first each time; the engine's starting point
/// does not matter.
fn two_that_meet(links: [&str; 2], flows: [&str; 2]) -> Vec<(String, u64)> {
    let wire = "rate = \"80 Mbps\"\ndelay = \"1 ms\"\nqueue = \"unlimited\"\n";
    let mut text = String::from(
        "schema = 1\nduration = \"1 s\"\n[network]\ntopology = \"graph\"\nnodes = [\"a\", \"b\", \"r\", \"z\"]\n",
    );
    for node in links {
        text += &format!("[[network.link]]\nfrom = \"{node}\"\nto = \"r\"\n{wire}");
    }
    text += "[[network.link]]\nfrom = \"r\"\nto = \"z\"\nrate = \"8 Mbps\"\ndelay = \"1 ms\"\nqueue = \"1 packets\"\n";
    for node in flows {
        text += &format!(
            "[[flow]]\nname = \"{node}\"\nprotocol = \"udp\"\nfrom = \"{node}\"\nto = \"z\"\n\
             traffic = {{ rate = \"6 Mbps\", packet = \"1000 B\", arrivals = \"constant\" }}\n"
        );
    }
    let summary = run(&plan(&text)).summary;
    let mut delivered: Vec<_> =
        summary.flows.into_iter().map(|flow| (flow.name.to_string(), flow.delivered_segments)).collect();
    delivered.sort();
    delivered
}

#[test]
fn of_two_that_meet_the_link_of_the_plan_comes_first() {
    let first_a = two_that_meet(["a", "b"], ["a", "b"]);
    // Twelve packets in eight places: of two simultaneous packets the second is dropped.
    assert!(first_a[0].1 > first_a[1].1 + 100, "{first_a:?}");
    assert_eq!(two_that_meet(["a", "b"], ["b", "a"]), first_a);
    let first_b = two_that_meet(["b", "a"], ["a", "b"]);
    assert_eq!((first_b[0].1, first_b[1].1), (first_a[1].1, first_a[0].1));
}
