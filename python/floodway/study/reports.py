"""What makes the report of a study: a package that judges claims and draws, where one is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from floodway.common.laboratory import REPORTS, laboratory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from floodway.common.documents import Document
    from floodway.plot import Format
    from floodway.study.outcome import Conducted
    from floodway.study.running.storage import Runs

__all__ = ["Reports", "reports"]


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
