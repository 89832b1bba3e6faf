//! A queue that holds its packets: for disciplines that decide when a packet leaves, or change the
//! order.
//!
//! A drop-tail queue knows when a packet will leave as soon as it arrives, and holds only times.
//! These disciplines do not: CoDel drops at the head, fair queueing takes flows in turn. Their
//! links take a packet from the queue each time the transmitter is free, and packets come to them
//! at the time of the clock.

use super::QueueLimit;
use crate::engine::Stream;
use crate::named::Settings;
use crate::packet::{Flags, Packet};
use selfclock_congestion::units::{Duration, Rate, Time};

/// A discipline's view of its link.
#[derive(Clone, Debug)]
pub struct LinkSite {
    /// Rate of the transmitter at the beginning of the run; afterwards see [`Work::rate`].
    pub rate: Rate,
    /// Whether that is the mean rate of a delivery trace.
    pub has_trace: bool,
    /// The link's random numbers for its queue.
    pub stream: Stream,
}

/// Limit of a queue whose scenario gives none, of a discipline that has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsualLimit {
    /// The limit, in packets.
    pub packets: u64,
    /// Its source.
    pub source: &'static str,
}

/// Queue from which on a discipline drops or marks. One that cannot hold so much is drop-tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActsAbove {
    /// Packets wait for this long.
    Delay(Duration),
    /// This many packets wait.
    Packets(u64),
}

/// A queue discipline at work: who is dropped or marked, and who goes first.
pub trait Discipline: Sized {
    /// Its settings.
    type Settings: Settings;
    /// An empty queue.
    fn new(settings: Self::Settings, site: LinkSite) -> Self;
    /// A packet arrives: it is kept, or something is dropped.
    fn enqueue(&mut self, packet: Packet, work: &mut Work);
    /// The next packet to transmit.
    fn dequeue(&mut self, work: &mut Work) -> Option<Packet>;
    /// [`Discipline::decide`] may decide about a packet that has to wait.
    const DECIDES: bool = false;
    /// Shortcut for a queue of which nothing is held, where it is known now what would become of a
    /// packet that arrives now and whose transmission would begin at `start`. Does all that
    /// `enqueue` now and `dequeue` then would do, and says so; the packet may be marked. `work`
    /// counts as waiting the packets that have passed in this way and whose transmission is still
    /// to begin.
    ///
    /// With [`Discipline::DECIDES`] unset, it is called only where transmission begins now.
    #[inline]
    fn decide(&mut self, packet: &mut Packet, _start: Time, work: &mut Work) -> Decision {
        self.enqueue(*packet, work);
        match self.dequeue(work) {
            None => Decision::Dropped,
            Some(next) => {
                *packet = next;
                Decision::Passes
            }
        }
    }
    /// Processes everything due until `now` of `work`'s backlog, for [`Discipline::decide`], and
    /// returns when something is due next.
    fn catch_up(&mut self, _work: &Work) -> Time {
        Time::NEVER
    }
    /// Shows every packet that waits.
    fn for_each(&self, show: &mut dyn FnMut(&Packet));
    /// A queue with these settings can mark packets.
    fn marks(settings: &Self::Settings) -> bool;
    /// Limit where none is given. `None`: that of the queue's place in the network.
    fn usual_limit(_settings: &Self::Settings) -> Option<UsualLimit> {
        None
    }
    /// Queue from which on it acts. `None`: it orders packets, however many there are.
    fn acts_above(_settings: &Self::Settings) -> Option<ActsAbove> {
        None
    }
}

/// Properties of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It will be transmitted in its turn.
    Passes,
    /// It is dropped, and reported.
    Dropped,
    /// It is decided when its turn has come: nothing has happened.
    Later,
}

/// A queue's backlog and limit.
#[derive(Clone, Copy, Debug)]
pub struct Backlog {
    /// Packets waiting.
    pub packets: u64,
    /// Bytes waiting.
    pub bytes: u64,
    /// Queue limit.
    pub limit: QueueLimit,
    /// Size of the packet in service, if it takes one of the places.
    in_service: Option<u32>,
    /// The transmitter is idle: an arriving packet needs no place.
    is_idle: bool,
}

impl Backlog {
    /// More is in the queue than may be: disciplines that push out take a packet in first.
    pub fn is_over(&self) -> bool {
        !self.allows_more(0, 0)
    }

    /// There is room for a packet of `size` bytes.
    pub fn has_room(&self, size: u16) -> bool {
        self.allows_more(1, size.into())
    }

    fn allows_more(&self, packets: u64, bytes: u64) -> bool {
        let (in_service, its_bytes) = self.in_service.map_or((0, 0), |size| (1, u64::from(size)));
        self.is_idle
            || self.limit.allows(self.packets + in_service + packets, || self.bytes + its_bytes + bytes)
    }
}

/// A discipline's inputs and reports.
#[derive(Clone, Debug)]
pub struct Work {
    /// Now.
    pub now: Time,
    /// Rate of the transmitter now; with a trace, its mean.
    pub rate: Rate,
    /// The backlog, without an arriving packet.
    pub backlog: Backlog,
    /// Packets that the discipline has dropped.
    pub dropped: Vec<Packet>,
    /// Packets that it has marked congestion-experienced; they stay in the queue, or leave it now.
    pub marked: Vec<Packet>,
}

impl Work {
    /// Marks the packet congestion-experienced; false if its transport does not understand that.
    pub fn mark(&mut self, packet: &mut Packet) -> bool {
        if !packet.flags.has(Flags::ECT) {
            return false;
        }
        packet.flags = packet.flags.with(Flags::CE);
        self.marked.push(*packet);
        true
    }

    /// Drops the packet.
    pub fn drop(&mut self, packet: Packet) {
        self.dropped.push(packet);
    }

