//! The senders of a scenario, as needed by programs that replace them on real hosts.

use selfclock_congestion::Time;
use selfclock_simulator::plan::{Ecn, FlowPlan, Plan, Protocol, Source, TcpPlan, Transport};
use serde_json::{Value, json};

/// Sender of each flow and its settings, as JSON text.
pub fn senders(plan: &Plan) -> String {
    Value::Array(plan.flows.iter().map(sender).collect()).to_string()
}

fn sender(flow: &FlowPlan) -> Value {
    let mut document = match &flow.protocol {
        Protocol::Tcp(tcp) => settings(tcp),
        Protocol::Connections(_) => json!({ "kind": "connections" }),
        Protocol::Udp(_) => json!({ "kind": "udp" }),
        Protocol::Stack(stack) => json!({ "kind": "stack", "label": stack.control_name }),
    };
    document["name"] = json!(flow.name);
    document["start_s"] = json!(flow.start.seconds());
    document["start_jitter_s"] = json!(flow.start_jitter.seconds());
    document["stop_s"] = (flow.stop != Time::NEVER).then(|| flow.stop.seconds()).into();
    document
}

fn settings(tcp: &TcpPlan) -> Value {
    let TcpPlan { control, control_name, source, transport } = tcp;
    let Transport { mss, initial_window, timestamps, ecn, .. } = transport;
    let (bytes, rate, write) = match source {
        Source::Bulk => (None, None, None),
        Source::Size(bytes) => (Some(bytes.get()), None, None),
        Source::Rate(rate) => (None, Some(rate.bits_per_second()), None),
        Source::Writes { rate, size } => (None, Some(rate.bits_per_second()), Some(size.get())),
        Source::Steps(_) => (None, None, None),
    };
    json!({
        "kind": "tcp",
        "label": control_name,
        // Two flows with the same text have the same algorithm with the same parameters.
        "control": format!("{control:?}"),
        "bytes": bytes,
        "rate_bps": rate,
        "write_bytes": write,
        "steps": matches!(source, Source::Steps(_)),
        "payload_bytes": mss.get(),
        "initial_window": initial_window,
        "timestamps": timestamps,
        "ecn": match ecn { Ecn::Off => "off", Ecn::Classic => "classic", Ecn::Accurate => "accurate" },
    })
}
