//! The beginning of a connection, and its restart after a timeout: the part in control while cwnd <
//! ssthresh.
//!
//! A new start is a file, declared below (rustfmt finds files by these declarations), and a line in
//! the list.

use alloc::boxed::Box;

pub mod bbr_startup;
pub mod hoe;
pub mod hystart_plus_plus;
pub mod limited;
pub mod modified_swift_start;
mod paced_round_trip;
pub mod packet_pair;
pub mod quick_start;
pub mod slow_start;
pub mod swift_start;

use crate::decision::{Pacing, Phase, Probe, ProbePart};
use crate::dispatch::algorithms;
use crate::event::{Acknowledged, DuplicateAck, EcnEcho, Established, LossDetected, Resumed, Sent, Timeout};
use crate::open::AnyStart;
use crate::option::PeerOption;
use crate::part::{StartPart, start_methods};
use crate::receiver::Partner;
use crate::state::{Setup, WindowState};
use crate::units::Bytes;

algorithms! {
    /// One of the starts.
    Start, chosen by StartChoice, open as AnyStart {
        slow_start::SlowStart,
        limited::Limited,
        hystart_plus_plus::HyStartPlusPlus in Box,
        packet_pair::PacketPair in Box,
        swift_start::SwiftStart in Box,
        modified_swift_start::ModifiedSwiftStart in Box,
        quick_start::QuickStart in Box,
        bbr_startup::BbrStartup in Box,
        hoe::Hoe in Box,
    }
}

impl StartPart for Start {
    start_methods! { Start, mostly SlowStart }
}
