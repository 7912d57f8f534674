"""Summaries of watched links: what they carried, and for how long they were blocked while packets waited.

A link is loaded while a full packet or more waits for it, on average over a bucket of its series: a
bucket with less may be idle because it has no traffic, which says nothing about flow control.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from floodway.results.metrics import direction_settings, link_rates, settings_of
from floodway.results.quantities import quantity_bytes, quantity_gbps, quantity_us

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["LinkSummary", "link_summaries"]

#: The busiest part of a run is one of this many.
PARTS = 100


@dataclass(frozen=True, kw_only=True)
class LinkSummary:
    """One direction of a watched link.

    Attributes
    ----------
    object
        Its name, as `link: from>to`.
    mean_gbps, peak_gbps
        Throughput over the run, in Gbit/s on the wire, and over its busiest hundredth.
    rate_gbps, delay_us
        Its rate and propagation delay; none where the scenario's record does not say.
    loaded_us
        How long it was loaded, in microseconds: a full packet or more waited for it.
    loaded_gbps
        Throughput while loaded; none where it never was.
    loaded_idle_share
        Share of the rate that it did not use while loaded.
    loaded_paused_share
        Share of the loaded time during which PFC blocked a class, summed over classes.
    queue_peak_bytes
        The longest queue of packets that waited for it; none in series that have no queues.
    receiver_peak_bytes
        The most that the port at its receiving end held of one class.
    receiver_buffer_bytes
        The size of that port's own buffer; none where it has none.
    """

    object: str
    mean_gbps: float
    peak_gbps: float
    rate_gbps: float | None
    delay_us: float | None
    loaded_us: float
    loaded_gbps: float | None
    loaded_idle_share: float | None
    loaded_paused_share: float | None
    queue_peak_bytes: int | None
    receiver_peak_bytes: int | None
    receiver_buffer_bytes: int | None


def link_summaries(
    series: pl.DataFrame, counters: pl.DataFrame, scenario: Mapping[str, Any]
) -> tuple[LinkSummary, ...]:
    """Summarise every watched link.

    Parameters
    ----------
    series, counters
        The tables of a result.
    scenario
        The scenario after defaults, as `run.json` keeps it.
    """
    sent = series.filter(pl.col("metric") == "tx_bytes").group_by("object", maintain_order=True)
    means = sent.agg(mean=pl.col("value").sum() * 8e-3 / pl.col("bucket_us").sum())
    parts = link_rates(series, points=PARTS).group_by("object").agg(peak=pl.col("gbps").max())
    longest = series.filter(pl.col("metric") == "queue_max_bytes").group_by("object")
    rows = means.join(parts, on="object", maintain_order="left")
    rows = rows.join(longest.agg(queue=pl.col("value").max()), on="object", how="left", maintain_order="left")
    settings = direction_settings(scenario)
    mtu = quantity_bytes(scenario["mtu"])
    return tuple(
        _summary(name, numbers, loaded_part(series, name, mtu=mtu), counters, settings_of(settings, name))
        for name, *numbers in rows.iter_rows()
    )


def loaded_part(series: pl.DataFrame, name: str, *, mtu: int) -> pl.DataFrame:
    """Return the buckets of a link's series in which it was loaded.

    Parameters
    ----------
    series
        The table of series.
    name
        The link's direction, as `link: from>to`.
    mtu
        Bytes of a full packet.

    Returns
    -------
    polars.DataFrame
        `time_us`, `bucket_us`, and a column for each metric of the series.
    """
    link_series = series.filter(pl.col("object") == name).with_columns(pl.col("metric").cast(pl.String))
    wide = link_series.pivot(on="metric", index=["time_us", "bucket_us"], values="value")
    return wide.filter(pl.col("queue_mean_bytes") >= mtu) if "queue_mean_bytes" in wide.columns else wide[:0]


def _summary(
    name: str,
    mean_peak_and_queue: Sequence[Any],
    loaded: pl.DataFrame,
    counters: pl.DataFrame,
    settings: Mapping[str, Any],
) -> LinkSummary:
    mean, peak, queue = mean_peak_and_queue
    rate_gbps = quantity_gbps(settings["rate"]) if "rate" in settings else None
    loaded_us = float(loaded["bucket_us"].sum())
    loaded_gbps = float(loaded["tx_bytes"].sum()) * 8e-3 / loaded_us if loaded_us else None
    return LinkSummary(
        object=name,
        mean_gbps=mean,
        peak_gbps=peak,
        rate_gbps=rate_gbps,
        delay_us=quantity_us(settings["delay"]) if "delay" in settings else None,
        loaded_us=loaded_us,
        loaded_gbps=loaded_gbps,
        # Older versions counted a packet in the bucket in which its transmission started.
        loaded_idle_share=max(0.0, 1 - loaded_gbps / rate_gbps) if loaded_gbps and rate_gbps else None,
        loaded_paused_share=float(loaded["paused_us"].sum()) / loaded_us if loaded_us else None,
        queue_peak_bytes=None if queue is None else int(queue),
        receiver_peak_bytes=_receiver_peak(name, counters, settings),
        receiver_buffer_bytes=_receiver_buffer(settings),
    )


def _receiver_peak(name: str, counters: pl.DataFrame, settings: Mapping[str, Any]) -> int | None:
    link, _, direction = name.partition(": ")
    # A link with relays is called after the switches behind them; it is the relay that holds what arrives.
    receiver = settings.get("relays", {}).get("to", direction.partition(">")[2])
    rows = counters.filter((pl.col("link") == link) & (pl.col("node") == receiver))
    return int(rows["peak_bytes"].max()) if len(rows) else None  # type: ignore[arg-type]


def _receiver_buffer(settings: Mapping[str, Any]) -> int | None:
    static = settings.get("buffer", {}).get("static")
    return quantity_bytes(static["size"]) if static and static["size"] != "auto" else None
