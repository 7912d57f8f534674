"""Remarks on a study's runs: lossless verdicts, faults and warnings."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from floodway.comparison.variants import VariantWarning, merged_warnings
from floodway.results.lossless import brief, sentence
from floodway.results.quantities import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from floodway.results import Lossless, Result
    from floodway.study.numbers import Part
    from floodway.study.running.runs import Run

__all__ = ["lossless_of", "run_faults", "warnings_of"]


def lossless_of(part: Part, losses: Mapping[str, Lossless]) -> Iterator[str]:
    """Yield the number of runs and the variants for each verdict on lossless classes.

    `losses` has the lossless verdicts, by the runs' keys.
    """
    by_verdict: dict[str, list[tuple[Run, Lossless]]] = {}
    for run in {run.key: run for run in part.numbers.runs if run.key in losses}.values():
        lossless = losses[run.key]
        by_verdict.setdefault(lossless.verdict, []).append((run, lossless))
    if set(by_verdict) - {"not-asked"}:
        texts = "; ".join(_verdict(part, pairs) for pairs in by_verdict.values())
        yield f"Lossless classes: {texts}."


def run_faults(result: Result) -> Iterator[str]:
    """Yield the faults of a run that affect its numbers."""
    outcome = result.outcome
    if outcome.lossless.loss is not None or outcome.lossless.failed is not None:
        yield f"lossless: {sentence(outcome.lossless)}"
    if outcome.deadlocks:
        yield f"a deadlock at {outcome.deadlocks[0].time_us:,.1f} us"
    if outcome.blocked:
        first = outcome.blocked[0]
        yield (
            f"flow control {first.flow_control!r} blocked {first.port} for {first.blocked_us:,.1f} us until "
            "the end, although the other end held none of its packets"
        )
    unfinished = len(result.flows.filter(result.flows["measured"] & ~result.flows["finished"]))
    if unfinished:
        flows = counted(unfinished, "measured flow")
        yield f"{flows} did not finish within {outcome.simulated_us / 1000:,.2f} ms"


def warnings_of(part: Part) -> tuple[str, ...]:
    """Return the warnings of `check` about the runs, each once, with its variants."""
    labels: Mapping[str, str] = {variant.name: variant.label for variant in part.study.variants}
    by_label = [(labels[run.variant], run.warnings) for run in part.numbers.runs]
    alike: dict[str, list[VariantWarning]] = {}
    for warning in merged_warnings(by_label):
        alike.setdefault(re.sub(r"\d[\d.,]*", "#", warning.text), []).append(warning)
    return tuple(
        _one_of(warnings, tuple(dict.fromkeys(label for label, _ in by_label))) for warnings in alike.values()
    )


def _one_of(warnings: Sequence[VariantWarning], labels: Sequence[str]) -> str:
    """Return the first of several warnings that differ only in numbers, with the variants of all of them."""
    having = {label for warning in warnings for label in warning.labels or labels}
    shown = replace(
        warnings[0], labels=() if having == set(labels) else tuple(filter(having.__contains__, labels))
    )
    more = len(warnings) - 1
    return f"{shown.whole} (and {more:,} more like it, with other numbers)" if more else shown.whole


def _verdict(part: Part, pairs: Sequence[tuple[Run, Lossless]]) -> str:
    labels = dict.fromkeys(part.study.variant(run.variant).label for run, _ in pairs)
    runs = counted(len(pairs), "run")
    return f"{brief([lossless for _, lossless in pairs])} in {runs} ({', '.join(labels)})"
