//! Any requests are answered in JSON: run by the fuzzer of `fuzz/`, and by `corpus.rs` on its
//! findings.

use selfclock_browser::laboratory::Laboratory;
use serde_json::{Value, json};

/// Answers the first lines of a text.
pub fn requests(text: &str) {
    let mut laboratory = Laboratory::default();
    for line in text.lines().take(8) {
        let reply = laboratory.answer(&bounded(line));
        assert!(serde_json::from_str::<Value>(&reply.json).is_ok(), "{}", reply.json);
    }
}

/// The request with sizes that the page sets, not a link: a fuzzer would ask for hours.
fn bounded(line: &str) -> String {
    let Ok(mut request) = serde_json::from_str::<Value>(line) else { return line.to_owned() };
    for limits in ["/open/limits", "/check/limits"] {
        if let Some(limits) = request.pointer_mut(limits) {
            *limits = json!({ "most_packet_hops": 1e5, "packet_hops_per_s": 1e6 });
        }
    }
    for (size, most) in [("/advance/events", json!(10_000)), ("/step/length_s", json!(1))] {
        if let Some(size) = request.pointer_mut(size).filter(|size| size.as_f64() > most.as_f64()) {
            *size = most;
        }
    }
    request.to_string()
}
