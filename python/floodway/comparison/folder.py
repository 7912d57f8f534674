"""The folder of a comparison: one folder per run, the numbers, the pictures and the page.

`compare.json` is there from the start and lists which runs are planned, each with the key of what decides it,
and which have ended. So an interrupted comparison, even one that was killed, is recognised and continued.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from floodway.common.documents import as_json
from floodway.common.documents.model import TABLE_FILES
from floodway.common.errors import InUseError, LostResultsError, OutputError, output_errors
from floodway.common.files import read_json
from floodway.comparison.document import document
from floodway.comparison.findings import answer, first_picture
from floodway.comparison.variants import folder_names
from floodway.results.digests import RUN_FILE
from floodway.results.files import REPORT_FILE, missing_folders, remove_empty, replace_file
from floodway.results.folders import COMPARISON_FILE
from floodway.results.locks import Lock, SharedLock, is_ours, refuse_in_use, report_lock
from floodway.results.store import FILES, Reservation, remove_left_behind, rescued
from floodway.results.verification import verified
from floodway.simulation.analysis import read

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from floodway.common.documents import Picture
    from floodway.comparison.comparison import Comparison
    from floodway.simulation.analysis import Result
    from floodway.simulation.shards import Shard

__all__ = ["PAGE_FILE", "ComparisonFolder", "PlannedRun", "SharedFolder"]

PAGE_FILE = "index.html"
#: File of all numbers: a row for each number and variant.
NUMBERS_FILE = "table.csv"
_OF_A_COMPARISON = (
    PAGE_FILE,
    REPORT_FILE,
    "fct.png",
    "slowdown.png",
    "busbw.png",
    "timeline.png",
    "throughput.png",
    "buffer.png",
    "pauses.png",
    NUMBERS_FILE,
    *TABLE_FILES,
)


@dataclass(frozen=True, kw_only=True)
class PlannedRun:
    """A planned run: its variant's label, its seed, and the hash of all that decides its result."""

    variant: str
    seed: int
    key: str


