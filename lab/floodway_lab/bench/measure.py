"""Measurement of the set: several runs of each case, in turns."""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING, Any

from floodway.common.errors import FloodwayError
from floodway_lab.bench.model import Measured, Skipped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from floodway_lab.bench.model import Case, Count
    from floodway_lab.bench.program import Program

__all__ = ["NO_VALGRIND", "counted", "measured", "unset"]

NO_VALGRIND = "valgrind is not installed (Debian: valgrind)"


def measured(
    program: Program,
    cases: Sequence[Case],
    *,
    runs: int,
    threads: Sequence[int],
    on_message: Callable[[str], None],
) -> tuple[list[Measured], list[Skipped]]:
    """Run the cases by turns, so that a slow minute of the machine affects all of them equally.

    Parameters
    ----------
    program
        The program that measures a run.
    cases
        The cases to run.
    runs
        Number of runs of each case.
    threads
        Numbers of threads, each of which every case is run with.
    on_message
        Called with a line before each run.

    Returns
    -------
    tuple
        The measurements, and the cases that were skipped.

    Raises
    ------
    FloodwayError
        A run failed, or simulated something else than another run of its case.
    """
    skipped = [Skipped(case.name, why) for case in cases if (why := unset(case.scenario))]
    left_out = {omission.name for omission in skipped}
    order = [(case, number) for case in cases if case.name not in left_out for number in threads]
    by_case: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for turn in range(runs):
        for case, number in order:
            on_message(f"run {turn + 1} of {runs}: {case.name}, {number} thread{'' if number == 1 else 's'}")
            by_case.setdefault((case.name, number), []).append(program.run(case.scenario, threads=number))
    _refuse_differences(by_case)
    results = (
        Measured(case=case, threads=number, runs=tuple(group)) for (case, number), group in by_case.items()
    )
    return list(results), skipped


def unset(scenario: str) -> str | None:
    """Return a sentence on the first variable in a file's name that is not set; `None` if all are set."""
    missing = [name for name in re.findall(r"\$\{(\w+)\}", scenario) if name not in os.environ]
    return f"{missing[0]} is not set" if missing else None


def _refuse_differences(by_case: dict[tuple[str, int], list[dict[str, Any]]]) -> None:
    """Refuse runs of a case whose simulations differ; the number of threads must not matter."""
    first: dict[str, tuple[object, ...]] = {}
    for (case, threads), runs in by_case.items():
        for run in runs:
            simulated = (run["packet_hops"], run["simulated_us"], run["flows_finished"])
            if first.setdefault(case, simulated) != simulated:
                raise FloodwayError(
                    f"{case} on {threads} threads came to {simulated} packet-hops, us and flows, "
                    f"and to {first[case]} before: it is not deterministic"
                )


def counted(
    program: Program, counts: Sequence[Count], *, on_message: Callable[[str], None]
) -> tuple[dict[str, float], list[Skipped]]:
    """Count instructions per packet-hop: those of the long run less those of the short one.

    Parameters
    ----------
    program
        The program that measures a run.
    counts
        The pairs of runs whose instructions are counted.
    on_message
        Called with a line before each count.

    Returns
    -------
    tuple
        Instructions per packet-hop by name, and the counts that were skipped.

    Raises
    ------
    FloodwayError
        A run failed.
    """
    if shutil.which("valgrind") is None:
        return {}, [Skipped(count.name, NO_VALGRIND) for count in counts]
    skipped = [Skipped(count.name, why) for count in counts if (why := unset(count.scenario))]
    left_out = {omission.name for omission in skipped}
    ratios = {}
    for count in counts:
        if count.name in left_out:
            continue
        on_message(f"instructions: {count.name}")
        short, fewer = program.instructions(count.scenario, sets=count.short)
        long, more = program.instructions(count.scenario, sets=count.long)
        ratios[count.name] = round((more - fewer) / (long["packet_hops"] - short["packet_hops"]), 1)
    return ratios, skipped
