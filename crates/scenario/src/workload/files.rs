//! Files that a scenario names: their location and how they are read.
//!
//! Only regular files are read, which have a size, so that reading ends.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::shown::hides;

/// Reads tables that are not text (Parquet): returns their rows as CSV with a header line, or the reason why
/// it cannot.
pub type TableReader<'a> = &'a dyn Fn(&Path) -> Result<String, String>;

/// Editors and spreadsheets on Windows write it at the beginning of a text.
const BYTE_ORDER_MARK: char = '\u{feff}';
/// The environment variable for the folder of published data that may not be distributed with floodway.
const REFERENCE: &str = "FLOODWAY_REFERENCE";

/// The maximum size of a file of flows or sizes: 1 GiB, some ten million flows.
const MOST_BYTES: u64 = 1 << 30;

/// The first bytes of a file that gzip has compressed.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Why a file without bytes is not read.
pub(crate) const EMPTY: &str = "it is empty, or has no size, as those of /proc: copy it to a file";

/// The text of a file of at most `most` bytes.
///
/// # Errors
/// The file cannot be read, is too large, or is not a file whose reading ends: pipes and devices, which may
/// never end, and files of the kernel, which report that they are empty.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read_all(path, most)?).map_err(io::Error::other)
}

/// The bytes of a file of at most `most` bytes, also of one that gzip has compressed.
fn read_all(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let size = readable(path, most)?;
    let mut bytes = Vec::new();
    File::open(path)?.take(size).read_to_end(&mut bytes)?;
    if !bytes.starts_with(&GZIP) {
        return Ok(bytes);
    }
    let mut text = Vec::new();
    let gzip = |error: io::Error| {
        io::Error::other(format!("it is a file of gzip, and cannot be decompressed: {error}"))
    };
    MultiGzDecoder::new(&bytes[..]).take(most + 1).read_to_end(&mut text).map_err(gzip)?;
    if text.len() as u64 > most {
        return Err(io::Error::other(format!("it has more than {} MiB without gzip", most >> 20)));
    }
    Ok(text)
}

/// The size of a regular file to be read.
fn readable(path: &Path, most: u64) -> io::Result<u64> {
    let about = fs::metadata(path)?;
    let refuse = |why: String| Err(io::Error::other(why));
    match about.len() {
        _ if !about.is_file() => refuse(format!("it is {}; only regular files are allowed", kind(&about))),
        0 => refuse(EMPTY.to_owned()),
        size if size > most => refuse(format!("it has more than {} MiB", most >> 20)),
        size => Ok(size),
    }
}

/// The kind of a file that is not regular.
fn kind(about: &Metadata) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        let kind = about.file_type();
        if kind.is_fifo() {
            return "a named pipe";
        } else if kind.is_socket() {
            return "a socket";
        } else if kind.is_char_device() || kind.is_block_device() {
            return "a device";
        }
    }
    if about.is_dir() { "a folder" } else { "something else" }
}

/// As [`read_text`], for a file that a scenario names, which must be text.
///
/// # Errors
/// As of [`read_text`]; or the file has characters that no text has, so that no name contains them.
pub fn read_named(path: &Path) -> io::Result<String> {
    named_text(read_text(path, MOST_BYTES)?)
}

/// A text without the mark of its encoding.
fn named_text(mut text: String) -> io::Result<String> {
    if text.starts_with(BYTE_ORDER_MARK) {
        text.drain(..BYTE_ORDER_MARK.len_utf8());
    }
    match no_text(&text) {
        Some(why) => Err(io::Error::other(why)),
        None => Ok(text),
    }
}

/// The reason why a text is not valid, if so: names in it are displayed and written unchanged.
fn no_text(text: &str) -> Option<String> {
    let is_hidden = |&(_, c): &(usize, char)| hides(c) && !matches!(c, '\n' | '\r' | '\t');
    let (at, c) = text.char_indices().find(is_hidden)?;
    let line = 1 + text[..at].matches('\n').count();
    Some(format!("it is not text: line {line} has the character U+{:04X}", u32::from(c)))
}

/// The location of files, and the reader of those that are not text.
#[derive(Clone, Copy)]
pub struct Files<'a> {
    /// The folder that relative paths start from: the scenario's folder.
    pub folder: &'a Path,
    /// For `.parquet`.
    pub tables: Option<TableReader<'a>>,
}

