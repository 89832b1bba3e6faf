//! One end of a connection, of either stack.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use super::{Codepoint, Counts, Datagram, Peer, content};

const NAME: &str = "localhost";
const CLIENT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 1000);
const SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)), 443);

/// A certificate whose size does not depend on chance: a key and signatures of a fixed size
/// (Ed25519), and a serial number that is given.
static CERTIFICATE: LazyLock<(CertificateDer<'static>, Vec<u8>)> = LazyLock::new(|| {
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).expect("a key");
    let mut parameters = rcgen::CertificateParams::new([NAME.to_owned()]).expect("a name");
    parameters.serial_number = Some(1_u64.into());
    let certificate = parameters.self_signed(&key).expect("a signature");
    (certificate.der().clone(), key.serialize_der())
});

static VERSIONS: &[&rustls::SupportedProtocolVersion] = &[&rustls::version::TLS13];

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn server_tls() -> rustls::ServerConfig {
    let (certificate, key) = &*CERTIFICATE;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.clone()));
    rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(VERSIONS)
        .expect("TLS 1.3")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .expect("the certificate")
}

fn client_tls() -> rustls::ClientConfig {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CERTIFICATE.0.clone()).expect("a root");
    rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(VERSIONS)
        .expect("TLS 1.3")
        .with_root_certificates(roots)
        .with_no_client_auth()
}

