//! TCP and UDP endpoints.

pub mod connections;
pub mod delivery_rate;
pub mod foreign;
pub mod groups;
pub(crate) mod measured;
mod misbehaviour;
pub mod outbox;
pub mod pacer;
pub mod quick_acks;
pub mod reassembly;
pub mod receive_window;
pub mod receiver;
pub mod recovery;
pub mod rto;
pub mod rtt_histogram;
pub mod runaway;
pub mod sender;
pub mod udp;

use crate::engine::EventQueue;
use crate::network::Network;
use selfclock_congestion::units::Time;

pub use receiver::Receiver;
pub use sender::Sender;

/// An endpoint's environment: the clock, the event queue, the network.
pub struct Context<'a> {
    /// Now.
    pub now: Time,
    /// To set timers.
    pub events: &'a mut EventQueue,
    /// To send packets.
    pub network: &'a mut Network,
}

/// Bytes of the timestamps option with its padding (RFC 7323, appendix A).
pub const TIMESTAMPS_OPTION: u32 = 12;
/// Maximum length of TCP options, in bytes.
pub const MAXIMUM_OPTIONS: u32 = 40;
