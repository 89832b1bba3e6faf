//! Recorded arrivals, replayed through the simulator's network: every event must be the same.

use crate::error::EmulationError;
use crate::paths::Paths;
use crate::settings::Settings;
use selfclock_congestion::units::{Duration, Time};
use selfclock_simulator::plan::Plan;
use selfclock_simulator::record::packets::{Codepoint, PacketEvent, PacketKind, PacketRecord};
use selfclock_simulator::wires::{Direction, Parcel, Wires};
use std::collections::VecDeque;

/// A packet event as recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recorded {
    /// Time, s, as in records. Hosts send at whole nanoseconds, which it restores exactly.
    pub time_s: f64,
    /// Kind of event.
    pub event: PacketEvent,
    /// Index of the link; [`u32::MAX`] at hosts.
    pub link: u32,
    /// Slot of its connection in the plan.
    pub slot: u32,
    /// Kind of packet.
    pub kind: PacketKind,
    /// ECN field.
    pub ecn: Codepoint,
    /// ECN-Echo.
    pub ece: bool,
    /// Congestion window reduced.
    pub cwr: bool,
    /// Whether it is a retransmission.
    pub retransmission: bool,
    /// Number of the packet.
    pub packet: u64,
    /// Sequence number of the first payload byte; of an acknowledgement the next byte expected.
    pub sequence: u64,
    /// Payload, bytes.
    pub payload: u32,
    /// Size, bytes.
    pub size: u32,
    /// Of an ACK: the advertised window, bytes.
    pub receive_window: Option<u64>,
    /// The first link of a sent packet, which determines its direction.
    pub first_link: u32,
}

impl Recorded {
    /// Converts a record in memory; of a sent packet, with its first link.
    pub fn of(record: &PacketRecord, first_link: u32) -> Self {
        let acknowledges = record.kind.acknowledges();
        Self {
            time_s: record.time.seconds(),
            event: record.event,
            link: record.link,
            slot: record.flow,
            kind: record.kind,
            ecn: record.ecn,
            ece: record.ece,
            cwr: record.cwr,
            retransmission: record.retransmission,
            packet: record.packet,
            sequence: if acknowledges { record.acknowledgement } else { record.sequence },
            payload: record.payload,
            size: record.size,
            receive_window: Some(record.receive_window).filter(|&window| window != u64::MAX),
            first_link,
        }
    }

    /// The time at which a host sent a packet.
    fn sent_at(&self) -> Time {
        Time::ZERO + Duration::from_picoseconds((self.time_s * 1e9).round() as u64 * 1_000)
    }
}

/// How two records differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// When, s.
    pub time_s: f64,
    /// A sentence.
    pub what: String,
}

/// Result of a replay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Packets that hosts sent.
    pub sent: u64,
    /// Packets dropped or lost.
    pub dropped: u64,
    /// Marks.
    pub marked: u64,
    /// The first differences.
    pub differences: Vec<Difference>,
}

/// Number of differences after which the comparison stops: all others may follow from the first.
const MOST_DIFFERENCES: usize = 20;

/// A network that replays recorded arrivals.
pub struct Replay {
    wires: Wires<()>,
    paths: Paths,
    /// Recorded and replayed events not yet compared.
    recorded: VecDeque<Recorded>,
    here: VecDeque<Recorded>,
    findings: Findings,
}

impl Replay {
    /// The network of an emulation of this scenario between these nodes.
    ///
    /// # Errors
    /// As of [`crate::Emulation::new`].
    pub fn new(scenario: &Plan, nodes: &[usize], flows_per_path: u32) -> Result<Self, EmulationError> {
        let settings = Settings { flows_per_path, record: true, ..Settings::default() };
        let paths = Paths::new(scenario, nodes, &settings)?;
        let wires = Wires::new(&Plan {
            record: selfclock_simulator::plan::RecordPlan { interval: None, ..paths.plan.record.clone() },
            ..paths.plan.clone()
        });
        Ok(Self {
            wires,
            paths,
            recorded: VecDeque::new(),
            here: VecDeque::new(),
            findings: Findings::default(),
        })
    }

