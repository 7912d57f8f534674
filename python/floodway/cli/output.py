"""Output of the command line, without characters that control the terminal."""

from __future__ import annotations

import click

from floodway.common.names import printable

__all__ = ["echo", "printable"]


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
