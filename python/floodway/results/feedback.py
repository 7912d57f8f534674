"""Congestion feedback in time, from the tables of a run: pauses, states, marks, allowances, shares of links.

Tables of changes become spans: from one row to the next of the same queue or flow, or to its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from floodway.common.errors import PlotError
from floodway.results.metrics import chosen_objects

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway.results.result import Result

__all__ = ["KEEPS_SHARES", "allowed_spans", "chosen_ports_of", "pause_spans", "port_names", "share_rows"]
__all__ += ["signal_rows", "state_spans"]

QUEUE = ("node", "link", "class")
_US = pl.col("time_ns") / 1000
#: The key of a scenario that records them.
KEEPS_SHARES = 'records.shares = { links = "h1-t1" } records them'


def port_names(result: Result) -> pl.DataFrame:
    """Name every port as the series do: `node`, `link`, `object` (`link: from>to`)."""
    ports = result.counters.select(pl.col("node", "link").cast(pl.String)).unique(maintain_order=True)
    ends = ports.group_by("link", maintain_order=True).agg(
        first=pl.col("node").first(), last=pl.col("node").last()
    )
    other = pl.when(pl.col("node") == pl.col("first")).then("last").otherwise("first")
    rows = ports.join(ends, on="link", maintain_order="left").with_columns(other=other)
    return rows.select("node", "link", object=pl.format("{}: {}>{}", "link", "node", "other"))


def chosen_ports_of(result: Result, patterns: Sequence[str]) -> list[str]:
    """Return the ports that patterns name, each as in `chosen_objects`; all without a pattern.

    Raises
    ------
    PlotError
        If a pattern names none.
    """
    return chosen_objects(patterns, [port_names(result)])


def pause_spans(result: Result) -> pl.DataFrame:
    """Return when classes of ports were paused: `object`, `class`, `from_us`, `to_us`.

    From the first pause to the resume, or to the end of the run. An end without a frame (a pause runs
    out, a link goes down) has no row; `paused_spans` knows of it where the link was watched.

    Raises
    ------
    PlotError
        If the run did not keep pauses.
    """
    if result.pauses is None:
        raise PlotError("the run did not record pauses; records.pauses = true records them")
    rows = _with_objects(result, result.pauses).with_columns(
        paused=pl.col("event").cast(pl.String) == "pause"
    )
    # A pause that is repeated changes nothing.
    changes = rows.filter(pl.col("paused") != pl.col("paused").shift(1, fill_value=False).over(QUEUE))
    return (
        changes.with_columns(_US.alias("from_us"), to_us=_until(result))
        .filter("paused")
        .select("object", "class", "from_us", "to_us")
    )


def state_spans(result: Result) -> pl.DataFrame:
    """Return the states of queues: `object`, `node`, `link`, `class`, `state`, `from_us`, `to_us`.

    Raises
    ------
    PlotError
        If the run did not keep signals.
    """
    rows = signal_rows(result).filter(pl.col("event") == "state")
    return rows.with_columns(_US.alias("from_us"), to_us=_until(result)).select(
        "object", *QUEUE, "state", "from_us", "to_us"
    )


def signal_rows(result: Result) -> pl.DataFrame:
    """Return the table of signals with the `object` of each row, and plain text for names.

    Raises
    ------
    PlotError
        If the run did not keep signals.
    """
    if result.signals is None:
        raise PlotError("the run did not record signals; records.signals = true records them")
    return _with_objects(result, result.signals).with_columns(
        pl.col("event", "state", "flow_id").cast(pl.String)
    )


def allowed_spans(result: Result, *, workloads: Sequence[str] = ()) -> pl.DataFrame:
    """Return what senders might send: `flow_id`, `from_us`, `to_us`, `allowed_gbps`.

    A flow's last span ends when the flow is complete at its sender, else at its receiver, else with the run.

    Parameters
    ----------
    result
        What the run kept.
    workloads
        Names of the selected workloads; all by default.

    Raises
    ------
    PlotError
        If the run did not record allowances.
    """
    if result.allowances is None:
        keys = "records.allowances = true, or a list of workloads, records them"
        raise PlotError(f"the run did not record allowances; {keys}")
    end = pl.coalesce("finish_sender_us", "finish_receiver_us", pl.lit(result.outcome.simulated_us))
    flows = (
        result.flows.filter(pl.col("workload").cast(pl.String).is_in(list(workloads)))
        if workloads
        else result.flows
    )
    rows = result.allowances.with_columns(pl.col("flow_id").cast(pl.String))
    with_ends = rows.join(flows.select("flow_id", end_us=end), on="flow_id", maintain_order="left")
    following = _US.shift(-1).over("flow_id")
    spans = with_ends.with_columns(_US.alias("from_us"), to_us=pl.min_horizontal(following, "end_us"))
    return spans.filter(pl.col("from_us") < pl.col("to_us")).select(
        "flow_id", "from_us", "to_us", "allowed_gbps"
    )


def _with_objects(result: Result, rows: pl.DataFrame) -> pl.DataFrame:
    plain = rows.with_columns(pl.col("node", "link").cast(pl.String))
    return plain.join(port_names(result), on=["node", "link"], how="left", maintain_order="left")


def _until(result: Result) -> pl.Expr:
    """When the next row of the same queue comes."""
    return _US.shift(-1, fill_value=result.outcome.simulated_us).over(QUEUE)


def share_rows(result: Result) -> pl.DataFrame:
    """Return the table of shares with plain text for names, and two columns more.

    Returns
    -------
    polars.DataFrame
        With `direction` (`t1>h1`, of the object) and `workload` (of the flow).

    Raises
    ------
    PlotError
        If the run did not keep shares.
    """
    if result.shares is None:
        raise PlotError(f"the run did not record flows' shares of links; {KEEPS_SHARES}")
    rows = result.shares.with_columns(pl.col("object", "flow_id").cast(pl.String))
    return rows.with_columns(
        direction=pl.col("object").str.replace(r"^.*: ", ""),
        # A workload's name may hold colons, a node's and a number do not.
        workload=pl.col("flow_id").str.replace(r":[^:]*:[^:]*$", ""),
    )
