//! Files that a scenario names: where they lie and how they are read.

use std::path::{Path, PathBuf};

/// Reads tables that are not text (Parquet): gives their rows as CSV with a header line, or says why not.
pub type TableReader<'a> = &'a dyn Fn(&Path) -> Result<String, String>;

/// Where files lie, and who reads those that are not text.
#[derive(Clone, Copy)]
pub struct Files<'a> {
    /// Relative paths begin here: the scenario's folder.
    pub folder: &'a Path,
    /// For `.parquet`.
    pub tables: Option<TableReader<'a>>,
}

impl Files<'_> {
    /// The text of a file, which `${NAME}` in its path may place by the environment.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn read(&self, file: &str) -> Result<String, String> {
        let path = self.path(file)?;
        let shown = path.display().to_string();
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet")) {
            let reader = self.tables.ok_or("Parquet is read through the Python package only")?;
            return reader(&path).map_err(|why| format!("cannot read {shown:?}: {why}"));
        }
        std::fs::read_to_string(&path).map_err(|error| format!("cannot read {shown:?}: {error}"))
    }

    fn path(&self, file: &str) -> Result<PathBuf, String> {
        let mut path = String::new();
        let mut rest = file;
        while let Some((before, after)) = rest.split_once("${") {
            let Some((name, after)) = after.split_once('}') else {
                return Err(format!("{file:?} has a ${{ without its }}"));
            };
            path.push_str(before);
            path.push_str(
                &std::env::var(name).map_err(|_| {
                    format!("{file:?} needs the environment variable {name}, which is not set")
                })?,
            );
            rest = after;
        }
        path.push_str(rest);
        Ok(self.folder.join(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in_and_must_be_set() {
        let files = Files { folder: Path::new("/folder"), tables: None };
        let path = std::env::var("PATH").expect("every environment has it");
        assert_eq!(files.path("${PATH}/x"), Ok(Path::new("/folder").join(format!("{path}/x"))));
        let unset = files.path("${FLOODWAY_NEVER_SET}/x").unwrap_err();
        assert!(unset.contains("environment variable FLOODWAY_NEVER_SET, which is not set"), "{unset}");
        assert!(files.path("a${x").is_err());
        assert!(files.read("nothing.csv").unwrap_err().starts_with("cannot read \"/folder/nothing.csv\": "));
        assert!(files.read("x.parquet").unwrap_err().contains("Python"));
    }

    #[test]
    fn tables_are_read_by_who_can() {
        let reader = |path: &Path| Ok(format!("of {}", path.display()));
        let files = Files { folder: Path::new("/folder"), tables: Some(&reader) };
        assert_eq!(files.read("x.parquet"), Ok("of /folder/x.parquet".into()));
    }
}
