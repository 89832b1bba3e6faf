//! What applications have to send.

pub mod source;
