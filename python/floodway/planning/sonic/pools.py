"""Buffer pools and profiles of a CONFIG_DB, and the bytes that a queue or a group may hold."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Any

from floodway.planning.asics import EXPONENTS, counts_headroom, exponents
from floodway.planning.sonic.row import fault, number_of, size_of_field

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from floodway.planning.sonic.json_tables import Table

__all__ = ["COMPUTED", "Pool", "Profile", "alone", "impossible", "pool_of", "profile_of", "unusual"]

#: The profile of a class whose numbers the switch computes.
COMPUTED = "NULL"


@dataclass(frozen=True, kw_only=True)
class Pool:
    """A row of `BUFFER_POOL`, in bytes.

    Attributes
    ----------
    name
        Its key.
    kind
        ``ingress``, ``egress`` or ``both``; empty where the file does not say.
    size
        Its memory; none where the switch computes it.
    xoff
        Headroom that ports share; 0 for none.
    """

    name: str
    kind: str
    size: int | None
    xoff: int

    def held(self, *, counts_headroom: bool) -> int | None:
        """Return the most that it and its headroom hold; none where the switch computes its size."""
        if self.size is None or counts_headroom:
            return self.size
        return self.size + self.xoff


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A row of `BUFFER_PROFILE`, in bytes.

    Attributes
    ----------
    name
        Its key.
    size
        Reserved.
    xon, xoff, xon_offset
        Thresholds; `xoff` is the headroom, none for a profile that has none of its own.
    exponent, static
        The limit of what it has of its pool: `dynamic_th`, or `static_th` in bytes; none where missing.
    pool_name
        Its pool.
    pool
        The pool's row; none where the file has no pools.
    is_computed
        Whether the switch computes its headroom (`headroom_type`).
    """

    name: str
    size: int
    xon: int
    xoff: int | None
    xon_offset: int | None
    exponent: int | None
    static: int | None
    pool_name: str
    pool: Pool | None
    is_computed: bool

    @property
    def threshold(self) -> int | None:
        """The profile's limit of its share: the exponent, or bytes."""
        return self.static if self.exponent is None else self.exponent

    @property
    def alone(self) -> int | None:
        """Bytes of its pool that it may have when nothing else has any; none where that is not known."""
        if self.static is not None and self.exponent is None:
            return self.static
        size = None if self.pool is None else self.pool.size
        return None if size is None or self.exponent is None else alone(size, self.exponent)

    @property
    def most(self) -> int | None:
        """Bytes that it may have at most, with its reserve; none where that is not known."""
        limit, size = self.alone, None if self.pool is None else self.pool.size
        if limit is None:
            return None
        # A static limit may be larger than its pool.
        return (limit if size is None else min(limit, size)) + self.size


def alone(size: int, exponent: int) -> int:
    """Return the most of a pool that one class alone occupies: alpha / (1 + alpha), alpha = 2^exponent."""
    alpha = Fraction(2) ** exponent
    return floor(alpha / (1 + alpha) * size)


def pool_of(tables: Mapping[str, Table], name: str, file: str) -> Pool | None:
    """Return a pool; none where the file has no row for it.

    Raises
    ------
    PlanError
        If a field is not a number.
    """
    fields = tables.get("BUFFER_POOL", {}).get(name)
    if fields is None:
        return None
    place = f"{file}: BUFFER_POOL|{name}"
    return Pool(
        name=name,
        kind=str(fields.get("type", "")),
        size=_bytes(fields, place, "size"),
        xoff=_bytes(fields, place, "xoff") or 0,
    )


def profile_of(tables: Mapping[str, Table], name: str, file: str) -> Profile:
    """Return a profile that the file has.

    Raises
    ------
    PlanError
        If a field is missing or out of its range.
    """
    fields = tables["BUFFER_PROFILE"][name]
    place = f"{file}: BUFFER_PROFILE|{name}"
    computed = str(fields.get("headroom_type", "")) == "dynamic" and "xoff" not in fields
    for needed in ("pool",) if computed else ("size", "pool"):
        if needed not in fields:
            raise fault(place, needed, "the field is missing")
    limits = [key for key in ("dynamic_th", "static_th") if key in fields]
    if not limits and not computed:
        raise fault(
            place, "dynamic_th", "the field is missing, and so is static_th: one of them is the limit"
        )
    if len(limits) > 1:
        raise fault(
            place, "static_th", "dynamic_th is given as well, and only one of them counts: remove one"
        )
    return Profile(
        name=name,
        size=_bytes(fields, place, "size") or 0,
        xon=_bytes(fields, place, "xon") or 0,
        xoff=_bytes(fields, place, "xoff"),
        xon_offset=_bytes(fields, place, "xon_offset"),
        exponent=_exponent(fields, place),
        static=_bytes(fields, place, "static_th"),
        pool_name=str(fields["pool"]),
        pool=pool_of(tables, str(fields["pool"]), file),
        is_computed=computed,
    )


def _bytes(fields: Mapping[str, Any], place: str, key: str) -> int | None:
    return size_of_field(fields[key], place, key) if key in fields else None


def _exponent(fields: Mapping[str, Any], place: str) -> int | None:
    threshold = fields.get("dynamic_th")
    if threshold is None:
        return None
    exponent = number_of(threshold, place, "dynamic_th")
    if exponent not in EXPONENTS:
        text = f"{threshold!r} is not from {EXPONENTS.start} to {EXPONENTS.stop - 1}"
        raise fault(place, "dynamic_th", text, given=str(threshold))
    return exponent


def impossible(profile: Profile, asic: str, *, whose: str = "its") -> Iterator[str]:
    """Say why a class cannot have what its profile gives it.

    Parameters
    ----------
    profile
        The profile of a priority group or a queue.
    asic
        The switch's chip; empty where it is not known.
    whose
        Whose pool it is, in words.
    """
    pool = profile.pool
    if pool is None or pool.size is None:
        return
    held = pool.held(counts_headroom=counts_headroom(asic))
    if pool.size == 0:
        yield f"{whose} pool {pool.name} is empty (BUFFER_POOL: size)"
    elif counts_headroom(asic) and pool.size < pool.xoff:
        yield (
            f"{whose} pool {pool.name} has {pool.size:,} bytes, less than its own headroom of"
            f" {pool.xoff:,} (BUFFER_POOL: size, xoff)"
        )
    elif held is not None and profile.size > held:
        yield (
            f"{whose} profile {profile.name} reserves {profile.size:,} bytes, more than the {held:,} of"
            f" {pool.name}"
        )


def unusual(profile: Profile, asic: str) -> Iterator[str]:
    """Yield warnings of settings of a profile that a switch refuses, or that have no effect."""
    allowed = exponents(asic)
    if profile.exponent is not None and profile.exponent not in allowed:
        yield (
            f"dynamic_th {profile.exponent} of {profile.name} is not from {allowed.start} to"
            f" {allowed.stop - 1}, which Broadcom's chips take"
        )
    pauses = profile.most
    if profile.xoff is not None and pauses is not None and profile.xon > pauses:
        yield (
            f"xon {profile.xon:,} of {profile.name} is more than the {pauses:,} bytes that a group may hold"
            " before it pauses"
        )
