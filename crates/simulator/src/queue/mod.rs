//! Queue disciplines of links.

pub mod codel;
pub mod drop_tail;
pub mod drr;
pub mod dualpi2;
pub mod fq_codel;
pub mod managed;
pub mod pie;
pub mod red;

pub use drop_tail::DropTail;
pub use managed::ManagedQueue;

use crate::engine::Stream;
use crate::engine::random::Purpose;
use crate::network::Packet;
use crate::plan::{DisciplinePlan, LinkPlan};
use codel::CoDel;
use drr::Drr;
use dualpi2::DualPi2;
use fq_codel::FqCoDel;
use managed::Work;
use pie::Pie;
use red::Red;

/// The disciplines of a [`ManagedQueue`].
#[derive(Clone, Debug)]
pub enum Discipline {
    /// Controlled delay, RFC 8289.
    CoDel(CoDel),
    /// Flow queueing with CoDel, RFC 8290.
    FqCoDel(FqCoDel),
    /// Proportional-integral controller enhanced, RFC 8033.
    Pie(Pie),
    /// Random early detection.
    Red(Red),
    /// Coupled queues for scalable and other congestion controls, RFC 9332.
    DualPi2(DualPi2),
    /// Fair queueing by deficit round robin.
    Drr(Drr),
}

impl Discipline {
    /// The discipline of this link; `None`: drop-tail.
    pub fn new(plan: &LinkPlan, seed: u64, index: usize) -> Option<Self> {
        let mut stream = Stream::new(seed, Purpose::LinkQueue, index);
        Some(match plan.discipline {
            DisciplinePlan::DropTail => return None,
            DisciplinePlan::CoDel(codel) => Self::CoDel(CoDel::new(codel)),
            DisciplinePlan::FqCoDel(fq_codel) => Self::FqCoDel(FqCoDel::new(fq_codel, stream.bits())),
            DisciplinePlan::Pie(pie) => Self::Pie(Pie::new(pie, plan.rate, stream)),
            DisciplinePlan::Red(red) => Self::Red(Red::new(red, plan.rate, stream)),
            DisciplinePlan::DualPi2(dualpi2) => Self::DualPi2(DualPi2::new(dualpi2)),
            DisciplinePlan::Drr { quantum } => Self::Drr(Drr::new(quantum)),
        })
    }

    /// A packet arrives: it is kept, or something is dropped.
    fn enqueue(&mut self, packet: Packet, work: &mut Work) {
        match self {
            Self::CoDel(queue) => queue.enqueue(packet, work),
            Self::FqCoDel(queue) => queue.enqueue(packet, work),
            Self::Pie(queue) => queue.enqueue(packet, work),
            Self::Red(queue) => queue.enqueue(packet, work),
            Self::DualPi2(queue) => queue.enqueue(packet, work),
            Self::Drr(queue) => queue.enqueue(packet, work),
        }
    }

    /// The next packet to transmit.
    fn dequeue(&mut self, work: &mut Work) -> Option<Packet> {
        match self {
            Self::CoDel(queue) => queue.dequeue(work),
            Self::FqCoDel(queue) => queue.dequeue(work),
            Self::Pie(queue) => queue.dequeue(work),
            Self::Red(queue) => queue.dequeue(work),
            Self::DualPi2(queue) => queue.dequeue(work),
            Self::Drr(queue) => queue.dequeue(work),
        }
    }

    /// Shows every packet that waits.
    fn for_each(&self, show: &mut dyn FnMut(&Packet)) {
        match self {
            Self::CoDel(queue) => queue.waiting().for_each(show),
            Self::FqCoDel(queue) => queue.waiting().for_each(show),
            Self::Pie(queue) => queue.waiting().for_each(show),
            Self::Red(queue) => queue.waiting().for_each(show),
            Self::DualPi2(queue) => queue.waiting().for_each(show),
            Self::Drr(queue) => queue.waiting().for_each(show),
        }
    }
}
