"""The command `floodway verify`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from floodway.cli.output import DONE, FAILED, errors
from floodway.cli.show_document import print_answer
from floodway.common.documents import Cell, Document, Section, Table, size_text
from floodway.common.documents.model import fields_of
from floodway.common.errors import OutputError
from floodway.results.folders import STUDY_FILE
from floodway.results.quantities import counted
from floodway.results.verification import not_covered, verified_all

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from floodway.results.verification import Verified

__all__ = ["verify"]

#: Reason for which results of an earlier version cannot be verified.
NO_DIGESTS = "cannot be verified: an earlier version wrote it without digests"


def verify(folders: Sequence[Path], *, quiet: bool, json_: bool, full: bool) -> int:
    """Compare results with their digests, print how many are unchanged, and return the exit code."""
    by_folder = {folder: _runs_of(folder) for folder in folders}
    runs = [run for runs in by_folder.values() for run in runs]
    print_answer(_document(by_folder), json_=json_, quiet=quiet, full=full)
    for run in runs:
        errors(*(f"{run.folder}: {fault}" for fault in (run.faults if run.has_digests else (NO_DIGESTS,))))
    return DONE if all(map(_is_unchanged, runs)) else FAILED


def _runs_of(folder: Path) -> list[Verified]:
    runs = list(verified_all(folder))
    if not runs:
        raise OutputError(str(folder), "holds no run that has ended")
    return runs


def _is_unchanged(run: Verified) -> bool:
    return run.has_digests and not run.faults


def _document(by_folder: Mapping[Path, Sequence[Verified]]) -> Document:
    """Return the document: the number of unchanged runs, and a row for each run, changed ones first."""
    runs = [run for runs in by_folder.values() for run in runs]
    changed = [run for run in runs if not _is_unchanged(run)]
    rows = Table(
        columns=("run", "state", "files", "size"),
        rows=tuple(map(_row, sorted(runs, key=_is_unchanged))),
        words=frozenset({"state"}),
    )
    return Document(
        title=f"Compared with their digests: {', '.join(map(str, by_folder))}",
        answer=_answer(runs, changed),
        tone="bad" if changed else "good",
        more=tuple(_left_out(by_folder)),
        table=rows.shortened("more runs"),
        sections=(Section(title="All runs", tables=(rows,)),),
        data={
            "runs": [
                _data(run, left_out=not_covered(folder)) for folder, runs in by_folder.items() for run in runs
            ]
        },
    )


def _answer(runs: Sequence[Verified], changed: Sequence[Verified]) -> str:
    if changed:
        return f"Of {counted(len(runs), 'run')}, {len(changed):,} changed or cannot be verified."
    size = size_text(sum(run.bytes for run in runs))
    subject = "The run is" if len(runs) == 1 else f"All {len(runs):,} runs are"
    return f"{subject} unchanged: {counted(sum(run.files for run in runs), 'file')}, {size}."


def _left_out(by_folder: Mapping[Path, object]) -> Iterator[str]:
    """Yield files without digests, with the command that writes them again."""
    for folder in by_folder:
        if names := not_covered(folder):
            again = (
                "the same study makes them again from the runs"
                if (folder / STUDY_FILE).is_file()
                else "the same comparison with --force makes them again, with the runs"
            )
            yield f"{folder}: not covered: {names}; {again}"


def _row(run: Verified) -> tuple[Cell | str, ...]:
    if _is_unchanged(run):
        return str(run.folder), "unchanged", f"{run.files:,}", size_text(run.bytes)
    state = "changed" if run.has_digests else "without digests"
    return str(run.folder), Cell(text=state, tone="bad"), "-", "-"


def _data(run: Verified, *, left_out: str) -> dict[str, Any]:
    return {
        "folder": str(run.folder),
        "as_written": _is_unchanged(run),
        "has_digests": run.has_digests,
        "faults": list(run.faults),
        **fields_of(run, "files", "bytes"),
        "not_covered": left_out or None,
    }
