"""Contradictions between the numbers of a profile and of its pool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.planning.asics import counts_headroom, exponents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from floodway.planning.sonic.pools import Profile

__all__ = ["impossible", "unusual"]


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
