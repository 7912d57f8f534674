"""The chosen look of pictures: width, font size, title, logarithmic axes, note.

Pictures are laid out for letters of 10 points. Other sizes scale the whole layout, so that a narrow picture
with small letters has as much room as a wide one with large letters.
"""

from __future__ import annotations

import contextlib
from contextvars import ContextVar
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Literal

from floodway.common.errors import PlotError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["LAYOUT_PT", "Look", "current", "heading", "look", "panel_width"]

#: Size of the letters that layouts are designed for, in points.
LAYOUT_PT = 10.0
#: Allowed widths of a picture in inches, and sizes of letters in points.
WIDTHS_IN, FONTS_PT = (2.0, 40.0), (4.0, 40.0)
#: Minimum width of a layout, in inches with letters of 10 points: narrower ones have no room for axes.
NARROWEST = 3.0
#: Minimum width of a panel, in the same unit.
LEAST_PANEL = 1.0
#: Letters of a title per inch of the layout.
TITLE_LETTERS = 10.5


@dataclass(frozen=True, kw_only=True)
class Look:
    """The chosen look of a picture; None is the picture's default.

    Attributes
    ----------
    width_in
        Width in inches.
    font_pt
        Size of the letters of axes' labels, in points; others are in proportion.
    title
        Title in place of the picture's own; empty for no title.
    log
        Logarithmic axes, for pictures whose axes have numbers.
    note
        Whether the explanation of widths, bars and marks is below the picture.
    """

    width_in: float | None = None
    font_pt: float | None = None
    title: str | None = None
    log: tuple[Literal["x", "y"], ...] | None = None
    note: bool = True

    @property
    def scale(self) -> float:
        """Factor for lengths of the layout."""
        return 1.0 if self.font_pt is None else self.font_pt / LAYOUT_PT

    def wide(self, usual: float) -> float:
        """Return the width of the layout in inches for letters of 10 points, given its usual width."""
        return usual if self.width_in is None else self.width_in / self.scale


_CURRENT: ContextVar[Look] = ContextVar("look", default=Look())  # noqa: B039 (it is frozen)


def current() -> Look:
    """Return the look that is in effect."""
    return _CURRENT.get()


@contextlib.contextmanager
def look(
    *,
    width_in: float | None = None,
    font_pt: float | None = None,
    title: str | None = None,
    log: Sequence[Literal["x", "y"]] | None = None,
    note: bool = True,
) -> Iterator[Look]:
    """Set the look of pictures that are drawn inside the `with` block.

    Parameters
    ----------
    width_in
        Width in inches, 2 to 40. Default: 7, and more for results side by side.
    font_pt
        Size of letters in points, 4 to 40. Default: 10.
    title
        Title in place of each picture's own; empty for no title.
    log
        Logarithmic axes: `"x"`, `"y"`, both or an empty list, for completion times, slowdown, series and, in
        studies, bars (`"y"`), lines and distributions. Default: those of each picture.
    note
        Whether the explanation of widths, bars and marks is below the picture.

    Yields
    ------
    Look
        The look that is in effect.

    Raises
    ------
    PlotError
        If a width or a size is out of its range, or the one leaves no room for the other, or a title has
        characters that cannot be shown.

    Examples
    --------
    >>> with look(width_in=3.4, font_pt=8) as chosen:
    ...     round(chosen.wide(7.0), 2)
    4.25
    """
    for name, value, (minimum, maximum) in (
        ("width_in", width_in, WIDTHS_IN),
        ("font_pt", font_pt, FONTS_PT),
    ):
        if value is not None and not minimum <= value <= maximum:
            text = f"{name}: {value:g} is not between {minimum:g} and {maximum:g}"
            raise PlotError(text, key=name, given=f"{value:g}")
    unknown = next((axis for axis in log or () if axis not in {"x", "y"}), None)
    if unknown is not None:
        raise PlotError(f"log: {unknown!r} is not an axis; allowed: x, y", key="log", given=unknown)
    hidden = next((character for character in title or "" if not character.isprintable()), None)
    if hidden is not None:
        text = f"title: it has the character U+{ord(hidden):04X}, which cannot be shown"
        raise PlotError(text, key="title", given=title)
    chosen = Look(
        width_in=width_in, font_pt=font_pt, title=title, log=None if log is None else tuple(log), note=note
    )
    if width_in is not None and chosen.wide(0.0) < NARROWEST:
        minimum = NARROWEST * chosen.scale
        text = f"width_in: {width_in:g} is too narrow for letters of {font_pt or LAYOUT_PT:g} points"
        raise PlotError(f"{text}; at least {minimum:.2g}", key="width_in", given=f"{width_in:g}")
    before = _CURRENT.set(chosen)
    try:
        yield chosen
    finally:
        _CURRENT.reset(before)


def panel_width(wide: float, *, around: float, panels: int) -> float:
    """Return the width of each of several panels side by side, in inches, for the width of their layout.

    Raises
    ------
    PlotError
        If there is no room for them.
    """
    panel = (wide - around) / panels
    if panel < LEAST_PANEL:
        scale = current().scale
        minimum = (around + LEAST_PANEL * panels) * scale
        text = f"width_in: {wide * scale:.3g} leaves the panels no room; at least {minimum:.3g}"
        raise PlotError(text, key="width_in", given=f"{wide * scale:.3g}")
    return panel


def heading(title: str, *, usual: float) -> str:
    """Return the title of a picture, in lines that fit its width."""
    chosen = current()
    text = title if chosen.title is None else chosen.title.replace("$", r"\$")
    letters = int(chosen.wide(usual) * TITLE_LETTERS)
    return "\n".join("\n".join(wrap(line, letters)) for line in text.splitlines())
