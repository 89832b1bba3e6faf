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

use super::super::bpf::{MapFd, map_kind};
use super::super::object::MapSpec;
use super::super::sys::enter_namespace;

const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
/// `TCP_CA_NAME_MAX`: bytes of a name with its zero.
const NAME: usize = 16;
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

/// The map of former defaults: inode number of a namespace, and the name. As many as a machine can
/// be expected to have; memory is taken when a row is written.
pub fn spec() -> MapSpec {
    const NO_PREALLOCATION: u32 = 1;
    MapSpec {
        name: "defaults".to_owned(),
        kind: map_kind::HASH,
        key_size: 8,
        value_size: NAME as u32,
        entries: 1 << 16,
        flags: NO_PREALLOCATION,
        types: (0, 0),
        constants: Vec::new(),
    }
}

/// Stores the former default of a namespace. Without memory it is not known afterwards.
pub fn remember(defaults: &MapFd, namespace: u64, before: &str) {
    let mut value = [0; NAME];
    let length = before.len().min(NAME - 1);
    value[..length].copy_from_slice(&before.as_bytes()[..length]);
    let _ = defaults.update(&namespace.to_ne_bytes(), &value);
}

/// Former default of a namespace.
pub fn remembered(defaults: &MapFd, namespace: u64) -> Option<String> {
    let value = defaults.lookup(&namespace.to_ne_bytes()).ok()?;
    let name = value.split(|byte| *byte == 0).next().filter(|name| !name.is_empty())?;
    Some(std::str::from_utf8(name).ok()?.to_owned())
}

/// The namespaces of all processes, and those of `ip netns`: number, path and description. They are
/// opened one at a time: there may be more than a process may have files.
fn all() -> impl Iterator<Item = Namespace> {
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
    found.into_values().filter_map(|(path, place)| namespace(path, place).ok())
}

fn has_default(space: &Namespace, name: &str) -> bool {
    within(space, default_here).is_ok_and(|now| now == name)
}

/// The namespaces with this default.
pub fn holders(name: &str) -> Vec<String> {
    all().filter(|space| has_default(space, name)).map(|space| space.place).collect()
}

/// The default of a namespace after an algorithm was unloaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The namespace.
    pub place: String,
    /// Its default now; `None` if it cannot be set.
    pub now: Option<String>,
    /// Its default is the one that it had before.
    pub is_previous: bool,
}

/// Gives every namespace with this default another one: the `remembered` one, else the host's
/// former default, which later namespaces inherited, else Reno.
pub fn give_back(name: &str, remembered: impl Fn(u64) -> Option<String>) -> Vec<Restored> {
    let host = Scope::Host.open().ok().and_then(|host| remembered(host.number));
    let restore = |space: Namespace| {
        let candidates =
            [(remembered(space.number), true), (host.clone(), false), (Some(RENO.to_owned()), false)];
        let usable = candidates.into_iter().filter_map(|(before, is_previous)| Some((before?, is_previous)));
        let set =
            usable.filter(|(before, _)| before != name).find(|(before, _)| replace(&space, before).is_ok());
        let (now, is_previous) = set.map_or((None, false), |(now, is_previous)| (Some(now), is_previous));
        Restored { place: space.place, now, is_previous }
    };
    all().filter(|space| has_default(space, name)).map(restore).collect()
}