class ComparisonFolder:
    """The folder of a comparison, locked and checked for writing before the first run.

    Parameters
    ----------
    folder
        Path of the folder; None writes nothing.
    planned
        Planned runs, in order.
    force
        Whether an earlier comparison, or results of a run, may be replaced; other files are kept. Without
        it, an interrupted comparison of the same runs continues.

    Attributes
    ----------
    folder
        Folder of the results: the given one, or another one after the given one could not be written.
    error_elsewhere
        Why the results are not in the given folder; None if they are.

    Raises
    ------
    OutputError
        If the folder is taken or in use, or cannot be made.
    """

    def __init__(
        self, folder: str | os.PathLike[str] | None, planned: Sequence[PlannedRun], *, force: bool
    ) -> None:
        self.folder = None if folder is None else Path(folder)
        self.error_elsewhere: OutputError | None = None
        self._planned_runs = planned
        self._folders = _folders(planned)
        self._planned = [
            {"variant": run.variant, "seed": run.seed, "folder": folder_, "key": run.key}
            for run, folder_ in zip(planned, self._folders, strict=True)
        ]
        self._ended: dict[int, Result] = {}
        self._replaces = self._made = self._marked = False
        self._held = contextlib.ExitStack()
        if self.folder is None:
            return
        with output_errors(self.folder):
            try:
                self._refuse_foreign(self.folder)
            except OutputError:
                refuse_in_use(self.folder.resolve(), shown=os.fspath(self.folder))
                raise
        with self._held:
            with output_errors(self.folder):
                self._begin(self.folder, force=force)
            self._held = self._held.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._held.close()

    @property
    def ended(self) -> dict[int, Result]:
        """Results of completed runs by their numbers; at first those of a comparison that continues."""
        return dict(self._ended)

    def read_ended(self) -> dict[int, Result]:
        """Read all completed runs, of this and of other processes."""
        if self.folder is not None:
            self._ended |= self._read_ended(self.folder)
        return self.ended

    def publish(self, number: int, result: Result) -> None:
        """Write a run's results.

        Raises
        ------
        OutputError
            If they cannot be written, here or elsewhere.
        """
        if self.folder is None:
            return
        before = dict(self._ended)
        self._ended[number] = result
        try:
            self._store(self.folder, before, number)
        except OutputError as error:
            self._move_elsewhere(self.folder, error)

    def finish(self, comparison: Comparison, *, report: bool = False, pictures: bool = True) -> None:
        """Write numbers, page, pictures if requested, and with `report` the page of runs over time.

        Raises
        ------
        OutputError
            If they cannot be written, here or elsewhere.
        """
        if self.folder is None:
            return
        from floodway.common.documents.html import page  # noqa: PLC0415 (of whole comparisons alone)
        from floodway.common.documents.table_files import table_files  # noqa: PLC0415 (as above)

        drawn = _draw(comparison) if pictures else []
        contents = {picture.file: picture.png for picture in drawn}
        comparison_document = document(comparison)
        links = {"The runs over time: network, queues, pauses, flows and their causes": REPORT_FILE}
        foot = f"floodway {comparison.results[0][0].run.versions['floodway']}"
        foot += "" if report else "; floodway compare ... --report adds a page of the runs over time"
        contents[PAGE_FILE] = page(
            comparison_document, drawn, links=links if report else {}, foot=foot
        ).encode()
        texts = {**table_files(comparison_document), NUMBERS_FILE: comparison.table.write_csv()}
        contents |= {name: text.encode() for name, text in texts.items()}
        if report:
            contents[REPORT_FILE] = self._over_time(self.folder, comparison).encode()
        whole = {"complete": True, **as_json(comparison_document), "runs": self._runs(self._ended)}
        try:
            _write_report(self.folder, contents, whole)
        except OutputError as error:
            self._move_elsewhere(self.folder, error)
            _write_report(self.folder, contents, whole)

    def _over_time(self, folder: Path, comparison: Comparison) -> str:
        """Return the page over time, of the first seed of the first variants."""
        from floodway.simulation.report import MOST_RUNS, report  # noqa: PLC0415 (where it is asked for)

        pairs = zip(comparison.labels[:MOST_RUNS], comparison.results, strict=False)
        first: dict[str, Path] = {}
        for run, name in zip(self._planned_runs, self._folders, strict=True):
            first.setdefault(run.variant, folder / name)
        runs = {label: results[0] for label, results in pairs}
        return report(runs, title=comparison.title, answer=answer(comparison), folders=first)

    def _begin(self, folder: Path, *, force: bool) -> None:
        """Take the lock, clean up after killed processes, find completed runs, and write the marker."""
        self._made = not folder.exists()
        self._held.callback(remove_empty, missing_folders(folder))
        folder.mkdir(parents=True, exist_ok=True)
        self._held.enter_context(Lock(folder.resolve(), shown=os.fspath(folder), inside=True))
        self._held.callback(self._leave, folder)
        variants = [entry for entry in folder.iterdir() if entry.is_dir() and not is_ours(entry.name)]
        for around in (folder, *variants):
            remove_left_behind(around)
        self._refuse_foreign(folder)
        if not _is_there(folder):
            self._record(folder)
            self._marked = True
        elif force:
            self._replaces = True
        else:
            self._refuse_kept(folder)
            self._ended = self._read_ended(folder)

    def _refuse_foreign(self, folder: Path) -> None:
        """Raise an error if the folder, or a run's folder in it, contains something other than results."""
        shown = os.fspath(folder)
        foreign = "holds something other than results; choose another folder"
        if not _is_taken(folder, shown=shown):
            return
        if _earlier(folder / COMPARISON_FILE) is None and not (folder / RUN_FILE).is_file():
            raise OutputError(shown, foreign)
        # A run of one seed has its variant's folder, which contains the folders of runs of several seeds.
        runs = {folder / name for name in (*_earlier_runs(folder), *self._folders)}
        for name in self._folders:
            run = folder / name
            if _is_taken(run, shown=os.fspath(run), but=runs) and not (run / RUN_FILE).is_file():
                raise OutputError(os.fspath(run), foreign)

    def _refuse_kept(self, folder: Path) -> None:
        """Raise an error if the folder has complete results, or a comparison of other runs."""
        earlier = _earlier(folder / COMPARISON_FILE)
        if earlier is None or earlier["complete"]:
            raise OutputError(
                os.fspath(folder), "holds results already; --force, in Python force=True, replaces them"
            )
        if earlier.get("planned") != self._planned:
            raise OutputError(
                os.fspath(folder),
                "holds an interrupted comparison of other runs; --force, in Python force=True, replaces it",
            )

    def _read_ended(self, folder: Path) -> dict[int, Result]:
        """Read the runs of an interrupted comparison; an incomplete one is run again."""
        results: dict[int, Result] = {}
        for number, (planned, name) in enumerate(zip(self._planned_runs, self._folders, strict=True)):
            run = folder / name
            if number not in self._ended and (run / RUN_FILE).is_file():
                verification = verified(run)
                if verification.key == planned.key and not verification.faults:
                    results[number] = read(run)
        return results

    def _store(self, folder: Path, before: dict[int, Result], number: int) -> None:
        """Write a run and report that it has ended; the first one replaces what was there."""
        if self._replaces:
            with output_errors(folder):
                _remove_stale(folder, keep=self._folders)
                _remove_report(folder)
            self._record(folder)
            self._replaces = False
        with Reservation(folder / self._folders[number], force=True) as reservation:
            reservation.publish(self._ended[number], key=self._planned_runs[number].key)
        ended = {**before, number: self._ended[number]}
        self._record(folder, ended)

    def _move_elsewhere(self, folder: Path, error: OutputError) -> None:
        """Write all runs that have ended to another folder, where the others go as well."""
        if self.error_elsewhere is not None:
            raise error

        def write(other: Path) -> None:
            before: dict[int, Result] = {}
            for number, result in self._ended.items():
                self._store(other, before, number)
                before[number] = result

        self._replaces = False
        self.folder = rescued(write, name=folder.resolve().name, error=error)
        self.error_elsewhere = error

    def _leave(self, folder: Path) -> None:
        """Remove the folder if nothing was written."""
        if self._ended and self.error_elsewhere is None:
            return
        if self._marked and not any((folder / name / RUN_FILE).is_file() for name in self._folders):
            with contextlib.suppress(OSError):
                (folder / COMPARISON_FILE).unlink()
        _remove_empty(folder, self._folders, also=self._made)

    def _record(self, folder: Path, ended: Iterable[int] = ()) -> None:
        """Write which runs are planned, and which have ended."""
        runs = self._runs(ended)
        _write_json(folder, {"complete": False, "planned": self._planned, "runs": runs})

    def _runs(self, numbers: Iterable[int]) -> list[dict[str, Any]]:
        return [self._planned[number] for number in sorted(numbers)]


