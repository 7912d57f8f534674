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
        Arguments of the other simulator.
    scenarios
        The file of each run of floodway.
    flows
        Number of flows that finish.
    check
        Function of the other simulator's output that returns a sentence on its work; it raises an
        `OtherWorkError` if that is not the work of the pair.
    """

    arguments: tuple[str, ...]
    scenarios: tuple[str, ...]
    flows: int
    check: Callable[[str], str]
