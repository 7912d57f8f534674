"""The report of studies: tables, pictures, notes, as Markdown and as a page that needs nothing else."""

from __future__ import annotations

import json
import os
import re
from base64 import b64encode
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt

from floodway.errors import OutputError, PlotError
from floodway.plot.files import save
from floodway.simulation import versions
from floodway.study.bars import NothingRanError
from floodway.study.distributions import cdf, ports_in_time, region_in_time, series, shares_in_time
from floodway.study.drawing import bars, lines
from floodway.study.grid import grid
from floodway.study.remarks import lossless_of, troubles, warnings_of
from floodway.study.runs import engine
from floodway.study.storage import STUDY_FILE
from floodway.study.verdicts import VERDICTS
from floodway.study.words import COLUMNS, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from floodway.plot.curves import Drawing
    from floodway.study.conduct import Conducted, Part
    from floodway.study.evaluation import Numbers
    from floodway.study.model import Plot, Study
    from floodway.study.runs import Run
    from floodway.study.storage import Runs
    from floodway.study.verdicts import Judged

__all__ = ["PAGE_FILE", "REPORT_FILE", "TIMES", "write_report"]

REPORT_FILE = "report.md"
PAGE_FILE = "index.html"
QUICK = "This is the quick form, with fewer points, seeds or flows. Its numbers are for a first look."
#: What draws each kind of picture: from numbers of all runs, or from what single runs kept.
OF_NUMBERS: Mapping[str, Callable[[Study, Plot, Numbers], Drawing]] = {
    "bars": bars,
    "lines": lines,
    "grid": grid,
}
OF_RUNS: Mapping[str, Callable[[Study, Plot, Numbers, Runs], Drawing]] = {
    "series": series,
    "cdf": cdf,
    "ports": ports_in_time,
    "region": region_in_time,
    "shares": shares_in_time,
}
#: The heading of the only part that is not the same every time.
TIMES = "## Run times"


def write_report(
    conducted: Conducted, store: Runs, *, title: str, on_message: Callable[[str], None]
) -> tuple[Path, ...]:
    """Write numbers, pictures and the report into the folder of the studies, and return the files.

    `on_message` hears of each picture that cannot be drawn though some of its runs are there.

    Raises
    ------
    OutputError
        If they cannot be written.
    """
    folder = conducted.folder
    pictures: list[Path] = []
    sections = []
    for part in conducted.parts:
        texts = [
            _picture(part, plot, conducted, pictures, store=store, say=on_message)
            for plot in part.study.plots
        ]
        sections.append(_section(part, conducted, store, texts))
    text = "\n\n".join([*_head(conducted, title), *sections, *_foot(conducted, store)]) + "\n"
    page = _page(title, text, folder)
    contents = {
        REPORT_FILE: text,
        PAGE_FILE: page,
        STUDY_FILE: json.dumps(_document(conducted), indent=2, ensure_ascii=False) + "\n",
    }
    for name, content in contents.items():
        _write(folder / name, content)
    return (folder / PAGE_FILE, folder / REPORT_FILE, folder / STUDY_FILE, *pictures)


def _head(conducted: Conducted, title: str) -> Iterator[str]:
    yield f"# {_plain(title)}"
    if conducted.plan.quick:
        yield QUICK
    judged = [judged for part in conducted.parts for judged in part.judged]
    for is_ours, what in ((False, "published numbers and orders"), (True, "claims of our own")):
        found = [each.verdict for each in judged if each.claim.is_ours == is_ours]
        if found:
            counts = ", ".join(
                f"{verdict} {found.count(verdict)}" for verdict in VERDICTS if verdict in found
            )
            yield f"{len(found)} {what}: {counts}."


def _section(part: Part, conducted: Conducted, store: Runs, pictures: Sequence[str]) -> str:
    study = part.study
    # A report on one study has its title already.
    title = f"## {_plain(study.title)}" if len(conducted.parts) > 1 else ""
    blocks = [title, _plain(study.shows), study.notes.strip()]
    blocks += [_table(part)] if part.judged else []
    blocks += pictures
    blocks += [f"Numbers: {_plain(study.source)}"] if study.source else []
    blocks += [_runs(part, conducted, store), _warnings(part)]
    return "\n\n".join(block for block in blocks if block)


def _table(part: Part) -> str:
    rows = [shown(part, judged).cells for judged in part.judged]
    return _markdown_table(COLUMNS, rows)


def _markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines_ = [columns, ["---"] * len(columns), *rows]
    return "\n".join(
        f"| {' | '.join(_plain(cell).replace('|', chr(92) + '|') for cell in row)} |" for row in lines_
    )


def _picture(  # noqa: PLR0913 (what is shown, where it goes, who hears of it)
    part: Part,
    plot: Plot,
    conducted: Conducted,
    pictures: list[Path],
    *,
    store: Runs,
    say: Callable[[str], None],
) -> str:
    try:
        drawing = _drawn(part, plot, store)
    except PlotError as error:
        if not isinstance(error, NothingRanError):
            say(f"not drawn: {part.study.name}: plot[{plot.name}]: {error}")
        return f"{_plain(plot.title)}: not drawn, {_plain(str(error))}."
    several = len(conducted.parts) > 1 and not plot.name.startswith(part.study.name)
    name = f"{part.study.name}-{plot.name}" if several else plot.name
    files = [conducted.folder / f"{name}.png", conducted.folder / f"{name}.csv"]
    save(drawing, files, force=True)
    pictures += files
    return f"![{_plain(plot.title)}]({name}.png)\n\n{_plain(plot.title)} ([data]({name}.csv))"


