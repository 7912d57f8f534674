"""Facts of a run in a report, beside its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from floodway.results.simulated import Realised, facts
from floodway_lab.study.report.remarks import run_faults

if TYPE_CHECKING:
    from floodway.results import Lossless, Result
    from floodway.results.simulated import Fact

__all__ = ["Known"]


@dataclass(frozen=True, kw_only=True)
class Known:
    """Facts of a run in the report beside its numbers: what was simulated, its outcome, its faults."""

    facts: tuple[Fact, ...]
    realised: Realised
    lossless: Lossless
    run_faults: tuple[str, ...]

    @classmethod
    def of(cls, result: Result) -> Known:
        """Return the facts of a result, which may be large."""
        return cls(
            facts=facts(result),
            realised=Realised.from_result(result),
            lossless=result.outcome.lossless,
            run_faults=tuple(run_faults(result)),
        )
