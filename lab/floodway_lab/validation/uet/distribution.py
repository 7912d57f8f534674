"""Cases in which chance decides: means of several runs, within the spread of the reference's seeds."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from floodway.common.errors import ValidationError
from floodway_lab.validation.jobs.rows import cells_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from floodway.results import Result
    from floodway_lab.validation.uet.cases import UetCase

__all__ = ["SeedRuns", "beyond", "spread_of"]

SEEDS_FILE = "seeds.tsv"
COLUMNS = ("case", "variant", "seed", "mean_fct_us", "last_fct_us")
#: A case's name: a letter and a number, then setting and variant, and perhaps its seed.
LABEL = re.compile(r"[a-z]\d+-(.+?)(?:-seed\d+)?")
#: The largest deviation of a mean, in standard deviations of the reference's runs.
DEVIATIONS = 3


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
    times = [(result.flows["finish_sender_us"] - result.flows["start_us"]) for result in results]
    messages = []
    sides = (
        ("mean completion time", spread.mean, [durations.mean() for durations in times]),
        ("last completion time", spread.last, [durations.max() for durations in times]),
    )
    for label, theirs, ours in sides:
        our_mean = fmean(float(value) for value in ours)  # type: ignore[arg-type]
        center = fmean(theirs)
        bound = DEVIATIONS * (sum((value - center) ** 2 for value in theirs) / (len(theirs) - 1)) ** 0.5
        if not abs(our_mean - center) <= bound:
            text = f"{label}: {our_mean:,.2f} us in the mean of {len(results)} runs"
            messages.append(
                f"{text}, {center:,.2f} us in the reference, allowed {bound:,.2f} us more or less"
            )
    return messages
