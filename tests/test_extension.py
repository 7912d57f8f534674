"""Mechanisms of a crate that is not in the tree, in an extension that takes the native module's place."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
import zipfile
from pathlib import Path

import polars as pl
import pytest

from command import Command, Done, environment
from floodway import _floodway
from floodway.common.extensions import VERSION

ROOT = Path(__file__).parent.parent
TEMPLATE = ROOT / "examples" / "own-mechanism"


#: Mechanisms that go wrong, and names that are given twice, as an extension's author may have them.
ODD = """
//! Panics, or picks a queue that it was not offered.

use floodway_mechanisms::slots::*;
use floodway_units::{Class, QueueId, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Panicking")]
pub struct Panicking {
    /// It panics before a run, not in it.
    pub at_once: bool,
}

impl Reaction for Panicking {
    type Rp = Panicking;

    fn build(&self, _qp: &QpInfo) -> Result<Panicking, ParamError> {
        assert!(!self.at_once, "no\nmore");
        Ok(*self)
    }
}

impl ReactionPoint for Panicking {
    fn on_ack(&mut self, _now: Time, ack: &AckView<'_>) {
        let none: Option<u64> = None;
        none.expect("an ACK too many");
    }

    fn allowance(&self) -> Allowance {
        Allowance::FREE
    }
}

/// Parameters.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "PicksOdd")]
pub struct Picks {}

impl Scheduling for Picks {
    type Scheduler = Picks;

    fn build(&self, _port: &PortInfo) -> Result<Picks, ParamError> {
        Ok(*self)
    }
}

impl Scheduler for Picks {
    fn pick(&mut self, _now: Time, _queues: &[ReadyView]) -> Option<QueueId> {
        Some(QueueId { class: Class(7), sub: 3 })
    }
}

/// Parameters, named as those of a workload.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Workload {}

impl Scheduling for Workload {
    type Scheduler = Picks;

    fn build(&self, _port: &PortInfo) -> Result<Picks, ParamError> {
        Ok(Picks {})
    }
}

/// Goes wrong as a variable of the environment says.
pub fn register() -> Result<(), floodway_mechanisms::registry::custom::RegistryError> {
    use floodway_mechanisms::registry::{ReactionParams, SchedulerParams};
    ReactionParams::register::<Panicking>("panicking", "")?;
    SchedulerParams::register::<Picks>("picks-odd", "")?;
    match std::env::var("OWN_MISTAKE").as_deref() {
        Ok("type") => SchedulerParams::register::<Picks>("picks-again", ""),
        Ok("name") => SchedulerParams::register::<Workload>("workload-like", ""),
        Ok("panic") => panic!("not registered"),
        _ => Ok(()),
    }
}
"""


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the template out of the tree, test it there, build its wheel and install it into a folder."""
    crate = tmp_path_factory.mktemp("elsewhere") / "crate"
    shutil.copytree(TEMPLATE, crate, ignore=shutil.ignore_patterns("target"))
    manifest = crate / "Cargo.toml"
    text = manifest.read_text(encoding="utf-8").replace('path = "../../crates/', f'path = "{ROOT}/crates/')
    manifest.write_text(text, encoding="utf-8")
    (crate / "src" / "odd.rs").write_text(ODD.lstrip(), encoding="utf-8")
    library = crate / "src" / "lib.rs"
    text = library.read_text(encoding="utf-8").replace("pub mod two_marks;", "mod odd;\npub mod two_marks;")
    text = text.replace(
        "        FlowControlParams::register",
        "        odd::register()?;\n        FlowControlParams::register",
    )
    library.write_text(text, encoding="utf-8")
    # What both have in common is compiled once.
    shared = {**os.environ, "CARGO_TARGET_DIR": os.fspath(ROOT / "target")}
    cargo = shutil.which("cargo") or "cargo"
    subprocess.run([cargo, "test", "--quiet", "--locked"], cwd=crate, env=shared, check=True, timeout=1500)
    build = [sys.executable, "-m", "maturin", "build", "--quiet", "--locked", "--out", "wheels"]
    subprocess.run(build, cwd=crate, env=shared, check=True, timeout=1500)
    (wheel,) = (crate / "wheels").glob("own_mechanism-*.whl")
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def floodway_of(installed: Path, folder: Path, *words: str | Path, mistake: str = "") -> Done:
    done = subprocess.run(
        Command(folder).line(*words),
        cwd=folder,
        env={**environment(), "PYTHONPATH": os.fspath(installed), "OWN_MISTAKE": mistake},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


def test_its_mechanisms_are_chosen_explained_and_checked_like_any_other(
    installed: Path, tmp_path: Path
) -> None:
    incast = TEMPLATE / "incast.toml"
    ran = floodway_of(installed, tmp_path, "run", incast, "--out", "one", "--threads", "1", "--full")
    assert (ran.code, "invariants: hold" in ran.out) == (0, True), ran.err
    assert floodway_of(installed, tmp_path, "run", incast, "--out", "two", "--threads", "2").code == 0
    assert (tmp_path / "one" / "flows.parquet").read_bytes() == (
        tmp_path / "two" / "flows.parquet"
    ).read_bytes()
    assert "two-marks" in floodway_of(installed, tmp_path, "check", incast).out
    page = floodway_of(installed, tmp_path, "explain", "two-marks").out
    assert "Pauses between two marks" in page
    assert "`high`" in page
    listed = floodway_of(installed, tmp_path, "list", "mechanisms").out
    assert "delay-window" in listed
    assert "dcqcn" in listed
    why = floodway_of(installed, tmp_path, "why", "one", "p99")
    assert (why.code, "window" in why.out) == (0, True), why.err
    assert floodway_of(installed, tmp_path, "plot", "fct", "one").code == 0
    crossed = ("--set", "defaults.flow-control.two-marks.low=200KB")
    refused = floodway_of(installed, tmp_path, "run", incast, *crossed, "--out", "three")
    assert (refused.code, "200KB is not below high = 100KB" in refused.err) == (2, True)
    misspelled = ("--set", "defaults.rate-control=delay-windw")
    refused = floodway_of(installed, tmp_path, "run", incast, *misspelled, "--out", "three")
    assert (refused.code, 'did you mean "delay-window"?' in refused.err) == (2, True)


def test_short_flows_pass_long_ones_where_the_discipline_serves_the_least_served_first(
    installed: Path, tmp_path: Path
) -> None:
    short_flows = TEMPLATE / "short_flows.toml"
    mean_us: list[float] = []
    for out, point in (("fifo", "[]"), ("least", "least-served")):
        chosen = ("--set", f"defaults.congestion-point={point}")
        ran = floodway_of(installed, tmp_path, "run", short_flows, *chosen, "--out", out, "--full")
        assert (ran.code, "invariants: hold" in ran.out) == (0, True), ran.err
        flows = pl.read_parquet(tmp_path / out / "flows.parquet").filter(pl.col("workload") == "short")
        mean_us.append(sum(flows["fct_us"]) / flows.height)
    fifo, least = mean_us
    assert least < fifo / 3, mean_us
    both = ("--set", 'defaults.congestion-point=["least-served", "casl"]')
    refused = floodway_of(installed, tmp_path, "check", short_flows, *both)
    assert (refused.code, "two of the list both decide how packets queue" in refused.err) == (2, True)
    listed = floodway_of(installed, tmp_path, "list", "mechanisms").out
    assert "least-served" in listed


def test_the_same_rate_control_in_python_gives_the_same_bytes(installed: Path, tmp_path: Path) -> None:
    incast = TEMPLATE / "incast.toml"
    in_python = (
        "--python",
        TEMPLATE / "delay_window.py",
        "--set",
        "defaults.rate-control=delay-window-in-python",
    )
    assert floodway_of(installed, tmp_path, "run", incast, "--out", "rust").code == 0
    assert floodway_of(installed, tmp_path, "run", incast, *in_python, "--out", "python").code == 0
    for name in ("flows", "counters", "latency", "series"):
        rust, python = (tmp_path / form / f"{name}.parquet" for form in ("rust", "python"))
        assert rust.read_bytes() == python.read_bytes(), name


def test_a_comparison_and_a_study_have_them_in_their_processes(installed: Path, tmp_path: Path) -> None:
    incast = TEMPLATE / "incast.toml"
    vary = "defaults.rate-control=delay-window,timely"
    compared = floodway_of(
        installed, tmp_path, "compare", incast, "--vary", vary, "--out", "out", "--jobs", "2", "--quiet"
    )
    assert compared.code == 0, compared.err
    study = (ROOT / "studies" / "example.toml").read_text(encoding="utf-8")
    study = study.replace("flow-control.pfc = {", 'rate-control = "delay-window"\nflow-control.pfc = {')
    (tmp_path / "study.toml").write_text(study, encoding="utf-8")
    studied = floodway_of(installed, tmp_path, "study", "study.toml", "--quick", "--quiet", "--jobs", "2")
    assert studied.code == 0, studied.err


#: The line of `text` in the file that goes wrong.
def line_of(text: str) -> int:
    return next(n for n, line in enumerate(ODD.lstrip().splitlines(), start=1) if text in line)


@pytest.mark.parametrize("threads", [("--threads", "1"), ("--threads", "2", "--force-threads")])
def test_a_panic_of_its_own_code_is_reported_with_its_line(
    installed: Path, tmp_path: Path, threads: tuple[str, ...]
) -> None:
    chosen = ("--set", "defaults.rate-control=panicking")
    done = floodway_of(installed, tmp_path, "run", TEMPLATE / "incast.toml", *chosen, *threads, "--quiet")
    at = f"src/odd.rs:{line_of('an ACK too many')}"
    assert done.code == 1
    assert done.err == (
        f"error: the extension own_mechanism panicked at {at}: an ACK too many; this is code of its own "
        "crate, not of floodway\n"
    )
    early = ("--set", "defaults.rate-control={panicking={at-once=true}}")
    done = floodway_of(installed, tmp_path, "check", TEMPLATE / "incast.toml", *early)
    at = f"src/odd.rs:{line_of('assert!(!self.at_once')}"
    assert done.code == 1
    assert f"own_mechanism panicked at {at}: no more; this is code" in done.err


def test_a_scheduler_that_picks_what_was_not_offered_ends_the_run(installed: Path, tmp_path: Path) -> None:
    text = """
        topology.single-switch = { hosts = 3, rate = "100G", delay = "1us" }
        defaults.scheduler = "picks-odd"
        workload = [
          { name = "a", class = 3, flows = [{ from = "h1", to = "h3", size = "100KB" }] },
          { name = "b", class = 4, flows = [{ from = "h2", to = "h3", size = "100KB" }] },
        ]
    """
    (tmp_path / "two.toml").write_text(textwrap.dedent(text))
    done = floodway_of(installed, tmp_path, "run", "two.toml", "--quiet")
    assert done.code == 1
    assert done.err.startswith('error: scheduler "picks-odd" at port "')
    assert (
        "picked the queue of class 7, sub 3, which it was not offered, at 0 us; allowed: none, or class "
        in done.err
    )


@pytest.mark.parametrize(
    ("mistake", "told"),
    [
        (
            "type",
            'scheduler "picks-again": its parameters are called "PicksOdd" in the schema of scenarios, as',
        ),
        ("type", 'those of scheduler "picks-odd" are; each mechanism has a type of parameters of its own'),
        ("name", 'scheduler "workload-like": the schema of scenarios has a "Workload" of floodway\'s own'),
        ("panic", f"own_mechanism panicked at src/odd.rs:{line_of('not registered')}: not registered"),
    ],
)
def test_a_mistake_of_registration_is_reported_once_and_plainly(
    installed: Path, tmp_path: Path, mistake: str, told: str
) -> None:
    done = floodway_of(installed, tmp_path, "list", "mechanisms", mistake=mistake)
    assert done.code == 2
    assert done.err.startswith("error: the extension own_mechanism cannot be loaded: ")
    assert told in done.err


def test_a_run_records_the_extension_and_why_asks_for_it(installed: Path, tmp_path: Path) -> None:
    incast = TEMPLATE / "incast.toml"
    assert floodway_of(installed, tmp_path, "run", incast, "--out", "one", "--quiet").code == 0
    record = json.loads((tmp_path / "one" / "run.json").read_text(encoding="utf-8"))["code"]["extension"]
    (binary,) = (installed / "floodway_extensions").glob("own_mechanism*.so")
    digest = hashlib.sha256(binary.read_bytes()).hexdigest()
    assert record == {"name": "own_mechanism", "version": "0.1.0", "sha256": digest}
    lacks = Command(tmp_path)("why", "one", "p99")
    assert (lacks.code, "the run used the extension own_mechanism 0.1.0: install it" in lacks.err) == (
        2,
        True,
    )


def test_a_process_has_one_extension_that_fits(installed: Path, tmp_path: Path) -> None:
    package = tmp_path / "other" / "floodway_extensions"
    package.mkdir(parents=True)
    (package / "another.py").write_text("")
    both = os.pathsep.join([os.fspath(installed), os.fspath(tmp_path / "other")])
    two = floodway_of(Path(both), tmp_path, "list", "mechanisms")
    assert (two.code, "two extensions of floodway are installed, another and own_mechanism" in two.err) == (
        2,
        True,
    )
    for text, message in [
        ("", "another is not an extension: it has no run"),
        ("import nothing_like_this", "the extension another cannot be loaded: No module named"),
        (
            "run = parse_text = None\n__version__ = '0.0.1'",
            f"the extension another was built with floodway 0.0.1, and this is {VERSION}: build it again",
        ),
    ]:
        (package / "another.py").write_text(text)
        refused = floodway_of(tmp_path / "other", tmp_path, "list", "mechanisms")
        assert (refused.code, message in refused.err) == (2, True), refused.err


def test_both_halves_have_one_version() -> None:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    assert workspace["workspace"]["package"]["version"] == VERSION
    assert _floodway.__version__ == VERSION


def test_the_page_from_python_to_rust_shows_classes_that_run(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "your-own-control.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rate_control, congestion_point, _ = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    (short,) = (
        block for block in re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL) if "class " in block
    )
    assert len(short.strip().splitlines()) <= 20
    (tmp_path / "point.py").write_text(congestion_point)
    scenario = tmp_path / "incast.toml"
    scenario.write_text(
        textwrap.dedent(
            """
            topology.single-switch = { hosts = 5, rate = "100G", delay = "1us" }
            workload = [{ name = "incast", burst = { from = "h*", to = "h5", size = "500KB" } }]
            """
        )
    )
    choose = (
        *("--set", "defaults.rate-control=halving", "--set", "defaults.congestion-point=standing"),
        *("--python", "point.py", "--python", "mine.py"),
    )
    for number, text in enumerate((rate_control, short)):
        (tmp_path / "mine.py").write_text(text)
        done = Command(tmp_path)("run", "incast.toml", *choose, "--out", f"out{number}", "--full")
        assert done.code == 0, done.err
        assert "invariants: hold" in done.out
