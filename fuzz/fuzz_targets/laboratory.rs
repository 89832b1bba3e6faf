//! Requests of the page in the browser: each is answered in JSON.
#![no_main]

use selfclock_browser::laboratory::Laboratory;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let mut laboratory = Laboratory::default();
    for line in text.lines().take(4) {
        let reply = laboratory.answer(line);
        assert!(serde_json::from_str::<serde_json::Value>(&reply.json).is_ok());
    }
});
