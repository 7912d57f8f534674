"""The answer of a run in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.common.documents import reading, share_text, time_text
from floodway.results.quantities import counted

if TYPE_CHECKING:
    from floodway.results.summary import Summary

__all__ = ["answer"]


def answer(summary: Summary) -> str:
    """Return a sentence on how long jobs or flows took, or on the throughput of flows without end."""
    total = summary.total
    if summary.iterations:
        mean = sum(row.time_us for row in summary.iterations) / len(summary.iterations)
        exposed = sum(row.exposed_us for row in summary.iterations) / len(summary.iterations)
        share = share_text(exposed / mean if mean else 0.0)
        return f"An iteration takes {time_text(mean)}; {share} of that is exposed communication."
    if summary.collectives:
        row = max(summary.collectives, key=lambda row: row.mean_us)
        rate = f"{row.busbw_gbps / 8:,.3g} GB/s"
        return f"{row.workload}: {row.name} takes {time_text(row.mean_us)}, a bus bandwidth of {rate}."
    left = total.measured - total.measured_finished
    if left:
        return f"{left:,} of {counted(total.measured, 'measured flow')} did not finish."
    if total.measured and total.fct.mean_us is not None:
        p99 = "" if total.slowdown_p99 is None else f", with a slowdown of {total.slowdown_p99:.3g} at p99"
        all_ = "The measured flow" if total.measured == 1 else f"All {total.measured:,} measured flows"
        mean_text = "" if total.measured == 1 else " on average"
        return f"{all_} finished, in {time_text(total.fct.mean_us)}{mean_text}{p99}."
    if summary.endless:
        together = sum(row.goodput_gbps for row in summary.endless)
        return f"Flows that never end get {reading('_gbps', together)} together."
    return "No flow was measured."
