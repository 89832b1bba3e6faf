//! One flow of the driver on a path by itself, as words on the command line: an algorithm,
//! settings, then what happens. Each `print` is a line: time, window, largest flight (bytes),
//! pacing rate (byte/s).
//!
//! `driver_flow cubic packet=1448 rate=1e9 rtt=0.04 queue=100 every=2 bulk run=5 print nothing
//! run=20 bulk run=21 print`

#[path = "../tests/line/mod.rs"]
mod line;

use line::{Line, Source};

fn main() {
    let mut words = std::env::args().skip(1);
    let label = words.next().unwrap_or_else(|| "cubic".to_owned());
    let (mut packet, mut threshold, mut flow) = (1200, f64::INFINITY, None);
    for word in words {
        let (name, value) = word.split_once('=').unwrap_or((&word, ""));
        let number = || value.parse::<f64>().unwrap_or_else(|error| panic!("{word}: {error}"));
        match name {
            "packet" => packet = number() as u64,
            "ssthresh" => threshold = number(),
            _ => {
                let line = flow.get_or_insert_with(|| Line::with_threshold(&label, packet, threshold));
                act(line, name, value, number);
            }
        }
    }
}

fn act(line: &mut Line, name: &str, value: &str, number: impl Fn() -> f64) {
    match name {
        "rate" => line.rate = number(),
        "rtt" => line.rtt = (number() * 1e9) as u64,
        "queue" => line.queue = number() as u64,
        "every" => line.every = number() as usize,
        "burst" => line.burst = if value == "off" { None } else { Some(number() as u64) },
        "bulk" => line.source = Source::Bulk,
        "nothing" => line.source = Source::Nothing,
        "writes" => {
            let (bytes, seconds) = value.split_once('/').expect("bytes/seconds");
            let seconds: f64 = seconds.parse().expect("seconds");
            line.source = Source::Writes(bytes.parse().expect("bytes"), (seconds * 1e9) as u64);
        }
        "mtu" => line.driver.on_mtu_changed(number() as u16),
        "run" => line.run(number()),
        "print" => println!(
            "{} {} {} {}",
            line.now as f64 / 1e9,
            line.driver.window(),
            line.largest_flight,
            line.driver.pacing_rate().unwrap_or(0),
        ),
        _ => panic!(
            "{name}: allowed are packet, ssthresh, rate, rtt, queue, every, burst, bulk, nothing, writes, mtu, run, print"
        ),
    }
}
