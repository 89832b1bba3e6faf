//! TCP options between algorithms and their peers: prepared for the kernel part, which writes them
//! as segments leave, and read from its reports. `struct outgoing` of `bpf/options.h`.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use selfclock_congestion::option::{CustomOption, EXPERIMENTAL_KINDS, PacketPairKind, PacketPairOption};
use selfclock_congestion::receiver::{INITIAL_TTL, Partner};
use selfclock_congestion::{Controller, Event, PeerOption, Phase, ProbePart, Time};

use super::flow::Control;
use crate::event::KernelEvent;

/// Blocks prepared ahead for data segments: the kernel part cannot ask when one leaves.
pub const MARKS: usize = 16;
/// Blocks prepared for ACKs; when more wait, the oldest is dropped.
pub const REPLIES: usize = 8;
/// Receivers whose part is kept; beyond, the longest silent one is dropped.
const RECEIVERS: usize = 8192;
/// Set in the keys of receivers, which are socket cookies; flows have their ids.
pub const RECEIVER: u64 = 1 << 63;

/// The options of one segment, each with its kind and length; length 0: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The option, or the mark of a mark with a reply.
    pub first: [u8; 16],
    /// A reply beside a mark, under the other experimental kind: Linux refuses two options of one
    /// kind and ExID on a segment.
    pub second: [u8; 8],
}

const fn other(kind: PacketPairKind) -> PacketPairKind {
    match kind {
        PacketPairKind::Kind253 => PacketPairKind::Kind254,
        PacketPairKind::Kind254 | PacketPairKind::Six => PacketPairKind::Kind253,
    }
}

/// An option without padding; `None` if its kind is not experimental, or it is too long.
fn bare<const LONGEST: usize>(option: PeerOption) -> Option<[u8; LONGEST]> {
    let (bytes, length) = option.encode();
    let start = bytes[..length].iter().position(|byte| EXPERIMENTAL_KINDS.contains(byte))?;
    let all_padding = bytes[..start].iter().all(|byte| *byte == 1);
    let mut kept = [0; LONGEST];
    kept.get_mut(..length - start)?.copy_from_slice(&bytes[start..length]);
    all_padding.then_some(kept)
}

impl Block {
    /// The block of an option; `None` if real segments cannot carry it.
    pub fn of(option: PeerOption) -> Option<Self> {
        if let PeerOption::PacketPair(PacketPairOption {
            kind,
            mark: mark @ Some(_),
            reply: reply @ Some(_),
        }) = option
        {
            let mark = PacketPairOption { kind, mark, reply: None };
            let reply = PacketPairOption { kind: other(kind), mark: None, reply };
            let (first, second) = (bare(PeerOption::PacketPair(mark))?, bare(PeerOption::PacketPair(reply))?);
            return Some(Self { first, second });
        }
        Some(Self { first: bare(option)?, second: [0; 8] })
    }

    /// The options that an event reports.
    pub fn reported(event: &KernelEvent) -> Self {
        let words = [event.peer_0, event.peer_1, event.peer_2, event.peer_3].map(u32::to_le_bytes);
        let mut first = [0; 16];
        first.iter_mut().zip(words.as_flattened()).for_each(|(to, from)| *to = *from);
        let mut block = Self { first, second: event.pacing.to_le_bytes() };
        block.cut();
        block
    }

    /// Clears the bytes behind each option.
    fn cut(&mut self) {
        for bytes in [&mut self.first[..], &mut self.second[..]] {
            let length = usize::from(bytes[1]).min(bytes.len());
            bytes[length..].fill(0);
            if length == 0 {
                bytes.fill(0);
            }
        }
    }

    /// The option in it.
    pub fn option(&self) -> Option<PeerOption> {
        let mut bytes = Vec::new();
        for option in [&self.first[..], &self.second[..]] {
            bytes.extend_from_slice(&option[..usize::from(option[1]).min(option.len())]);
        }
        PeerOption::decode(&bytes).ok()?.or_else(|| {
            let exid = [*bytes.get(2)?, *bytes.get(3)?];
            CustomOption::find(exid, &bytes).ok()?.map(PeerOption::Custom)
        })
    }

    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.first);
        out.extend_from_slice(&self.second);
    }
}

/// Blocks for the kernel part, as `struct outgoing`.
#[derive(Clone, Debug, Default)]
pub struct Outgoing {
    /// A new generation is counted from zero again.
    pub generation: u64,
    /// Number of the first block for data, and the blocks.
    pub marks: (u32, VecDeque<Block>),
    /// The same for ACKs.
    pub replies: (u32, VecDeque<Block>),
    /// Number of an option that one data segment carries beside its block, and the option.
    pub extra: (u32, [u8; 8]),
}

