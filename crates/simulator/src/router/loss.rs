//! Loss of selected kinds of packets: a mechanism's behaviour when only its own packets fail;
//! outages, and the regular losses with which RFC 5166 measures a response.

use std::collections::BTreeMap;

use super::mechanism::{Fate, Mechanism, RouterSite, Station};
use crate::engine::Stream;
use crate::named::{Contradiction, settings};
use crate::packet::{Flags, Packet, PacketKind};
use selfclock_congestion::parameter::{ABOVE_ZERO, Counts, Kind, ParameterType, Value};
use selfclock_congestion::units::{Bytes, Duration, Time};

selfclock_congestion::choice! {
    /// Transmissions that the numbers of packets count.
    Counted {
        /// First transmissions.
        First = "first-transmissions",
        /// Every transmission.
        All = "all",
    }
}

/// A set of kinds of packets, one bit per kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds(u32);

impl Kinds {
    const NAMES: [&'static str; PacketKind::ALL.len()] = {
        let mut names = [""; PacketKind::ALL.len()];
        let mut index = 0;
        while index < names.len() {
            names[index] = PacketKind::ALL[index].name();
            index += 1;
        }
        names
    };

    const fn contains(self, kind: PacketKind) -> bool {
        self.0 >> kind as u32 & 1 == 1
    }
}

impl ParameterType for Kinds {
    const KIND: Kind = Kind::Several(&Self::NAMES);
    fn from_value(value: Value<'_>) -> Option<Self> {
        if let Value::Several(kinds) = value { Some(Self(kinds)) } else { None }
    }
}

selfclock_congestion::parameters! {
    /// Settings of a loss of chosen kinds of packets.
    Parameters {
        /// Probability of loss of each, independently. One of probability, every, spacing and
        /// packets is needed.
        probability: Option<f64> = None, shown "not used", unit "", range (0.0, 1.0), source "our choice";
        /// Every Nth is lost, whatever flow it is of.
        every: Option<u64> = None, shown "not used", unit "", range (1.0, f64::INFINITY), source "our choice";
        /// One is lost, then none for this long.
        spacing: Option<Duration> = None, shown "not used", unit "s", range ABOVE_ZERO, source "our choice";
        /// Those of each flow with these numbers are lost, the first is 1: [14, 26, 28]. Every
        /// short connection is a flow of its own.
        packets: Option<Counts> = None, shown "not used", unit "", range (0.0, 0.0), source "Fall and Floyd, Simulation-based Comparisons of Tahoe, Reno, and SACK TCP, CCR 26(3), 1996";
        /// The numbers count first transmissions alone, or retransmissions, too.
        counts: Counted = Counted::First, shown "first-transmissions", unit "", range (0.0, 0.0), source "our choice";
        /// Which packets.
        kinds: Kinds = Kinds(0), shown "", unit "", range (0.0, 0.0), source "";
        /// When the losses begin.
        from: Duration = Duration::ZERO, shown "0 s", unit "s", range (0.0, f64::INFINITY), source "our choice";
        /// When they end.
        until: Option<Duration> = None, shown "the end of the run", unit "s", range (0.0, f64::INFINITY), source "our choice";
    }
}
settings!(
    Parameters,
    "loss",
    "Loses chosen kinds of packets, and those alone; probability = 1 with from and until is an outage.",
    "our choice, for tests of faults",
    check Parameters::one_pattern_in_time
);

impl Parameters {
    fn one_pattern_in_time(&self) -> Result<(), Contradiction> {
        if self.pattern().is_none() {
            return Err(Contradiction {
                parameter: "",
                message: "needs one key that says which packets are lost",
                help: "probability, every, spacing or packets",
            });
        }
        if self.until.is_some_and(|until| until <= self.from) {
            return Err(Contradiction {
                parameter: "until",
                message: "ends before it begins",
                help: "until must be later than from",
            });
        }
        Ok(())
    }

    fn pattern(&self) -> Option<Pattern> {
        match (self.probability, self.every, self.spacing, self.packets) {
            (Some(probability), None, None, None) => Some(Pattern::Random(probability)),
            (None, Some(every), None, None) => Some(Pattern::Every(every)),
            (None, None, Some(spacing), None) => Some(Pattern::Spaced(spacing)),
            (None, None, None, Some(packets)) => Some(Pattern::Chosen(packets.as_slice().into())),
            _ => None,
        }
    }
}

/// Which packets are lost.
#[derive(Clone, Debug, PartialEq)]
enum Pattern {
    /// Each with this probability, independently.
    Random(f64),
    /// Every Nth.
    Every(u64),
    /// One, then none for this time.
    Spaced(Duration),
    /// Those of each flow with these numbers.
    Chosen(Box<[u32]>),
}

/// Drops packets of some kinds.
#[derive(Clone, Debug)]
pub(crate) struct LossOfKinds {
    settings: Parameters,
    /// `None` if no packet is lost.
    pattern: Option<Pattern>,
    stream: Stream,
    /// Packets that have passed since the last loss.
    passed: u64,
    /// No losses before this time.
    quiet_until: Time,
    /// Packets of each flow that have been counted, if some are chosen by their number.
    counted: BTreeMap<u32, u32>,
}

impl LossOfKinds {
    fn is_its_turn(&mut self, now: Time, packet: &Packet) -> bool {
        match &self.pattern {
            None => false,
            Some(Pattern::Random(probability)) => self.stream.happens(*probability),
            Some(Pattern::Every(packets)) => {
                self.passed += 1;
                let lost = self.passed == *packets;
                if lost {
                    self.passed = 0;
                }
                lost
            }
            Some(Pattern::Chosen(packets)) => {
                if self.settings.counts == Counted::First && packet.flags.has(Flags::RETRANSMISSION) {
                    return false;
                }
                let number = self.counted.entry(packet.flow).or_default();
                *number = number.saturating_add(1);
                packets.binary_search(number).is_ok()
            }
            Some(Pattern::Spaced(spacing)) => {
                let lost = now >= self.quiet_until;
                if lost {
                    self.quiet_until = now + *spacing;
                }
                lost
            }
        }
    }
}

impl Mechanism for LossOfKinds {
    type Settings = Parameters;

    /// State before the first loss.
    fn new(settings: Parameters, site: &RouterSite<'_>) -> Self {
        let pattern = settings.pattern();
        let (stream, quiet_until) = (site.stream(), Time::ZERO);
        Self { settings, pattern, stream, passed: 0, quiet_until, counted: BTreeMap::new() }
    }

    /// Drops the packet if its kind, time and turn match.
    fn on_packet(&mut self, station: &mut Station<'_>, packet: &mut Packet) -> Fate {
        let Parameters { kinds, from, until, .. } = self.settings;
        let now = station.now;
        let is_on = now >= Time::ZERO + from && until.is_none_or(|until| now < Time::ZERO + until);
        if kinds.contains(packet.kind) && is_on && self.is_its_turn(now, packet) {
            return Fate::Drop;
        }
        Fate::Pass
    }

    fn note(settings: &Parameters, _: Option<Bytes>) -> Option<&'static str> {
        (settings.probability == Some(1.0)).then_some("a router loses every packet of the chosen kinds")
    }
}
