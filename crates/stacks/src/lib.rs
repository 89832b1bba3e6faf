//! Real QUIC stacks on the links of the selfclock simulator: [quinn](https://docs.rs/quinn-proto)
//! and [noq](https://docs.rs/noq-proto).
//!
//! Both are state machines without input and output. Each end of a flow with `stack = "quinn"` is
//! one of quinn-proto's endpoints with one connection: real handshake (TLS 1.3 by rustls), real
//! packets, real loss recovery and acknowledgements, in simulated time. Everything that an end
//! draws comes from the seed of the run, so the same run gives the same bytes: connection IDs, the
//! stack's own generator, the random numbers of TLS, and its key shares, which are not secret here.
//!
//! The crate is empty without its feature `quic`.

// noq is a fork of quinn, so their common code is compiled from one source.
#![allow(clippy::duplicate_mod)]

#[cfg(feature = "quic")]
mod clock;
#[cfg(feature = "quic")]
mod meter;
#[cfg(feature = "quic")]
mod noq;
#[cfg(feature = "quic")]
mod quinn;
#[cfg(feature = "quic")]
mod tls;

/// Registers the built-in stacks, so that scenarios can name them.
pub fn register() {
    #[cfg(feature = "quic")]
    for stack in [&quinn::Quinn as &'static dyn selfclock_simulator::stack::Stack, &noq::Noq] {
        selfclock_simulator::stack::register(stack);
    }
}
