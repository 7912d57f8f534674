"""Flows of the reference and ours: matched one by one, and by buckets of sizes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from floodway_lab.validation.rows import Row, least_of, limit_of, relative, share
from floodway_lab.validation.rules import FEW_FLOWS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from floodway_lab.validation.rules import Rules

__all__ = [
    "BUCKETS",
    "KEYS",
    "Matched",
    "bucket_rows",
    "differences",
    "flow_rows",
    "matched",
    "nearest_rank",
    "tied",
]

Numbers = np.ndarray[tuple[int], np.dtype[np.float64]]

#: The columns that identify a flow.
KEYS = ("source", "destination", "source_port", "destination_port")
#: The columns that identify a flow where the two sides number ports differently.
WITHOUT_PORTS = ("source", "destination", "size_bytes", "start_ns")
#: Columns in which flows are alike: a tie may favour any of them.
ALIKE = ("start_ns", "size_bytes", "destination")
#: The least share of flows with ties at which ties matter in a case.
FEW_TIED = 0.01
#: Largest relative differences that count as close, and as near.
CLOSE, NEAR = 0.005, 0.02
#: Buckets of sizes: their name, the least payload, and the payload that is beyond them.
BUCKETS = (
    ("below 1 KB", 0, 1_000),
    ("1 to 10 KB", 1_000, 10_000),
    ("10 to 100 KB", 10_000, 100_000),
    ("100 KB to 1 MB", 100_000, 1_000_000),
    ("1 MB and more", 1_000_000, 2**63 - 1),
)


@dataclass(frozen=True, kw_only=True)
class Matched:
    """Flows of two sides.

    Attributes
    ----------
    both
        Flows of both sides: the reference's columns, and ours as `own_start_ns`, `own_fct_ns`,
        `own_standalone_ns`.
    by_ports
        Number of these with the same ports; the others have the same ends, size and start.
    only_reference, only_ours
        Flows that one side has finished and the other has not.
    """

    both: pl.DataFrame
    by_ports: int
    only_reference: pl.DataFrame
    only_ours: pl.DataFrame

    @property
    def unmatched(self) -> int:
        """Number of flows that only one side has finished."""
        return len(self.only_reference) + len(self.only_ours)


def matched(reference: pl.DataFrame, ours: pl.DataFrame) -> Matched:
    """Match flows by their ends and ports, the rest by ends, size and start.

    Parameters
    ----------
    reference, ours
        Columns of `files.FLOWS`.
    """
    renamed = {name: f"own_{name}" for name in ("start_ns", "fct_ns", "standalone_ns")}
    by_ports, left, right = _joined(reference, ours.rename(renamed), KEYS, KEYS)
    right_keys = tuple("own_start_ns" if key == "start_ns" else key for key in WITHOUT_PORTS)
    by_start, left, right = _joined(left, right, WITHOUT_PORTS, right_keys)
    columns = [*reference.columns, *renamed.values()]
    both = pl.concat([by_ports.select(columns), by_start.select(columns)])
    back = {new_name: name for name, new_name in renamed.items()}
    return Matched(both=both, by_ports=len(by_ports), only_reference=left, only_ours=right.rename(back))


def tied(flows: pl.DataFrame) -> bool:
    """Return whether flows start at the same instant at the same host, so that exact ties decide."""
    if flows.is_empty():
        return False
    at = [pl.struct("start_ns", end).is_duplicated() for end in ("source", "destination")]
    return bool(flows.select((at[0] | at[1]).mean()).item() > FEW_TIED)


def differences(both: pl.DataFrame, *, ranked: bool = True) -> Numbers:
    """Return the relative differences of completion times.

    Parameters
    ----------
    both
        As in `Matched`.
    ranked
        Whether flows with the same start, size and destination are compared by their ranks.
    """
    times = [pl.col(name).cast(pl.Float64) for name in ("fct_ns", "own_fct_ns")]
    if ranked:
        times = [time.sort().over(ALIKE) for time in times]
    pairs = both.select(reference=times[0], own=times[1])
    reference, ours = (pairs[name].to_numpy() for name in pairs.columns)
    change: Numbers = (ours - reference) / reference
    return change


def flow_rows(reference: pl.DataFrame, ours: Sequence[pl.DataFrame], rules: Rules) -> list[Row]:
    """Compare flow by flow, with each seed of ours."""
    matches = [matched(reference, frame) for frame in ours]
    changes = [differences(match.both) for match in matches]
    sizes = [np.abs(change) for change in changes]
    own_spread = _own_spread(ours) if rules.or_spread else None
    singly = [differences(match.both, ranked=False) for match in matches]
    all_of_them = least_of(1.0)
    starts, alone = (_equal(matches, column) for column in ("start_ns", "standalone_ns"))
    return [
        _unmatched_row(matches, rules),
        share("start.equal", "starts equal to the ns", ours=starts, limit=all_of_them),
        share("standalone.equal", "standalone times equal", ours=alone, limit=None),
        share(
            "fct.equal",
            "FCT equal to the ns",
            ours=[_share(change == 0) for change in singly],
            limit=least_of(rules.equal),
        ),
        share(
            "fct.close",
            "FCT within 0.5 %",
            ours=[_share(s <= CLOSE) for s in sizes],
            limit=least_of(rules.close),
        ),
        share("fct.near", "FCT within 2 %", ours=[_share(s <= NEAR) for s in sizes], limit=None),
        share(
            "fct.largest",
            "largest difference of an FCT",
            ours=[float(s.max(initial=0.0)) for s in sizes],
            limit=limit_of(rules.largest),
        ),
        share(
            "fct.typical",
            "median difference of FCTs",
            ours=[_median(s) for s in sizes],
            limit=limit_of(rules.typical, ours=own_spread),
        ),
        share(
            "fct.bias",
            "median signed difference",
            ours=[_median(c) for c in changes],
            limit=None,
            unit="signed share",
        ),
    ]


def bucket_rows(reference: pl.DataFrame, ours: Sequence[pl.DataFrame], rules: Rules) -> Iterator[Row]:
    """Compare percentiles of completion time and slowdown, of all flows and by size."""
    for bucket, low, high in (("all sizes", 0, 2**63 - 1), *BUCKETS):
        inside = pl.col("size_bytes").is_between(low, high, closed="left")
        flows, frames = reference.filter(inside), [frame.filter(inside) for frame in ours]
        if flows.is_empty() or any(frame.is_empty() for frame in frames):
            continue
        has_limit = len(flows) >= FEW_FLOWS
        for metric, name, rank, bound, or_spread in (
            ("fct", "p50", 0.5, rules.p50, rules.or_spread),
            ("fct", "p99", 0.99, rules.p99, False),
            ("slowdown", "p50", 0.5, rules.p50, rules.or_spread),
            ("slowdown", "p99", 0.99, rules.slowdown, rules.or_spread),
        ):
            values = [nearest_rank(_metric(frame, metric), rank) for frame in frames]
            yield relative(
                f"{metric}.{name}.{bucket.replace(' ', '-')}",
                f"{metric if metric == 'slowdown' else 'FCT'} {name}, {bucket} ({len(flows):,})",
                "us" if metric == "fct" else "slowdown",
                reference=nearest_rank(_metric(flows, metric), rank),
                ours=values,
                limit=limit_of(bound if has_limit else None, ours=values if or_spread else None),
                note="" if has_limit else f"fewer than {FEW_FLOWS} flows",
            )


def nearest_rank(values: Numbers, rank: float) -> float:
    """Return the least value that so large a share of the values does not exceed.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_rank(np.arange(1.0, 101.0), 0.99)
    99.0
    """
    place = int(np.ceil(rank * len(values) - 1e-9)) - 1
    return float(np.sort(values)[max(place, 0)])


def _unmatched_row(matches: Sequence[Matched], rules: Rules) -> Row:
    """Count the flows that only one side has finished; the limit is on their share."""
    lost = [match.unmatched / max(len(match.both) + match.unmatched, 1) for match in matches]
    otherwise = max(len(match.both) - match.by_ports for match in matches)
    return Row(
        key="flows.unmatched",
        label="flows that one side lacks",
        unit="count",
        ours=tuple(float(match.unmatched) for match in matches),
        bounded_value=median(lost),
        limit=limit_of(rules.lost),
        note=f"{otherwise:,} matched by size and start, as their ports differ" if otherwise else "",
    )


def _own_spread(ours: Sequence[pl.DataFrame]) -> float:
    """Return the median over pairs of our seeds of the median difference of their flows."""
    pairs = [_median(np.abs(differences(matched(a, b).both))) for a, b in combinations(ours, 2)]
    return median(pairs) if pairs else 0.0


def _joined(
    left: pl.DataFrame, right: pl.DataFrame, left_on: Sequence[str], right_on: Sequence[str]
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Join one to one, the n-th with the n-th of equal keys; return also the unmatched rows of both."""
    left_nth, right_nth = _numbered(left, left_on), _numbered(right, right_on)
    a, b = [*left_on, "nth"], [*right_on, "nth"]
    both = left_nth.join(
        right_nth, left_on=a, right_on=b, how="inner", coalesce=False, suffix="_own", maintain_order="left"
    )
    left_only = left_nth.join(right_nth, left_on=a, right_on=b, how="anti", maintain_order="left")
    right_only = right_nth.join(left_nth, left_on=b, right_on=a, how="anti", maintain_order="left")
    return both, left_only.drop("nth"), right_only.drop("nth")


def _numbered(frame: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    start = "start_ns" if "start_ns" in frame.columns else "own_start_ns"
    nth = pl.int_range(pl.len()).over(list(keys)).alias("nth")
    return frame.sort(start, maintain_order=True).with_columns(nth)


def _equal(matches: Sequence[Matched], column: str) -> list[float]:
    same = pl.col(column) == pl.col(f"own_{column}")
    return [_share(match.both.select(same).to_series().to_numpy()) for match in matches]


def _share(holds: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    """Return the share of true values; of none, 0."""
    return float(holds.mean()) if len(holds) else 0.0


def _median(values: Numbers) -> float:
    return float(np.median(values)) if len(values) else float("nan")


def _metric(flows: pl.DataFrame, metric: str) -> Numbers:
    expression = pl.col("fct_ns") / (
        1000.0 if metric == "fct" else pl.col("standalone_ns").clip(lower_bound=1)
    )
    values: Numbers = flows.select(expression).to_series().to_numpy()
    return values
