//! The network of a scenario, as JSON text.

use selfclock_simulator::named::Named as _;
use selfclock_simulator::plan::{FlowPlan, LinkPlan, Plan, Protocol, QueueLimit};
use serde_json::{Value as Json, json};

/// Nodes, links and flows of a plan. Nodes and links are named by their index.
pub fn network(plan: &Plan) -> Json {
    let mechanisms = |index: usize| -> Vec<&str> {
        let before = plan.routers.iter().filter(|router| router.links.contains(&index));
        before.map(|router| router.mechanism.entry().name).collect()
    };
    json!({
        "nodes": plan.nodes.iter().collect::<Vec<_>>(),
        "links": plan.links.iter().enumerate().map(|(at, each)| link(each, mechanisms(at))).collect::<Vec<_>>(),
        "flows": plan.flows.iter().map(flow).collect::<Vec<_>>(),
    })
}

fn link(link: &LinkPlan, mechanisms: Vec<&str>) -> Json {
    let (limit_packets, limit_bytes) = match link.queue {
        QueueLimit::Unlimited => (None, None),
        QueueLimit::Packets(packets) => (Some(packets), None),
        QueueLimit::Bytes(bytes) => (None, Some(bytes.get())),
    };
    let changes = link
        .changes
        .iter()
        .map(|change| (change.at.seconds(), change.rate.bits_per_second(), change.delay.seconds()));
    json!({
        "name": link.name,
        "start": link.from,
        "end": link.to,
        "rate_bps": link.rate.bits_per_second(),
        "delay_s": link.delay.seconds(),
        "discipline": link.discipline.entry().name,
        "limit_packets": limit_packets,
        "limit_bytes": limit_bytes,
        "counts_packet_in_service": link.counts_packet_in_service,
        "trace": link.trace.is_some(),
        "jitter_s": link.jitter.seconds(),
        "changes": changes.collect::<Vec<_>>(),
        "mechanisms": mechanisms,
    })
}

fn flow(flow: &FlowPlan) -> Json {
    json!({
        "name": flow.name,
        "algorithm": flow.algorithm().unwrap_or("udp"),
        "start": flow.from,
        "end": flow.to,
        "forward": flow.forward,
        "reverse": flow.reverse,
        "connections": matches!(flow.protocol, Protocol::Connections(_)),
    })
}
