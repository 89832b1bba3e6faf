//! Names in quinn that differ from noq's.

use super::proto;
use crate::meter::Meter;
use bytes::{Bytes, BytesMut};
use proto::congestion::{
    BbrConfig, Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig,
};
use proto::crypto::HandshakeTokenKey;
use proto::{
    AcceptError, Connection, ConnectionIdGenerator, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig,
    RttEstimator, SendStream, ServerConfig, Transmit,
};
use selfclock_congestion::registry::Selection;
use selfclock_simulator::stack::StackControl;
use std::any::Any;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

/// The other end, whichever it is.
pub const REMOTE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 4433);

type Factory = Arc<dyn ControllerFactory + Send + Sync>;

pub fn endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
    Endpoint::new(config, server, false, None)
}

/// The key of tokens, of which none are sent.
pub fn token_key() -> Arc<dyn HandshakeTokenKey> {
    Arc::new(ring::hkdf::Salt::new(ring::hkdf::HKDF_SHA256, &[]).extract(&[]))
}

pub fn ids(
    config: &mut EndpointConfig,
    make: impl Fn() -> Box<dyn ConnectionIdGenerator> + Send + Sync + 'static,
) {
    config.cid_generator(make);
}

pub fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    ecn: Option<EcnCodepoint>,
    datagram: BytesMut,
    answer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, REMOTE, None, ecn, datagram, answer)
}

pub fn poll_transmit(connection: &mut Connection, now: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
    connection.poll_transmit(now, 1, buffer)
}

pub fn write(stream: &mut SendStream<'_>, data: Bytes) -> Option<usize> {
    stream.write_chunks(&mut [data]).ok().map(|written| written.bytes)
}

pub fn controller(connection: &Connection) -> Option<&dyn Controller> {
    Some(connection.congestion_state())
}

pub fn lost_packets(connection: &Connection, _meter: &Meter) -> u64 {
    connection.stats().path.lost_packets
}

/// quinn paces by the window alone, whatever rate a controller tells.
pub const fn pacing_bps(_metrics: &ControllerMetrics) -> Option<f64> {
    None
}

pub fn accept_error(error: &AcceptError) -> String {
    error.cause.to_string()
}

/// An algorithm of ours as controllers.
///
/// # Errors
/// A sentence on what it needs and the stack lacks.
pub fn ours(control: &Selection) -> Result<selfclock_quic::Factory<selfclock_quic::Quinn>, String> {
    selfclock_quic::Factory::new(control.clone()).map_err(|error| error.to_string())
}

/// The controllers of a connection, measured.
///
/// # Errors
/// A sentence on what cannot be a controller here.
pub fn factory(control: &StackControl, seed: u64, meter: &Arc<Meter>) -> Result<Factory, String> {
    let inner: Factory = match control {
        StackControl::Own("cubic") => Arc::new(CubicConfig::default()),
        StackControl::Own("bbr") => Arc::new(BbrConfig::default()),
        StackControl::Own("new_reno") => Arc::new(NewRenoConfig::default()),
        StackControl::Own(other) => return Err(format!("quinn has no congestion controller {other:?}")),
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
struct Spy {
    inner: Box<dyn Controller>,
    meter: Arc<Meter>,
}

impl Controller for Spy {
    fn on_sent(&mut self, now: Instant, bytes: u64, last: u64) {
        self.meter.on_sent(bytes);
        self.inner.on_sent(now, bytes, last);
    }
    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.meter.on_ack(now, sent, rtt.get());
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }
    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.meter.on_end_acks(in_flight);
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
    }
    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost: u64) {
        let before = self.inner.window();
        self.inner.on_congestion_event(now, sent, persistent, lost);
        self.meter.on_congestion_event((before, self.inner.window()), persistent, lost);
    }
    fn on_mtu_update(&mut self, mtu: u16) {
        self.inner.on_mtu_update(mtu);
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
