"""The history of measurements: `benchmarks/history.json`, one entry per line."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from floodway.common.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from floodway_lab.bench.model import Measured, Paired, Skipped, Usage

__all__ = ["add", "entry", "kind", "last_pairs", "of_cases", "read", "revision_of"]

#: Columns of each run that an entry has beside the medians.
SINGLE = ("wall_s", "read_s", "build_s", "peak_memory_bytes")
#: Columns of each run of a pair.
USED = ("cpu_s", "wall_s", "peak_memory_bytes")


def entry(
    root: Path,
    results: Sequence[Measured],
    instructions: Mapping[str, float],
    skipped: Sequence[Skipped],
    *,
    pairs: Sequence[Paired] = (),
) -> dict[str, Any]:
    """Return measurements as an entry of the history.

    Parameters
    ----------
    root
        The repository, whose revision was measured.
    results
        Runs of the cases.
    instructions
        Instructions per packet-hop, by name.
    skipped
        Cases and counts that were not measured.
    pairs
        Runs by turns with other simulators.
    """
    revision = revision_of(root)
    changed = _text("git", "-C", str(root), "status", "--porcelain", "--untracked-files=no", "crates")
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "revision": revision,
        "changed": bool(changed),
        "machine": machine(),
        "rustc": _text("rustc", "--version"),
        "cases": [_case(measured) for measured in results],
        "instructions": dict(instructions),
        "skipped": {omission.name: omission.reason for omission in skipped},
        "pairs": [_pair(paired) for paired in pairs],
    }


def revision_of(root: Path) -> str:
    """Return the revision of the repository; unknown outside of one."""
    return _text("git", "-C", str(root), "rev-parse", "HEAD")


def _case(measured: Measured) -> dict[str, Any]:
    first = measured.runs[0]
    return {
        "case": measured.case,
        "threads": measured.threads,
        "packet_hops": first["packet_hops"],
        "simulated_us": first["simulated_us"],
        "hosts": first["hosts"],
        "packet_hops_per_s": round(measured.rate),
        **{f"{key}_median": measured.median(key) for key in SINGLE},
        "events_per_packet_hop": first["events_per_packet_hop"],
        **{key: [run[key] for run in measured.runs] for key in SINGLE},
    }


def _pair(paired: Paired) -> dict[str, Any]:
    ratios, peer = paired.ratios, paired.peer
    return {
        "pair": paired.pair.name,
        "what": paired.pair.what,
        "work": paired.work,
        "peer": {
            "name": peer.name,
            "version": peer.version,
            "commit": peer.commit,
            "flags": peer.flags,
        },
        "turns": len(ratios),
        "ratio": {"min": min(ratios), "median": median(ratios), "max": max(ratios)},
        "theirs": {"name": paired.pair.theirs, **_side(paired.theirs)},
        "ours": {"name": paired.run.name, **_side(paired.ours)},
    }


def _side(runs: Sequence[Usage]) -> dict[str, Any]:
    single = {key: [getattr(run, key) for run in runs] for key in USED}
    return {**{f"{key}_median": median(values) for key, values in single.items()}, **single}


def machine() -> dict[str, Any]:
    """Return the description of this machine: processor, cores, kernel."""
    return {"cpu": _processor(), "cores": os.cpu_count(), "kernel": platform.release()}


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    lines = listing.read_text(encoding="utf-8").splitlines() if listing.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def kind(entry: Mapping[str, Any]) -> tuple[str, int]:
    """Return the kind of a machine, by which entries are comparable: processor and cores."""
    return entry["machine"]["cpu"], entry["machine"]["cores"]


def read(file: Path) -> list[dict[str, Any]]:
    """Return the entries of a file, the oldest first; none where there is no file.

    Raises
    ------
    OutputError
        The file is not a history.
    """
    if not file.exists():
        return []
    try:
        entries = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise OutputError(os.fspath(file), f"is not a history of benchmarks: {error}") from error
    if not isinstance(entries, list):
        raise OutputError(os.fspath(file), "is not a history of benchmarks: expected a list")
    return entries


def of_cases(entries: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the entries that measured cases."""
    return [entry for entry in entries if entry["cases"]]


def last_pairs(entries: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the last entry that has pairs with other simulators; none where no entry has."""
    with_pairs = [entry for entry in entries if entry.get("pairs")]
    return with_pairs[-1] if with_pairs else None


def add(file: Path, new: Mapping[str, Any]) -> None:
    """Add an entry to a file."""
    lines = ",\n".join(json.dumps(record) for record in [*read(file), new])
    beside = file.with_name(f".{file.name}.new")
    beside.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    beside.replace(file)


def _text(*command: str) -> str:
    try:
        completed = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return completed.stdout.strip()
