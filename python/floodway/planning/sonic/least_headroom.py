"""The least headroom that holds in the hardest run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.common.errors import RunError
from floodway.planning.flow_controls import flow_control
from floodway.planning.link import Buffers, worst_payloads
from floodway.planning.question import HEADERS
from floodway.planning.runs import simulated
from floodway.planning.trials import trial

if TYPE_CHECKING:
    from floodway.planning.question import Question
    from floodway.planning.runs import Simulate

__all__ = ["least_headroom"]


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
    run = trial(question, buffers, pauses=True, with_least=True, simulate=simulate)
    if run.least is None or planned.xoff is None:
        link = f"{question.rate_bps // 1_000_000} Mb/s over {question.length_m} m"
        reason = f"{run.lost_packets} packets were lost at the planned size"
        raise RunError(f"{link}: no least headroom was found: {reason}")
    return run.least - planned.xoff


def _held(question: Question, frame: int) -> int:
    """Return what a frame occupies."""
    return -(-frame // question.cell_bytes) * question.cell_bytes
