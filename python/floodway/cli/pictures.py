"""Options of pictures, the same for `plot`, `study` and `reproduce`: formats and appearance."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

import click

from floodway.common.errors import PlotError
from floodway.common.names import not_a_choice

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["FORMATS", "Format", "Kind", "PictureOptions", "axes_of", "formats_of", "picture_options"]

Format = Literal["png", "pdf", "svg"]
#: Kinds of pictures of `plot`.
Kind = Literal["fct", "slowdown", "series", "heatmap", "ports", "region", "shares", "timeline", "busbw"]
FORMATS: tuple[Format, ...] = ("png", "pdf", "svg")
#: The options of a picture's look, by the arguments of `floodway.plot.look`.
OPTIONS = {"width_in": "--width", "font_pt": "--font-size", "title": "--title"}


@dataclass(frozen=True, kw_only=True)
class PictureOptions:
    """The options of pictures.

    Attributes
    ----------
    formats
        Formats of their files; empty for the default.
    width_in, font_pt, title, log, note
        Arguments of `floodway.plot.look`.
    """

    formats: tuple[Format, ...] = ()
    width_in: float | None = None
    font_pt: float | None = None
    title: str | None = None
    log: tuple[Literal["x", "y"], ...] | None = None
    note: bool = True

    @property
    def is_chosen(self) -> bool:
        """Whether any argument of the look is set."""
        values = (self.width_in, self.font_pt, self.title, self.log)
        return not self.note or any(value is not None for value in values)

    @contextlib.contextmanager
    def look(self) -> Iterator[None]:
        """Draw with these options, inside a `with` block."""
        # Imported here: drawing takes as long to import as everything else.
        from floodway.plot import look  # noqa: PLC0415

        chosen = look(
            width_in=self.width_in, font_pt=self.font_pt, title=self.title, log=self.log, note=self.note
        )
        try:
            chosen.__enter__()
        except PlotError as error:
            message = str(error).removeprefix(f"{error.key}: ")
            raise click.BadParameter(message, param_hint=OPTIONS.get(error.key or "")) from error
        try:
            yield
        finally:
            chosen.__exit__(None, None, None)


def picture_options(  # noqa: PLR0913 (one argument an option)
    form: str | None,
    width: float | None,
    font_size: float | None,
    log: str | None,
    title: str | None,
    *,
    note: bool,
) -> PictureOptions:
    """Return the options of pictures; a look that cannot be drawn is an error before the first run."""
    chosen = PictureOptions(
        formats=formats_of(form),
        width_in=width,
        font_pt=font_size,
        log=axes_of(log),
        title=title,
        note=note,
    )
    if chosen.is_chosen:
        with chosen.look():
            pass
    return chosen


def formats_of(text: str | None) -> tuple[Format, ...]:
    """Read `--format`: one or more formats, separated by commas."""
    names = _apart(text) if text is not None else []
    for name in names:
        _refuse_unknown(name, kind="a format", allowed=FORMATS, option="--format")
    if text is not None and not names:
        raise click.BadParameter(f"no format is given; allowed: {', '.join(FORMATS)}", param_hint="--format")
    return cast("tuple[Format, ...]", tuple(dict.fromkeys(names)))


def axes_of(text: str | None) -> tuple[Literal["x", "y"], ...] | None:
    """Read `--log`: axes separated by commas, or `none`."""
    if text is None:
        return None
    names = [] if text.strip() == "none" else _apart(text)
    for name in names:
        _refuse_unknown(name, kind="an axis", allowed=("x", "y", "none"), option="--log")
    if "none" in names or (not names and text.strip() != "none"):
        raise click.BadParameter(f"{text!r} is not a list of axes such as x,y, nor none", param_hint="--log")
    return cast("tuple[Literal['x', 'y'], ...]", tuple(dict.fromkeys(names)))


def _apart(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _refuse_unknown(name: str, *, kind: str, allowed: tuple[str, ...], option: str) -> None:
    if name not in allowed:
        message, _ = not_a_choice(name, noun=kind, allowed=allowed)
        raise click.BadParameter(message, param_hint=option)
