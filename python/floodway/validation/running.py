"""Our side of a case: the configuration imported, run, and exported in the formats it came in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from floodway.scenarios import load

if TYPE_CHECKING:
    from pathlib import Path

    from floodway.errors import ScenarioError
    from floodway.results import Result
    from floodway.scenarios import Scenario
    from floodway.validation.cases import Case

__all__ = ["export", "refusal_of", "scenario_of"]

#: How the simulator's own monitor samples.
EVERY, BIN = "100ns", "1KB"


def scenario_of(case: Case) -> Scenario:
    """Read a case's configuration as a scenario that keeps PFC frames, and queues if they are compared.

    Queues are sampled when the configuration says, or over the whole run where it does not: samples
    without a kilobyte waiting are not compared.

    Raises
    ------
    ScenarioError
        If it cannot be simulated.
    """
    scenario = load(case.config)
    records: Any = scenario.to_dict().get("records", {})
    sets = [("records.pauses", "true")]
    if case.queues is not None and "queue-histogram" not in records:
        whole = f'{{ from = "0us", to = "{scenario.limit_us:.0f}us", every = "{EVERY}", bin = "{BIN}" }}'
        sets.append(("records.queue-histogram", whole))
    return scenario.replace(sets=sets)


def refusal_of(case: Case, error: ScenarioError) -> str | None:
    """Tell why a configuration asks for what is not there; none if the fault is of the files it names.

    What is wrong with its form has been told when the case was found.
    """
    of_config = all(fault.file.replace("\\", "/").endswith(case.config.name) for fault in error.faults)
    return error.faults[0].text if of_config else None


def export(result: Result, folder: Path) -> None:
    """Write a result and its exports in the simulator's formats, in place of earlier ones.

    Raises
    ------
    OutputError
        If they cannot be written.
    """
    for old in folder.glob("*.txt"):
        old.unlink()
    result.save(folder, force=True)
    result.export_hpcc(folder)
