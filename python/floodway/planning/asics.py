"""Switch chips: cell size and memory of their buffers, with sources; and the chips of switches by name."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from floodway.common.errors import UnknownNameError
from floodway.common.names import nearest
from floodway.planning.units import size_of

__all__ = ["LANES", "Asic", "asic", "asics", "chip_of", "counts_headroom", "exponents", "pipeline_reserve"]

KIB = 1024
#: SONiC's `dynamic_th`: alpha is 2 to its power. Broadcom's chips have from 1/128 to 8 (its SAI).
EXPONENTS, OF_BROADCOM = range(-8, 8), range(-7, 4)
#: SerDes of a wide port, which reserves twice of what others do.
LANES = 8


@dataclass(frozen=True, kw_only=True)
class Asic:
    """A switch chip.

    Attributes
    ----------
    name, label
        Its name in commands, and in words.
    aliases
        Other names, as makers and operators write them.
    cell_bytes
        Bytes of a cell of its buffer: a packet occupies whole cells.
    buffer_bytes
        Memory of its buffer, if known.
    firm
        Whether a source names that memory; else it is quoted, and may include other memory.
    source
        Where the memory's size is from.
    pipeline_kib
        Latency of its pipeline in KiB at line rate, a parameter of NVIDIA's headroom.
    generation
        Of NVIDIA's Spectrum; 0 for others.
    """

    name: str
    label: str
    cell_bytes: int
    aliases: tuple[str, ...] = ()
    buffer_bytes: int | None = None
    firm: bool = False
    source: str = ""
    pipeline_kib: int | None = None
    generation: int = 0


@cache
def asics() -> dict[str, Asic]:
    """Return all chips that are known, by their names."""
    text = (files("floodway.planning") / "asics.toml").read_text(encoding="utf-8")
    chips = (_asic(table) for table in tomllib.loads(text)["asic"])
    return {chip.name: chip for chip in chips}


def asic(name: str) -> Asic:
    """Return a chip by its name or one of its other names, in capitals or not.

    Raises
    ------
    UnknownNameError
        If none has this name.
    """
    spelled = {spelling: chip for chip in asics().values() for spelling in (chip.name, *chip.aliases)}
    by_folded = {spelling.casefold(): chip for spelling, chip in spelled.items()}
    chip = by_folded.get(name.casefold())
    if chip is None:
        near = nearest(name, spelled)
        hint = f"; did you mean {near!r}?" if near else ""
        text = f"asic: {name!r} is not a chip; allowed: {', '.join(asics())}{hint}"
        raise UnknownNameError(text, key="asic", given=name, nearest=near)
    return chip


def counts_headroom(name: str) -> bool:
    """Whether the `size` of a chip's pool counts its `xoff`, as SAI defines it; NVIDIA's has it beside it."""
    return not name.startswith("spectrum")


def exponents(name: str) -> range:
    """Return the values of `dynamic_th` that a chip takes; all of SONiC's if none is named."""
    return OF_BROADCOM if name.startswith(("tomahawk", "jericho")) else EXPONENTS


def pipeline_reserve(chip: Asic, lane_count: int = LANES) -> int:
    """Return the bytes that a class of NVIDIA's chips reserves, and at which it resumes; 0 for other makers.

    Source: NVIDIA's plug-in of SONiC, whose `size` and `xon` are the latency of the pipeline.
    """
    pipeline = chip.pipeline_kib if chip.generation else None
    return (pipeline or 0) * KIB * (2 if lane_count == LANES else 1)


def _asic(table: dict[str, object]) -> Asic:
    fields = dict(table)
    fields["cell_bytes"] = fields.pop("cell")
    fields["aliases"] = tuple(fields.pop("aliases", ()))  # type: ignore[arg-type]
    if "buffer" in fields:
        fields["buffer_bytes"] = size_of(str(fields.pop("buffer")), "buffer")
    return Asic(**fields)  # type: ignore[arg-type]


def chip_of(hwsku: str) -> str:
    """Return the chip's name for a `hwsku` such as ``ACS-MSN4600C``; empty where it is not known."""
    name = hwsku.lower()
    _, dash, model = name.partition("-")
    # Some names begin with the maker, others with the model.
    texts = (model, name) if dash else (name,)
    return next((chip for begin, chip in _switches() for text in texts if text.startswith(begin)), "")


@cache
def _switches() -> tuple[tuple[str, str], ...]:
    text = (files("floodway.planning.sonic") / "switches.toml").read_text(encoding="utf-8")
    return tuple(
        (begin, switch["asic"]) for switch in tomllib.loads(text)["switch"] for begin in switch["begins"]
    )
