"""Made-up cases of the HPCC simulator, as files and as frames."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from floodway_lab.validation import Case, Reference, Side, compare_sides
from floodway_lab.validation.files import FLOWS, PAUSES, QUEUES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway_lab.validation import Row

__all__ = [
    "CONFIG",
    "FLOWS_TEXT",
    "case_in",
    "case_of",
    "failing",
    "flows_of",
    "pauses_of",
    "queues_of",
    "rows_of",
    "side",
]

CONFIG = """\
ENABLE_QCN 1
TOPOLOGY_FILE topology.txt
FLOW_FILE flow.txt
FCT_OUTPUT_FILE mix/fct_{tag}.txt
PFC_OUTPUT_FILE mix/pfc_{tag}.txt
QLEN_MON_FILE /dev/null
CC_MODE {mode}
KMAX_MAP 2 25000000000 400 100000000000 1600
KMIN_MAP 2 25000000000 100 100000000000 {kmin}
"""
#: Three flows that start one after another, in the order of their completion.
FLOWS_TEXT = """\
0b000001 0b010001 10000 100 1000 2000000000 5000 4000
0b000101 0b000001 10000 100 50000 2000001000 20000 10000
0b000001 0b000101 10000 100 2000000 2000002000 400000 200000
"""


def case_in(  # noqa: PLR0913 (what a case may have)
    folder: Path, *, tag: str = "hpcc", mode: int = 3, kmin: int = 400, flows: str = FLOWS_TEXT, pfc: str = ""
) -> Path:
    """Write a case into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    config = CONFIG.format(tag=tag, mode=mode, kmin=kmin)
    (folder / "topology.txt").write_text("3 1 2\n2\n", encoding="utf-8")
    for name, text in (("config", config), ("fct", flows), ("pfc", pfc)):
        (folder / f"{name}_{tag}.txt").write_text(text, encoding="utf-8")
    return folder


def flows_of(times: Sequence[int], *, starts: Sequence[int] | None = None, size: int = 1000) -> pl.DataFrame:
    """Make flows with these completion times, each between hosts of its own unless they start together."""
    together = starts is not None
    rows = [
        (n + 1, 0 if together else 1000 + n, 10000, 100, size, starts[n] if starts else 7 * n, time, 1000)
        for n, time in enumerate(times)
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(FLOWS, pl.Int64), orient="row")


def side(
    flows: pl.DataFrame, *, pauses: pl.DataFrame | None = None, queues: pl.DataFrame | None = None
) -> Side:
    return Side(flows=flows, pauses=pauses, queues=queues)


def case_of(*, marks: bool, pinned: bool = True) -> Case:
    here = Path("nowhere")
    return Case(
        name="made-up",
        tag="up",
        config=here,
        marks=marks,
        pinned=pinned,
        flows=here,
        pauses=None,
        queues=None,
    )


def rows_of(expected: Side, *ours: Side, marks: bool = False, other_build: bool = True) -> dict[str, Row]:
    """Compare made-up sides, by default by bounds; rows by their keys."""
    reference = Reference(case=case_of(marks=marks), side=expected, other_build=other_build)
    return {row.key: row for row in compare_sides(reference, ours)}


def failing(rows: dict[str, Row]) -> set[str]:
    return {key for key, row in rows.items() if row.verdict == "fail"}


def pauses_of(counts: dict[int, int]) -> pl.DataFrame:
    """Make so many pairs of pause and resume at each node."""
    rows = [
        (1000 * n + event, node, 1, 1, 1 - event)
        for node, count in counts.items()
        for n in range(count)
        for event in (0, 1)
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(PAUSES, pl.Int64), orient="row").sort("time_ns")


def queues_of(kb: dict[int, int], *, port: int = 1) -> pl.DataFrame:
    rows = [(16, port, size, samples) for size, samples in kb.items()]
    return pl.DataFrame(rows, schema=dict.fromkeys(QUEUES, pl.Int64), orient="row")
