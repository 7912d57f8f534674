"""The progress bar of runs on a terminal."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Column

from floodway.cli.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["bar", "counting"]

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


@contextlib.contextmanager
def counting(what: str, noun: str, *, visible: bool) -> Iterator[Callable[[int, int], None]]:
    """Show a bar in a `with` block, whose function takes how many of how many are done.

    Parameters
    ----------
    what, noun
        Name of the work, and of the things that are counted.
    visible
        Whether the bar is shown.
    """
    with bar() as display:
        task = display.add_task(what, total=None, state="", visible=visible)

        def done(count: int, total: int) -> None:
            display.update(task, completed=count, total=total, state=f"{count} of {total} {noun}")

        yield done
