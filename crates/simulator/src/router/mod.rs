//! Router mechanisms: code that sees packets as they are about to enter a link.
//!
//! A mechanism can drop, change, hold and later release a packet, and send its own; it has a timer.
//! Packets stop there, so it sees them in the order of time. A host's first link is part of a
//! route: a mechanism there sees what that host sends.
//!
//! A new mechanism is a file here, with its [`Settings`](crate::named::Settings) and a
//! `mechanism::Mechanism`, declared below (rustfmt finds files by these declarations), and a line
//! in the list.

pub mod ack_thinning;
pub mod csfq;
pub mod ecn_rewriting;
pub mod ficcrd;
pub mod forwarding_limit;
pub mod loss;
pub(crate) mod mechanism;
pub mod policer;
pub mod quick_start;
pub mod reordering;
pub mod tampering;
pub mod xcp;

pub use mechanism::Placement;

use crate::named::named;
use crate::packet::Packet;
use mechanism::{Fate, Mechanism, RouterSite, Station};
use selfclock_congestion::units::Bytes;

/// Makes the list of mechanisms: plan, running mechanism and forwarding of each.
macro_rules! mechanisms {
    ($($module:ident::$name:ident,)+) => {
        named! {
            /// A router mechanism with its settings.
            MechanismPlan { $($module::$name,)+ }
        }

        impl MechanismPlan {
            /// How a scenario places it.
            pub fn placement(&self) -> Placement {
                match self { $(Self::$name(_) => $module::$name::PLACEMENT,)+ }
            }

            /// A surprising consequence of the settings, before a link whose largest data packets
            /// have this size, if any.
            pub fn note(&self, largest_packet: Option<Bytes>) -> Option<&'static str> {
                match self { $(Self::$name(settings) => $module::$name::note(settings, largest_packet),)+ }
            }

            /// Creates the mechanism.
            pub(crate) fn at(self, site: &RouterSite<'_>) -> AnyMechanism {
                match self {
                    $(Self::$name(settings) => AnyMechanism::$name($module::$name::new(settings, site)),)+
                }
            }
        }

        /// A running mechanism of any kind. Boxed as a whole, so that it can be moved out while it
        /// works on the network.
        #[derive(Clone, Debug)]
        #[allow(clippy::large_enum_variant)]
        pub(crate) enum AnyMechanism {
            $(#[doc = concat!("[`", stringify!($module), "`].")] $name($module::$name),)+
        }

        impl AnyMechanism {
            /// As [`Mechanism::on_packet`].
            pub fn on_packet(&mut self, station: &mut Station<'_>, packet: &mut Packet) -> Fate {
                match self { $(Self::$name(mechanism) => mechanism.on_packet(station, packet),)+ }
            }

            /// As [`Mechanism::on_timer`].
            pub fn on_timer(&mut self, station: &mut Station<'_>) {
                match self { $(Self::$name(mechanism) => mechanism.on_timer(station),)+ }
            }

            /// As [`Mechanism::held`].
            pub fn held(&self) -> u64 {
                match self { $(Self::$name(mechanism) => mechanism.held(),)+ }
            }
        }
    };
}

mechanisms! {
    policer::Policer,
    loss::LossOfKinds,
    reordering::Reordering,
    tampering::Tampering,
    ecn_rewriting::EcnRewriting,
    ficcrd::Ficcrd,
    xcp::Xcp,
    csfq::Csfq,
    quick_start::QuickStart,
    ack_thinning::AckThinning,
    forwarding_limit::ForwardingLimit,
}
