//! Packet records, if the plan requests them.

use super::link::Passage;
use super::{Network, marked};
use crate::engine::EventQueue;
use crate::packet::{Flags, Packet};
use crate::record::packets::PacketEvent;
use selfclock_congestion::units::Time;

impl Network {
    /// Records the events of a packet that arrives at a link at `now`.
    #[cold]
    pub(super) fn record_passage(&mut self, passage: Passage, now: Time, link: u32, packet: &Packet) {
        let (start, above) = match passage {
            Passage::Dropped => return self.record(PacketEvent::Drop, now, link, packet),
            Passage::Crosses { start, above, .. } | Passage::Lost { start, above, .. } => (start, above),
        };
        self.record(PacketEvent::Enqueue, now, link, packet);
        let packet = if above { marked(packet) } else { *packet };
        if above && packet.flags.has(Flags::CE) {
            self.record(PacketEvent::Mark, now, link, &packet);
        }
        self.record(PacketEvent::Transmit, start, link, &packet);
        if let Passage::Lost { end, .. } = passage {
            self.record(PacketEvent::Lose, end, link, &packet);
        }
    }

    /// Sends a foreign stack's datagram with these bytes, which are kept if the plan requests it.
    pub(crate) fn send_datagram(&mut self, events: &mut EventQueue, now: Time, packet: Packet, bytes: &[u8]) {
        let (from, until) = self.recorded;
        if let Some(recorder) = &mut self.recorder
            && recorder.keeps_payload()
            && (from..=until).contains(&now)
        {
            recorder.add_payload(self.packets_sent as u32, bytes);
        }
        self.send(events, now, packet);
    }

    /// Records an event at `time`, if within the plan's recording period.
    #[cold]
    pub(super) fn record(&mut self, event: PacketEvent, time: Time, link: u32, packet: &Packet) {
        let (from, until) = self.recorded;
        let Some(recorder) = &mut self.recorder else { return };
        if (from..=until).contains(&time) {
            recorder.add(event, time, link, packet, self.extras.peek(packet.extra));
        }
    }
}
