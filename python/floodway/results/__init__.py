"""Results of runs: frames, verdicts, the summary, and their folder."""

from typing import TYPE_CHECKING

from floodway.common.on_demand import found_in

if TYPE_CHECKING:
    from floodway.results.hpcc import HpccExport
    from floodway.results.links import LinkSummary
    from floodway.results.lossless import Failed, Loss, Lossless, Shortfall, Unproven
    from floodway.results.outcome import (
        Blocked,
        Captured,
        CnpTotals,
        Deadlock,
        Difference,
        JobTotals,
        NotSkipped,
        Outcome,
        Skipped,
        SwitchPeak,
        WorkloadTotals,
    )
    from floodway.results.result import AskedLoad, Result, RunInfo, Timings
    from floodway.results.store import Reservation, read
    from floodway.results.summary import (
        CollectiveSummary,
        EndlessSummary,
        FctSummary,
        FeedbackSummary,
        OrderSummary,
        PortSummary,
        SizeBucket,
        Summary,
        WorkloadSummary,
    )

__all__ = [
    "AskedLoad",
    "Blocked",
    "Captured",
    "CnpTotals",
    "CollectiveSummary",
    "Deadlock",
    "Difference",
    "EndlessSummary",
    "Failed",
    "FctSummary",
    "FeedbackSummary",
    "HpccExport",
    "JobTotals",
    "LinkSummary",
    "Loss",
    "Lossless",
    "NotSkipped",
    "OrderSummary",
    "Outcome",
    "PortSummary",
    "Reservation",
    "Result",
    "RunInfo",
    "Shortfall",
    "SizeBucket",
    "Skipped",
    "Summary",
    "SwitchPeak",
    "Timings",
    "Unproven",
    "WorkloadSummary",
    "WorkloadTotals",
    "read",
]

#: The modules that public names come from.
_NAMES = {
    "hpcc": ("HpccExport",),
    "links": ("LinkSummary",),
    "lossless": ("Failed", "Loss", "Lossless", "Shortfall", "Unproven"),
    "outcome": (
        "Blocked",
        "Captured",
        "CnpTotals",
        "Deadlock",
        "Difference",
        "JobTotals",
        "NotSkipped",
        "Outcome",
        "Skipped",
        "SwitchPeak",
        "WorkloadTotals",
    ),
    "result": ("AskedLoad", "Result", "RunInfo", "Timings"),
    "store": ("Reservation", "read"),
    "summary": (
        "CollectiveSummary",
        "EndlessSummary",
        "FctSummary",
        "FeedbackSummary",
        "OrderSummary",
        "PortSummary",
        "SizeBucket",
        "Summary",
        "WorkloadSummary",
    ),
}


def __getattr__(name: str) -> object:
    return found_in(_NAMES, name, package=__name__)


def __dir__() -> list[str]:
    return __all__
