//! For [quinn](https://docs.rs/quinn).
//!
//! quinn reports the send time of each acknowledged packet, that packets were lost or marked, and
//! whether the application had nothing to send. It does not report which packets count as in flight
//! when sent, nor spurious losses, and its pacer always sends 1.25 windows per round trip.
//!
//! Its next version reports marks by a flag, and spurious losses.
//! [`Controller::on_marks_or_losses`] and [`Controller::on_spurious_losses`] take them; today's
//! trait feeds the first.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use quinn_proto::RttEstimator;
use quinn_proto::congestion;

use crate::clock::Clock;
use crate::driver::{Congestion, Driver};
use crate::factory::{Factory, FactoryError, Stack};

/// The stack quinn.
#[derive(Clone, Copy, Debug)]
pub enum Quinn {}

impl Stack for Quinn {
    const NAME: &'static str = "quinn";
    const WITHOUT_PACING: Option<&'static str> = Some("quinn always paces at 1.25 windows per round trip");
    const WITHOUT_COUNTS: &'static str = "reports only that there was a mark, and sends ECT(0)";
}

/// A factory for [`quinn::TransportConfig::congestion_controller_factory`][config], from the label
/// of an algorithm with its settings: `cubic+hystart++`, `cubic:beta=0.8`.
///
/// [config]: https://docs.rs/quinn/0.11/quinn/struct.TransportConfig.html#method.congestion_controller_factory
///
/// # Errors
/// There is no such algorithm or parameter, or quinn does not meet a requirement.
pub fn factory(text: &str) -> Result<Arc<Factory<Quinn>>, FactoryError> {
    Factory::read(text).map(Arc::new)
}

impl congestion::ControllerFactory for Factory<Quinn> {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn congestion::Controller> {
        Box::new(Controller { driver: self.driver(current_mtu), clock: Clock::starting(now) })
    }
}

/// The congestion control of a connection of quinn.
#[derive(Clone, Debug)]
pub struct Controller {
    driver: Driver,
    clock: Clock,
}

impl Controller {
    /// The underlying controller:
    /// `connection.congestion_state().into_any().downcast::<Controller>()`.
    pub const fn driver(&self) -> &Driver {
        &self.driver
    }

    /// Packets were declared lost, or marked (`is_ecn`, `lost_bytes` 0): the arguments of quinn's
    /// next version. `sent` is the send time of the last of them.
    pub fn on_marks_or_losses(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        lost_bytes: u64,
    ) {
        let sent = self.clock.time(sent);
        let congestion = if is_ecn {
            Congestion::Marked { sent }
        } else {
            Congestion::Lost { sent, bytes: lost_bytes, persistent: is_persistent_congestion }
        };
        self.driver.on_congestion(self.clock.time(now), congestion);
    }

    /// All packets of the last congestion event have been acknowledged after all: the response to
    /// it is undone.
    pub fn on_spurious_losses(&mut self) {
        self.driver.on_spurious_loss();
    }
}

impl congestion::Controller for Controller {
    fn on_sent(&mut self, now: Instant, bytes: u64, _last_packet_number: u64) {
        self.driver.on_burst_sent(self.clock.time(now), bytes);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, _app_limited: bool, _rtt: &RttEstimator) {
        self.driver.on_packet_acked(self.clock.time(now), self.clock.time(sent), bytes);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _largest: Option<u64>) {
        self.driver.on_acks_end(self.clock.time(now), Some(in_flight), app_limited);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        // "This value will be 0 for ECN triggers."
        let is_ecn = lost_bytes == 0;
        self.on_marks_or_losses(now, sent, is_persistent_congestion, is_ecn, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.driver.on_mtu_changed(new_mtu);
    }

    /// One byte above the algorithm's window: quinn sends while the flight would stay below this,
    /// not at most this.
    fn window(&self) -> u64 {
        self.driver.window() + 1
    }

    fn metrics(&self) -> congestion::ControllerMetrics {
        let mut metrics = congestion::ControllerMetrics::default();
        metrics.congestion_window = self.driver.window();
        metrics.ssthresh = self.driver.slow_start_threshold();
        metrics
    }

    fn clone_box(&self) -> Box<dyn congestion::Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.driver.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;
    use quinn_proto::congestion::{Controller as _, ControllerFactory as _};

    const PACKET: u64 = 1200;

    /// A connection of CUBIC with a window in flight, and the time at which that was sent.
    fn connection() -> (Controller, Instant) {
        let now = Instant::now();
        let made = factory("cubic").expect("listed").build(now, PACKET as u16).into_any();
        let mut controller = *made.downcast::<Controller>().expect("of this crate");
        for number in 0..10 {
            controller.on_sent(now, PACKET, number);
        }
        (controller, now)
    }

    /// The flag decides, not the number of bytes: "This value will be 0 for ECN triggers" is what
    /// today's trait lets infer.
    #[test]
    fn a_mark_and_a_loss_are_told_apart_by_the_flag() {
        let later = Duration::from_millis(100);
        let window = |is_ecn, bytes| {
            let (mut controller, sent) = connection();
            controller.on_marks_or_losses(sent + later, sent, false, is_ecn, bytes);
            controller.window()
        };
        let (mut today, sent) = connection();
        today.on_congestion_event(sent + later, sent, false, 0);
        assert_eq!(window(true, 0), today.window());
        let (mut today, sent) = connection();
        today.on_congestion_event(sent + later, sent, false, PACKET);
        assert_eq!(window(false, PACKET), today.window());
        assert!(window(true, 0) < connection().0.window() && window(false, PACKET) < connection().0.window());
    }

    /// "The sender [...] SHOULD restore" the window before a spurious loss (RFC 9438, section
    /// 4.9.2).
    #[test]
    fn a_spurious_loss_is_undone() {
        let (mut controller, sent) = connection();
        let before = controller.window();
        controller.on_marks_or_losses(sent + Duration::from_millis(100), sent, false, false, PACKET);
        assert!(controller.window() < before);
        controller.on_spurious_losses();
        assert_eq!(controller.window(), before);
    }
}
