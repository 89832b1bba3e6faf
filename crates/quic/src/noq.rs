//! For [noq](https://docs.rs/noq).
//!
//! noq reports every packet sent in flight and every arrival, losses, marks and spurious losses; it
//! paces at the controller's rate.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use noq_proto::RttEstimator;
use noq_proto::congestion;

use crate::clock::Clock;
use crate::driver::{Congestion, Driver};
use crate::factory::{Factory, FactoryError, Stack};

/// The stack noq.
#[derive(Clone, Copy, Debug)]
pub enum Noq {}

impl Stack for Noq {
    const NAME: &'static str = "noq";
    const WITHOUT_PACING: Option<&'static str> = None;
    const WITHOUT_COUNTS: &'static str = "reports only that there was a mark, and sends ECT(0)";
}

/// A factory for [`noq::TransportConfig::congestion_controller_factory`][config], from the label of
/// an algorithm with its settings: `bbr3`, `cubic:beta=0.8`.
///
/// [config]: https://docs.rs/noq/1/noq/struct.TransportConfig.html#method.congestion_controller_factory
///
/// # Errors
/// There is no such algorithm or parameter, or noq does not meet a requirement.
pub fn factory(text: &str) -> Result<Arc<Factory<Noq>>, FactoryError> {
    Factory::read(text).map(Arc::new)
}

impl congestion::ControllerFactory for Factory<Noq> {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn congestion::Controller> {
        Box::new(Controller { driver: self.driver(current_mtu), clock: Clock::starting(now) })
    }
}

/// The congestion control of a path of a connection of noq.
#[derive(Clone, Debug)]
pub struct Controller {
    driver: Driver,
    clock: Clock,
}

impl Controller {
    /// The underlying controller:
    /// `connection.congestion_state(path).into_any().downcast::<Controller>()`.
    pub const fn driver(&self) -> &Driver {
        &self.driver
    }
}

impl congestion::Controller for Controller {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, _packet_number: u64) {
        self.driver.on_packet_sent(self.clock.time(now), bytes.into());
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        _packet_number: u64,
        _app_limited: bool,
        _rtt: &RttEstimator,
    ) {
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
        is_ecn: bool,
        lost_bytes: u64,
        _largest_lost: u64,
    ) {
        let sent = self.clock.time(sent);
        let congestion = match is_ecn {
            true => Congestion::Marked { sent },
            false => Congestion::Lost { sent, bytes: lost_bytes, persistent: is_persistent_congestion },
        };
        self.driver.on_congestion(self.clock.time(now), congestion);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.driver.on_spurious_loss();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.driver.on_mtu_changed(new_mtu);
    }

    fn window(&self) -> u64 {
        self.driver.window()
    }

    fn metrics(&self) -> congestion::ControllerMetrics {
        let mut metrics = congestion::ControllerMetrics::default();
        metrics.congestion_window = self.driver.window();
        metrics.ssthresh = self.driver.slow_start_threshold();
        metrics.pacing_rate = self.driver.pacing_rate();
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
