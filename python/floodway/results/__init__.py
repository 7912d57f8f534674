"""Results of runs: frames, verdicts, the summary, and their folder."""

from floodway.results.hpcc import HpccExport
from floodway.results.links import LinkSummary
from floodway.results.outcome import Captured, CnpTotals, Deadlock, Loss, Outcome, SwitchPeak, WorkloadTotals
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
    "FctSummary",
    "FeedbackSummary",
    "HpccExport",
    "LinkSummary",
    "Loss",
    "OrderSummary",
    "Outcome",
    "PortSummary",
    "Reservation",
    "Result",
    "RunInfo",
    "SizeBucket",
    "Summary",
    "SwitchPeak",
    "Timings",
    "WorkloadSummary",
    "WorkloadTotals",
    "read",
]
