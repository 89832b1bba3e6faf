//! Files.

use super::folder;
use crate::scenario::Scenario;
use std::path::Path;

#[test]
fn files_that_cannot_be_read() {
    let error = Scenario::load(Path::new("no such file.toml"), &[]).unwrap_err().to_string();
    assert!(error.starts_with("no such file.toml: "), "{error}");
    let error = Scenario::load(&folder(), &[]).unwrap_err();
    assert_eq!(error.message, "is a directory", "{error}");
    let path = std::env::temp_dir().join(format!("selfclock-not-utf8-{}.toml", std::process::id()));
    std::fs::write(&path, b"schema = 1\n# \xff\n").expect("a file in the temporary folder");
    let error = Scenario::load(&path, &[]).unwrap_err();
    std::fs::remove_file(&path).expect("the file is there");
    assert_eq!(error.message, "is not UTF-8 text: byte 13 is invalid", "{error}");
}

#[test]
fn every_example_is_valid() {
    let mut examples = 0;
    for entry in std::fs::read_dir(folder().join("examples")).expect("the folder of examples") {
        let path = entry.expect("an entry").path();
        let is_toml = path.extension().is_some_and(|extension| extension == "toml");
        // A grid, which names a scenario and varies it.
        if is_toml && !std::fs::read_to_string(&path).expect("a text").contains("\n[grid]") {
            let scenario = Scenario::load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(path.file_stem().and_then(|stem| stem.to_str()), Some(scenario.plan.name.as_str()));
            assert!(scenario.title.is_some());
            examples += 1;
        }
    }
    assert!(examples >= 2);
}
