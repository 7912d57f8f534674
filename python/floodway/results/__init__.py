"""Results of runs: frames, verdicts, the summary, and their folder."""

from importlib import import_module
from typing import TYPE_CHECKING

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

__all__ = ["AskedLoad", "Blocked", "Captured", "CnpTotals", "CollectiveSummary", "Deadlock", "Difference"]
__all__ += ["EndlessSummary", "Failed", "FctSummary", "FeedbackSummary", "HpccExport", "JobTotals"]
__all__ += ["LinkSummary", "Loss", "Lossless", "NotSkipped", "OrderSummary", "Outcome", "PortSummary"]
__all__ += ["Reservation", "Result", "RunInfo", "Shortfall", "SizeBucket", "Skipped", "Summary"]
__all__ += ["SwitchPeak", "Timings", "Unproven", "WorkloadSummary", "WorkloadTotals", "read"]

#: The modules that public names come from.
_MODULES = ("outcome", "lossless", "links", "result", "store", "summary", "hpcc")


def __getattr__(name: str) -> object:
    if name in __all__:
        for module in (import_module(f"{__name__}.{part}") for part in _MODULES):
            if name in module.__all__:
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