macro_rules! peer {
    ($module:ident, $proto:ident, $connect:expr, $handle:expr, $batch:expr, $window:expr, $counts:expr) => {
        pub mod $module {
            use super::*;
            use $proto::congestion::ControllerFactory;
            use $proto::{
                ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint,
                EndpointConfig, Event, ServerConfig, StreamId, TransportConfig, VarInt,
            };

            /// One end.
            pub struct End {
                endpoint: Endpoint,
                connection: Option<(ConnectionHandle, Connection)>,
                remote: SocketAddr,
                /// Bytes to send.
                size: u64,
                written: u64,
                stream: Option<StreamId>,
                finished: bool,
                incoming: Option<StreamId>,
                received: u64,
                complete: bool,
                failure: Option<String>,
                leaving: Vec<Datagram>,
            }

            /// How both ends run; the factory is the client's.
            pub struct Settings {
                pub factory: Arc<dyn ControllerFactory + Send + Sync>,
                pub initial_rtt: Duration,
                pub discover_mtu: bool,
                pub seed: u8,
            }

            impl Settings {
                pub fn new(factory: Arc<dyn ControllerFactory + Send + Sync>) -> Self {
                    Self { factory, initial_rtt: Duration::from_millis(100), discover_mtu: false, seed: 1 }
                }

                fn transport(&self) -> TransportConfig {
                    let mut transport = TransportConfig::default();
                    transport.initial_rtt(self.initial_rtt);
                    // Congestion control is the limit, not flow control.
                    transport.receive_window(VarInt::from_u32(1 << 28));
                    transport.stream_receive_window(VarInt::from_u32(1 << 28));
                    transport.send_window(1 << 28);
                    if !self.discover_mtu {
                        transport.mtu_discovery_config(None);
                    }
                    transport
                }

                fn endpoint(&self, server: Option<Arc<ServerConfig>>) -> Endpoint {
                    let mut config = EndpointConfig::default();
                    config.rng_seed(Some([self.seed + u8::from(server.is_some()); 32]));
                    config.grease_quic_bit(false);
                    $connect(Arc::new(config), server)
                }
            }

            /// A client that sends a file of this size, and its server.
            pub fn pair(settings: &Settings, now: Instant, size: u64) -> (End, End) {
                let crypto = $proto::crypto::rustls::QuicServerConfig::try_from(server_tls()).expect("TLS");
                let mut config = ServerConfig::with_crypto(Arc::new(crypto));
                config.transport_config(Arc::new(settings.transport()));
                let server = End::new(settings.endpoint(Some(Arc::new(config))), None, CLIENT, 0);

                let crypto = $proto::crypto::rustls::QuicClientConfig::try_from(client_tls()).expect("TLS");
                let mut config = ClientConfig::new(Arc::new(crypto));
                let mut transport = settings.transport();
                transport.congestion_controller_factory(settings.factory.clone());
                config.transport_config(Arc::new(transport));
                let mut endpoint = settings.endpoint(None);
                let connection = endpoint.connect(now, config, SERVER, NAME).expect("a connection");
                (End::new(endpoint, Some(connection), SERVER, size), server)
            }

            impl End {
                fn new(
                    endpoint: Endpoint,
                    connection: Option<(ConnectionHandle, Connection)>,
                    remote: SocketAddr,
                    size: u64,
                ) -> Self {
                    Self {
                        endpoint,
                        connection,
                        remote,
                        size,
                        written: 0,
                        stream: None,
                        finished: false,
                        incoming: None,
                        received: 0,
                        complete: false,
                        failure: None,
                        leaving: Vec::new(),
                    }
                }

                /// The connection, to look at.
                pub fn connection(&self) -> Option<&Connection> {
                    self.connection.as_ref().map(|(_, connection)| connection)
                }

                /// So much more of the file is there to be sent.
                pub fn add(&mut self, size: u64) {
                    self.size += size;
                    self.finished = false;
                }

                fn read_events(&mut self) {
                    let Some((handle, connection)) = &mut self.connection else { return };
                    while let Some(event) = connection.poll_endpoint_events() {
                        if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                            connection.handle_event(answer);
                        }
                    }
                    while let Some(event) = connection.poll() {
                        if let Event::ConnectionLost { reason } = event {
                            self.failure = Some(reason.to_string());
                        }
                    }
                }

                fn write(&mut self) {
                    let Some((_, connection)) = &mut self.connection else { return };
                    if self.size == 0 || connection.is_handshaking() {
                        return;
                    }
                    if self.stream.is_none() {
                        self.stream = connection.streams().open(Dir::Uni);
                    }
                    let Some(id) = self.stream else { return };
                    while self.written < self.size {
                        let length = (self.size - self.written).min(1 << 16);
                        let piece: Vec<u8> = (self.written..self.written + length).map(content).collect();
                        match connection.send_stream(id).write(&piece) {
                            Ok(written) => self.written += written as u64,
                            Err(_) => return,
                        }
                    }
                    if !self.finished {
                        self.finished = true;
                        connection.send_stream(id).finish().expect("it is open");
                    }
                }

                fn read(&mut self) {
                    let Some((_, connection)) = &mut self.connection else { return };
                    if self.incoming.is_none() {
                        self.incoming = connection.streams().accept(Dir::Uni);
                    }
                    let Some(id) = self.incoming.filter(|_| !self.complete) else { return };
                    let mut stream = connection.recv_stream(id);
                    let Ok(mut chunks) = stream.read(true) else { return };
                    loop {
                        match chunks.next(usize::MAX) {
                            Ok(Some(chunk)) => {
                                for byte in chunk.bytes {
                                    assert_eq!(byte, content(self.received), "byte {}", self.received);
                                    self.received += 1;
                                }
                            }
                            Ok(None) => {
                                self.complete = true;
                                break;
                            }
                            Err(_) => break,
                        }
                    }
                    let _ = chunks.finalize();
                }

                fn transmit(&mut self, now: Instant, leaving: &mut Vec<Datagram>) {
                    let Some((_, connection)) = &mut self.connection else { return };
                    let mut buffer = Vec::new();
                    while let Some(transmit) = connection.poll_transmit(now, $batch, &mut buffer) {
                        let segment = transmit.segment_size.unwrap_or(transmit.size).max(1);
                        let ecn =
                            if transmit.ecn.is_some() { Codepoint::Capable } else { Codepoint::NotCapable };
                        let datagrams = buffer[..transmit.size].chunks(segment);
                        leaving.extend(datagrams.map(|data| Datagram { data: data.to_vec(), ecn }));
                        buffer.clear();
                    }
                }
            }

            impl Peer for End {
                fn receive(&mut self, now: Instant, datagram: Datagram) {
                    let ecn = match datagram.ecn {
                        Codepoint::NotCapable => None,
                        Codepoint::Capable => Some(EcnCodepoint::Ect0),
                        Codepoint::Marked => Some(EcnCodepoint::Ce),
                    };
                    let mut answer = Vec::new();
                    let data = datagram.data[..].into();
                    match $handle(&mut self.endpoint, now, self.remote, ecn, data, &mut answer) {
                        Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                            let (own, connection) = self.connection.as_mut().expect("a connection");
                            assert_eq!(*own, handle);
                            connection.handle_event(event);
                        }
                        Some(DatagramEvent::NewConnection(incoming)) => {
                            let accepted = self.endpoint.accept(incoming, now, &mut answer, None);
                            self.connection = Some(accepted.map_err(|error| error.cause).expect("accepted"));
                        }
                        Some(DatagramEvent::Response(transmit)) => {
                            let data = answer[..transmit.size].to_vec();
                            self.leaving.push(Datagram { data, ecn: Codepoint::NotCapable });
                        }
                        None => {}
                    }
                }

                fn deadline(&mut self) -> Option<Instant> {
                    self.connection.as_mut()?.1.poll_timeout()
                }

                fn drive(&mut self, now: Instant, leaving: &mut Vec<Datagram>) {
                    leaving.append(&mut self.leaving);
                    if let Some((_, connection)) = &mut self.connection
                        && connection.poll_timeout().is_some_and(|deadline| deadline <= now)
                    {
                        connection.handle_timeout(now);
                    }
                    self.read_events();
                    self.read();
                    self.write();
                    self.transmit(now, leaving);
                    self.read_events();
                }

                fn received(&self) -> u64 {
                    self.received
                }

                fn is_complete(&self) -> bool {
                    self.complete
                }

                fn window(&self) -> Option<u64> {
                    $window(self.connection()?)
                }

                fn failure(&self) -> Option<String> {
                    self.failure.clone()
                }

                fn counts(&mut self) -> Counts {
                    self.connection
                        .as_mut()
                        .map_or_else(Counts::default, |(_, connection)| $counts(connection))
                }
            }
        }
    };
}

