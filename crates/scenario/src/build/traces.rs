//! Jobs from files.

use std::collections::BTreeMap;

use floodway_fabric::blueprint::Arrivals;
use floodway_programs::collective::CrossNic;
use floodway_programs::read::{self, Imported, Options, ReadError};
use floodway_units::Rate;

use super::jobs::RankKeys;
use super::map::Map;
use super::{Builder, workload_path};
use crate::formats::{Format, GOAL_COOKIE};
use crate::workload::Workload;
use crate::workload::files::{EMPTY, Files};
use crate::workload::trace::{Trace, TraceFormat};

impl Builder<'_> {
    /// The arrivals of a trace; none where errors say why.
    pub(super) fn trace(&mut self, workload: &Workload, trace: &Trace, map: &Map<'_>) -> Option<Arrivals> {
        if let Some((key, why)) = key_fault(trace) {
            self.fault(&workload_path(workload, &format!("trace.{key}")), why);
            return None;
        }
        let Imported { mut program, notes, within } = match imported(self.files, trace) {
            Ok(imported) => imported,
            Err(why) => {
                self.fault(&workload_path(workload, "trace.files"), why.to_string());
                return None;
            }
        };
        for note in notes {
            self.warn_at(&workload_path(workload, "trace.files"), note);
        }
        if let Some(warning) = self.across_servers(within, map) {
            self.warn_at(&workload_path(workload, "trace.files"), warning);
        }
        program.send_completes = trace.send_completes.unwrap_or(program.send_completes);
        if let Err(why) = program.check() {
            self.fault(&workload_path(workload, "trace.files"), why.to_string());
            return None;
        }
        for warning in program.warnings() {
            self.warn_at(&workload_path(workload, "trace.files"), warning);
        }
        let keys = RankKeys {
            table: "trace",
            ranks: &trace.ranks,
            rank_file: trace.rank_file.as_deref(),
            count: None,
            placement: trace.placement,
        };
        self.place(workload, (program, "the trace has"), (&keys, trace.flows), map)
    }
}

impl Builder<'_> {
    /// That ranks which the format's own simulator keeps inside a server exchange messages between servers
    /// here.
    fn across_servers(&mut self, within: u32, map: &Map<'_>) -> Option<String> {
        if within <= 1 {
            return None;
        }
        match self.gpus_of_domain(map)? {
            1 => Some(format!(
                "groups of {within} tensor-parallel ranks, which SimAI keeps inside a server, exchange packets over the \
                 network: there is no scale-up domain (gpu-nodes.scale-up)"
            )),
            gpus if gpus.is_multiple_of(within) => None,
            gpus => Some(format!(
                "groups of {within} tensor-parallel ranks are not inside the scale-up domains of {gpus} GPUs: some of \
                 their messages are packets of the network"
            )),
        }
    }
}

/// A key that the trace's format does not have, or whose value is not allowed, and why.
pub(crate) fn key_fault(trace: &Trace) -> Option<(&'static str, String)> {
    use TraceFormat::{Chakra, Simai};
    let keys: [(&str, bool, &[TraceFormat]); 9] = [
        ("algorithm", trace.algorithm.is_some(), &[Chakra, Simai]),
        ("channels", trace.channels.is_some(), &[Chakra, Simai]),
        ("cross-nic", trace.cross_nic != CrossNic::default(), &[Chakra, Simai]),
        ("pxn", trace.pxn.is_some(), &[Chakra, Simai]),
        ("splits", trace.splits.is_some(), &[Chakra]),
        ("flops", trace.flops.is_some(), &[Chakra]),
        ("dims", !trace.dims.is_empty(), &[Chakra]),
        ("memory-rate", trace.memory_rate.is_some(), &[Chakra]),
        ("memory-latency", trace.memory_latency.is_some(), &[Chakra]),
    ];
    let foreign = keys.into_iter().find(|(_, given, formats)| *given && !formats.contains(&trace.format));
    match (foreign, trace.splits, trace.channels, trace.flops) {
        (Some((key, _, formats)), ..) => {
            let formats: Vec<String> = formats.iter().map(|of| format!("{:?}", of.name())).collect();
            Some((key, format!("it belongs to format = {}", formats.join(" and format = "))))
        }
        (_, Some(splits), ..) if !(1..=4096).contains(&splits) => {
            Some(("splits", format!("{splits} is not a number from 1 to 4096")))
        }
        (_, _, Some(channels), _) if !(1..=256).contains(&channels) => {
            Some(("channels", format!("{channels} is not a number from 1 to 256")))
        }
        (.., Some(flops)) if !(flops.is_finite() && flops >= 1.0) => {
            Some(("flops", format!("{flops} is not a number of operations a second, at least 1")))
        }
        _ if trace.dims.contains(&0) => {
            Some(("dims", "0 is not the size of a dimension, which is at least 1".to_owned()))
        }
        _ if trace.memory_rate == Some(Rate(0)) => {
            Some(("memory-rate", "0 is not allowed; write a rate above 0".to_owned()))
        }
        _ if trace.memory_latency.is_some() && trace.memory_rate.is_none() => {
            Some(("memory-latency", "it belongs to memory-rate, which is missing".to_owned()))
        }
        _ => None,
    }
}

/// Why the files of a trace cannot be taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TraceError {
    /// A file cannot be read; the reason names it.
    #[error("{why}")]
    Unread { file: String, why: String },
    /// A file does not fit the format.
    #[error(transparent)]
    Unfit(#[from] ReadError),
    /// The files do not fit together, or are none.
    #[error("{0}")]
    Together(String),
}

