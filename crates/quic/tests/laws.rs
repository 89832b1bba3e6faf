//! Laws that hold whatever the algorithm: one flow runs twice on a path of its own, with one thing
//! changed.

mod line;

use line::{Line, Source};
use selfclock_congestion::entry::Part;
use selfclock_congestion::registry::ENTRIES;

const PACKET: u64 = 1200;

/// Every window algorithm, with the slow start of RFC 9002 and once with HyStart++.
fn labels() -> impl Iterator<Item = &'static str> {
    let windows = ENTRIES.iter().filter(|entry| entry.part == Part::Window);
    let ours = windows.map(|entry| entry.name).filter(|&name| {
        let selection = selfclock_congestion::Selection::from_label(name).expect("listed");
        selection.needs().next().is_none()
            && selection.marks() != selfclock_congestion::entry::Marks::InProportion
    });
    ours.chain(["cubic+hystart++"])
}

/// Windows in packets, ten a second, for ten seconds on 20 Mbit/s and 40 ms behind one BDP.
fn history(label: &str, packet: u64, every: usize) -> Vec<f64> {
    let mut line = Line::new(label, packet);
    (line.every, line.rate, line.queue) = (every, 20e6 * packet as f64 / PACKET as f64, 83);
    (1..=100)
        .map(|tenth| {
            line.run(f64::from(tenth) / 10.0);
            line.window()
        })
        .collect()
}

/// Twice the bytes in every packet, and twice the rate: the same number of packets. No constant of
/// an algorithm is in bytes. Windows are whole bytes, times whole nanoseconds.
#[test]
fn twice_the_bytes_at_twice_the_rate() {
    for label in labels().chain(["bbr3"]) {
        let [once, twice] = [PACKET, 2 * PACKET].map(|packet| history(label, packet, 2));
        let worst = once.iter().zip(&twice).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        println!("{label}: {worst:.4} packets");
        assert!(worst <= 0.1, "{label}: {worst} {once:?} {twice:?}");
    }
}

/// Frames of one packet and of ten: slow start counts bytes (RFC 9002, section 7.3.1). A frame
/// waits for its tenth packet, which costs a flight of w packets at 1.25 w per round trip 10/1.25w
/// of one at most and half of it on average: 0.1, 0.05 and 0.025 for flights of 40, 80 and 160, in
/// which a window grows by 2^0.175 = 1.13. Vegas decides once in a round trip.
#[test]
fn frames_of_one_and_of_ten() {
    for label in labels().filter(|&label| label != "vegas") {
        let [one, ten] = [1, 10].map(|every| {
            let mut line = Line::new(label, PACKET);
            (line.every, line.rate) = (every, 10e9);
            line.run(0.245);
            line.window()
        });
        println!("{label}: {one:.1} {ten:.1}");
        assert!((1.0..1.13).contains(&(one / ten)), "{label}: {one} {ten}");
    }
}

/// A pause of one second and of fifteen after a loss: the window continues where it was.
#[test]
fn pauses_of_one_second_and_of_fifteen() {
    for label in labels() {
        let after = |pause: f64| {
            let mut line = Line::new(label, PACKET);
            (line.rate, line.queue) = (20e6, 83);
            line.run(5.0);
            let before = line.window();
            line.source = Source::Nothing;
            line.run(5.0 + pause);
            line.source = Source::Bulk;
            line.run(5.0 + pause + 0.2);
            (before, line.window())
        };
        let found = [0.2, 1.0, 15.0].map(after);
        println!("{label}: {found:.1?}");
        // Five round trips, in which Reno grows by five packets.
        let near = |a: f64, b: f64| (a - b).abs() <= 0.05 * a + 5.0;
        assert!(near(found[0].1, found[2].1) && near(found[1].1, found[2].1), "{label}: {found:?}");
    }
}
