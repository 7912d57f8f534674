"""Training jobs of which some layers are simulated: how many, and of how many."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from floodway import _floodway

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from floodway.results import Result

__all__ = ["layers_of", "some_layers"]


def layers_of(results: Sequence[Result]) -> dict[str, tuple[int, int]]:
    """Return `some_layers` of a variant, by the first of its seeds; nothing where none has ended."""
    return some_layers(results[0].run.scenario["scenario"]) if results else {}


def some_layers(scenario: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """Return, by workload, the layers that are simulated and all of the model, where these differ.

    Parameters
    ----------
    scenario
        As a scenario's file has it.
    """
    found = {}
    for workload in scenario.get("workload", ()):
        training = workload.get("training")
        if training is None or training.get("layers") is None:
            continue
        model = training["model"]
        whole = _layers()[model] if isinstance(model, str) else int(model["layers"])
        if training["layers"] < whole:
            found[str(workload["name"])] = (int(training["layers"]), whole)
    return found


@cache
def _layers() -> dict[str, int]:
    """Return the layers of each published model."""
    models = json.loads(_floodway.catalog_json())["models"]
    return {model["name"]: model["numbers"]["layers"] for model in models}