impl Files<'_> {
    /// The text of a file; `${NAME}` in its path is replaced by an environment variable.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    pub fn read(&self, file: &str) -> Result<String, String> {
        let path = self.path(file)?;
        let shown = path.display().to_string();
        let unreadable = |why: &dyn std::fmt::Display| format!("cannot read {shown:?}: {why}");
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet")) {
            let reader = self.tables.ok_or("Parquet is read through the Python package only")?;
            readable(&path, MOST_BYTES).map_err(|error| unreadable(&error))?;
            let rows = reader(&path).map_err(|why| unreadable(&why))?;
            return no_text(&rows).map_or(Ok(rows), |why| Err(unreadable(&why)));
        }
        read_named(&path).map_err(|error| unreadable(&error))
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    pub fn read_bytes(&self, file: &str) -> Result<Vec<u8>, String> {
        let path = self.path(file)?;
        let unreadable = |error: io::Error| format!("cannot read {:?}: {error}", path.display().to_string());
        read_all(&path, MOST_BYTES).map_err(unreadable)
    }

    /// The text of a file whose bytes are read.
    ///
    /// # Errors
    /// As of [`Files::read`].
    pub fn text_of(&self, file: &str, bytes: &[u8]) -> Result<String, String> {
        let text = String::from_utf8(bytes.to_vec()).map_err(io::Error::other).and_then(named_text);
        text.map_err(|error| format!("cannot read {:?}: {error}", self.shown(file)))
    }

    /// The files of a folder whose names end with one of `endings`, in the order of their names; the file
    /// itself, if it is no folder.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    pub fn listed(&self, folder: &str, endings: &[&str]) -> Result<Vec<String>, String> {
        let path = self.path(folder)?;
        if !path.is_dir() {
            return Ok(vec![folder.to_owned()]);
        }
        let entries = fs::read_dir(&path)
            .map_err(|error| format!("cannot read {:?}: {error}", path.display().to_string()))?;
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> =
            names.filter(|name| endings.iter().any(|end| name.ends_with(end))).collect();
        names.sort_unstable();
        Ok(names.into_iter().map(|name| format!("{}/{name}", folder.trim_end_matches('/'))).collect())
    }

    /// The name of a file in messages: its path as it is opened.
    pub fn shown(&self, file: &str) -> String {
        self.path(file).map_or_else(|_| file.to_owned(), |path| path.display().to_string())
    }

    fn path(&self, file: &str) -> Result<PathBuf, String> {
        let mut path = String::new();
        let mut rest = file;
        while let Some((before, after)) = rest.split_once("${") {
            let Some((name, after)) = after.split_once('}') else {
                return Err(format!("{file:?} has a ${{ without its }}"));
            };
            path.push_str(before);
            let value = std::env::var(name).ok().filter(|value| !value.is_empty());
            path.push_str(&value.ok_or_else(|| unset(file, name, after))?);
            rest = after;
        }
        path.push_str(rest);
        Ok(self.folder.join(path))
    }
}

/// Advice for a variable that is not set; `rest` of the path follows it.
fn unset(file: &str, name: &str, rest: &str) -> String {
    let holds = match rest.trim_start_matches('/') {
        "" => String::new(),
        rest => format!(": set it to the folder that holds {rest}"),
    };
    let what = if name == REFERENCE { ", one of the flow lists that SWING's authors published" } else { "" };
    format!(
        "{file:?} needs the environment variable {name}, which is not set{holds}{what}; see the scenario's comment"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in_and_must_be_set() {
        let files = Files { folder: Path::new("/folder"), tables: None };
        let path = std::env::var("PATH").expect("every environment has it");
        assert_eq!(files.path("${PATH}/x"), Ok(Path::new("/folder").join(format!("{path}/x"))));
        assert!(unset("f", REFERENCE, "/workloads/swing-1-1.csv").ends_with(
            "which is not set: set it to the folder that holds workloads/swing-1-1.csv, \
             one of the flow lists that SWING's authors published; see the scenario's comment"
        ));
        let unset = files.path("${FLOODWAY_NEVER_SET}/x").unwrap_err();
        assert_eq!(
            unset,
            "\"${FLOODWAY_NEVER_SET}/x\" needs the environment variable FLOODWAY_NEVER_SET, which is not set: \
             set it to the folder that holds x; see the scenario's comment"
        );
        assert!(files.path("a${x").is_err());
        assert!(files.read("nothing.csv").unwrap_err().starts_with("cannot read \"/folder/nothing.csv\": "));
        assert!(files.read("x.parquet").unwrap_err().contains("Python"));
    }

    #[test]
    fn a_file_without_end_is_refused() {
        let zero = Path::new("/dev/zero");
        if zero.exists() {
            let error = read_text(zero, 1 << 20).unwrap_err().to_string();
            assert_eq!(error, "it is a device; only regular files are allowed");
        }
    }

    #[test]
    fn tables_are_read_by_the_reader_given() {
        let folder = std::env::temp_dir().join(format!("floodway-tables-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("there is room");
        fs::write(folder.join("x.parquet"), "rows").expect("there is room");
        let reader = |path: &Path| Ok(format!("of {}", path.display()));
        let files = Files { folder: &folder, tables: Some(&reader) };
        assert_eq!(files.read("x.parquet"), Ok(format!("of {}/x.parquet", folder.display())));
        let error = files.read("y.parquet").unwrap_err();
        assert!(
            error.starts_with("cannot read ") && error.ends_with("No such file or directory (os error 2)"),
            "{error}"
        );
        fs::remove_dir_all(&folder).expect("it is ours");
    }
}
