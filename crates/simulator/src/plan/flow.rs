//! Flows: source, destination, time and protocol.

use super::Name;
use super::traffic::{SizeDistribution, Source, UdpPlan};
use super::transport::{Ecn, Transport};
use crate::shared::Shared;
use crate::stack::{Setup, Stack, StackControl};
use selfclock_congestion::registry::Selection;
use selfclock_congestion::units::{Bytes, Duration, Time};

/// A flow from one node to another.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// Name in records.
    pub name: Name,
    /// Index of the node that sends data.
    pub from: usize,
    /// Index of the node that receives it.
    pub to: usize,
    /// Links that data takes.
    pub forward: Vec<usize>,
    /// Links that acknowledgements and replies take; empty for UDP.
    pub reverse: Vec<usize>,
    /// Whether other paths are as short as the one that data takes because it is the first of them.
    pub passes_equals: bool,
    /// When it starts.
    pub start: Time,
    /// An additional uniform random delay of the start, in [0, start_jitter).
    pub start_jitter: Duration,
    /// When the application stops producing data; [`Time::NEVER`] for the end of the run.
    pub stop: Time,
    /// Differentiated services codepoint of its packets.
    pub dscp: u8,
    /// TCP, UDP, or a foreign stack.
    pub protocol: Protocol,
}

impl FlowPlan {
    /// Name of the algorithm in records; `None` for UDP.
    pub fn algorithm(&self) -> Option<&str> {
        match &self.protocol {
            Protocol::Stack(stack) => Some(&stack.control_name),
            protocol => protocol.tcp().map(|tcp| tcp.control_name.as_str()),
        }
    }
}

/// How a flow sends.
#[derive(Clone, Debug)]
pub enum Protocol {
    /// TCP.
    Tcp(Shared<TcpPlan>),
    /// Short-lived TCP connections.
    Connections(Box<ConnectionsPlan>),
    /// UDP.
    Udp(Box<UdpPlan>),
    /// A connection of a foreign stack.
    Stack(Box<StackPlan>),
}

impl Protocol {
    /// Settings of its TCP connections; `None` for UDP and foreign stacks.
    pub fn tcp(&self) -> Option<&TcpPlan> {
        match self {
            Self::Tcp(tcp) => Some(tcp),
            Self::Connections(connections) => Some(&connections.tcp),
            Self::Udp(_) | Self::Stack(_) => None,
        }
    }

    /// Whether receivers send, so that there is a route back.
    pub fn answers(&self) -> bool {
        !matches!(self, Self::Udp(_))
    }
}

/// A TCP connection.
#[derive(Clone, Debug)]
pub struct TcpPlan {
    /// Start and window algorithm with their parameters.
    pub control: Selection,
    /// Name of the algorithm in records: "reno", or "reno+packet-pair" for window and start.
    pub control_name: String,
    /// The application's data.
    pub source: Source,
    /// Transport settings.
    pub transport: Transport,
}

/// Short TCP connections between the same two nodes, like those of a web server. They start
/// independently, as a Poisson process.
#[derive(Clone, Debug)]
pub struct ConnectionsPlan {
    /// Settings of each connection; its source is replaced by a size.
    pub tcp: TcpPlan,
    /// Mean time between starts.
    pub interval: Duration,
    /// Payload of each.
    pub size: SizeDistribution,
}

/// A connection of a foreign stack.
#[derive(Clone, Debug)]
pub struct StackPlan {
    /// The stack.
    pub stack: &'static dyn Stack,
    /// The algorithm that controls the window.
    pub control: StackControl,
    /// Name of the algorithm in records: "quinn:bbr" for one of the stack's, "cubic@quinn" for one
    /// of selfclock's in it.
    pub control_name: String,
    /// The application's data.
    pub source: Source,
    /// Segment of the application's writes: a source with a rate writes one, or a whole number.
    pub segment: Bytes,
    /// Largest UDP payload, bytes.
    pub datagram: u16,
    /// Receive buffer.
    pub receive_window: Bytes,
    /// Off: datagrams carry no ECN codepoint, whatever the stack sets.
    pub ecn: Ecn,
}

impl StackPlan {
    /// The connection that begins at `start` and draws from `seed`.
    pub fn setup(&self, seed: u64, start: Time) -> Setup<'_> {
        let receive_window = self.receive_window.get();
        Setup { control: &self.control, seed, start, datagram: self.datagram, receive_window }
    }
}
