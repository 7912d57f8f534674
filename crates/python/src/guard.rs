//! Turns a panic, which is a bug, into a value, so that Python sees one error and no trace of Rust's.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};

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

/// Calls `work`; where it panics, says with which message and where.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    GUARDED.set(true);
    // What was left half done is dropped with `work`, and never seen again.
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(false);
    done.map_err(|payload| {
        let report = REPORT.take();
        // Of a panic in another thread of the run, the hook has told elsewhere.
        if report.is_empty() { message(&*payload).to_owned() } else { report }
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
