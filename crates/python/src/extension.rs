//! An extension: this native module with mechanisms from outside the tree.

use std::sync::OnceLock;

use floodway_mechanisms::registry::custom::RegistryError;
use floodway_mechanisms::registry::{self, Entry};
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

use crate::errors;
use crate::guard::{Stopped, guarded};

/// The name of this native module, if it is an extension.
static NAME: OnceLock<String> = OnceLock::new();

/// The name of the extension, if this native module is one.
pub fn name() -> Option<&'static str> {
    NAME.get().map(String::as_str)
}

/// Calls `register`, which adds the extension's mechanisms to the registry.
pub fn add(
    module: &Bound<'_, PyModule>,
    register: impl FnOnce() -> Result<(), RegistryError>,
) -> PyResult<()> {
    let name: String = module.name()?.extract()?;
    let name = NAME.get_or_init(|| name.rsplit('.').next().unwrap_or(&name).to_owned());
    let refused = |text: String| PyImportError::new_err(text);
    let (schema, before) = (floodway_scenario::schema(), registry::entries());
    match guarded(register) {
        Ok(added) => added.map_err(|error| refused(error.to_string()))?,
        Err(Stopped::Panicked(panicked)) => return Err(refused(errors::of_panic(&panicked, Some(name)).1)),
        Err(why) => return Err(errors::stopped(module.py(), &why)),
    }
    // Mechanisms of the registry itself are compared with each other when they are added.
    let is_taken =
        |entry: &Entry| !before.contains(entry) && schema["$defs"].get(&*entry.definition).is_some();
    if let Some(entry) = registry::entries().into_iter().find(is_taken) {
        return Err(refused(format!(
            "{} {:?}: the schema of scenarios has a {:?} of floodway's own; give its parameters another name, \
             #[schemars(rename = \"...\")]",
            entry.slot, entry.name, entry.definition
        )));
    }
    Ok(())
}
