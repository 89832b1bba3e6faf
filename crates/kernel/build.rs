//! Lists the compiled objects of `objects/`, which the crate embeds.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=objects");
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("objects");
    let mut files: Vec<_> = fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("a folder that can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "o"))
        .collect();
    files.sort();
    let mut list = String::from("&[\n");
    for file in files {
        let label = file.file_stem().expect("has a name").to_string_lossy().into_owned();
        writeln!(list, "    ({label:?}, include_bytes!({:?})),", file.display().to_string()).expect("memory");
    }
    list.push(']');
    let out = Path::new(&env::var("OUT_DIR").expect("set by cargo")).join("objects.rs");
    fs::write(out, list).expect("can be written");
}
