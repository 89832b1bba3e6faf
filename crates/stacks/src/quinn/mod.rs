//! quinn.

use quinn_proto as proto;

#[path = "../connect.rs"]
mod connect;
#[path = "../end.rs"]
mod end;
mod shim;

use selfclock_congestion::registry::Selection;
use selfclock_simulator::stack::{Pair, Setup, Stack};

/// The stack of the crate quinn-proto.
#[derive(Debug)]
pub struct Quinn;

impl Stack for Quinn {
    fn name(&self) -> &'static str {
        "quinn"
    }
    fn about(&self) -> &'static str {
        "The QUIC stack quinn, by quinn-proto 0.11."
    }
    fn controllers(&self) -> &'static [&'static str] {
        &["cubic", "bbr", "new_reno"]
    }
    fn check(&self, control: &Selection) -> Result<(), String> {
        Err(format!("quinn cannot carry {:?}: it takes its own congestion controllers", control.label()))
    }
    fn connect(&self, setup: &Setup<'_>) -> Result<Pair, String> {
        connect::connect(setup)
    }
}
