"""Pairs with other simulators: theirs and ours in turns, one process at a time."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from floodway.common.errors import FloodwayError
from floodway_lab.bench import hpcc_ns3, htsim
from floodway_lab.bench.measure import unset
from floodway_lab.bench.model import Paired, Skipped
from floodway_lab.bench.peers import MANIFEST, called
from floodway_lab.bench.usage import used
from floodway_lab.bench.work import OtherWorkError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from floodway_lab.bench.model import Pair, Peer, Run, Usage
    from floodway_lab.bench.program import Program
    from floodway_lab.bench.work import Work

__all__ = ["Turns", "missing"]

PREPARED = {"htsim": htsim.prepared, "hpcc-ns3": hpcc_ns3.prepared}


def missing(pair: Pair, peers: Mapping[str, Peer]) -> str | None:
    """Return the reason why a pair cannot be run; None if it can."""
    for file in (*(run.scenario for run in pair.ours), pair.reference or ""):
        if why := unset(file):
            return why
    if pair.peer not in peers:
        return f"{MANIFEST} names no {pair.peer!r}"
    program = peers[pair.peer].program
    return None if os.access(program, os.X_OK) and program.is_file() else f"{program} is not a program"


class Turns:
    """Runs by turns.

    Parameters
    ----------
    program
        The program that runs a scenario of ours.
    count
        Number of turns of a pair: a run of theirs in each, and of each of ours.
    on_message
        Called with a line before each run.
    """

    def __init__(self, program: Program, *, count: int, on_message: Callable[[str], None]) -> None:
        self.program = program
        self.count = count
        self.on_message = on_message

    def every(
        self, pairs: Sequence[Pair], peers: Mapping[str, Peer], folder: Path
    ) -> tuple[list[Paired], list[Skipped], list[Skipped]]:
        """Run pairs, one after another.

        Parameters
        ----------
        pairs
            The pairs to run.
        peers
            The builds of other simulators.
        folder
            The folder in which each pair gets a folder for its work.

        Returns
        -------
        tuple
            The measured pairs, those that could not be run, and those that failed.
        """
        done: list[Paired] = []
        skipped, failed = [], []
        for pair in pairs:
            if why := missing(pair, peers):
                skipped.append(Skipped(pair.name, why))
                continue
            pair_folder = folder / pair.name
            pair_folder.mkdir()
            try:
                done += self.paired(pair, peers[pair.peer], pair_folder)
            except FloodwayError as error:
                failed.append(Skipped(pair.name, str(error)))
        return done, skipped, failed

    def paired(self, pair: Pair, peer: Peer, folder: Path) -> list[Paired]:
        """Run a pair in a folder: in each turn theirs, then each of ours.

        Raises
        ------
        FloodwayError
            A program failed or was killed.
        OtherWorkError
            A program did not do the work of the pair.
        """
        self.on_message(f"{pair.name}: writing the work")
        work = PREPARED[pair.peer](pair, folder)
        theirs: list[Usage] = []
        ours: list[list[Usage]] = [[] for _ in pair.ours]
        done = ""
        for turn in range(1, self.count + 1):
            self.on_message(f"turn {turn} of {self.count}: {pair.name}, {peer.version}")
            usage, printed = used(called(peer, work.arguments), folder=folder, name=pair.peer)
            done = work.check(printed)
            theirs.append(usage)
            for run, scenario, usages in zip(pair.ours, work.scenarios, ours, strict=True):
                self.on_message(f"turn {turn} of {self.count}: {pair.name}, floodway, {run.name}")
                usages.append(self._ours(run, scenario, work, folder))
        return [
            Paired(pair=pair, run=run, peer=peer, work=done, theirs=tuple(theirs), ours=tuple(usages))
            for run, usages in zip(pair.ours, ours, strict=True)
        ]

    def _ours(self, run: Run, scenario: str, work: Work, folder: Path) -> Usage:
        usage, printed = used(self.program.call(scenario, sets=run.sets), folder=folder, name="floodway")
        finished = json.loads(printed)["flows_finished"]
        if finished != work.flows:
            raise OtherWorkError(f"floodway finished {finished:,} of {work.flows:,} flows ({run.name})")
        return usage
