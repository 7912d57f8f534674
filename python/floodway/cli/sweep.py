"""The sweep of `floodway plot busbw SCENARIO`: a collective in several sizes, as nccl-tests run it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import click

import floodway
from floodway.cli.inputs import parsed
from floodway.cli.output import warnings as print_warnings
from floodway.cli.watch import Watch
from floodway.common.documents import Document, Section, Table, time_text
from floodway.plot.curves import Source
from floodway.results.collectives import bandwidths
from floodway.results.nccl_tests import UNKNOWN
from floodway.results.quantities import quantity_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from floodway.results.nccl_tests import Measured

__all__ = ["Sizes", "collective_of", "sweep"]

#: Exponents of 1024 for the suffixes of nccl-tests' sizes.
POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
#: Maximum number of sizes.
MOST_SIZES = 1000
#: Bytes of a float, the default type of nccl-tests.
ELEMENT = 4
#: Operations for which nccl-tests print a reduction, and those for which they print a root.
REDUCING = {"all-reduce", "reduce-scatter", "reduce"}
ROOTED = {"broadcast", "reduce", "gather", "scatter"}
#: Columns of nccl-tests' table.
HEADER = (
    ("size", "count", "type", "redop", "root", "time", "algbw", "busbw"),
    ("(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)"),
)
WIDTHS = (12, 13, 7, 6, 5, 12, 8, 8)
#: Further columns for each measured table: time, bus bandwidth, and the ratio of the simulated one to it.
MEASURED = (("time", "busbw", "ratio"), ("(us)", "(GB/s)", "(busbw)"))
MEASURED_WIDTHS = (12, 8, 8)
#: Operations that count the elements of one rank's part.
OF_PARTS = {"all-gather", "reduce-scatter", "all-to-all", "gather", "scatter"}


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """The sizes of a sweep, by the options of nccl-tests.

    Attributes
    ----------
    first, last
        First and last size, such as `8`, `128M` (nccl-tests' powers of 1024) or `64MB`.
    factor, step
        Factor or increment from one size to the next; at most one of them.
    iterations
        Number of executions of each size.
    """

    first: str
    last: str
    factor: int | None = None
    step: str | None = None
    iterations: int = 1

    def all(self) -> list[int]:
        """Return the sizes in bytes, each a multiple of an element, without duplicates.

        Raises
        ------
        click.BadParameter
            If an option is not a size, the last size is less than the first, or there are over a thousand.
        """
        first, last = _bytes("-b", self.first), _bytes("-e", self.last)
        if last < first:
            raise click.BadParameter(f"{self.last} is less than -b {self.first}", param_hint="-e")
        if self.factor is not None and self.step is not None:
            raise click.BadParameter("it and -i are given together: give one", param_hint="-f")
        step = None if self.step is None else _bytes("-i", self.step)
        if step == 0:
            raise click.BadParameter("0 is not allowed; the minimum is 1", param_hint="-i")
        factor = 2 if self.factor is None else self.factor
        sizes = [first]
        while len(sizes) <= MOST_SIZES:
            following = sizes[-1] + step if step is not None else max(sizes[-1], 1) * factor
            if following > last:
                # nccl-tests round sizes down to whole elements.
                return list(dict.fromkeys(size // ELEMENT * ELEMENT for size in sizes))
            sizes.append(following)
        message = f"from {self.first} to {self.last} there are more than {MOST_SIZES:,} sizes"
        raise click.BadParameter(message, param_hint="-e")


def _bytes(option: str, text: str) -> int:
    """Read a size, as nccl-tests do or with a unit, and return it in bytes."""
    plain = re.fullmatch(r"(\d{1,18})([KMGT]?)", text.strip(), flags=re.IGNORECASE)
    if plain is not None:
        return int(plain[1]) << 10 * POWERS[plain[2].upper()]
    try:
        return quantity_bytes(text)
    except ValueError as error:
        message = f"{error}; nccl-tests' 8, 32K, 128M (powers of 1024) or 64MB"
        raise click.BadParameter(message, param_hint=option) from None


def sweep(  # noqa: PLR0913 (what the command has)
    path: Path,
    *,
    sets: Sequence[str],
    sizes: Sizes,
    workloads: Sequence[str],
    measured: Sequence[Measured],
    quiet: bool,
) -> tuple[Source, Document | None]:
    """Run a scenario's collective in each size, one after another.

    Parameters
    ----------
    path
        The scenario's file.
    sets
        Values in place of the scenario's, as `KEY.PATH=VALUE`.
    sizes
        Sizes of the collective.
    workloads
        Name of the collective's workload; empty if the scenario has only one.
    measured
        Tables of nccl-tests; those of the same operation get columns.
    quiet
        Whether progress and warnings are left out.

    Returns
    -------
    tuple
        Results labelled by the scenario's name, and the document of bandwidths; None if no collective has
        completed.

    Raises
    ------
    click.BadParameter
        If the scenario has no such collective, or several without a name to choose one.
    """
    scenario = parsed(path, sets=sets)
    name = collective_of(scenario, workloads)
    key = f"workload.{name}.collective"
    chosen = ", ".join(f'"{size}B"' for size in sizes.all())
    scenario = scenario.replace(
        sets=[(f"{key}.size", f"[{chosen}]"), (f"{key}.repeat", str(sizes.iterations))]
    )
    print_warnings(() if quiet else scenario.warnings)
    with Watch(scenario, quiet=quiet) as watch:
        result = floodway.run(scenario, on_progress=watch.update)
    source = Source(label=scenario.name, results=(result,))
    if result.collectives is None:
        return source, None
    rows = bandwidths(result.collectives)
    return source, _document(scenario.name, rows.filter(rows["workload"].cast(str) == name), measured)


def collective_of(scenario: floodway.Scenario, names: Sequence[str]) -> str:
    """Return the workload whose collective is run, by the names that are given.

    Raises
    ------
    click.BadParameter
        If the scenario has no such collective, or several without a name to choose one.
    """
    written = cast("Sequence[Mapping[str, object]]", scenario.to_dict().get("workload", []))
    collectives = [str(workload["name"]) for workload in written if "collective" in workload]
    listed = ", ".join(collectives)
    if not collectives:
        message = f"{scenario.name} has no workload with a collective, whose sizes it would run"
        raise click.BadParameter(message, param_hint="DIR")
    if len(names) > 1 or (not names and len(collectives) > 1):
        raise click.BadParameter(f"name one of the collectives: {listed}", param_hint="--workload")
    if names and names[0] not in collectives:
        message = f"{names[0]!r} is no workload with a collective; those are: {listed}"
        raise click.BadParameter(message, param_hint="--workload")
    return names[0] if names else collectives[0]


def _document(title: str, rows: pl.DataFrame, measured: Sequence[Measured]) -> Document | None:
    """Return the largest bus bandwidth, a row for each size, and behind them nccl-tests' own table."""
    if rows.is_empty():
        return None
    rows = rows.sort("bytes")
    kind = str(rows["kind"][0])
    beside = [log for log in measured if log.kind in {kind, UNKNOWN}]
    best = max(rows.iter_rows(named=True), key=lambda row: _busbw(row)[1])
    columns = ["size", "time", "algbw", "busbw"]
    columns += [f"{column} of {log.label}" for log in beside for column in ("busbw", "ratio to that")]
    lines = tuple(
        (
            f"{row['bytes']:,} B",
            time_text(row["mean_us"]),
            *(f"{rate:.2f} GB/s" for rate in _busbw(row)),
            *(cell for log in beside for cell in _of_size(log, row)[1:]),
        )
        for row in rows.iter_rows(named=True)
    )
    table = Table(columns=tuple(columns), rows=lines)
    # The largest sizes remain: they determine the bandwidth.
    largest_first = replace(table, rows=lines[::-1]).shortened("smaller sizes")
    rate, size = f"{_busbw(best)[1]:.2f} GB/s", f"{best['bytes']:,} bytes"
    return Document(
        title=f"{kind} of {title}, {rows['ranks'][0]} ranks, simulated",
        answer=f"The bus bandwidth is at most {rate}, at {size}; on average {_average(rows):.2f} GB/s.",
        table=replace(largest_first, rows=largest_first.rows[::-1]),
        sections=(Section(title="As nccl-tests report", verbatim=tuple(_as_nccl_tests(kind, rows, beside))),),
        data={"scenario": title, "rows": rows.to_dicts()},
    )


def _busbw(row: Mapping[str, Any]) -> tuple[float, float]:
    """Return the algorithm bandwidth and the bus bandwidth in GB/s; 0 if no time has passed."""
    algbw, busbw = (row[key] / 8 if row["mean_us"] else 0.0 for key in ("algbw_gbps", "busbw_gbps"))
    return algbw, busbw


def _average(rows: pl.DataFrame) -> float:
    """Return the mean bus bandwidth over the sizes, in GB/s."""
    return sum(_busbw(row)[1] for row in rows.iter_rows(named=True)) / len(rows)


def _as_nccl_tests(kind: str, rows: pl.DataFrame, beside: Sequence[Measured]) -> Iterator[str]:
    """Yield a line for each size, with nccl-tests' columns and the measured values."""
    if beside:
        labels = " and ".join(log.label for log in beside)
        yield f"# last columns: as measured in {labels}; ratio: simulated busbw over measured"
    widths = (*WIDTHS, *MEASURED_WIDTHS * len(beside))
    for names, behind in zip(HEADER, MEASURED, strict=True):
        yield "# " + _line((*names, *behind * len(beside)), widths)
    redop, root = ("sum" if kind in REDUCING else "none"), ("0" if kind in ROOTED else "-1")
    for row in rows.iter_rows(named=True):
        parts = row["ranks"] if kind in OF_PARTS else 1
        numbers = (f"{number:.2f}" for number in (row["mean_us"], *_busbw(row)))
        words = (str(row["bytes"]), str(row["bytes"] // ELEMENT // parts), "float", redop, root, *numbers)
        yield "  " + _line((*words, *(word for log in beside for word in _of_size(log, row))), widths)
    yield f"# Avg bus bandwidth    : {_average(rows):.4f}"


def _of_size(measured: Measured, row: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return time and bus bandwidth measured in a row's size, and the ratio of the simulated bandwidth."""
    rows = measured.data.filter(measured.data["bytes"] == row["bytes"])
    if rows.is_empty():
        return ("-", "-", "-")
    busbw_gbps = rows["busbw_gbps"][0]
    ratio = f"{row['busbw_gbps'] / busbw_gbps:.2f}" if busbw_gbps else "-"
    return (f"{rows['mean_us'][0]:.2f}", f"{busbw_gbps / 8:.2f}", ratio)


def _line(words: Sequence[str], widths: Sequence[int]) -> str:
    return " ".join(f"{word:>{width}}" for word, width in zip(words, widths, strict=True))
