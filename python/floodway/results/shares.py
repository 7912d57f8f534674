"""Flows' shares of links, from the rows of the table `shares`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from floodway.common.errors import PlotError

if TYPE_CHECKING:
    from floodway.results.result import Result

__all__ = ["KEEPS_SHARES", "share_rows"]

#: The key of a scenario that records them.
KEEPS_SHARES = 'records.shares = { links = "h1-t1" } records them'


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
