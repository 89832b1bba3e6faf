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
    /// Two nodes, links or flows share a name.
    #[error("duplicate {what} {name:?}")]
    Twice {
        /// "node", "link" or "flow".
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Both ends of a link or a flow are the same node.
    #[error("a {0} from a node to itself")]
    ToItself(&'static str),
    /// A flow of a graph lacks its source or destination.
    #[error("missing key {0:?}")]
    NoEnd(&'static str),
    /// No links lead from one end of a flow to the other.
    #[error("no route from {from:?} to {to:?}{}", if *.acks { " for acknowledgements" } else { "" })]
    NoRoute {
        /// The node where the route begins.
        from: String,
        /// The node where it ends.
        to: String,
        /// Whether it is the route of ACKs.
        acks: bool,
    },
    /// Packets continue beyond a network card that coalesces, where later ones would overtake them.
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
    /// The queue has no room at all.
    #[error("a queue must hold something")]
    NoQueue,
    /// The access links alone exceed the round-trip time.
    #[error("the access links take {access:?} of a round trip of {rtt:?}")]
    Access {
        /// Round-trip time on the access links.
        access: Duration,
        /// Round-trip time of the whole path.
        rtt: Duration,
    },
    /// A component that this kind of network lacks.
    #[error("{what} in another network than {network}")]
    Misplaced {
        /// The part.
        what: &'static str,
        /// The kind of network that has it.
        network: &'static str,
    },
    /// A parking lot without a bottleneck.
    #[error("a parking lot needs a hop")]
    NoHops,
    /// The run has no duration, or exceeds the range of times.
    #[error("a run takes some time, and at most 106 days")]
    Duration,
    /// The time from which a run is measured is not before its end.
    #[error("is not before the end of the run")]
    MeasuresNothing,
    /// All samples of a series would be simultaneous.
    #[error("an interval must be above zero")]
    NoInterval,
    /// A flow ends no later than it starts.
    #[error("stops before it starts")]
    StopsFirst,
    /// An algorithm ignores the CE marks that its transport requests.
    #[error("{label} does not respond to these marks")]
    Marks {
        /// Label of the algorithm.
        label: String,
        /// Whether it responds to accurate feedback.
        accurate: bool,
    },
    /// The algorithm of a group's flows does not form groups.
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
    /// Nothing shows that a retransmission was spurious.
    #[error("undo needs timestamps, dsack (with recovery \"sack\" or \"rack\") or frto")]
    Undo,
    /// The retransmission timer's maximum is below its minimum.
    #[error("maximum {maximum:?} is below minimum {minimum:?}")]
    TimerBounds {
        /// Largest value.
        maximum: Duration,
        /// Smallest value.
        minimum: Duration,
    },
    /// The timer counts ticks of zero length.
    #[error("arithmetic \"bsd\" counts ticks of the granularity, which is zero")]
    TimerTicks,
}

impl PlanError {
    /// Allowed values, in scenario syntax; may be empty.
    pub fn help(&self) -> String {
        let help = match self {
            Self::ReceiveWindow { mss } => return format!("at least {} B, one segment", mss.get()),
            Self::NoEnd(_) => "in a graph a flow has no default",
            Self::Coalescing { .. } => "a host with coalescing can be the end of a route, not a stop on it",
            Self::StopsFirst => "stop must be later than start",
            Self::MeasuresNothing => "must be earlier than duration",
            Self::Marks { accurate: true, .. } => "it takes ecn = \"accurate\" or \"off\"",
            Self::Marks { accurate: false, .. } => "it takes ecn = \"off\"",
            Self::GroupPaths => "write from and to, or hosts = 1 in a dumbbell",
            Self::Undo => "write timestamps = true, dsack = true or frto = true, or undo = false",
            Self::TimerTicks => "give granularity a value, or take arithmetic = \"rfc6298\" or \"linux\"",
            Self::Twice { what: "link", .. } => "give each link its own name",
            _ => "",
        };
        help.to_owned()
    }
}
