//! Comparison with ns-2.35: the two networks of the packet-pair paper, figures 7 and 10.
//!
//! A run either equals ns-2's, packet by packet, or is listed in [`DIFFERENCES`] with the first
//! differing packet and the reason. `docs/validation-ns2.md` shows the figures, which must equal
//! those computed here.

#[path = "../common/mod.rs"]
mod common;
mod run;

use run::{Settings, Totals};
use selfclock_simulator::plan::Recovery::{self, NewReno, Reno, Sack, Tahoe};
use std::fmt::Write;

/// Why a run differs from ns-2's from some packet on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Resends,
    Fraction,
    Repeated,
    Burst,
    Pipe,
    Third,
    News,
}

impl Reason {
    const ALL: [Self; 7] =
        [Self::Resends, Self::Fraction, Self::Repeated, Self::Burst, Self::Pipe, Self::Third, Self::News];

    fn letter(self) -> char {
        (b'a' + self as u8) as char
    }

    fn text(self) -> &'static str {
        match self {
            Self::Resends => {
                "After a timeout (in Tahoe, a fast retransmit) ns-2's limited transmit sends the next *old* segment \
                 again on the first two duplicate acknowledgements. RFC 3042 allows new data only, and RFC 5681 only \
                 while no more than two segments beyond the window are outstanding; we wait."
            }
            Self::Fraction => {
                "ns-2 rounds ssthresh down to whole segments, but not the window, and lets the window grow on the \
                 acknowledgement that ends a fast recovery. RFC 5681 sets the window to ssthresh there."
            }
            Self::Repeated => {
                "ns-2's receiver delays the acknowledgement of a segment that it gets a second time when that is the \
                 last in order. RFC 9293 has a segment outside the window acknowledged at once."
            }
            Self::Burst => {
                "ns-2's NewReno sends at most two new segments per acknowledgement in a fast recovery. RFC 6582 sends \
                 what the window allows."
            }
            Self::Pipe => {
                "ns-2's Sack1 does not take lost segments out of what is in flight, so in a recovery it waits for more \
                 acknowledgements before it sends. RFC 6675 takes a segment out once three above it are SACKed."
            }
            Self::Third => {
                "Enough ACKs are dropped for one to report three or more segments above a gap. RFC 6675 \
                 begins the recovery with it; ns-2 waits for the third duplicate."
            }
            Self::News => {
                "An acknowledgement advances and reports SACKed segments. RFC 6675 counts it as a duplicate and the \
                 SACKed segments as out of the network, and lets new ones go; ns-2 does not."
            }
        }
    }
}

/// Recovery, segments per acknowledgement, segment size, window, figure, limited transmit.
type Key = (Recovery, u32, u64, u64, u32, bool);

/// The first differing packet: ns-2's time in microseconds and segment, ours, and the reason. The
/// last column says whether drops agree and segments sent agree within a tenth nevertheless.
type Difference = (Key, [(u64, u64); 2], Reason, bool);

