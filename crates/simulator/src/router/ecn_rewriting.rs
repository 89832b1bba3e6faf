//! A router that rewrites the ECN field of the IP header: it bleaches ECT, erases CE marks, or sets
//! them without congestion. RFC 9000 (section 13.4.2) and RFC 9768 validate ECN against such paths.

use super::mechanism::{Fate, Mechanism, RouterSite, Station};
use crate::engine::Stream;
use crate::named::settings;
use crate::packet::{Codepoint, Packet};
use selfclock_congestion::parameter::{Kind, ParameterType, Value};

/// A set of codepoints, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codepoints(u32);

impl Codepoints {
    const NAMES: [&'static str; Codepoint::ALL.len()] = {
        let mut names = [""; Codepoint::ALL.len()];
        let mut index = 0;
        while index < names.len() {
            names[index] = Codepoint::ALL[index].name();
            index += 1;
        }
        names
    };

    /// Whether a codepoint is in the set; the bits are those of its place in the list.
    fn contains(self, codepoint: Codepoint) -> bool {
        Codepoint::ALL.iter().position(|&other| other == codepoint).is_some_and(|bit| self.0 >> bit & 1 == 1)
    }
}

impl ParameterType for Codepoints {
    const KIND: Kind = Kind::Several(&Self::NAMES);
    fn from_value(value: Value<'_>) -> Option<Self> {
        if let Value::Several(codepoints) = value { Some(Self(codepoints)) } else { None }
    }
}

selfclock_congestion::choice! {
    /// The codepoint that a packet leaves with.
    Written {
        /// Not ECN-capable.
        NotEct = "not-ect",
        /// ECT(0).
        Ect0 = "ect(0)",
        /// ECT(1).
        Ect1 = "ect(1)",
        /// Congestion experienced.
        Ce = "ce",
    }
}

impl From<Written> for Codepoint {
    fn from(written: Written) -> Self {
        match written {
            Written::NotEct => Self::NotEct,
            Written::Ect0 => Self::Ect0,
            Written::Ect1 => Self::Ect1,
            Written::Ce => Self::Ce,
        }
    }
}

selfclock_congestion::parameters! {
    /// Settings of a router that rewrites the ECN field.
    Parameters {
        /// Which packets: those that arrive with one of these codepoints.
        of: Codepoints = Codepoints(0), shown "", unit "", range (0.0, 0.0), source "";
        /// The codepoint that they leave with.
        to: Written = Written::NotEct, shown "", unit "", range (0.0, 0.0), source "";
        /// Probability that a packet is rewritten.
        probability: f64 = 1.0, shown "1", unit "", range (0.0, 1.0), source "our choice";
    }
}
settings!(
    Parameters,
    "ecn-rewriting",
    "Rewrites the ECN field: bleaches ECN-capable packets, erases CE marks, or sets them without congestion.",
    "RFC 9000, section 13.4.2"
);

/// Rewrites packets of some codepoints.
#[derive(Clone, Debug)]
pub(crate) struct EcnRewriting {
    settings: Parameters,
    stream: Stream,
}

impl Mechanism for EcnRewriting {
    type Settings = Parameters;

    fn new(settings: Parameters, site: &RouterSite<'_>) -> Self {
        Self { settings, stream: site.stream() }
    }

    /// Rewrites the packet with the given probability, and forwards it.
    fn on_packet(&mut self, _: &mut Station<'_>, packet: &mut Packet) -> Fate {
        let Parameters { of, to, probability } = self.settings;
        if of.contains(packet.flags.codepoint()) && (probability >= 1.0 || self.stream.happens(probability)) {
            packet.flags = packet.flags.with_codepoint(to.into());
        }
        Fate::Pass
    }
}
