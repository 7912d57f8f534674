"""The progress bar of runs on a terminal."""

from __future__ import annotations

import sys

from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Column

from floodway.cli.terminal import Terminal

__all__ = ["bar"]

#: Width of the bar, and maximum width of a run's name, in columns: 80 have room for the estimate, too.
BAR_WIDTH, NAME_WIDTH = 20, 20


def bar() -> Progress:
    """Return the display: percentage and bar come first, so that a narrow terminal cuts only the text."""
    console = Terminal(sys.stderr)
    return Progress(
        TextColumn("{task.percentage:>3.0f} %", markup=False, table_column=Column(width=5, no_wrap=True)),
        BarColumn(bar_width=BAR_WIDTH, table_column=Column(width=BAR_WIDTH, no_wrap=True)),
        TextColumn(
            "{task.description}",
            markup=False,
            table_column=Column(max_width=NAME_WIDTH, no_wrap=True, overflow="ellipsis"),
        ),
        TextColumn(
            "{task.fields[state]}",
            markup=False,
            table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis"),
        ),
        console=console,
        expand=True,
        transient=True,
        disable=not console.is_terminal,
    )
