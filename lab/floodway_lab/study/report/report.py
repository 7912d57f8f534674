"""The report of studies: tables, pictures and notes, as Markdown and as a self-contained page."""

from __future__ import annotations

import io
import json
import os
import re
from base64 import b64encode
from html import unescape
from itertools import cycle
from shlex import quote
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from markdown_it import MarkdownIt

from floodway.common.documents.model import cell_of
from floodway.common.documents.table_files import latex
from floodway.common.errors import unwritable
from floodway.common.markdown import Markdown, plain, table
from floodway.common.pages import environment
from floodway.results.files import REPORT_FILE as RUN_PAGE
from floodway.results.files import replace_file
from floodway.results.folders import STUDY_FILE
from floodway.results.quantities import counted
from floodway.results.simulated import realised, seeds_text
from floodway.scenarios.keys import engine
from floodway.simulation.run import versions
from floodway.study.numbers import numbers_table
from floodway_lab.markdown import code, formatted, target
from floodway_lab.study.model import NUMBERS, plots_of
from floodway_lab.study.report.claim_rows import COLUMNS, RULE, claim_rows, readings_list
from floodway_lab.study.report.counts import verdict_counts, verdict_sentence
from floodway_lab.study.report.document import document
from floodway_lab.study.report.gallery import Gallery, file_name, overview
from floodway_lab.study.report.glance import COLUMNS as GLANCE
from floodway_lab.study.report.remarks import lossless_of, warnings_of
from floodway_lab.study.report.tidy import tidy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from floodway.plot.axes import Format
    from floodway.results.simulated import Fact
    from floodway.study.numbers import Conducted, Part
    from floodway.study.running.runs import Run
    from floodway.study.running.storage import Runs
    from floodway_lab.study.report.run_facts import Known

__all__ = ["PAGE_FILE", "REPORT_FILE", "TIMES", "write_report"]

REPORT_FILE = "report.md"
PAGE_FILE = "index.html"
QUICK = "This is the quick version, with fewer points, seeds or flows. Its numbers are for a first look."
#: The most rows of means in the report.
MOST_ROWS = 60
#: The most labels that are listed; of more, only the number of differing values is given.
MOST_LABELS = 12
#: The heading of the rule of verdicts.
RULE_TITLE = "How verdicts are decided"
#: Headings whose parts are folded on the page; with claims, that of numbers, too.
FOLDED = ("Simulated", RULE_TITLE, "Versions", "Run times")
#: Tables with more columns than this have a line for each cell on a telephone.
MOST_COLUMNS = 3
#: The heading of the run times, the only part that differs each time.
TIMES = "## Run times"


def write_report(
    conducted: Conducted,
    store: Runs,
    *,
    title: str,
    formats: Sequence[Format],
    on_message: Callable[[str], None],
) -> tuple[Path, ...]:
    """Write numbers, pictures and the report into the folder of the studies, and return the files.

    Pictures are PNG, and of these formats as well. `on_message` is called for each that cannot be drawn
    although some of its runs are there.

    Raises
    ------
    OutputError
        If they cannot be written.
    """
    folder = conducted.folder
    written: list[Path] = []
    sections = []
    pictures = []
    shown = overview(conducted, written)
    own_formats: list[Format] = ["png", *(image_format for image_format in formats if image_format != "png")]
    several = len(conducted.parts) > 1
    for part in conducted.parts:
        gallery = Gallery(part, folder, store, own_formats, several=several)
        texts = [gallery.picture(plot, on_message) for plot in plots_of(part.study)]
        numbers = _numbers(part, conducted, written)
        written += gallery.files
        sections.append(_section(part, conducted, texts, numbers))
        pictures.append([*gallery.shown.values()])
    study_document = document(conducted, pictures, shown)
    head = [*_head(conducted, title), *_glance(conducted, study_document)]
    text = "\n\n".join([*head, *sections, *_foot(conducted, store)]) + "\n"
    contents = {
        REPORT_FILE: text,
        PAGE_FILE: _page(conducted, title, text, folder),
        STUDY_FILE: json.dumps(study_document, indent=2, ensure_ascii=False) + "\n",
    }
    for name, content in contents.items():
        _write(folder / name, content)
    return (folder / PAGE_FILE, folder / REPORT_FILE, folder / STUDY_FILE, *written)


def _head(conducted: Conducted, title: str) -> Iterator[str]:
    yield f"# {plain(title)}"
    if conducted.plan.quick:
        yield QUICK
    yield f"**{plain(verdict_sentence(conducted)[0])}**"
    yield from map(plain, verdict_counts(conducted))


