"""The congestion region in time: its ports with their roles, and its spread upstream.

A congestion point whose queues have states reports them, where the run recorded them
(`records.signals`): a port is in the region while it is in another state than the quiet one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from floodway.common.errors import PlotError
from floodway.common.names import not_a_choice
from floodway.plot.axes import plain_style, shown
from floodway.plot.curves import Drawing, titled
from floodway.plot.region_panels import draw
from floodway.plot.region_tree import Links, Position, Stay, positions_of
from floodway.plot.window import inside, limits_of, refuse_many
from floodway.results.feedback import state_spans

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from floodway.plot.curves import Source

__all__ = ["BY_SEVERITY", "QUIET", "ROOTS", "region"]

#: Maximum number of strips in a picture.
MOST_STRIPS = 40
#: States of ports in the region, the most severe first: a port of several classes has the most severe one.
BY_SEVERITY = ("root", "inner", "edge", "congestion", "congested", "isolating", "undetermined", "checking")
#: States of ports outside it. Of a congestion point that is none of these: the one that a queue begins in.
QUIET = ("outside", "determined", "non-congestion", "uncongested", "lossless")
#: States in which a port congests by itself; those that say so of ports that are held up, too, are none.
ROOTS = ("root", "congestion")
#: Columns of the table.
TABLE: Mapping[str, type[pl.DataType]] = {
    "result": pl.String,
    "seed": pl.UInt64,
    "port": pl.String,
    "from_us": pl.Float64,
    "to_us": pl.Float64,
    "role": pl.String,
    "hops": pl.Int64,
}
ROLES = ("port", "role", "from_us", "to_us")


@dataclass(frozen=True, kw_only=True)
class _Order:
    """States of all results: those in the region, the gravest first, then the quiet ones."""

    roles: tuple[str, ...]
    quiet: tuple[str, ...]


def region(
    sources: Sequence[Source],
    *,
    class_: int | None = None,
    window: tuple[float | None, float | None] = (None, None),
    title: str | None = None,
) -> Drawing:
    """Draw a strip for each port of the congestion region over time, results side by side.

    From the top down: each root of the region, and below it the ports upstream, by hops, and by when they
    joined. At most 40 ports have a strip, those that were in the region longest. Below, how many of all ports
    of the region have each role.

    Parameters
    ----------
    sources
        The results, four at most; of several seeds the first is shown.
    class_
        The class of the queues. By default all; a port then has the most severe state of any.
    window
        From when to when, in microseconds. Default: the whole run.
    title
        What stands above. Default: that the congestion region is shown in time.

    Returns
    -------
    Drawing
        Its table has `result`, `seed`, `port`, `from_us`, `to_us`, `role`, `hops` (upstream of its root), in
        the picture's order, with all ports of the region, also those that have no strip.

    Raises
    ------
    PlotError
        If no signals were kept, there is no such class, or no port was in a region.
    """
    refuse_many(sources)
    first = [source.results[0] for source in sources]
    limits = limits_of(first, window)
    every = [_states(source, named=len(sources) > 1) for source in sources]
    _refuse_class(class_, every)
    order = _ordered(every)
    cut = [_cut(frame, class_, limits) for frame in every]
    members = pl.concat([frame.filter(pl.col("role").is_in(order.roles)) for frame in cut])
    if members.is_empty():
        raise PlotError(_nothing(order))
    chosen = members["port"].unique().to_list()
    roles = [_gravest(frame.filter(pl.col("port").is_in(chosen)), order) for frame in cut]
    stays = _stays(roles, order)
    positions = positions_of(stays, Links(first))
    strips = _longest(positions, stays)
    with plain_style():
        heading = shown(title) if title else titled("Congestion region in time", sources)
        figure = draw(
            roles,
            strips,
            limits,
            left_out=len(positions) - len(strips),
            states=(order.roles, order.quiet),
            roots={position.port: _root_state(position, roles) for position in strips if not position.hops},
            title=heading,
            labels=[source.label for source in sources] if len(sources) > 1 else [],
        )
    return Drawing(figure=figure, data=_table(sources, roles, positions))


def _states(source: Source, *, named: bool) -> pl.DataFrame:
    """Return the states of a result's queues, or raise an error that names what was not recorded."""
    try:
        return state_spans(source.results[0])
    except PlotError as error:
        raise PlotError(f"{source.label}: {error}" if named else str(error)) from error


def _refuse_class(wanted: int | None, every: Sequence[pl.DataFrame]) -> None:
    known = [str(number) for number in sorted({number for frame in every for number in frame["class"]})]
    if wanted is not None and known and str(wanted) not in known:
        text, near = not_a_choice(str(wanted), noun="a class of queues with states", allowed=known)
        raise PlotError(text, key="class", given=str(wanted), allowed=tuple(known), nearest=near)


