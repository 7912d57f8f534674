//! Memory limits: the memory that a process may still allocate, and the end of a run whose request fails.
//!
//! A failed allocation normally ends the whole process, and with it a notebook's kernel. So all data that
//! grow with a run request their memory here. If a request fails, the run ends by unwinding with
//! [`Exhausted`], which frees all its memory.
//!
//! These data are columns, packets, chunks of events, rows, buckets and tables. `Exhausted` is caught where
//! panics are caught. Linux may grant memory that it does not have: so the code that supervises a run
//! (`python/floodway/simulation/watching.py`) checks what is left, and stops the run before the system ends
//! the process.

use std::collections::{BinaryHeap, TryReserveError};
use std::fs;
use std::panic::resume_unwind;
use std::path::Path;

use crate::allocator::handled;

/// The value with which a run unwinds when a memory request fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted {
    /// Bytes of the failed request; 0 if the memory that is left became too small.
    pub bytes: u64,
}

impl Exhausted {
    /// Ends the run. This is not a bug: nothing is reported here; the code that catches it reports it.
    pub fn end(self) -> ! {
        resume_unwind(Box::new(self))
    }
}

/// Reserves memory for `more` elements.
#[cold]
pub fn reserve<T>(elements: &mut Vec<T>, more: usize) {
    let len = elements.len();
    reserved::<T>(len, more, handled(|| elements.try_reserve(more)));
}

/// Ends the run if there is no memory for `more` elements beside `len` others.
fn reserved<T>(len: usize, more: usize, done: Result<(), TryReserveError>) {
    if done.is_err() {
        let room = len.saturating_add(more.max(len));
        Exhausted { bytes: room.saturating_mul(size_of::<T>()) as u64 }.end();
    }
}

/// Adds an element.
#[inline]
pub fn push<T>(elements: &mut Vec<T>, element: T) {
    if elements.len() == elements.capacity() {
        reserve(elements, 1);
    }
    elements.push(element);
}

/// Adds an element to a heap.
#[inline]
pub fn push_heap<T: Ord>(elements: &mut BinaryHeap<T>, element: T) {
    if elements.len() == elements.capacity() {
        let len = elements.len();
        reserved::<T>(len, 1, handled(|| elements.try_reserve(1)));
    }
    elements.push(element);
}

/// Adds elements; there are at least as many as the iterator's lower bound.
pub fn extend<T>(elements: &mut Vec<T>, more: impl IntoIterator<Item = T>) {
    let more = more.into_iter();
    reserve(elements, more.size_hint().0);
    more.for_each(|element| push(elements, element));
}

/// All elements of an iterator.
pub fn collect<T>(elements: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    extend(&mut all, elements);
    all
}

/// The size from which memory requests huge pages.
const LARGE: usize = 1 << 21;

/// Requests huge pages for the capacity of a vector, where it fills at least one.
pub fn advise_vec<T>(elements: &Vec<T>) {
    advise(elements.as_ptr().cast(), elements.capacity() * size_of::<T>());
}

/// Requests huge pages for memory.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "measured in docs/performance.md")]
pub fn advise(first: *const u8, bytes: usize) {
    if bytes < LARGE {
        return;
    }
    let page = 4096;
    let start = first.addr().next_multiple_of(page);
    let end = (first.addr() + bytes) / page * page;
    // SAFETY: the advice changes no contents; if it is rejected, or there is no memory, only time is lost.
    unsafe { libc::madvise(first.with_addr(start).cast_mut().cast(), end - start, libc::MADV_HUGEPAGE) };
}

/// Requests huge pages for memory.
#[cfg(not(target_os = "linux"))]
pub fn advise(_: *const u8, _: usize) {}

/// The limit of a process's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The memory of the machine.
    Machine,
    /// The control group of the process, for example of a container.
    Group,
    /// The process's own limit of addresses or data (`ulimit -v`, `ulimit -d`).
    Process,
}

/// The memory that a process may still allocate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// Number of bytes.
    pub bytes: u64,
    /// Total number of bytes.
    pub of: u64,
    /// The limit that applies.
    pub bound: Bound,
}

/// The minimum that a process needs in addition to a run: for tables, files, the interpreter.
const LEAST: u64 = 64 << 20;
/// The maximum that is reserved for it.
const MOST: u64 = 1 << 30;
/// Between the two, the fraction of all memory that is reserved is one over this number.
const PART: u64 = 32;

impl Left {
    /// Whether it is so little that the system may kill a process that has `grown` by this number of bytes,
    /// without an error. The end of a small process frees too little memory.
    pub fn is_short_for(&self, grown: u64) -> bool {
        grown >= LEAST && self.bytes < (self.of / PART).clamp(LEAST, MOST)
    }
}

