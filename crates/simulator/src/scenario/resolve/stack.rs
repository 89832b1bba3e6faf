//! A flow that is a connection of a foreign stack.

use super::flow::{TcpTraffic, refuse_key, tcp_traffic};
use super::transport::transport;
use crate::plan::{Ecn, Protocol, ReceiveWindow, Source, StackPlan};
use crate::scenario::error::{Place, Problem};
use crate::scenario::layer::Layer as _;
use crate::scenario::reader::{Located, place_or};
use crate::scenario::stack::{Control, StackName};
use crate::scenario::table::flow::{FlowTable, ProtocolName};
use crate::scenario::table::traffic::Traffic;
use crate::scenario::table::transport::TransportTable;
use crate::scenario::table::{Profile, ScenarioTable};
use crate::stack::{SMALLEST_DATAGRAM, StackControl, UDP_HEADER};
use selfclock_congestion::units::Bytes;

/// Largest UDP payload: 65535 bytes of IP packet less its headers.
const LARGEST_DATAGRAM: u64 = 65_507;

/// The stack that a flow names, directly or by its algorithm.
pub fn stack_of(flow: &FlowTable) -> Option<StackName> {
    let by_control = flow.congestion_control.as_ref().and_then(|control| match &control.value {
        Control::Own(stack, _) => Some(*stack),
        Control::Ours(_, stack) => *stack,
    });
    flow.stack.as_ref().map(|stack| stack.value).or(by_control)
}

/// The connection of a flow with a stack.
pub fn stack(
    file: &ScenarioTable,
    profile: Profile,
    (flow, place): (&FlowTable, &Place),
    StackName(stack): StackName,
) -> Result<Protocol, Problem> {
    if let Some(Located { value: ProtocolName::Udp, place }) = &flow.protocol {
        return Err(place.problem("a stack sends QUIC", "leave out either protocol or stack"));
    }
    refuse_key(&flow.group, "only TCP flows form groups")?;
    if let Some(layer) = &flow.transport {
        refuse_transport(&layer.value)?;
    }
    let (control, control_name) = control(flow, stack)?;
    let layers: Vec<_> =
        [&file.transport, &flow.transport].into_iter().flatten().map(|layer| &layer.value).collect();
    let transport = transport(profile, &layers)?;
    let written = |place_of: fn(&TransportTable) -> Option<&Place>| {
        layers.iter().rev().find_map(|layer| place_of(layer)).unwrap_or(place)
    };
    if transport.ecn == Ecn::Accurate {
        let place = written(|layer| layer.ecn.as_ref().map(|ecn| &ecn.place));
        let message =
            format!("{} reports to controllers that packets were marked, not how many", stack.name());
        return Err(
            place.problem(message, "write ecn = \"classic\" or \"off\" in the transport of this flow")
        );
    }
    let options = if transport.timestamps { u64::from(crate::transport::TIMESTAMPS_OPTION) } else { 0 };
    let packet = transport.mss.get() + transport.header.get() + options;
    let datagram = packet.saturating_sub(u64::from(UDP_HEADER));
    if !(u64::from(SMALLEST_DATAGRAM)..=LARGEST_DATAGRAM).contains(&datagram) {
        let place = written(|layer| layer.mss.as_ref().map(|mss| &mss.place));
        let message = format!("leaves {datagram} bytes for a datagram of {}", stack.name());
        let least = u64::from(SMALLEST_DATAGRAM + UDP_HEADER) - transport.header.get() - options;
        return Err(place.problem(
            message,
            format!("QUIC needs {SMALLEST_DATAGRAM} (RFC 9000): an mss of {least} B or more"),
        ));
    }
    Ok(Protocol::Stack(Box::new(StackPlan {
        stack,
        control,
        control_name,
        source: source(flow)?,
        segment: transport.mss,
        datagram: datagram as u16,
        receive_window: match transport.receive_window {
            ReceiveWindow::Fixed(size) => size,
            ReceiveWindow::Auto => Bytes::MAX,
        },
        ecn: transport.ecn,
    })))
}

fn control(
    flow: &FlowTable,
    stack: &'static dyn crate::stack::Stack,
) -> Result<(StackControl, String), Problem> {
    let own = |name: &'static str| (StackControl::Own(name), format!("{}:{name}", stack.name()));
    let Some(Located { value, place }) = &flow.congestion_control else {
        return Ok(own(stack.controllers()[0]));
    };
    let other = match value {
        Control::Own(other, _) => Some(other),
        Control::Ours(_, other) => other.as_ref(),
    };
    if let Some(StackName(other)) = other.filter(|other| other.0.name() != stack.name()) {
        let message = format!("names {}, and the flow's stack is {}", other.name(), stack.name());
        return Err(place.problem(message, "name one stack"));
    }
    match value {
        Control::Own(_, name) => Ok(own(name)),
        Control::Ours(selection, _) => {
            let own: Vec<String> =
                stack.controllers().iter().map(|name| format!("{}:{name}", stack.name())).collect();
            let help = format!("its own: {}", own.join(", "));
            if selection.is_custom() {
                let message = "a user-defined algorithm runs only in the simulated TCP";
                return Err(place.problem(message, help));
            }
            stack.check(selection).map_err(|message| place.problem(message, help))?;
            Ok((StackControl::Ours(selection.clone()), format!("{}@{}", selection.label(), stack.name())))
        }
    }
}

fn source(flow: &FlowTable) -> Result<Source, Problem> {
    match &flow.traffic {
        None | Some(Located { value: Traffic::Bulk, .. }) => Ok(Source::Bulk),
        Some(Located { value: Traffic::Table(traffic), place }) => match tcp_traffic(traffic, place)? {
            TcpTraffic::One(source) => Ok(source),
            TcpTraffic::Many { .. } => {
                let place = place_or(&traffic.load, place_or(&traffic.interval, place));
                Err(place.problem("short connections are TCP", "leave out the stack, or write several flows"))
            }
        },
    }
}

/// Transport settings that a stack takes.
const TAKEN: [&str; 4] = ["mss", "header", "receive_window", "ecn"];

/// Refuses transport settings of the flow that have no meaning for QUIC. Settings for all flows
/// apply to TCP.
fn refuse_transport(layer: &TransportTable) -> Result<(), Problem> {
    match layer.written().into_iter().find(|(key, _)| !TAKEN.contains(key)) {
        Some((_, place)) => Err(place.problem(
            "not allowed here",
            "a stack takes mss, header, receive_window and ecn; the rest is its own",
        )),
        None => Ok(()),
    }
}