/// Reads the files of a trace.
///
/// # Errors
/// The first file that does not fit the format, by its line or node.
pub(crate) fn imported(files: &Files<'_>, trace: &Trace) -> Result<Imported, TraceError> {
    let options = Options {
        algorithm: trace.algorithm,
        channels: trace.channels.unwrap_or(1),
        cross_nic: trace.cross_nic,
        pxn: trace.pxn,
        splits: trace.splits.unwrap_or(1),
        flops: trace.flops,
        dims: trace.dims.clone(),
        memory_rate: trace.memory_rate,
        memory_latency: trace.memory_latency.unwrap_or_default(),
    };
    match (trace.format, trace.files.0.as_slice()) {
        (_, []) => Err(TraceError::Together("the list is empty".into())),
        (TraceFormat::Chakra, given) => {
            let read = chakra_files(files, given)?;
            read::chakra(&read, &options).map_err(|error| {
                let bytes =
                    read.iter().find(|(file, _)| *file == error.file).map_or(&[][..], |(_, bytes)| bytes);
                seeming(error, bytes, trace.format)
            })
        }
        (format, [file]) => {
            let bytes = files.read_bytes(file).map_err(|why| unread(format, file, why))?;
            one_file(files, format, (file, &bytes), &options)
        }
        (format, _) => {
            Err(TraceError::Together(format!("a trace of format = {:?} is one file", format.name())))
        }
    }
}

/// Reads the file of a job.
fn one_file(
    files: &Files<'_>,
    format: TraceFormat,
    (file, bytes): (&str, &[u8]),
    options: &Options,
) -> Result<Imported, TraceError> {
    if format == TraceFormat::Goal && bytes.starts_with(&GOAL_COOKIE) {
        return Ok(read::goal_binary(bytes, file)?);
    }
    let text = files.text_of(file, bytes).map_err(|why| match Format::of(bytes) {
        Some(other) if other.as_trace() != Some(format) => {
            let why = other.seems();
            TraceError::Unfit(ReadError { file: file.to_owned(), place: "line 1".to_owned(), why })
        }
        _ => unread(format, file, why),
    })?;
    let read = match format {
        TraceFormat::Goal => read::goal(&text, file),
        TraceFormat::Simai => read::simai(&text, file, options),
        TraceFormat::Htsim => read::connections(&text, file),
        TraceFormat::Chakra => unreachable!("its files are read together"),
    };
    read.map_err(|error| seeming(error, bytes, format))
}

/// An error that names the format that the file seems to have, if that is another one.
fn seeming(error: ReadError, bytes: &[u8], asked: TraceFormat) -> TraceError {
    let other = Format::of(bytes).filter(|format| format.as_trace() != Some(asked));
    TraceError::Unfit(match other {
        Some(format) => {
            let why = format!("it is not {}; {}", asked.title(), format.seems());
            ReadError { place: "line 1".to_owned(), why, ..error }
        }
        None => error,
    })
}

fn unread(format: TraceFormat, file: &str, mut why: String) -> TraceError {
    if why.contains(EMPTY) {
        why = format!("{why}; expected is {}", format.content());
    }
    TraceError::Unread { file: file.to_owned(), why }
}

/// The files of Chakra's traces, in the order of ranks.
fn chakra_files(files: &Files<'_>, given: &[String]) -> Result<Vec<(String, Vec<u8>)>, TraceError> {
    let unread = |file: &str, why| unread(TraceFormat::Chakra, file, why);
    let together = |why: String| Err(TraceError::Together(why));
    let mut of_rank: BTreeMap<usize, String> = BTreeMap::new();
    for folder in given {
        for file in files.listed(folder, &[".et", ".et.gz"]).map_err(|why| unread(folder, why))? {
            let Some(rank) = rank_of(&file) else {
                let bytes = files.read_bytes(&file).map_err(|why| unread(&file, why))?;
                if let Some(other) =
                    Format::of(&bytes).filter(|of| of.as_trace() != Some(TraceFormat::Chakra))
                {
                    let why = format!("it is not an execution trace of Chakra; {}", other.seems());
                    return Err(TraceError::Unfit(ReadError { file, place: "line 1".to_owned(), why }));
                }
                return together(format!("{file:?} is not named NAME.<rank>.et, like step.0.et"));
            };
            if let Some(other) = of_rank.insert(rank, file.clone()) {
                return together(format!("{other:?} and {file:?} are both of rank {rank}"));
            }
        }
    }
    if of_rank.is_empty() {
        return together(format!("{:?} has no file NAME.<rank>.et", given[0]));
    }
    let missing = (0..of_rank.len()).find(|rank| !of_rank.contains_key(rank));
    if let (Some(missing), Some((last, file))) = (missing, of_rank.last_key_value()) {
        let name = file.strip_suffix(&format!("{last}.et")).unwrap_or_default();
        return together(format!(
            "there is no file of rank {missing}, \"{name}{missing}.et\", but there are files of {} ranks up to \
             rank {last}",
            of_rank.len()
        ));
    }
    let read = |file: String| match files.read_bytes(&file) {
        Ok(bytes) => Ok((file, bytes)),
        Err(why) => Err(unread(&file, why)),
    };
    of_rank.into_values().map(read).collect()
}

/// The rank of a file `NAME.<rank>.et`.
fn rank_of(file: &str) -> Option<usize> {
    let file = file.strip_suffix(".gz").unwrap_or(file);
    let name = file.strip_suffix(".et")?;
    name.rsplit('.').next()?.parse().ok()
}
