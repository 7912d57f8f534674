//! Turns what unwinds into a value, so that Python sees one error and no trace of Rust's: a panic, which is a bug, and memory
//! that was not to be had.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};

use floodway_fabric::memory::Exhausted;

/// Why work was not done.
#[derive(Debug)]
pub enum Stopped {
    /// A panic: its message and where.
    Bug(String),
    /// There was no memory.
    Exhausted(Exhausted),
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
    static REPORT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Lets guarded threads keep their panics' reports; all others report as before.
pub fn install() {
    let before = take_hook();
    set_hook(Box::new(move |info| {
        if GUARDED.get() {
            REPORT.set(report(info));
        } else {
            before(info);
        }
    }));
}

/// Calls `work`; where it does not come to its end, says why.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Stopped> {
    GUARDED.set(true);
    // What was left half done is dropped with `work`, and never seen again.
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(false);
    done.map_err(|payload| {
        let report = REPORT.take();
        match payload.downcast_ref::<Exhausted>() {
            Some(&exhausted) => Stopped::Exhausted(exhausted),
            // Of a panic in another thread of the run, the hook has told elsewhere.
            None if report.is_empty() => Stopped::Bug(message(&*payload).to_owned()),
            None => Stopped::Bug(report),
        }
    })
}

fn report(info: &PanicHookInfo<'_>) -> String {
    let place = info.location().map_or(String::from("unknown place"), ToString::to_string);
    format!("{} ({place})", message(info.payload()).lines().collect::<Vec<_>>().join(" "))
}

fn message(payload: &dyn Any) -> &str {
    let formatted = payload.downcast_ref::<String>().map(String::as_str);
    formatted.or(payload.downcast_ref::<&str>().copied()).unwrap_or("no message")
}
