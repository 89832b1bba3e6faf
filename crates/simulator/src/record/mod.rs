//! What a run leaves behind: a summary, sampled series, and on request every packet.

pub mod packets;
pub mod pcapng;
pub mod series;
pub mod summary;
