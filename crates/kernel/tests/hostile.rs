//! Damaged objects and records are refused, without a panic: changed, cut and doubled bytes.

#[path = "common/hostile.rs"]
mod hostile;

use selfclock_kernel::objects::OBJECTS;

/// Numbers that repeat (Numerical Recipes' constants).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below.max(1)
    }

    /// A few changes: bytes, words of ends of ranges, a cut, a copied piece.
    fn damage(&mut self, whole: &[u8]) -> Vec<u8> {
        let mut bytes = whole.to_vec();
        for _ in 0..=self.roll(4) {
            let at = self.roll(bytes.len());
            match self.roll(5) {
                0 => bytes[at] ^= 1 << self.roll(8),
                1 => bytes[at] = 0,
                2 => {
                    let word = [0_u32, 1, 2, 3, 7, u32::MAX, i32::MAX as u32][self.roll(7)].to_le_bytes();
                    bytes.iter_mut().skip(at & !3).zip(word).for_each(|(to, from)| *to = from);
                }
                3 => bytes.truncate(at.max(1)),
                _ => {
                    let from = self.roll(bytes.len());
                    let piece = bytes[from..bytes.len().min(from + 16)].to_vec();
                    bytes.iter_mut().skip(at).zip(piece).for_each(|(to, from)| *to = from);
                }
            }
        }
        bytes
    }
}

#[cfg(target_os = "linux")]
#[test]
fn damaged_objects_are_refused() {
    let mut dice = Dice(1);
    for (_, object) in OBJECTS.iter().take(2) {
        for _ in 0..50 {
            hostile::object(&dice.damage(object));
        }
        // Words of the header and the first types, one at a time.
        let at = object.windows(2).position(|pair| pair == [0x9f, 0xeb]).expect("BTF");
        for place in (at..object.len().min(at + 400)).step_by(12) {
            for word in [0_u32, 3, u32::MAX] {
                let mut bytes = object.to_vec();
                bytes[place..place + 4].copy_from_slice(&word.to_le_bytes());
                hostile::object(&bytes);
            }
        }
    }
}

#[test]
fn damaged_records_are_refused() {
    let mut dice = Dice(2);
    for name in ["reno", "bbr3", "in-kernel-vegas"] {
        let file = format!("{}/tests/logs/{name}.log", env!("CARGO_MANIFEST_DIR"));
        let whole = std::fs::read(file).expect("a record");
        // The head, where names and lengths are, and the first events.
        let begin = &whole[..whole.len().min(20_000)];
        for _ in 0..20 {
            hostile::log(&dice.damage(begin));
        }
    }
}

/// Found by the fuzzer: acknowledged bytes near 2^64 overflowed a sum.
#[test]
fn impossible_events_are_refused() {
    use selfclock_kernel::log::{LogError, traces};
    let file = "../../fuzz/corpus/kernel_log/crash-a7cc439e8a22bcdcb1f0832080246a028f72794b";
    let record = std::fs::read(format!("{}/{file}", env!("CARGO_MANIFEST_DIR"))).expect("a file");
    let registry = selfclock_congestion::registry::Registry::built_in();
    let refused = traces(&registry, &record, |_, _| {}).expect_err("2^64 bytes");
    assert!(matches!(refused, LogError::Impossible(_)), "{refused}");
    assert!(refused.to_string().contains("is of no connection"), "{refused}");
}

/// Seeds and findings of the fuzzers.
#[test]
fn the_corpus_is_read_or_refused() {
    let folder = |target: &str| format!("{}/../../fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
    let each = |target: &str, run: fn(&[u8])| {
        let files = std::fs::read_dir(folder(target)).expect("the corpus");
        let seen =
            files.map(|file| run(&std::fs::read(file.expect("a file").path()).expect("bytes"))).count();
        assert!(seen > 0, "{target}");
    };
    #[cfg(target_os = "linux")]
    each("object", hostile::object);
    each("kernel_log", hostile::log);
}
