//! The graph of a network: nodes and links by name, named topologies, shortest paths.

#[cfg(feature = "scenario-files")]
pub mod layout;
pub mod route;
pub mod topology;
