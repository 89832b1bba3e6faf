//! Algorithms that own both the start and the window: a model of the path, or another rule, sets
//! the volume in flight from the first segment to the last.
//!
//! A new algorithm is a file, declared below (rustfmt finds files by these declarations), and a
//! line in the list.

pub mod bbr3;
pub mod prague;
pub mod xcp;

use crate::decision::{Pacing, Phase};
use crate::dispatch::algorithms;
use crate::event::{
    Acknowledged, DuplicateAck, EcnEcho, Established, LossDetected, RecoveryEnded, Resumed, Sent,
    SpuriousLoss, Timeout,
};
use crate::failure::Reason;
use crate::open::AnyModel;
use crate::option::PeerOption;
use crate::part::{ModelPart, model_methods};
use crate::receiver::Partner;
use crate::state::{PathModel, Setup, WindowBefore, WindowState};

algorithms! {
    /// One of the models.
    #[expect(clippy::large_enum_variant, reason = "a controller boxes the whole of it")]
    Model, chosen by ModelChoice, open as AnyModel {
        bbr3::Bbr3,
        prague::Prague,
        xcp::Xcp,
    }
}

impl ModelPart for Model {
    model_methods! { each }
}

#[cfg(test)]
mod harness;
