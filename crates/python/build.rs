//! Inputs of a build: the commit, if known to git, and a digest of the engine's sources.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// FNV-1a, 64 bits (Fowler, Noll, Vo): distinguishes sources, without security.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

fn main() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut sources = Vec::new();
    // Built-in stacks are part of the engine.
    let stacks = std::env::var_os("CARGO_FEATURE_QUIC").map(|_| "stacks/src");
    for name in ["congestion/src", "simulator/src"].into_iter().chain(stacks) {
        let folder = crates.join(name);
        println!("cargo::rerun-if-changed={}", folder.display());
        collect(&folder, &mut sources);
    }
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rustc-env=SELFCLOCK_ENGINE={:016x}", digest(&crates, &mut sources));
    println!("cargo::rustc-env=SELFCLOCK_COMMIT={}", commit(&crates.join("..")).unwrap_or_default());
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Equal on every machine: names with slashes, in order, and lines without carriage returns.
fn digest(root: &Path, sources: &mut [PathBuf]) -> u64 {
    sources.sort();
    let mut state = OFFSET;
    let mut eat = |bytes: &[u8]| {
        for &byte in bytes.iter().filter(|&&byte| byte != b'\r') {
            state = (state ^ u64::from(byte)).wrapping_mul(PRIME);
        }
    };
    for path in sources {
        let name = path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/");
        eat(name.as_bytes());
        eat(&fs::read(path).unwrap_or_default());
    }
    state
}

/// The commit of the build's checkout, with "+changes" if files differ from it. A source archive
/// unpacked inside some other repository has none.
fn commit(root: &Path) -> Option<String> {
    let top = git(root, &["rev-parse", "--show-toplevel"])?;
    if fs::canonicalize(top).ok()? != fs::canonicalize(root).ok()? {
        return None;
    }
    if let Some(log) = git(root, &["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"])
        && Path::new(&log).exists()
    {
        println!("cargo::rerun-if-changed={log}");
    }
    let hash = git(root, &["rev-parse", "--short=12", "HEAD"])?;
    let changes = git(root, &["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changes.is_empty() { hash } else { format!("{hash}+changes") })
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let done = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
    done.status.success().then(|| String::from_utf8_lossy(&done.stdout).trim().to_owned())
}
