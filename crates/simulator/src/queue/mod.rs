//! Queue disciplines of links.
//!
//! A new discipline is a file here, with its [`Settings`](crate::named::Settings) and a
//! `managed::Discipline`, declared below (rustfmt finds files by these declarations), and a line in
//! the list.

pub mod codel;
pub mod drop_tail;
pub mod drr;
pub mod dualpi2;
mod flow_queues;
pub mod fq_codel;
pub mod fq_pie;
pub(crate) mod managed;
pub mod pie;
pub mod red;
#[cfg(test)]
mod reference;

pub use drop_tail::MarkAbove;
pub(crate) use drop_tail::{DropTail, Places};
pub(crate) use managed::ManagedQueue;
pub use managed::{ActsAbove, UsualLimit};

use crate::named::named;
use crate::packet::Packet;
use managed::{Decision, Discipline as _, LinkSite, Work};
use selfclock_congestion::units::{Bytes, Time};

/// Queue limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// Any number.
    Unlimited,
    /// A number of packets.
    Packets(u64),
    /// A number of bytes.
    Bytes(Bytes),
}

impl QueueLimit {
    /// A queue within this limit may hold `packets` packets of `bytes` bytes together. Every drop
    /// for want of room is decided here.
    #[inline]
    pub fn allows(self, packets: u64, bytes: impl FnOnce() -> u64) -> bool {
        match self {
            Self::Unlimited => true,
            Self::Packets(limit) => packets <= limit,
            Self::Bytes(limit) => bytes() <= limit.get(),
        }
    }
}

/// Makes the list of disciplines: the plan and the running queue of each, and what forwards to
/// them.
macro_rules! disciplines {
    ($($module:ident::$name:ident,)+) => {
        named! {
            /// A queue discipline with its settings.
            DisciplinePlan { drop_tail::DropTail, $($module::$name,)+ }
        }

        impl DisciplinePlan {
            /// A queue of this discipline can mark packets.
            pub fn marks(&self) -> bool {
                match self {
                    Self::DropTail(settings) => settings.mark_above.is_some(),
                    $(Self::$name(settings) => $module::$name::marks(settings),)+
                }
            }

            /// Limit of a queue of this discipline where none is given. `None`: that of its place
            /// in the network.
            pub fn usual_limit(&self) -> Option<UsualLimit> {
                match self {
                    Self::DropTail(_) => None,
                    $(Self::$name(settings) => $module::$name::usual_limit(settings),)+
                }
            }

            /// Queue from which on the discipline drops or marks before the limit is reached.
            /// `None`: it does neither.
            pub fn acts_above(&self) -> Option<ActsAbove> {
                match self {
                    Self::DropTail(_) => None,
                    $(Self::$name(settings) => $module::$name::acts_above(settings),)+
                }
            }
        }

        /// The discipline of a [`ManagedQueue`].
        #[derive(Clone, Debug)]
        pub(crate) enum AnyDiscipline {
            $(#[doc = concat!("[`", stringify!($module), "`].")] $name($module::$name),)+
        }

        impl AnyDiscipline {
            /// An empty queue at this site; `None` for drop-tail, which is no managed queue.
            pub fn new(plan: DisciplinePlan, site: LinkSite) -> Option<Self> {
                match plan {
                    DisciplinePlan::DropTail(_) => None,
                    $(DisciplinePlan::$name(settings) => Some(Self::$name($module::$name::new(settings, site))),)+
                }
            }

            fn enqueue(&mut self, packet: Packet, work: &mut Work) {
                match self {
                    $(Self::$name(queue) => queue.enqueue(packet, work),)+
                }
            }

            fn dequeue(&mut self, work: &mut Work) -> Option<Packet> {
                match self {
                    $(Self::$name(queue) => queue.dequeue(work),)+
                }
            }

            fn decides(&self) -> bool {
                match self {
                    $(Self::$name(_) => <$module::$name as managed::Discipline>::DECIDES,)+
                }
            }

            #[inline]
            fn decide(&mut self, packet: &mut Packet, start: Time, work: &mut Work) -> Decision {
                match self {
                    $(Self::$name(queue) => queue.decide(packet, start, work),)+
                }
            }

            #[inline]
            fn catch_up(&mut self, work: &Work) -> Time {
                match self {
                    $(Self::$name(queue) => managed::Discipline::catch_up(queue, work),)+
                }
            }

            fn for_each(&self, show: &mut dyn FnMut(&Packet)) {
                match self {
                    $(Self::$name(queue) => queue.for_each(show),)+
                }
            }
        }
    };
}

disciplines! {
    codel::CoDel,
    fq_codel::FqCoDel,
    fq_pie::FqPie,
    pie::Pie,
    red::Red,
    dualpi2::DualPi2,
    drr::Drr,
}

impl Default for DisciplinePlan {
    fn default() -> Self {
        Self::DropTail(drop_tail::Parameters::default())
    }
}

impl DisciplinePlan {
    /// Drop-tail that marks above this threshold.
    pub fn marking(threshold: MarkAbove) -> Self {
        Self::DropTail(drop_tail::Parameters { mark_above: Some(threshold) })
    }

    /// Threshold above which a drop-tail queue marks.
    pub fn mark_above(&self) -> Option<MarkAbove> {
        match self {
            Self::DropTail(settings) => settings.mark_above,
            _ => None,
        }
    }

    /// The queue holds its packets: its discipline decides when one leaves.
    pub fn is_managed(&self) -> bool {
        !matches!(self, Self::DropTail(_))
    }
}
