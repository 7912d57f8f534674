"""Numbers of a comparison as text, with all digits or rounded for reading."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from floodway.common.documents import reading
from floodway.results.percentiles import MARK, few_noted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from floodway.comparison.comparison import Comparison
    from floodway.comparison.metrics import Cell, Row

__all__ = [
    "cell_text",
    "change_text",
    "notes",
    "percent_text",
    "rounds_to_zero",
    "value_text",
]


def cell_text(row: Row, cell: Cell) -> tuple[str, str]:
    """Return a number as text with all digits; and its difference to the first variant, and its spread."""
    return _value(row, cell), "; ".join(filter(None, (_change(row, cell), _spread(row, cell))))


def value_text(row: Row, cell: Cell) -> str:
    """Return a number with three digits and its unit; the number of few flows is in the table's note."""
    if cell.mean is None:
        return _value(row, cell)
    few = f" {MARK}" if cell.few is not None else ""
    return f"{reading(row.key, cell.mean)}{' *' if cell.finished_only else ''}{few}"


def change_text(row: Row, cell: Cell) -> str:
    """Return a difference to the first variant with two digits, and its interval; `equal` if exact."""
    if cell.change is None:
        return ""
    if cell.change == 0 and not cell.reach:
        return "equal"
    unit = "%" if row.change_unit == "percent" else "points"
    sign = "" if rounds_to_zero(cell) else "-" if cell.change < 0 else "+"
    reach = "" if cell.reach is None else f" ± {percent_text(cell.reach)}"
    return f"{sign}{percent_text(cell.change)}{reach} {unit}"


def percent_text(size: float) -> str:
    """Return the size of a difference with two digits, or all before the point; 100 only if it is that.

    Examples
    --------
    >>> percent_text(-9.96), percent_text(54.3), percent_text(-99.98), percent_text(1234.6)
    ('10.0', '54', '99.9', '1,235')
    """
    if 99.5 <= abs(size) < 100:  # noqa: PLR2004 (less than all, which rounds to all)
        return f"{math.floor(abs(size) * 10) / 10:.1f}"
    return f"{abs(size):,.0f}" if abs(size) >= 10 else f"{abs(size):.1f}"  # noqa: PLR2004 (two digits)


def rounds_to_zero(cell: Cell) -> bool:
    """Return whether a difference is rounded to zero."""
    return cell.change is not None and float(percent_text(cell.change).replace(",", "")) == 0


def notes(comparison: Comparison) -> Iterator[str]:
    """Yield notes on the numbers that the table shows."""
    keys = {row.key for row in comparison.rows}
    cells = [cell for row in comparison.rows for cell in row.cells]
    link = comparison.link
    if link is not None and "link_loaded_gbps" in keys:
        yield (
            f"{link.name} is the {link.kind}; loaded: the buckets of time in which a full "
            "packet or more waited for it, on average; its queue may be empty for a part of such a bucket"
        )
    if "link_loaded_paused_percent" in keys:
        yield "paused while loaded: share of the loaded time during which PFC blocked a class"
    goodput = next((row for row in comparison.rows if row.key == "goodput_gbps"), None)
    if goodput is not None and any(cell.change is None for cell in goodput.cells[1:]):
        yield (
            "goodput: from the first to the last start of a measured flow; no difference is given between "
            "variants in which all finished, since all that was offered arrived in both"
        )
    yield from (extrapolation.sentence() for extrapolation in comparison.extrapolated)
    if any(cell.few is not None for cell in cells):
        yield few_noted("seed")
    if any(cell.finished_only for cell in cells):
        yield "* of the finished flows only; unfinished ones rank above every finished one"
    if any(len(cell.values) > 1 for cell in cells):
        yield (
            "over several seeds: the mean, and from the smallest to the largest; from three seeds on, a "
            "difference has its 95 % confidence interval, and one whose interval holds zero is no finding"
        )


def _value(row: Row, cell: Cell) -> str:
    if cell.mean is None:
        without = len(cell.values) - len(cell.present_values)
        several = f" in {without} of {len(cell.values)} seeds" if len(cell.values) > 1 else ""
        return f"{row.missing}{several}"
    # The mean of whole numbers is not whole.
    digits = max(row.digits, 1) if any(value != cell.mean for value in cell.present_values) else row.digits
    few = f" {MARK}{cell.few:,}" if cell.few is not None else ""
    return f"{cell.mean:,.{digits}f}{' *' if cell.finished_only else ''}{few}"


def _spread(row: Row, cell: Cell) -> str:
    if cell.mean is None or min(cell.present_values) == max(cell.present_values):
        return ""
    return f"{min(cell.present_values):,.{row.digits}f} to {max(cell.present_values):,.{row.digits}f}"


def _change(row: Row, cell: Cell) -> str:
    if cell.change is None:
        return ""
    unit = "%" if row.change_unit == "percent" else "points"
    reach = "" if cell.reach is None else f" ± {cell.reach:,.1f}"
    return f"{cell.change:+z,.1f}{reach} {unit}"
