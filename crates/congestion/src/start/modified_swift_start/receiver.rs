//! The receiver's part of the modified Swift Start.

use crate::option::{PairMark, PeerOption, SwiftStartOption};
use crate::receiver::{AckRequest, ReceiverPart};
use crate::units::{Duration, Time};

/// Times pairs, and puts the interval in its ACKs (section 3.2 and figure 7 of the paper on the
/// modified Swift Start).
///
/// "Whenever it sends an acknowledgment, it will send Δt in it": for a round-trip time after the
/// first such ACK, because some may be lost or thinned out on their way (our choice). It takes the
/// round-trip time from the handshake; without one, a second, the initial RTO of RFC 6298.
#[derive(Clone, Debug)]
pub struct SwiftStartReceiver {
    syn_answered: Option<Time>,
    rtt: Duration,
    /// Pair-id and arrival of the last "First".
    first: Option<(u8, Time)>,
    /// The last interval, and until when ACKs carry it; unknown before the first of them.
    report: Option<(SwiftStartOption, Option<Time>)>,
}

impl Default for SwiftStartReceiver {
    fn default() -> Self {
        Self { syn_answered: None, rtt: Duration::from_milliseconds(1000), first: None, report: None }
    }
}

impl ReceiverPart for SwiftStartReceiver {
    fn on_syn(&mut self, now: Time, _option: Option<PeerOption>, _ttl: u8) -> Option<PeerOption> {
        self.syn_answered = Some(now);
        None
    }

    fn on_data(&mut self, now: Time, option: Option<PeerOption>, _ttl: u8) -> AckRequest {
        let Some(PeerOption::SwiftStart(SwiftStartOption::Mark(mark, id))) = option else {
            return AckRequest::default();
        };
        if let Some(answered) = self.syn_answered.take() {
            self.rtt = now.since(answered);
        }
        if mark == PairMark::First {
            self.first = Some((id, now));
            return AckRequest::default();
        }
        // "it will check whether it is the second for the recorded one or not"
        if let Some((first_id, first)) = self.first.take()
            && first_id == id
        {
            // Saturates: 2^32 µs are more than an hour.
            let microseconds = (now.since(first).seconds() * 1e6 + 0.5) as u32;
            self.report = Some((SwiftStartOption::Reply { id, microseconds }, None));
        }
        // "when it receives the second one it will calculate Δt and wait for new 200 ms"
        AckRequest { restart_timer: true, ..AckRequest::default() }
    }

    fn option_for_ack(&mut self, now: Time) -> Option<PeerOption> {
        let (report, until) = self.report.as_mut()?;
        let carried = now <= *until.get_or_insert(now + self.rtt);
        let option = carried.then_some(PeerOption::SwiftStart(*report));
        if option.is_none() {
            self.report = None;
        }
        option
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::receiver::INITIAL_TTL;

    fn at(milliseconds: u64) -> Time {
        Time::ZERO + Duration::from_milliseconds(milliseconds)
    }

    fn swift_mark(mark: PairMark, id: u8) -> Option<PeerOption> {
        Some(PeerOption::SwiftStart(SwiftStartOption::Mark(mark, id)))
    }

    /// Figure 7 of the paper: the interval is in every ACK after the second, for a round trip.
    #[test]
    fn the_interval_of_a_pair_is_told_for_a_round_trip() {
        let mut part = SwiftStartReceiver::default();
        assert_eq!(part.on_syn(at(100), None, INITIAL_TTL), None);
        assert_eq!(part.on_data(at(370), swift_mark(PairMark::First, 9), INITIAL_TTL), AckRequest::default());
        assert_eq!(part.option_for_ack(at(371)), None);
        let request = part.on_data(at(378), swift_mark(PairMark::Second, 9), INITIAL_TTL);
        assert_eq!(request, AckRequest { restart_timer: true, ..AckRequest::default() });
        let reply = Some(PeerOption::SwiftStart(SwiftStartOption::Reply { id: 9, microseconds: 8000 }));
        // The first may come late: the round trip, 270 ms, counts from it.
        for now in [578, 600, 848] {
            assert_eq!(part.option_for_ack(at(now)), reply, "at {now} ms");
        }
        assert_eq!(part.option_for_ack(at(849)), None);
    }

    #[test]
    fn a_second_of_another_pair_tells_nothing() {
        let mut part = SwiftStartReceiver::default();
        part.on_data(at(370), swift_mark(PairMark::First, 8), INITIAL_TTL);
        part.on_data(at(378), swift_mark(PairMark::Second, 9), INITIAL_TTL);
        assert_eq!(part.option_for_ack(at(380)), None);
    }
}