impl Outgoing {
    /// Bytes of the structure.
    pub const SIZE: usize = 40 + (MARKS + REPLIES) * 24;

    /// The structure, with the blocks for data if `marked`.
    pub fn bytes(&self, marked: bool) -> Vec<u8> {
        let Self { generation, marks, replies, extra } = self;
        let mut out = generation.to_ne_bytes().to_vec();
        let count = if marked { marks.1.len() } else { 0 };
        for number in [marks.0, count as u32, replies.0, replies.1.len() as u32, extra.0, 0] {
            out.extend_from_slice(&number.to_ne_bytes());
        }
        out.extend_from_slice(&extra.1);
        let nothing = Block::default();
        for (blocks, most) in [(&marks.1, MARKS), (&replies.1, REPLIES)] {
            (0..most).for_each(|index| blocks.get(index).unwrap_or(&nothing).put(&mut out));
        }
        out
    }

    /// Prepares blocks for the pairs that the algorithm lets go. True if it lets no more go until
    /// these have left: it has one pair on its way at a time.
    fn fill(&mut self, control: &mut impl Control) -> bool {
        let marks = &mut self.marks.1;
        let before = marks.len();
        while marks.len() + 2 <= MARKS && control.controller().decision().probe.is_some() {
            for part in [ProbePart::PairFirst, ProbePart::PairSecond] {
                marks.push_back(control.option_for(part).and_then(Block::of).unwrap_or_default());
            }
        }
        marks.len() > before && marks.len() + 2 <= MARKS
    }

    /// The blocks of a connection that begins under this algorithm; `None` if its segments carry
    /// none.
    pub fn opening(mut control: Controller) -> Option<Self> {
        let mut opening = Self::default();
        opening.fill(&mut control);
        let marks = &opening.marks.1;
        (!marks.is_empty() && marks.iter().all(|block| block.first[1] > 0)).then_some(opening)
    }
}

/// Removes the blocks up to `number`; returns the block of this number.
fn written((first, blocks): &mut (u32, VecDeque<Block>), number: u32) -> Option<Block> {
    let passed = number.wrapping_sub(*first) as usize;
    if passed >= blocks.len() {
        return None;
    }
    *first = number.wrapping_add(1);
    blocks.drain(..=passed).next_back()
}

/// A flow's options.
#[derive(Clone, Debug, Default)]
pub struct Exchange {
    outgoing: Outgoing,
    /// Options given to be carried beside a block, oldest first, the last one on a segment among
    /// them: a segment that leaves while a new one is on its way to the kernel part carries the one
    /// before.
    given: VecDeque<[u8; 8]>,
    /// The peer's option on the ACK that is about to be reported.
    heard: Option<PeerOption>,
    /// Whether the blocks for data are offered: the algorithm probes, or lets these go and no more.
    offered: bool,
    /// These and no more.
    last_pair: bool,
    changed: bool,
    wrote: Option<Block>,
}

impl Exchange {
    /// Of a connection whose blocks have this generation.
    pub fn new(generation: u64) -> Self {
        Self { outgoing: Outgoing { generation, ..Outgoing::default() }, ..Self::default() }
    }

    /// An ACK with an option has arrived; its own event follows.
    pub fn hear(&mut self, event: &KernelEvent) {
        self.heard = Block::reported(event).option();
    }

    /// Adds the option to the event of its ACK. True if there was one.
    pub fn complete(&mut self, event: &mut Event) -> bool {
        let option = match event {
            Event::Acknowledged(event) => &mut event.option,
            Event::DuplicateAck(event) => &mut event.option,
            _ => return false,
        };
        *option = self.heard.take();
        option.is_some()
    }

    /// The algorithm has taken the peer's option, and may have one for the peer.
    pub fn answer(&mut self, control: &mut impl Control) {
        let Some(PeerOption::PacketPair(mut option)) = control.option_for(ProbePart::Single) else { return };
        // Under the other kind than the mark that the segment may carry.
        option.kind = other(option.kind);
        if let Some(bytes) = bare(PeerOption::PacketPair(option)) {
            self.outgoing.extra = (self.outgoing.extra.0.wrapping_add(1), bytes);
            self.changed = true;
            if self.given.len() == MARKS {
                self.given.pop_front();
            }
            self.given.push_back(bytes);
        }
    }

