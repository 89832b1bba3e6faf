//! Installs an object in the kernel.

use std::os::fd::{AsFd as _, BorrowedFd};

use selfclock_congestion::Selection;

use super::super::elf::Elf;
use super::super::load::{
    LoadError, Map, create_map, create_maps, failed, freeze, kernel_types, load, load_types, update,
};
use super::super::object::Object;
use super::super::register::{check_name, map_id};
use super::super::sys::seconds_since_1970;
use super::about::{LONGEST_HEAD, Numbers, spec};
use super::{About, Control, PREFIX, find};
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
    let about = create_map(PREFIX, &spec(), own.as_fd())?;
    let maps = create_maps(PREFIX, &object, own.as_fd())?;
    let map = |name| {
        let found = maps.iter().find(|map| map.name == name).ok_or(LoadError::BadObject);
        found.map(|map| map.fd.as_fd())
    };
    fill_parameters(&object, map("parameters")?, &words)?;
    Control::new(map("control")?).map_err(failed("map the page of counters"))?.begin();
    let loaded = load(&object, own, &maps, &kernel)?;
    loaded.bind(&about)?;
    let numbers = (map_id(map("control")?)?, map_id(map("records")?)?);
    let programs = loaded.programs();
    loaded.install(name, |operations| {
        let numbers = Numbers { operations, control: numbers.0, records: numbers.1 };
        describe(&about, name, label, &head, numbers)
    })?;
    Ok(Installed { programs })
}

/// The description that `selfclock kernel build` adds to an object: JSON of
/// [`crate::custom::describe`]. `None` in a prebuilt object, or if this is no object.
pub fn description(object: &[u8]) -> Option<&str> {
    let elf = Elf::read(object)?;
    let section = elf.find(".selfclock")?;
    std::str::from_utf8(elf.sections[section].data).ok()
}

fn refuse_twice(name: &str) -> Result<(), LoadError> {
    // Without CAP_SYS_ADMIN existing objects are invisible: then the kernel refuses the name.
    for resident in find().unwrap_or_default() {
        if resident.about.name() == name && resident.is_registered() {
            return Err(LoadError::LoadedAlready(name.to_owned(), resident.about.label()));
        }
    }
    Ok(())
}

fn fill_parameters(object: &Object, map: BorrowedFd<'_>, words: &[u64]) -> Result<(), LoadError> {
    let spec = object.maps.iter().find(|spec| spec.name == "parameters").ok_or(LoadError::BadObject)?;
    let mut value: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    if value.len() > spec.value_size as usize {
        return Err(LoadError::BadObject);
    }
    value.resize(spec.value_size as usize, 0);
    update(map, &[0; 4], &value).map_err(failed("write the parameters"))?;
    // Parameters are frozen: a connection's description stays true.
    freeze(map).map_err(failed("freeze the parameters"))
}

fn describe(about: &Map, name: &str, label: &str, head: &[u8], numbers: Numbers) -> Result<(), LoadError> {
    let page = About::new(about.fd.as_fd()).map_err(failed("map the description"))?;
    page.fill(name, label, head, seconds_since_1970(), numbers);
    Ok(())
}
