"""The outcome of studies that were run, and what makes reports of it where it is installed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from floodway.common.laboratory import REPORTS, laboratory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from floodway.common.documents import Document
    from floodway.plot import Format
    from floodway.study.format.model import Study
    from floodway.study.numbers import Numbers
    from floodway.study.running.plan import Plan
    from floodway.study.running.storage import Runs

__all__ = ["Conducted", "Part", "Reports", "reports"]


@dataclass(frozen=True, kw_only=True)
class Part:
    """A study with its numbers.

    Attributes
    ----------
    study, numbers
        The study, and the metrics of its runs.
    judged, known
        The verdicts of its claims, and further facts about its runs, by their keys: empty where no package
        that judges claims is installed.
    """

    study: Study
    numbers: Numbers
    judged: tuple[Any, ...] = ()
    known: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Conducted:
    """Studies that have been run.

    Attributes
    ----------
    plan
        The runs of the studies.
    folder
        The folder with runs, pictures and the report.
    parts
        The results of each study; empty after Ctrl-C, and where runs are missing.
    done, failures
        Keys of the completed runs; the reasons of the failed ones, by their keys.
    complete
        Whether every run that this process was to run has ended; false after Ctrl-C.
    missing
        How many runs neither are there nor have failed, where other processes have a share of them: the
        last to end writes the report.
    files
        The written files, the report first; none where runs are missing, another process writes them, or no
        package that makes reports is installed.
    """

    plan: Plan
    folder: Path
    parts: tuple[Part, ...]
    done: frozenset[str]
    failures: Mapping[str, str]
    complete: bool
    missing: int = 0
    files: tuple[Path, ...] = ()


class Reports(Protocol):
    """Verdicts and reports of studies whose runs are there."""

    def judged(self, ran: Conducted, store: Runs, *, on_message: Callable[[str], None]) -> Conducted:
        """Return the studies with the verdicts of their claims."""

    def written(
        self,
        conducted: Conducted,
        store: Runs,
        *,
        title: str,
        formats: Sequence[Format],
        on_message: Callable[[str], None],
    ) -> tuple[Path, ...]:
        """Write numbers, pictures and the report beside the runs, and return the files."""

    def claims(self, conducted: Conducted) -> Document | None:
        """Return counts of verdicts, claims that do not hold first, and all claims; None without claims."""


def reports() -> Reports | None:
    """Return what makes reports; none where it is not installed."""
    writer: Reports | None = laboratory(REPORTS, "studies")
    return writer