class SharedFolder(ComparisonFolder):
    """The folder of a comparison whose runs several processes share.

    Nothing in it is replaced. The runs of this process are locked until its end, so that no other process
    executes them.

    Parameters
    ----------
    folder, planned
        As for `ComparisonFolder`.
    shard
        Share of this process.

    Attributes
    ----------
    shard_runs
        Numbers of the runs that this process executes: the missing ones of its shard.

    Raises
    ------
    OutputError
        If the folder holds something else, is in use by a process that does not share it, or cannot be made.
    """

    def __init__(
        self, folder: str | os.PathLike[str], planned: Sequence[PlannedRun], *, shard: Shard
    ) -> None:
        self._shard = shard
        self._places: dict[int, Reservation] = {}
        self.shard_runs: Sequence[int] = ()
        super().__init__(folder, planned, force=False)

    def finish(self, comparison: Comparison, *, report: bool = False, pictures: bool = True) -> None:
        """Write the numbers, the page and the pictures, unless another process is writing the same.

        Raises
        ------
        OutputError
            If they cannot be written.
        """
        assert self.folder is not None  # noqa: S101 (as it was made)
        with contextlib.suppress(InUseError), report_lock(self.folder, shown=""):
            remove_left_behind(self.folder)
            super().finish(comparison, report=report, pictures=pictures)

    def _begin(self, folder: Path, *, force: bool) -> None:  # noqa: ARG002 (nothing is replaced)
        """Share the lock, write the marker, and lock the runs that are missing of this shard's."""
        self._held.callback(remove_empty, missing_folders(folder))
        folder.mkdir(parents=True, exist_ok=True)
        self._held.enter_context(SharedLock(folder.resolve(), shown=os.fspath(folder), inside=True))
        self._refuse_foreign(folder)
        if _is_there(folder):
            self._refuse_others(folder)
        else:
            self._record(folder)
        for number in self._shard.of(range(len(self._planned_runs))):
            with contextlib.suppress(InUseError):
                self._places[number] = self._held.enter_context(
                    Reservation(folder / self._folders[number], force=True)
                )
        # Runs that another process has completed by now are not repeated.
        self._ended = self._read_ended(folder)
        self.shard_runs = [number for number in self._places if number not in self._ended]

    def _refuse_others(self, folder: Path) -> None:
        """Raise an error if the folder has a comparison of other runs."""
        earlier = _earlier(folder / COMPARISON_FILE)
        if earlier is None or earlier.get("planned", earlier["runs"]) != self._planned:
            raise OutputError(os.fspath(folder), "holds a comparison of other runs; choose another folder")

    def _store(self, folder: Path, before: dict[int, Result], number: int) -> None:  # noqa: ARG002 (as above)
        self._places[number].publish(self._ended[number], key=self._planned_runs[number].key)

    def _move_elsewhere(self, folder: Path, error: OutputError) -> None:  # noqa: ARG002 (as above)
        """Raise the error: elsewhere, no other process would find the results."""
        raise LostResultsError(error.path, error.reason) from error


