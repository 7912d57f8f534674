"""Writer of SONiC's files, CONFIG_DB tables and `pg_profile_lookup.ini`, and of text for other makers'.

The JSON is a part of a configuration: `sudo config load FILE` merges it with what the switch has. It names
ports, which are in the switch's own `PORT` table; that table is written only where a port's SerDes are given.
The text for other makers' switches is to read, and was not tried on a device.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from floodway.common.errors import unwritable
from floodway.planning.plan_files import SONIC_FILES as FILES
from floodway.planning.sonic.configuration import CNP_CLASS, CNP_DSCP, Configuration
from floodway.results.files import new_folder, replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path


__all__ = ["FILES", "lookup_text", "snippets", "tables", "write"]

#: Names that SONiC's own configurations use.
MAP, POOL, MARKS = "AZURE", "ingress_lossless_pool", "AZURE_LOSSLESS"
#: Traffic classes, queues, priority groups and PFC priorities.
CLASSES = range(8)
DSCPS = range(64)

Tables = dict[str, dict[str, dict[str, str]]]
DISCLAIMER = "Not tried on a device. Compare each line with the manual of your release before you use it."
#: The longest cable that NVUE takes, in metres.
NVUE_LONGEST = 100_000
#: Beyond this length NX-OS must be given its buffer, in metres.
NXOS_OWN = 100
#: Bytes that a received frame has beside what is carried in it: Ethernet's header and check sequence.
FRAME = 18


def tables(configuration: Configuration) -> Tables:
    """Return the tables of CONFIG_DB; all values are texts, as SONiC has them.

    Raises
    ------
    PlanError
        If a value is out of the range of its YANG model.
    """
    configuration.check()
    config_db: Tables = {}
    written = [port for port in configuration.ports if port.port_lanes]
    if written:
        config_db["PORT"] = {
            port.name: {"lanes": port.port_lanes, "speed": str(port.mbps)} for port in written
        }
    config_db["CABLE_LENGTH"] = {MAP: {port.name: f"{port.length_m}m" for port in configuration.ports}}
    config_db["BUFFER_POOL"] = {POOL: _pool(configuration)}
    config_db["BUFFER_PROFILE"] = _profiles(configuration)
    config_db["BUFFER_PG"] = {
        f"{port.name}|{groups}": {"profile": port.profile}
        for port in configuration.ports
        for groups in _ranges(configuration.classes)
    }
    config_db |= _maps(configuration)
    config_db["PORT_QOS_MAP"] = _port_maps(configuration)
    config_db["WRED_PROFILE"] = {MARKS: _marks(configuration)}
    config_db["QUEUE"] = {
        f"{port.name}|{queue}": {"wred_profile": MARKS}
        for port in configuration.ports
        for queue in sorted(configuration.classes)
    }
    watchdog = {
        "action": configuration.action,
        "detection_time": str(configuration.detection_ms),
        "restoration_time": str(configuration.restoration_ms),
    }
    config_db["PFC_WD"] = {port.name: dict(watchdog) for port in configuration.ports}
    return config_db


def lookup_text(configuration: Configuration) -> str:
    """Return rows of `pg_profile_lookup.ini`, one for each speed and length.

    Raises
    ------
    PlanError
        As `tables`.
    """
    configuration.check()
    by_profile = {(port.mbps, port.length_m): port for port in configuration.ports}
    lines = ["# PG lossless profiles.", "# speed cable size xon xoff threshold xon_offset"]
    for (mbps, metres), port in sorted(by_profile.items()):
        numbers = [port.size, port.xon, port.xoff, port.dynamic_th]
        if port.xon_offset is not None:
            numbers.append(port.xon_offset)
        lines.append(f"{mbps} {metres}m " + " ".join(str(number) for number in numbers))
    return "\n".join(lines) + "\n"


def write(configuration: Configuration, folder: Path) -> tuple[Path, ...]:
    """Write both files into a folder; files of these names are replaced.

    Parameters
    ----------
    configuration
        The settings of the switch.
    folder
        The folder to write to; it is made if it does not exist.

    Returns
    -------
    tuple of Path
        The files.

    Raises
    ------
    PlanError
        If a value is out of the range of its YANG model; then nothing is written.
    OutputError
        If the folder cannot be written.
    """
    texts = (json.dumps(tables(configuration), indent=4) + "\n", lookup_text(configuration))
    files = tuple(folder / name for name in FILES)
    try:
        with new_folder(folder):
            for file, text in zip(files, texts, strict=True):
                replace_file(file, text.encode())
    except OSError as error:
        raise unwritable(folder, error) from error
    return files


def _pool(configuration: Configuration) -> dict[str, str]:
    beside = configuration.headroom_pool_bytes if configuration.size_has_headroom else 0
    pool = {"type": "ingress", "mode": "dynamic", "size": str(configuration.pool_bytes + beside)}
    # Without it each class has its headroom for itself.
    if configuration.headroom_pool_bytes:
        pool["xoff"] = str(configuration.headroom_pool_bytes)
    return pool


def _profiles(configuration: Configuration) -> dict[str, dict[str, str]]:
    profiles = {}
    for port in configuration.ports:
        numbers = {name: str(getattr(port, name)) for name in ("size", "xon", "xoff", "dynamic_th")}
        profiles[port.profile] = {"pool": POOL, **numbers}
        if port.xon_offset is not None:
            profiles[port.profile]["xon_offset"] = str(port.xon_offset)
    return profiles


def _maps(configuration: Configuration) -> Tables:
    """Return maps in which a lossless class has the same number everywhere, and the DSCPs that are given.

    All other traffic is in the lowest class that is lossy, but CNPs, which have one of their own.
    """
    classes = configuration.classes
    lossless = {dscp: number for number in classes for dscp in configuration.dscps_of(number)}
    lossy = next(number for number in CLASSES if number not in classes)
    cnp = lossy if CNP_CLASS in classes else CNP_CLASS
    dscp = {
        code_point: lossless.get(code_point, cnp if code_point == CNP_DSCP else lossy) for code_point in DSCPS
    }
    groups = {number: number if number in classes else lossy for number in CLASSES}
    same = {number: number for number in CLASSES}
    numbers = {
        "DSCP_TO_TC_MAP": dscp,
        "TC_TO_QUEUE_MAP": same,
        "TC_TO_PRIORITY_GROUP_MAP": groups,
        "MAP_PFC_PRIORITY_TO_QUEUE": same,
    }
    return {
        name: {MAP: {str(key): str(value) for key, value in mapping.items()}}
        for name, mapping in numbers.items()
    }


def _port_maps(configuration: Configuration) -> dict[str, dict[str, str]]:
    classes = ",".join(str(number) for number in sorted(configuration.classes))
    maps = ("dscp_to_tc_map", "tc_to_queue_map", "tc_to_pg_map", "pfc_to_queue_map")
    fields = {**dict.fromkeys(maps, MAP), "pfc_enable": classes, "pfcwd_sw_enable": classes}
    return {port.name: dict(fields) for port in configuration.ports}


def _marks(configuration: Configuration) -> dict[str, str]:
    return {
        "ecn": "ecn_all",
        "wred_green_enable": "true",
        "green_min_threshold": str(configuration.mark_from_bytes),
        "green_max_threshold": str(configuration.mark_to_bytes),
        "green_drop_probability": str(configuration.mark_percent),
    }


def _ranges(classes: Sequence[int]) -> Iterator[str]:
    """Write classes as `BUFFER_PG` does: neighbours as a range."""
    left = sorted(classes)
    while left:
        first = last = left.pop(0)
        while left and left[0] == last + 1:
            last = left.pop(0)
        yield str(first) if first == last else f"{first}-{last}"


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
        thresholds = f"pause-threshold {xoff_bytes} resume-threshold {xon_bytes}"
        yield f"    pause buffer-size {xoff_bytes + port.xoff} {thresholds}"
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
