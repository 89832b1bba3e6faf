//! Memory available to runs.

use std::fs;
use std::path::Path;
use std::thread::available_parallelism;

/// Maximum memory of a run such that one per core leaves half of the free memory; `None` if
/// unknown. Linux: available memory, the control group's limit, and `ulimit -v`.
pub fn for_a_run() -> Option<u64> {
    let free = [available(), of_control_group(), of_address_space()].into_iter().flatten().min()?;
    let cores = available_parallelism().map_or(1, usize::from) as u64;
    Some(free / 2 / cores)
}

fn number(path: impl AsRef<Path>) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn available() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

fn of_control_group() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let directory = Path::new("/sys/fs/cgroup").join(own);
    let (most, taken) = (number(directory.join("memory.max"))?, number(directory.join("memory.current"))?);
    Some(most.saturating_sub(taken))
}

fn of_address_space() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let most: u64 = line.split_whitespace().next()?.parse().ok()?;
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let taken = status.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    let taken: u64 = taken.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(most.saturating_sub(taken * 1024))
}
