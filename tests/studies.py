"""Minimal studies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios import SMALL

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["BRIEF", "STUDY", "study_file"]

#: Two variants at two points with two seeds, each run over in a moment.
STUDY = """\
title = "Pools"
scenario = "small.toml"
seeds = 2

[[axis]]
name = "load"
key = "workload.rpc.poisson.load"
values = [0.2, 0.4]
quick = [0.2]

[[variant]]
name = "large"
label = "10 MB"

[[variant]]
name = "little"
label = "1 MB"
set = { "defaults.buffer.shared.pool" = "1MB" }

[quick]
seeds = 1

[metric.short-p99]
kind = "fct-p99"
size = ["0B", "10KB"]

[[claim]]
name = "mean"
figure = "1"
says = "the larger pool is sooner"
metric = "fct-mean"
variant = "large"
against = "little"
at = { load = 0.4 }
value = -10

[[claim]]
name = "flows"
says = "so many flows"
metric = "flows"
variant = "large"
at = { load = 0.4 }
value = 1000
tolerance = 1

[[plot]]
name = "1"
kind = "lines"
metric = ["fct-mean", "short-p99"]

[[plot]]
name = "2"
kind = "bars"
metric = "fct-p99"
x = "load"
log = "y"

[[plot]]
name = "3"
kind = "series"
metric = "throughput"
at = { load = 0.4 }

[[plot]]
name = "4"
kind = "cdf"
of = "slowdown"
at = { load = 0.4 }

[[plot]]
name = "5"
kind = "ports"
ports = ["s1>s2"]
window = ["100us", "1ms"]
at = { load = 0.4 }
"""


#: The same without pictures, which take longer than all its runs.
BRIEF = STUDY[: STUDY.index("[[plot]]")]


def study_file(folder: Path, text: str = STUDY, *, scenario: str = SMALL, name: str = "pools") -> Path:
    """Write a study and its scenario, and return the study."""
    (folder / "small.toml").write_text(scenario, encoding="utf-8")
    file = folder / f"{name}.toml"
    file.write_text(text, encoding="utf-8")
    return file
