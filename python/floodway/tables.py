"""Tables that a scenario names and that are not text, read for the native half."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["as_csv"]


def as_csv(path: Path) -> str:
    """Return a Parquet file's rows as CSV with a header line.

    Raises
    ------
    ValueError
        If it cannot be read; the text says why in one line.
    """
    try:
        return pl.read_parquet(path).write_csv(float_scientific=False)
    except FileNotFoundError as error:
        raise ValueError("no such file") from error
    except (OSError, pl.exceptions.PolarsError) as error:
        raise ValueError(str(error).partition("\n")[0]) from error
