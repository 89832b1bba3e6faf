//! Thins ACKs: of two of a flow in close succession only the later is forwarded.

use std::collections::VecDeque;

use super::mechanism::{Fate, Mechanism, RouterSite, Station};
use crate::engine::Timer;
use crate::named::settings;
use crate::packet::{Packet, PacketKind};
use selfclock_congestion::parameter::ABOVE_ZERO;
use selfclock_congestion::units::{Duration, Time};

selfclock_congestion::parameters! {
    /// Settings of ACK thinning.
    Parameters {
        /// How close two acknowledgements must be; one waits for its successor for that long at
        /// most.
        interval: Duration = Duration::ZERO, shown "", unit "s", range ABOVE_ZERO, source "";
    }
}
settings!(
    Parameters,
    "ack-thinning",
    "Drops the earlier of two acknowledgements of a flow that come close behind one another; duplicates and other packets pass at once.",
    "Khalil et al., section 3.1b"
);

/// "Router that supports acknowledgment compression will send only one ACK if it receives two
/// consecutive ACK messages of a connection within small interval" (Khalil et al., section 3.1b).
/// Time that an ACK waits for its successor; if one comes, the earlier is dropped, since the later
/// carries all of it, and the later is forwarded.
#[derive(Clone, Debug)]
pub(crate) struct AckThinning {
    interval: Duration,
    /// Held ACKs, in order of time.
    waiting: VecDeque<(Time, Packet)>,
    /// Last acknowledged number of each connection seen.
    acknowledged: Vec<u64>,
    timer: Timer,
}

impl AckThinning {
    /// Takes the held ACK of the same flow before the same link.
    fn take(&mut self, packet: &Packet) -> Option<Packet> {
        let same = |(_, held): &(Time, Packet)| held.flow == packet.flow && held.hop == packet.hop;
        let position = self.waiting.iter().position(same)?;
        self.waiting.remove(position).map(|(_, held)| held)
    }

    fn set_timer(&mut self, station: &mut Station<'_>) {
        if let Some((deadline, _)) = self.waiting.front() {
            station.set_timer(&mut self.timer, *deadline);
        }
    }
}

impl Mechanism for AckThinning {
    type Settings = Parameters;

    /// Nothing waits.
    fn new(Parameters { interval }: Parameters, _: &RouterSite<'_>) -> Self {
        Self { interval, waiting: VecDeque::new(), acknowledged: Vec::new(), timer: Timer::default() }
    }

    /// Holds an ACK without a predecessor; with one, forwards it and drops the predecessor.
    fn on_packet(&mut self, station: &mut Station<'_>, packet: &mut Packet) -> Fate {
        let flow = packet.flow as usize;
        if flow >= self.acknowledged.len() {
            self.acknowledged.resize(flow + 1, 0);
        }
        if packet.kind != PacketKind::Ack || packet.sequence <= self.acknowledged[flow] {
            // Duplicates report losses: they overtake nothing and are not thinned.
            if let Some(held) = self.take(packet) {
                station.release(held);
            }
            return Fate::Pass;
        }
        self.acknowledged[flow] = packet.sequence;
        if let Some(held) = self.take(packet) {
            station.release(std::mem::replace(packet, held));
            return Fate::Drop;
        }
        self.waiting.push_back((station.now + self.interval, *packet));
        self.set_timer(station);
        Fate::Taken
    }

    /// Forwards ACKs held long enough.
    fn on_timer(&mut self, station: &mut Station<'_>) {
        if !station.timer_is_due(&mut self.timer) {
            return;
        }
        while let Some(&(deadline, packet)) = self.waiting.front()
            && deadline <= station.now
        {
            self.waiting.pop_front();
            station.release(packet);
        }
        self.set_timer(station);
    }

    fn held(&self) -> u64 {
        self.waiting.len() as u64
    }
}
