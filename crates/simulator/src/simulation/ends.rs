//! The two ends of a flow.

use crate::engine::Stream;
use crate::engine::random::Purpose;
use crate::network::FlowRoutes;
use crate::plan::{Plan, Protocol, TcpPlan};
use crate::record::series::Sampling;
use crate::transport::connections::ConnectionSource;
use crate::transport::foreign::{self, StackReceiver, StackSender};
use crate::transport::runaway;
use crate::transport::udp::{UdpSink, UdpSource};
use crate::transport::{Context, Receiver, Sender};
use selfclock_congestion::units::Time;

/// The sending end of a flow. Not boxed: nearly every flow is TCP, and a pointer would cost every
/// ACK.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)]
pub(super) enum SendingEnd {
    Tcp(Sender),
    Connections(Box<ConnectionSource>),
    Udp(UdpSource),
    Stack(Box<StackSender>),
}

impl SendingEnd {
    /// The sender of a flow that is one TCP connection.
    pub fn tcp(&self) -> Option<&Sender> {
        match self {
            Self::Tcp(sender) => Some(sender),
            Self::Udp(_) | Self::Connections(_) | Self::Stack(_) => None,
        }
    }

    /// Sets the timer that begins the flow.
    pub fn begin(&mut self, context: &mut Context<'_>, start: Time) {
        match self {
            Self::Tcp(sender) => sender.schedule_start(context, start),
            Self::Connections(source) => source.begin(context, start),
            Self::Udp(source) => source.begin(context, start),
            Self::Stack(sender) => sender.schedule_start(context, start),
        }
    }
}

/// The receiving end of a flow.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)]
pub(super) enum ReceivingEnd {
    Tcp(Receiver),
    /// Each connection has its own.
    Connections,
    Udp(UdpSink),
    Stack(Box<StackReceiver>),
}

/// The ends of a flow of the plan that is one TCP connection, without the timer that begins it.
pub(super) fn tcp_ends(
    plan: &Plan,
    tcp: &TcpPlan,
    index: usize,
    routes: FlowRoutes,
    start: Time,
    sampling: Option<Sampling>,
) -> (Sender, Receiver) {
    let (flow, number) = (&plan.flows[index], index as u32);
    let control_seed = Stream::new(plan.seed, Purpose::FlowControl, index).bits();
    let mut sender = Sender::new(number, routes, tcp, (start, flow.stop), control_seed, sampling);
    sender.limit_in_flight(runaway::most_in_flight(plan, flow));
    (sender, Receiver::new(number, routes, tcp).observed(plan.measure_from, plan.measure_delays))
}

/// The ends of a flow of the plan, without the timer that begins it.
pub(super) fn ends(
    plan: &Plan,
    index: usize,
    routes: FlowRoutes,
    start: Time,
    sampling: Option<Sampling>,
) -> (SendingEnd, ReceivingEnd) {
    let (flow, number) = (&plan.flows[index], index as u32);
    match &flow.protocol {
        Protocol::Tcp(tcp) => {
            let (sender, receiver) = tcp_ends(plan, tcp, index, routes, start, sampling);
            (SendingEnd::Tcp(sender), ReceivingEnd::Tcp(receiver))
        }
        Protocol::Connections(each) => {
            let most = runaway::most_in_flight(plan, flow);
            let source = ConnectionSource::new(number, routes, each, plan.seed, flow.stop, most);
            (SendingEnd::Connections(Box::new(source)), ReceivingEnd::Connections)
        }
        Protocol::Udp(udp) => {
            let source = UdpSource::new(number, routes.forward, udp, plan.seed, flow.stop);
            (SendingEnd::Udp(source), ReceivingEnd::Udp(UdpSink::new(plan.measure_from, plan.measure_delays)))
        }
        Protocol::Stack(stack) => {
            let seed = Stream::new(plan.seed, Purpose::FlowControl, index).bits();
            let times = (start, flow.stop);
            let (sender, receiver) = foreign::ends(stack, (number, routes), times, seed, sampling);
            let receiver = receiver.observed(plan.measure_from, plan.measure_delays);
            (SendingEnd::Stack(Box::new(sender)), ReceivingEnd::Stack(Box::new(receiver)))
        }
    }
}
