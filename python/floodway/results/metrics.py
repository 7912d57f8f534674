"""Metrics of watched objects in time, over equal parts of a run, and rates of links.

A metric is computed from the series that a run keeps: a rate or a share from what a bucket summed up, a
length as the mean or the most of its buckets. Rates are in the settings of the recorded scenario.
"""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from itertools import starmap
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from floodway.common.errors import PlotError
from floodway.common.names import not_a_choice
from floodway.results.quantities import quantity_gbps

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from floodway.results.result import Result

__all__ = ["METRICS", "THROUGHPUT", "Metric", "chosen_objects", "direction_settings", "in_time"]
__all__ += ["link_rates", "matches", "metric_of", "natural", "over_parts", "rates_gbps", "settings_of"]


_Kind = Literal["rate", "share", "used", "sum", "mean", "max"]
#: Name, source, kind, column and label of each metric.
_METRICS: tuple[tuple[str, str, _Kind, str, str], ...] = (
    ("throughput", "tx_bytes", "rate", "throughput_gbps", "throughput"),
    ("utilisation", "tx_bytes", "used", "utilisation_percent", "utilisation"),
    ("paused", "paused_us", "share", "paused_percent", "time paused"),
    ("queue", "queue_mean_bytes", "mean", "queue_mean_bytes", "mean queue"),
    ("queue-max", "queue_max_bytes", "max", "queue_max_bytes", "longest queue"),
    ("buffer", "buffer_max_bytes", "max", "buffer_max_bytes", "most held by the port's buffer"),
)


@dataclass(frozen=True)
class Metric:
    """A quantity of a watched object over time.

    Attributes
    ----------
    name
        What it is asked for by.
    source
        The metric of the series that it is made of.
    kind
        How buckets make a value: `rate` in Gbit/s, `share` of time in percent, `used` in percent of the
        object's rate, `sum`, `mean` over time, or `max`.
    column
        What tables call it, with its unit.
    label
        What pictures call it, without its unit.
    """

    name: str
    source: str
    kind: _Kind
    column: str
    label: str


#: Metrics by the names that people use; a metric of the series goes by its own name, too.
METRICS = tuple(starmap(Metric, _METRICS))
THROUGHPUT = METRICS[0]


def metric_of(name: str, series: Iterable[pl.DataFrame]) -> Metric:
    """Look a metric up among the named ones, and among those of the series themselves.

    Raises
    ------
    PlotError
        If no metric has this name.
    """
    sources = sorted({metric for frame in series for metric in frame["metric"].unique().to_list()})
    by_name = {metric.name: metric for metric in METRICS if metric.source in sources}
    if name in by_name:
        return by_name[name]
    matches = [metric for metric in sources if metric == name or metric.rpartition("_")[0] == name]
    if len(matches) == 1:
        return _as_kept(matches[0])
    allowed = (*by_name, *sources)
    raise PlotError.of_choice(name, noun="a metric of these results", allowed=allowed, key="metric")


def chosen_objects(
    patterns: Sequence[str], series: Iterable[pl.DataFrame], *, noun: str = "the name of a watched object"
) -> list[str]:
    """Return the watched objects that patterns name, in the order of their names; all without a pattern.

    Parameters
    ----------
    patterns
        Names in which `*` and `?` are wildcards: of an object (`x1-x2: x1>x2`), of its direction
        (`x1>x2`), or of its link (`x1-x2`).
    series
        Tables of series, or others with an `object`.
    noun
        What an error says that a name should be.

    Raises
    ------
    PlotError
        If a pattern names no object of any table.
    """
    names = sorted({name for frame in series for name in frame["object"].unique().to_list()}, key=natural)
    for pattern in patterns:
        if not any(_names(pattern, name) for name in names):
            raise _no_object(pattern, names, noun)
    return [name for name in names if not patterns or any(_names(pattern, name) for pattern in patterns)]


def in_time(result: Result, metric: Metric, *, objects: Sequence[str], points: int) -> pl.DataFrame:
    """Compute a metric of objects over equal parts of a run.

    Parameters
    ----------
    result
        What the run kept.
    metric
        Which.
    objects
        Names of objects; those that the run did not watch are left out.
    points
        The largest number of parts.

    Returns
    -------
    polars.DataFrame
        `object`, `time_us` (the part's begin), `span_us` (its length), `value` in the unit of
        `metric.column`; null for the utilisation of an object whose rate is not known. In the order of
        `objects`.
    """
    series = result.series.with_columns(pl.col("object").cast(pl.String))
    chosen = series.filter(pl.col("object").is_in(list(objects)))
    rates = rates_gbps(result.run.scenario, objects) if metric.kind == "used" else {}
    parts = over_parts(chosen, metric, points=points, capacity_gbps=rates)
    order = pl.DataFrame({"object": objects}, schema={"object": pl.String}).with_row_index("nth")
    return parts.join(order, on="object").sort("nth", "time_us").drop("nth")


