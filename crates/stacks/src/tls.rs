//! TLS 1.3 by rustls, with every byte derived from a seed: random numbers from a generator of the
//! connection, and a key exchange whose shares are drawn from it. Handshake, packet protection and
//! sizes are the real ones; there is no secrecy.

use rand::Rng;
use rand_pcg::Pcg64;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::{self, cipher_suite::TLS13_AES_128_GCM_SHA256};
use rustls::crypto::{
    ActiveKeyExchange, CryptoProvider, GetRandomFailed, SecureRandom, SharedSecret, SupportedKxGroup,
    verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::version::TLS13;
use rustls::{ClientConfig, DigitallySignedStruct, Error, NamedGroup, ServerConfig, SignatureScheme};
use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

/// Name in the certificate.
pub const SERVER: &str = "receiver";

/// A self-signed certificate of [`SERVER`], and its key. Ed25519: its signatures draw nothing.
const CERTIFICATE: &[u8] = include_bytes!("identity/certificate.der");
const KEY: &[u8] = include_bytes!("identity/key.der");

/// The application protocol of both ends (ALPN).
const PROTOCOL: &[u8] = b"selfclock";

/// Length of an X25519 key share and secret.
const SHARE: usize = 32;

thread_local! {
    /// The generator of the connection that this thread is executing.
    static GENERATOR: RefCell<Option<Pcg64>> = const { RefCell::new(None) };
}

/// The random numbers of one end.
#[derive(Debug)]
pub struct Random(Pcg64);

impl Random {
    /// A generator for this seed and stream.
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(Pcg64::new(u128::from(seed), u128::from(stream)))
    }

    /// 32 random bytes.
    pub fn bytes(&mut self) -> [u8; 32] {
        let mut bytes = [0; 32];
        self.0.fill_bytes(&mut bytes);
        bytes
    }

    /// Runs stack code whose TLS draws from this generator.
    pub fn during<T>(&mut self, run: impl FnOnce() -> T) -> T {
        GENERATOR.set(Some(self.0.clone()));
        let result = run();
        if let Some(generator) = GENERATOR.take() {
            self.0 = generator;
        }
        result
    }
}

fn fill(bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
    GENERATOR.with_borrow_mut(|generator| {
        generator.as_mut().ok_or(GetRandomFailed)?.fill_bytes(bytes);
        Ok(())
    })
}

#[derive(Debug)]
struct Seeded;

impl SecureRandom for Seeded {
    fn fill(&self, buffer: &mut [u8]) -> Result<(), GetRandomFailed> {
        fill(buffer)
    }
}

/// A key exchange with the message sizes of X25519. The shared secret is the XOR of both shares:
/// it only has to be equal at both ends.
#[derive(Debug)]
struct Exchange;

impl SupportedKxGroup for Exchange {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let mut share = [0; SHARE];
        fill(&mut share)?;
        Ok(Box::new(Share(share)))
    }
    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

struct Share([u8; SHARE]);

impl ActiveKeyExchange for Share {
    fn complete(self: Box<Self>, other: &[u8]) -> Result<SharedSecret, Error> {
        let secret: Vec<u8> = self.0.iter().zip(other).map(|(one, other)| one ^ other).collect();
        Ok(SharedSecret::from(secret))
    }
    fn pub_key(&self) -> &[u8] {
        &self.0
    }
    fn group(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

fn provider() -> CryptoProvider {
    CryptoProvider {
        cipher_suites: vec![TLS13_AES_128_GCM_SHA256],
        kx_groups: vec![&Exchange],
        secure_random: &Seeded,
        ..ring::default_provider()
    }
}

/// Accepts the only certificate without checking its validity: simulated time has no date.
#[derive(Debug)]
struct Known(CryptoProvider);

impl ServerCertVerifier for Known {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match certificate.as_ref() == CERTIFICATE {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(Error::General("another certificate".to_owned())),
        }
    }
    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("QUIC has TLS 1.3".to_owned()))
    }
    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// The client, which starts the handshake.
///
/// # Errors
/// From rustls, if the provider lacks a required feature.
pub fn client() -> Result<ClientConfig, Error> {
    let mut config = ClientConfig::builder_with_provider(Arc::new(provider()))
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Known(provider())))
        .with_no_client_auth();
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    config.resumption = rustls::client::Resumption::disabled();
    Ok(config)
}

/// The TLS secrets of a connection, as lines of the NSS key log format. Clones share the log.
#[derive(Clone, Debug, Default)]
pub struct KeyLog(Arc<Mutex<String>>);

impl KeyLog {
    /// Takes the lines since the last call.
    pub fn take(&self) -> Option<String> {
        let lines = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        (!lines.is_empty()).then_some(lines)
    }
}

impl rustls::KeyLog for KeyLog {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        let (random, secret) = (hexadecimal(client_random), hexadecimal(secret));
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push_str(&format!("{label} {random} {secret}\n"));
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The server, which logs the secrets of its connection.
///
/// # Errors
/// As [`client`].
pub fn server(key_log: KeyLog) -> Result<ServerConfig, Error> {
    let certificates = vec![CertificateDer::from(CERTIFICATE)];
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(KEY));
    let mut config = ServerConfig::builder_with_provider(Arc::new(provider()))
        .with_protocol_versions(&[&TLS13])?
        .with_no_client_auth()
        .with_single_cert(certificates, key)?;
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    config.key_log = Arc::new(key_log);
    // Sessions are never resumed.
    config.send_tls13_tickets = 0;
    Ok(config)
}