/// Every run that differs from ns-2's.
#[rustfmt::skip]
const DIFFERENCES: &[Difference] = &[
    ((Tahoe, 1, 512, 20, 7, true), [(1727571, 31), (1949158, 31)], Reason::Resends, true),
    ((Reno, 1, 512, 20, 7, true), [(2357990, 33), (2579578, 44)], Reason::Resends, true),
    ((NewReno, 1, 512, 20, 7, true), [(1957990, 32), (2179578, 48)], Reason::Resends, true),
    ((Sack, 1, 512, 20, 7, true), [(1435750, 26), (1409466, 26)], Reason::Pipe, true),
    ((Tahoe, 1, 1000, 20, 7, true), [(1888416, 31), (2110784, 31)], Reason::Resends, false),
    ((Reno, 1, 1000, 20, 7, true), [(2557424, 33), (2779792, 44)], Reason::Resends, false),
    ((NewReno, 1, 1000, 20, 7, true), [(2127424, 32), (2349792, 48)], Reason::Resends, false),
    ((Sack, 1, 1000, 20, 7, true), [(1533350, 26), (1483642, 26)], Reason::Pipe, true),
    ((NewReno, 2, 1000, 20, 7, true), [(2626784, 73), (2387776, 73)], Reason::Burst, false),
    ((Sack, 2, 1000, 20, 7, true), [(2254938, 54), (2238368, 54)], Reason::Pipe, true),
    ((Reno, 1, 512, 1000, 7, true), [(2375654, 33), (2597242, 40)], Reason::Resends, false),
    ((Reno, 1, 512, 1000, 10, true), [(8179664, 197), (8509443, 200)], Reason::Resends, false),
    ((Sack, 1, 512, 1000, 7, true), [(1479910, 26), (1453626, 26)], Reason::Pipe, false),
    ((Sack, 1, 512, 1000, 10, true), [(5416785, 241), (5330115, 241)], Reason::News, false),
    ((Reno, 2, 512, 1000, 7, true), [(3161072, 93), (3382659, 93)], Reason::Resends, false),
    ((Reno, 2, 512, 1000, 10, true), [(9025498, 221), (9158831, 221)], Reason::Resends, true),
    ((Sack, 2, 512, 1000, 7, true), [(2244672, 66), (2227078, 66)], Reason::Pipe, false),
    ((Sack, 2, 512, 1000, 10, true), [(5989500, 258), (5916170, 258)], Reason::News, false),
    ((Reno, 1, 1000, 1000, 7, true), [(2590704, 33), (2813072, 40)], Reason::Resends, false),
    ((Reno, 1, 1000, 1000, 10, true), [(7679275, 145), (8017643, 147)], Reason::Resends, false),
    ((Sack, 1, 1000, 1000, 7, true), [(1616550, 26), (1566842, 26)], Reason::Pipe, false),
    ((Sack, 1, 1000, 1000, 10, true), [(4815878, 183), (4822548, 127)], Reason::Third, false),
    ((Reno, 2, 1000, 1000, 7, true), [(3375712, 63), (3598080, 63)], Reason::Resends, false),
    ((Reno, 2, 1000, 1000, 10, true), [(8140885, 158), (8479253, 160)], Reason::Resends, false),
    ((Sack, 2, 1000, 1000, 7, true), [(2354918, 54), (2288570, 54)], Reason::Pipe, false),
    ((Sack, 2, 1000, 1000, 10, true), [(5410822, 195), (5337492, 195)], Reason::News, false),
    ((Sack, 1, 512, 20, 7, false), [(1435750, 26), (1409466, 26)], Reason::Pipe, true),
    ((Reno, 1, 1000, 20, 7, false), [(7467696, 259), (7573584, 259)], Reason::Fraction, false),
    ((NewReno, 1, 1000, 20, 7, false), [(7137536, 264), (7243424, 264)], Reason::Fraction, false),
    ((Sack, 1, 1000, 20, 7, false), [(1533350, 26), (1483642, 26)], Reason::Pipe, true),
    ((NewReno, 2, 1000, 20, 7, false), [(2626784, 73), (2387776, 73)], Reason::Burst, false),
    ((Sack, 2, 1000, 20, 7, false), [(2254938, 54), (2238368, 54)], Reason::Pipe, true),
    ((Reno, 1, 512, 1000, 7, false), [(9867994, 587), (9974765, 587)], Reason::Fraction, true),
    ((Sack, 1, 512, 1000, 7, false), [(1462246, 26), (1435962, 26)], Reason::Pipe, false),
    ((Sack, 1, 512, 1000, 10, false), [(5630125, 176), (5430122, 176)], Reason::Third, false),
    ((Reno, 2, 512, 1000, 10, false), [(16169956, 287), (16236623, 287)], Reason::Fraction, true),
    ((Sack, 2, 512, 1000, 7, false), [(2227008, 66), (2209414, 66)], Reason::Pipe, false),
    ((Sack, 2, 512, 1000, 10, false), [(6176173, 193), (6002836, 193)], Reason::Third, false),
    ((Reno, 1, 1000, 1000, 7, false), [(7467696, 257), (7573584, 257)], Reason::Fraction, false),
    ((Sack, 1, 1000, 1000, 7, false), [(1583270, 26), (1533562, 26)], Reason::Pipe, false),
    ((Sack, 1, 1000, 1000, 10, false), [(5015891, 127), (4822548, 127)], Reason::Third, false),
    ((Reno, 2, 1000, 1000, 7, false), [(4570752, 90), (4587392, 90)], Reason::Repeated, true),
    ((Sack, 2, 1000, 1000, 7, false), [(2321638, 54), (2255290, 54)], Reason::Pipe, false),
    ((Sack, 2, 1000, 1000, 10, false), [(5610835, 140), (5424159, 140)], Reason::Third, false),
];