def over_parts(
    series: pl.DataFrame, metric: Metric, *, points: int, capacity_gbps: Mapping[str, float] | None = None
) -> pl.DataFrame:
    """Compute a metric of every object of a table of series over equal parts of the run.

    Parameters
    ----------
    series
        The table of series.
    metric
        Which.
    points
        The largest number of parts; wider ones hold more packets, so that one more or less does not show.
    capacity_gbps
        The rate of objects, for the utilisation.

    Returns
    -------
    polars.DataFrame
        As `in_time` has it, in the order of `series`.
    """
    rows = series.filter(pl.col("metric") == metric.source)
    number = pl.int_range(pl.len()).over("object")
    together = (pl.len().over("object") + points - 1) // points
    parts = rows.with_columns(part=number // together).group_by("object", "part", maintain_order=True)
    values = parts.agg(
        pl.col("time_us").first(), span_us=pl.col("bucket_us").sum(), value=_value(metric.kind)
    ).drop("part")
    if metric.kind != "used":
        return values
    rates = [(capacity_gbps or {}).get(name) for name in values["object"]]
    return values.with_columns(value=pl.col("value") * 100 / pl.Series(rates, dtype=pl.Float64))


def natural(name: str) -> tuple[tuple[str, int], ...]:
    """Order names as people count: `h2` before `h10`.

    Examples
    --------
    >>> sorted(["h10", "h2", "h1"], key=natural)
    ['h1', 'h2', 'h10']
    """
    return tuple((text, int(digits or -1)) for text, digits in re.findall(r"([^0-9]*)([0-9]*)", name))


def _value(kind: str) -> pl.Expr:
    value, span = pl.col("value"), pl.col("bucket_us")
    expressions = {
        "sum": value.sum(),
        "rate": value.sum() * 8e-3 / span.sum(),
        "used": value.sum() * 8e-3 / span.sum(),
        "share": value.sum() * 100 / span.sum(),
        "mean": (value * span).sum() / span.sum(),
        "max": value.max(),
    }
    return expressions[kind]


def _as_kept(name: str) -> Metric:
    """Describe a metric of the series that has no name of its own here, by the words of its name."""
    parts = name.split("_")
    kind: _Kind = "max" if "max" in parts else "sum" if name in {"tx_bytes", "paused_us"} else "mean"
    return Metric(name=name, source=name, kind=kind, column=name, label=" ".join(parts[:-1]) or name)


def _names(pattern: str, name: str) -> bool:
    """Whether a pattern names an object by its name, its direction or its link."""
    link, _, direction = name.partition(": ")
    return matches(pattern, *filter(None, (name, link, direction)))


def matches(pattern: str, *names: str) -> bool:
    """Whether a pattern names one of these; brackets have no meaning of their own, as in scenarios."""
    plain = pattern.replace("[", "[[]")
    return any(fnmatch.fnmatchcase(name, plain) for name in names)


def _no_object(pattern: str, names: Sequence[str], noun: str) -> PlotError:
    directions = {name.partition(": ")[2] or name: name for name in names}
    text, near = not_a_choice(pattern, noun=noun, allowed=names)
    if near is None:
        _, near = not_a_choice(pattern, noun="", allowed=directions)
        text += f"; did you mean {near!r}?" if near else ""
    return PlotError(text, key="object", given=pattern, allowed=tuple(names), nearest=near)


def link_rates(series: pl.DataFrame, *, points: int) -> pl.DataFrame:
    """Compute what each watched link carried over equal parts of the run.

    A bucket of a short run holds few packets, and one packet more or less shows; wider parts do not.

    Parameters
    ----------
    series
        The table of series.
    points
        At most this many parts.

    Returns
    -------
    polars.DataFrame
        `object`, `time_us` (the part's begin), `gbps` (on the wire), in the order of `series`.
    """
    rates = over_parts(series, THROUGHPUT, points=points)
    return rates.select("object", "time_us", gbps=pl.col("value"))


def direction_settings(scenario: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Collect what each direction of a link ended up with, by the direction's name.

    Parameters
    ----------
    scenario
        The scenario after defaults, as `run.json` keeps it.
    """
    groups = [group for group in scenario.get("resolved", ()) if group["kind"] == "direction"]
    return {
        name: {setting["key"]: setting["value"] for setting in group["settings"]}
        for group in groups
        for name in group["objects"]
    }


def settings_of(settings: Mapping[str, dict[str, Any]], name: str) -> dict[str, Any]:
    """Look up an object of the series, `link: from>to`.

    Where parallel links share a direction, its name in the settings begins with the link's.
    """
    link, _, direction = name.partition(": ")
    return settings.get(f"{link} {direction}") or settings.get(direction) or {}


def rates_gbps(scenario: Mapping[str, Any], names: Iterable[str]) -> dict[str, float]:
    """Return the rate of each object of the series whose rate is known, in Gbit/s."""
    settings = direction_settings(scenario)
    rates = {name: settings_of(settings, name).get("rate") for name in names}
    return {name: quantity_gbps(rate) for name, rate in rates.items() if rate is not None}
