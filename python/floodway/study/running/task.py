"""A run of a study in an executor, with its progress."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from floodway.scenarios.scenario import Extent
    from floodway.study.running.runs import Run

__all__ = ["Task", "TaskProgress"]


@dataclass(frozen=True)
class TaskProgress:
    """The progress of a run, as its process reported it last."""

    time_us: float
    flows_done: int
    flows_started: int
    packet_hops: int
    share: float
    by_work: bool
    bytes: tuple[int, int]
    operations: tuple[int, int]


@dataclass(eq=False, kw_only=True)
class Task:
    """A run to be done, and its progress.

    Attributes
    ----------
    run
        What is run.
    folder
        The folder that its results go to.
    began, progress
        When it began, by the monotonic clock, and how far it is.
    wall_s
        What it took; none before its end.
    error
        Why it failed; empty where it did not.
    unwritable
        Whether it failed because its results could not be written.
    taken
        Which other process runs it; empty where none does.
    suspected
        Whether a worker of a cluster died that had it among others.
    """

    run: Run
    folder: Path
    began: float = 0.0
    progress: TaskProgress | None = None
    wall_s: float | None = None
    error: str = ""
    unwritable: bool = False
    taken: str = ""
    suspected: bool = False

    @property
    def label(self) -> str:
        """Its name in messages."""
        return self.run.label

    @property
    def extent(self) -> Extent:
        """How far it goes."""
        return self.run.extent

    @property
    def failed(self) -> bool:
        """Whether it failed."""
        return bool(self.error)

    @property
    def ended(self) -> bool:
        """Whether it completed or failed, or is left to another process."""
        return self.wall_s is not None or self.failed or bool(self.taken)
