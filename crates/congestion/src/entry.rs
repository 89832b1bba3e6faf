//! An algorithm's row in the registry.

use crate::names;
use crate::parameter::Parameter;

names! {
    /// The part of an algorithm that a name selects.
    #[non_exhaustive]
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
    #[non_exhaustive]
    pub enum Marks {
        /// Ignored: a scenario with ECN is refused, because the algorithm would not see congestion.
        Ignored => "ignored",
        /// Once per window of data, as RFC 3168 has it.
        Once => "once",
        /// In proportion to their number, which needs accurate ECN feedback. Packets then carry
        /// ECT(1) (RFC 9331, section 4.3).
        InProportion => "in proportion",
    }
}

names! {
    /// Who sets the window in fast recovery. Whoever does, the transport keeps these rules: a loss
    /// never raises the window, a timeout sets it to one segment, a segment that has left the
    /// network makes room for another (Limited Transmit of RFC 3042, SACK's pipe, the inflation of
    /// RFC 5681 without SACK), and an algorithm's pacing holds.
    #[non_exhaustive]
    pub enum InRecovery {
        /// The transport approaches the reduced window by proportional rate reduction (RFC 9937),
        /// if it has that and SACK.
        Transport => "reached by proportional rate reduction (RFC 9937)",
        /// The algorithm alone, with every ACK, like one with `cong_control` in Linux.
        Algorithm => "the algorithm's alone: no proportional rate reduction",
    }
}

names! {
    /// The window after a pause of the application that is longer than the retransmission timeout.
    #[non_exhaustive]
    pub enum AfterIdle {
        /// It restarts: "no more than RW" (RFC 5681, section 4.1).
        Restarts => "restarts (RFC 5681, section 4.1)",
        /// Set by the algorithm, if at all ([`ModelPart::on_resumed`](crate::part::ModelPart)).
        Algorithm => "is as the algorithm leaves it",
    }
}

names! {
    /// A service that not every transport provides. Routers ([`Entry::router`]), counts of CE marks
    /// ([`Marks::InProportion`]) and a partner at the receiver
    /// ([`Selection::partner`](crate::Selection::partner)) are declared elsewhere.
    #[non_exhaustive]
    pub enum Need {
        /// Pacing at the algorithm's rate ([`Decision::pacing`](crate::Decision::pacing)).
        Pacing => "pacing at the algorithm's rate",
        /// Segments held back and released in pairs or trains
        /// ([`Decision::probe`](crate::Decision::probe),
        /// [`Decision::allowance`](crate::Decision::allowance)).
        Trains => "segments held back and released in pairs or trains",
        /// The receiver acknowledges each segment, of a start each of the first.
        EveryAck => "an ACK of every segment",
    }
}

/// A router mechanism that an algorithm depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouterPartner {
    /// Name of the mechanism in a scenario.
    pub mechanism: &'static str,
    /// Whether every router on the path must have it, not only the bottleneck.
    pub everywhere: bool,
    /// The algorithm's behaviour without it, as the end of a sentence: "it is slow start".
    pub without: &'static str,
}

/// Description of an algorithm. Written as `Entry { name: "...", ..., ..Entry::WINDOW }`, so
/// that a new field leaves unrelated algorithms alone.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name.
    pub name: &'static str,
    /// The part it implements.
    pub part: Part,
    /// One sentence.
    pub about: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// The response of a window algorithm or model to CE marks.
    pub marks: Marks,
    /// Requirements on the transport.
    pub needs: &'static [Need],
    /// Who sets the window of a window algorithm or model in fast recovery: what
    /// [`ModelPart::owns_window_in_recovery`](crate::part::ModelPart::owns_window_in_recovery)
    /// answers.
    pub recovery: InRecovery,
    /// The window of a window algorithm or model after a pause.
    pub after_idle: AfterIdle,
    /// The router mechanism that it depends on.
    pub router: Option<RouterPartner>,
    /// A window algorithm's usual estimator.
    pub estimate: Option<&'static str>,
    /// Whether parallel flows of a window algorithm can form a [`Group`](crate::window::Group).
    pub groups: bool,
}

impl Entry {
    /// Base entry of a start.
    pub const START: Self = Self {
        name: "",
        part: Part::Start,
        about: "",
        source: "",
        parameters: &[],
        marks: Marks::Ignored,
        needs: &[],
        recovery: InRecovery::Transport,
        after_idle: AfterIdle::Restarts,
        router: None,
        estimate: None,
        groups: false,
    };
    /// Base entry of a window algorithm. It responds to marks as to losses, the default of
    /// [`WindowPart::on_ecn_echo`].
    ///
    /// [`WindowPart::on_ecn_echo`]: crate::part::WindowPart::on_ecn_echo
    pub const WINDOW: Self = Self { part: Part::Window, marks: Marks::Once, ..Self::START };
    /// Base entry of a model, which ignores marks.
    pub const MODEL: Self = Self { part: Part::Model, after_idle: AfterIdle::Algorithm, ..Self::START };
    /// Base entry of an estimator.
    pub const ESTIMATE: Self = Self { part: Part::Estimate, ..Self::START };
}
