"""Tables in files that the native module cannot read as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["as_csv"]

#: The most rows of a list of flows: as many as a text of the largest size can have.
_MOST_ROWS = 20_000_000


def as_csv(path: Path) -> str:
    """Return a Parquet file's rows as CSV with a header line.

    Raises
    ------
    ValueError
        If it cannot be read; the text says why in one line.
    """
    try:
        rows = pl.scan_parquet(path).select(pl.len()).collect().item()
        if rows > _MOST_ROWS:
            raise ValueError(f"it has {rows:,} rows, and the limit is {_MOST_ROWS:,}")
        return pl.read_parquet(path).write_csv(float_scientific=False)
    except FileNotFoundError as error:
        raise ValueError("no such file") from error
    except (OSError, pl.exceptions.PolarsError) as error:
        raise ValueError(str(error).partition("\n")[0]) from error
