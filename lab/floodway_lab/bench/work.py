"""The work of a pair: the input for another simulator, and the check that it was done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from floodway.common.errors import FloodwayError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["OtherWorkError", "Work"]


class OtherWorkError(FloodwayError):
    """Two simulators that are compared did not do the same."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """The work of a pair, ready to be done in a folder.

    Parameters
    ----------
    arguments
        Of the other simulator.
    scenarios
        The file of each run of floodway.
    flows
        How many flows finish.
    check
        Says what the other simulator did, by what it printed; an `OtherWorkError` where that is other work.
    """

    arguments: tuple[str, ...]
    scenarios: tuple[str, ...]
    flows: int
    check: Callable[[str], str]
