//! Names that people type and no algorithm has, each with an answer: a suggestion by spelling alone
//! would name another algorithm (`altcp` for `dctcp`).

/// A name in lower case without `-`, `_` and spaces, and its answer.
const ANSWERS: &[(&str, &str)] = &[
    (
        "dctcp",
        "DCTCP is 'prague:pacing=false,virtual_rtt=0s', in a file { model = \"prague\", pacing = false, virtual_rtt = \"0 s\" }; it needs accurate ECN and marks",
    ),
    ("linux", "the default of Linux is 'cubic'; its transport is the profile \"modern\""),
    ("tcpprague", "TCP Prague is 'prague'"),
    ("l4s", "the L4S algorithm is 'prague', its queue 'dualpi2'"),
    ("bbr", "versions 1 and 2 of BBR are not built in; 'bbr3' is version 3, another algorithm"),
    ("bbr1", "version 1 of BBR is not built in; 'bbr3' is version 3, another algorithm"),
    ("bbrv1", "version 1 of BBR is not built in; 'bbr3' is version 3, another algorithm"),
    ("bbr2", "version 2 of BBR is not built in; 'bbr3' is version 3, another algorithm"),
    ("bbrv2", "version 2 of BBR is not built in; 'bbr3' is version 3, another algorithm"),
    ("bbrv3", "version 3 of BBR is 'bbr3'"),
    ("tahoe", "Tahoe is a loss recovery: 'reno' with transport.recovery = \"tahoe\""),
    ("newreno", "NewReno is a loss recovery: 'reno' with transport.recovery = \"newreno\""),
    ("sack", "SACK is a loss recovery: any algorithm with transport.recovery = \"sack\""),
    (
        "rack",
        "RACK-TLP is a loss recovery: any algorithm with transport.recovery = \"rack\", the default of the modern profile",
    ),
    ("prr", "PRR is a setting of the loss recovery: any algorithm with transport.prr = true"),
    ("hstcp", "HighSpeed TCP is 'highspeed'"),
    ("stcp", "Scalable TCP is 'scalable'"),
    ("fasttcp", "FAST TCP is 'fast'"),
    ("tcpvegas", "TCP Vegas is 'vegas'"),
    ("htcp", "H-TCP is not built in"),
    ("westwood", "TCP Westwood is not built in"),
    ("westwood+", "TCP Westwood+ is not built in"),
    ("copa", "Copa is not built in"),
    ("pcc", "PCC is not built in"),
    ("allegro", "PCC Allegro is not built in"),
    ("vivace", "PCC Vivace is not built in"),
    ("proteus", "PCC Proteus is not built in"),
    ("ledbat", "LEDBAT is not built in"),
    ("ledbat++", "LEDBAT++ is not built in"),
    ("illinois", "TCP-Illinois is not built in"),
    ("hybla", "TCP Hybla is not built in"),
    ("veno", "TCP Veno is not built in"),
    ("yeah", "YeAH-TCP is not built in"),
    ("compound", "Compound TCP is not built in"),
    ("ctcp", "Compound TCP is not built in"),
    ("cdg", "CDG is not built in"),
    ("nv", "TCP NV is not built in"),
    ("lp", "TCP-LP is not built in"),
    ("timely", "TIMELY is not built in"),
    ("swift", "Swift (SIGCOMM 2020) is not built in; 'swift-start' is a start"),
    ("dcqcn", "DCQCN is not built in"),
    ("hpcc", "HPCC is not built in"),
    ("gcc", "Google Congestion Control is not built in"),
    ("scream", "SCReAM is not built in"),
    ("sprout", "Sprout is not built in"),
    ("verus", "Verus is not built in"),
];

/// The answer to a label with a name that people know and no algorithm has.
///
/// ```
/// use selfclock_congestion::registry::answer;
///
/// assert_eq!(answer("HTCP"), Some("H-TCP is not built in"));
/// assert_eq!(answer("reno"), None);
/// ```
pub fn answer(label: &str) -> Option<&'static str> {
    let is_it = |given: &str, name: &str| {
        let letters = given.trim().chars().filter(|letter| !matches!(letter, '-' | '_' | ' '));
        letters.flat_map(char::to_lowercase).eq(name.chars())
    };
    let of = |given: &str| ANSWERS.iter().find(|(name, _)| is_it(given, name)).map(|&(_, answer)| answer);
    of(label).or_else(|| label.split('+').take(3).find_map(of))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{ENTRIES, Registry, Selection};

    #[test]
    fn an_answer_is_one_line_and_for_no_name_that_exists() {
        for (name, text) in ANSWERS {
            assert!(!text.contains('\n') && text.len() < 160, "{name}");
            assert!(ENTRIES.iter().all(|entry| answer(entry.name).is_none()), "{name}");
            assert_eq!(answer(name), Some(*text), "{name}: two answers");
        }
    }

    #[test]
    fn every_algorithm_in_an_answer_exists() {
        for (name, text) in ANSWERS {
            // Quoted words are algorithms, settings behind a colon included; 'dualpi2' is a queue.
            for quoted in text.split('\'').skip(1).step_by(2) {
                let known = quoted == "dualpi2"
                    || quoted == "swift-start"
                    || Registry::built_in().read(quoted).is_ok();
                // An apostrophe is no quotation mark.
                assert!(known || quoted.starts_with("s "), "{name}: {quoted}");
            }
        }
    }

    #[test]
    fn a_known_name_has_an_answer_and_no_suggestion() {
        for (label, words) in [
            ("dctcp", "prague:pacing=false"),
            ("DCTCP", "prague:pacing=false"),
            ("bbr", "not built in"),
            ("bbr+hystart++", "not built in"),
            ("htcp", "H-TCP is not built in"),
            ("new-reno", "recovery"),
            ("westwood+", "Westwood+"),
        ] {
            let error = Selection::from_label(label).expect_err(label);
            assert_eq!(error.near, None, "{label}");
            let message = error.to_string();
            assert!(message.contains(words) && !message.contains("did you mean"), "{message}");
        }
    }
}
