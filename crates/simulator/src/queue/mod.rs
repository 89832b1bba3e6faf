//! Queue disciplines of links.

pub mod drop_tail;

pub use drop_tail::DropTail;
