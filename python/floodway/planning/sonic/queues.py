"""Egress queues of a port: causes of drops in a lossless class, and thresholds of marks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from floodway.planning.asics import counts_headroom
from floodway.planning.sonic.pools import COMPUTED, impossible, profile_of, unusual
from floodway.planning.sonic.row import fault, size_of_field

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from floodway.planning.sonic.json_tables import Table
    from floodway.planning.sonic.pools import Pool, Profile

__all__ = ["COLOURS", "Queues", "queues_of"]

COLOURS = ("green", "yellow", "red")
#: A queue or several in a row.
RANGE = re.compile(r"([0-9]{1,2})(?:-([0-9]{1,2}))?")

Findings = tuple[list[str], list[str]]
Rows = tuple["Mapping[str, Any]", ...]


@dataclass(frozen=True, kw_only=True)
class Queues:
    """Rows of `BUFFER_QUEUE` and `QUEUE` by port and queue.

    Attributes
    ----------
    buffers, marks
        The fields of each of their rows; none where the file does not have the table.
    tables, file
        All tables, and the file's name.
    asic
        The switch's chip; empty where it is not known.
    """

    buffers: Mapping[tuple[str, int], Rows] | None
    marks: Mapping[tuple[str, int], Rows] | None
    tables: Mapping[str, Table]
    file: str
    asic: str = ""

    def judge(self, port: str, queue: int, profile: Profile | None) -> Findings:
        """Return faults and warnings of a queue whose packets are in a lossless class of a profile."""
        ingress = None if profile is None else profile.pool
        faults = list(dict.fromkeys(self._dropped(port, queue, ingress)))
        egress_profiles = [egress for egress in self.profiles(port, queue) if egress is not None]
        warnings = list(
            dict.fromkeys(text for egress in egress_profiles for text in unusual(egress, self.asic))
        )
        fields = {
            key: value for row in (self.marks or {}).get((port, queue), ()) for key, value in row.items()
        }
        name = str(fields.get("wred_profile", ""))
        wred = self.tables.get("WRED_PROFILE", {}).get(name)
        if wred is not None:
            marking_faults, marking_warnings = self._marked(wred, f"WRED_PROFILE|{name}", queue)
            faults += marking_faults
            warnings += marking_warnings
            if profile is not None:
                warnings += self._too_late(wred, f"WRED_PROFILE|{name}", queue, profile)
        return faults, warnings

    def profiles(self, port: str, queue: int) -> list[Profile | None]:
        """Return the profile that each row has for a queue; none where the file does not have it."""
        rows = (self.buffers or {}).get((port, queue), ())
        names = [str(fields.get("profile", COMPUTED)) for fields in rows]
        profiles = self.tables.get("BUFFER_PROFILE", {})
        return [profile_of(self.tables, name, self.file) if name in profiles else None for name in names]

    def _dropped(self, port: str, queue: int, ingress: Pool | None) -> Iterator[str]:
        """Say why a queue drops packets that ingress has admitted, by the worst of its rows."""
        if self.buffers is None:
            return
        if (port, queue) not in self.buffers:
            yield f"queue {queue} has no profile at egress (BUFFER_QUEUE)"
            return
        for profile in self.profiles(port, queue):
            if profile is not None:
                yield from self._full(profile, queue, ingress)
            elif "BUFFER_PROFILE" in self.tables:
                yield f"queue {queue} has no profile at egress (BUFFER_QUEUE: profile is NULL)"

    def _full(self, profile: Profile, queue: int, ingress: Pool | None) -> Iterator[str]:
        pool = profile.pool
        if pool is not None and pool.kind == "ingress":
            yield f"queue {queue} has profile {profile.name} of {pool.name}, which is a pool of ingress"
            return
        reasons = list(impossible(profile, self.asic, whose=f"queue {queue}'s"))
        yield from reasons or _too_small(profile, queue, ingress, counts_headroom=counts_headroom(self.asic))

    def _marked(self, wred: Mapping[str, Any], name: str, queue: int) -> Findings:
        """Return colours that are dropped instead of marked: green is that of packets without a policer."""
        faults: list[str] = []
        warnings: list[str] = []
        for colour in COLOURS:
            if not _is_on(wred, colour) or _is_marked(wred, colour):
                continue
            ecn = wred.get("ecn", "ecn_none")
            text = f"{name} drops {colour} packets of queue {queue} instead of marking them: ecn is {ecn}"
            (faults if colour == "green" else warnings).append(text)
        return faults, warnings

    def _too_late(self, wred: Mapping[str, Any], name: str, queue: int, profile: Profile) -> Iterator[str]:
        """Say that pauses come before marks, with which senders do not slow down before they are stopped."""
        first = "green_min_threshold"
        if not (_is_on(wred, "green") and _is_marked(wred, "green") and first in wred):
            return
        begins, alone = size_of_field(wred[first], f"{self.file}: {name}", first), profile.alone
        if alone is None or begins <= alone + profile.size:
            return
        size = None if profile.pool is None else profile.pool.size
        never = size is not None and begins >= size + (profile.pool.xoff if profile.pool else 0)
        text = f"marks of queue {queue} begin at {begins:,} bytes ({name}), "
        if never:
            text += f"more than the pool of {size:,} bytes can hold, so that they never come: "
        yield text + f"PFC comes first, and pauses a port that is alone at {alone:,} bytes of the pool"


def queues_of(tables: Mapping[str, Table], file: str, asic: str = "") -> Queues:
    """Return the queues of all ports of a switch with a chip, whose name may be empty.

    Raises
    ------
    PlanError
        If a key is not a port with a queue or several.
    """
    return Queues(
        buffers=_rows(tables, "BUFFER_QUEUE", file),
        marks=_rows(tables, "QUEUE", file),
        tables=tables,
        file=file,
        asic=asic,
    )


def _rows(tables: Mapping[str, Table], table: str, file: str) -> dict[tuple[str, int], Rows] | None:
    if table not in tables:
        return None
    by_queue: dict[tuple[str, int], Rows] = {}
    for key, fields in tables[table].items():
        rest, bar, queues = key.rpartition("|")
        numbers = RANGE.fullmatch(queues)
        if not bar or numbers is None:
            raise fault(f"{file}: {table}|{key}", "key", "write PORT|3 or PORT|3-4", given=key)
        # In a chassis the host and the chip are before the port.
        for port in rest.rpartition("|")[2].split(","):
            for queue in range(int(numbers[1]), int(numbers[2] or numbers[1]) + 1):
                by_queue[port, queue] = (*by_queue.get((port, queue), ()), fields)
    return by_queue


def _too_small(profile: Profile, queue: int, ingress: Pool | None, *, counts_headroom: bool) -> Iterator[str]:
    """Say that a queue is full before its ingress pool and the headroom are, so that no pause protects it."""
    pool, limit = profile.pool, profile.most
    size = None if pool is None else pool.size
    if profile.exponent is not None and pool is not None and size is None:
        # The switch gives pools without a size the same.
        if ingress is not None and ingress.size is None:
            yield (
                f"queue {queue} drops before its ingress pool is full: {profile.name} gives it a share of"
                f" {profile.pool_name}, which is as large"
            )
        return
    needed = None if ingress is None else ingress.held(counts_headroom=counts_headroom)
    if limit is None or needed is None or ingress is None or limit >= needed:
        return
    beside = "" if counts_headroom or not ingress.xoff else " and its headroom"
    yield (
        f"queue {queue} drops from {limit:,} bytes on ({profile.name} of {profile.pool_name}), and {needed:,}"
        f" may come in ({ingress.name}{beside})"
    )


def _is_on(wred: Mapping[str, Any], colour: str) -> bool:
    return str(wred.get(f"wred_{colour}_enable", "false")).lower() == "true"


def _is_marked(wred: Mapping[str, Any], colour: str) -> bool:
    marked = str(wred.get("ecn", "ecn_none")).split("_")
    return "all" in marked or colour in marked
