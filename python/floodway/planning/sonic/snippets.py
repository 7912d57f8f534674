"""Settings for other makers' switches as text to read, which was not tried on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from floodway.planning.sonic.configuration import Configuration

__all__ = ["snippets"]

DISCLAIMER = "Not tried on a device. Compare each line with the manual of your release before you use it."
#: The longest cable that NVUE takes, in metres.
NVUE_LONGEST = 100_000
#: Beyond this length NX-OS must be given its buffer, in metres.
NXOS_OWN = 100
#: Bytes that a received frame has beside what is carried in it: Ethernet's header and check sequence.
FRAME = 18


def snippets(
    configuration: Configuration, *, xoff_bytes: int, xon_bytes: int, mtu_bytes: int
) -> dict[str, str]:
    """Return text for NX-OS, NVUE and Junos by file name; each begins with a disclaimer and its sources.

    These switches are given the queue lengths at which they pause and resume, not a share of a pool.

    Parameters
    ----------
    configuration
        What is written for SONiC; the first port's numbers are taken for all.
    xoff_bytes, xon_bytes
        What a class holds when it pauses its upstream, and when it resumes it.
    mtu_bytes
        The largest packet, as its IP layer counts.

    Returns
    -------
    dict of str to str
        The text for each switch, by the name of its file.

    Raises
    ------
    PlanError
        If a value is out of the range of SONiC's models.
    """
    configuration.check()
    makers: Mapping[str, Callable[[Configuration, int, int, int], Iterator[str]]] = {
        "nx-os.txt": _nxos,
        "nvue.txt": _nvue,
        "junos.txt": _junos,
    }
    return {
        name: "\n".join(maker(configuration, xoff_bytes, xon_bytes, mtu_bytes)) + "\n"
        for name, maker in makers.items()
    }


def _nxos(configuration: Configuration, xoff_bytes: int, xon_bytes: int, mtu_bytes: int) -> Iterator[str]:
    del mtu_bytes
    port = configuration.ports[0]
    yield f"! {DISCLAIMER}"
    yield "! Source: Cisco Nexus 9000 Series NX-OS Quality of Service Configuration Guide, 10.5(x),"
    yield '! "Configuring Priority Flow Control". Sizes are bytes. How much a platform has for a queue, and'
    yield "! in which steps, is in its own limits."
    if port.length_m > NXOS_OWN:
        yield f"! Beyond {NXOS_OWN} m these lines are mandatory; this cable has {port.length_m} m."
    yield "policy-map type queuing floodway-in"
    for number in sorted(configuration.classes):
        yield f"  class type queuing c-in-q{number}"
        yield (
            f"    pause buffer-size {xoff_bytes + port.xoff} pause-threshold {xoff_bytes}"
            f" resume-threshold {xon_bytes}"
        )
    for one in configuration.ports:
        yield f"! the interface that is {one.name} here"
        yield "interface Ethernet<slot/port>"
        yield "  priority-flow-control mode on"
        yield "  service-policy type queuing input floodway-in"


def _nvue(configuration: Configuration, xoff_bytes: int, xon_bytes: int, mtu_bytes: int) -> Iterator[str]:
    del mtu_bytes
    port, profile = configuration.ports[0], "nv set qos pfc floodway"
    yield f"# {DISCLAIMER}"
    yield '# Source: NVIDIA, NVUE Command Reference, "QoS" (nv set qos pfc), Cumulus Linux 5.3 and later.'
    yield "# Sizes are bytes, the length is in metres."
    yield f"{profile} switch-priority {','.join(str(number) for number in sorted(configuration.classes))}"
    yield f"{profile} tx enable"
    yield f"{profile} rx enable"
    if port.length_m > NVUE_LONGEST:
        yield f"# No cable-length: it takes up to {NVUE_LONGEST} m, and this cable has {port.length_m} m."
    else:
        yield f"{profile} cable-length {port.length_m}"
    yield f"{profile} port-buffer {xoff_bytes + port.xoff}"
    yield f"{profile} xoff-threshold {xoff_bytes}"
    yield f"{profile} xon-threshold {xon_bytes}"
    for one in configuration.ports:
        yield f"# the interface that is {one.name} here"
        yield "nv set interface <swp> qos pfc profile floodway"


def _junos(configuration: Configuration, xoff_bytes: int, xon_bytes: int, mtu_bytes: int) -> Iterator[str]:
    del xoff_bytes, xon_bytes
    port, profile = configuration.ports[0], "set class-of-service congestion-notification-profile floodway"
    yield f"# {DISCLAIMER}"
    yield "# Source: Juniper, Junos CLI Reference, congestion-notification-profile, cable-length, mru (QFX)."
    yield "# The switch computes headroom from length and MRU; its manual calls 1 to 300 m usual. Compare"
    yield f"# what it reserves with the {port.xoff} bytes that are needed here."
    yield f"{profile} input cable-length {port.length_m}"
    for number in sorted(configuration.classes):
        for dscp in configuration.dscps_of(number):
            yield f"{profile} input dscp code-point {dscp:06b} pfc mru {mtu_bytes + FRAME}"
    for one in configuration.ports:
        yield f"# the interface that is {one.name} here"
        yield "set class-of-service interfaces <interface> congestion-notification-profile floodway"
