//! Transports that are not the simulator's own: protocol stacks without input and output, as
//! quinn-proto is, which the simulator gives time and datagrams.
//!
//! A stack is a value that implements [`Stack`]. It is registered once in a process, by its name; a
//! flow of a scenario then chooses it with `stack = "name"`. The simulator depends on none.

pub use crate::packet::Codepoint;
use selfclock_congestion::registry::Selection;
use selfclock_congestion::units::{Duration, Time};
use std::fmt::Debug;
use std::sync::{PoisonError, RwLock};

/// Names of the stacks that the project has adapters for, whether they are built in or not.
pub const KNOWN: [&str; 2] = ["quinn", "noq"];

pub use crate::transport::udp::UDP_HEADER;

/// Smallest datagram that a path must carry (RFC 9000, section 14), bytes of UDP payload.
pub const SMALLEST_DATAGRAM: u32 = 1200;

/// A protocol stack. Its `Debug` must say all that a run depends on: a plan is compared by its
/// text.
pub trait Stack: Debug + Send + Sync {
    /// Name in scenarios.
    fn name(&self) -> &'static str;
    /// Its description in a sentence, with its version.
    fn about(&self) -> &'static str;
    /// Names of its own congestion controllers. The first is its default.
    fn controllers(&self) -> &'static [&'static str];
    /// Why a controller of its own is not among [`Stack::controllers`]; `None` where it has no such
    /// controller.
    fn refuses(&self, _controller: &str) -> Option<&'static str> {
        None
    }
    /// Checks that it can carry an algorithm of ours.
    ///
    /// # Errors
    /// A sentence that says what the algorithm needs and the stack lacks.
    fn check(&self, control: &Selection) -> Result<(), String>;
    /// Both ends of a connection: that which sends data, and that which receives it.
    ///
    /// # Errors
    /// A sentence on what it refuses.
    fn connect(&self, setup: &Setup<'_>) -> Result<Pair, String>;
}

/// The two ends of a connection: that which sends data and begins the handshake, and that which
/// receives.
pub type Pair = (Box<dyn Endpoint>, Box<dyn Endpoint>);

/// Congestion control of a connection.
#[derive(Clone, Debug)]
pub enum StackControl {
    /// A congestion controller of the stack, by its name.
    Own(&'static str),
    /// An algorithm of ours, in the place of one of the stack's.
    Ours(Box<Selection>),
}

/// A connection to be.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// Its congestion control.
    pub control: &'a StackControl,
    /// Of everything that the two ends draw.
    pub seed: u64,
    /// When it begins.
    pub start: Time,
    /// Largest UDP payload that the path carries, bytes.
    pub datagram: u16,
    /// Receive buffer, bytes.
    pub receive_window: u64,
}

/// One end of a connection. Times of the calls never fall.
pub trait Endpoint: Debug + Send + Sync {
    /// A datagram has arrived.
    fn on_datagram(&mut self, now: Time, datagram: &[u8], ecn: Codepoint);
    /// The time of [`Endpoint::next_timeout`] has come.
    fn on_timer(&mut self, now: Time);
    /// Writes the next datagram into the empty `buffer`, if one may leave now, and returns its
    /// codepoint.
    fn poll_datagram(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Codepoint>;
    /// When to call [`Endpoint::on_timer`].
    fn next_timeout(&mut self) -> Option<Time>;
    /// The application hands over up to `bytes` bytes. Returns how many the stack has taken.
    fn write(&mut self, bytes: u64) -> u64;
    /// The application has written its last byte.
    fn finish(&mut self);
    /// Its current state.
    fn state(&self) -> State;
    /// The round-trip time that the acknowledgements of the last datagram have measured; each is
    /// taken once.
    fn take_round_trip(&mut self) -> Option<Duration>;
    /// Takes the TLS secrets that have become known since the last call, as lines of the NSS key
    /// log format. An end tells each before it sends what the secret protects, or never.
    fn take_secrets(&mut self) -> Option<String>;
    /// Why the connection has ended against its will.
    fn failure(&self) -> Option<String>;
}

/// State and sums of one end of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct State {
    /// Congestion window, bytes.
    pub window: u64,
    /// Slow start threshold, bytes, if the controller reports one; `u64::MAX`: none yet.
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
    /// Times at which the controller received persistent congestion.
    pub persistent_congestions: u64,
    /// Bytes that the application of the receiving end has read, in order. Both ends report it, the
    /// sending one before it can know.
    pub read: u64,
    /// Everything written was acknowledged, the end of the data too.
    pub complete: bool,
}

static STACKS: RwLock<Vec<&'static dyn Stack>> = RwLock::new(Vec::new());

/// Registers a stack; one that has its name goes.
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
