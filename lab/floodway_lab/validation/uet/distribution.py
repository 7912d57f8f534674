"""Cases in which chance decides: within the spread of the reference's runs, or of ours."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from floodway.common.errors import ValidationError
from floodway.results.interval import student_t
from floodway_lab.validation.jobs.rows import cells_of
from floodway_lab.validation.uet.compare import PS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from floodway.results import Result
    from floodway_lab.validation.uet.cases import UetCase

__all__ = ["SeedRuns", "beyond", "outlying", "spread_of"]

SEEDS_FILE = "seeds.tsv"
COLUMNS = ("case", "variant", "seed", "mean_fct_us", "last_fct_us")
#: A case's name: a letter and a number, then setting and variant, and perhaps its seed.
LABEL = re.compile(r"[a-z]\d+-(.+?)(?:-seed\d+)?")
#: What numbers are compared.
LABELS = ("mean completion time", "last completion time")
#: Standard deviations of the reference's runs that a mean may be off.
DEVIATIONS = 3
#: Confidence that one run of the reference is within the spread of ours: that of three standard deviations.
LEVEL = 0.9973


@dataclass(frozen=True, kw_only=True)
class SeedRuns:
    """The completion times of a setting's runs with several seeds, by run, in microseconds.

    Attributes
    ----------
    mean, last
        The mean over the flows of a run, and the last one.
    """

    mean: tuple[float, ...]
    last: tuple[float, ...]


def spread_of(case: UetCase, root: Path) -> SeedRuns | None:
    """Return the spread of a case's setting; none where the reference has no runs of it.

    Raises
    ------
    ValidationError
        If the table of runs is malformed.
    """
    match = LABEL.fullmatch(case.folder.resolve().name)
    file = next((place / SEEDS_FILE for place in (root, root.parent) if (place / SEEDS_FILE).is_file()), None)
    if match is None or file is None:
        return None
    rows = [cells for cells in cells_of(file, COLUMNS) if f"{cells['case']}-{cells['variant']}" == match[1]]
    try:
        mean, last = (tuple(float(row[key]) for row in rows) for key in COLUMNS[3:])
    except ValueError as error:
        shown = os.fspath(file)
        raise ValidationError(f"{shown}: {error}", place=shown) from error
    return SeedRuns(mean=mean, last=last) if len(mean) > 1 else None


def beyond(spread: SeedRuns, results: Sequence[Result]) -> list[str]:
    """Return sentences on the means of runs that are not within the spread.

    Parameters
    ----------
    spread
        The spread of the reference.
    results
        Runs with several seeds.
    """
    messages = []
    for label, theirs, ours in zip(LABELS, (spread.mean, spread.last), _completion(results), strict=True):
        our_mean, center = fmean(ours), fmean(theirs)
        bound = DEVIATIONS * stdev(theirs)
        if not abs(our_mean - center) <= bound:
            text = f"{label}: {our_mean:,.2f} us in the mean of {len(results)} runs"
            messages.append(
                f"{text}, {center:,.2f} us in the reference, allowed {bound:,.2f} us more or less"
            )
    return messages


def outlying(case: UetCase, results: Sequence[Result]) -> list[str]:
    """Return what of a case's one run in the reference does not belong to the runs here.

    Parameters
    ----------
    case
        With one run in the reference.
    results
        Runs with several seeds.
    """
    times = [
        expected.acknowledged_ps / PS - connection.start_us
        for expected, connection in zip(case.expected, case.connections, strict=True)
    ]
    messages = []
    for label, theirs, ours in zip(LABELS, (fmean(times), max(times)), _completion(results), strict=True):
        center = fmean(ours)
        # The interval of prediction for one more run.
        bound = student_t(len(ours) - 1, LEVEL) * stdev(ours) * (1 + 1 / len(ours)) ** 0.5
        if not abs(theirs - center) <= bound:
            text = f"{label}: {theirs:,.2f} us in the reference"
            messages.append(
                f"{text}, {center:,.2f} us in the mean of {len(ours)} runs, allowed {bound:,.2f} us"
            )
    return messages


def _completion(results: Sequence[Result]) -> tuple[list[float], list[float]]:
    """Return the mean and the last completion time of each run, in microseconds."""
    times = [(result.flows["finish_sender_us"] - result.flows["start_us"]) for result in results]
    return [float(run.mean()) for run in times], [float(run.max()) for run in times]  # type: ignore[arg-type]
