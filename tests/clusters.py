"""A cluster of Dask on this machine, for tests."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["served"]

#: Deaths of workers with one run after which that run is suspected.
MOST_DEATHS = 3


@contextlib.contextmanager
def served(workers: int) -> Iterator[str]:
    """Have a scheduler with so many workers, processes that are replaced when they die; gives its address."""
    import dask  # noqa: PLC0415 (of the extra)
    from distributed import LocalCluster  # noqa: PLC0415 (of the extra)

    started: Any
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": MOST_DEATHS - 1}),
        LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=workers,
            threads_per_worker=1,
            memory_limit=None,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL + 1,
        ) as started,
    ):
        yield str(started.scheduler_address)
