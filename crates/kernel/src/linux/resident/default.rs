//! The default congestion control of network namespaces, `net.ipv4.tcp_congestion_control`.
//!
//! A namespace keeps its default after the name is gone, so it is restored in every namespace that
//! can be found: those of processes and of `ip netns`.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use super::super::sys::enter_namespace;

const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
/// The algorithm that every kernel includes.
const RENO: &str = "reno";

/// A network namespace.
#[derive(Debug)]
pub struct Namespace {
    file: File,
    /// Its inode number, unique while it lives.
    pub number: u64,
    /// Where it was found.
    pub place: String,
}

/// Scope of a default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Network namespace of this process.
    Own,
    /// Network namespace of process 1.
    Host,
}

fn namespace(path: PathBuf, place: String) -> io::Result<Namespace> {
    let file = File::open(path)?;
    let number = file.metadata()?.ino();
    Ok(Namespace { file, number, place })
}

impl Scope {
    /// Opens it.
    pub fn open(self) -> io::Result<Namespace> {
        match self {
            Self::Own => namespace("/proc/thread-self/ns/net".into(), "this namespace".to_owned()),
            Self::Host => namespace("/proc/1/ns/net".into(), "the host".to_owned()),
        }
    }
}

/// Runs `work` in a namespace, in a separate thread, which cannot be reused afterwards.
fn within<T: Send>(space: &Namespace, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            enter_namespace(space.file.as_fd())?;
            work()
        });
        thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread failed")))
    })
}

fn default_here() -> io::Result<String> {
    fs::read_to_string(DEFAULT).map(|name| name.trim().to_owned())
}

/// Sets the default of a namespace. Returns the former one.
pub fn replace(space: &Namespace, name: &str) -> io::Result<String> {
    within(space, || {
        let before = default_here()?;
        fs::write(DEFAULT, name)?;
        Ok(before)
    })
}

/// The namespaces of all processes, and those of `ip netns`.
fn all() -> Vec<Namespace> {
    let mut found = BTreeMap::new();
    let mut add = |path: PathBuf, place: String| {
        if let Ok(metadata) = fs::metadata(&path) {
            let number = metadata.ino();
            found.entry(number).or_insert((path, place));
        }
    };
    add("/proc/1/ns/net".into(), "the host".to_owned());
    add("/proc/thread-self/ns/net".into(), "this namespace".to_owned());
    for entry in fs::read_dir("/run/netns").into_iter().flatten().flatten() {
        add(entry.path(), format!("namespace {}", entry.file_name().to_string_lossy()));
    }
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()) {
            let place = format!("the namespace of process {}", entry.file_name().to_string_lossy());
            add(entry.path().join("ns/net"), place);
        }
    }
    found.into_values().filter_map(|(path, place)| namespace(path, place).ok()).collect()
}

/// The namespaces with this default.
pub fn holders(name: &str) -> Vec<Namespace> {
    let mut spaces = all();
    spaces.retain(|space| within(space, default_here).is_ok_and(|now| now == name));
    spaces
}

/// Restores the default of every namespace with this one: the `remembered` one, else the host's
/// former default, which later namespaces inherited, else Reno.
pub fn give_back(name: &str, remembered: impl Fn(u64) -> Option<String>) {
    let host = Scope::Host.open().ok().and_then(|host| remembered(host.number));
    for space in holders(name) {
        let candidates = [remembered(space.number), host.clone(), Some(RENO.to_owned())];
        for before in candidates.into_iter().flatten() {
            if before != name && replace(&space, &before).is_ok() {
                break;
            }
        }
    }
}
