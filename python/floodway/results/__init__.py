"""Results of runs: frames, verdicts, the summary, and their folder."""

from floodway.results.hpcc import HpccExport
from floodway.results.links import LinkSummary
from floodway.results.lossless import Failed, Loss, Lossless, Shortfall, Unproven
from floodway.results.outcome import Captured, CnpTotals, Deadlock, Outcome, SwitchPeak, WorkloadTotals
from floodway.results.result import AskedLoad, Result, RunInfo, Timings
from floodway.results.store import Reservation, read
from floodway.results.summary import (
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
    "Captured",
    "CnpTotals",
    "Deadlock",
    "EndlessSummary",
    "Failed",
    "FctSummary",
    "FeedbackSummary",
    "HpccExport",
    "LinkSummary",
    "Loss",
    "Lossless",
    "OrderSummary",
    "Outcome",
    "PortSummary",
    "Reservation",
    "Result",
    "RunInfo",
    "Shortfall",
    "SizeBucket",
    "Summary",
    "SwitchPeak",
    "Timings",
    "Unproven",
    "WorkloadSummary",
    "WorkloadTotals",
    "read",
]
