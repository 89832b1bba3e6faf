//! Events by hand, for the tests of the driver: packets of 1200 bytes, a round trip of 50 ms.

use super::*;
use selfclock_congestion::entry::Part;
use selfclock_congestion::registry::ENTRIES;
use selfclock_congestion::{Duration, Selection};

pub const PACKET: u64 = 1200;

pub fn at(milliseconds: u64) -> Time {
    Time::ZERO + Duration::from_milliseconds(milliseconds)
}

/// With packets of this size, and ten of them at the beginning.
pub fn driver_of(label: &str, packet: u64) -> Driver {
    let setup = Setup { mss: Bytes(packet), header: Bytes::ZERO, ..Setup::default() };
    Driver::new(&Selection::from_label(label).expect("listed"), setup, None)
}

pub fn driver(label: &str) -> Driver {
    driver_of(label, PACKET)
}

/// Every window algorithm in the registry.
pub fn every_window() -> impl Iterator<Item = &'static str> {
    ENTRIES
        .iter()
        .filter(|entry| entry.part == Part::Window)
        .map(|entry| entry.name)
        .filter(|&name| Selection::from_label(name).expect("listed").needs().next().is_none())
}

/// Packets that the window allows.
pub fn window(driver: &Driver) -> u64 {
    driver.window() / driver.mtu()
}

/// A flight of `left` packets sent at `sent`, acknowledged at `now` in frames of `frame` packets.
pub fn acknowledge(driver: &mut Driver, sent: Time, now: Time, mut left: u64, frame: u64) {
    let packet = driver.mtu();
    while left > 0 {
        let size = frame.min(left);
        left -= size;
        for _ in 0..size {
            driver.on_packet_acked(now, sent, packet);
        }
        driver.on_acks_end(now, Some(left * packet), false);
    }
}

/// Windows of packets, each sent at once and acknowledged 50 ms later in frames of `frame` packets.
/// Returns the time of the next.
pub fn windows(driver: &mut Driver, begin: u64, rounds: u64, frame: u64) -> u64 {
    let mut now = begin;
    for _ in 0..rounds {
        let packets = window(driver);
        send(driver, now, packets);
        acknowledge(driver, at(now), at(now + 50), packets, frame);
        now += 50;
    }
    now
}

pub fn send(driver: &mut Driver, now: u64, packets: u64) {
    let packet = driver.mtu();
    for _ in 0..packets {
        driver.on_packet_sent(at(now), packet);
    }
}

pub fn lose(driver: &mut Driver, sent: u64, now: u64) {
    let lost = Congestion::Lost { sent: at(sent), bytes: driver.mtu(), persistent: false };
    driver.on_congestion(at(now), lost);
}
