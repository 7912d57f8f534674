"""The command `floodway plot`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from floodway.cli.output import DONE, echo, warnings
from floodway.results.quantities import counted, quantity_us

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from floodway.cli.pictures import Format, Kind, PictureOptions
    from floodway.cli.sweep import Sizes
    from floodway.common.documents import Document
    from floodway.plot import Drawing, Source
    from floodway.results.nccl_tests import Measured
    from floodway.simulation.critical_path import CriticalPath

__all__ = ["Request", "plot"]

#: Suffixes that make `--out` a file, with their formats.
ENDINGS: dict[str, Format] = {".png": "png", ".pdf": "pdf", ".svg": "svg"}
#: Suffixes of files that floodway does not write; other names with a dot may be folders.
OTHER_ENDINGS = {".jpg", ".jpeg", ".gif", ".webp", ".eps", ".ps", ".tif", ".tiff", ".bmp", ".csv", ".html"}
#: Pictures of flows; and pictures of watched objects over time, with their default metrics.
OF_FLOWS = ("fct", "slowdown")
METRICS = {"series": "throughput", "heatmap": "utilisation"}
#: Tables that pictures of ports show, with the warning if a table was not recorded.
TABLE_WARNINGS = {
    "pauses": "pause times are known to within one bucket; records.pauses = true records them exactly",
    "signals": "marks, CNPs and states were not recorded; records.signals = true records them",
    "allowances": "allowances of senders were not recorded; records.allowances = true records them",
}
#: Options, with the attribute of the request and the kinds of pictures to which they apply.
OPTIONS: dict[str, tuple[str, tuple[Kind, ...]]] = {
    "--workload": ("workloads", ("fct", "slowdown", "timeline", "busbw")),
    "--metric": ("metric", ("series", "heatmap")),
    "--object": ("objects", ("series", "heatmap", "ports", "shares")),
    "--flow": ("flows", ("ports", "shares")),
    "--class": ("class_", ("region",)),
    "--from": ("begin", ("ports", "region", "shares", "timeline")),
    "--to": ("end", ("ports", "region", "shares", "timeline")),
    "--bucket": ("bucket", ("shares",)),
    "--path": ("path", ("timeline",)),
    "--log": ("pictures.log", ("fct", "slowdown", "series")),
    "-b": ("sizes", ("busbw",)),
    "--set": ("sets", ("busbw",)),
    "--full": ("full", ("busbw",)),
    "--json": ("json", ("busbw",)),
}
#: Options of `busbw` that are for scenarios alone.
OF_SWEEPS = ("-b", "--set", "--full", "--json")
#: Arguments of the functions that draw each kind of picture.
ARGUMENTS: dict[Kind, tuple[str, ...]] = {
    "fct": ("workloads",),
    "slowdown": ("workloads",),
    "series": ("objects", "metric"),
    "heatmap": ("objects", "metric"),
    "ports": ("objects", "flows", "window"),
    "region": ("class_", "window"),
    "shares": ("objects", "flows", "window", "bucket_us"),
    "timeline": ("workloads", "window", "paths"),
    "busbw": ("workloads", "measured"),
}


@dataclass(frozen=True, kw_only=True)
class Request:
    """The arguments of `floodway plot`."""

    kind: Kind
    folders: Sequence[Path]
    pictures: PictureOptions
    out: Path | None
    metric: str | None
    objects: Sequence[str]
    labels: Sequence[str]
    workloads: Sequence[str]
    flows: Sequence[str]
    class_: int | None
    begin: str | None
    end: str | None
    bucket: str | None
    path: str | None
    sizes: Sizes | None
    sets: Sequence[str]
    csv: bool
    force: bool
    quiet: bool
    json: bool
    full: bool


def plot(request: Request) -> int:
    """Read the results, draw and write the pictures, print their files, and return the exit code."""
    _refuse_unused(request)
    # Imported here: drawing takes as long to import as everything else.
    from floodway.plot import refuse_taken, save  # noqa: PLC0415

    if request.sizes is not None:
        # Errors in sizes come before the error that a picture exists already.
        request.sizes.all()
    files = _files(request)
    refuse_taken(files, force=request.force)
    inputs = _relabel(_inputs(request), request.labels)
    sources = inputs.sources
    with request.pictures.look():
        drawing = _draw(request, inputs)
    if not request.quiet:
        warnings((*_warnings(request, sources), *_of_measured(inputs)))
    save(drawing, files, force=request.force)
    if inputs.documents:
        from floodway.cli.show_document import print_answer  # noqa: PLC0415 (of sweeps alone)

        for document in inputs.documents:
            print_answer(document, json_=request.json, quiet=False, full=request.full)
    if not (request.quiet or request.json):
        for file in files:
            echo(str(file))
    return DONE


@dataclass(frozen=True, kw_only=True)
class _Inputs:
    """The inputs of a picture: results, tables of nccl-tests, and the documents of sweeps."""

    sources: Sequence[Source]
    measured: Sequence[Measured] = ()
    documents: Sequence[Document] = ()


def _relabel(inputs: _Inputs, labels: Sequence[str]) -> _Inputs:
    """Replace the labels of the results by those of `--label`, if any."""
    if not labels:
        return inputs
    names = [source.label for source in inputs.sources]
    if len(labels) != len(names) or len(set(labels)) != len(labels):
        message = (
            f"{counted(len(labels), 'name')} for {', '.join(names)}: one is needed for each, all different"
        )
        raise click.BadParameter(message, param_hint="--label")
    relabelled = (replace(source, label=label) for source, label in zip(inputs.sources, labels, strict=True))
    return replace(inputs, sources=tuple(relabelled))


def _inputs(request: Request) -> _Inputs:
    """Read the folders; for bus bandwidth also run scenarios, and read logs of nccl-tests."""
    from floodway.plot import sources_of  # noqa: PLC0415 (as above)

    # A missing path with a suffix counts as a file, whose reader reports the error.
    busbw = request.kind == "busbw"
    files = [
        path for path in request.folders if busbw and not path.is_dir() and (path.suffix or path.exists())
    ]
    folders = [path for path in request.folders if path not in files]
    scenarios = [path for path in files if path.suffix == ".toml"]
    for option in OF_SWEEPS:
        if _is_set(request, option) and not scenarios:
            message = "it is for scenarios, FILE.toml in place of DIR, whose collective is run in these sizes"
            raise click.BadParameter(message, param_hint=option)
    if scenarios and request.sizes is None:
        from floodway.cli.inputs import parsed  # noqa: PLC0415 (as above)
        from floodway.cli.sweep import collective_of  # noqa: PLC0415

        for path in scenarios:
            collective_of(parsed(path, sets=request.sets), request.workloads)
        message = f"give the sizes in which the collective of {scenarios[0]} is run: -b 8 -e 128M -f 2"
        raise click.BadParameter(message, param_hint="-b")
    if not files:
        return _Inputs(sources=sources_of(folders))
    from floodway.cli.sweep import sweep  # noqa: PLC0415 (as above)
    from floodway.results.nccl_tests import read_log  # noqa: PLC0415 (as above)

    measured = [read_log(path) for path in files if path not in scenarios]
    sources, documents = list(sources_of(folders)), []
    for path in scenarios:
        source, document = sweep(
            path,
            sets=request.sets,
            sizes=cast("Sizes", request.sizes),
            workloads=request.workloads,
            measured=measured,
            quiet=request.quiet,
        )
        sources.append(source)
        documents += [] if document is None else [document]
    return _Inputs(sources=sources, measured=measured, documents=documents)


def _is_set(request: Request, option: str) -> bool:
    value = attrgetter(OPTIONS[option][0])(request)
    return not (value is None or value is False or value == ())


def _refuse_unused(request: Request) -> None:
    """Raise an error for options that do not apply to the kind of picture."""
    for option, (_, kinds) in OPTIONS.items():
        if request.kind not in kinds and _is_set(request, option):
            message = f"does not apply to {request.kind}; only to {_listed(kinds)}"
            raise click.BadParameter(message, param_hint=option)


def _listed(names: Sequence[str]) -> str:
    """Join words as in a sentence: a, b and c."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _time(option: str, text: str | None) -> float | None:
    """Read a time, and return it in microseconds."""
    if text is None:
        return None
    try:
        return quantity_us(text)
    except ValueError as error:
        raise click.BadParameter(f"{error}, as in 3ms", param_hint=option) from error


