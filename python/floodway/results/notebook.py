"""A result as HTML for notebooks: a summary line, the simulated network, and one row per workload."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from floodway.results.lossless import brief
from floodway.results.percentiles import FEW_FLOWS_NOTE, MARK, is_few
from floodway.results.quantities import counted
from floodway.results.simulated import Realised, facts, realised

if TYPE_CHECKING:
    from floodway.results.outcome import Outcome
    from floodway.results.result import Result
    from floodway.results.summary import Summary, WorkloadSummary

__all__ = ["html_of"]

_ENDS = {
    "finished": "all measured flows finished",
    "limit": "the limit was reached",
    "deadlock": "a deadlock stopped it",
    "interrupted": "interrupted",
}
_HEADS = (
    "workload",
    "measured flows",
    "finished",
    "mean, µs",
    "p50, µs",
    "p99, µs",
    "slowdown p50",
    "slowdown p99",
    "last finish, µs",
    "goodput, Gbit/s",
)

_OF_COLLECTIVES = (
    "workload",
    "collective",
    "ranks",
    "count",
    "time, µs",
    "longest, µs",
    "algbw, GB/s",
    "busbw, GB/s",
)


def html_of(result: Result) -> str:
    """Return a short table; names of scenarios and workloads are escaped."""
    summary, run = result.summary(), result.run
    rows = [*summary.workloads, *([summary.total] if len(summary.workloads) != 1 else [])]
    simulated = f"{result.outcome.simulated_us / 1000:,.2f} ms simulated"
    caption_text = (
        f"seed {run.seed}: {simulated}; {_ENDS[result.outcome.stopped]}; {_verdict(result.outcome)}"
    )
    body = "".join(f"<tr>{''.join(map(_cell, _cells(row)))}</tr>" for row in rows)
    heads = "".join(f"<th>{escape(head)}</th>" for head in _HEADS)
    caption = f"<b>{escape(run.name)}</b>, {escape(caption_text)}"
    few = any(is_few(row.measured, thousandths=990) for row in rows)
    note = f"<p>{FEW_FLOWS_NOTE}</p>" if few else ""
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    return f"<p>{caption}</p>{_simulated(result)}{_collectives(summary)}{table}{note}"


def _collectives(summary: Summary) -> str:
    """Report on collectives as nccl-tests do; nothing where no job has any that are complete."""
    if not summary.collectives:
        return ""
    rows = (
        (
            row.workload,
            row.name,
            f"{row.ranks:,}",
            f"{row.count:,}",
            f"{row.mean_us:,.1f}",
            f"{row.most_us:,.1f}",
            f"{row.algbw_gbps / 8:,.3f}",
            f"{row.busbw_gbps / 8:,.3f}",
        )
        for row in summary.collectives
    )
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    heads = "".join(f"<th>{escape(head)}</th>" for head in _OF_COLLECTIVES)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def _simulated(result: Result) -> str:
    """Say what was simulated, a row a fact."""
    all_facts = [*facts(result), *realised([Realised.from_result(result)])]
    rows = "".join(
        f'<tr><th>{escape(fact.name)}</th><td style="text-align: left">'
        f"{'<br>'.join(map(escape, fact.lines))}</td></tr>"
        for fact in all_facts
    )
    return f"<table><tbody>{rows}</tbody></table>"


def _verdict(outcome: Outcome) -> str:
    broken = [f"invariant {name} broken" for name, _ in outcome.broken]
    deadlocks = [counted(len(outcome.deadlocks), "deadlock")] if outcome.deadlocks else []
    blocked = (
        [f"{counted(len(outcome.blocked), 'port')} blocked needlessly at the end"] if outcome.blocked else []
    )
    return "; ".join((f"lossless: {brief([outcome.lossless])}", *deadlocks, *blocked, *broken))


def _cells(row: WorkloadSummary) -> list[str]:
    fct = row.fct
    mean = "-" if fct.mean_us is None else f"{fct.mean_us:,.1f}{' *' if fct.mean_of_finished_only else ''}"
    mark = f" {MARK}" if is_few(row.measured, thousandths=990) else ""
    times = [_reached(fct.p50_us, 1), _reached(fct.p99_us, 1) + mark]
    ratios = [_reached(row.slowdown_p50, 2), _reached(row.slowdown_p99, 2) + mark]
    goodput = "-" if row.goodput_gbps is None else f"{row.goodput_gbps:,.2f}"
    ends = [_reached(row.last_finish_us, 1), goodput]
    return [row.name, f"{row.measured:,}", f"{row.measured_finished:,}", mean, *times, *ratios, *ends]


def _reached(value: float | None, digits: int) -> str:
    return "not reached" if value is None else f"{value:,.{digits}f}"


def _cell(text: str) -> str:
    return f"<td>{escape(text)}</td>"
