//! One number for a run's complete results: two runs with equal fingerprints have equal results.

use crate::simulation::Outcome;
use std::fmt::Write;

/// FNV-1a, 64 bits: the same on every machine and in every version.
struct Hash(u64);

impl Write for Hash {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for &byte in text.as_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(())
    }
}

/// The fingerprint of a run: summary, series, connections and packets to the last bit. The number
/// of events is not part of it, for a faster simulator may need fewer.
///
/// ```
/// use selfclock_simulator::plan::{dumbbell, mbps, ms, s, tcp};
/// use selfclock_simulator::{Simulation, fingerprint::fingerprint};
///
/// let plan = |seconds| dumbbell(mbps(5), ms(10)).flow(tcp("reno")).duration(s(seconds)).plan();
/// let run = |seconds| -> Result<u64, Box<dyn std::error::Error>> {
///     Ok(fingerprint(Simulation::new(&plan(seconds)?).run()?))
/// };
/// assert_eq!(run(2)?, run(2)?);
/// assert_ne!(run(2)?, run(3)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fingerprint(mut outcome: Outcome) -> u64 {
    outcome.summary.events = 0;
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    // Numbers print differently if one bit differs, so the text of an outcome represents it
    // completely. A hash accepts any text.
    let _ = write!(hash, "{outcome:?}");
    hash.0
}
