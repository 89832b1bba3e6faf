//! Data that applications send.

use crate::packet::Codepoint;
use selfclock_congestion::units::{Bytes, Rate, Time};
use std::sync::Arc;

/// The application's data.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Unlimited data.
    Bulk,
    /// This many bytes.
    Size(Bytes),
    /// Bytes at this rate, in writes of one segment: the connection is application-limited if it
    /// could carry more.
    Rate(Rate),
    /// Bytes at this rate in larger writes, such as the frames of a video: each is rounded up to
    /// whole segments, and comes after the one before by the time that it takes at the rate.
    Writes {
        /// Mean rate.
        rate: Rate,
        /// Size of a write.
        size: Bytes,
    },
    /// An application that pauses or changes its rate: at least one period, in the order of time.
    /// The first begins with the flow, whenever that is.
    Steps(Arc<[Period]>),
}

/// An application's activity from a time of the run on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Period {
    /// When it begins.
    pub from: Time,
    /// The data that it offers.
    pub activity: Activity,
}

/// The data that an application offers for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activity {
    /// Unlimited data.
    Bulk,
    /// Nothing: it pauses.
    Silence,
    /// Bytes at this rate, the first write at the beginning of the period.
    Rate {
        /// Mean rate, above zero.
        rate: Rate,
        /// Size of a write; of one segment if `None`.
        write: Option<Bytes>,
    },
}

/// Distribution of the sizes of short connections.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SizeDistribution {
    /// All are alike.
    Constant(Bytes),
    /// Exponential.
    Exponential {
        /// Mean.
        mean: Bytes,
    },
    /// Pareto, cut at both ends: the probability of more than x falls as x^-shape between them.
    Pareto {
        /// Smallest.
        minimum: Bytes,
        /// Largest.
        maximum: Bytes,
        /// Exponent, above 0.
        shape: f64,
    },
    /// The logarithm is normally distributed.
    Lognormal {
        /// Mean of the sizes, not of their logarithms.
        mean: Bytes,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
    },
}

/// A UDP source without congestion control.
#[derive(Clone, Debug)]
pub struct UdpPlan {
    /// Wire sizes of its packets, each with its relative frequency. At least one, and a positive
    /// frequency.
    pub packets: Vec<(Bytes, f64)>,
    /// Mean rates on the wire, each from a time of the run on, ascending; the first from the start
    /// of the flow, whenever that is. At rate zero it is silent.
    pub rates: Vec<(Time, Rate)>,
    /// When packets leave.
    pub arrivals: Arrivals,
    /// ECN field of its packets; the source does not respond to marks.
    pub ecn: Codepoint,
}

impl UdpPlan {
    /// Packets of one size at one rate.
    pub fn steady(packet: Bytes, rate: Rate, arrivals: Arrivals) -> Self {
        Self {
            packets: vec![(packet, 1.0)],
            rates: vec![(Time::ZERO, rate)],
            arrivals,
            ecn: Codepoint::NotEct,
        }
    }
}

/// Times between the packets of a UDP source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// Constant, or in proportion to the size of the previous packet if sizes vary: a constant bit
    /// rate.
    Constant,
    /// Exponentially distributed, whatever the size.
    Poisson,
}
