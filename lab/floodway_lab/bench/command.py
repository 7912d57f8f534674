"""Time of the command line itself, in calls that simulate next to nothing."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from floodway.common.errors import FloodwayError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["HEAD", "Timed", "measure", "rows"]

HEAD = ("case", "wall s", "processor s")
#: The files of the calls: a run of a flow of ten packets, and a study of that run.
SCENARIO = """
limit = "1ms"
topology.single-switch = { hosts = 2, rate = "100G", delay = "1us" }
[[workload]]
name = "one"
burst = { from = "h1", to = "h2", size = "10KB" }
"""
STUDY = """
title = "Small runs"
shows = "What a run costs beside its packets."
source = "no paper"
[[variant]]
name = "one"
scenario = "small.toml"
"""
#: The beginning of a scenario of 8,192 hosts; its flows follow.
FAT_TREE = """
topology.fat-tree = { k = 32, rate = "100G", delay = "1us" }
[defaults]
flow-control.pfc = { xoff = { alpha = 0.125 } }
buffer.shared = { pool = "10MB" }
congestion-point = "red"
rate-control = "dcqcn"
[[workload]]
name = "flows"
"""
FILES = {
    "small.toml": SCENARIO,
    "study.toml": STUDY,
    "permutation.toml": f'{FAT_TREE}permutation = {{ size = "2MB" }}\n',
    "websearch.toml": f'{FAT_TREE}poisson = {{ sizes = "websearch", load = 0.3 }}\nuntil = "5ms"\n',
}
#: The arguments of each call, by its name.
CALLS = {
    "--help": ("--help",),
    "check of two hosts": ("check", "small.toml"),
    "run of a flow": ("run", "small.toml"),
    "check of a fat tree, k = 32, a permutation": ("check", "permutation.toml"),
    "check of a fat tree, k = 32, WebSearch": ("check", "websearch.toml"),
}
#: Verbs that do several runs, one at a time: their arguments for a number of seeds.
REPEATED_CALLS: dict[str, Callable[[int], Sequence[str]]] = {
    "each further run of compare": lambda seeds: (
        *("compare", "small.toml", "--vary", "mtu=1KB,2KB", "--jobs", "1", "--seeds", str(seeds)),
    ),
    "each further run of a study": lambda seeds: (
        "study",
        "study.toml",
        "--jobs",
        "1",
        "--seeds",
        str(seeds),
    ),
}
#: The number of seeds of the shorter call, and how many more the longer one has; compare has two variants.
SEEDS_OF_SHORTER, EXTRA_SEEDS = 2, 20
EXTRA_RUNS = {"each further run of compare": 2 * EXTRA_SEEDS, "each further run of a study": EXTRA_SEEDS}


@dataclass(frozen=True)
class Timed:
    """Times of a call, in seconds: wall-clock time and CPU time."""

    wall_s: float
    processor_s: float


def measure(*, runs: int, on_message: Callable[[str], None]) -> dict[str, Timed]:
    """Time each call `runs` times, by turns, and return medians."""
    timings: dict[str, list[Timed]] = {}
    for turn in range(runs):
        for name, call in CALLS.items():
            on_message(f"run {turn + 1} of {runs}: {name}")
            timings.setdefault(name, []).append(_timed(call))
        for name, call_with in REPEATED_CALLS.items():
            on_message(f"run {turn + 1} of {runs}: {name}")
            few, many = _timed(call_with(SEEDS_OF_SHORTER)), _timed(call_with(SEEDS_OF_SHORTER + EXTRA_SEEDS))
            per_run = [(last - first) / EXTRA_RUNS[name] for first, last in _beside(few, many)]
            timings.setdefault(name, []).append(Timed(*per_run))
    return {name: Timed(*(median(column) for column in _beside(*timed))) for name, timed in timings.items()}


def rows(timed: dict[str, Timed]) -> Iterable[Sequence[str]]:
    """Return a row a call."""
    for name, took in timed.items():
        yield name, f"{took.wall_s:.3f}", f"{took.processor_s:.3f}"


def _beside(*timed: Timed) -> Iterable[tuple[float, ...]]:
    return zip(*((timing.wall_s, timing.processor_s) for timing in timed), strict=True)


def _timed(call: Sequence[str]) -> Timed:
    """Call the command line in a folder with the files, which holds no results yet."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        before, began = _processor_s(), time.perf_counter()
        line = [sys.executable, "-m", "floodway", *call]
        done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
        timed = Timed(time.perf_counter() - began, _processor_s() - before)
    if done.returncode:
        raise FloodwayError(f"floodway {' '.join(call)}: {done.stderr.strip()}")
    return timed


def _processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