def _folders(planned: Sequence[PlannedRun]) -> list[str]:
    """Return a folder's name for each run: that of its variant, or one per seed in it."""
    labels = list(dict.fromkeys(run.variant for run in planned))
    names = dict(zip(labels, folder_names(labels), strict=True))
    if len(labels) == len(planned):
        return [names[run.variant] for run in planned]
    return [f"{names[run.variant]}/seed-{run.seed}" for run in planned]


def _is_taken(folder: Path, *, shown: str, but: Collection[Path] = ()) -> bool:
    """Return whether a folder has entries other than `but` and files that floodway leaves behind.

    Raises
    ------
    OutputError
        If it exists and is not a folder.
    """
    if not folder.exists() and not folder.is_symlink():
        return False
    if not folder.is_dir():
        raise OutputError(shown, "is not a folder")
    return any(not is_ours(entry.name) and entry not in but for entry in folder.iterdir())


def _is_there(folder: Path) -> bool:
    """Return whether a folder has the record of a comparison or of a run."""
    return any((folder / name).is_file() for name in (COMPARISON_FILE, RUN_FILE))


def _write_report(folder: Path, contents: dict[str, bytes], whole: dict[str, Any]) -> None:
    with output_errors(folder):
        for name, content in contents.items():
            replace_file(folder / name, content)
    _write_json(folder, whole)


def _write_json(folder: Path, content: dict[str, Any]) -> None:
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    with output_errors(folder):
        replace_file(folder / COMPARISON_FILE, text.encode())


def _remove_stale(folder: Path, *, keep: Sequence[str]) -> None:
    """Remove the runs of an earlier comparison that this one does not replace."""
    for name in _earlier_runs(folder):
        run = folder / name
        if name in keep:
            continue
        if (run / RUN_FILE).is_file():
            for file in FILES:
                (run / file).unlink(missing_ok=True)
        _remove_empty(run.parent, [run.name], also=run.parent != folder)


def _draw(comparison: Comparison) -> Sequence[Picture]:
    # Imported here: drawing takes as long to import as everything else.
    from floodway.common.documents.html import PAGE_WIDTH_IN  # noqa: PLC0415
    from floodway.plot import look  # noqa: PLC0415
    from floodway.plot.compared import pictures  # noqa: PLC0415

    first = first_picture(comparison)
    with look(width_in=PAGE_WIDTH_IN):
        drawn = pictures(comparison.labels, comparison.results, comparison.link)
    return sorted(drawn, key=lambda picture: picture.file != first)


def _earlier_runs(folder: Path) -> list[str]:
    """Return the folders of the runs that the comparison in a folder has completed or planned."""
    earlier = _earlier(folder / COMPARISON_FILE) or {"runs": []}
    planned = earlier.get("planned", [])
    listed = (*earlier["runs"], *(planned if isinstance(planned, list) else ()))
    names = [str(run.get("folder", "")) for run in listed if isinstance(run, dict)]
    # Paths in the file may lead anywhere; only those inside the folder are used.
    return [name for name in names if name and (folder / name).resolve().is_relative_to(folder.resolve())]


def _earlier(file: Path) -> dict[str, Any] | None:
    """Read the record of the comparison in a folder; None if there is no comparison."""
    try:
        record = read_json(file)
    except (OSError, ValueError):
        return None
    if not isinstance(record, dict) or not isinstance(record.get("complete"), bool):
        return None
    return record if isinstance(record.get("runs"), list) else None


def _remove_report(folder: Path) -> None:
    """Remove the numbers, pictures and pages of an earlier comparison or run."""
    names = _OF_A_COMPARISON if (folder / COMPARISON_FILE).is_file() else ()
    for name in (*names, *(FILES if (folder / RUN_FILE).is_file() else ())):
        (folder / name).unlink(missing_ok=True)


def _remove_empty(folder: Path, names: Sequence[str], *, also: bool = True) -> None:
    """Remove empty folders, and the folder that contains them."""
    for name in {*names, *(str(Path(name).parent) for name in names)} - {"."}:
        with contextlib.suppress(OSError):
            (folder / name).rmdir()
    if also:
        with contextlib.suppress(OSError):
            folder.rmdir()
