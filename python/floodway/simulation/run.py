"""The simulation of a scenario, with its result in frames."""

from __future__ import annotations

import json
import platform
import time
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from floodway import _floodway
from floodway.common.errors import OutOfMemoryError
from floodway.common.limits import MOST_THREADS
from floodway.results.collectives import collectives_of
from floodway.results.result import AskedLoad, RunInfo, Timings
from floodway.results.store import RECORDED
from floodway.scenarios.own_code import code_of, warn_of_older
from floodway.scenarios.scenario import Scenario
from floodway.simulation.analysis import Result
from floodway.simulation.ranks import agreed
from floodway.simulation.watching import stopped_by_interrupt, watched

if TYPE_CHECKING:
    from collections.abc import Callable

    from floodway._floodway import Column, Plan, Progress, Ranks, Table

__all__ = ["frame", "run", "run_part", "versions", "with_report_records"]

#: The code of a text that is not there.
NONE = 0xFFFF_FFFF


def check_threads(threads: int | None) -> None:
    """Check a number of threads.

    Raises
    ------
    TypeError
        If it is not a whole number.
    ValueError
        If there are to be none, or more than 4096.
    """
    if threads is None:
        return
    if isinstance(threads, bool) or not isinstance(threads, int):
        raise TypeError(f"threads: {threads!r} is not a whole number")
    if not 1 <= threads <= MOST_THREADS:
        raise ValueError(f"{threads} is not a number of threads, 1 to {MOST_THREADS}")


