"""What arrives at the end of a link after a decision to pause, and what it occupies in a buffer, in bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway import _floodway

if TYPE_CHECKING:
    from floodway.planning.question import Question

__all__ = ["largest_held", "occupied", "pfc_headroom"]


def pfc_headroom(question: Question) -> int:
    """Return the bytes that frames occupy which arrive after a port has decided to pause.

    Those are the frames that begin in two delays, the reaction, a full frame ahead of the pause and the pause
    itself, and the frame that its sender has begun (IEEE 802.1Qbb, Annex O; IEEE 802.3, 31B.3.7).
    """
    begun = _floodway.pfc_bytes_until_heeded(
        rate_bps=question.rate_bps,
        delay_ps=question.delay_ps,
        react_ps=question.reaction_ps,
        mtu_frame_bytes=question.largest_frame,
    )
    return occupied(question, begun)


def occupied(question: Question, wire_bytes: int) -> int:
    """Return the most that the question's frames occupy which begin in so many bytes of the link's time."""
    return _floodway.occupied_bytes(
        wire_bytes,
        cell_bytes=question.cell_bytes,
        mtu_frame_bytes=question.largest_frame,
        mix_bytes=list(question.mix_bytes),
    )


def largest_held(question: Question) -> int:
    """Return what the largest frame occupies."""
    return -(-question.largest_frame // question.cell_bytes) * question.cell_bytes
