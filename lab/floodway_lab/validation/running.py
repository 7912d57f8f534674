"""Our run of a case: the configuration is imported, run and exported in its own formats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from floodway.common.errors import unwritable
from floodway.scenarios.scenario import load
from floodway_lab.validation.counts import counts_of, write_counts

if TYPE_CHECKING:
    from floodway.common.errors import ScenarioError
    from floodway.results import Result
    from floodway.scenarios.scenario import Scenario
    from floodway_lab.validation.cases import Case

__all__ = ["export", "refusal_of", "scenario_of"]

#: Keys of files that a case needs: if one is missing, the folder is at fault.
FILES = ("TOPOLOGY_FILE", "FLOW_FILE")


def scenario_of(case: Case) -> Scenario:
    """Read a case's configuration as a scenario that keeps PFC frames, and queues if they are compared.

    Queues are sampled when the configuration says, or over the whole run as that simulator's own monitor
    does; samples without a kilobyte waiting are not compared, so that the length of the run does not matter.

    Raises
    ------
    ScenarioError
        If the configuration cannot be simulated.
    """
    scenario = load(case.config)
    records: Any = scenario.to_dict().get("records", {})
    sets = [("records.pauses", "true")]
    if case.queues is not None and "queue-histogram" not in records:
        sets.append(("records.queue-histogram", "{}"))
    return scenario.replace(sets=sets)


def refusal_of(case: Case, error: ScenarioError) -> str | None:
    """Return why a configuration cannot run here; None if the fault is in the files that it names.

    Its form has been checked when the case was found.
    """
    in_configuration = all(
        Path(fault.file).name == case.config.name and fault.key not in FILES for fault in error.faults
    )
    return error.faults[0].text if in_configuration else None


def export(result: Result, scenario: Scenario, folder: Path) -> None:
    """Write a result and its exports in the simulator's formats, in place of earlier ones.

    Raises
    ------
    OutputError
        If the files cannot be written.
    """
    result.save(folder, force=True)
    result.export_hpcc(folder, scenario=scenario, force=True)
    try:
        write_counts(counts_of(result, scenario), folder)
    except OSError as error:
        raise unwritable(folder, error) from error
