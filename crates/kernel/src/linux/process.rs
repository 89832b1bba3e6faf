//! Processes as owners of kernel objects. A number alone is no identity: PID namespaces count for
//! themselves, and numbers return.

use std::os::unix::fs::MetadataExt as _;

/// A process: its number, the time of its start, and its PID namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its number in its namespace.
    pub process: u32,
    /// When it started, in clock ticks since the machine did, as `/proc` states it.
    started: u32,
    /// Inode number of its PID namespace; 0: unknown.
    pub namespace: u64,
}

/// Field 22 of `/proc/PID/stat`, `starttime` of proc_pid_stat(5): the 20th after the name, which is
/// in brackets and may contain anything.
fn start(stat: &str) -> Option<u32> {
    let (_, rest) = stat.rsplit_once(')')?;
    Some(rest.split_whitespace().nth(19)?.parse::<u64>().ok()? as u32)
}

fn started(process: &str) -> Option<u32> {
    start(&std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

fn namespace() -> u64 {
    std::fs::metadata("/proc/self/ns/pid").map_or(0, |file| file.ino())
}

impl Owner {
    /// This process.
    pub fn own() -> Self {
        Self { process: std::process::id(), started: started("self").unwrap_or(0), namespace: namespace() }
    }

    /// Number and start in one word, which is not zero.
    pub const fn word(&self) -> u64 {
        self.process as u64 | (self.started as u64) << 32
    }

    /// The owner of [`Self::word`], in this namespace.
    pub const fn from_words(word: u64, namespace: u64) -> Self {
        Self { process: word as u32, started: (word >> 32) as u32, namespace }
    }

    /// It lives, in this process's namespace.
    pub fn is_here(&self) -> bool {
        started(&self.process.to_string()) == Some(self.started)
    }

    /// Whether it lives; `None` if it is of another namespace, where only its own processes see it.
    pub fn is_alive(&self) -> Option<bool> {
        (self.namespace == namespace()).then(|| self.is_here())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives() {
        let own = Owner::own();
        assert_eq!(Owner::from_words(own.word(), own.namespace), own);
        assert_eq!(own.is_alive(), Some(true));
        // The same number at another time is another process; another namespace's is unknown.
        let other = Owner { started: own.started.wrapping_add(1), ..own };
        assert_eq!(other.is_alive(), Some(false));
        assert_eq!(Owner { namespace: own.namespace + 1, ..own }.is_alive(), None);
    }

    #[test]
    fn a_name_with_brackets() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 0 0";
        assert_eq!(start(stat), Some(4242));
        assert_eq!(start("7 (a"), None);
    }
}
