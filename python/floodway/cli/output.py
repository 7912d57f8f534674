"""Output of the command line, without characters that control the terminal, and its exit codes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from floodway.common.names import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "DONE",
    "FAILED",
    "INTERRUPTED",
    "READER_GONE",
    "TERMINATED",
    "USAGE",
    "echo",
    "echo_json",
    "errors",
    "printable",
    "warnings",
]


def echo(text: str, *, err: bool = False) -> None:
    """Print a text to stdout or stderr.

    Parameters
    ----------
    text
        One or more lines, or a JSON document.
    err
        Whether to print to stderr.
    """
    click.echo(printable(text), err=err)


def echo_json(value: object) -> None:
    """Print a value as a JSON document."""
    echo(json.dumps(value, indent=2, ensure_ascii=False))


def warnings(texts: Iterable[str]) -> None:
    """Print warnings to stderr, one a line."""
    for text in texts:
        echo(f"warning: {text}", err=True)


def errors(*texts: str) -> None:
    """Print errors to stderr, one a line."""
    for text in texts:
        echo(f"error: {text}", err=True)


#: Done.
DONE = 0
#: The run failed.
FAILED = 1
#: Bad usage or scenario.
USAGE = 2
#: Ended by Ctrl-C.
INTERRUPTED = 130
#: The reader of stdout has ended, as `head` does: the code that a shell shows after SIGPIPE.
READER_GONE = 141
#: Ended by SIGTERM.
TERMINATED = 143
