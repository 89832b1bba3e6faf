//! The engine's upper bound, for profilers: `cargo run --release --example bare_loop -- FLOWS
//! PACKETS [MILLIONS]`: a dumbbell with FLOWS flows and PACKETS packets in flight each, for
//! MILLIONS million round trips of one packet.

use selfclock_simulator::bare_loop::bare_loop;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<u64> = std::env::args().skip(1).map_while(|argument| argument.parse().ok()).collect();
    let (&[flows, packets] | &[flows, packets, _]) = &arguments[..] else {
        eprintln!("usage: bare_loop FLOWS PACKETS [MILLIONS]");
        return ExitCode::from(2);
    };
    let trips = arguments.get(2).map_or(20, |&millions| millions) * 1_000_000;
    println!("{} packet-hops", bare_loop(flows, packets, trips));
    ExitCode::SUCCESS
}
