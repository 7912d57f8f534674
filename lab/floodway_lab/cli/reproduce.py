"""`floodway reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from floodway.cli.study import run_all
from floodway_lab.study.named_studies import studies_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway.cli.study import Request
    from floodway.study import Study

__all__ = ["reproduce"]


def reproduce(names: Sequence[str], request: Request) -> int:
    """Run the figures of papers, all those of a paper in one folder; returns the exit code."""
    selection = studies_of(names)
    if request.out is not None and len(selection) > 1:
        raise click.BadParameter(f"is one folder, and {len(selection)} papers are given", param_hint="--out")
    return run_all(
        (
            (_title(name, studies), studies, request.out or Path("out", "reproduce", name))
            for name, studies in selection
        ),
        request,
    )


def _title(name: str, studies: Sequence[Study]) -> str:
    papers = list(dict.fromkeys(study.paper for study in studies if study.paper))
    return papers[0] if len(papers) == 1 else name
