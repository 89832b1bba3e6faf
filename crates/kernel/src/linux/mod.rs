//! The kernel part of a running Linux: loaded, registered, driven.

mod bpf;
mod btf;
pub mod check;
pub mod device;
pub mod driver;
pub mod edge;
mod elf;
pub mod found;
pub mod latency;
pub mod load;
pub mod object;
pub mod options;
mod owned;
mod process;
pub mod register;
pub mod resident;
pub mod ring;
pub mod slots;
mod sys;

pub use check::{Finding, check};
pub use driver::{FlowStatus, Options, Poll, Session, Status};
pub use found::{Unloaded, list, unload};
pub use load::LoadError;
