//! For [s2n-quic](https://docs.rs/s2n-quic), whose trait for controllers is behind its feature
//! `unstable-congestion-controller`.
//!
//! s2n-quic asks the controller when the next packet may leave, so any rate can be paced; it
//! reports every packet sent, acknowledged bytes in sums, and every lost packet.

use std::time::Duration;

use s2n_quic_core::random::Generator;
use s2n_quic_core::recovery::RttEstimator;
use s2n_quic_core::recovery::congestion_controller::{CongestionController, Endpoint, PathInfo, Publisher};
use s2n_quic_core::time::Timestamp;
use selfclock_congestion::Time;

use crate::driver::{Congestion, Driver};
use crate::factory::{Factory, FactoryError, Stack};

/// The stack s2n-quic.
#[derive(Clone, Copy, Debug)]
pub enum S2n {}

impl Stack for S2n {
    const NAME: &'static str = "s2n-quic";
    const WITHOUT_PACING: Option<&'static str> = None;
    const WITHOUT_COUNTS: &'static str = "sends ECT(0)";
}

/// A factory for `s2n_quic::Server::builder().with_congestion_controller(...)` and the same of
/// clients, from the label of an algorithm with its settings: `bbr3`, `cubic:beta=0.8`.
///
/// ```
/// let factory = selfclock_quic::s2n::factory("cubic+hystart++")?;
/// assert_eq!(factory.label(), "cubic+hystart++");
/// # Ok::<(), selfclock_quic::FactoryError>(())
/// ```
///
/// # Errors
/// There is no such algorithm or parameter, or s2n-quic does not meet a requirement.
pub fn factory(text: &str) -> Result<Factory<S2n>, FactoryError> {
    Factory::read(text)
}

impl Endpoint for Factory<S2n> {
    type CongestionController = Controller;

    fn new_congestion_controller(&mut self, path: PathInfo<'_>) -> Controller {
        Controller {
            driver: self.driver(path.max_datagram_size),
            start: None,
            newest_acked: Time::ZERO,
            app_limited: false,
            departure: Time::ZERO,
        }
    }
}

/// The congestion control of a path of a connection of s2n-quic.
#[derive(Clone, Debug)]
pub struct Controller {
    driver: Driver,
    /// Send time of the first packet, the start of the algorithm's time.
    start: Option<Timestamp>,
    newest_acked: Time,
    app_limited: bool,
    /// Earliest time of the next packet, if the algorithm paces.
    departure: Time,
}

/// Packets delayed by a late timer leave at once, up to the number of this period (our choice):
/// s2n-quic's timers tick in milliseconds.
const LATENESS: selfclock_congestion::Duration = selfclock_congestion::Duration::from_milliseconds(1);

/// State kept with a packet.
#[derive(Clone, Copy, Debug)]
pub struct PacketInfo {
    sent: Time,
}

impl Controller {
    /// The underlying controller.
    pub const fn driver(&self) -> &Driver {
        &self.driver
    }

    fn time(&self, timestamp: Timestamp) -> Time {
        let since = self.start.map_or(Duration::ZERO, |start| timestamp.saturating_duration_since(start));
        Time::ZERO + since.into()
    }

    fn pace(&mut self, now: Time, size: u64) {
        if let Some(rate) = self.driver.pacing_rate() {
            let late = Time::ZERO + now.since(Time::ZERO).saturating_sub(LATENESS);
            let interval = selfclock_congestion::Duration::from_seconds(size as f64 / rate as f64);
            self.departure = self.departure.max(late) + interval;
        }
    }
}

impl CongestionController for Controller {
    type PacketInfo = PacketInfo;

    fn congestion_window(&self) -> u32 {
        self.driver.window().try_into().unwrap_or(u32::MAX)
    }

    fn bytes_in_flight(&self) -> u32 {
        self.driver.in_flight().try_into().unwrap_or(u32::MAX)
    }

    fn is_congestion_limited(&self) -> bool {
        self.driver.window().saturating_sub(self.driver.in_flight()) < self.driver.mtu()
    }

    /// The window is reduced at once, and no packet exceeds it: RFC 9002, section 7.3.2, allows
    /// either.
    fn requires_fast_retransmission(&self) -> bool {
        false
    }

    fn on_packet_sent<Pub: Publisher>(
        &mut self,
        time_sent: Timestamp,
        sent_bytes: usize,
        app_limited: Option<bool>,
        _rtt_estimator: &RttEstimator,
        _publisher: &mut Pub,
    ) -> PacketInfo {
        self.start.get_or_insert(time_sent);
        let sent = self.time(time_sent);
        self.app_limited = app_limited.unwrap_or(self.app_limited);
        if sent_bytes > 0 {
            self.driver.on_packet_sent(sent, sent_bytes as u64);
            self.pace(sent, sent_bytes as u64);
        }
        PacketInfo { sent }
    }

    fn on_rtt_update<Pub: Publisher>(
        &mut self,
        _time_sent: Timestamp,
        _now: Timestamp,
        _rtt_estimator: &RttEstimator,
        _publisher: &mut Pub,
    ) {
    }

    fn on_ack<Pub: Publisher>(
        &mut self,
        _newest_acked_time_sent: Timestamp,
        bytes_acknowledged: usize,
        newest: PacketInfo,
        _rtt_estimator: &RttEstimator,
        _random_generator: &mut dyn Generator,
        ack_receive_time: Timestamp,
        _publisher: &mut Pub,
    ) {
        let now = self.time(ack_receive_time);
        self.newest_acked = self.newest_acked.max(newest.sent);
        self.driver.on_packet_acked(now, newest.sent, bytes_acknowledged as u64);
        self.driver.on_acks_end(now, None, self.app_limited);
    }

    fn on_packet_lost<Pub: Publisher>(
        &mut self,
        lost_bytes: u32,
        packet: PacketInfo,
        persistent: bool,
        _new_loss_burst: bool,
        _random_generator: &mut dyn Generator,
        timestamp: Timestamp,
        _publisher: &mut Pub,
    ) {
        let lost = Congestion::Lost { sent: packet.sent, bytes: lost_bytes.into(), persistent };
        self.driver.on_congestion(self.time(timestamp), lost);
    }

    fn on_explicit_congestion<Pub: Publisher>(
        &mut self,
        _ce_count: u64,
        event_time: Timestamp,
        _publisher: &mut Pub,
    ) {
        let marked = Congestion::Marked { sent: self.newest_acked };
        self.driver.on_congestion(self.time(event_time), marked);
    }

    fn on_mtu_update<Pub: Publisher>(&mut self, max_data_size: u16, _publisher: &mut Pub) {
        self.driver.on_mtu_changed(max_data_size);
    }

    fn on_packet_discarded<Pub: Publisher>(&mut self, bytes_sent: usize, _publisher: &mut Pub) {
        self.driver.on_packet_discarded(bytes_sent as u64);
    }

    fn earliest_departure_time(&self) -> Option<Timestamp> {
        self.driver.pacing_rate()?;
        Some(self.start? + self.departure.since(Time::ZERO).into())
    }
}
