//! The network of a valid scenario, for figures and tables: links, paths, packet sizes.

use crate::graph::layout::Layout;
use crate::named::Named as _;
use crate::plan::{FlowPlan, LinkPlan, Plan, Protocol, QueueLimit, TcpPlan};
use crate::stack::UDP_HEADER;
use selfclock_congestion::units::{Duration, Time};
use serde_json::{Value, json};

/// Bytes of the timestamps option with its padding (RFC 7323, appendix A).
const TIMESTAMPS: u64 = 12;

/// Nodes, links, flows and their layout as JSON; flows and cables name links by index. The layout
/// is null for a network that is too large to draw.
pub fn network(plan: &Plan) -> Value {
    let links: Vec<Value> = (0..plan.links.len()).map(|index| link(plan, index)).collect();
    let flows: Vec<Value> = plan.flows.iter().map(|each| flow(plan, each)).collect();
    json!({ "nodes": *plan.nodes, "links": links, "flows": flows, "layout": Layout::of(plan) })
}

fn link(plan: &Plan, index: usize) -> Value {
    let link: &LinkPlan = &plan.links[index];
    let (packets, bytes) = match link.queue {
        QueueLimit::Unlimited => (None, None),
        QueueLimit::Packets(packets) => (Some(packets), None),
        QueueLimit::Bytes(bytes) => (None, Some(bytes.get())),
    };
    let changes = link
        .changes
        .iter()
        .map(|change| (change.at.seconds(), change.rate.bits_per_second(), change.delay.seconds()));
    let mechanisms = plan.routers.iter().filter(|router| router.links.contains(&index));
    json!({
        "name": link.name,
        "from": plan.nodes[link.from],
        "to": plan.nodes[link.to],
        "rate_bps": link.rate.bits_per_second(),
        "delay_s": link.delay.seconds(),
        "limit_packets": packets,
        "limit_bytes": bytes,
        "discipline": link.discipline.entry().name,
        "marks": link.discipline.marks(),
        "constant": link.changes.is_empty() && link.trace.is_none() && link.burst.is_none(),
        "trace": link.trace.is_some(),
        "jitter_s": link.jitter.seconds(),
        "changes": changes.collect::<Vec<_>>(),
        "mechanisms": mechanisms.map(|router| router.mechanism.entry().name).collect::<Vec<_>>(),
    })
}

fn flow(plan: &Plan, flow: &FlowPlan) -> Value {
    let delay = |links: &[usize]| {
        links.iter().fold(Duration::ZERO, |sum, &link| sum + plan.links[link].delay).seconds()
    };
    let (payload, packet) = match &flow.protocol {
        Protocol::Stack(stack) => {
            let datagram = u64::from(stack.datagram);
            (Some(datagram), Some(datagram + u64::from(UDP_HEADER)))
        }
        protocol => protocol.tcp().map_or((None, None), sizes),
    };
    let offered: &[_] = if let Protocol::Udp(udp) = &flow.protocol { &udp.rates } else { &[] };
    let offered: Vec<_> = offered
        .iter()
        .map(|(from, rate)| (flow.start.max(*from).seconds(), rate.bits_per_second()))
        .collect();
    json!({
        "name": flow.name,
        "algorithm": flow.algorithm().unwrap_or("udp"),
        "forward": flow.forward,
        "reverse": flow.reverse,
        "delay_s": delay(&flow.forward) + delay(&flow.reverse),
        "start_s": flow.start.seconds(),
        "stop_s": flow.stop.min(Time::ZERO + plan.duration).seconds(),
        "offered": offered,
        "payload_bytes": payload,
        "packet_bytes": packet,
        "connections": matches!(flow.protocol, Protocol::Connections(_)),
    })
}

/// Payload of a full segment, and its size on the wire.
fn sizes(tcp: &TcpPlan) -> (Option<u64>, Option<u64>) {
    let transport = &tcp.transport;
    let options = if transport.timestamps { TIMESTAMPS } else { 0 };
    (Some(transport.mss.get()), Some(transport.mss.get() + transport.header.get() + options))
}
