"""Common parts of `floodway validate` for all kinds of folders: refused options, progress, interruption."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from floodway.cli.output import echo
from floodway.cli.show_document import print_answer
from floodway.cli.watch import WatchAll
from floodway.common.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from floodway.common.documents import Document
    from floodway_lab.cli.validate import Request

__all__ = ["conducted", "print_validation", "refuse"]


class Ended(Protocol):
    """The result of a validation."""

    @property
    def complete(self) -> bool:
        """Whether all of it has run."""


Validation = TypeVar("Validation", bound=Ended)


def refuse(request: Request, options: Iterable[tuple[str, bool]], contents: str) -> None:
    """Refuse options of cases of the HPCC simulator; `contents` is what the folder has instead.

    Parameters
    ----------
    options
        Options, and whether each was given.

    Raises
    ------
    floodway.InputError
        One was given.
    """
    for option, is_set in options:
        if is_set:
            message = f"{option} is for cases of the HPCC simulator, and {request.folder} has {contents}"
            raise InputError(message, key=option)


def conducted(
    request: Request,
    validate: Callable[..., Validation],
    *,
    unfinished: str = "interrupted",
    **options: Any,  # noqa: ANN401 (what a kind of folder needs besides)
) -> Validation | None:
    """Run a validation and show its progress; nothing where it was interrupted, which `unfinished` says."""
    try:
        with WatchAll(quiet=request.quiet) as watch:
            validation = validate(
                request.folder,
                jobs=request.jobs,
                only=request.only,
                out=request.out,
                force=request.force,
                on_progress=watch.update,
                **options,
            )
    except KeyboardInterrupt:
        # Before the runs or after them; during them, Ctrl-C ends them and raises nothing.
        echo("interrupted", err=True)
        return None
    if not validation.complete:
        echo(unfinished, err=True)
        return None
    return validation


def print_validation(request: Request, answer: Document, written: Iterable[Path] = ()) -> None:
    """Print what was found, and where its runs and the files that were written are."""
    answer = replace(answer, data={"results": str(request.out), **answer.data})
    print_answer(answer, json_=request.json, quiet=request.quiet, full=request.full)
    if not (request.json or request.quiet):
        echo(f"runs and numbers: {request.out}/")
        for file in written:
            echo(str(file))
