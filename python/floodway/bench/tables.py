"""Entries of the history as rows of text, for the terminal and for the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from floodway.bench.listing import Listing
    from floodway.bench.model import Peer
    from floodway.bench.verdict import Change

__all__ = [
    "CASES",
    "CHANGES",
    "COUNTS",
    "PEERS",
    "case_rows",
    "cause_rows",
    "change_row",
    "count_rows",
    "peer_rows",
]

CASES = (
    "case",
    "what",
    "threads",
    "M packet-hops/s",
    "speed-up",
    "events a packet-hop",
    "ns a host and simulated us",
    "peak MB",
    "simulated us a second",
    "reading and building, s",
)
PEERS = ("case", "of another simulator", "theirs", "ours", "times as fast", "aim")
COUNTS = ("count", "what", "instructions a packet-hop")
#: Smaller changes are none.
MEANT = 0.02
CHANGES = ("what", "unit", "before", "after", "change", "verdict")


def case_rows(entry: Mapping[str, Any], listing: Listing) -> Iterator[tuple[str, ...]]:
    """Yield a row for each case and number of threads."""
    what = {case.name: case.what for case in listing.cases}
    single = {case["case"]: case["packet_hops_per_s"] for case in entry["cases"] if case["threads"] == 1}
    for case in entry["cases"]:
        rate, alone, wall = case["packet_hops_per_s"], single.get(case["case"]), case["wall_s_median"]
        yield (
            case["case"],
            what.get(case["case"], ""),
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
    return ("events a packet-hop", *cases), rows


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.4f}"


def peer_rows(entry: Mapping[str, Any], listing: Listing) -> Iterator[tuple[str, ...]]:
    """Yield a row for each peer of each case that was run on one thread."""
    own = {case["case"]: case for case in entry["cases"] if case["threads"] == 1}
    for case in listing.cases:
        if case.name not in own:
            continue
        for peer in case.peers:
            theirs, ours, times = _against(peer, own[case.name])
            aim = "" if peer.aim is None else f"{peer.aim:g}"
            yield case.name, peer.simulator, theirs, ours, f"{times:.1f}", aim


def _against(peer: Peer, case: Mapping[str, Any]) -> tuple[str, str, float]:
    if peer.wall_s is not None:
        # Theirs is the time of the whole program.
        wall = case["wall_s_median"] + case["read_s_median"] + case["build_s_median"]
        return f"{peer.wall_s:.1f} s", f"{wall:.2f} s", peer.wall_s / wall
    rate, theirs = case["packet_hops_per_s"], peer.packet_hops_per_s or 0.0
    return f"{theirs / 1e6:.2f} M/s", f"{rate / 1e6:.2f} M/s", rate / theirs


def count_rows(entry: Mapping[str, Any], listing: Listing) -> Iterator[tuple[str, ...]]:
    """Yield a row for each count of instructions."""
    what = {count.name: count.what for count in listing.counts}
    for name, count in entry["instructions"].items():
        yield name, what.get(name, ""), f"{count:,.0f}"


def change_row(change: Change) -> tuple[str, ...]:
    """Return the row of a change."""
    verdict = "worse" if change.flagged else "as before" if abs(change.part) < MEANT else "changed"
    return (
        change.name,
        change.unit,
        f"{change.before:,.0f}",
        f"{change.after:,.0f}",
        f"{change.part:+.1%}",
        verdict,
    )
