//! For [quinn](https://docs.rs/quinn).
//!
//! quinn reports the send time of each acknowledged packet, that packets were lost or marked, and
//! whether the application had nothing to send. It does not report which packets count as in flight
//! when sent, nor spurious losses, and its pacer always sends 1.25 windows per round trip.

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
        let sent = self.clock.time(sent);
        // "This value will be 0 for ECN triggers."
        let congestion = match lost_bytes {
            0 => Congestion::Marked { sent },
            bytes => Congestion::Lost { sent, bytes, persistent: is_persistent_congestion },
        };
        self.driver.on_congestion(self.clock.time(now), congestion);
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
