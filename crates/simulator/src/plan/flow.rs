//! Flows: from where to where, when, and by which protocol.

use super::Name;
use super::traffic::{SizeDistribution, Source, UdpPlan};
use super::transport::Transport;
use crate::shared::Shared;
use selfclock_congestion::registry::Selection;
use selfclock_congestion::units::{Duration, Time};

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
    /// Links that acknowledgements take; empty for UDP.
    pub reverse: Vec<usize>,
    /// When it starts.
    pub start: Time,
    /// A further uniform random delay of the start, in [0, start_jitter).
    pub start_jitter: Duration,
    /// When the application stops producing data; [`Time::NEVER`]: at the end of the run.
    pub stop: Time,
    /// Differentiated services codepoint of its packets.
    pub dscp: u8,
    /// TCP or UDP.
    pub protocol: Protocol,
}

impl FlowPlan {
    /// Name of the algorithm in records; `None` for UDP.
    pub fn algorithm(&self) -> Option<&str> {
        self.protocol.tcp().map(|tcp| tcp.control_name.as_str())
    }
}

/// How a flow sends.
#[derive(Clone, Debug)]
pub enum Protocol {
    /// TCP.
    Tcp(Shared<TcpPlan>),
    /// Short TCP connections that come and go.
    Connections(Box<ConnectionsPlan>),
    /// UDP.
    Udp(Box<UdpPlan>),
}

impl Protocol {
    /// Settings of its TCP connections; `None` for UDP.
    pub fn tcp(&self) -> Option<&TcpPlan> {
        match self {
            Self::Tcp(tcp) => Some(tcp),
            Self::Connections(connections) => Some(&connections.tcp),
            Self::Udp(_) => None,
        }
    }
}

/// A TCP connection.
#[derive(Clone, Debug)]
pub struct TcpPlan {
    /// Start and window with their parameters.
    pub control: Selection,
    /// Name of the algorithm in records: "reno", or "reno+packet-pair" for window and start.
    pub control_name: String,
    /// What the application has to send.
    pub source: Source,
    /// Transport settings.
    pub transport: Transport,
}

/// Short TCP connections between the same two nodes, as a web server has them. They start at random, independently of each
/// other: a Poisson process. Each is a connection of its own.
#[derive(Clone, Debug)]
pub struct ConnectionsPlan {
    /// Settings of each connection; its source is replaced by a size.
    pub tcp: TcpPlan,
    /// Mean time from the start of one to the start of the next.
    pub interval: Duration,
    /// Payload of each.
    pub size: SizeDistribution,
}
