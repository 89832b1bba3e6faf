//! The algorithms' arithmetic in the kernel (`bpf/float.h`) against that of this CPU and `libm`,
//! bit for bit.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// SplitMix64 of Steele, Lea and Flood.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }
}

/// Operations in `tests/float.c`.
const OPERATIONS: u64 = 20;
const SIGN: u64 = 1 << 63;

fn is_subnormal(bits: u64) -> bool {
    bits >> 52 & 0x7ff == 0 && bits << 12 != 0
}

/// A subnormal number counts as zero.
fn flushed(bits: u64) -> u64 {
    if is_subnormal(bits) { bits & SIGN } else { bits }
}

/// Result of the CPU, with subnormals flushed and NaNs alike.
fn expected(operation: u64, a: u64, b: u64) -> u64 {
    let (x, y) = (f64::from_bits(flushed(a)), f64::from_bits(flushed(b)));
    let number = |result: f64| if result.is_nan() { 0x7ff8 << 48 } else { flushed(result.to_bits()) };
    match operation {
        0 => number(x + y),
        1 => number(x - y),
        2 => number(x * y),
        3 => number(x / y),
        4 => u64::from(x < y),
        5 => u64::from(x <= y),
        6 => u64::from(x > y),
        7 => u64::from(x >= y),
        8 => u64::from(x == y),
        9 => u64::from(x != y),
        10 => u64::from(x.is_nan() || y.is_nan()),
        11 => u64::from(x == y || x.is_nan() || y.is_nan()),
        12 => number(x.max(y)),
        13 => number(x.min(y)),
        14 => number(a as f64),
        15 => number(a as i64 as f64),
        16 => x as u64,
        17 => x as i64 as u64,
        18 => ((u128::from(a) * u128::from(b)) >> 64) as u64,
        _ => number(libm::cbrt(x)),
    }
}

/// An operand of any kind: random bits, near neighbours, whole numbers, and the ends of every
/// range.
fn operand(random: &mut Random) -> u64 {
    const SPECIAL: [u64; 12] = [
        0,
        SIGN,
        0x3ff << 52,
        0x7ff << 52,
        0xfff << 52,
        0x7ff8 << 48,
        1 << 52,
        (0x7ff << 52) - 1,
        1,
        0x43e << 52,
        0x43f << 52,
        u64::MAX,
    ];
    let bits = random.bits();
    match random.bits() % 8 {
        0 => SPECIAL[(bits % 12) as usize],
        1 | 2 => bits,
        3 => (bits >> (random.bits() % 64)) as f64 as u64,
        4 => ((bits >> (random.bits() % 64)) as f64).to_bits(),
        // Few bits in the fraction: sums that cancel, exact quotients, ties.
        5 => bits & (SIGN | 0xff << 44) | (1000 + random.bits() % 48) << 52,
        _ => bits & (SIGN | ((1 << 52) - 1)) | (1000 + random.bits() % 60) << 52,
    }
}

/// A maximum or minimum is one of the operands unchanged, and of zeros with different signs either
/// one, as in IEEE 754.
fn same(operation: u64, got: u64, expected: u64) -> bool {
    got == expected
        || matches!(operation, 12 | 13)
            && (flushed(got) == expected || flushed(got) << 1 == 0 && expected << 1 == 0)
}

fn compare(count: usize, seed: u64) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("float-{seed}"));
    // Rust links with this compiler.
    let built = Command::new("cc")
        .args(["-O2", "-Wno-parentheses", "-o"])
        .args([&program, &folder.join("float.c")])
        .status()
        .expect("the linker of Rust compiles C, too");
    assert!(built.success());
    let mut child = Command::new(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("what was compiled");
    let (mut to, mut from) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
    let mut random = Random(seed);
    for _ in 0..count.div_ceil(4096) {
        let asked: Vec<[u64; 3]> =
            (0..4096).map(|i| [i % OPERATIONS, operand(&mut random), operand(&mut random)]).collect();
        let bytes: Vec<u8> = asked.as_flattened().iter().flat_map(|word| word.to_le_bytes()).collect();
        to.write_all(&bytes).and_then(|()| to.flush()).expect("it reads");
        let mut given = vec![0; 8 * asked.len()];
        from.read_exact(&mut given).expect("it answers");
        for ([operation, a, b], got) in asked.iter().zip(given.as_chunks().0) {
            let (got, expected) = (u64::from_le_bytes(*got), expected(*operation, *a, *b));
            assert!(
                same(*operation, got, expected),
                "operation {operation} of {a:#x} and {b:#x}: {got:#x}, the CPU has {expected:#x}"
            );
        }
    }
    drop(to);
    assert!(child.wait().expect("it ends").success());
    std::fs::remove_file(program).expect("it was there");
}

#[test]
fn a_million_operations() {
    compare(1_000_000, 1);
}

/// `make kernel-float`.
#[test]
#[ignore = "200 million operations take a minute: make kernel-float; a smaller case runs above"]
fn two_hundred_million_operations() {
    compare(200_000_000, 2);
}