    /// Whether it has found enough differences.
    pub fn is_enough(&self) -> bool {
        self.findings.differences.len() >= MOST_DIFFERENCES
    }

    /// Takes the next recorded events, in the order of the record.
    pub fn add(&mut self, events: &[Recorded]) {
        for event in events {
            if self.is_enough() {
                return;
            }
            match event.event {
                PacketEvent::Send if event.kind != PacketKind::ResourceDiscovery => self.send(event),
                PacketEvent::Drop | PacketEvent::Lose => self.findings.dropped += 1,
                PacketEvent::Mark => self.findings.marked += 1,
                _ => {}
            }
            self.recorded.push_back(Recorded { first_link: u32::MAX, ..*event });
        }
    }

    /// Compares events up to this time, the end of the record.
    pub fn finish(mut self, end: Time) -> Findings {
        // Records are taken when their time is over.
        self.advance(end);
        self.advance(end + Duration::from_picoseconds(1));
        let plan = &self.paths.plan;
        let left = match (self.recorded.front(), self.here.front()) {
            (Some(event), _) => {
                Some((event.time_s, format!("recorded: {}; replayed: nothing", sentence(event, plan))))
            }
            (None, Some(event)) if event.time_s <= end.seconds() => {
                Some((event.time_s, format!("recorded: nothing; replayed: {}", sentence(event, plan))))
            }
            (None, _) => None,
        };
        if let Some((time_s, what)) = left
            && !self.is_enough()
        {
            self.findings.differences.push(Difference { time_s, what });
        }
        self.findings
    }

    fn send(&mut self, event: &Recorded) {
        self.findings.sent += 1;
        let now = event.sent_at();
        self.advance(now);
        let Some(flow) = self.paths.plan.flows.get(event.slot as usize) else {
            let what = format!("packet {} is of no connection of the record", event.packet);
            self.findings.differences.push(Difference { time_s: event.time_s, what });
            return;
        };
        let forward = flow.forward.first() == Some(&(event.first_link as usize));
        let direction = if forward { Direction::Forward } else { Direction::Backward };
        let parcel = Parcel {
            size: u16::try_from(event.size).unwrap_or(u16::MAX),
            ecn: event.ecn,
            kind: event.kind,
            sequence: event.sequence,
            payload: event.payload,
            retransmission: event.retransmission,
            ece: event.ece,
            cwr: event.cwr,
            receive_window: event.receive_window,
        };
        self.wires.send(now, event.slot as usize, direction, &parcel, ());
    }

    fn advance(&mut self, now: Time) {
        self.wires.advance(now).for_each(drop);
        self.take();
        self.compare();
    }

    fn take(&mut self) {
        let packets = self.wires.take_packets();
        self.here.extend(packets.iter().map(|record| Recorded::of(&record, u32::MAX)));
    }

    fn compare(&mut self) {
        while !self.is_enough()
            && let (Some(expected), Some(found)) = (self.recorded.front(), self.here.front())
        {
            if expected != found {
                let plan = &self.paths.plan;
                let what =
                    format!("recorded: {}; replayed: {}", sentence(expected, plan), sentence(found, plan));
                let time_s = expected.time_s.min(found.time_s);
                self.findings.differences.push(Difference { time_s, what });
            }
            self.recorded.pop_front();
            self.here.pop_front();
        }
    }
}

fn sentence(event: &Recorded, plan: &Plan) -> String {
    let link = plan.links.get(event.link as usize);
    let place = link.map_or_else(String::new, |link| format!(" at {}", link.name));
    format!(
        "{} of packet {} ({}, {} B, {}){place} at {} s",
        event.event.name(),
        event.packet,
        event.kind.name(),
        event.size,
        event.ecn.name(),
        event.time_s
    )
}
