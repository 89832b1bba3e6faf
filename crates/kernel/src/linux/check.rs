//! Capabilities of this machine, and missing ones.

use std::fs::read_to_string;
use std::os::fd::AsFd as _;

use super::found;
use super::load::{KERNEL_TYPES, bridge, create_maps, kernel_types, load, load_types};
use super::object::Object;
use super::resident::{self, Resident};
use super::sys::kernel_release;

/// One check and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The capability.
    pub what: &'static str,
    /// Whether it is as required; `None` if an optional feature is missing.
    pub good: Option<bool>,
    /// The finding, and a remedy.
    pub found: String,
}

fn finding(what: &'static str, good: impl Into<Option<bool>>, found: impl Into<String>) -> Finding {
    Finding { what, good: good.into(), found: found.into() }
}

const CAPABILITIES: [(u32, &str); 4] =
    [(39, "CAP_BPF"), (38, "CAP_PERFMON"), (12, "CAP_NET_ADMIN"), (21, "CAP_SYS_ADMIN")];
const SYS_NICE: u32 = 23;

fn capabilities() -> u64 {
    let status = read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// `6.18.44-x` as (6, 18).
fn version(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Checks everything, and loads the programs without registering them.
pub fn check() -> Vec<Finding> {
    let mut findings = Vec::new();
    let release = kernel_release();
    let new_enough = version(&release).is_some_and(|version| version >= (6, 10));
    let needed = if new_enough { "" } else { "; 6.10 or later is needed" };
    findings.push(finding("kernel", new_enough, format!("Linux {release}{needed}")));
    let types = std::fs::metadata(KERNEL_TYPES);
    findings.push(finding(
        "types of the kernel",
        types.is_ok(),
        match types {
            Ok(_) => KERNEL_TYPES.to_owned(),
            Err(error) => format!("{KERNEL_TYPES}: {error}; CONFIG_DEBUG_INFO_BTF=y provides it"),
        },
    ));
    let own = capabilities();
    let lacking: Vec<_> =
        CAPABILITIES.iter().filter(|(bit, _)| own >> bit & 1 == 0).map(|(_, name)| *name).collect();
    let text = if lacking.is_empty() {
        CAPABILITIES.map(|(_, name)| name).join(", ")
    } else {
        format!("without {}: run it as root", lacking.join(", "))
    };
    findings.push(finding("capabilities", lacking.is_empty(), text));
    findings.push(match programs() {
        Ok(count) => finding("programs", true, format!("the kernel accepts all {count}")),
        Err(error) => finding("programs", false, error),
    });
    let nice = own >> SYS_NICE & 1 != 0;
    findings.push(finding(
        "real-time scheduling",
        if nice { Some(true) } else { None },
        if nice { "--realtime is allowed" } else { "without CAP_SYS_NICE: --realtime is not allowed" },
    ));
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    findings.push(finding(
        "cores",
        if cores > 1 { Some(true) } else { None },
        if cores > 1 { format!("{cores}") } else { "1: --busy would starve the connections".to_owned() },
    ));
    findings.push(match found::list() {
        Ok(list) if list.is_empty() => finding("registered", true, "nothing"),
        Ok(list) => {
            let names = list.iter().map(|one| {
                let state = if one.registered { "registered by process" } else { "left by process" };
                format!("{} ({state} {}, {} connections)", one.name, one.owner, one.flows)
            });
            finding("registered", true, names.collect::<Vec<_>>().join(", "))
        }
        Err(error) => finding("registered", None, format!("cannot be seen: {error}")),
    });
    findings.push(match resident::find() {
        Ok(all) if all.is_empty() => finding("loaded", true, "nothing"),
        Ok(all) => finding("loaded", true, all.iter().map(described).collect::<Vec<_>>().join(", ")),
        Err(error) => finding("loaded", None, format!("cannot be seen: {error}")),
    });
    findings
}

fn described(resident: &Resident) -> String {
    let state = if resident.is_registered() { "" } else { "unloaded, " };
    let flows = resident.control.totals().live();
    format!("{} ({state}{}, {flows} connections)", resident.name, resident.about.label())
}

/// Loads the programs and removes them again.
fn programs() -> Result<usize, String> {
    let load_one = |only_grows| {
        let object = Object::read(bridge(only_grows)).ok_or(super::load::LoadError::BadObject)?;
        let types = kernel_types()?;
        let own = load_types(&object)?;
        let maps = create_maps(found::PREFIX, &object, own.as_fd())?;
        load(&object, own, &maps, &types).map(|loaded| loaded.programs())
    };
    // One for algorithms that only set a window, one for the others.
    let load_both = || Ok(load_one(true)? + load_one(false)?);
    load_both().map_err(|error: super::load::LoadError| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        assert_eq!(version("6.18.44-fc-v669"), Some((6, 18)));
        assert_eq!(version("6.1-rc3"), Some((6, 1)));
        assert_eq!(version("unknown"), None);
    }

    /// Every check has a description, on any machine.
    #[test]
    fn every_finding_says_something() {
        let findings = check();
        assert_eq!(findings.len(), 8);
        assert!(findings.iter().all(|finding| !finding.found.is_empty()), "{findings:?}");
    }
}