def _drawn(part: Part, plot: Plot, store: Runs) -> Drawing:
    if plot.kind in OF_NUMBERS:
        return OF_NUMBERS[plot.kind](part.study, plot, part.numbers)
    return OF_RUNS[plot.kind](part.study, plot, part.numbers, store)


def _runs(part: Part, conducted: Conducted, store: Runs) -> str:
    """Say how many runs there were, and what is to be known of them."""
    runs = part.numbers.runs
    done = [run for run in runs if run.key in conducted.done]
    head = [f"{len({run.key for run in runs})} runs, seeds {_seeds(runs)}.", *lossless_of(part, done, store)]
    said = [" ".join(head)]
    for run in runs:
        if run.key in conducted.failures:
            said.append(f"- {_plain(run.label)}: failed: {_plain(conducted.failures[run.key])}")
        elif run.key in conducted.done:
            said += [f"- {_plain(run.label)}: {word}" for word in troubles(store, run)]
    return "\n".join(said[:1] + [""] * (len(said) > 1) + said[1:])


def _warnings(part: Part) -> str:
    """List what `check` warns of; nothing where it does not."""
    lines_ = [f"- {_plain(warning)}" for warning in warnings_of(part)]
    return "\n".join(["`floodway check` warns:", "", *lines_]) if lines_ else ""


def _seeds(runs: Sequence[Run]) -> str:
    seeds = sorted({run.seed for run in runs})
    whole = len(seeds) > 1 and seeds[-1] - seeds[0] == len(seeds) - 1
    return f"{seeds[0]} to {seeds[-1]}" if whole else ", ".join(map(str, seeds))


def _foot(conducted: Conducted, store: Runs) -> Iterator[str]:
    own = versions()
    yield "## Versions"
    yield f"floodway {engine()}, polars {own['polars']}, Python {own['python']}."
    rows = [
        [run.label, f"{store.wall_s(run.key):.1f}", run.key[:12]]
        for run in conducted.plan.runs
        if run.key in conducted.done
    ]
    if rows:
        total = sum(float(row[1]) for row in rows)
        yield TIMES
        yield f"{total:,.0f} s of one core in all."
        yield _markdown_table(("run", "seconds", "key"), rows)


def _page(title: str, text: str, folder: Path) -> str:
    environment = Environment(
        loader=PackageLoader("floodway.study", "templates"), autoescape=True, undefined=StrictUndefined
    )
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)

    def inside(found: re.Match[str]) -> str:
        picture = folder / found[1]
        return f'src="data:image/png;base64,{b64encode(picture.read_bytes()).decode()}"'

    body = re.sub(r'src="([^"/]+\.png)"', inside, body)
    return environment.get_template("page.html.jinja").render(title=title, body=body)


def _document(conducted: Conducted) -> dict[str, Any]:
    return {
        "complete": True,
        "engine": engine(),
        "quick": conducted.plan.quick,
        "studies": [_part_document(part, conducted) for part in conducted.parts],
    }


def _part_document(part: Part, conducted: Conducted) -> dict[str, Any]:
    return {
        "name": part.study.name,
        "title": part.study.title,
        "claims": [
            {
                "name": judged.claim.name,
                "figure": judged.claim.figure,
                "says": judged.claim.says,
                "published": list(judged.claim.order or judged.claim.between or ()) or judged.claim.value,
                "unit": judged.claim.unit,
                "ours": [name for name, _ in judged.found] if judged.claim.order else judged.ours,
                **({"parts": [_number_document(each) for each in judged.parts]} if judged.parts else {}),
                "low": judged.low,
                "high": judged.high,
                "seeds": judged.seeds,
                "unfinished": judged.unfinished,
                "cause": judged.cause,
                "verdict": judged.verdict,
            }
            for judged in part.judged
        ],
        "runs": [_run_document(part, run, conducted) for run in part.numbers.runs],
    }


def _number_document(judged: Judged) -> dict[str, Any]:
    """Return one of several numbers of a claim."""
    return {
        "at": dict(judged.claim.at),
        "against": judged.claim.against or None,
        "ours": [name for name, _ in judged.found] if judged.claim.order else judged.ours,
        "verdict": judged.verdict,
    }


def _run_document(part: Part, run: Run, conducted: Conducted) -> dict[str, Any]:
    values = {
        name: {"value": by_key[run.key].value, "unfinished": by_key[run.key].unfinished}
        for name, by_key in part.numbers.values.items()
        if run.key in by_key
    }
    return {
        "variant": run.variant,
        "at": dict(run.place),
        "seed": run.seed,
        "key": run.key,
        "error": conducted.failures.get(run.key),
        "metrics": values,
    }


def _write(file: Path, text: str) -> None:
    try:
        new = file.with_name(f".{file.name}.new")
        new.write_text(text, encoding="utf-8")
        new.replace(file)
    except OSError as error:
        raise OutputError(os.fspath(file), f"cannot be written: {error.strerror or error}") from error


def _plain(text: str) -> str:
    """Return text in one line."""
    return " ".join(text.split())