def _files(request: Request) -> list[Path]:
    """Return the files of the pictures and of their data."""
    out, formats = request.out, request.pictures.formats
    if out is not None and out.suffix.lower() in OTHER_ENDINGS and not out.is_dir():
        message = f"{out} does not end with one of {', '.join(ENDINGS)}, nor is it a folder"
        raise click.BadParameter(message, param_hint="--out")
    if out is not None and out.suffix in ENDINGS and not out.is_dir():
        if formats not in {(), (ENDINGS[out.suffix],)}:
            message = f"is {', '.join(formats)}, and --out ends with {out.suffix}; choose one of the two"
            raise click.BadParameter(message, param_hint="--format")
        pictures = [out]
    else:
        metric = request.metric or METRICS.get(request.kind)
        name = request.kind if metric is None else f"{request.kind}-{metric}"
        folder = out or _default_out(request)
        pictures = [folder / f"{name}.{ending}" for ending in formats or ("png",)]
    data = pictures[0].with_suffix(".csv")
    return [data] if request.csv else [*pictures, data]


def _default_out(request: Request) -> Path:
    from floodway.comparison.variants import folder_names  # noqa: PLC0415 (as above)
    from floodway.plot import folder_labels  # noqa: PLC0415

    labels = [
        Path(label).with_suffix("") if label.endswith(".toml") else label
        for label in folder_labels(request.folders)
    ]
    return Path("out", "plot", *folder_names([" ".join(map(str, labels))]))


