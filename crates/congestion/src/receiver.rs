//! An algorithm's receiver part: times pairs, answers options, chooses the ACK ratio.
//!
//! A receiver without such a part ignores options; the sender then behaves like plain TCP.

use alloc::boxed::Box;

use core::fmt;

use crate::option::PeerOption;
use crate::units::Time;

/// Initial time to live of an IP packet. Each router decrements it.
pub const INITIAL_TTL: u8 = 64;

/// The receiver part's request after the arrival of a data segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct AckRequest {
    /// Acknowledge now, whatever the delayed-ACK rule says.
    pub immediately: bool,
    /// If the ACK is delayed, restart its timer now.
    pub restart_timer: bool,
    /// Option for that ACK.
    pub option: Option<PeerOption>,
}

/// An algorithm's partner at the receiver.
pub trait ReceiverPart: fmt::Debug + Send + Sync {
    /// A SYN has arrived whose [`INITIAL_TTL`] is down to `ttl`; returns the option for the
    /// SYN-ACK.
    fn on_syn(&mut self, _now: Time, _option: Option<PeerOption>, _ttl: u8) -> Option<PeerOption> {
        None
    }
    /// A data segment with an option has arrived whose [`INITIAL_TTL`] is down to `ttl`.
    fn on_data(&mut self, now: Time, option: Option<PeerOption>, ttl: u8) -> AckRequest;
    /// The option for an ACK without one from an [`AckRequest`].
    fn option_for_ack(&mut self, _now: Time) -> Option<PeerOption> {
        None
    }
    /// Acknowledge every N segments; `None` leaves it to the delayed-ACK rule.
    fn ack_every(&self) -> Option<u32> {
        None
    }
}

/// The partner of one connection, or none.
#[derive(Debug)]
pub struct Partner(Option<Box<dyn AnyReceiver>>);

trait AnyReceiver: ReceiverPart {
    fn clone_box(&self) -> Box<dyn AnyReceiver>;
}

impl<R: ReceiverPart + Clone + 'static> AnyReceiver for R {
    fn clone_box(&self) -> Box<dyn AnyReceiver> {
        Box::new(self.clone())
    }
}

impl Clone for Partner {
    fn clone(&self) -> Self {
        Self(self.0.as_ref().map(|part| part.clone_box()))
    }
}

impl Partner {
    /// A peer that knows no option.
    pub const NONE: Self = Self(None);

    /// A partner with this part.
    pub fn new(part: impl ReceiverPart + Clone + 'static) -> Self {
        Self(Some(Box::new(part)))
    }

    /// There is none.
    #[inline]
    pub const fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// See [`ReceiverPart::on_syn`].
    pub fn on_syn(&mut self, now: Time, option: Option<PeerOption>, ttl: u8) -> Option<PeerOption> {
        self.0.as_mut()?.on_syn(now, option, ttl)
    }

    /// See [`ReceiverPart::on_data`].
    #[inline]
    pub fn on_data(&mut self, now: Time, option: Option<PeerOption>, ttl: u8) -> AckRequest {
        self.0.as_mut().map_or_else(AckRequest::default, |part| part.on_data(now, option, ttl))
    }

    /// See [`ReceiverPart::option_for_ack`].
    #[inline]
    pub fn option_for_ack(&mut self, now: Time) -> Option<PeerOption> {
        self.0.as_mut()?.option_for_ack(now)
    }

    /// See [`ReceiverPart::ack_every`].
    #[inline]
    pub fn ack_every(&self) -> Option<u32> {
        self.0.as_ref()?.ack_every()
    }
}
