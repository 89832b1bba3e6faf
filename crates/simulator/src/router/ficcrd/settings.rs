//! Settings of FICCRD. The defaults are those of the paper's section 3.1 where it has them.

use crate::named::settings;
use selfclock_congestion::parameter::{ABOVE_ZERO, Kind, ParameterType, Value};
use selfclock_congestion::units::{Bytes, Duration};

selfclock_congestion::choice! {
    /// Which rates count in the mean allowed rate, where Table 1 has the same line twice.
    MaprRule {
        /// The else belongs to the outer condition: above the target only rates below the mean,
        /// else all.
        OuterElse = "outer-else",
        /// All: equation 2.
        Literal = "literal",
        /// As in intelligent congestion control for ATM: above the target only rates below the
        /// mean, else only those above 7/8 of it.
        Icc = "icc",
    }
}

selfclock_congestion::choice! {
    /// How an ingress holds a source to a rate.
    Feedback {
        /// Explicit window adaptation: it lowers the window in acknowledgements.
        Window = "window",
        /// ACK bucket control: it holds acknowledgements back.
        AckBucket = "ack-bucket",
        /// Not at all.
        None = "none",
    }
}

selfclock_congestion::choice! {
    /// Which round-trip time a window is computed with.
    EdgeRtt {
        /// The smoothed one.
        Current = "current",
        /// The smallest.
        Base = "base",
    }
}

selfclock_congestion::choice! {
    /// Unit of control.
    ControlUnit {
        /// Each flow.
        Flow = "flow",
        /// All flows with one DSCP between one pair of edges.
        Class = "class",
    }
}

selfclock_congestion::choice! {
    /// When the first resource discovery packet of a loop leaves.
    FirstDiscovery {
        /// After as much data as each later one.
        Counted = "counted",
        /// With the first data packet: its rate is not known yet, but it fetches the allowed one.
        FirstData = "first-data",
        /// With the second data packet, the first with a rate.
        FirstRate = "first-rate",
    }
}

/// Bytes of data for each resource discovery packet; `None` if packets are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiscoveryBytes(pub Option<Bytes>);

impl ParameterType for DiscoveryBytes {
    const KIND: Kind = Kind::OrWord(&Kind::Bytes, "off");
    fn from_value(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Bytes(size) => Some(Self(Some(size))),
            Value::Choice(_) => Some(Self(None)),
            _ => None,
        }
    }
}

/// Maximum time between resource discovery packets of a sending flow; `None` if only counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiscoveryInterval(pub Option<Duration>);

impl ParameterType for DiscoveryInterval {
    const KIND: Kind = Kind::OrWord(&Kind::Duration, "off");
    fn from_value(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Duration(interval) => Some(Self(Some(interval))),
            Value::Choice(_) => Some(Self(None)),
            _ => None,
        }
    }
}

selfclock_congestion::parameters! {
    /// Settings of a domain.
    Parameters {
        /// Weight of a rate in the mean allowed rate: "beta".
        beta: f64 = 0.0625, shown "0.0625", unit "", range (0.000001, 1.0), source "section 3.1";
        /// Pressure at an empty queue: "a".
        alpha: f64 = 1.15, shown "1.15", unit "", range (1.0, 10.0), source "section 3.1";
        /// Target of the queue over its size: "BUR". Queues without a limit do not control.
        utilization: f64 = 0.5, shown "0.5", unit "", range (0.01, 0.99), source "section 3.1";
        /// Which rates count in the mean allowed rate: above the target only those below the mean;
        /// all; and below the target only those above 7/8 of it.
        rule: MaprRule = MaprRule::OuterElse, shown "outer-else", unit "", range (0.0, 0.0), source "our choice: Table 1 has the same line twice";
        /// Time constant of the estimate of a flow's rate: "K" of equation 1.
        rate_constant: Duration = Duration::from_milliseconds(100), shown "100 ms", unit "s", range ABOVE_ZERO, source "our choice, as in CSFQ";
        /// Data packets for each resource discovery packet.
        packets_per_discovery: u32 = 32, shown "32", unit "packets", range (1.0, 4294967295.0), source "our choice: the paper says proportionally; Nrm of ATM, whose cells have 53 bytes";
        /// Bytes of data, with headers, for each resource discovery packet, in place of a number of
        /// packets; at most one with a data packet. 1696 B are 32 cells of ATM. "off": packets are
        /// counted.
        bytes_per_discovery: DiscoveryBytes = DiscoveryBytes(None), shown "off", unit "B", range (1.0, 4294967295.0), source "our choice: the paper says proportionally based on the packet arrival rate, which equation 1 takes in bytes";
        /// When a flow's first resource discovery packet leaves: after as much data as each later
        /// one, with its first data packet, or with the second, the first that has a rate.
        first_discovery: FirstDiscovery = FirstDiscovery::Counted, shown "counted", unit "", range (0.0, 0.0), source "our choice: proportionally to the TCP traffic (section 2); a source of ATM begins with one";
        /// And at least one in this time for a flow that sends; "off": only by number.
        discovery_interval: DiscoveryInterval = DiscoveryInterval(Some(Duration::from_milliseconds(100))), shown "100 ms", unit "s", range ABOVE_ZERO, source "our choice";
        /// Size of a resource discovery packet on the wire.
        discovery_size: Bytes = Bytes(64), shown "64 B", unit "B", range (1.0, 65535.0), source "our choice";
        /// How the edge holds a source to its rate: by the window in acknowledgements, by holding
        /// them back, or not at all.
        feedback: Feedback = Feedback::Window, shown "window", unit "", range (0.0, 0.0), source "our choice of the paper's two";
        /// Which round-trip time a window is computed with: the smoothed or the smallest that the
        /// edge has seen.
        rtt: EdgeRtt = EdgeRtt::Current, shown "current", unit "", range (0.0, 0.0), source "our choice";
        /// Smallest window that is written, in segments.
        floor: f64 = 2.0, shown "2", unit "segments", range (0.0, 1000.0), source "our choice";
        /// Longest time for which an acknowledgement is held.
        longest_hold: Duration = Duration::from_milliseconds(100), shown "100 ms", unit "s", range ABOVE_ZERO, source "our choice: below half a minimum RTO";
        /// Most flows in the table of an edge; others are not controlled.
        flows: u32 = 4096, shown "4096", unit "flows", range (1.0, 4294967295.0), source "our choice";
        /// Unit of control: each flow, or each class of flows with one DSCP between the same edges,
        /// which then share its rate.
        unit: ControlUnit = ControlUnit::Flow, shown "flow", unit "", range (0.0, 0.0), source "our choice: the paper has both";
    }
}
settings!(
    Parameters,
    "ficcrd",
    "A domain of routers that tell its edges what rate each flow may have.",
    "Yu, Li, Hoang and Feng"
);
