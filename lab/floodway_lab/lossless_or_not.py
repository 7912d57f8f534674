"""Picture of the regions of schemes in docs/lossless-or-not.md: `python -m floodway_lab.lossless_or_not`.

The arguments are the file of numbers and the picture to write.

The picture shows, by distance and buffer, the time of each scheme with at most that buffer over the best time
of all schemes at that distance. The numbers are those that the repository keeps of the study `incast`; the
same numbers give the same bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure

from floodway.common.errors import FloodwayError
from floodway_lab.concepts import svg_of
from floodway_lab.reproduction.stored_numbers import StoredNumbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

__all__ = ["SCHEMES", "ratios", "region"]

#: Variants of each scheme in the study, of which the best counts at each point.
SCHEMES = {
    "PFC": ("pfc", "pfc-line", "pfc-full", "pfc-sized"),
    "Bifrost": ("bifrost", "bifrost-line", "bifrost-near"),
    "SWING": ("swing", "swing-line", "swing-near"),
    "IRN": ("irn",),
    "NSCC": ("nscc",),
    "RCCC": ("rccc",),
}
#: Schemes that lose nothing where the buffer holds the bytes that a long link carries in a round trip.
LOSSLESS = ("PFC", "Bifrost", "SWING")
#: Bytes in MB that 400 Gbit/s carry in a round trip over a kilometre, at 5 us/km.
MB_PER_KM = 0.5
#: Bounds of colours: within 5 % of the best, within a quarter, within twice, beyond.
BOUNDS = (1.0, 1.05, 1.25, 2.0, 1e9)
SHADES = ("#009e73", "#b8e0d2", "#f3dfae", "#e3a08a")


def ratios(table: pl.DataFrame) -> pl.DataFrame:
    """Return by scheme, distance and buffer the mean time over the best of all schemes at that distance.

    Parameters
    ----------
    table
        Numbers of the study `incast`; points at which flows did not finish count as without a number.
    """
    scheme = {variant: name for name, variants in SCHEMES.items() for variant in variants}
    ended = table.filter(
        (pl.col("metric") == "time") & pl.col("variant").is_in(list(scheme)) & (pl.col("unfinished") == 0)
    )
    means = ended.group_by("variant", "distance", "buffer").agg(pl.col("value").mean())
    best = means.with_columns(pl.col("variant").replace_strict(scheme).alias("scheme"))
    best = best.group_by("scheme", "distance", "buffer").agg(pl.col("value").min()).sort("buffer")
    best = best.with_columns(pl.col("value").cum_min().over("scheme", "distance"))
    ratio = pl.col("value") / pl.col("value").min().over("distance")
    return best.with_columns(ratio.alias("ratio")).sort("scheme", "distance", "buffer")


def region(table: pl.DataFrame) -> Figure:
    """Draw a panel for each scheme.

    Parameters
    ----------
    table
        Numbers of the study, as for `ratios`.
    """
    ratio_table = ratios(table)
    distances, buffers = (sorted(ratio_table[name].unique()) for name in ("distance", "buffer"))
    figure = Figure(figsize=(9.5, 5.6), layout="constrained")
    panels = figure.subplots(2, 3, sharex=True, sharey=True)
    for axes, name in zip(panels.flat, SCHEMES, strict=True):
        _panel(axes, name, ratio_table.filter(pl.col("scheme") == name), distances, buffers)
    for axes in panels[1]:
        axes.set_xlabel("length of the long link, km")
    for axes in panels[:, 0]:
        axes.set_ylabel("buffer, MB")
    figure.suptitle("Time of an incast over the best at that distance: green within 5 %", fontsize="medium")
    return figure


def _panel(
    axes: Axes, name: str, scheme_table: pl.DataFrame, distances: Sequence[float], buffers: Sequence[float]
) -> None:
    cells = {(row["distance"], row["buffer"]): row["ratio"] for row in scheme_table.iter_rows(named=True)}
    grid = [[cells.get((x, y), float("nan")) for x in distances] for y in buffers]
    axes.imshow(
        grid,
        cmap=ListedColormap(SHADES),
        norm=BoundaryNorm(BOUNDS, len(SHADES)),
        origin="lower",
        aspect="auto",
    )
    for column, x in enumerate(distances):
        for row, y in enumerate(buffers):
            ratio = cells.get((x, y))
            sized = name in LOSSLESS and y >= MB_PER_KM * x
            text = "" if ratio is None else f"{ratio:.3g}"
            weight = "bold" if sized else "normal"
            axes.text(column, row, text, ha="center", va="center", fontsize="small", weight=weight)
    axes.set_xticks(range(len(distances)), [f"{x:g}" for x in distances])
    axes.set_yticks(range(len(buffers)), [f"{y:g}" for y in buffers])
    axes.set_title(name, fontsize="medium")


def _main(arguments: Sequence[str]) -> None:
    numbers, file = (Path(argument) for argument in arguments)
    file.write_bytes(svg_of(region(StoredNumbers.read(numbers).table), file.stem))
    sys.stdout.write(f"picture: {file}\n")


if __name__ == "__main__":
    try:
        _main(sys.argv[1:])
    except FloodwayError as error:
        sys.exit(f"error: {error}")
