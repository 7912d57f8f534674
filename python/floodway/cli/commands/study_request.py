"""Options that `study` and `reproduce` share, as a request."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from floodway.cli import options
from floodway.cli.pictures import picture_options
from floodway.common.loading import loading

if TYPE_CHECKING:
    from collections.abc import Callable

    from floodway.cli import study as studying

__all__ = ["with_study_request"]


def with_study_request(*, out: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command the options that `study` and `reproduce` share; it gets them as its `request`.

    Parameters
    ----------
    out
        The folder of runs and report without `--out`, as help shows it.
    """
    shared = (
        options.quick,
        options.seeds,
        options.jobs,
        click.option(
            "--out",
            type=click.Path(path_type=Path),
            metavar="DIR",
            help="Folder of runs and report.",
            show_default=out,
        ),
        options.cluster,
        options.shard_text,
        options.report,
        options.slurm,
        options.status,
        options.also_formats,
        options.width,
        options.font_size,
        options.log,
        options.title,
        options.no_note,
        options.run_again,
        options.quiet,
        options.json,
        options.full,
    )

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        @wraps(command)
        def called(**values: Any) -> int:  # noqa: ANN401 (the values of options)
            request = _request(**{name: values.pop(name) for name in list(values) if name in NAMES})
            return command(request=request, **values)

        for option in reversed(shared):
            called = option(called)
        return called

    return decorate


#: Names of the values of these options.
NAMES = frozenset(
    (
        *("quick", "seeds", "jobs", "out", "cluster", "shard", "report", "slurm", "status", "force", "quiet"),
        *("json", "full", "form", "width", "font_size", "log", "title", "no_note"),
    )
)


def _request(  # noqa: PLR0913 (one argument an option)
    *,
    seeds: str | None,
    shard: str | None,
    form: str | None,
    width: float | None,
    font_size: float | None,
    log: str | None,
    title: str | None,
    no_note: bool,
    **same: Any,  # noqa: ANN401 (the values of other options)
) -> studying.Request:
    with loading():
        from floodway.cli import study as studying
        from floodway.cli.inputs import shard_of
    pictures = picture_options(form, width, font_size, log, title, note=not no_note)
    return studying.Request(seeds=studying.seeds_of(seeds), shard=shard_of(shard), pictures=pictures, **same)
