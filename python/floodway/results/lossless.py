"""The lossless verdict: losses of lossless classes, guarantees by buffer sizes, and both as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from floodway.results.quantities import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["OF_HARMFUL_FLOWS", "Failed", "Loss", "Lossless", "Shortfall", "Unproven", "brief", "sentence"]

#: Why packets are dropped that a congestion point may lose, where all others are lossless.
OF_HARMFUL_FLOWS = ("selective", "isolated_full")

LosslessVerdict = Literal["held-by-sizing", "held-in-run", "violated", "not-asked", "held"]


@dataclass(frozen=True, kw_only=True)
class Loss:
    """Losses of lossless classes at full buffers.

    Attributes
    ----------
    packets, bytes
        Dropped in all.
    place
        The ingress port of the first drop, as `node (link)`.
    class_
        Its class.
    time_us
        When, in microseconds.
    missing_bytes
        What its buffer lacked for the first drop.
    worst_port_bytes
        The most that one port dropped over the run.
    worst_place
        That port, as `node (link)`; empty in results of older versions.
    ports
        How many ports and classes dropped some; 0 in results of older versions.
    """

    packets: int
    bytes: int
    place: str
    class_: int
    time_us: float
    missing_bytes: int
    worst_port_bytes: int
    worst_place: str = ""
    ports: int = 0


@dataclass(frozen=True, kw_only=True)
class Shortfall:
    """The port that lacks most of what its flow control asks for to lose nothing.

    Attributes
    ----------
    ports
        How many ports and classes lack something.
    place, class_
        The one that lacks most, as `node (link)`, and its class.
    has_bytes, needs_bytes, short_bytes
        What it has (all of its own buffer, or its headroom beside a shared pool), what it would have to have,
        and the difference.
    """

    ports: int
    place: str
    class_: int
    has_bytes: int
    needs_bytes: int
    short_bytes: int


@dataclass(frozen=True, kw_only=True)
class Unproven:
    """A reason for which the sizes of buffers alone guarantee no lossless class.

    Attributes
    ----------
    why
        The reason, in words.
    place
        The first port that it holds for.
    ports
        Number of ports that it holds for.
    """

    why: str
    place: str
    ports: int


@dataclass(frozen=True, kw_only=True)
class Failed:
    """Losses of lossless classes by failures.

    Attributes
    ----------
    packets, bytes
        Lost packets, and their bytes.
    drops
        Lost packets by reason.
    """

    packets: int
    bytes: int
    drops: tuple[tuple[str, int], ...]


@dataclass(frozen=True, kw_only=True)
class Lossless:
    """Whether lossless classes lost anything, and the verdict.

    Attributes
    ----------
    verdict
        `held-by-sizing`: nothing was dropped because a buffer was full, and nothing can be. `held-in-run`:
        nothing was dropped in this run, though sizes do not promise it. `violated`: something was dropped.
        `not-asked`: no class has a lossless flow control. `held`: nothing was dropped, and an older version
        did not say what sizes promise.
    short
        The port that lacks most of what its flow control asks for, if one lacks anything.
    unproven
        Why sizes alone promise nothing.
    react_is_zero
        Whether some size assumes an upstream that obeys a pause at once.
    loss
        What was dropped because a buffer was full.
    failed
        What was lost by damaged frames, links that were down, for lack of a route, or by watchdogs.
    """

    verdict: LosslessVerdict
    short: Shortfall | None = None
    unproven: tuple[Unproven, ...] = ()
    react_is_zero: bool = False
    loss: Loss | None = None
    failed: Failed | None = None

    @property
    def is_held(self) -> bool:
        """Whether nothing was dropped because a buffer was full."""
        return self.verdict in ("held-by-sizing", "held-in-run", "held")

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Lossless:
        """Read what the simulator wrote; older versions wrote a loss beside its verdict."""
        verdict = cast("LosslessVerdict", raw["verdict"])
        older = {key: value for key, value in raw.items() if key != "verdict"}
        loss = raw.get("loss") or (older if verdict == "violated" and "packets" in older else None)
        short, failed = raw.get("short"), raw.get("failed")
        return cls(
            verdict=verdict,
            short=None if short is None else Shortfall(**_classed(short)),
            unproven=tuple(Unproven(**fields) for fields in raw.get("unproven", ())),
            react_is_zero=raw.get("react_is_zero", False),
            loss=None if loss is None else Loss(**_classed(loss)),
            failed=None
            if failed is None
            else Failed(**{**failed, "drops": tuple(map(tuple, failed["drops"]))}),
        )


def sentence(lossless: Lossless) -> str:
    """Return the verdict in one line.

    Examples
    --------
    >>> sentence(Lossless(verdict="not-asked"))
    'no class has a lossless flow control'
    """
    return "; ".join(_parts(lossless))


def brief(several: Sequence[Lossless]) -> str:
    """Return the text of a table's cell for runs of one verdict.

    Examples
    --------
    >>> brief([Lossless(verdict="held-by-sizing")])
    'held by sizing'
    """
    first = several[0]
    losses = [lossless.loss for lossless in several if lossless.loss]
    shorts = [lossless.short.short_bytes for lossless in several if lossless.short]
    text = {
        "not-asked": "no lossless class",
        "held-by-sizing": "held by sizing" + (" (react = 0us)" if first.react_is_zero else ""),
        "held": "held (sizes unknown: an older run)",
    }.get(first.verdict, "")
    if losses:
        worst = max(losses, key=lambda loss: loss.worst_port_bytes)
        text = f"violated, {_range([loss.bytes for loss in losses])} lost, most at {_worst(worst)}"
    elif first.verdict == "held-in-run":
        text = "held in this run, not by sizing"
        if shorts:
            text = f"held in this run, {_range(shorts)} short of its formula"
    failed = [lossless.failed.packets if lossless.failed else 0 for lossless in several]
    if any(failed):
        low, high = f"{min(failed):,}", f"{max(failed):,}"
        text += f", {low if low == high else f'{low} to {high}'} packets lost by failures"
    return text


def _parts(lossless: Lossless) -> Iterator[str]:
    if lossless.failed is not None:
        # First, so that readers do not miss it.
        reasons = ", ".join(f"{reason} {packets:,}" for reason, packets in lossless.failed.drops)
        lost = f"{counted(lossless.failed.packets, 'packet')} ({counted(lossless.failed.bytes, 'byte')})"
        yield f"failures lost {lost} of lossless classes: {reasons}"
    if lossless.loss is not None:
        yield _violated(lossless.loss)
        if lossless.short is not None:
            missing = counted(lossless.short.short_bytes, "byte")
            yield f"{lossless.short.place} is {missing} short of its formula"
        yield from _unproven(lossless)
    elif lossless.verdict == "held-in-run":
        yield "held in this run, though " + "; ".join(_though(lossless))
    else:
        yield _held(lossless)


def _held(lossless: Lossless) -> str:
    """Return the verdict if nothing was lost and no reason speaks against the sizes."""
    if lossless.verdict == "held-by-sizing":
        react = " if upstreams obey a pause at once (react = 0us)" if lossless.react_is_zero else ""
        sizes = "every lossless port has at least the buffer that its flow control needs"
        no_overflow = "no buffer overflowed, " if lossless.failed else ""
        return f"{no_overflow}held by sizing{react}: {sizes}"
    if lossless.verdict == "held":
        return "held in this run; an older version wrote it, which did not compare sizes"
    return "no class has a lossless flow control"


def _though(lossless: Lossless) -> Iterator[str]:
    short = lossless.short
    if short is not None:
        others = f" ({short.ports:,} ports are short)" if short.ports > 1 else ""
        where = f"at {short.place}, class {short.class_}{others}"
        yield f"{counted(short.short_bytes, 'byte')} short of its formula {where}"
    yield from _unproven(lossless)


def _unproven(lossless: Lossless) -> Iterator[str]:
    """Say why sizes promise nothing, all reasons behind one another."""
    reasons = []
    for unproven in lossless.unproven:
        more = f" and {unproven.ports - 1:,} more" if unproven.ports > 1 else ""
        reasons.append(f"{unproven.why} ({unproven.place}{more})")
    if reasons:
        yield f"sizes do not guarantee it: {'; '.join(reasons)}"


def _violated(loss: Loss) -> str:
    where = f"{loss.ports:,} ports, most at " if loss.ports > 1 else ""
    worst = f" ({counted(loss.worst_port_bytes, 'byte')} there)" if loss.ports != 1 else ""
    return (
        f"violated: {counted(loss.bytes, 'byte')} ({counted(loss.packets, 'packet')}) lost at "
        f"{where}{_worst(loss)}{worst}; "
        f"the first at {loss.place}, class {loss.class_}, {loss.time_us:,.3f} us, "
        f"which did not fit by {counted(loss.missing_bytes, 'byte')}"
    )


def _worst(loss: Loss) -> str:
    # Older versions name the first port only.
    return loss.worst_place or "a port that an older version did not name"


def _range(sizes: Sequence[int]) -> str:
    low, high = _size(min(sizes)), _size(max(sizes))
    return high if low == high else f"{low} to {high}"


def _size(size: int) -> str:
    """Write few digits and a unit."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}" if size < 1000 * scale else f"{size / scale:,.0f} {unit}"
    return f"{size} B"


def _classed(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {"class_" if key == "class" else key: value for key, value in raw.items()}
