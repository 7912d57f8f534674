"""Recognition of the formula that the numbers of a file follow.

NVIDIA's plug-in is met to the byte, in xoff and xon, or not at all. Jericho's rows are met within one step of
4,096 bytes. Of other formulas only the slope is known: the bytes that a metre of cable adds, as a multiple of
what the fibre holds. It needs two rows of one speed and of different lengths.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from floodway.common.errors import PlanError
from floodway.planning.asics import Asic, asics, pipeline_reserve
from floodway.planning.formulas import TILED, Profile, dnx_xoff, nvidia_profile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from floodway.planning.sonic.row import Row

__all__ = ["Fit", "fits"]

#: Parameters of NVIDIA's plug-in with which files were made, and SerDes of their ports.
PARAMETERS = {
    "port_mtu": (9100, 9216),
    "lossless_mtu": (1024, 1500, 4096, 9100, 9216),
    "small_percent": (0, 50, 100),
    "shared_headroom": (False, True),
}
LANE_COUNTS = (4, 8)
#: A step of Jericho's rows, in bytes.
DNX_STEP = 4096
#: Bytes that a metre adds over what its fibre holds, by formula (rows of sonic-buildimage at 086b03bd70).
SLOPES = {
    "all frames of 64 bytes, cells of 420": 5.0,
    "all frames of 64 bytes, cells of 254": 3.024,
    "as many frames of 64 as of 1,082 bytes, cells of 254": 1.3298,
    "large frames": 1.036,
}
#: Fewest rows that must follow a formula in a file that has more: some parameters fit three lengths of a
#: speed by chance.
ENOUGH = 4
#: Begin of the names of formulas of which only the slope is known.
SLOPE = "slope "
#: Largest relative difference of a slope from a formula's.
NEAR = 0.001
#: Bytes of fibre a metre there and back at 1 bit/s, at 5 ns a metre.
PER_METRE = Fraction(2 * 5, 8 * 1_000_000_000)


@dataclass(frozen=True, kw_only=True)
class Fit:
    """A formula that a row follows.

    Attributes
    ----------
    formula
        Its name with its parameters.
    rows, of
        How many rows of the row's platform follow it, of how many that it has: a formula that few rows follow
        may be met by chance.
    others
        How many other sets of parameters give the same numbers for as many rows.
    """

    formula: str
    rows: int
    of: int
    others: int = 0

    @property
    def text(self) -> str:
        """The formula with how far it is followed."""
        more = f"; {self.others} more with other parameters" if self.others else ""
        return f"{self.formula} ({self.rows} of {self.of} rows{more})"


def fits(rows: Sequence[Row]) -> list[Fit | None]:
    """Return for each row the formula that it follows; none where no known formula gives its numbers.

    A formula with many parameters meets single rows by chance. So all rows of a speed must follow it, with
    the same parameters, and at least four rows of the platform; of several it is the one of most rows.
    """
    groups: dict[str, list[int]] = defaultdict(list)
    ports = _are_ports(rows)
    for index, row in enumerate(rows):
        # Ports of one CONFIG_DB are of one platform.
        groups["" if ports else row.group].append(index)
    fits_of_rows: list[Fit | None] = [None] * len(rows)
    for indices in groups.values():
        group_fits = _of_group([rows[index] for index in indices])
        for index, fit in zip(indices, group_fits, strict=True):
            fits_of_rows[index] = fit
    return fits_of_rows


def _are_ports(rows: Sequence[Row]) -> bool:
    return any(row.classes for row in rows)


def _of_group(rows: Sequence[Row]) -> list[Fit | None]:
    """Choose for each speed the formula that all its rows follow and that most rows share."""
    slopes = _slopes(rows)
    all_of = [
        {*_nvidia(row), *_dnx(row), *(name for name in (slopes.get(row.rate_bps),) if name)} for row in rows
    ]
    by_rate: dict[int, list[set[str]]] = defaultdict(list)
    for row, names in zip(rows, all_of, strict=True):
        by_rate[row.rate_bps].append(names)
    whole = {rate: set.intersection(*name_sets) for rate, name_sets in by_rate.items()}
    # A rate of few rows is met by chance, so that it must be the formula of other rates or of all rows, too.
    counts = Counter(name for rate, names in whole.items() for name in names for _ in by_rate[rate])
    enough = min(ENOUGH, len(rows))
    return [_best(whole[row.rate_bps], counts, enough, len(rows)) for row in rows]


def _best(names: set[str], counts: Counter[str], enough: int, row_count: int) -> Fit | None:
    candidates = sorted(name for name in names if counts[name] >= enough)
    if not candidates:
        return None
    # A formula of the bytes says more than a slope.
    candidates = [name for name in candidates if not name.startswith(SLOPE)] or candidates
    best = max(candidates, key=lambda name: counts[name])
    others = sum(counts[name] == counts[best] for name in candidates) - 1
    return Fit(formula=best, rows=counts[best], of=row_count, others=others)


def _nvidia(row: Row) -> Iterator[str]:
    for label, chip in _chips().items():
        for lane_count in LANE_COUNTS:
            if row.xon != pipeline_reserve(chip, lane_count):
                continue
            for values in product(*PARAMETERS.values()):
                port_mtu, mtu, percent, shared = values
                profile = _profile(
                    chip,
                    rate_bps=row.rate_bps,
                    length_m=row.length_m,
                    lane_count=lane_count,
                    **dict(zip(PARAMETERS, values, strict=True)),
                )
                if profile is not None and (profile.xoff, profile.xon) == (row.xoff, row.xon):
                    pool = ", shared headroom" if shared else ""
                    yield f"NVIDIA, {label}, MTU {port_mtu}/{mtu}, {percent} % small{pool}"


@cache
def _chips() -> dict[str, Asic]:
    """Return NVIDIA's chips by name; those of the same numbers are one, with all their names."""
    alike: dict[tuple[object, ...], list[Asic]] = defaultdict(list)
    for chip in asics().values():
        if chip.generation:
            alike[chip.cell_bytes, chip.pipeline_kib, chip.generation in TILED].append(chip)
    labels = {
        key: " or ".join(chip.label.removeprefix("NVIDIA ") for chip in chips) for key, chips in alike.items()
    }
    return {labels[key]: chips[0] for key, chips in alike.items()}


@cache
def _profile(chip: Asic, **parameters: int) -> Profile | None:
    try:
        return nvidia_profile(chip, **parameters)  # type: ignore[arg-type]
    except PlanError:
        # It knows no reaction time for the rate.
        return None


def _dnx(row: Row) -> Iterator[str]:
    if row.xoff % DNX_STEP:
        return
    try:
        near = abs(dnx_xoff(rate_bps=row.rate_bps, length_m=row.length_m) - row.xoff) < DNX_STEP
    except PlanError:
        return
    if near:
        yield "DNX rows, within a step of 4,096"


def _slopes(rows: Sequence[Row]) -> dict[int, str]:
    """Return the formula whose slope the rows of a speed have, by the speed."""
    by_rate: dict[int, set[tuple[int, int]]] = defaultdict(set)
    for row in rows:
        by_rate[row.rate_bps].add((row.length_m, row.xoff))
    names_by_rate = {}
    for rate, points in by_rate.items():
        (short, minimum), (long, most) = min(points), max(points)
        if long == short:
            continue
        slope = float(Fraction(most - minimum, long - short) / (rate * PER_METRE))
        for name, factor in SLOPES.items():
            if abs(slope / factor - 1) <= NEAR:
                names_by_rate[rate] = f"{SLOPE}{factor:g}: {name}"
    return names_by_rate
