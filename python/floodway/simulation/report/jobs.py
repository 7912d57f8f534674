"""Jobs of a page: their iterations and collectives, and the phases of the longest of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from floodway.common.errors import InputError
from floodway.simulation.critical_path import targets_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from floodway.results import Result
    from floodway.simulation.critical_path import CriticalPath
    from floodway.simulation.path_phases import Phase

__all__ = ["jobs_document", "longest", "path_of"]

#: Iterations that a page lists.
MOST_ITERATIONS = 50


def longest(result: Result) -> str | None:
    """Return the name of the longest iteration, or without computation of the longest collective, if any."""
    computing = {row.workload for row in result.summary().iterations}
    targets = targets_of(result)
    iterations = [target for target in targets if target.call is None and target.workload in computing]
    candidates = iterations or [target for target in targets if target.call is not None]
    most = max(candidates, key=lambda target: target.end_us - target.start_us, default=None)
    return None if most is None else most.name


def path_of(
    result: Result, name: str | None, path: Callable[[Result, str], CriticalPath]
) -> tuple[CriticalPath | None, list[str]]:
    """Return the critical path of a collective or an iteration, or the reason why it has none."""
    if name is None:
        return None, []
    try:
        return path(result, name), []
    except InputError as error:
        return None, [f"Phases of {name}: {error}."]


def jobs_document(result: Result, path: CriticalPath | None) -> dict[str, Any] | None:
    """Write iterations and collectives, and the phases of a critical path; nothing without jobs."""
    if result.operations is None:
        return None
    return {
        "iterations": list(_iterations(result))[:MOST_ITERATIONS],
        "collectives": list(_collectives(result)),
        "path": None if path is None else _path(path),
    }


def _iterations(result: Result) -> Iterator[dict[str, Any]]:
    spans = {
        target.name: (target.start_us, target.end_us) for target in targets_of(result) if target.call is None
    }
    for row in result.summary().iterations:
        span = spans.get(f"{row.workload}:iteration-{row.iteration}")
        if span is not None:
            yield {
                "name": f"{row.workload}, iteration {row.iteration}{f', {row.part}' if row.part else ''}",
                "us": row.time_us,
                "computeUs": row.compute_us,
                "exposedUs": row.exposed_us,
                "idleUs": row.idle_us,
                "from": span[0],
                "to": span[1],
            }


def _collectives(result: Result) -> Iterator[dict[str, Any]]:
    """Yield a row for each operation and size, with the time of the longest one."""
    if result.collectives is None:
        return
    done = result.collectives.filter(pl.col("time_us").is_not_null())
    plain = done.with_columns(pl.col("workload", "name").cast(pl.String)).sort("time_us", descending=True)
    by_name = plain.partition_by("workload", "name", "ranks", as_dict=True)
    for row in result.summary().collectives:
        span = by_name[row.workload, row.name, row.ranks].row(0, named=True)
        yield {
            "name": f"{row.workload}: {row.name}",
            "ranks": row.ranks,
            "count": row.count,
            "us": row.mean_us,
            "mostUs": row.most_us,
            "busbw": row.busbw_gbps / 8,
            "from": span["start_us"],
            "to": span["end_us"],
        }


def _path(path: CriticalPath) -> dict[str, Any]:
    return {
        "name": path.target.name,
        "title": path.target.title,
        "us": path.time_ps / 1e6,
        "summary": path.summary(),
        "phases": [_phase(phase) for phase in path.phases],
    }


def _phase(phase: Phase) -> dict[str, Any]:
    return {
        "name": phase.name,
        "place": phase.place,
        "steps": len(phase.steps),
        "stretches": phase.stretches,
        "ranks": phase.ranks,
        "us": phase.time_ps / 1e6,
        "from": phase.from_ps / 1e6,
        "to": phase.to_ps / 1e6,
    }
