"""The list of what is run: `benchmarks/set.toml`."""

from __future__ import annotations

import difflib
import tomllib
from typing import TYPE_CHECKING, Any

from floodway.bench.model import Case, Count, Peer, Scaling
from floodway.errors import FloodwayError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["Listing", "chosen"]


class Listing:
    """The set of a folder.

    Parameters
    ----------
    folder
        The folder of `set.toml` and of the scenarios.

    Attributes
    ----------
    cases, counts, scaling
        What is measured.
    source
        Where the numbers of other simulators come from.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with (folder / "set.toml").open("rb") as file:
            document = tomllib.load(file)
        self.cases: tuple[Case, ...] = tuple(self._case(case) for case in document["case"])
        self.counts: tuple[Count, ...] = tuple(self._count(count) for count in document["count"])
        self.source: str = document["source"]["text"]
        scaling = document["scaling"]
        self.scaling = Scaling(
            scenario=self._file(scaling["scenario"]),
            ports=tuple(scaling["ports"]),
            payload=scaling["payload"],
            most_hosts_simulated=scaling["most-hosts-simulated"],
        )

    def _file(self, scenario: str) -> str:
        return scenario if scenario.startswith("${") else str(self.folder / f"{scenario}.toml")

    def _case(self, table: dict[str, Any]) -> Case:
        peers = (
            Peer(**{key.replace("-", "_"): value for key, value in peer.items()})
            for peer in table.get("peer", ())
        )
        scenario = self._file(table.get("scenario", table["name"]))
        return Case(name=table["name"], what=table["what"], scenario=scenario, peers=tuple(peers))

    def _count(self, table: dict[str, Any]) -> Count:
        both = tuple(table.get("sets", ()))
        return Count(
            name=table["name"],
            what=table["what"],
            scenario=self._file(table["scenario"]),
            short=(*both, *table["short"]),
            long=(*both, *table["long"]),
        )


def chosen(cases: Sequence[Case], names: Sequence[str]) -> tuple[Case, ...]:
    """Return the cases of these names, or all where none is named.

    Raises
    ------
    FloodwayError
        There is no such case.
    """
    known = [case.name for case in cases]
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            raise FloodwayError(f"no case is called {name!r}; there are {', '.join(known)}{meant}")
    return tuple(case for case in cases if not names or case.name in names)