def _glance(conducted: Conducted, study_document: Mapping[str, Any]) -> Iterator[str]:
    """Yield all published statements of a paper, from its document: one picture and one table."""
    rows, picture = study_document["glance"], study_document["overview"]
    if picture is not None:
        yield f"![{plain(picture['title'])}]({target(picture['file'])})\n\n{plain(picture['caption'])}"
    if rows and len(conducted.parts) > 1:
        yield table(GLANCE, ([*row.values()] for row in rows))


def _section(part: Part, conducted: Conducted, pictures: Sequence[str], numbers: str) -> str:
    study = part.study
    # A report on one study has its title already.
    title = f"## {plain(study.title)}" if len(conducted.parts) > 1 else ""
    run_facts = part.known
    blocks = [title, plain(study.shows), *pictures[:1]]
    blocks += [table(COLUMNS, [row.cells for row in claim_rows(part)])] if part.judged else []
    blocks += [_warnings(part), *pictures[1:], formatted(study.notes)]
    blocks += [readings_list((reading["name"], reading["says"]) for reading in study.readings), numbers]
    blocks += [_simulated(part, run_facts), f"Numbers: {plain(study.source)}" if study.source else ""]
    blocks += [_runs(part, conducted, run_facts), f"### {RULE_TITLE}\n\n{RULE}" if part.judged else ""]
    return "\n\n".join(block for block in blocks if block)


def _numbers(part: Part, conducted: Conducted, written: list[Path]) -> str:
    """Write all numbers as a tidy table; return their means as the report shows them."""
    name = file_name(part.study, NUMBERS, several=len(conducted.parts) > 1)
    frame = tidy(part)
    columns = io.BytesIO()
    frame.write_parquet(columns)
    for ending, content in (("csv", frame.write_csv().encode()), ("parquet", columns.getvalue())):
        written.append(conducted.folder / f"{name}.{ending}")
        _write_bytes(written[-1], content)
    means = numbers_table(part, part.numbers.metrics)
    written.append(conducted.folder / f"{name}.tex")
    _write(written[-1], latex(means, comment=part.study.title))
    csv, parquet, tex = (target(f"{name}.{ending}") for ending in ("csv", "parquet", "tex"))
    links = f"Every number, a row a seed: [CSV]({csv}), [Parquet]({parquet}); this table: [LaTeX]({tex})"
    left_out = len(means.rows) - MOST_ROWS
    more = f"; {left_out} more rows are there only" if left_out > 0 else ""
    rows = [[cell_of(cell).text for cell in row] for row in (means.columns, *means.rows)]
    shown_rows = table(rows[0], rows[1 : MOST_ROWS + 1])
    notes = "".join(f"{plain(note)}. " for note in means.notes)
    return f"### Numbers\n\n{shown_rows}\n\n{notes}{links}{more}."


def _simulated(part: Part, run_facts: Mapping[str, Known]) -> str:
    """Return the table of what was simulated: facts of all runs, and differing ones by variant or point."""
    runs = [run for run in part.numbers.runs if run.key in run_facts]
    if not runs:
        return ""
    rows = []
    for name in dict.fromkeys(fact.name for run in runs for fact in run_facts[run.key].facts):
        lines = {run.key: _lines_of(run_facts[run.key].facts, name) for run in runs}
        rows.append((name, "; ".join(_by_what(part, runs, lines))))
    rows += [
        (fact.name, "; ".join(fact.lines)) for fact in realised([run_facts[run.key].realised for run in runs])
    ]
    return "### Simulated\n\n" + table(("", ""), rows)


def _lines_of(facts: Sequence[Fact], name: str) -> str:
    return "; ".join(next((fact.lines for fact in facts if fact.name == name), ("-",)))


def _by_what(part: Part, runs: Sequence[Run], lines: Mapping[str, str]) -> Iterator[str]:
    """Yield the values of a fact: of all runs, or by variant, or by point of the axis that decides it."""
    values = list(dict.fromkeys(lines[run.key] for run in runs))
    if len(values) == 1:
        yield values[0]
        return
    study = part.study
    labels_of: list[Callable[[Run], str]] = [lambda run: study.variant(run.variant).label]
    labels_of += [
        lambda run, axis=axis: f"{axis.label} {dict(run.at)[axis.name]}"  # type: ignore[misc]
        for axis in study.axes
    ]
    for label_of in labels_of:
        by_label: dict[str, set[str]] = {}
        for run in runs:
            by_label.setdefault(label_of(run), set()).add(lines[run.key])
        if all(len(texts) == 1 for texts in by_label.values()) and len(by_label) <= MOST_LABELS:
            for value in values:
                labels = [label for label, texts in by_label.items() if value in texts]
                yield f"{', '.join(labels)}: {value}"
            return
    yield f"{len(values)} kinds, by variant and point; each run's own is in runs/KEY/run.json"


