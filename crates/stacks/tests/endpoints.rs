//! Real endpoints of QUIC stacks on simulated links.
