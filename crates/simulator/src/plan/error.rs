//! Why there is no plan.

use selfclock_congestion::registry::LabelError;
use selfclock_congestion::units::{Bytes, Duration};

/// Reasons why a run is impossible. A scenario file shows it at its line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// No algorithm has this label.
    #[error(transparent)]
    Label(#[from] LabelError),
    /// No node has this name.
    #[error("unknown node {0:?}")]
    UnknownNode(String),
    /// Two nodes, links or flows have one name.
    #[error("a second {what} {name:?}")]
    Twice {
        /// "node", "link" or "flow".
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Both ends of a link or a flow are the same node.
    #[error("a {0} from a node to itself")]
    ToItself(&'static str),
    /// A flow of a graph does not say where it begins or ends.
    #[error("missing key {0:?}")]
    NoEnd(&'static str),
    /// No links lead from one end of a flow to the other.
    #[error("no route from {from:?} to {to:?}{}", if *.acks { " for acknowledgements" } else { "" })]
    NoRoute {
        /// The node where the route begins.
        from: String,
        /// The node where it ends.
        to: String,
        /// It is the route of acknowledgements.
        acks: bool,
    },
    /// Packets go on from a network card that coalesces, where later ones would overtake them.
    #[error("flow {flow:?} goes on beyond link {link:?}, at whose end packets are coalesced")]
    Coalescing {
        /// Name of the flow.
        flow: String,
        /// Name of the link.
        link: String,
    },
    /// A rate of zero never delivers a packet.
    #[error("a rate must be above zero")]
    NoRate,
    /// The queue has no room for anything.
    #[error("a queue must hold something")]
    NoQueue,
    /// The access links alone take longer than the round trip.
    #[error("the access links take {access:?} of a round trip of {rtt:?}")]
    Access {
        /// Round-trip time on the access links.
        access: Duration,
        /// Round-trip time of the whole path.
        rtt: Duration,
    },
    /// A part that this kind of network does not have.
    #[error("{what} in another network than {network}")]
    Misplaced {
        /// The part.
        what: &'static str,
        /// The network that has one.
        network: &'static str,
    },
    /// A parking lot without a bottleneck.
    #[error("a parking lot needs a hop")]
    NoHops,
    /// The run lasts no time, or longer than a time can be written.
    #[error("a run takes some time, and at most 106 days")]
    Duration,
    /// The samples of a series would all be of one instant.
    #[error("an interval must be above zero")]
    NoInterval,
    /// A flow ends no later than it starts.
    #[error("stops before it starts")]
    StopsFirst,
    /// An algorithm ignores the marks that its transport asks for.
    #[error("{label} does not respond to these marks")]
    Marks {
        /// Label of the algorithm.
        label: String,
        /// It responds to accurate feedback.
        accurate: bool,
    },
    /// The flows of a group are not of an algorithm that forms groups.
    #[error("only flows of \"adaptive\" form groups")]
    NoGroups,
    /// The flows of a group have different ends.
    #[error("the flows of a group have one path")]
    GroupPaths,
    /// The receiver cannot take a segment.
    #[error("the receive window is smaller than a segment")]
    ReceiveWindow {
        /// Size of a segment.
        mss: Bytes,
    },
    /// Without timestamps nothing shows that a retransmission was spurious.
    #[error("undo needs timestamps")]
    Undo,
    /// The bounds of the retransmission timer leave nothing between them.
    #[error("maximum {maximum:?} is below minimum {minimum:?}")]
    TimerBounds {
        /// Largest value.
        maximum: Duration,
        /// Smallest value.
        minimum: Duration,
    },
    /// The timer counts ticks of no length.
    #[error("arithmetic \"bsd\" counts ticks of the granularity, which is zero")]
    TimerTicks,
}

impl PlanError {
    /// Allowed values, in the words of a scenario file; may be empty.
    pub fn help(&self) -> String {
        let help = match self {
            Self::ReceiveWindow { mss } => return format!("at least {} B, one segment", mss.get()),
            Self::NoEnd(_) => "in a graph a flow has no default",
            Self::Coalescing { .. } => "a host with coalescing can be the end of a route, not a stop on it",
            Self::StopsFirst => "stop must be later than start",
            Self::Marks { accurate: true, .. } => "it takes ecn = \"accurate\" or \"off\"",
            Self::Marks { accurate: false, .. } => "it takes ecn = \"off\"",
            Self::GroupPaths => "write from and to, or hosts = 1 in a dumbbell",
            Self::Undo => "write timestamps = true, or undo = false",
            Self::TimerTicks => "give granularity a value, or take arithmetic = \"rfc6298\"",
            Self::Twice { what: "link", .. } => "give each link its own name",
            _ => "",
        };
        help.to_owned()
    }
}
