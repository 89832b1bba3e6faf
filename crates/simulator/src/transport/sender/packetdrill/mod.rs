//! Linux's segments, windows and states from packetdrill's scripts (github.com/google/packetdrill,
//! folder `gtests/net/tcp`; the same are in the kernel's
//! `tools/testing/selftests/net/packetdrill`), stated as scripts of [`super::peer`]. Each test
//! names its script. Where Linux and this sender differ, the line has what happens here, and its
//! comment what Linux does and why.
//!
//! The windows of CUBIC in congestion avoidance are in `selfclock-congestion`,
//! `tests/packetdrill.rs`. Not here, for lack of the thing itself: TSO (sizes of bursts), the PSH
//! flag, the socket's send buffer, the local queue discipline, TCP Fast Open, the end of a
//! connection.

mod ecn;
mod hystart;
mod loss;
mod reduction;
mod slow_start;
mod timers;

use super::peer::Connection;
use crate::plan::Recovery;

/// Every recovery in which a receiver sends SACK blocks.
const SELECTIVE: [Recovery; 2] = [Recovery::Sack, Recovery::Rack];

/// Plays a script with CUBIC in each of these recoveries.
#[track_caller]
fn each(recoveries: &[Recovery], script: &str) {
    for &recovery in recoveries {
        let connection = Connection::new("cubic").with(|transport| transport.recovery = recovery);
        if let Err(message) = connection.play(script) {
            panic!("{recovery:?}: {message}");
        }
    }
}

/// Plays a script with CUBIC on the profile `modern`.
#[track_caller]
fn modern(script: &str) {
    Connection::new("cubic").plays(script);
}
