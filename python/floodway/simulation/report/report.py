"""`floodway report`: a page of one run or several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.common.errors import InputError
from floodway.results.answer import answer as run_answer
from floodway.simulation.report.document import Repeating, Shown, document
from floodway.simulation.report.flows import named_flow, usual_flows
from floodway.simulation.report.jobs import longest
from floodway.simulation.report.page import page

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from floodway.results import Result
    from floodway.simulation.critical_path import CriticalPath
    from floodway.simulation.why import Why

__all__ = ["MOST_RUNS", "report"]

#: The most runs of a page: more are not readable side by side.
MOST_RUNS = 4


def report(  # noqa: PLR0913 (what a caller may choose)
    results: Mapping[str, Result],
    *,
    title: str | None = None,
    answer: str | None = None,
    flows: Sequence[str] | None = None,
    folders: Mapping[str, Path] | None = None,
    why: Callable[[Result, Sequence[str]], Sequence[Why]] | None = None,
    path: Callable[[Result, str], CriticalPath] | None = None,
) -> str:
    """Return a self-contained page of runs: the network over time, its ports, flows and causes.

    Parameters
    ----------
    results
        The runs by their labels, four at most; they are side by side, under one slider of time.
    title
        The heading of the page; by default the names of the scenarios.
    answer
        The sentence below it; by default the answer of a single run, or none.
    flows
        Flows whose completion times are divided into their causes, as `floodway why` takes them; by default
        the one at p99 of slowdowns, and the slowest of each workload, five at most. The run is repeated once
        for all of them.
    folders
        Folders of runs by label; the page names them in commands.
    why
        Function that breaks down the completion times; by default `floodway.simulation.why.take_each_apart`.
    path
        Function that finds the critical path of the longest iteration or collective of a run with jobs, whose
        phases the page has; by default `floodway.simulation.critical_path.find_path`. The run is repeated
        twice for it.

    Raises
    ------
    InputError
        If there is no run, or there are too many.
    RunError
        If a run differs when it is repeated.
    """
    if not 1 <= len(results) <= MOST_RUNS:
        raise InputError(
            f"{len(results)} runs: a page shows 1 to {MOST_RUNS}", key="RUN", given=str(len(results))
        )
    # They need the results.
    from floodway.simulation.critical_path import find_path  # noqa: PLC0415
    from floodway.simulation.why import take_each_apart  # noqa: PLC0415

    repeating = Repeating(why=why or take_each_apart, path=path or find_path)

    names = dict.fromkeys(result.run.name for result in results.values())
    shown = [
        Shown(
            label=label,
            result=result,
            folder=(folders or {}).get(label),
            flows=usual_flows(result) if flows is None else [named_flow(flow) for flow in flows],
            job=longest(result),
        )
        for label, result in results.items()
    ]
    if answer is None and len(shown) == 1:
        answer = run_answer(shown[0].result.summary())
    return page(document(title or ", ".join(names), shown, repeating), answer=answer or "")