peer!(
    quinn,
    quinn_proto,
    |config, server| Endpoint::new(config, server, true, None),
    |endpoint: &mut Endpoint, now, remote, ecn, data, answer: &mut Vec<u8>| {
        endpoint.handle(now, remote, None, ecn, data, answer)
    },
    10,
    |connection: &Connection| Some(connection.congestion_state().window()),
    |connection: &mut Connection| {
        let path = connection.stats().path;
        Counts {
            sent: connection.stats().udp_tx.datagrams,
            lost: path.lost_packets,
            congestion_events: path.congestion_events,
        }
    }
);
peer!(
    noq,
    noq_proto,
    |config, server| Endpoint::new(config, server, true),
    |endpoint: &mut Endpoint, now, remote, ecn, data, answer: &mut Vec<u8>| {
        endpoint.handle(now, noq_proto::FourTuple::new(remote, None), ecn, data, answer)
    },
    std::num::NonZeroUsize::new(10).expect("ten"),
    |connection: &Connection| Some(connection.congestion_state(noq_proto::PathId::ZERO)?.window()),
    |connection: &mut Connection| {
        let path = connection.path_stats(noq_proto::PathId::ZERO).unwrap_or_default();
        Counts {
            sent: path.udp_tx.datagrams,
            lost: path.lost_packets,
            congestion_events: path.congestion_events,
        }
    }
);