def run(  # noqa: PLR0913 (each is a choice of its own)
    scenario: Scenario,
    *,
    threads: int | None = None,
    force_threads: bool = False,
    force_memory: bool = False,
    on_plan: Callable[[Plan], None] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Result:
    """Simulate a scenario to its end.

    The interpreter lock is released meanwhile. Ctrl-C, and a notebook's interrupt, end the run within a
    fraction of a second when it was called in the main thread, as cells of a notebook are: nothing is
    raised, the result holds what is complete, and `result.outcome.stopped` is `"interrupted"`. A loop over
    runs looks at that before it begins the next. Python does not report Ctrl-C to other threads; a run
    there continues to its end, unless `on_progress` calls `stop` of what it is given.

    Parameters
    ----------
    scenario
        The scenario to simulate.
    threads
        Number of threads, 1 or more: at most one for each node, and fewer where links are so short that
        threads would only wait for one another; `result.run.timings.threads_why` has the reason. By default
        the number in the scenario, else one per core where that pays. The result does not depend on it.
    force_threads
        Use this many threads wherever nodes can be simulated one by one; it may take several times as long.
    force_memory
        Begin a run even where it is estimated to need more memory than is left. Where memory runs out later,
        the run still ends with an `OutOfMemoryError`.
    on_plan
        Called once in the calling thread, before the network is built, with the number of threads and the
        size of the run.
    on_progress
        Called about ten times a second in the calling thread.

    Returns
    -------
    Result
        The tables and verdicts.

    Raises
    ------
    TypeError
        If `scenario` is not a scenario, or `threads` not a whole number.
    ValueError
        If `threads` is less than 1 or more than 4096.
    ScenarioError
        If the network cannot be built.
    OutOfMemoryError
        If it needs more memory than there is.
    RunError
        If the run failed.

    Examples
    --------
    >>> from floodway.builders import Burst, SingleSwitch, Workload
    >>> scenario = Scenario(
    ...     topology=SingleSwitch(hosts=3, rate="100G", delay="1us"),
    ...     workload=[Workload(name="pair", burst=Burst(from_=["h1", "h2"], to="h3", size="100KB"))],
    ... )
    >>> result = run(scenario, threads=1)
    >>> result.flows["finished"].to_list()
    [True, True]
    """
    result = run_part(
        scenario,
        threads=threads,
        force_threads=force_threads,
        force_memory=force_memory,
        on_plan=on_plan,
        on_progress=on_progress,
    )
    return cast("Result", result)


def run_part(  # noqa: PLR0913 (each is a choice of its own)
    scenario: Scenario,
    *,
    threads: int | None = None,
    force_threads: bool = False,
    force_memory: bool = False,
    ranks: Ranks | None = None,
    on_plan: Callable[[Plan], None] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    on_interrupt: Callable[[], None] | None = None,
) -> Result | None:
    """Simulate a scenario in one of several processes, `ranks`, of which the first returns the result.

    The arguments are those of `run`. `threads` is the number of each process, by default that of the
    scenario, or one. `on_interrupt` is called at Ctrl-C from the start of the simulation on, also after
    this function has returned: so no Ctrl-C loses a result that is complete but not written yet.
    """
    if not isinstance(scenario, Scenario):
        raise TypeError(f"a {type(scenario).__name__} is not a Scenario; floodway.load reads a file")
    check_threads(threads)

    def planned() -> Plan:
        count = 1 if ranks is None else ranks.count
        plan = _floodway.Plan(scenario.native, threads=threads, force=force_threads, ranks=count)
        if on_plan is not None:
            on_plan(plan)
        if plan.too_large and not force_memory:
            hint = "--force-memory, in Python force_memory=True, runs it anyway"
            raise OutOfMemoryError(f"{scenario.name}: {plan.too_large}", hint=hint)
        return plan

    plan = agreed(ranks, planned)
    resolved = scenario.resolved()
    warn_of_older(scenario.digests, resolved, name=scenario.name)
    progress, loads = _floodway.Progress(), asked_loads(scenario)
    built: dict[str, Any] = scenario.check()
    started, clock = datetime.now(UTC), time.perf_counter()

    def stop() -> None:
        progress.stop()
        if on_interrupt is not None:
            on_interrupt()

    with stopped_by_interrupt(stop, afterwards=on_interrupt):
        work = partial(_floodway.run, scenario.native, progress=progress, plan=plan, ranks=ranks)
        records = watched(work, progress, on_progress)
    wall_s = time.perf_counter() - clock
    if records is None:
        return None
    verdicts = json.loads(records.outcome_json)
    timings = Timings(
        started=started.isoformat(timespec="seconds"),
        wall_s=wall_s,
        packet_hops_per_s=verdicts["packet_hops"] / wall_s,
        threads=records.threads,
        threads_why=records.threads_why,
        ranks=records.ranks,
    )
    info = RunInfo(
        name=scenario.name,
        seed=scenario.seed,
        scenario=resolved,
        versions=versions(),
        timings=timings,
        verdicts=verdicts,
        loads=loads,
        built=built,
        code=code_of(resolved, digests=scenario.digests),
    )
    operations = optional_frame(records.operations)
    return Result(
        flows=flows_frame(records.flows),
        latency=frame(records.latency),
        series=frame(records.series),
        counters=frame(records.counters),
        **{table: optional_frame(getattr(records, table)) for table in RECORDED},
        operations=operations,
        collectives=None if operations is None else collectives_of(operations),
        capture=records.capture,
        run=info,
    )


def asked_loads(scenario: Scenario) -> tuple[AskedLoad, ...]:
    """Return the loads that a scenario states for its workloads."""
    written = json.loads(scenario.native.resolved_json)["scenario"]["workload"]
    return tuple(
        AskedLoad(workload=name, gbps=gbps, load=workload["poisson"]["load"])
        for (name, gbps), workload in zip(scenario.native.offered_gbps, written, strict=True)
        if "poisson" in workload and gbps is not None
    )


def versions() -> dict[str, str]:
    """Versions of floodway and of what its results depend on."""
    return {"floodway": _floodway.__version__, "polars": pl.__version__, "python": platform.python_version()}


def frame(table: Table) -> pl.DataFrame:
    """Make a frame of a table: NaN becomes null, codes become an Enum over their dictionary."""
    return pl.DataFrame([_series(column) for column in table.columns])


def optional_frame(table: Table | None) -> pl.DataFrame | None:
    """Make a frame of a table that is there where the scenario asks for it."""
    return None if table is None else frame(table)


def flows_frame(table: Table) -> pl.DataFrame:
    """Make the frame of flows, whose ids are `workload:source:number`.

    The parts of the id are the ones that do not depend on other workloads, so that a flow keeps its
    id when traffic is added beside it.
    """
    flows = frame(table)
    flow_id = pl.format("{}:{}:{}", "workload", "source", "number").alias("flow_id")
    return flows.select(flow_id, pl.exclude("number"))


def _series(column: Column) -> pl.Series:
    """Return a column's values where the native module holds them, or texts for its codes.

    A table of series has millions of rows, so that nothing is copied without need.
    """
    values = pl.Series(column).alias(column.name)
    if column.kind == "bool":
        return values.cast(pl.Boolean)
    if column.kind == "f64":
        return values.fill_nan(None) if values.is_nan().any() else values
    if column.kind != "text":
        return values
    names = column.dictionary
    meaning = pl.Series(column.name, names, dtype=pl.Enum(names))
    return meaning.gather(values.set(values == NONE, None) if values.max() == NONE else values)


def with_report_records(scenario: Scenario) -> Scenario:
    """Return the scenario with `records.report = true`."""
    return scenario.replace(sets=[("records.report", "true")])
