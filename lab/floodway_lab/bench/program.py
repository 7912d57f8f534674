"""The program that measures one run."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floodway.common.errors import FloodwayError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Program", "built"]

BUILD = ("cargo", "bench", "--locked", "--quiet", "-p", "floodway-scenario", "--bench", "suite", "--no-run")
_COLLECTED = re.compile(r"Collected : ([\d ]+)")
_MISSES = re.compile(r"(D1|LLd) +misses: +([\d,]+)")


def built(root: Path) -> Program:
    """Build the program, and return it.

    Parameters
    ----------
    root
        The repository.

    Raises
    ------
    FloodwayError
        It cannot be built.
    """
    completed = subprocess.run(
        [*BUILD, "--message-format=json"], cwd=root, stdout=subprocess.PIPE, text=True, check=False
    )
    lines = [json.loads(line) for line in completed.stdout.splitlines() if line.startswith("{")]
    executables = [line["executable"] for line in lines if line.get("executable")]
    if completed.returncode != 0 or not executables:
        raise FloodwayError(f"`{' '.join(BUILD)}` failed, with what it says above")
    return Program((executables[-1],))


class Program:
    """The program.

    Parameters
    ----------
    command
        The command that starts it.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self.command = tuple(command)

    def run(
        self, scenario: str, *, sets: Sequence[str] = (), threads: int = 1, build_only: bool = False
    ) -> dict[str, Any]:
        """Run a scenario in a process of its own.

        Parameters
        ----------
        scenario
            Its file.
        sets
            Settings, `path=value`.
        threads
            Threads of the run.
        build_only
            Whether to stop after the network is built.

        Returns
        -------
        dict
            The document that the program printed.

        Raises
        ------
        FloodwayError
            It failed; the text has its own message.
        """
        command = self.call(scenario, sets=sets, threads=threads)
        if build_only:
            command.append("--build-only")
        return _printed(_completed(command).stdout)

    def call(self, scenario: str, *, sets: Sequence[str] = (), threads: int = 1) -> list[str]:
        """Return the command that runs a scenario."""
        return [*self.command, *_arguments(scenario, sets), "--threads", str(threads)]

    def instructions(self, scenario: str, *, sets: Sequence[str] = ()) -> tuple[dict[str, Any], int]:
        """Run a scenario under valgrind's callgrind.

        Returns
        -------
        tuple
            The document that the program printed, and the number of instructions that it took.

        Raises
        ------
        FloodwayError
            It failed; the text has its own message.
        """
        tool = ("valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}")
        completed = _completed([*tool, *self.command, *_arguments(scenario, sets)])
        collected = _COLLECTED.search(completed.stderr)
        if collected is None:
            raise FloodwayError(f"valgrind counted no instructions: {completed.stderr.strip()}")
        return _printed(completed.stdout), int(collected[1].replace(" ", ""))

    def misses(self, scenario: str, *, sets: Sequence[str] = ()) -> tuple[dict[str, Any], dict[str, int]]:
        """Run a scenario under valgrind's cachegrind, which simulates this machine's caches.

        Returns
        -------
        tuple
            The document that the program printed, and misses of data by cache: `D1`, the first level, and
            `LLd`, the last.

        Raises
        ------
        FloodwayError
            It failed; the text has its own message.
        """
        tool = ("valgrind", "--tool=cachegrind", "--cache-sim=yes", f"--cachegrind-out-file={os.devnull}")
        completed = _completed([*tool, *self.command, *_arguments(scenario, sets)])
        misses = {level: int(count.replace(",", "")) for level, count in _MISSES.findall(completed.stderr)}
        return _printed(completed.stdout), misses


def _arguments(scenario: str, sets: Sequence[str]) -> list[str]:
    return [os.path.expandvars(scenario), *(part for setting in sets for part in ("--set", setting))]


def _completed(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    if completed.returncode != 0:
        name = Path(command[0]).name
        raise FloodwayError(f"{name} failed: {completed.stderr.strip() or completed.returncode}")
    return completed


def _printed(text: str) -> dict[str, Any]:
    printed: dict[str, Any] = json.loads(text)
    return printed
