//! Queue disciplines of links.

pub mod codel;
pub mod drop_tail;
pub mod managed;

pub use drop_tail::DropTail;
pub use managed::ManagedQueue;

use crate::network::Packet;
use crate::plan::{DisciplinePlan, LinkPlan};
use codel::CoDel;
use managed::Work;

/// The disciplines of a [`ManagedQueue`].
#[derive(Clone, Debug)]
pub enum Discipline {
    /// Controlled delay, RFC 8289.
    CoDel(CoDel),
}

impl Discipline {
    /// The discipline of this link; `None`: drop-tail.
    pub fn new(plan: &LinkPlan, _seed: u64, _index: usize) -> Option<Self> {
        Some(match plan.discipline {
            DisciplinePlan::DropTail => return None,
            DisciplinePlan::CoDel(codel) => Self::CoDel(CoDel::new(codel)),
        })
    }

    /// A packet arrives: it is kept, or something is dropped.
    fn enqueue(&mut self, packet: Packet, work: &mut Work) {
        match self {
            Self::CoDel(queue) => queue.enqueue(packet, work),
        }
    }

    /// The next packet to transmit.
    fn dequeue(&mut self, work: &mut Work) -> Option<Packet> {
        match self {
            Self::CoDel(queue) => queue.dequeue(work),
        }
    }

    /// Shows every packet that waits.
    fn for_each(&self, show: &mut dyn FnMut(&Packet)) {
        match self {
            Self::CoDel(queue) => queue.waiting().for_each(show),
        }
    }
}
