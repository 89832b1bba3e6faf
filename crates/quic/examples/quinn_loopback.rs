//! A client sends a file to a server over the loopback interface, with a congestion control of
//! selfclock on its side, and prints the goodput: `cargo run --release --example quinn_loopback --
//! cubic+hystart++ 200`. The number is that of megabytes.

#![allow(clippy::disallowed_methods, reason = "time passes here")]

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use quinn::{ClientConfig, Endpoint, ServerConfig, TransportConfig};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};

type Fallible<T = ()> = Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() {
    if let Err(error) = run().await {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

async fn run() -> Fallible {
    let mut arguments = std::env::args().skip(1);
    let label = arguments.next().unwrap_or_else(|| "cubic+hystart++".to_owned());
    let megabytes = arguments.next().unwrap_or_else(|| "200".to_owned());
    let megabytes: usize =
        megabytes.parse().map_err(|_| format!("'{megabytes}' is no number of megabytes"))?;

    // What concerns the congestion control.
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(selfclock_quic::factory(&label)?);

    let certificate = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let key = PrivatePkcs8KeyDer::from(certificate.signing_key.serialize_der());
    let certificate = CertificateDer::from(certificate.cert);
    let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));

    let server =
        Endpoint::server(ServerConfig::with_single_cert(vec![certificate.clone()], key.into())?, anywhere)?;
    let address = server.local_addr()?;
    let receiving = tokio::spawn(async move { receive(server).await.map_err(|error| error.to_string()) });

    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate)?;
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots))?;
    config.transport_config(Arc::new(transport));
    let mut client = Endpoint::client(anywhere)?;
    client.set_default_client_config(config);

    let connection = client.connect(address, "localhost")?.await?;
    let begin = Instant::now();
    let mut stream = connection.open_uni().await?;
    let megabyte = vec![0; 1_000_000];
    for _ in 0..megabytes {
        stream.write_all(&megabyte).await?;
    }
    stream.finish()?;
    // The server closes the connection when it has everything.
    connection.closed().await;
    let took = begin.elapsed().as_secs_f64();
    let received = receiving.await??;
    println!(
        "{label} in quinn: {received} bytes in {took:.3} s, {:.0} Mbit/s",
        received as f64 * 8.0 / took / 1e6
    );
    client.wait_idle().await;
    Ok(())
}

/// Bytes that arrive on the first stream of the first connection.
async fn receive(server: Endpoint) -> Fallible<usize> {
    let connection = server.accept().await.ok_or("the endpoint is closed")?.await?;
    let mut stream = connection.accept_uni().await?;
    let mut received = 0;
    while let Some(chunk) = stream.read_chunk(usize::MAX, true).await? {
        received += chunk.bytes.len();
    }
    connection.close(0_u32.into(), b"received");
    server.wait_idle().await;
    Ok(received)
}
