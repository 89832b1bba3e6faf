//! noq, n0's QUIC stack that began as quinn.

use noq_proto as proto;

#[path = "../connect.rs"]
mod connect;
#[path = "../end.rs"]
mod end;
mod shim;

use selfclock_congestion::registry::Selection;
use selfclock_simulator::stack::{Pair, Setup, Stack};

/// The stack of the crate noq-proto.
#[derive(Debug)]
pub struct Noq;

impl Stack for Noq {
    fn name(&self) -> &'static str {
        "noq"
    }
    fn about(&self) -> &'static str {
        "The QUIC stack noq, by noq-proto 1."
    }
    fn controllers(&self) -> &'static [&'static str] {
        &["cubic", "new_reno", shim::UNSEEDED]
    }
    fn refuses(&self, controller: &str) -> Option<&'static str> {
        (controller == "bbr").then_some(
            "it draws random numbers of the operating system and takes no seed, so two runs would differ; \
             \"bbr-unseeded\" runs it all the same",
        )
    }
    fn check(&self, control: &Selection) -> Result<(), String> {
        shim::ours(control).map(|_| ())
    }
    fn connect(&self, setup: &Setup<'_>) -> Result<Pair, String> {
        connect::connect(setup)
    }
}