fn key(settings: &Settings) -> Key {
    let Settings { recovery, every, size, window, figure, limited_transmit } = *settings;
    (recovery, every, size, window, figure, limited_transmit)
}

/// Drops agree exactly and segments sent within a tenth.
fn agree(ns2: &Totals, ours: &Totals) -> bool {
    ns2.drops == ours.drops && ns2.sent.abs_diff(ours.sent) * 10 <= ns2.sent
}

#[test]
fn every_run_is_that_of_ns2_up_to_a_known_difference() {
    let mut listed = 0;
    for (settings, ns2) in run::of_ns2() {
        let (name, ours) = (settings.name(), settings.run());
        let first = settings.first_difference(&ns2, &ours);
        match DIFFERENCES.iter().find(|difference| difference.0 == key(&settings)) {
            None => {
                assert_eq!(first, None, "{name}: ns-2's packet and ours");
                assert_eq!(ours.totals, ns2.totals, "{name}");
            }
            Some(&(_, packets, reason, agrees)) => {
                listed += 1;
                assert_eq!(first, Some(packets), "{name}: {reason:?}");
                assert_eq!(agree(&ns2.totals, &ours.totals), agrees, "{name}: {ours:?}", ours = ours.totals);
            }
        }
        if ns2.totals.drops == 0 {
            assert_eq!(first, None, "{name}: nothing is lost, so nothing may differ");
        }
    }
    assert_eq!(listed, DIFFERENCES.len(), "every difference belongs to a run");
}

/// Rows of the table: runs with limited transmit, or without it.
fn rows(text: &mut String, limited_transmit: bool) {
    text.push_str("\n| setting | ns-2.35 | here | agreement | first difference |\n|---|---|---|---|---|\n");
    for (settings, ns2) in run::of_ns2() {
        if settings.limited_transmit != limited_transmit {
            continue;
        }
        let ours = settings.run();
        let difference = DIFFERENCES.iter().find(|difference| difference.0 == key(&settings));
        let (agreement, first) = match difference {
            None => ("every packet".to_owned(), String::new()),
            Some(&(_, [(ns2_time, ns2_segment), (our_time, our_segment)], reason, _)) => {
                let change = 100.0 * (ours.totals.sent as f64 / ns2.totals.sent as f64 - 1.0);
                let packet = |time: u64, segment: u64| format!("{segment} at {:.6} s", time as f64 / 1e6);
                let (theirs, here) = (packet(ns2_time, ns2_segment), packet(our_time, our_segment));
                (format!("{change:+.1} %"), format!("{theirs}, here {here}: ({})", reason.letter()))
            }
        };
        let totals = |totals: &Totals| {
            let Totals { sent, acknowledged, drops, acknowledgements_dropped, timeouts } = totals;
            format!("{sent} / {acknowledged}, {drops} + {acknowledgements_dropped}, {timeouts}")
        };
        let (recovery, acks) = (settings.recovery, if settings.every == 1 { "plain" } else { "delayed" });
        let (size, window, figure) = (settings.size, settings.window, settings.figure);
        let setting = format!("fig {figure}: {recovery:?}, {acks}, {size}, {window}");
        let (theirs, here) = (totals(&ns2.totals), totals(&ours.totals));
        writeln!(text, "| {setting} | {theirs} | {here} | {agreement} | {first} |").expect("a string");
    }
}

fn document() -> String {
    let mut text = include_str!("introduction.md").to_owned();
    text.push_str("\n### Why runs differ\n\n");
    for reason in Reason::ALL {
        writeln!(text, "* ({}) {}", reason.letter(), reason.text()).expect("a string");
    }
    text.push_str(include_str!("beyond.md"));
    text.push_str("\n### With limited transmit, as ns-2.35 comes\n");
    rows(&mut text, true);
    text.push_str("\n### Without limited transmit (`singledup_ 0`): the runs in which data is lost\n");
    rows(&mut text, false);
    text
}

/// To renew the document, run this with `SELFCLOCK_RENEW=1` in the environment.
#[test]
fn the_document_shows_these_figures() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/validation-ns2.md");
    if std::env::var_os("SELFCLOCK_RENEW").is_some() {
        std::fs::write(path, document()).expect("the document can be written");
    }
    let shown = std::fs::read_to_string(path).expect("docs/validation-ns2.md");
    assert!(shown == document(), "docs/validation-ns2.md does not show what comes out:\n{}", document());
}