/// The memory that this process uses now, if the system reports it.
pub fn used() -> Option<u64> {
    kib(&fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// The memory that this process may still allocate, if the system reports it.
pub fn left() -> Option<Left> {
    left_at(Path::new("/"))
}

/// The same with the system's files below `root`.
fn left_at(root: &Path) -> Option<Left> {
    let status = fs::read_to_string(root.join("proc/self/status")).ok()?;
    let [machine, group] = [machine(root), group(root)];
    let limits = fs::read_to_string(root.join("proc/self/limits")).unwrap_or_default();
    let process = [("Max address space", "VmSize:"), ("Max data size", "VmData:")]
        .map(|(limit, used)| process(&limits, limit, kib(&status, used)?));
    [machine, group].into_iter().chain(process).flatten().min_by_key(|left| left.bytes)
}

/// The limit of the machine: memory and swap that are free, or can be freed.
fn machine(root: &Path) -> Option<Left> {
    let text = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let swap = |key| kib(&text, key).unwrap_or_default();
    let bytes = kib(&text, "MemAvailable:")? + swap("SwapFree:");
    Some(Left { bytes, of: kib(&text, "MemTotal:")? + swap("SwapTotal:"), bound: Bound::Machine })
}

/// The process's own limit of a resource, of which `used` is in use.
fn process(limits: &str, name: &str, used: u64) -> Option<Left> {
    let words = limits.lines().find_map(|line| line.strip_prefix(name))?;
    let of: u64 = words.split_whitespace().next()?.parse().ok()?;
    Some(Left { bytes: of.saturating_sub(used), of, bound: Bound::Process })
}

/// The limit of the control groups of the process, from its own up to the root.
fn group(root: &Path) -> Option<Left> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let paths = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let files = match controllers {
            "" => ("sys/fs/cgroup", ["memory.max", "memory.current", ""]),
            of if of.split(',').any(|of| of == "memory") => {
                ("sys/fs/cgroup/memory", ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_"])
            }
            _ => return None,
        };
        Some((path.trim_start_matches('/').to_owned(), files))
    });
    let all = paths.flat_map(|(path, (mount, files))| {
        let above = Path::new(&path).ancestors().map(Path::to_path_buf).collect::<Vec<_>>();
        above.into_iter().filter_map(move |at| group_at(&root.join(mount).join(at), files))
    });
    all.min_by_key(|left| left.bytes)
}

/// The limit of one control group; none where it has no limit.
fn group_at(folder: &Path, [limit, used, of_all]: [&str; 3]) -> Option<Left> {
    let number = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    let of = number(limit).filter(|&of| of < 1 << 60)?;
    let statistics = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    // The system frees pages of files before it kills a process.
    let pages = |kind: &str| -> Option<u64> {
        let of_kind = |line: &str| line.strip_prefix(of_all)?.strip_prefix(kind)?.trim().parse().ok();
        statistics.lines().find_map(of_kind)
    };
    let cached: u64 = ["inactive_file ", "active_file "].into_iter().filter_map(pages).sum();
    let used = number(used)?.saturating_sub(cached);
    Some(Left { bytes: of.saturating_sub(used), of, bound: Bound::Group })
}

/// The bytes of a line `name  123 kB`.
fn kib(text: &str, name: &str) -> Option<u64> {
    let words = text.lines().find_map(|line| line.strip_prefix(name))?;
    words.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::path::PathBuf;

    use super::*;

    /// The system's files of a machine of 8 GiB of which 4 are free, with additional files.
    fn machine(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let root = std::env::temp_dir().join(format!("floodway-{name}-{}", std::process::id()));
        let meminfo = "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n";
        let status = "Name: x\nVmSize: 1048576 kB\nVmData: 524288 kB\n";
        for (path, text) in [("proc/meminfo", meminfo), ("proc/self/status", status)].iter().chain(files) {
            let file = root.join(path);
            fs::create_dir_all(file.parent().expect("it has one")).expect("there is room");
            fs::write(file, text).expect("there is room");
        }
        root
    }

    fn left(name: &str, files: &[(&str, &str)]) -> (u64, Bound) {
        let root = machine(name, files);
        let left = left_at(&root).expect("the system says");
        fs::remove_dir_all(root).expect("it is ours");
        (left.bytes >> 20, left.bound)
    }

    #[test]
    fn the_least_of_machine_group_and_limits_counts() {
        assert_eq!(left("machine", &[]), (4096, Bound::Machine));
        let limits =
            "Max data size  unlimited  unlimited  bytes\nMax address space  3221225472  unlimited  bytes\n";
        assert_eq!(left("process", &[("proc/self/limits", limits)]), (2048, Bound::Process));
        let group = |path: &'static str| {
            [
                ("proc/self/cgroup", path),
                ("sys/fs/cgroup/a/memory.max", "1073741824\n"),
                ("sys/fs/cgroup/a/memory.current", "536870912\n"),
                ("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 134217728\nactive_file 134217728\n"),
                ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ]
        };
        assert_eq!(left("group", &group("0::/a\n")), (768, Bound::Group));
        assert_eq!(left("inner-group", &group("0::/a/b\n")), (768, Bound::Group));
        assert_eq!(left("no-group", &group("0::/\n")), (4096, Bound::Machine));
        let older = [
            ("proc/self/cgroup", "5:cpu,memory:/a\n"),
            ("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1073741824\n"),
            ("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "1000\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ];
        assert_eq!(left("older-group", &older), (1023, Bound::Group));
    }

    #[test]
    fn a_machine_without_such_files_has_no_limit() {
        assert_eq!(left_at(Path::new("/nowhere")), None);
    }

    #[test]
    fn what_cannot_be_had_ends_the_run_with_how_much_it_was() {
        let mut elements = vec![0_u64; 4];
        let ended = catch_unwind(AssertUnwindSafe(|| reserve(&mut elements, 1 << 59))).unwrap_err();
        let exhausted = ended.downcast::<Exhausted>().expect("it says so");
        assert_eq!(exhausted.bytes, 8 * (4 + (1 << 59)));
        assert_eq!(collect([1, 2, 3]), [1, 2, 3]);
    }

    #[test]
    fn little_is_short_for_a_process_that_has_taken_much() {
        let left = |bytes| Left { bytes, of: 16 << 30, bound: Bound::Machine };
        assert!(left(500 << 20).is_short_for(1 << 30) && !left(600 << 20).is_short_for(1 << 30));
        assert!(!left(0).is_short_for(1 << 20));
    }
}
