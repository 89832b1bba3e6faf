//! What applications have to send.

pub mod connections;
pub mod size;
pub mod source;
