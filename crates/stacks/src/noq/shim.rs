//! Names in noq that differ from quinn's.

use super::proto;
use crate::meter::Meter;
use bytes::{Bytes, BytesMut};
use proto::congestion::{
    Bbr3Config, Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig,
};
use proto::crypto::{CryptoError, HandshakeTokenKey};
use proto::{
    AcceptError, Connection, ConnectionIdGenerator, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig,
    FourTuple, PathId, RttEstimator, SendStream, ServerConfig, Transmit,
};
use selfclock_congestion::registry::Selection;
use selfclock_simulator::stack::StackControl;
use std::any::Any;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The other end, whichever it is.
pub const REMOTE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 4433);

/// noq's BBRv3, whose probes come at times that no seed determines: the name says that two runs
/// differ.
pub const UNSEEDED: &str = "bbr-unseeded";

type Factory = Arc<dyn ControllerFactory + Send + Sync>;

pub fn endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
    Endpoint::new(config, server, false)
}

/// The key of tokens, of which none are sent.
struct NoTokens;

impl HandshakeTokenKey for NoTokens {
    fn seal(&self, _nonce: u128, _data: &mut Vec<u8>) -> Result<(), CryptoError> {
        Err(CryptoError)
    }
    fn open<'a>(&self, _nonce: u128, _data: &'a mut [u8]) -> Result<&'a [u8], CryptoError> {
        Err(CryptoError)
    }
}

pub fn token_key() -> Arc<dyn HandshakeTokenKey> {
    Arc::new(NoTokens)
}

pub fn ids(
    config: &mut EndpointConfig,
    make: impl Fn() -> Box<dyn ConnectionIdGenerator> + Send + Sync + 'static,
) {
    config.cid_generator(Arc::new(make));
}

pub fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    ecn: Option<EcnCodepoint>,
    datagram: BytesMut,
    answer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, FourTuple::from_remote(REMOTE), ecn, datagram, answer)
}

pub fn poll_transmit(connection: &mut Connection, now: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
    connection.poll_transmit(now, NonZeroUsize::MIN, buffer)
}

pub fn write(stream: &mut SendStream<'_>, data: Bytes) -> Option<usize> {
    stream.write_chunks(&mut &mut [data][..]).ok()
}

pub fn controller(connection: &Connection) -> Option<&dyn Controller> {
    connection.congestion_state(PathId::ZERO)
}

pub fn lost_packets(_connection: &Connection, meter: &Meter) -> u64 {
    meter.lost_packets()
}

pub fn pacing_bps(metrics: &ControllerMetrics) -> Option<f64> {
    metrics.pacing_rate.map(|bytes_per_second| bytes_per_second as f64 * 8.0)
}

pub fn accept_error(error: &AcceptError) -> String {
    error.cause.to_string()
}

/// An algorithm of ours as controllers.
///
/// # Errors
/// A sentence on what it needs and the stack lacks.
pub fn ours(control: &Selection) -> Result<selfclock_quic::Factory<selfclock_quic::Noq>, String> {
    selfclock_quic::Factory::new(control.clone()).map_err(|error| error.to_string())
}

/// The controllers of a connection, measured.
///
/// # Errors
/// A sentence on what cannot be a controller here.
pub fn factory(control: &StackControl, seed: u64, meter: &Arc<Meter>) -> Result<Factory, String> {
    let inner: Factory = match control {
        StackControl::Own("cubic") => Arc::new(CubicConfig::default()),
        StackControl::Own("new_reno") => Arc::new(NewRenoConfig::default()),
        StackControl::Own(UNSEEDED) => Arc::new(Bbr3Config::default()),
        StackControl::Own(other) => return Err(format!("noq has no congestion controller {other:?}")),
        StackControl::Ours(control) => Arc::new(ours(control)?.seed(seed)),
    };
    Ok(Arc::new(Measured { inner, meter: Arc::clone(meter) }))
}

/// Makes controllers that are measured.
struct Measured {
    inner: Factory,
    meter: Arc<Meter>,
}

impl ControllerFactory for Measured {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let inner = Arc::clone(&self.inner).build(now, mtu);
        Box::new(Spy { inner, meter: Arc::clone(&self.meter) })
    }
}

/// A controller that does what another one does, and counts.
#[derive(Debug)]
struct Spy {
    inner: Box<dyn Controller>,
    meter: Arc<Meter>,
}

impl Controller for Spy {
    fn on_sent(&mut self, now: Instant, bytes: u64, largest: u64) {
        self.meter.on_sent(bytes);
        self.inner.on_sent(now, bytes, largest);
    }
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
        self.inner.on_packet_sent(now, bytes, number);
    }
    fn on_cwnd_limited(&mut self) {
        self.inner.on_cwnd_limited();
    }
    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        number: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.meter.on_ack(now, sent, rtt.get());
        self.inner.on_ack(now, sent, bytes, number, app_limited, rtt);
    }
    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.meter.on_end_acks(in_flight);
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
    }
    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        ecn: bool,
        lost: u64,
        largest_lost: u64,
    ) {
        let before = self.inner.window();
        self.inner.on_congestion_event(now, sent, persistent, ecn, lost, largest_lost);
        self.meter.on_congestion_event((before, self.inner.window()), persistent, lost);
    }
    fn on_packet_lost(&mut self, bytes: u16, number: u64, now: Instant) {
        self.meter.on_packet_lost();
        self.inner.on_packet_lost(bytes, number, now);
    }
    fn on_spurious_congestion_event(&mut self) {
        self.inner.on_spurious_congestion_event();
    }
    fn on_mtu_update(&mut self, mtu: u16) {
        self.inner.on_mtu_update(mtu);
    }
    fn on_ack_frequency_update(&mut self, threshold: u64, delay: Duration) {
        self.inner.on_ack_frequency_update(threshold, delay);
    }
    fn window(&self) -> u64 {
        self.inner.window()
    }
    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self { inner: self.inner.clone_box(), meter: Arc::clone(&self.meter) })
    }
    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}