    /// A data segment has left with a block.
    pub fn wrote(&mut self, event: &KernelEvent, control: &mut impl Control) {
        self.wrote = None;
        self.changed = true;
        if self.outgoing.marks.1.is_empty() {
            self.prepare(control);
        }
        if event.number == self.outgoing.generation {
            let reported = Block::reported(event);
            let second = if reported.second[1] > 0 { self.carried(reported.second) } else { [0; 8] };
            let first = if reported.first[1] > 0 {
                written(&mut self.outgoing.marks, event.prior_delivered).map(|block| block.first)
            } else {
                Some([0; 16])
            };
            self.wrote = first.map(|first| Block { first, second });
        }
    }

    /// Prepares blocks for the pairs that the algorithm lets go now.
    pub fn prepare(&mut self, control: &mut impl Control) {
        let before = self.outgoing.marks.1.len();
        self.last_pair |= self.outgoing.fill(control);
        self.changed |= self.outgoing.marks.1.len() > before;
        let controller = control.controller();
        self.last_pair &= !self.outgoing.marks.1.is_empty()
            && controller.snapshot().phase == Phase::SlowStart
            && controller.decision().probe.is_none();
    }

    /// The option that a segment may carry beside its block if it carries this one: this one, if it
    /// was given and none that was given later has been carried; otherwise the newest.
    fn carried(&mut self, reported: [u8; 8]) -> [u8; 8] {
        match self.given.iter().position(|given| *given == reported) {
            Some(place) => {
                self.given.drain(..place);
                reported
            }
            None => self.outgoing.extra.1,
        }
    }

    /// The block of the last segment as the algorithm gave it; `None` if unknown.
    pub const fn last(&self) -> Option<Block> {
        self.wrote
    }

    /// The blocks for the kernel part, if they have changed.
    pub fn changes(&mut self, probes: bool) -> Option<Vec<u8>> {
        let offers = probes || self.last_pair;
        let changed = core::mem::take(&mut self.changed) || self.offered != offers;
        self.offered = offers;
        changed.then(|| self.outgoing.bytes(offers))
    }
}

/// The receiver's part of a connection.
#[derive(Clone, Debug)]
struct Receiver {
    partner: Partner,
    began: u64,
    last: u64,
    outgoing: Outgoing,
    wrote: Option<Block>,
}

/// Receivers' parts, by key.
#[derive(Clone, Debug)]
pub struct Receivers {
    partner: Partner,
    all: BTreeMap<u64, Receiver>,
}

impl Receivers {
    /// Without receivers yet; each gets a copy of this part.
    pub const fn new(partner: Partner) -> Self {
        Self { partner, all: BTreeMap::new() }
    }

    /// Data with an option has arrived. Returns the blocks for the kernel part if they have
    /// changed.
    pub fn arrived(&mut self, event: &KernelEvent) -> Option<Vec<u8>> {
        if self.partner.is_none() {
            return None;
        }
        if self.all.len() == RECEIVERS && !self.all.contains_key(&event.id) {
            let silent = self.all.iter().min_by_key(|(_, receiver)| receiver.last).map(|(key, _)| *key);
            silent.and_then(|key| self.all.remove(&key));
        }
        let receiver = self.all.entry(event.id).or_insert_with(|| {
            let mut partner = self.partner.clone();
            // The kernel has measured from the SYN-ACK to the ACK with which data can come.
            partner.on_syn(Time::ZERO, None, INITIAL_TTL);
            let began = event.now.saturating_sub(u64::from(event.srtt_us) * 1000);
            Receiver { partner, began, last: event.now, outgoing: Outgoing::default(), wrote: None }
        });
        receiver.last = event.now;
        let now =
            Time::from_picoseconds(event.now.saturating_sub(receiver.began).min(u64::MAX / 1000) * 1000);
        let request = receiver.partner.on_data(now, Block::reported(event).option(), INITIAL_TTL);
        let option = request.option.or_else(|| receiver.partner.option_for_ack(now))?;
        let (first, blocks) = &mut receiver.outgoing.replies;
        if blocks.len() == REPLIES {
            blocks.pop_front();
            *first = first.wrapping_add(1);
        }
        blocks.push_back(Block::of(option)?);
        Some(receiver.outgoing.bytes(false))
    }

    /// An ACK has left with a block.
    pub fn wrote(&mut self, event: &KernelEvent) {
        if let Some(receiver) = self.all.get_mut(&event.id) {
            receiver.wrote = written(&mut receiver.outgoing.replies, event.prior_delivered);
        }
    }

    /// The block of a receiver's last ACK with one, as its part gave it.
    pub fn last(&self, key: u64) -> Option<Block> {
        self.all.get(&key)?.wrote
    }
}
