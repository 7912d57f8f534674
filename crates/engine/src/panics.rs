//! Panics as values: location and message of a panic on any thread of a run, and the owner of the code.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, resume_unwind, set_hook, take_hook};

/// The end of the path of this file in the tree.
const THIS: &str = "engine/src/panics.rs";

/// A panic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panicked {
    /// The source file, as it was passed to the compiler; empty if unknown.
    pub file: String,
    /// The line in that file, from 1.
    pub line: u32,
    /// Its message, in one line.
    pub message: String,
}

/// The owner of the code in which a panic began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A crate of this tree.
    Floodway,
    /// The standard library or a crate from a registry, even if other code called it.
    Library,
    /// Any other crate.
    Other,
}

/// A mechanism from outside this tree has returned an invalid value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misused {
    /// The mechanism, its place, and the returned value.
    pub message: String,
}

impl Misused {
    /// Ends the run. This is not a bug of the simulator: nothing is reported here; the code that catches it
    /// reports it.
    #[cold]
    pub fn end(self) -> ! {
        resume_unwind(Box::new(self))
    }
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
    static LAST: RefCell<Option<Panicked>> = const { RefCell::new(None) };
}

/// A run has more of something than it can number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgrown {
    /// What is too many, and the maximum.
    pub message: String,
}

impl Outgrown {
    /// Ends the run, whose results would be wrong. This is not a bug of the simulator: nothing is reported
    /// here; the code that catches it reports it.
    #[cold]
    pub fn end(message: impl Into<String>) -> ! {
        resume_unwind(Box::new(Outgrown { message: message.into() }))
    }
}

/// Keeps the panics of guarded threads as values; all others are reported as before.
pub fn install() {
    let before = take_hook();
    set_hook(Box::new(move |info| {
        if GUARDED.get() {
            LAST.set(Some(Panicked::of(info)));
        } else {
            before(info);
        }
    }));
}

/// Whether this thread is guarded, so that threads that it starts must be guarded too.
pub fn is_guarded() -> bool {
    GUARDED.get()
}

/// Calls `work`, and catches unwinding: returns a [`Panicked`] for a panic, otherwise the value with which it
/// unwound.
///
/// # Errors
/// The value of the unwinding.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    let before = GUARDED.replace(true);
    // Incomplete state is dropped with `work`, and is never read again.
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(before);
    let last = LAST.take();
    done.map_err(|payload| match last {
        // A deliberate unwinding by a library calls no hook.
        Some(panicked) if is_message(&*payload) => Box::new(panicked),
        _ => payload,
    })
}

impl Panicked {
    fn of(info: &PanicHookInfo<'_>) -> Self {
        let (file, line) =
            info.location().map_or_else(Default::default, |place| (place.file().to_owned(), place.line()));
        Panicked { file, line, message: message(info.payload()) }
    }

    /// A panic that was caught where no hook is installed.
    pub fn from_payload(payload: &(dyn Any + Send)) -> Self {
        Panicked { file: String::new(), line: 0, message: message(payload) }
    }

    /// The owner of the code in which it began.
    pub fn owner(&self) -> Owner {
        owner_of(&self.file, file!())
    }

    /// `FILE:LINE`.
    pub fn place(&self) -> String {
        if self.file.is_empty() {
            return String::from("an unknown place");
        }
        format!("{}:{}", self.file, self.line)
    }
}

/// The owner by the path of a file and that of this one, as they were passed to the compiler: relative in the
/// tree that is built, absolute elsewhere.
fn owner_of(file: &str, this: &str) -> Owner {
    let (file, this) = (file.replace('\\', "/"), this.replace('\\', "/"));
    let crates = this.strip_suffix(THIS).unwrap_or(&this);
    let is_library = |path: &str| path.starts_with("/rustc/") || path.contains("/registry/src/");
    if file.is_empty() || file.starts_with(crates) {
        Owner::Floodway
    } else if is_library(&file) || file.contains("/rustlib/src/rust/") {
        Owner::Library
    } else {
        Owner::Other
    }
}

fn is_message(payload: &(dyn Any + Send)) -> bool {
    payload.is::<String>() || payload.is::<&str>()
}

fn message(payload: &(dyn Any + Send)) -> String {
    let formatted = payload.downcast_ref::<String>().map(String::as_str);
    let said = formatted.or(payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
    said.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn the_owner_of_code_follows_from_its_file() {
        let tree = "crates/engine/src/panics.rs";
        assert_eq!(owner_of("crates/fabric/src/pool.rs", tree), Owner::Floodway);
        assert_eq!(owner_of("src/mine.rs", tree), Owner::Other);
        let this_file = "/home/me/floodway/crates/engine/src/panics.rs";
        assert_eq!(owner_of("/home/me/floodway/crates/fabric/src/pool.rs", this_file), Owner::Floodway);
        assert_eq!(owner_of("crates/fabric/src/pool.rs", this_file), Owner::Other);
        assert_eq!(owner_of("src/mine.rs", this_file), Owner::Other);
        assert_eq!(owner_of("/home/me/.cargo/registry/src/x-1/rand/src/lib.rs", this_file), Owner::Library);
        assert_eq!(owner_of("/rustc/abc/library/core/src/cell.rs", this_file), Owner::Library);
        assert_eq!(owner_of("", this_file), Owner::Floodway);
    }

    #[test]
    fn a_panic_is_a_value_with_its_location_on_any_thread() {
        install();
        let caught = |work: fn()| guarded(work).expect_err("it unwinds");
        let here = caught(|| panic!("one\ntwo"));
        let there = thread::spawn(move || caught(|| panic!("one\ntwo"))).join().expect("it is caught");
        for payload in [here, there] {
            let panicked = payload.downcast_ref::<Panicked>().expect("a panic");
            assert_eq!((&*panicked.message, panicked.owner()), ("one two", Owner::Floodway));
            assert!(panicked.file.ends_with(THIS) && panicked.line > 0, "{panicked:?}");
        }
        let other = caught(|| Misused { message: String::from("odd") }.end());
        assert_eq!(other.downcast_ref(), Some(&Misused { message: String::from("odd") }));
        assert!(!is_guarded());
    }
}
