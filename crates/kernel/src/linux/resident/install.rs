//! Installs an object in the kernel.

use std::os::fd::AsFd as _;

use selfclock_congestion::Selection;

use super::super::bpf::MapFd;
use super::super::elf::Elf;
use super::super::load::{LoadError, create_map, create_maps, failed, kernel_types, load, load_types};
use super::super::object::Object;
use super::super::register::check_name;
use super::super::sys::seconds_since_1970;
use super::about::LONGEST_HEAD;
use super::{About, Control, PREFIX, about, default, find};
use crate::log::head;

/// An object loaded into the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Installed {
    /// Programs that the kernel has verified.
    pub programs: usize,
}

/// Loads the object of an algorithm, with the parameters of the selection, and registers it under a
/// name until it is unloaded. `label` is the selection as written. Either everything is installed,
/// or nothing.
pub fn install(
    object: &[u8],
    selection: &Selection,
    label: &str,
    name: &str,
) -> Result<Installed, LoadError> {
    check_name(name)?;
    let object = Object::read(object).ok_or(LoadError::BadObject)?;
    let words = selection.parameter_words().ok_or(LoadError::NoParameters)?;
    let head = head(selection);
    if head.len() > LONGEST_HEAD {
        return Err(LoadError::NoParameters);
    }
    let kernel = kernel_types()?;
    refuse_twice(name)?;
    let own = load_types(&object)?;
    let about = create_map(PREFIX, &about::spec(), own.as_fd())?;
    let defaults = create_map(PREFIX, &default::spec(), own.as_fd())?;
    let maps = create_maps(PREFIX, &object, own.as_fd())?;
    let map = |name| {
        let found = maps.iter().find(|map| map.name == name).ok_or(LoadError::BadObject);
        found.map(|map| &map.fd)
    };
    fill_parameters(&object, map("parameters")?, &words)?;
    Control::new(map("control")?.as_fd()).map_err(failed("map the page of counters"))?.begin();
    let loaded = load(&object, own, &maps, &kernel)?;
    loaded.bind(&about)?;
    loaded.bind(&defaults)?;
    let programs = loaded.programs();
    let page = About::new(about.fd.as_fd()).map_err(failed("map the description"))?;
    page.fill(name, label, &head, seconds_since_1970());
    loaded.install(name)?;
    Ok(Installed { programs })
}

/// The description that `selfclock kernel build` adds to an object: JSON of
/// [`crate::custom::describe`]. `None` in a prebuilt object, or if this is no object.
pub fn description(object: &[u8]) -> Option<&str> {
    let elf = Elf::read(object)?;
    let section = elf.find(".selfclock")?;
    std::str::from_utf8(elf.sections[section].data).ok()
}

fn unseen(error: std::io::Error) -> LoadError {
    match failed("see what is loaded")(error) {
        LoadError::NotAllowed => LoadError::NotRemovable,
        other => other,
    }
}

fn refuse_twice(name: &str) -> Result<(), LoadError> {
    // What is invisible could not be unloaded: then nothing is loaded.
    for resident in find().map_err(unseen)? {
        if resident.name == name && resident.is_registered() {
            return Err(LoadError::LoadedAlready(name.to_owned(), resident.about.label()));
        }
    }
    Ok(())
}

fn fill_parameters(object: &Object, map: &MapFd, words: &[u64]) -> Result<(), LoadError> {
    let spec = object.maps.iter().find(|spec| spec.name == "parameters").ok_or(LoadError::BadObject)?;
    let mut value: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    if value.len() > spec.value_size as usize {
        return Err(LoadError::BadObject);
    }
    value.resize(spec.value_size as usize, 0);
    map.update(&[0; 4], &value).map_err(failed("write the parameters"))?;
    // Parameters are frozen: a connection's description stays true.
    map.freeze().map_err(failed("freeze the parameters"))
}
