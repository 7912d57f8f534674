"""The folder of a comparison: a folder a run, the numbers, the pictures and the page.

`compare.json` is there from the first run on and lists what has ended; so a comparison that was cut
short is known as one, and can be replaced.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from floodway.comparison.document import document
from floodway.comparison.variants import folder_names
from floodway.errors import OutputError
from floodway.results.store import FILES, RUN_FILE, Reservation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

    from floodway.comparison.comparison import Comparison
    from floodway.results import Result

__all__ = ["COMPARISON_FILE", "PAGE_FILE", "Place", "Slot"]

COMPARISON_FILE = "compare.json"
PAGE_FILE = "index.html"
_OF_A_COMPARISON = (PAGE_FILE, "fct.png", "slowdown.png", "throughput.png", "buffer.png", "pauses.png")


@dataclass(frozen=True, kw_only=True)
class Slot:
    """Where one run goes: its variant's label and its seed."""

    variant: str
    seed: int


class Place:
    """A place for a comparison, known to be writable before the first run.

    Parameters
    ----------
    folder
        Where it shall be; none to write nothing.
    slots
        What runs there will be, in order.
    force
        Whether a comparison, or the results of a run, that are there may be replaced; other files are
        kept.

    Raises
    ------
    OutputError
        If the folder is taken, or cannot be made.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, slots: Sequence[Slot], *, force: bool) -> None:
        self._folder = None if folder is None else Path(folder)
        self._slots = slots
        self._folders = _folders(slots)
        self._ended: list[int] = []
        self._held = contextlib.ExitStack()
        if self._folder is None:
            return
        _refuse_taken(self._folder, force=force)
        self._made = not self._folder.exists()
        with self._held:
            self._held.callback(self._leave, self._folder)
            with _told(self._folder):
                self._folder.mkdir(parents=True, exist_ok=True)
                _remove_stale(self._folder, keep=self._folders)
            self._reservations = [
                self._held.enter_context(Reservation(self._folder / name, force=force))
                for name in self._folders
            ]
            self._held = self._held.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.close()

    def publish(self, number: int, result: Result) -> None:
        """Write a run's results.

        Raises
        ------
        OutputError
            If they cannot be written.
        """
        if self._folder is None:
            return
        if not self._ended:
            with _told(self._folder):
                _remove_report(self._folder)
        self._reservations[number].publish(result)
        self._ended.append(number)
        self._write_json({"complete": False, "runs": self._runs()})

    def finish(self, comparison: Comparison) -> None:
        """Write the numbers, the pictures and the page.

        Raises
        ------
        OutputError
            If they cannot be written.
        """
        if self._folder is None:
            return
        # Drawing is loaded where it is needed: it takes as long as all the rest.
        from floodway.comparison.page import page  # noqa: PLC0415
        from floodway.plot.compared import pictures  # noqa: PLC0415

        drawn = pictures(comparison.labels, comparison.results, comparison.link)
        with _told(self._folder):
            for picture in drawn:
                (self._folder / picture.file).write_bytes(picture.png)
            (self._folder / PAGE_FILE).write_text(page(comparison, drawn), encoding="utf-8")
        self._write_json({"complete": True, **document(comparison), "runs": self._runs()})

    def _leave(self, folder: Path) -> None:
        """Leave no trace where nothing was written."""
        if not self._ended:
            _remove_empty(folder, self._folders, also=self._made)

    def _runs(self) -> list[dict[str, Any]]:
        return [
            {
                "variant": self._slots[number].variant,
                "seed": self._slots[number].seed,
                "folder": self._folders[number],
            }
            for number in sorted(self._ended)
        ]

    def _write_json(self, content: dict[str, Any]) -> None:
        assert self._folder is not None  # noqa: S101 (its callers looked)
        with _told(self._folder):
            new = self._folder / f".{COMPARISON_FILE}.new"
            new.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
            new.replace(self._folder / COMPARISON_FILE)


def _folders(slots: Sequence[Slot]) -> list[str]:
    """Name a folder for each run: that of its variant, or one a seed inside that."""
    labels = list(dict.fromkeys(slot.variant for slot in slots))
    names = dict(zip(labels, folder_names(labels), strict=True))
    if len(labels) == len(slots):
        return [names[slot.variant] for slot in slots]
    return [f"{names[slot.variant]}/seed-{slot.seed}" for slot in slots]


def _refuse_taken(folder: Path, *, force: bool) -> None:
    shown = os.fspath(folder)
    with _told(folder):
        if not folder.exists() and not folder.is_symlink():
            return
        if not folder.is_dir():
            raise OutputError(shown, "is not a folder")
        if not any(folder.iterdir()):
            return
        if not any((folder / name).is_file() for name in (COMPARISON_FILE, RUN_FILE)):
            raise OutputError(shown, "holds something other than results; choose another folder")
        if not force:
            raise OutputError(shown, "holds results already; --force replaces them")


def _remove_stale(folder: Path, *, keep: Sequence[str]) -> None:
    """Remove the runs of an earlier comparison that this one does not replace."""
    for name in _earlier(folder / COMPARISON_FILE):
        run = folder / name
        # What the file names may be anywhere; only what lies inside is ours.
        if name in keep or not run.resolve().is_relative_to(folder.resolve()) or not run.is_dir():
            continue
        if (run / RUN_FILE).is_file():
            for own in FILES:
                (run / own).unlink(missing_ok=True)
        _remove_empty(run.parent, [run.name], also=run.parent != folder)


def _earlier(file: Path) -> list[str]:
    try:
        return [str(run["folder"]) for run in json.loads(file.read_text(encoding="utf-8"))["runs"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _remove_report(folder: Path) -> None:
    """Remove what an earlier comparison or a single run has left here: it does not fit any more."""
    names = _OF_A_COMPARISON if (folder / COMPARISON_FILE).is_file() else ()
    for name in (*names, *(FILES if (folder / RUN_FILE).is_file() else ())):
        (folder / name).unlink(missing_ok=True)


def _remove_empty(folder: Path, names: Sequence[str], *, also: bool = True) -> None:
    """Remove folders that hold nothing, and the one around them."""
    for name in {*names, *(str(Path(name).parent) for name in names)} - {"."}:
        with contextlib.suppress(OSError):
            (folder / name).rmdir()
    if also:
        with contextlib.suppress(OSError):
            folder.rmdir()


@contextlib.contextmanager
def _told(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(os.fspath(folder), f"cannot be written: {error.strerror or error}") from error
