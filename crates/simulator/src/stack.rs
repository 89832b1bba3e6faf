//! Transports other than the simulator's own: protocol stacks without I/O, such as quinn-proto,
//! driven by the simulator with time and datagrams.
//!
//! A stack implements [`Stack`]. It is registered once per process, by name; a flow of a scenario
//! then selects it with `stack = "name"`. The simulator depends on none.

pub use crate::packet::Codepoint;
use selfclock_congestion::registry::Selection;
use selfclock_congestion::units::{Duration, Time};
use std::fmt::Debug;
use std::sync::{PoisonError, RwLock};

/// Names of the stacks with adapters, built in or not.
pub const KNOWN: [&str; 2] = ["quinn", "noq"];

pub use crate::transport::udp::UDP_HEADER;

/// Smallest datagram that a path must carry (RFC 9000, section 14), bytes of UDP payload.
pub const SMALLEST_DATAGRAM: u32 = 1200;

/// A protocol stack. Its `Debug` output must contain everything a run depends on: plans are
/// compared by their text.
pub trait Stack: Debug + Send + Sync {
    /// Name in scenarios.
    fn name(&self) -> &'static str;
    /// A one-sentence description, with its version.
    fn about(&self) -> &'static str;
    /// Names of its own congestion controllers. The first is its default.
    fn controllers(&self) -> &'static [&'static str];
    /// Why one of its controllers is not among [`Stack::controllers`]; `None` if it has no such
    /// controller.
    fn refuses(&self, _controller: &str) -> Option<&'static str> {
        None
    }
    /// Checks that it can run one of selfclock's algorithms.
    ///
    /// # Errors
    /// A sentence on the algorithm's requirement that the stack lacks.
    fn check(&self, control: &Selection) -> Result<(), String>;
    /// Creates both ends of a connection: sender and receiver of data.
    ///
    /// # Errors
    /// A sentence on what it refuses.
    fn connect(&self, setup: &Setup<'_>) -> Result<Pair, String>;
}

/// The two ends of a connection: the sender, which begins the handshake, and the receiver.
pub type Pair = (Box<dyn Endpoint>, Box<dyn Endpoint>);

/// Congestion control of a connection.
#[derive(Clone, Debug)]
pub enum StackControl {
    /// A congestion controller of the stack, by name.
    Own(&'static str),
    /// One of selfclock's algorithms, in place of the stack's.
    Ours(Box<Selection>),
}

/// Set-up of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// Its congestion control.
    pub control: &'a StackControl,
    /// Seed for both ends.
    pub seed: u64,
    /// When it begins.
    pub start: Time,
    /// Largest UDP payload that the path carries, bytes.
    pub datagram: u16,
    /// Receive buffer, bytes.
    pub receive_window: u64,
}

/// One end of a connection. Times of the calls never decrease.
pub trait Endpoint: Debug + Send + Sync {
    /// A datagram has arrived.
    fn on_datagram(&mut self, now: Time, datagram: &[u8], ecn: Codepoint);
    /// The time of [`Endpoint::next_timeout`] has come.
    fn on_timer(&mut self, now: Time);
    /// Writes the next datagram into the empty `buffer`, if one may leave now, and returns its ECN
    /// codepoint.
    fn poll_datagram(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Codepoint>;
    /// When to call [`Endpoint::on_timer`].
    fn next_timeout(&mut self) -> Option<Time>;
    /// The application writes up to `bytes` bytes. Returns the number accepted by the stack.
    fn write(&mut self, bytes: u64) -> u64;
    /// The application has written its last byte.
    fn finish(&mut self);
    /// Its current state.
    fn state(&self) -> State;
    /// The RTT sample from the ACKs in the last datagram; returned once.
    fn take_round_trip(&mut self) -> Option<Duration>;
    /// Takes the TLS secrets learned since the last call, as lines of the NSS key log format. An
    /// end reports each before it sends data protected by it, or never.
    fn take_secrets(&mut self) -> Option<String>;
    /// Why the connection failed, if it did.
    fn failure(&self) -> Option<String>;
}

/// State and totals of one end of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct State {
    /// Congestion window, bytes.
    pub window: u64,
    /// Slow start threshold, bytes, if the controller reports one; `u64::MAX` if not set yet.
    pub ssthresh: Option<u64>,
    /// Pacing rate, bit/s, if the controller sets one.
    pub pacing_bps: Option<f64>,
    /// Bytes of packets in flight.
    pub in_flight: u64,
    /// Smoothed round-trip time, once there is a sample.
    pub smoothed_rtt: Option<Duration>,
    /// Smallest round-trip time, once there is a sample.
    pub minimum_rtt: Option<Duration>,
    /// Bytes of packets sent that count as in flight.
    pub sent: u64,
    /// Packets declared lost.
    pub lost_packets: u64,
    /// Congestion events after which the window was smaller.
    pub congestion_events: u64,
    /// Number of persistent congestion events at the controller.
    pub persistent_congestions: u64,
    /// Bytes that the receiving application has read, in order. Both ends report it, the sending
    /// one before it can know.
    pub read: u64,
    /// Whether everything written was acknowledged, including the end of the data.
    pub complete: bool,
}

static STACKS: RwLock<Vec<&'static dyn Stack>> = RwLock::new(Vec::new());

/// Registers a stack; replaces one of the same name.
pub fn register(stack: &'static dyn Stack) {
    let mut stacks = STACKS.write().unwrap_or_else(PoisonError::into_inner);
    stacks.retain(|other| other.name() != stack.name());
    stacks.push(stack);
}

/// The stacks registered, in the order of their names.
pub fn all() -> Vec<&'static dyn Stack> {
    let mut stacks = STACKS.read().unwrap_or_else(PoisonError::into_inner).clone();
    stacks.sort_by_key(|stack| stack.name());
    stacks
}

/// The stack of this name, if it is registered.
pub fn named(name: &str) -> Option<&'static dyn Stack> {
    all().into_iter().find(|stack| stack.name() == name)
}
