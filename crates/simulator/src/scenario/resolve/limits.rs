//! Refuses what does not fit in memory, before any allocation.

use std::fs;

use crate::scenario::error::{Place, Problem};

/// Maximum estimated memory of a run, on any machine: 16 GiB. WebAssembly addresses 4 GiB, and a
/// growing vector needs up to three times its size.
pub const MOST_BYTES: u128 = if usize::BITS < 64 { 1 << 30 } else { 16 << 30 };

/// Below this the machine's memory is not queried.
const SMALL: u128 = 128 << 20;

/// A demand for memory.
#[derive(Clone, Copy, Debug)]
pub struct Demand<'a> {
    /// How many.
    pub count: u128,
    /// Of what.
    pub what: &'static str,
    /// Estimated bytes each.
    pub each: u128,
    /// Origin of the number.
    pub place: &'a Place,
}

impl Demand<'_> {
    const fn bytes(&self) -> u128 {
        self.count.saturating_mul(self.each)
    }
}

/// Refuses demands whose sum exceeds [`MOST_BYTES`] or this machine's memory; points at the
/// largest.
pub fn check(demands: &[Demand<'_>]) -> Result<(), Problem> {
    let total = demands.iter().fold(0_u128, |sum, demand| sum.saturating_add(demand.bytes()));
    let Some(largest) = demands.iter().max_by_key(|demand| demand.bytes()) else {
        return Ok(());
    };
    if total <= SMALL {
        return Ok(());
    }
    let (most, why) = match available() {
        Some((bytes, why)) if bytes < MOST_BYTES => (bytes, why),
        _ => (MOST_BYTES, ""),
    };
    if total <= most {
        return Ok(());
    }
    let message = format!(
        "needs about {} of memory, {} of it for {} {}",
        gibibytes(total),
        gibibytes(largest.bytes()),
        largest.count,
        largest.what
    );
    Err(largest.place.problem(message, format!("at most {}{why}", gibibytes(most))))
}

fn gibibytes(bytes: u128) -> String {
    let tenths = bytes.saturating_mul(10) >> 30;
    if tenths < 100 { format!("{}.{} GiB", tenths / 10, tenths % 10) } else { format!("{} GiB", bytes >> 30) }
}

/// Memory still available to this process, and its limit's name; `None` if unknown (other than
/// Linux).
fn available() -> Option<(u128, &'static str)> {
    let rest = |limit: Option<u128>, used: Option<u128>| Some(limit?.saturating_sub(used?));
    let process = read("/proc/self/status");
    let limits = read("/proc/self/limits");
    let machine = read("/proc/meminfo");
    let free = field(&machine, "MemAvailable:", 1)
        .map(|kib| (kib + field(&machine, "SwapFree:", 1).unwrap_or(0)) << 10);
    let address =
        rest(field(&limits, "Max address space", 3), field(&process, "VmSize:", 1).map(|kib| kib << 10));
    let data = rest(field(&limits, "Max data size", 3), field(&process, "VmData:", 1).map(|kib| kib << 10));
    [
        (free, ", which this machine has available"),
        (address, ", by the limit of address space (ulimit -v)"),
        (data, ", by the limit of data (ulimit -d)"),
        (control_group(), ", by the limit of the control group (container)"),
    ]
    .into_iter()
    .filter_map(|(bytes, why)| Some((bytes?, why)))
    .min()
}

/// Memory left by the control group of this process or an ancestor: cgroup v2, or v1.
fn control_group() -> Option<u128> {
    let groups = read("/proc/self/cgroup");
    let mut least = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let (root, limit, used) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max", "memory.current"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
            }
            _ => continue,
        };
        // A container sees its own group as the root, whatever the path.
        let mut path = path.trim_end_matches('/');
        loop {
            let number = |name: &str| read(&format!("{root}{path}/{name}")).trim().parse::<u128>().ok();
            if let (Some(limit), Some(used)) = (number(limit), number(used)) {
                let rest = limit.saturating_sub(used);
                least = Some(least.map_or(rest, |least: u128| least.min(rest)));
            }
            match path.rfind('/') {
                Some(slash) => path = &path[..slash],
                None => break,
            }
        }
    }
    least
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// The word with this number in the line with this prefix, if it is a number.
fn field(text: &str, name: &str, word: usize) -> Option<u128> {
    text.lines().find(|line| line.starts_with(name))?.split_whitespace().nth(word)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_proc_are_found() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max address space         2147483648           unlimited            bytes\n\
                      Max data size             unlimited            unlimited            bytes\n";
        assert_eq!(field(limits, "Max address space", 3), Some(2 << 30));
        assert_eq!(field(limits, "Max data size", 3), None);
        assert_eq!(field("MemAvailable:   23 kB\n", "MemAvailable:", 1), Some(23));
    }

    #[test]
    fn sizes_are_read_at_a_glance() {
        assert_eq!(gibibytes(3 << 29), "1.5 GiB");
        assert_eq!(gibibytes(200 << 20), "0.1 GiB");
        assert_eq!(gibibytes(u128::from(u64::MAX)), "17179869183 GiB");
    }
}
