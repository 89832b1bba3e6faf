//! Data that applications have to send.

pub mod size;
pub mod source;