def _runs(part: Part, conducted: Conducted, run_facts: Mapping[str, Known]) -> str:
    """Return the number of runs, their seeds, their losses and their faults."""
    runs = part.numbers.runs
    seeds = seeds_text(run.seed for run in runs)
    losses = {key: facts.lossless for key, facts in run_facts.items()}
    head = [f"{counted(len({run.key for run in runs}), 'run')}, seeds {seeds}.", *lossless_of(part, losses)]
    lines = [plain(" ".join(head))]
    for run in runs:
        if run.key in conducted.failures:
            lines.append(f"- {plain(run.label)}: failed: {plain(conducted.failures[run.key])}")
        elif run.key in run_facts:
            lines += [f"- {plain(run.label)}: {plain(fault)}" for fault in run_facts[run.key].run_faults]
    return "\n".join(lines[:1] + [""] * (len(lines) > 1) + lines[1:])


def _warnings(part: Part) -> str:
    """Return the list of warnings of `check`; empty without any."""
    lines_ = [f"- {plain(warning)}" for warning in warnings_of(part)]
    return "\n".join(["`floodway check` warns:", "", *lines_]) if lines_ else ""


def _foot(conducted: Conducted, store: Runs) -> Iterator[str]:
    installed = versions()
    yield "## Versions"
    yield f"floodway {plain(engine())}, polars {installed['polars']}, Python {installed['python']}."
    rows = [
        [run.label, f"{store.wall_s(run.key):.1f}", _run_link(store.folder_of(run.key), conducted.folder)]
        for run in conducted.plan.runs
        if run.key in conducted.done
    ]
    if rows:
        total = sum(float(row[1]) for row in rows)
        yield TIMES
        yield f"{total:,.0f} s of one core in all."
        yield table(("run", "seconds", "key"), rows)
        first = next(run.key for run in conducted.plan.runs if run.key in conducted.done)
        command = code(f"floodway report {quote(store.folder_of(first).as_posix())}")
        yield (
            "A key leads to the page of the run over time where it is there, else to the run's folder. "
            f"{command} writes the page of the first run; "
            "the same command with `--report` then writes this page again, with a link to it."
        )


def _run_link(run: Path, folder: Path) -> Markdown:
    """Return a link to the page of a run over time, or to its folder, from the page of studies."""
    page = run / RUN_PAGE
    where = os.path.relpath(page if page.is_file() else run, folder).replace(os.sep, "/")
    return Markdown(f"[{plain(run.name[:12])}]({target(where)})")


def _page(conducted: Conducted, title: str, text: str, folder: Path) -> str:
    """Return the report as a page: its answer as the heading, without the lines that say the same."""
    answer, tone = verdict_sentence(conducted)
    text = "\n".join(
        line for line in text.split("\n") if line not in (f"# {plain(title)}", f"**{plain(answer)}**")
    )
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)

    def inside(match: re.Match[str]) -> str:
        picture = folder / unquote(unescape(match[1]))
        # A missing file stays a link.
        if not picture.is_file():
            return match[0]
        return f'src="data:image/png;base64,{b64encode(picture.read_bytes()).decode()}"'

    body = re.sub(r'src="([^"/]+\.png)"', inside, body)
    body = re.sub(r"<table>.*?</table>", _labelled, body, flags=re.DOTALL)
    heads = "|".join((*FOLDED, *(["Numbers"] if any(part.judged for part in conducted.parts) else [])))
    folded = r"<details><summary>\2</summary>\3</details>\n"
    body = re.sub(rf"<(h[23])>({heads})</\1>(.*?)(?=<h[23]>|\Z)", folded, body, flags=re.DOTALL)
    return (
        environment("floodway_lab.study.report", "floodway.common.documents")
        .get_template("page.html.jinja")
        .render(title=title, answer=answer, tone=tone, body=body)
    )


def _labelled(match: re.Match[str]) -> str:
    """Return a table whose cells name their columns, for telephones, where each cell has a line."""
    heads = re.findall(r"<th>(.*?)</th>", match[0])
    if len(heads) <= MOST_COLUMNS:
        return match[0]
    labels = cycle(re.sub(r"<[^>]*>", "", head) for head in heads)
    rows = re.sub(r"<td>", lambda _: f'<td data-label="{next(labels)}">', match[0])
    return rows.replace("<table>", '<table class="many">', 1)


def _write(file: Path, text: str) -> None:
    _write_bytes(file, text.encode())


def _write_bytes(file: Path, content: bytes) -> None:
    try:
        replace_file(file, content)
    except OSError as error:
        raise unwritable(file, error) from error
