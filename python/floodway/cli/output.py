"""Output of the command line: every printed text passes through here, so that none controls the terminal."""

from __future__ import annotations

import click

from floodway.common.names import printable

__all__ = ["echo", "printable"]


def echo(text: str, *, err: bool = False) -> None:
    """Print a text to stdout or stderr.

    Parameters
    ----------
    text
        A line or several, or a JSON document.
    err
        To stderr.
    """
    click.echo(printable(text), err=err)
