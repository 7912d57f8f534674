"""Causes and critical paths, found by running a scenario again with progress on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.cli.watch import Watch
from floodway.simulation.critical_path import find_path, target_of
from floodway.simulation.why import scenario_of, take_each_apart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway.results import Result
    from floodway.scenarios.scenario import Scenario
    from floodway.simulation.critical_path import CriticalPath
    from floodway.simulation.why import Why

__all__ = ["watched_path", "watched_why"]


def watched_path(result: Result, name: str, *, quiet: bool, scenario: Scenario | None = None) -> CriticalPath:
    """Run a result's scenario again to find the critical path of a collective or an iteration.

    Parameters
    ----------
    result
        The run.
    name
        The collective or iteration, as `floodway.simulation.critical_path.target_of` takes it.
    quiet
        Whether progress is left out.
    scenario
        Scenario of the run. Default: that of the result.

    Raises
    ------
    InputError
        If the run has no such collective or iteration, or its scenario cannot be read.
    """
    # An unknown name is an error before the run.
    target_of(result, name)
    scenario = scenario_of(result) if scenario is None else scenario
    with Watch(scenario, quiet=quiet) as watch:
        return find_path(result, name, scenario=scenario, on_progress=watch.update)


def watched_why(
    result: Result, flows: Sequence[str], *, quiet: bool, scenario: Scenario | None = None
) -> Sequence[Why]:
    """Run a result's scenario again for the causes of flows' completion times; arguments as above."""
    scenario = scenario_of(result) if scenario is None else scenario
    with Watch(scenario, quiet=quiet) as watch:
        return take_each_apart(result, flows, scenario=scenario, on_progress=watch.update)
