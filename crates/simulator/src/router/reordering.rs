//! Reordering: some packets are held for a time and overtaken, as on paths with several routes (RFC
//! 4737).

use std::collections::VecDeque;

use super::mechanism::{Fate, Mechanism, RouterSite, Station};
use crate::engine::{Stream, Timer};
use crate::named::settings;
use crate::packet::Packet;
use selfclock_congestion::units::{Duration, Time};

selfclock_congestion::parameters! {
    /// Settings of a reordering.
    Parameters {
        /// Probability that a packet is held.
        probability: f64 = 0.0, shown "", unit "", range (0.0, 1.0), source "";
        /// How long it is held.
        delay: Duration = Duration::ZERO, shown "", unit "s", range (0.0, f64::INFINITY), source "";
        /// A further random time of each, uniform below this: held packets overtake one another,
        /// too.
        spread: Duration = Duration::ZERO, shown "0 s", unit "s", range (0.0, f64::INFINITY), source "our choice";
    }
}
settings!(
    Parameters,
    "reordering",
    "Holds some packets for a time, so that those behind overtake them.",
    "RFC 4737"
);

/// Holds packets at random.
#[derive(Clone, Debug)]
pub(crate) struct Reordering {
    settings: Parameters,
    stream: Stream,
    /// Held packets, in order of release.
    held: VecDeque<(Time, Packet)>,
    timer: Timer,
}

impl Reordering {
    fn set_timer(&mut self, station: &mut Station<'_>) {
        if let Some((deadline, _)) = self.held.front() {
            station.set_timer(&mut self.timer, *deadline);
        }
    }
}

impl Mechanism for Reordering {
    type Settings = Parameters;

    /// Nothing is held.
    fn new(settings: Parameters, site: &RouterSite<'_>) -> Self {
        Self { settings, stream: site.stream(), held: VecDeque::new(), timer: Timer::default() }
    }

    /// Holds the packet with the given probability.
    fn on_packet(&mut self, station: &mut Station<'_>, packet: &mut Packet) -> Fate {
        if !self.stream.happens(self.settings.probability) {
            return Fate::Pass;
        }
        let mut deadline = station.now + self.settings.delay;
        if !self.settings.spread.is_zero() {
            deadline += self.stream.duration_below(self.settings.spread);
        }
        // Behind those of the same time.
        let place = self.held.partition_point(|&(earlier, _)| earlier <= deadline);
        self.held.insert(place, (deadline, *packet));
        self.set_timer(station);
        Fate::Taken
    }

    /// Releases packets held long enough.
    fn on_timer(&mut self, station: &mut Station<'_>) {
        if !station.timer_is_due(&mut self.timer) {
            return;
        }
        while let Some(&(deadline, packet)) = self.held.front()
            && deadline <= station.now
        {
            self.held.pop_front();
            station.release(packet);
        }
        self.set_timer(station);
    }

    fn held(&self) -> u64 {
        self.held.len() as u64
    }
}
