"""Definition of `floodway explain`: arguments, options and help."""

from __future__ import annotations

from typing import Annotated

import typer

from floodway.cli.completions import named
from floodway.cli.options import Json, Python
from floodway.loading import loading

__all__ = ["command"]


def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A mechanism, topology, workload, distribution, model, chip, paper or term; SLOT.NAME if "
            "two share a name.",
            show_default=False,
            autocompletion=named,
        ),
    ],
    *,
    python: Python = None,  # noqa: ARG001 (its callback has run them)
    json: Json = False,
) -> int:
    """Describe a mechanism, topology or workload: parameters, units, defaults, sources, sizing, differences.

    \b
    Examples:
      floodway explain bifrost
      floodway explain notification.dcqcn
      floodway explain fat-tree
      floodway explain poisson
      floodway explain TH4
      floodway explain paper.swing
    """
    with loading():
        from floodway.cli import find as finding
    return finding.explain(name, json_=json)