def _ordered(every: Sequence[pl.DataFrame]) -> _Order:
    found = {str(state) for frame in every for state in frame["state"].unique()}
    begins = {
        str(state)
        for frame in every
        for state in frame.group_by("node", "link", "class").agg(pl.col("state").first())["state"].unique()
    }
    known = (*BY_SEVERITY, *QUIET)
    others = sorted(found.difference(known, begins))
    return _Order(
        roles=tuple(state for state in (*BY_SEVERITY, *others) if state in found),
        quiet=tuple(state for state in (*QUIET, *sorted(begins.difference(known))) if state in found),
    )


def _cut(states: pl.DataFrame, wanted: int | None, limits: tuple[float, float]) -> pl.DataFrame:
    own = states if wanted is None else states.filter(pl.col("class") == wanted)
    plain = own.select("class", "from_us", "to_us", port="object", role="state")
    return inside(plain, limits).select(*ROLES, "class")


def _nothing(order: _Order) -> str:
    """Say why there is no region."""
    if order.quiet or order.roles:
        quiet = " or ".join(order.quiet)
        return f"no port left the state {quiet} in this time: there is no region to show"
    return "these congestion points have no states; rcm, casl, mercury, tcd and pacc have some"


def _gravest(spans: pl.DataFrame, order: _Order) -> pl.DataFrame:
    """Return the role of each port, which of several classes is the gravest."""
    ranks = {state: n for n, state in enumerate((*order.roles, *order.quiet))}
    parts = spans.partition_by("port", maintain_order=True)
    merged = [_merged(part, ranks) if part["class"].n_unique() > 1 else part.select(ROLES) for part in parts]
    return pl.concat([spans.select(ROLES).clear(), *merged])


def _merged(spans: pl.DataFrame, ranks: Mapping[str, int]) -> pl.DataFrame:
    """Go through the times at which any class changes, and take the gravest state until the next."""
    begins, ends = spans["from_us"].to_numpy(), spans["to_us"].to_numpy()
    times = np.unique(np.concatenate([begins, ends]))
    least = np.full(len(times) - 1, len(ranks))
    for own in spans.partition_by("class", maintain_order=True):
        begun = own["from_us"].to_numpy()
        states = np.array([ranks[state] for state in own["role"]])
        position = np.searchsorted(begun, times[:-1], side="right") - 1
        known = (position >= 0) & (times[:-1] < own["to_us"].to_numpy()[position])
        least = np.where(known, np.minimum(least, states[position]), least)
    new = np.flatnonzero(np.diff(least, prepend=-1))
    names = [*ranks]
    rows = pl.DataFrame({"from_us": times[new], "to_us": np.append(times[new[1:]], times[-1])})
    return rows.with_columns(
        port=pl.lit(spans["port"][0]), role=pl.Series([names[n] for n in least[new]], dtype=pl.String)
    ).select(ROLES)


def _stays(roles: Sequence[pl.DataFrame], order: _Order) -> dict[str, Stay]:
    """Sum over results when and how long each port was in the region."""
    span = pl.col("to_us") - pl.col("from_us")
    summed = (
        pl.concat(roles)
        .filter(pl.col("role").is_in(order.roles))
        .group_by("port")
        .agg(
            joined_us=pl.col("from_us").min(),
            inside_us=span.sum(),
            root_us=span.filter(pl.col("role").is_in(ROOTS)).sum(),
        )
    )
    return {row.pop("port"): Stay(**row) for row in summed.iter_rows(named=True)}


def _longest(positions: Sequence[Position], stays: Mapping[str, Stay]) -> list[Position]:
    """Choose the ports that have a strip, in the same order."""
    by_stay = sorted(positions, key=lambda position: -stays[position.port].inside_us)
    kept = {position.port for position in by_stay[:MOST_STRIPS]}
    return [position for position in positions if position.port in kept]


def _root_state(position: Position, roles: Sequence[pl.DataFrame]) -> str:
    """Return the state that makes a tree's first port its root; nothing where it was in none."""
    own = {state for frame in roles for state in frame.filter(pl.col("port") == position.port)["role"]}
    return next((state for state in ROOTS if state in own), "")


def _table(
    sources: Sequence[Source], roles: Sequence[pl.DataFrame], positions: Sequence[Position]
) -> pl.DataFrame:
    order = pl.DataFrame(
        {
            "port": [position.port for position in positions],
            "hops": [position.hops for position in positions],
            "place": range(len(positions)),
        },
        schema_overrides={"place": pl.Int64},
    )
    frames = [
        frame.join(order, on="port")
        .sort("place", "from_us")
        .select(
            pl.lit(source.label).alias("result"),
            pl.lit(source.results[0].run.seed, dtype=pl.UInt64).alias("seed"),
            "port",
            "from_us",
            "to_us",
            "role",
            "hops",
        )
        for source, frame in zip(sources, roles, strict=True)
    ]
    return pl.concat([pl.DataFrame(schema=TABLE), *frames])
