//! Two endpoints of a real stack on a link in memory, in simulated time: one sends a file to the
//! other.
//!
//! Both stacks are state machines without sockets and clocks, and have the same interface but for a
//! few names: `peer!` is written once for both.
#![allow(dead_code, unused_imports, missing_docs)]

mod peer;
mod wire;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

pub use peer::{noq, quinn};
pub use wire::Wire;

/// Bytes at this place of every file.
pub fn content(place: u64) -> u8 {
    (place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

/// A datagram on the link.
#[derive(Clone, Debug)]
pub struct Datagram {
    pub data: Vec<u8>,
    /// It says that it may be marked (ECT), or it has been (CE).
    pub ecn: Codepoint,
}

/// Values of the two ECN bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codepoint {
    NotCapable,
    Capable,
    Marked,
}

/// One end of a connection.
pub trait Peer {
    /// A datagram has arrived.
    fn receive(&mut self, now: Instant, datagram: Datagram);
    /// When it wants to be driven at the latest.
    fn deadline(&mut self) -> Option<Instant>;
    /// Expires timers, reads and writes the file, and gives what leaves.
    fn drive(&mut self, now: Instant, leaving: &mut Vec<Datagram>);
    /// Bytes of the file that have arrived, each as it should be.
    fn received(&self) -> u64;
    /// The whole file has arrived.
    fn is_complete(&self) -> bool;
    /// The congestion window, bytes, if there is a connection.
    fn window(&self) -> Option<u64>;
    /// The connection has failed.
    fn failure(&self) -> Option<String>;
    /// Counters.
    fn counts(&mut self) -> Counts;
}

/// Counters of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Datagrams.
    pub sent: u64,
    /// Packets.
    pub lost: u64,
    pub congestion_events: u64,
}

/// Observations during a transfer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transfer {
    /// From the first datagram to the last byte, in simulated time.
    pub took: Duration,
    pub received: u64,
    pub smallest_window: u64,
    pub largest_window: u64,
    /// Datagrams that the two wires dropped, moved and marked.
    pub dropped: u64,
    pub reordered: u64,
    pub marked: u64,
    pub counts: Counts,
}

impl Transfer {
    /// Bit/s of the file.
    pub fn goodput(&self) -> f64 {
        self.received as f64 * 8.0 / self.took.as_secs_f64()
    }
}

struct Arrival {
    at: Instant,
    /// Of two at once, the one that was sent first comes first.
    number: u64,
    to_server: bool,
    datagram: Datagram,
}

impl PartialEq for Arrival {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Arrival {}
impl PartialOrd for Arrival {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Arrival {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

/// Packets in flight between the two.
#[derive(Default)]
struct Flying {
    arrivals: BinaryHeap<Reverse<Arrival>>,
    number: u64,
}

impl Flying {
    fn drive(&mut self, now: Instant, peer: &mut impl Peer, wire: &mut Wire, to_server: bool) {
        let mut leaving = Vec::new();
        peer.drive(now, &mut leaving);
        for mut datagram in leaving {
            if let Some(at) = wire.carry(now, &mut datagram) {
                self.number += 1;
                self.arrivals.push(Reverse(Arrival { at, number: self.number, to_server, datagram }));
            }
        }
    }

    fn next(&self) -> Option<Instant> {
        self.arrivals.peek().map(|Reverse(arrival)| arrival.at)
    }
}

/// The client sends its file to the server over these two wires.
///
/// # Panics
/// If it takes longer than `limit`, or the connection fails.
pub fn transfer(
    start: Instant,
    (client, server): (&mut impl Peer, &mut impl Peer),
    (there, back): (&mut Wire, &mut Wire),
    limit: Duration,
) -> Transfer {
    let (mut flying, mut now) = (Flying::default(), start);
    let mut seen = Transfer { smallest_window: u64::MAX, ..Transfer::default() };
    loop {
        flying.drive(now, client, there, true);
        flying.drive(now, server, back, false);
        if let Some(window) = client.window() {
            seen.smallest_window = seen.smallest_window.min(window);
            seen.largest_window = seen.largest_window.max(window);
        }
        if server.is_complete() {
            break;
        }
        let failure = client.failure().or(server.failure());
        assert!(failure.is_none(), "{failure:?} after {:?}", now - start);
        let next = [flying.next(), client.deadline(), server.deadline()].into_iter().flatten().min();
        now = next.expect("there is something to wait for").max(now);
        assert!(now - start < limit, "{} bytes after {limit:?}: {:?}", server.received(), client.counts());
        while flying.next().is_some_and(|at| at <= now) {
            let Some(Reverse(arrival)) = flying.arrivals.pop() else { break };
            match arrival.to_server {
                true => server.receive(now, arrival.datagram),
                false => client.receive(now, arrival.datagram),
            }
        }
    }
    (seen.took, seen.received, seen.counts) = (now - start, server.received(), client.counts());
    (seen.dropped, seen.reordered) = (there.dropped + back.dropped, there.reordered + back.reordered);
    seen.marked = there.marked;
    seen
}
