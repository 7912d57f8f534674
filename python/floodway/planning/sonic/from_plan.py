"""The configuration of a switch that a plan asks for: PFC in a shared buffer with a pool of headroom."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from floodway.common.errors import PlanError, unwritable
from floodway.planning.answer import distance, lost_in_its_run
from floodway.planning.asics import LANES, counts_headroom
from floodway.planning.headroom import largest_held
from floodway.planning.link import CLASS_NUMBERS
from floodway.planning.question import HEADERS, RETH, Question
from floodway.planning.sonic.configuration import Configuration, LosslessPort
from floodway.planning.sonic.maps import RESERVED_DSCPS
from floodway.planning.sonic.pools import AROUND_MTU, DEFAULT_MTU
from floodway.planning.sonic.writing import snippets, write
from floodway.planning.units import missing
from floodway.results.files import replace_file
from floodway.results.quantities import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from floodway.planning.planner import Plan

__all__ = ["configuration_of", "warnings_of", "write_plan_for_switches"]

#: Bytes of a frame beside the IP packet.
ETHERNET = 18


def configuration_of(plan: Plan, *, ports: Sequence[str] = (), dscps: Sequence[str] = ()) -> Configuration:
    """Return the settings of a switch with SONiC by a plan.

    NVIDIA's switches reserve what their pipeline holds and resume at it; the published source of their SAI
    has no offset of xon (`mlnx_sai_buffer.c` of Mellanox/SAI-Implementation at 07a104bf, 2017). Others
    resume below their threshold.

    Parameters
    ----------
    plan
        With memory, and PFC among its flow controls.
    ports
        Names of the ports; Ethernet0, Ethernet8 and so on, if there are none.
    dscps
        DSCPs of lossless classes, such as "3=26"; a class that has none has its class selector.

    Raises
    ------
    PlanError
        If the plan cannot be met: the error says by how many bytes, or what lost packets in its run.
    """
    question, shared, beside = plan.question, plan.pool, plan.advice
    if shared is None or beside is None:
        text = "sonic: a configuration needs a buffer's size, and PFC among what is planned"
        raise PlanError(text, key="sonic")
    count, reserve = question.links * question.classes, shared.reserve_each
    if shared.exponent is None:
        besides = f", what they reserve {count * reserve:,}" if reserve else ""
        needs = (
            f"headroom for {counted(count, 'class')} of links needs {shared.headroom_pool:,} bytes{besides}"
        )
        lacks = f"{missing(1 - shared.shared)}{_enough_for(plan)}"
        raise PlanError(f"sonic: the plan cannot be met: {needs}, and {lacks}", key="buffer")
    lost = lost_in_its_run(plan)
    if lost:
        raise PlanError(f"sonic: {lost}", key="buffer")
    names = list(ports) or [f"Ethernet{LANES * number}" for number in range(question.links)]
    if len(names) != question.links:
        text = f"ports: {len(names)} names are given for {question.links} links"
        raise PlanError(text, key="ports", given=", ".join(names))
    sizes: dict[str, Any]
    sizes = {"size": reserve, "xon": reserve, "xoff": shared.headroom_each, "dynamic_th": shared.exponent}
    offset = None if reserve else _offset(question)
    sizes |= {"rate_bps": question.rate_bps, "length_m": question.length_m, "xon_offset": offset}
    return Configuration(
        ports=tuple(LosslessPort(name=name, **sizes) for name in names),
        classes=tuple(sorted(CLASS_NUMBERS[: question.classes])),
        dscps=tuple(_dscp(text) for text in dscps),
        pool_bytes=shared.shared,
        headroom_pool_bytes=shared.headroom_pool,
        size_has_headroom=counts_headroom(question.asic),
        mark_from_bytes=beside.ecn_kmin,
        mark_to_bytes=beside.ecn_kmax,
        mark_percent=round(100 * beside.ecn_pmax),
        detection_ms=beside.watchdog_detection_ms,
        restoration_ms=beside.watchdog_restoration_ms,
    )


def warnings_of(plan: Plan, configuration: Configuration) -> Iterator[str]:
    """Return the conditions beside a configuration under which its sizes hold."""
    question = plan.question
    takes = max(1, question.largest_frame - AROUND_MTU)
    if takes < DEFAULT_MTU:
        fits = DEFAULT_MTU + AROUND_MTU - HEADERS - RETH
        yield (
            f"headroom is for packets of up to {takes:,} bytes, and a port of SONiC takes {DEFAULT_MTU:,}"
            f" if it has no other mtu: set mtu {takes} in PORT for these ports, or plan with --mtu {fits}B"
        )
    for number in configuration.classes:
        for dscp in configuration.dscps_of(number):
            if dscp in RESERVED_DSCPS:
                yield f"DSCP {dscp} leads to lossless class {number}, which is that of {RESERVED_DSCPS[dscp]}"


def _dscp(text: str) -> tuple[int, int]:
    """Read the DSCP of a class, as "3=26"."""
    match = re.fullmatch(r"([0-7])=([0-9]{1,2})", text, re.ASCII)
    if match is None:
        raise PlanError(f'dscp: {text!r} is not a class and its DSCP like "3=26"', key="dscp", given=text)
    return int(match[1]), int(match[2])


def _enough_for(plan: Plan) -> str:
    """Say for how many links, and up to which length, the memory suffices."""
    row = next((row for row in plan.rows if row.flow_control == "pfc" and not row.refused), None)
    fits = []
    if row is not None and row.links_no_loss:
        fits.append("one link" if row.links_no_loss == 1 else f"{row.links_no_loss} links")
    if row is not None and row.reach_no_loss_m:
        fits.append(f"all of them up to about {distance(row.reach_no_loss_m)}")
    return f"; the memory is enough for {', or for '.join(fits)}" if fits else ""


def _offset(question: Question) -> int:
    """Return how far below its threshold a class resumes: two of the largest packets, as in the run."""
    return 2 * largest_held(question)


def write_plan_for_switches(
    plan: Plan, folder: Path, *, ports: Sequence[str] = (), dscps: Sequence[str] = ()
) -> None:
    """Write SONiC's files, and text for switches of other makers.

    Raises
    ------
    PlanError
        If the plan cannot be met, or a value is out of the range of SONiC's models.
    OutputError
        If the folder cannot be written.
    """
    configuration = configuration_of(plan, ports=ports, dscps=dscps)
    shared = plan.pool
    xoff = 0 if shared is None else shared.xoff_all
    xon = max(0, xoff - _offset(plan.question))
    mtu = plan.question.largest_frame - ETHERNET
    texts = snippets(configuration, xoff_bytes=xoff, xon_bytes=xon, mtu_bytes=mtu)
    write(configuration, folder)
    try:
        for name, text in texts.items():
            replace_file(folder / name, text.encode())
    except OSError as error:
        raise unwritable(folder, error) from error
