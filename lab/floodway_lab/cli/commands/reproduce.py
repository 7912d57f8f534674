"""Definition of `floodway reproduce`: arguments, options and help."""

from __future__ import annotations

from typing import Any

import click

from floodway.cli import options
from floodway.cli.commands.study import study_options, study_request
from floodway.cli.options import beginning
from floodway.common.loading import loading

__all__ = ["command"]


def _papers(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Return the papers with studies whose names begin so."""
    from floodway.common.errors import UnknownNameError
    from floodway.study.format.read import papers

    try:
        return beginning(incomplete, (paper.name for paper in papers()))
    except UnknownNameError:
        return []


@click.command(cls=options.GroupedCommand)
@click.argument(
    "papers",
    nargs=-1,
    required=True,
    metavar="PAPER [FIGURE]...",
    help="A paper and the figures to reproduce (by default all), then further papers.",
    shell_complete=_papers,
)
@study_options(out="out/reproduce/PAPER")
def command(*, papers: tuple[str, ...], **values: Any) -> int:
    """Reproduce the figures of papers and compare them with the published numbers.

    The papers' studies are in studies/; `floodway list studies` shows them.

    \b
    Examples:
      floodway reproduce swing bifrost --quick
      floodway reproduce swing 13a 14
      floodway reproduce bifrost --status

    \b
    Exit codes:
      0    done
      1    a run failed; the report and the results of the other runs are written. Or results could not be
           written; completed runs are kept
      2    bad usage, study or scenario, or with --report missing runs; nothing has run
      130  interrupted by Ctrl-C; completed runs are kept
      143  interrupted by SIGTERM; as 130
    """
    request = study_request(values)
    with loading():
        from floodway_lab.cli.reproduce import reproduce
    return reproduce(papers, request)
