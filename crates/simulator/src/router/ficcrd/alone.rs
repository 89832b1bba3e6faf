//! A domain of one router: ingress, core and egress in one, for packets from outside the simulator.
//!
//! It uses the domain's own state and equations. A resource discovery packet has no way to go: its
//! rate is noted at the one queue, and the queue's allowed rate takes effect at once. The queue is
//! virtual: passed bytes, served at a fixed rate.

use std::collections::BTreeMap;

use selfclock_congestion::units::{Bytes, Duration, Rate, Time};

use super::core::{CoreQueue, Occupancy};
use super::flow::EdgeFlow;
use super::settings::Parameters;
use super::{ControlLoop, FlowPath, IDLE, SILENT};
use crate::packet::{Flags, NO_EXTRA, Packet, PacketKind};

/// A flow of the table, for display.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowState {
    /// Rate of its data, bit/s.
    pub rate_bps: f64,
    /// Its allowed rate, bit/s; `None` before the first discovery.
    pub allowed_bps: Option<f64>,
    /// Maximum window advertised to its source, bytes; `None` if not limited yet.
    pub window: Option<u64>,
    /// Round-trip time through the router, smoothed; `None` before both parts are known.
    pub rtt: Option<Duration>,
}

/// The router and its flows, numbered by the caller.
#[derive(Clone, Debug)]
pub struct LoneRouter {
    settings: Parameters,
    rate: Rate,
    buffer: Bytes,
    queue: CoreQueue,
    /// Bytes in the virtual queue, and the time of that value.
    waiting: (f64, Time),
    flows: BTreeMap<u32, Passing>,
}

#[derive(Clone, Debug)]
struct Passing {
    edge: EdgeFlow,
    control: ControlLoop,
    discovered: Time,
    /// The last sequence number, beyond 32 bits, and the last ACK.
    last: (u64, u64),
}

/// A passing data packet, possibly of several segments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Data {
    /// First sequence number.
    pub sequence: u32,
    /// Bytes of payload.
    pub payload: u32,
    /// Bytes on the wire.
    pub size: u32,
    /// Segments in it.
    pub segments: u32,
}

/// The number closest to `last` with these lower 32 bits.
const fn unwrapped(last: u64, low: u32) -> u64 {
    let step = low.wrapping_sub(last as u32) as i32;
    last.saturating_add_signed(step as i64)
}

/// Origin of sequence numbers, so that one before the first seen is still positive.
const ORIGIN: u64 = 1 << 32;

impl LoneRouter {
    /// A router with these settings before a queue of this size, served at this rate.
    pub fn new(settings: Parameters, rate: Rate, buffer: Bytes) -> Self {
        let (queue, waiting) = (CoreQueue::default(), (0.0, Time::ZERO));
        Self { settings, rate, buffer, queue, waiting, flows: BTreeMap::new() }
    }

    fn path(&self) -> FlowPath {
        FlowPath {
            ingress: 0,
            egress: 0,
            turn_position: 0,
            control_loop: 0,
            window: 0,
            shift: 0,
            access_link: 0,
            encrypted: false,
        }
    }

    fn occupancy(&mut self, now: Time, more: u32) -> Occupancy {
        let (waiting, before) = self.waiting;
        let served = self.rate.bits_per_second() as f64 / 8.0 * now.since(before).seconds();
        let size = self.buffer.get() as f64;
        let waiting = ((waiting - served).max(0.0) + f64::from(more)).min(size);
        self.waiting = (waiting, now);
        Occupancy { queue: waiting, size }
    }

    /// Makes room in the table; false if full.
    fn has_room(&mut self, now: Time) -> bool {
        if self.flows.len() < self.settings.flows as usize {
            return true;
        }
        let idlest = self.flows.iter().min_by_key(|(_, flow)| flow.edge.last_data);
        let idlest = idlest.filter(|(_, flow)| now.since(flow.edge.last_data) > IDLE).map(|(&flow, _)| flow);
        idlest.is_some_and(|flow| self.flows.remove(&flow).is_some())
    }

    /// Data of a flow passes.
    pub fn on_data(&mut self, now: Time, flow: u32, data: Data) {
        let Data { sequence, payload, size, segments } = data;
        let occupancy = self.occupancy(now, size);
        if !self.flows.contains_key(&flow) {
            if !self.has_room(now) {
                return;
            }
            let begin = ORIGIN + u64::from(sequence);
            let mut edge = EdgeFlow::new(now, self.path());
            (edge.highest, edge.seen, edge.acknowledged) = (begin, begin, begin);
            let passing = Passing { edge, control: ControlLoop::NEW, discovered: now, last: (begin, begin) };
            self.flows.insert(flow, passing);
        }
        let Some(Passing { edge, control, discovered, last }) = self.flows.get_mut(&flow) else { return };
        last.0 = unwrapped(last.0, sequence);
        let count = segments.max(1);
        let (own, wire) = (payload.div_ceil(count), size.div_ceil(count));
        let mut left = payload;
        let mut due = false;
        for number in 0..u64::from(count) {
            let payload = own.min(left);
            left -= payload;
            edge.on_data(now, &passed(last.0 + number * u64::from(own), payload, wire));
            due |= control.on_data(now, wire.min(u32::from(u16::MAX)) as u16, &self.settings);
        }
        let timed =
            self.settings.discovery_interval.0.is_some_and(|interval| now.since(*discovered) >= interval);
        if due || timed {
            (control.since_discovery, *discovered) = (0, now);
            self.queue.on_forward(&self.settings, occupancy, control.rate);
            let most = self.rate.bits_per_second() as f64;
            control.allowed =
                self.queue.allowed_rate(&self.settings, occupancy).map(|allowed| allowed.min(most));
        }
    }