    /// Counts a packet that is now in the queue.
    pub fn entered(&mut self, packet: &Packet) {
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(packet.size);
    }

    /// Takes a packet that was in the queue out of the count.
    pub fn left(&mut self, packet: &Packet) {
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(packet.size);
    }
}

/// A queue with its discipline and what is counted of it.
#[derive(Clone, Debug)]
pub struct ManagedQueue {
    discipline: super::AnyDiscipline,
    /// The discipline's inputs. The lists are emptied after each step and keep their memory.
    pub work: Work,
    counts_packet_in_service: bool,
    /// When the discipline has something to do whether or not packets come.
    pub due: Time,
    /// As long as nothing is held, [`ManagedQueue::decide`] may also decide about a packet that
    /// has to wait.
    pub decides: bool,
    /// The link's event, that its transmitter is free, stands in the event queue.
    pub transmitter_event: bool,
    /// Sum of the waiting times of the packets transmitted, ps.
    waited: u128,
    /// Sum of the waiting times of the packets dropped, ps.
    waited_dropped: u128,
    /// Most packets that waited at once.
    pub most_waiting: u64,
}

impl ManagedQueue {
    /// An empty queue.
    pub fn new(discipline: super::AnyDiscipline, limit: QueueLimit, counts_packet_in_service: bool) -> Self {
        let backlog = Backlog { packets: 0, bytes: 0, limit, in_service: None, is_idle: false };
        let decides = discipline.decides();
        let work =
            Work { now: Time::ZERO, rate: Rate::default(), backlog, dropped: Vec::new(), marked: Vec::new() };
        Self {
            discipline,
            work,
            counts_packet_in_service,
            due: Time::ZERO,
            decides,
            transmitter_event: false,
            waited: 0,
            waited_dropped: 0,
            most_waiting: 0,
        }
    }

    /// A packet arrives; `in_service` is the size of the packet that is being transmitted, `passed`
    /// what waits of those that the shortcut let pass. If it does not wait it leaves as it came.
    pub fn enqueue(
        &mut self,
        now: Time,
        packet: &Packet,
        in_service: Option<u32>,
        waits: bool,
        passed: (u64, u64),
    ) {
        self.begin(now);
        self.work.backlog.in_service = in_service.filter(|_| self.counts_packet_in_service);
        self.work.backlog.is_idle = !waits;
        self.work.backlog.packets += passed.0;
        self.work.backlog.bytes += passed.1;
        // While a packet waits its time of arrival here stands where that at the next stop will.
        let packet = Packet { arrival: now, ..*packet };
        self.discipline.enqueue(packet, &mut self.work);
        self.work.backlog.is_idle = false;
        self.note_dropped(now);
        if waits {
            self.most_waiting = self.most_waiting.max(self.work.backlog.packets);
        }
        self.work.backlog.packets -= passed.0;
        self.work.backlog.bytes -= passed.1;
    }

    /// Shortcut: see [`Discipline::decide`]. `passed` is what waits of packets that it let pass
    /// before, after `in_service`.
    #[inline]
    pub fn decide(
        &mut self,
        now: Time,
        packet: &mut Packet,
        start: Time,
        in_service: Option<u32>,
        passed: (u64, u64),
    ) -> Decision {
        self.begin(now);
        self.work.backlog.is_idle = in_service.is_none();
        self.work.backlog.in_service = in_service.filter(|_| self.counts_packet_in_service);
        packet.arrival = now;
        (self.work.backlog.packets, self.work.backlog.bytes) = passed;
        let decision = self.discipline.decide(packet, start, &mut self.work);
        self.work.backlog.is_idle = false;
        (self.work.backlog.packets, self.work.backlog.bytes) = (0, 0);
        decision
    }

    /// Shortcut: see [`Discipline::catch_up`].
    #[inline]
    pub fn catch_up(&mut self, now: Time, passed: (u64, u64)) {
        self.work.now = now;
        self.work.backlog.packets += passed.0;
        self.work.backlog.bytes += passed.1;
        self.due = self.discipline.catch_up(&self.work);
        self.work.backlog.packets -= passed.0;
        self.work.backlog.bytes -= passed.1;
    }

    /// The next packet to transmit. `None`: nothing waits, or all that waited was dropped.
    pub fn dequeue(&mut self, now: Time) -> Option<Packet> {
        self.begin(now);
        let packet = self.discipline.dequeue(&mut self.work);
        self.note_dropped(now);
        let packet = packet?;
        self.waited += u128::from(now.since(packet.arrival).picoseconds());
        Some(packet)
    }

    fn begin(&mut self, now: Time) {
        self.work.now = now;
        self.work.dropped.clear();
        self.work.marked.clear();
    }

    fn note_dropped(&mut self, now: Time) {
        for packet in &self.work.dropped {
            self.waited_dropped += u128::from(now.since(packet.arrival).picoseconds());
        }
    }

    /// Nothing waits.
    pub fn is_empty(&self) -> bool {
        self.work.backlog.packets == 0
    }

    /// Sums of waiting times up to the end of the run, ps: of the packets transmitted or still
    /// waiting, and of those dropped.
    pub fn waited_until(&self, end: Time) -> (u128, u128) {
        let mut waited = self.waited;
        self.discipline.for_each(&mut |packet| waited += u128::from(end.since(packet.arrival).picoseconds()));
        (waited, self.waited_dropped)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::engine::random::Purpose;

    /// A link of 8 Mbit/s, which sends 1000 B in 1 ms.
    pub fn site() -> LinkSite {
        let stream = Stream::new(1, Purpose::LinkQueue, 0);
        LinkSite { rate: Rate::from_bits_per_second(8_000_000), has_trace: false, stream }
    }
}
