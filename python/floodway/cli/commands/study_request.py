"""Options that `study` and `reproduce` share, as a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.loading import loading

if TYPE_CHECKING:
    from pathlib import Path

    from floodway.cli import study as studying
    from floodway.cli.pictures import PictureOptions

__all__ = ["study_request"]


def study_request(  # noqa: PLR0913 (one argument an option)
    *,
    out: Path | None,
    jobs: int | None,
    seeds: str | None,
    quick: bool,
    cluster: str | None,
    shard: str | None,
    report: bool,
    slurm: bool,
    status: bool,
    force: bool,
    quiet: bool,
    json: bool,
    full: bool,
    pictures: PictureOptions,
) -> studying.Request:
    """Return the options that `study` and `reproduce` share."""
    with loading():
        from floodway.cli import study as studying
        from floodway.cli.inputs import shard_of
    return studying.Request(
        pictures=pictures,
        out=out,
        jobs=jobs,
        seeds=studying.seeds_of(seeds),
        quick=quick,
        cluster=cluster,
        shard=shard_of(shard),
        report=report,
        slurm=slurm,
        status=status,
        force=force,
        quiet=quiet,
        json=json,
        full=full,
    )
