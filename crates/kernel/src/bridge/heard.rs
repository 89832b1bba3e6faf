//! What a peer has said in a TCP option, for the event that comes next.
//!
//! On the wire all algorithms have one option for pairs (`bpf/options.bpf.c`), and the peer's kernel
//! times them. The algorithm's own receiver part is told of these arrivals here, so that the
//! algorithm reads the answer that it knows.

use core::cell::Cell;
use core::ops::Deref;

use selfclock_congestion::option::{PacketPairOption, PairMark, PeerOption, SwiftStartOption};
use selfclock_congestion::receiver::{INITIAL_TTL, Partner};
use selfclock_congestion::{Controller, Duration, Event, Time};

use super::flow::Control;

/// An algorithm that hears of options.
#[derive(Clone, Debug)]
pub struct Heard<C> {
    control: C,
    option: Cell<Option<PeerOption>>,
}

impl<C> Heard<C> {
    pub(super) const fn new(control: C) -> Self {
        Self { control, option: Cell::new(None) }
    }

    /// The next ACK carries this option.
    pub(super) fn hear(&self, option: PeerOption) {
        self.option.set(Some(option));
    }

    /// The algorithm, or the recorder around it.
    pub fn into_inner(self) -> C {
        self.control
    }
}

impl<C> Deref for Heard<C> {
    type Target = C;
    fn deref(&self) -> &C {
        &self.control
    }
}

impl<C: Control> Control for Heard<C> {
    type Algorithm = C::Algorithm;

    fn on(&mut self, event: &Event) {
        let mut event = *event;
        match &mut event {
            Event::Acknowledged(ack) => ack.option = self.option.take(),
            Event::DuplicateAck(ack) => ack.option = self.option.take(),
            _ => {}
        }
        self.control.on(&event);
    }

    fn controller(&self) -> &Controller<C::Algorithm> {
        self.control.controller()
    }
}

/// The receiver part of a connection's algorithm, as the times of arrival that the peer reports
/// move it.
#[derive(Clone, Debug)]
pub struct Peer {
    partner: Partner,
    /// Its marks are those of packet pair, else of Swift Start.
    packet_pair: bool,
    /// The pair whose first segment has arrived, and when.
    first: Option<(u8, Time)>,
    /// The last pair that was answered.
    answered: Option<u8>,
}

fn arrival(packet_pair: bool, mark: PairMark, id: u8) -> PeerOption {
    if packet_pair {
        PeerOption::PacketPair(PacketPairOption { mark: Some((mark, id)), ..PacketPairOption::default() })
    } else {
        PeerOption::SwiftStart(SwiftStartOption::Mark(mark, id))
    }
}

impl Peer {
    /// A peer with this part; `None` if it answers no pairs.
    pub fn new(partner: &Partner) -> Option<Self> {
        let answers = |packet_pair: &bool| {
            let mut tried = partner.clone();
            tried.on_data(Time::ZERO, Some(arrival(*packet_pair, PairMark::First, 0)), INITIAL_TTL);
            let later = Time::ZERO + Duration::from_seconds(1.0);
            tried
                .on_data(later, Some(arrival(*packet_pair, PairMark::Second, 0)), INITIAL_TTL)
                .option
                .is_some()
        };
        let packet_pair = [true, false].into_iter().find(answers)?;
        Some(Self { partner: partner.clone(), packet_pair, first: None, answered: None })
    }

    fn arrives(&mut self, now: Time, mark: PairMark, id: u8) -> Option<PeerOption> {
        self.partner.on_data(now, Some(arrival(self.packet_pair, mark, id)), INITIAL_TTL).option
    }

    /// The peer reports that a pair arrived in this interval, or with 0 its first segment alone;
    /// what the algorithm is to read.
    pub fn reported(&mut self, now: Time, id: u8, microseconds: u32) -> Option<PeerOption> {
        if self.answered == Some(id) {
            // A report is repeated, in case an ACK is lost.
            return None;
        }
        if microseconds == 0 {
            self.first = Some((id, now));
            return self.arrives(now, PairMark::First, id);
        }
        let interval = Duration::from_microseconds(microseconds.into());
        let first = match self.first.take() {
            Some((first, at)) if first == id => at,
            _ => {
                self.arrives(now, PairMark::First, id);
                now
            }
        };
        self.answered = Some(id);
        self.arrives(first + interval, PairMark::Second, id)
    }
}

#[cfg(test)]
mod tests {
    use selfclock_congestion::Registry;

    use super::*;

    fn peer(text: &str) -> Option<Peer> {
        Peer::new(&Registry::built_in().read(text).expect("an algorithm").partner())
    }

    /// The interval in the algorithm's own unit: ticks of 1 ms, and microseconds.
    #[test]
    fn the_answer_is_the_algorithms_own() {
        let now = Time::ZERO + Duration::from_seconds(1.0);
        let mut pair = peer("reno+packet-pair:tick=1 ms").expect("answers pairs");
        let Some(PeerOption::PacketPair(option)) = pair.reported(now, 3, 4000) else { panic!("no answer") };
        assert_eq!((option.reply, option.mark), (Some((3, 4)), None));
        assert_eq!(pair.reported(now, 3, 4000), None, "repeated");
        let mut swift = peer("reno+modified-swift-start").expect("answers pairs");
        let reply = SwiftStartOption::Reply { id: 5, microseconds: 583 };
        assert_eq!(swift.reported(now, 5, 583), Some(PeerOption::SwiftStart(reply)));
        assert!(peer("cubic").is_none());
        assert!(peer("reno+swift-start").is_none(), "it times acknowledgements");
    }

    /// From both sides the ACK of each segment of a pair is marked, and the sender times them.
    #[test]
    fn from_both_sides_both_acks_are_marked() {
        let now = Time::ZERO + Duration::from_seconds(1.0);
        let mut pair = peer("reno+packet-pair:tick=1 ms,probing=both-sides").expect("answers pairs");
        let marks = [(0, PairMark::First), (2000, PairMark::Second)].map(|(microseconds, mark)| {
            let Some(PeerOption::PacketPair(option)) = pair.reported(now, 9, microseconds) else {
                panic!("no answer")
            };
            (option.mark == Some((mark, 9)), option.reply)
        });
        assert_eq!(marks, [(true, None), (true, Some((9, 2)))]);
    }
}
