//! Jobs from files.

use std::collections::BTreeMap;

use floodway_fabric::blueprint::Arrivals;
use floodway_programs::read::{self, ChakraOptions, Imported};

use super::jobs::RankKeys;
use super::map::Map;
use super::{Builder, workload_path};
use crate::workload::Workload;
use crate::workload::trace::{Trace, TraceFormat};

impl Builder<'_> {
    /// The arrivals of a trace; none where errors say why.
    pub(super) fn trace(&mut self, workload: &Workload, trace: &Trace, map: &Map<'_>) -> Option<Arrivals> {
        if !self.keys_of_format(workload, trace) {
            return None;
        }
        let Imported { mut program, notes } = match self.imported(trace) {
            Ok(imported) => imported,
            Err(why) => {
                self.fault(&workload_path(workload, "trace.files"), why);
                return None;
            }
        };
        for note in notes {
            self.warn_at(&workload_path(workload, "trace.files"), note);
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

    /// Are only keys of the trace's format given?
    fn keys_of_format(&mut self, workload: &Workload, trace: &Trace) -> bool {
        let of_chakra = [
            ("algorithm", trace.algorithm.is_some()),
            ("splits", trace.splits.is_some()),
            ("channels", trace.channels.is_some()),
            ("flops", trace.flops.is_some()),
        ];
        let foreign = of_chakra.into_iter().find(|(_, given)| *given && trace.format == TraceFormat::Goal);
        let fault = match (foreign, trace.splits, trace.channels, trace.flops) {
            (Some((key, _)), ..) => Some((key, "it belongs to format = \"chakra\"".to_owned())),
            (_, Some(splits), ..) if !(1..=4096).contains(&splits) => {
                Some(("splits", format!("{splits} is not a number from 1 to 4096")))
            }
            (_, _, Some(channels), _) if !(1..=256).contains(&channels) => {
                Some(("channels", format!("{channels} is not a number from 1 to 256")))
            }
            (.., Some(flops)) if !(flops.is_finite() && flops >= 1.0) => {
                Some(("flops", format!("{flops} is not a number of operations a second, at least 1")))
            }
            _ => None,
        };
        if let Some((key, why)) = &fault {
            self.fault(&workload_path(workload, &format!("trace.{key}")), why.clone());
        }
        fault.is_none()
    }

    fn imported(&self, trace: &Trace) -> Result<Imported, String> {
        match (trace.format, trace.files.0.as_slice()) {
            (_, []) => Err("the list is empty".into()),
            (TraceFormat::Goal, [file]) => {
                read::goal(&self.files.read(file)?, file).map_err(|error| error.to_string())
            }
            (TraceFormat::Goal, _) => Err("a GOAL schedule is one file".into()),
            (TraceFormat::Chakra, files) => self.chakra(trace, files),
        }
    }

    fn chakra(&self, trace: &Trace, files: &[String]) -> Result<Imported, String> {
        let mut of_rank: BTreeMap<usize, String> = BTreeMap::new();
        for given in files {
            for file in self.files.listed(given, ".et")? {
                let rank = rank_of(&file)
                    .ok_or_else(|| format!("{file:?} is not named NAME.<rank>.et, like step.0.et"))?;
                if let Some(other) = of_rank.insert(rank, file.clone()) {
                    return Err(format!("{other:?} and {file:?} are both of rank {rank}"));
                }
            }
        }
        if of_rank.is_empty() {
            return Err(format!("{:?} has no file NAME.<rank>.et", files[0]));
        }
        if let Some(missing) = (0..of_rank.len()).find(|rank| !of_rank.contains_key(rank)) {
            return Err(format!("there is no file of rank {missing}, but of {} ranks", of_rank.len()));
        }
        let read = |file: String| self.files.read_bytes(&file).map(|bytes| (file, bytes));
        let files = of_rank.into_values().map(read).collect::<Result<Vec<_>, _>>()?;
        let options = ChakraOptions {
            algorithm: trace.algorithm,
            splits: trace.splits.unwrap_or(1),
            channels: trace.channels.unwrap_or(1),
            flops: trace.flops,
        };
        read::chakra(&files, &options).map_err(|error| error.to_string())
    }
}

/// The rank of a file `NAME.<rank>.et`.
fn rank_of(file: &str) -> Option<usize> {
    let name = file.strip_suffix(".et")?;
    name.rsplit('.').next()?.parse().ok()
}
