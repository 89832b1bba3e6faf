//! An algorithm's row in the registry.

use crate::names;
use crate::parameter::Parameter;

names! {
    /// The part of an algorithm that a name selects.
    pub enum Part {
        /// How a connection begins.
        Start => "start",
        /// How its window then grows and shrinks.
        Window => "window",
        /// Both in one.
        Model => "model",
        /// An estimator beside a start and a window.
        Estimate => "estimate",
    }
}

names! {
    /// The response to CE marks.
    pub enum Marks {
        /// None: a scenario with ECN is refused, because the algorithm would not see congestion.
        Ignored => "ignored",
        /// Once per window of data, as RFC 3168 has it.
        Once => "once",
        /// In proportion to their number, which needs accurate ECN feedback. Packets say so with
        /// ECT(1) (RFC 9331, section 4.3).
        InProportion => "in proportion",
    }
}

names! {
    /// Something that not every transport does for an algorithm. Routers ([`Entry::router`]),
    /// counts of marks ([`Marks::InProportion`]) and a partner at the receiver
    /// ([`Selection::partner`](crate::Selection::partner)) are told elsewhere.
    pub enum Need {
        /// Segments leave at the rate that it sets ([`Decision::pacing`](crate::Decision::pacing)).
        Pacing => "pacing at a rate of its own",
        /// Segments leave in pairs or trains under its control
        /// ([`Decision::probe`](crate::Decision::probe),
        /// [`Decision::allowance`](crate::Decision::allowance)).
        Trains => "segments held back and let go in pairs or trains",
        /// The receiver acknowledges each of the first segments.
        EveryAck => "an acknowledgement of every segment",
    }
}

/// A router mechanism that an algorithm depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouterPartner {
    /// Name of the mechanism in a scenario.
    pub mechanism: &'static str,
    /// Every router on the path must have it, not the bottleneck alone.
    pub everywhere: bool,
    /// The algorithm without it, as the end of a sentence: "it is slow start".
    pub without: &'static str,
}

/// One row of `selfclock algorithms`. Written `Entry { name: "...", ..., ..Entry::WINDOW }`, so
/// that a new field changes no algorithm that it does not concern.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name in a scenario.
    pub name: &'static str,
    /// Which part it is.
    pub part: Part,
    /// One sentence.
    pub about: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// The response to marks of a window algorithm or a model.
    pub marks: Marks,
    /// Requirements on the transport.
    pub needs: &'static [Need],
    /// The router mechanism that it depends on.
    pub router: Option<RouterPartner>,
    /// A window algorithm's usual estimator.
    pub estimate: Option<&'static str>,
    /// A window algorithm of which parallel flows can form a [`Group`](crate::window::Group).
    pub groups: bool,
}

impl Entry {
    /// A start without a name, and without anything special.
    pub const START: Self = Self {
        name: "",
        part: Part::Start,
        about: "",
        source: "",
        parameters: &[],
        marks: Marks::Ignored,
        needs: &[],
        router: None,
        estimate: None,
        groups: false,
    };
    /// The same, a window algorithm. It responds to marks, because [`WindowPart::on_ecn_echo`]
    /// takes them for losses.
    ///
    /// [`WindowPart::on_ecn_echo`]: crate::part::WindowPart::on_ecn_echo
    pub const WINDOW: Self = Self { part: Part::Window, marks: Marks::Once, ..Self::START };
    /// The same, a model, which ignores marks.
    pub const MODEL: Self = Self { part: Part::Model, ..Self::START };
    /// The same, an estimator.
    pub const ESTIMATE: Self = Self { part: Part::Estimate, ..Self::START };
}
