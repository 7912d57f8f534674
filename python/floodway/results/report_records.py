"""The records that a page of a run and a trace need: series and pauses of all ports, and their states.

What they keep is bounded whatever the length of a run: of each port at most `records.buckets` buckets of time
(1,000, or 500 in large networks, unless the scenario says otherwise), ten million pauses and resumes, and ten
million marks, CNPs and changes of state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from floodway.scenarios import Scenario

__all__ = ["needed_sets", "with_report_records"]

#: Nodes of a large network, and the buckets of its ports: a page has no more frames of it.
LARGE, BUCKETS = 200, 500


def needed_sets(scenario: Scenario) -> list[tuple[str, str]]:
    """Return what must be set in a scenario so that its run records all that a page shows.

    Signals are recorded where a congestion point assigns states to queues, or if the scenario asks for them:
    other congestion points only mark packets, and a row for each mark may be as many as packets.
    """
    sets = [("records.watch", '"*"'), ("records.pauses", "true")]
    records = scenario.to_dict().get("records", {})
    if len(scenario.native.nodes) > LARGE and isinstance(records, dict) and "buckets" not in records:
        sets.append(("records.buckets", str(BUCKETS)))
    return [*sets, ("records.signals", "true")] if _has_states(scenario) else sets


def with_report_records(scenario: Scenario) -> Scenario:
    """Return the scenario with these records."""
    return scenario.replace(sets=needed_sets(scenario))


def _has_states(scenario: Scenario) -> bool:
    from floodway import _floodway  # noqa: PLC0415 (the native module is loaded where it is needed)

    with_states = {name for name, states in _floodway.queue_states() if states}
    return any(name in with_states for name in _points(scenario.resolved().get("resolved", ())))


def _points(groups: Any) -> list[str]:  # noqa: ANN401 (part of a JSON document)
    """Return the names of the congestion points of all groups of objects."""
    settings = [setting for group in groups for setting in group["settings"]]
    values = [setting["value"] for setting in settings if setting["key"] == "congestion-point"]
    return [name for value in values for point in value for name in point]
