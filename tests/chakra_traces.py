"""Execution traces of Chakra, as bytes; run as a program, this writes those of scenarios/jobs/chakra."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["COLLECTIVE", "COMPUTE", "RECEIVE", "SEND", "Node", "iteration", "trace"]

#: Types of nodes.
COMPUTE, SEND, RECEIVE, COLLECTIVE = 4, 5, 6, 7
#: Values of `comm_type`.
ALL_REDUCE, ALL_GATHER = 0, 2


def _varint(number: int) -> bytes:
    seven, rest = number & 0x7F, number >> 7
    return bytes([seven | 0x80]) + _varint(rest) if rest else bytes([seven])


def _number(key: int, number: int) -> bytes:
    return _varint(key << 3) + _varint(number)


def _bytes(key: int, content: bytes) -> bytes:
    return _varint(key << 3 | 2) + _varint(len(content)) + content


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node of a trace: its attributes are numbers (`int64_val`) and texts (`string_val`)."""

    id: int
    name: str
    type: int
    after: tuple[int, ...] = ()
    micros: int = 0
    attributes: dict[str, int | str] = field(default_factory=dict)

    def encoded(self) -> bytes:
        """Return the message without its length."""
        parts = [_number(1, self.id), _bytes(2, self.name.encode()), _number(3, self.type)]
        parts += [_number(5, before) for before in self.after]
        parts += [_number(7, self.micros)] if self.micros else []
        for name, value in self.attributes.items():
            content = _number(9, value) if isinstance(value, int) else _bytes(29, value.encode())
            parts.append(_bytes(10, _bytes(1, name.encode()) + content))
        return b"".join(parts)


def trace(*nodes: Node) -> bytes:
    """Return a file: metadata with a version, then nodes, each message behind its length."""
    messages = [_bytes(1, b"0.0.4"), *(node.encoded() for node in nodes)]
    return b"".join(_varint(len(message)) + message for message in messages)


def iteration(rank: int, *, size: int = 1 << 20) -> bytes:
    """Return a rank's trace: two layers forward and back, whose gradients are reduced beside the other."""

    def reduced(number: int, name: str, *, after: int) -> Node:
        attributes: dict[str, int | str] = {
            "comm_type": ALL_REDUCE,
            "comm_size": size,
            "pg_name": "data",
            "is_cpu_op": 0,
        }
        return Node(id=number, name=name, type=COLLECTIVE, after=(after,), attributes=attributes)

    def computed(number: int, name: str, *after: int, micros: int) -> Node:
        return Node(id=number, name=name, type=COMPUTE, after=after, micros=micros)

    return trace(
        computed(0, "forward 0", micros=20 + rank),
        computed(1, "forward 1", 0, micros=20),
        computed(2, "backward 1", 1, micros=40),
        reduced(3, "gradients 1", after=2),
        computed(4, "backward 0", 2, micros=40),
        reduced(5, "gradients 0", after=4),
        computed(6, "optimizer", 3, 5, micros=10),
    )


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(4):
        (folder / f"step.{rank}.et").write_bytes(iteration(rank))
