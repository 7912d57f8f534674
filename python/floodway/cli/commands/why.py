"""Definition of `floodway why`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from floodway.cli.options import Json, Python
from floodway.loading import loading

__all__ = ["command"]


def command(
    folder: Annotated[
        Path, typer.Argument(metavar="RUN", help="Folder that `run` wrote.", show_default=False)
    ],
    flow: Annotated[
        str,
        typer.Argument(
            metavar="[FLOW]",
            help="A flow_id; or the measured flow with the slowdown of a percentile, such as p99; or worst.",
        ),
    ] = "p99",
    *,
    python: Python = None,  # noqa: ARG001 (its callback has run them)
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.", show_default=False)] = False,
    json: Json = False,
) -> int:
    """Break down the completion time of one flow by cause and port.

    The scenario is run again with the same seed until the flow is complete. The parts add up to the
    completion time exactly.

    \b
    Examples:
      floodway why out/demo
      floodway why out/incast worst
      floodway why out/incast victim:h2:0 --json

    \b
    Exit codes:
      0    done
      1    the repeated run differs from the results
      2    bad usage, no such folder or flow, or a flow that was not complete
      130  interrupted by Ctrl-C
      143  interrupted by SIGTERM
    """
    with loading():
        from floodway.cli import why as asking
    return asking.why(asking.Request(folder=folder, flow=flow, quiet=quiet, json=json))