def _draw(request: Request, inputs: _Inputs) -> Drawing:
    from floodway import plot as pictures  # noqa: PLC0415 (as above)

    sources, path = inputs.sources, request.path
    arguments = {
        **vars(request),
        "metric": request.metric or METRICS.get(request.kind),
        "measured": inputs.measured,
        "window": (_time("--from", request.begin), _time("--to", request.end)),
        "bucket_us": _time("--bucket", request.bucket),
        "paths": () if path is None else _paths(path, sources, quiet=request.quiet),
    }
    draw: Callable[..., Drawing] = getattr(pictures, request.kind)
    return draw(sources, **{name: arguments[name] for name in ARGUMENTS[request.kind]})


def _paths(name: str, sources: Sequence[Source], *, quiet: bool) -> list[CriticalPath]:
    """Find the critical path of a collective or an iteration in the first run of each result."""
    from floodway.cli.watched_path import watched_path  # noqa: PLC0415 (as above)

    return [watched_path(source.results[0], name, quiet=quiet) for source in sources]


def _warnings(request: Request, sources: Sequence[Source]) -> Iterator[str]:
    """Yield warnings about what a picture does not show."""
    for source in sources:
        seeds = [result.run.seed for result in source.results]
        if request.kind not in (*OF_FLOWS, "busbw") and len(seeds) > 1:
            yield f"{source.label}: the first of {len(seeds)} seeds is shown, {seeds[0]}"
        if request.kind == "ports":
            yield from _not_in_picture(request, source)
        if request.kind == "region" and source.results[0].outcome.signals_beyond:
            yield f"{source.label}: signals beyond the full table are not shown"
        if request.kind == "shares":
            yield from _not_in_shares(source)
        early = [result for result in source.results if result.outcome.stopped in ("interrupted", "deadlock")]
        for result in early:
            yield f"{source.label}, seed {result.run.seed}: the run ended early: {result.outcome.stopped}"


def _of_measured(inputs: _Inputs) -> Iterator[str]:
    """Yield warnings about logs of nccl-tests that are cut, or measured another collective."""
    from floodway.results.nccl_tests import UNKNOWN  # noqa: PLC0415 (as above)

    simulated = [result.collectives for source in inputs.sources for result in source.results]
    tables = [table for table in simulated if table is not None]
    kinds = {str(kind) for table in tables for kind in table["kind"].unique()}
    ranks = {int(count) for table in tables for count in table["ranks"].unique()}
    for measured in inputs.measured:
        if not measured.is_whole:
            yield f"{measured.label}: the log has no average at its end; it may be cut"
        kind, count = measured.kind, measured.data["ranks"][0]
        if kinds and kind not in {UNKNOWN, *kinds}:
            yield f"{measured.label} is of {kind}, and what is drawn beside it of {', '.join(sorted(kinds))}"
        if ranks and count is not None and count not in ranks:
            others = ", ".join(f"{other:,}" for other in sorted(ranks))
            yield f"{measured.label} has {counted(count, 'rank')}, and what is drawn beside it {others}"


def _not_in_picture(request: Request, source: Source) -> Iterator[str]:
    """Yield what of ports and senders was not recorded, or is left out."""
    from floodway.plot.ports import USUAL_FLOWS  # noqa: PLC0415 (as above)

    result = source.results[0]
    for table, why in TABLE_WARNINGS.items():
        if getattr(result, table) is None:
            yield f"{source.label}: {why}"
    if result.allowances is not None and not request.flows:
        flows = result.allowances["flow_id"].n_unique()
        if flows > USUAL_FLOWS:
            yield f"{source.label}: the first {USUAL_FLOWS} of {flows:,} flows are shown; --flow names others"


def _not_in_shares(source: Source) -> Iterator[str]:
    """Yield which shares of flows were not recorded."""
    from floodway.results.feedback import KEEPS_SHARES  # noqa: PLC0415 (as above)

    result = source.results[0]
    if result.shares is None:
        yield f"{source.label}: flows' shares of links were not recorded; {KEEPS_SHARES}"
    if result.outcome.shares_beyond:
        beyond = f"{result.outcome.shares_beyond:,} rows beyond the recorded number"
        yield f"{source.label}: the last buckets lack {beyond}, and are shown as 0"
