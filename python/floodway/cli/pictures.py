"""Options of pictures, the same for `plot`, `study` and `reproduce`: formats and appearance."""

from __future__ import annotations

import contextlib
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, cast

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

    @contextlib.contextmanager
    def look(self) -> Iterator[None]:
        """Draw with these options, inside a `with` block."""
        # Imported here: drawing takes as long to import as everything else.
        from floodway.plot import look  # noqa: PLC0415

        arguments = asdict(self)
        del arguments["formats"]
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(look(**arguments))
            except PlotError as error:
                message = str(error).removeprefix(f"{error.key}: ")
                raise click.BadParameter(message, param_hint=OPTIONS.get(error.key or "")) from error
            yield


def picture_options(values: dict[str, Any]) -> PictureOptions:
    """Take the options of pictures out of the values of a command.

    A look that cannot be drawn is an error before the first run.
    """
    chosen = PictureOptions(**{field.name: values.pop(field.name) for field in fields(PictureOptions)})
    if replace(chosen, formats=()) != PictureOptions():
        with chosen.look():
            pass
    return chosen


def formats_of(text: str | None) -> tuple[Format, ...]:
    """Read `--format`: one or more formats, separated by commas."""
    if text is None:
        return ()
    names = _choices(text, kind="a format", allowed=FORMATS, option="--format")
    if not names:
        raise click.BadParameter(f"no format is given; allowed: {', '.join(FORMATS)}", param_hint="--format")
    return cast("tuple[Format, ...]", names)


def axes_of(text: str | None) -> tuple[Literal["x", "y"], ...] | None:
    """Read `--log`: axes separated by commas, or `none`."""
    if text is None or text.strip() == "none":
        return None if text is None else ()
    names = _choices(text, kind="an axis", allowed=("x", "y", "none"), option="--log")
    if "none" in names or not names:
        raise click.BadParameter(f"{text!r} is not a list of axes such as x,y, nor none", param_hint="--log")
    return cast("tuple[Literal['x', 'y'], ...]", names)


def _choices(text: str, *, kind: str, allowed: tuple[str, ...], option: str) -> tuple[str, ...]:
    """Split names at commas; one that is not allowed is an error of the option."""
    names = dict.fromkeys(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in allowed:
            message, _ = not_a_choice(name, noun=kind, allowed=allowed)
            raise click.BadParameter(message, param_hint=option)
    return tuple(names)
