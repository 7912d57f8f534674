"""Options that `study` and `reproduce` share, as a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from floodway.cli import options
from floodway.cli.pictures import picture_options
from floodway.common.loading import loading

if TYPE_CHECKING:
    from floodway.cli.study import Request

__all__ = ["study_options", "study_request"]


def study_options(*, out: str) -> options.Option:
    """Define the options that `study` and `reproduce` share; their values are for `study_request`.

    Parameters
    ----------
    out
        The folder of runs and report without `--out`, as help shows it.
    """
    return options.together(
        options.quick,
        options.seeds,
        options.jobs,
        options.out("DIR", "Folder of runs and report.", out),
        options.cluster,
        options.shard,
        options.report,
        options.slurm,
        options.status,
        options.pictures("Also write pictures as pdf, svg or both.", "png only"),
        click.option("--force", is_flag=True, help="Run everything again."),
        options.quiet,
        options.json,
        options.full,
    )


def study_request(values: dict[str, Any]) -> Request:
    """Return the request of a command with these options."""
    with loading():
        from floodway.cli import study as studying
    return studying.Request(pictures=picture_options(values), **values)
