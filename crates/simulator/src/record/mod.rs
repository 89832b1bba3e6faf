//! Results of a run: a summary, sampled series, and on request every packet.

pub mod connections;
pub mod hops;
pub(crate) mod packed;
pub mod packets;
pub mod payload;
#[cfg(feature = "pcap")]
pub mod pcapng;
pub mod series;
pub mod summary;
