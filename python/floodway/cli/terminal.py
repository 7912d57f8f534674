"""A console that prints tables and lines."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console

from floodway.cli.output import printable
from floodway.simulation.ranks import processes

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["Terminal"]


class Terminal(Console):
    """A console that prints tables and lines in the same way.

    Parameters
    ----------
    stream
        Output stream. Default: stdout.
    width
        Columns of the output if it is not a terminal.
    """

    def __init__(self, stream: TextIO | None = None, *, width: int | None = None) -> None:
        # mpirun gives the first of several processes a terminal of its own, wherever its output goes.
        is_terminal = False if processes() > 1 else None
        super().__init__(
            file=stream or sys.stdout, force_terminal=is_terminal, highlight=False, markup=False, emoji=False
        )
        if width is not None and not self.is_terminal:
            self.width = width

    def render_str(self, text: str, **how: Any) -> Text:  # noqa: ANN401 (the library's own)
        """Return a text for a cell or a line, without characters that control the terminal."""
        return super().render_str(printable(text), **how)
