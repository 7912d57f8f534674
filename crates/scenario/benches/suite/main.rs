//! One run of one scenario, measured: a JSON object of one line.
//!
//! `suite SCENARIO [--set PATH=VALUE]... [--threads N] [--build-only]`. A run has a process of its own, so
//! that the peak of its memory is its own. `python -m floodway_lab.bench` runs the set; see `benchmarks/`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark's output")]

mod measure;

use std::path::PathBuf;
use std::process::ExitCode;

use measure::{Order, measured};

const USAGE: &str = "usage: suite SCENARIO [--set PATH=VALUE]... [--threads N] [--build-only]";

fn main() -> ExitCode {
    match order(std::env::args().skip(1)).and_then(|order| measured(&order)) {
        Ok(value) => {
            println!("{value}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn order(mut arguments: impl Iterator<Item = String>) -> Result<Order, String> {
    let (mut scenario, mut sets, mut threads, mut build_only) = (None, Vec::new(), 1, false);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value; {USAGE}"));
        match argument.as_str() {
            // Cargo says so to every benchmark.
            "--bench" => {}
            "--build-only" => build_only = true,
            "--threads" => threads = whole(&value()?)?,
            "--set" => sets.push(set(&value()?)?),
            option if option.starts_with('-') => return Err(format!("no option {option}; {USAGE}")),
            path if scenario.is_none() => scenario = Some(PathBuf::from(path)),
            more => return Err(format!("one scenario a run, and {more} is another; {USAGE}")),
        }
    }
    let scenario = scenario.ok_or(USAGE)?;
    Ok(Order { scenario, sets, threads, build_only })
}

fn whole(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|&number| number > 0);
    number.ok_or_else(|| format!("--threads {text}: a whole number from 1 on is required"))
}

fn set(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').map(|(path, value)| (path.to_owned(), value.to_owned()));
    parts.ok_or_else(|| format!("--set {text}: PATH=VALUE is required"))
}
