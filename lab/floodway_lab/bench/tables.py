"""Entries of the history as rows of text, for the terminal and for the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from floodway.common.markdown import Markdown, plain
from floodway_lab.markdown import code

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from floodway_lab.bench.listing import Listing
    from floodway_lab.bench.verdict import Change

__all__ = [
    "CASES",
    "CHANGES",
    "COUNTS",
    "PAIRS",
    "case_rows",
    "cause_rows",
    "change_row",
    "count_rows",
    "pair_notes",
    "pair_rows",
]

CASES = (
    "case",
    "what",
    "threads",
    "M packet-hops/s",
    "speed-up",
    "events per packet-hop",
    "ns per host and simulated us",
    "peak MB",
    "simulated us per second",
    "reading and building, s",
)
PAIRS = (
    "same work",
    "other simulator",
    "theirs: CPU, peak",
    "floodway",
    "ours: CPU, peak",
    "CPU, theirs / ours: min / median / max",
    "pairs",
)
COUNTS = ("count", "what", "instructions per packet-hop")
#: Smaller changes are not shown.
SMALLEST_CHANGE = 0.02
CHANGES = ("what", "unit", "before", "after", "change", "verdict")


def case_rows(entry: Mapping[str, Any], listing: Listing) -> Iterator[tuple[str, ...]]:
    """Yield a row for each case and number of threads."""
    descriptions = {case.name: case.what for case in listing.cases}
    single = {case["case"]: case["packet_hops_per_s"] for case in entry["cases"] if case["threads"] == 1}
    for case in entry["cases"]:
        rate, alone, wall = case["packet_hops_per_s"], single.get(case["case"]), case["wall_s_median"]
        yield (
            case["case"],
            descriptions.get(case["case"], ""),
            str(case["threads"]),
            f"{rate / 1e6:.2f}",
            f"{rate / alone:.2f}" if alone and case["threads"] > 1 else "",
            f"{sum(case['events_per_packet_hop'].values()):.3f}",
            f"{wall * 1e9 / case['hosts'] / case['simulated_us']:.0f}",
            f"{case['peak_memory_bytes_median'] / 1e6:.0f}",
            f"{case['simulated_us'] / wall:,.0f}",
            f"{case['read_s_median'] + case['build_s_median']:.2f}",
        )


def cause_rows(entry: Mapping[str, Any]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the heading and the rows of events per packet-hop by cause, a column for each case."""
    cases = {case["case"]: case["events_per_packet_hop"] for case in entry["cases"]}
    causes = list(dict.fromkeys(cause for events in cases.values() for cause in events))
    rows = [(cause, *(_share(events.get(cause)) for events in cases.values())) for cause in causes]
    return ("events per packet-hop", *cases), rows


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.4f}"


def pair_rows(entry: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each run of floodway that was paired with one of another simulator."""
    for pair in entry.get("pairs", ()):
        yield (
            pair["what"],
            f"{pair['peer']['version']}: {pair['theirs']['name']}",
            _used(pair["theirs"]),
            f"{pair['ours']['name']}",
            _used(pair["ours"]),
            _ratio(pair["ratio"], pair["turns"]),
            "several" if pair["turns"] is None else str(pair["turns"]),
        )


def _used(side: Mapping[str, Any]) -> str:
    return f"{_seconds(side['cpu_s_median'])}, {side['peak_memory_bytes_median'] / 1e6:.0f} MB"


def _seconds(cpu: float) -> str:
    return f"{cpu:.2f} s" if cpu < 1.0 else f"{cpu:.1f} s"


def _ratio(ratio: Mapping[str, float], turns: int | None) -> str:
    median = f"**{ratio['median']:.1f}**"
    return Markdown(median if turns == 1 else f"{ratio['min']:.1f} / {median} / {ratio['max']:.1f}")


def pair_notes(entry: Mapping[str, Any]) -> str:
    """Return notes on the builds and the work of the pairs, as a list in Markdown."""
    pairs = entry.get("pairs", ())
    builds = dict.fromkeys(_build(pair["peer"]) for pair in pairs)
    works = (f"{pair['what']}, {pair['ours']['name']}: {pair['work']}" for pair in pairs if pair["work"])
    return "\n".join(f"- {line}." for line in [*builds, *map(plain, works)] if line)


def _build(peer: Mapping[str, str]) -> str:
    details = [
        f"commit {plain(peer['commit'])}" if peer["commit"] else "",
        f"built with {code(peer['flags'])}" if peer["flags"] else "",
    ]
    return ", ".join([plain(peer["version"]), *filter(None, details)]) if any(details) else ""


def count_rows(entry: Mapping[str, Any], listing: Listing) -> Iterator[tuple[str, ...]]:
    """Yield a row for each count of instructions."""
    descriptions = {count.name: count.what for count in listing.counts}
    for name, count in entry["instructions"].items():
        yield name, descriptions.get(name, ""), f"{count:,.0f}"


def change_row(change: Change) -> tuple[str, ...]:
    """Return the row of a change."""
    verdict = "worse" if change.flagged else "as before" if abs(change.part) < SMALLEST_CHANGE else "changed"
    return (
        change.name,
        change.unit,
        f"{change.before:,.0f}",
        f"{change.after:,.0f}",
        f"{change.part:+.1%}",
        verdict,
    )
