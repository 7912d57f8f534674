"""Headroom that a switch computes itself: SONiC's dynamic buffer model with NVIDIA's plug-in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from floodway.common.errors import PlanError
from floodway.planning.asics import asics
from floodway.planning.formulas import nvidia_profile
from floodway.planning.sonic.fields import fault, number_of
from floodway.planning.sonic.links import DEFAULT_MTU
from floodway.planning.sonic.pools import COMPUTED, Profile, pool_of
from floodway.planning.sonic.row import MEGA, TrafficPattern

if TYPE_CHECKING:
    from collections.abc import Mapping

    from floodway.planning.asics import Asic
    from floodway.planning.sonic.json_tables import Table
    from floodway.planning.sonic.links import Link
    from floodway.planning.sonic.pools import Pool

__all__ = ["POOL", "Computing", "computing_of"]

#: The pool of classes whose headroom is computed: `buffermgrdyn` knows no other name.
POOL = "ingress_lossless_pool"
#: SerDes of a port that names none, with which a class reserves half of what it does with eight.
FEW_LANES = 4
#: `sonic-lossless-traffic-pattern`: bytes, and percent.
MTUS, PERCENT = range(1, 9217), range(101)


@dataclass(frozen=True, kw_only=True)
class Computing:
    """Inputs from which a switch computes headroom.

    Attributes
    ----------
    chip
        Its chip; none where it is not known.
    is_dynamic
        Whether it computes headroom (`buffer_model`), and does not look it up.
    pattern
        What it assumes of lossless traffic, if the file says so.
    is_shared
        Whether ports share headroom.
    exponent
        The `dynamic_th` of computed profiles.
    pool
        Their pool; none where the file has no such pool.
    """

    chip: Asic | None
    is_dynamic: bool
    pattern: TrafficPattern | None
    is_shared: bool
    exponent: int
    pool: Pool | None

    def why_not(self) -> str:
        """Say why the headroom cannot be computed here; empty if it can."""
        if not self.is_dynamic:
            return "the switch takes its headroom from pg_profile_lookup.ini: judge that file"
        if self.chip is None:
            return "the switch computes its headroom, and its chip is not known (--asic)"
        if not self.chip.generation:
            return f"the switch computes its headroom, and {self.chip.label}'s formula is not known"
        if self.pattern is None:
            return "the switch computes its headroom, and LOSSLESS_TRAFFIC_PATTERN is not in the file"
        return ""

    def profile(self, link: Link, configured: Profile | None) -> Profile:
        """Return the profile that a switch computes for a port, with pool and limit of a configured one.

        Raises
        ------
        PlanError
            If the plug-in has no value for the rate, or something is not known that it needs.
        """
        if self.chip is None or self.pattern is None:
            raise PlanError(self.why_not())
        computed = nvidia_profile(
            self.chip,
            rate_bps=link.mbps * MEGA,
            length_m=link.metres,
            port_mtu=link.mtu or DEFAULT_MTU,
            lossless_mtu=self.pattern.mtu,
            small_percent=self.pattern.small_percent,
            lane_count=len(link.port_lanes.split(",")) if link.port_lanes else FEW_LANES,
            shared_headroom=self.is_shared,
        )
        return Profile(
            name=COMPUTED,
            size=computed.size,
            xon=computed.xon,
            xoff=computed.xoff,
            xon_offset=None,
            exponent=self.exponent
            if configured is None or configured.exponent is None
            else configured.exponent,
            static=None,
            pool_name=POOL if configured is None else configured.pool_name,
            pool=self.pool if configured is None else configured.pool,
            is_computed=True,
        )

    @property
    def text(self) -> str:
        """The inputs of the computation, in words."""
        if self.chip is None or self.pattern is None:
            return ""
        shared = ", shared headroom" if self.is_shared else ""
        return (
            f"NVIDIA's plug-in for {self.chip.label.removeprefix('NVIDIA ')}, lossless packets of"
            f" {self.pattern.mtu} bytes, {self.pattern.small_percent} % small{shared}"
        )


def computing_of(tables: Mapping[str, Table], chip: str, file: str) -> Computing:
    """Return the inputs from which a switch computes headroom.

    Raises
    ------
    PlanError
        If a field is not a number.
    """
    model = str(_only(tables, "DEVICE_METADATA", "localhost").get("buffer_model", ""))
    pool = pool_of(tables, POOL, file)
    name, fields = next(iter(tables.get("DEFAULT_LOSSLESS_BUFFER_PARAMETER", {}).items()), ("", {}))
    place = f"{file}: DEFAULT_LOSSLESS_BUFFER_PARAMETER|{name}"
    ratio = number_of(fields.get("over_subscribe_ratio", "0"), place, "over_subscribe_ratio")
    return Computing(
        chip=asics()[chip] if chip else None,
        is_dynamic=model == "dynamic" if model else "LOSSLESS_TRAFFIC_PATTERN" in tables,
        pattern=_pattern(tables, file),
        is_shared=ratio > 0 or (pool is not None and pool.xoff > 0),
        exponent=number_of(fields.get("default_dynamic_th", "0"), place, "default_dynamic_th"),
        pool=pool,
    )


def _only(tables: Mapping[str, Table], table: str, row: str) -> dict[str, Any]:
    return tables.get(table, {}).get(row, {})


def _pattern(tables: Mapping[str, Table], file: str) -> TrafficPattern | None:
    for name, fields in tables.get("LOSSLESS_TRAFFIC_PATTERN", {}).items():
        place = f"{file}: LOSSLESS_TRAFFIC_PATTERN|{name}"
        for needed in ("mtu", "small_packet_percentage"):
            if needed not in fields:
                raise fault(place, needed, "the field is missing")
        mtu, percent = (
            _within(fields, place, key, allowed)
            for key, allowed in (("mtu", MTUS), ("small_packet_percentage", PERCENT))
        )
        return TrafficPattern(mtu=mtu, small_percent=percent)
    return None


def _within(fields: Mapping[str, Any], place: str, key: str, allowed: range) -> int:
    number = number_of(fields[key], place, key)
    if number not in allowed:
        text = f"{number} is not from {allowed.start} to {allowed.stop - 1}"
        raise fault(place, key, text, given=str(number))
    return number
