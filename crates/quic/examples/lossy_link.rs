//! A file over a link in memory, in simulated time, with both stacks: 20 Mbit/s, 40 ms, a queue of
//! one bandwidth-delay product, and one datagram in 1,000 lost. `cargo run --release --features noq
//! --example lossy_link -- cubic+hystart++ 20`.
#![allow(clippy::disallowed_methods, reason = "stacks take instants: simulated time begins now")]

#[path = "../tests/link/mod.rs"]
mod link;

use std::time::{Duration, Instant};

use link::{Peer, Wire, transfer};
use selfclock_quic::FactoryError;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let label = arguments.next().unwrap_or_else(|| "cubic+hystart++".to_owned());
    let Ok(megabytes) = arguments.next().unwrap_or_else(|| "20".to_owned()).parse::<u64>() else {
        eprintln!("the second argument is a number of megabytes");
        std::process::exit(1);
    };
    let begin = Instant::now();
    let quinn = selfclock_quic::factory(&label)
        .map(|factory| link::quinn::pair(&link::quinn::Settings::new(factory), begin, megabytes * 1_000_000));
    show("quinn", begin, quinn);
    let noq = selfclock_quic::noq::factory(&label)
        .map(|factory| link::noq::pair(&link::noq::Settings::new(factory), begin, megabytes * 1_000_000));
    show("noq", begin, noq);
}

fn show<P: Peer>(stack: &str, begin: Instant, pair: Result<(P, P), FactoryError>) {
    let (mut client, mut server) = match pair {
        Ok(pair) => pair,
        Err(error) => return println!("{stack}: {error}"),
    };
    let wire = || Wire { loss: 0.001, ..Wire::new(20e6, Duration::from_millis(20), 100_000) };
    let (mut there, mut back) = (wire(), wire());
    let limit = Duration::from_secs(3600);
    let seen = transfer(begin, (&mut client, &mut server), (&mut there, &mut back), limit);
    println!(
        "{stack}: {} bytes in {:.3} s, {:.2} Mbit/s; {} datagrams sent, {} packets lost, largest window {} bytes",
        seen.received,
        seen.took.as_secs_f64(),
        seen.goodput() / 1e6,
        seen.counts.sent,
        seen.counts.lost,
        seen.largest_window
    );
}
