//! Real connections of s2n-quic over the network that it simulates for its own tests: 40 ms there
//! and back, one datagram in a hundred lost, a jitter of 2 ms that reorders, and at most 100
//! datagrams on their way.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use s2n_quic::client::Connect;
use s2n_quic::provider::io::testing::{Handle, Model, primary, spawn, test};
use s2n_quic::provider::tls::rustls as tls;
use s2n_quic::{Client, Server};
use selfclock_congestion::entry::Part;
use selfclock_congestion::registry::ENTRIES;
use selfclock_congestion::trace::{Reader, Record, replay};
use selfclock_congestion::{Event, Registry};
use selfclock_quic::s2n::S2n;
use selfclock_quic::{Factory, Traces};

type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

const SIZE: u64 = 400_000;

fn content(place: u64) -> u8 {
    (place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

/// The client sends its file to the server. Returns the bytes that arrived as they should be.
fn run(text: &str, traces: &Traces, model: Model) -> Fallible<(u64, Duration)> {
    let certificate = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let (der, key) = (certificate.cert.der().to_vec(), certificate.signing_key.serialize_der());
    let server_tls = tls::Server::builder().with_certificate(der.clone(), key)?.build()?;
    let client_tls = tls::Client::builder().with_certificate(der)?.build()?;
    let factory = Factory::<S2n>::read(text)?.traced(traces);
    let received = Arc::new(AtomicU64::new(0));
    let counter = received.clone();
    let took = test(model, move |handle: &Handle| {
        let mut server =
            Server::builder().with_io(handle.builder().build()?)?.with_tls(server_tls)?.start()?;
        let address = server.local_addr()?;
        spawn(async move {
            let mut connection = server.accept().await.expect("a connection");
            let mut stream = connection.accept_receive_stream().await.expect("alive").expect("a stream");
            while let Some(piece) = stream.receive().await.expect("alive") {
                for byte in piece {
                    assert_eq!(byte, content(counter.fetch_add(1, Ordering::Relaxed)));
                }
            }
            // The client closes the connection when everything is acknowledged.
            let _ = connection.accept_receive_stream().await;
        });

        let client = Client::builder()
            .with_io(handle.builder().build()?)?
            .with_tls(client_tls)?
            .with_congestion_controller(factory)?
            .start()?;
        primary::spawn(async move {
            let connect = Connect::new(address).with_server_name("localhost");
            let mut connection = client.connect(connect).await.expect("a connection");
            let mut stream = connection.open_send_stream().await.expect("a stream");
            let file: Vec<u8> = (0..SIZE).map(content).collect();
            stream.send(file.into()).await.expect("alive");
            stream.finish().expect("alive");
            stream.flush().await.expect("everything is acknowledged");
        });
        Ok(())
    });
    let took = took.map_err(|error| error.to_string())?;
    Ok((received.load(Ordering::Relaxed), took))
}

fn rough() -> Model {
    let model = Model::default();
    model.set_delay(Duration::from_millis(20)).set_network_jitter(Duration::from_millis(2));
    model.set_drop_rate(0.01).set_max_inflight(100);
    model
}

/// Every algorithm that s2n-quic can carry brings the file over, and its trace replays to the bit.
#[test]
fn every_algorithm_that_maps() {
    let named = |part| ENTRIES.iter().filter(move |entry| entry.part == part).map(|entry| entry.name);
    let pairs = named(Part::Window)
        .flat_map(|window| named(Part::Start).map(move |start| format!("{window}+{start}")));
    let labels = pairs.chain(named(Part::Model).map(str::to_owned));
    let mut carried = 0;
    for label in labels.filter(|label| Factory::<S2n>::read(label).is_ok()) {
        let traces = Traces::in_memory();
        let (received, took) = run(&label, &traces, rough()).expect(&label);
        assert_eq!(received, SIZE, "{label}");
        let recorded = traces.take();
        assert_eq!(recorded.len(), 1, "{label}");
        let done = replay(&Registry::built_in(), &recorded[0]);
        let done = done.unwrap_or_else(|error| panic!("{label}: {error}"));
        let events: Vec<Event> = Reader::new(&recorded[0])
            .expect("a header")
            .filter_map(|record| match record.expect("a record") {
                Record::Event(event) => Some(event),
                _ => None,
            })
            .collect();
        let losses = events.iter().filter(|event| matches!(event, Event::LossDetected(_))).count();
        assert!(losses > 0 && done.events > 50, "{label}: {done:?}");
        println!("{label}: {took:?}, {losses} reductions, {done:?}");
        carried += 1;
    }
    // 11 windows with 4 starts, and BBR.
    assert_eq!(carried, 45);
}

#[test]
fn refusals() {
    for (label, reason) in [
        ("prague", "it needs counts of CE marks on packets with ECT(1), and s2n-quic sends ECT(0)"),
        ("xcp", "it needs routers with the mechanism xcp, for which QUIC packets carry nothing"),
    ] {
        let error = Factory::<S2n>::read(label).expect_err(label).to_string();
        assert_eq!(error, format!("{label} cannot run in s2n-quic: {reason}"));
    }
}
