"""The list of benchmarks: `benchmarks/set.toml`."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any, TypeVar

from floodway.common.errors import UnknownNameError
from floodway_lab.bench.model import Case, Count, Pair, Run, Scaling

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["Listing", "chosen"]

Named = TypeVar("Named", Case, Pair)


class Listing:
    """The set of a folder.

    Parameters
    ----------
    folder
        The folder of `set.toml` and of the scenarios.

    Attributes
    ----------
    cases, counts, pairs, scaling
        The measurements of the set.
    training
        The runs that a build with a profile is trained with.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with (folder / "set.toml").open("rb") as file:
            document = tomllib.load(file)
        self.cases: tuple[Case, ...] = tuple(self._case(case) for case in document["case"])
        self.counts: tuple[Count, ...] = tuple(self._count(count) for count in document["count"])
        self.pairs: tuple[Pair, ...] = tuple(self._pair(pair) for pair in document["pair"])
        self.training: tuple[Run, ...] = tuple(self._run(run) for run in document["training"])
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
        scenario = self._file(table.get("scenario", table["name"]))
        return Case(name=table["name"], what=table["what"], scenario=scenario)

    def _pair(self, table: dict[str, Any]) -> Pair:
        return Pair(**{**table, "ours": tuple(self._run(run) for run in table["ours"])})

    def _run(self, table: dict[str, Any]) -> Run:
        sets = tuple(table.get("sets", ()))
        return Run(name=table["name"], scenario=self._file(table["scenario"]), sets=sets)

    def _count(self, table: dict[str, Any]) -> Count:
        both = tuple(table.get("sets", ()))
        return Count(
            name=table["name"],
            what=table["what"],
            scenario=self._file(table["scenario"]),
            short=(*both, *table["short"]),
            long=(*both, *table["long"]),
        )


def chosen(listed: Sequence[Named], names: Sequence[str]) -> tuple[Named, ...]:
    """Return the cases or pairs of these names, or all without names.

    Raises
    ------
    FloodwayError
        There is no case or pair of a name.
    """
    allowed = [case.name for case in listed]
    for name in names:
        if name not in allowed:
            raise UnknownNameError.of_choice(name, noun="in the set", allowed=allowed)
    return tuple(case for case in listed if not names or case.name in names)
