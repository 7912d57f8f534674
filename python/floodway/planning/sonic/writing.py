"""Writer of SONiC's files: CONFIG_DB tables as JSON, and rows of `pg_profile_lookup.ini`.

The JSON is a part of a configuration: `sudo config load FILE` merges it with what the switch has. It names
ports, which are in the switch's own `PORT` table; that table is written only where a port's SerDes are given.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from floodway.common.errors import unwritable
from floodway.planning.plan_files import SONIC_FILES as FILES
from floodway.planning.sonic.configuration import CNP_CLASS, CNP_DSCP
from floodway.results.files import new_folder, replace_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from floodway.planning.sonic.configuration import Configuration

__all__ = ["FILES", "lookup_text", "tables", "write"]

#: Names that SONiC's own configurations use.
MAP, POOL, MARKS = "AZURE", "ingress_lossless_pool", "AZURE_LOSSLESS"
#: Traffic classes, queues, priority groups and PFC priorities.
CLASSES = range(8)
DSCPS = range(64)

Tables = dict[str, dict[str, dict[str, str]]]


def tables(configuration: Configuration) -> Tables:
    """Return the tables of CONFIG_DB; all values are texts, as SONiC has them.

    Raises
    ------
    PlanError
        If a value is out of the range of its YANG model.
    """
    configuration.check()
    config_db: Tables = {}
    written = {port.name: port for port in configuration.ports if port.port_lanes}
    if written:
        config_db["PORT"] = {
            name: {"lanes": port.port_lanes, "speed": str(port.mbps)} for name, port in written.items()
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
    config_db["PFC_WD"] = {
        port.name: {
            "action": configuration.action,
            "detection_time": str(configuration.detection_ms),
            "restoration_time": str(configuration.restoration_ms),
        }
        for port in configuration.ports
    }
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
        profiles[port.profile] = {
            "pool": POOL,
            "size": str(port.size),
            "xon": str(port.xon),
            "xoff": str(port.xoff),
            "dynamic_th": str(port.dynamic_th),
        }
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
    fields = {
        "dscp_to_tc_map": MAP,
        "tc_to_queue_map": MAP,
        "tc_to_pg_map": MAP,
        "pfc_to_queue_map": MAP,
        "pfc_enable": classes,
        "pfcwd_sw_enable": classes,
    }
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
