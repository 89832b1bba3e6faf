//! Both ends of a connection, configured by the plan.
//!
//! Compiled once for each stack, like the ends.

use super::end::End;
use super::{proto, shim};
use crate::clock;
use crate::meter::Meter;
use crate::tls::{self, KeyLog, Random, SERVER};
use proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use proto::{
    ClientConfig, ConnectionId, ConnectionIdGenerator, EndpointConfig, ServerConfig, TransportConfig, VarInt,
};
use selfclock_simulator::stack::{Pair, Setup};
use std::sync::Arc;
use std::time::Duration;

/// Length of connection IDs in bytes: the default of both stacks.
const ID: usize = 8;

/// Random streams of the two ends.
const SENDER: u64 = 1;
const RECEIVER: u64 = 2;
/// Offset of the random stream for connection IDs.
const IDS: u64 = 2;

/// Connection IDs from a seed. The stacks' own come from the operating system.
struct Ids(Random);

impl ConnectionIdGenerator for Ids {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&self.0.bytes()[..ID])
    }
    fn cid_len(&self) -> usize {
        ID
    }
    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// Both ends of the connection.
///
/// # Errors
/// A sentence on the setting that the stack refuses.
pub fn connect(setup: &Setup<'_>) -> Result<Pair, String> {
    let meter = Arc::new(Meter::default());
    let transport = Arc::new(transport(setup, &meter)?);
    let sentence = |error: &dyn std::fmt::Display| format!("TLS: {error}");

    let mut random = Random::new(setup.seed, RECEIVER);
    let key_log = KeyLog::default();
    let crypto = QuicServerConfig::try_from(tls::server(key_log.clone()).map_err(|error| sentence(&error))?)
        .map_err(|error| sentence(&error))?;
    let mut server = ServerConfig::new(Arc::new(crypto), shim::token_key());
    server.transport_config(Arc::clone(&transport));
    // Tokens contain the time of day.
    server.validation_token.sent(0);
    let config = endpoint_config(&mut random, setup, RECEIVER)?;
    let endpoint = shim::endpoint(config, Some(Arc::new(server)));
    let receiver = End::receiver(endpoint, random, Arc::clone(&meter), key_log);

    let mut random = Random::new(setup.seed, SENDER);
    let crypto = QuicClientConfig::try_from(tls::client().map_err(|error| sentence(&error))?)
        .map_err(|error| sentence(&error))?;
    let mut client = ClientConfig::new(Arc::new(crypto));
    client.transport_config(transport);
    let first = ConnectionId::new(&random.bytes()[..ID]);
    client.initial_dst_cid_provider(Arc::new(move || first));
    let mut endpoint = shim::endpoint(endpoint_config(&mut random, setup, SENDER)?, None);
    let now = clock::instant(setup.start);
    let connection = random
        .during(|| endpoint.connect(now, client, shim::REMOTE, SERVER))
        .map_err(|error| error.to_string())?;
    let sender = End::sender(endpoint, connection, random, meter);
    Ok((Box::new(sender), Box::new(receiver)))
}

fn endpoint_config(
    random: &mut Random,
    setup: &Setup<'_>,
    stream: u64,
) -> Result<Arc<EndpointConfig>, String> {
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &random.bytes());
    let mut config = EndpointConfig::new(Arc::new(key));
    let seed = setup.seed;
    shim::ids(&mut config, move || Box::new(Ids(Random::new(seed, IDS + stream))));
    config.rng_seed(Some(random.bytes()));
    config.max_udp_payload_size(setup.datagram).map_err(|error| error.to_string())?;
    Ok(Arc::new(config))
}

/// Settings from the scenario; everything else is the stack's default.
fn transport(setup: &Setup<'_>, meter: &Arc<Meter>) -> Result<TransportConfig, String> {
    let mut config = TransportConfig::default();
    let window = VarInt::from_u64(setup.receive_window).unwrap_or(VarInt::MAX);
    config.stream_receive_window(window).receive_window(window);
    // An outage of half a minute must not end a flow.
    config.max_idle_timeout(None);
    // The path's MTU is known and stays.
    config.initial_mtu(setup.datagram).mtu_discovery_config(None);
    config.congestion_controller_factory(shim::factory(setup.control, setup.seed, meter)?);
    Ok(config)
}
