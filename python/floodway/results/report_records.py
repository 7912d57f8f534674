"""The records that a page of a run and a trace need: those of the scenario key `records.report`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from floodway.scenarios.scenario import Scenario

__all__ = ["with_report_records"]


def with_report_records(scenario: Scenario) -> Scenario:
    """Return the scenario with `records.report = true`."""
    return scenario.replace(sets=[("records.report", "true")])
