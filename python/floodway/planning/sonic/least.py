"""The least headroom that holds in the hardest run, and a folder that keeps it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from floodway.common.errors import RunError, unwritable
from floodway.common.files import read_text
from floodway.planning.link import Buffers, worst_payloads
from floodway.planning.needs import flow_control
from floodway.planning.question import HEADERS
from floodway.planning.runs import simulated
from floodway.planning.trials import trial
from floodway.results.files import new_folder, replace_file
from floodway.scenarios.keys import engine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from floodway.common.errors import OutputError
    from floodway.planning.question import Question
    from floodway.planning.runs import Simulate

__all__ = ["kept", "least_headroom"]

#: Changes when what is kept does.
FORMAT = 1


def least_headroom(question: Question, simulate: Simulate = simulated) -> int:
    """Return the least headroom of a class with which nothing is lost in the hardest run.

    It is the most that the class held beyond XOFF, which is a multiple of what the frames of the mix occupy,
    so that the packet that causes the pause just fills it. Of frames of any size the run has those that fill
    cells worst, one after the other; the formula counts the largest as the last one as well, which makes it
    larger by about that frame.

    Raises
    ------
    RunError
        If the planned size lost packets, or no least size was found.
    """
    pfc = flow_control("pfc")
    held = sum(_held(question, payload + HEADERS) for payload in worst_payloads(question))
    size = pfc.no_loss(question)
    past = (pfc.thresholds(question, size).xoff or 0) % held
    planned = pfc.thresholds(question, size + (held - past if past else 0))
    buffers = Buffers(control=planned.control, size=planned.size)
    found = trial(question, buffers, pauses=True, with_least=True, simulate=simulate)
    if found.least is None or planned.xoff is None:
        link = f"{question.rate_bps // 1_000_000} Mb/s over {question.length_m} m"
        reason = f"{found.lost_packets} packets were lost at the planned size"
        raise RunError(f"{link}: no least headroom was found: {reason}")
    return found.least - planned.xoff


def _held(question: Question, frame: int) -> int:
    """Return what a frame occupies."""
    return -(-frame // question.cell_bytes) * question.cell_bytes


def kept(
    folder: Path,
    least: Callable[[Question, Simulate], int],
    *,
    on_error: Callable[[OutputError], None],
) -> Callable[[Question, Simulate], int]:
    """Return the same function with a memory: what a folder has of this engine is not computed again.

    Parameters
    ----------
    folder
        Gets a file for each question, written whole or not at all, so that a stop loses one result at most.
    least
        What computes a result.
    on_error
        Called, perhaps in another thread, for each result that cannot be kept; it is returned all the same.
    """

    def found(question: Question, simulate: Simulate) -> int:
        asked = {"format": FORMAT, "engine": engine(), "question": asdict(question)}
        text = json.dumps(asked, sort_keys=True)
        file = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"
        before = _read(file, asked)
        if before is not None:
            return before
        value = least(question, simulate)
        content = json.dumps(asked | {"least_headroom_bytes": value}, indent=2) + "\n"
        try:
            with new_folder(folder):
                replace_file(file, content.encode())
        except OSError as error:
            on_error(unwritable(folder, error))
        return value

    return found


def _read(file: Path, asked: dict[str, object]) -> int | None:
    """Return what a file keeps of a question; none where there is no such file, or it is of another one."""
    try:
        content = json.loads(read_text(file))
    except (OSError, ValueError):
        return None
    if not isinstance(content, dict):
        return None
    value = content.pop("least_headroom_bytes", None)
    # A tuple becomes a list in JSON.
    same = content == json.loads(json.dumps(asked))
    return value if same and type(value) is int else None
