"""Shards: processes, on one machine or many, that divide a list of runs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from floodway.common.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Shard"]

#: An element of the list that is divided.
Each = TypeVar("Each")


@dataclass(frozen=True)
class Shard:
    """One of the processes that divide a list of runs: it has every `count`-th run, from `index` on.

    Parameters
    ----------
    index
        Number of the shard, from 0.
    count
        Number of shards.

    Raises
    ------
    InputError
        If there is no such shard.
    """

    index: int
    count: int

    def __post_init__(self) -> None:
        if not 0 <= self.index < self.count:
            text = f"{self}: no such shard: the first of n shards is 0/n and the last n-1/n"
            raise InputError(text, given=str(self))

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read a shard as users write it, such as `0/4`.

        Raises
        ------
        InputError
            If it is not a shard.
        """
        match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
        if match is None:
            raise InputError(f"{text!r} is not a shard, such as 0/4: the first of four", given=text)
        return cls(int(match[1]), int(match[2]))

    def of(self, runs: Sequence[Each]) -> Sequence[Each]:
        """Return this shard's part of a list."""
        return runs[self.index :: self.count]
