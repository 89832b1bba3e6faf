//! Why an emulation cannot start, or failed.

use std::io;
use std::net::IpAddr;

/// Why an emulation cannot start, or failed.
#[derive(Debug, thiserror::Error)]
pub enum EmulationError {
    /// A host not in the scenario.
    #[error("hosts: {name:?} is no node of the scenario; allowed: {}", nodes.join(", "))]
    UnknownHost {
        /// The given name.
        name: String,
        /// Names of the nodes.
        nodes: Vec<String>,
    },
    /// A host is given twice.
    #[error("hosts: {name:?} stands there twice; allowed: each node once")]
    HostTwice {
        /// Its name.
        name: String,
    },
    /// Two hosts with one address.
    #[error("hosts: {address} is the address of {first:?} and of {second:?}; allowed: each address once")]
    AddressTwice {
        /// The address.
        address: IpAddr,
        /// The first owner.
        first: String,
        /// The second owner.
        second: String,
    },
    /// Fewer than two hosts.
    #[error("hosts: {0}; allowed: two or more")]
    TooFewHosts(usize),
    /// No packet could ever arrive.
    #[error("hosts: no links of the scenario lead from one of them to another and back")]
    NoPath,
    /// An impossible number of connections per path.
    #[error("flows_per_path: {0} is out of range; allowed: 1 to 65536")]
    FlowsPerPath(u32),
    /// A device fails.
    #[error("the device of host {host:?}: {error}")]
    Device {
        /// Its host.
        host: String,
        /// The system's message.
        error: io::Error,
    },
    /// Waiting for packets failed.
    #[error("waiting for packets: {0}")]
    Wait(io::Error),
    /// The consumer of the records does not keep up.
    #[error("records come faster than they are written: record less, or write to a faster disk")]
    RecordsPileUp,
}