    /// An ACK passes towards the source. Returns the maximum window for it, if the flow is limited.
    pub fn on_ack(&mut self, now: Time, flow: u32, acknowledgement: u32) -> Option<u64> {
        let Passing { edge, control, last, .. } = self.flows.get_mut(&flow)?;
        last.1 = unwrapped(last.1, acknowledgement);
        if last.1 > edge.seen {
            edge.seen = last.1;
            edge.on_new_ack(now, last.1);
        }
        edge.on_ack_passed(now, last.1);
        edge.allowed_window(&self.settings, control.allowed)
    }

    /// Removes a flow.
    pub fn forget(&mut self, flow: u32) {
        self.flows.remove(&flow);
    }

    /// State of a flow.
    pub fn flow(&self, now: Time, flow: u32) -> Option<FlowState> {
        let Passing { edge, control, .. } = self.flows.get(&flow)?;
        let silent = now.since(edge.last_data) > self.settings.rate_constant.times(SILENT);
        Some(FlowState {
            rate_bps: if silent { 0.0 } else { control.rate },
            allowed_bps: control.allowed,
            window: edge.allowed_window(&self.settings, control.allowed),
            rtt: edge.current_rtt(),
        })
    }

    /// Bytes in the virtual queue.
    pub fn waiting(&mut self, now: Time) -> f64 {
        self.occupancy(now, 0).queue
    }
}

/// A segment in the form that the edge's table takes.
fn passed(sequence: u64, payload: u32, size: u32) -> Packet {
    Packet {
        arrival: Time::ZERO,
        order: 0,
        sequence,
        sent: Time::ZERO,
        echo: Time::NEVER,
        flow: 0,
        hop: 0,
        payload,
        size: size.min(u32::from(u16::MAX)) as u16,
        kind: PacketKind::Data,
        flags: Flags::NONE,
        extra: NO_EXTRA,
        number: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sequence numbers continue beyond 32 bits, and slightly backwards.
    #[test]
    fn sequence_numbers_wrap() {
        assert_eq!(unwrapped(ORIGIN + 0xffff_ff00, 0x100), 2 * ORIGIN + 0x100);
        assert_eq!(unwrapped(2 * ORIGIN + 0x100, 0xffff_ff00), ORIGIN + 0xffff_ff00);
    }

    fn router() -> LoneRouter {
        LoneRouter::new(Parameters::default(), Rate::from_bits_per_second(20_000_000), Bytes(100_000))
    }

    /// A source that sends a packet of 1500 B each 15 ms, with 10 ms to its ACK: 0.8 Mbit/s.
    /// Pressure with one packet in the queue is 1 + 0.15 (50 000 - 1500) / 50 000 = 1.1455. The
    /// window is the floor, two segments.
    #[test]
    fn a_flow_is_allowed_what_its_rate_and_the_queue_say() {
        let mut router = router();
        let mut now = Time::ZERO;
        let mut window = None;
        for round in 0..4000_u32 {
            now = Time::ZERO + Duration::from_milliseconds(15 * u64::from(round));
            let sequence = (1448 * round).wrapping_sub(10);
            let data = Data { sequence, payload: 1448, size: 1500, segments: 1 };
            router.on_data(now, 7, data);
            let back = now + Duration::from_milliseconds(10);
            window = router.on_ack(back, 7, sequence.wrapping_add(1448));
        }
        let state = router.flow(now, 7).expect("in the table");
        assert!((state.rate_bps / 800_000.0 - 1.0).abs() < 1e-6, "{state:?}");
        let allowed = state.allowed_bps.expect("discovered");
        assert!((allowed / (800_000.0 * 1.1455) - 1.0).abs() < 1e-3, "{allowed}");
        assert!((state.rtt.expect("timed").seconds() / 0.015 - 1.0).abs() < 1e-6, "{state:?}");
        assert_eq!((window, state.window), (Some(2896), Some(2896)));
        // After silence its rate is zero.
        let later = now + Duration::from_milliseconds(1000);
        assert_eq!(router.flow(later, 7).map(|state| state.rate_bps), Some(0.0));
        router.forget(7);
        assert_eq!(router.flow(now, 7), None);
        assert_eq!(router.on_ack(now, 7, 0), None);
    }

    /// Super-packets of three segments at 36 Mbit/s into 20: the queue is full, and nothing is
    /// allowed; it drains in 40 ms.
    #[test]
    fn a_full_queue_allows_nothing() {
        let mut router = router();
        let mut now = Time::ZERO;
        for round in 0..400_u32 {
            now = Time::ZERO + Duration::from_milliseconds(u64::from(round));
            let data = Data { sequence: 4344 * round, payload: 4344, size: 4500, segments: 3 };
            router.on_data(now, 1, data);
        }
        assert_eq!(router.flow(now, 1).and_then(|state| state.allowed_bps), Some(0.0));
        assert!((router.waiting(now) - 100_000.0).abs() < 1e-6);
        assert!((router.waiting(now + Duration::from_milliseconds(20)) - 50_000.0).abs() < 1e-6);
        assert_eq!(router.waiting(now + Duration::from_milliseconds(50)), 0.0);
    }
}
