"""Training jobs of which some layers or micro-batches are simulated: their number, and that of all."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from floodway import _floodway

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from floodway.results import Result

__all__ = ["KEYS", "part_in_words", "parts_of", "some_parts"]

#: By what iterations are simulated in part, as summaries call it: the key of `training` with the number.
KEYS = {"layers": "layers", "micro_batches": "simulated-micro-batches"}


def parts_of(results: Sequence[Result]) -> dict[str, dict[str, tuple[int, int]]]:
    """Return `some_parts` of a variant, by the first of its seeds; nothing where none has ended."""
    return some_parts(results[0].run.scenario["scenario"]) if results else {}


def some_parts(scenario: Mapping[str, Any]) -> dict[str, dict[str, tuple[int, int]]]:
    """Return, by workload and `KEYS`, what is simulated and all of the iteration, where these differ.

    Parameters
    ----------
    scenario
        As a scenario's file has it.
    """
    parts: dict[str, dict[str, tuple[int, int]]] = {}
    for workload in scenario.get("workload", ()):
        training = workload.get("training")
        if training is None:
            continue
        for quantity, key in KEYS.items():
            if training.get(key) is not None and training[key] < (whole := _whole(training, quantity)):
                parts.setdefault(str(workload["name"]), {})[quantity] = (int(training[key]), whole)
    return parts


def part_in_words(parts: Mapping[str, tuple[int, int] | None]) -> str:
    """Say of how many layers and micro-batches an iteration is; empty if of all.

    Parameters
    ----------
    parts
        What is simulated and all, by `KEYS`.
    """
    return ", ".join(
        f"{counts[0]:,} of {counts[1]:,} {name.replace('_', '-')}"
        for name, counts in parts.items()
        if counts is not None
    )


def _whole(training: Mapping[str, Any], quantity: str) -> int:
    if quantity == "micro_batches":
        return int(training.get("micro-batches", 1))
    model = training["model"]
    return _layers()[model] if isinstance(model, str) else int(model["layers"])


@cache
def _layers() -> dict[str, int]:
    """Return the layers of each published model."""
    models = json.loads(_floodway.catalog_json())["models"]
    return {model["name"]: model["numbers"]["layers"] for model in models}
