"""`python -m floodway_lab.reproduction mutants|numbers|pages`, from the root of the repository."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from floodway.common.errors import FloodwayError
from floodway.results.files import replace_file
from floodway.study import papers
from floodway_lab.bench.history import revision_of
from floodway_lab.reproduction.mutants import mutants_of, tried
from floodway_lab.reproduction.pages import (
    PAPERS,
    Provenance,
    mutants_page,
    overview_page,
    results_page,
    statements_of,
)
from floodway_lab.reproduction.paper import judge, take_in
from floodway_lab.study.named_studies import studies_of

__all__ = ["app"]

ROOT = Path.cwd()
MUTANTS = ROOT / "tests" / "mutants"
DOCS = ROOT / "docs"
PAGE = DOCS / "mutants.md"
RESULTS = DOCS / "reproduced"
#: In a paper's folder there: its rows of the page of all papers.
STATEMENTS = "statements.json"

PROGRAM = "python -m floodway_lab.reproduction"

FOLDER = click.Path(path_type=Path)


app = click.Group(help=__doc__)


@app.command()
@click.argument("names", nargs=-1, metavar="[PAPER]...", help="Papers; all that have mutants by default.")
@click.option("--out", type=FOLDER, default="out/mutants", help="Folder of the runs.")
@click.option("--jobs", type=int, help="Processes; one per core by default.")
@click.option("--write", is_flag=True, help="Write docs/mutants.md; with all papers.")
def mutants(*, names: tuple[str, ...], out: Path, jobs: int | None, write: bool) -> None:
    """Run the quick studies with each mutant; exit code 1 if one makes none of their verdicts worse."""
    files = {file.stem: file for file in sorted(MUTANTS.glob("*.toml"))}
    chosen = list(names or files)
    unknown = [name for name in chosen if name not in files]
    if unknown:
        sys.exit(f"error: {unknown[0]!r} has no mutants; allowed: {', '.join(files)}")
    studies = {paper.name: {file.stem: file for file in paper.files} for paper in papers()}
    by_paper = {
        name: tried(
            mutants_of(files[name]),
            studies[name],
            out=out / name,
            jobs=jobs,
            on_message=click.echo,
        )
        for name in chosen
    }
    missed = [
        f"{name}: {result.mutant.name}"
        for name, results in by_paper.items()
        for result in results
        if not result.worse
    ]
    if write and not names:
        replace_file(PAGE, mutants_page(by_paper, _provenance("make mutants")).encode())
    if missed:
        sys.exit(f"error: not noticed: {'; '.join(missed)}")


@app.command()
@click.argument("names", nargs=-1, required=True, metavar="PAPER [STUDY]...")
@click.option("--out", type=FOLDER, help="Folder with a paper's results each; out/reproduce or out/quick.")
@click.option("--quick", is_flag=True, help="The quick form.")
@click.option("--engine", default="", help="Revision whose engine made the runs, if another.")
def numbers(*, names: tuple[str, ...], out: Path | None, quick: bool, engine: str) -> None:
    """Keep the numbers of finished studies beside a paper's page; exit code 1 if one is not finished."""
    results = out or Path("out", "quick" if quick else "reproduce")
    whole = {paper.name: len(paper.files) for paper in papers()}
    refused = False
    for name, studies in studies_of(names):
        for study in studies:
            if quick and study.quick.skip:
                continue
            try:
                take_in(
                    study,
                    results / name,
                    RESULTS / name,
                    date=_today(),
                    revision=engine or _revision(),
                    several=whole[name] > 1,
                    quick=quick,
                    on_message=lambda text: click.echo(f"warning: {text}", err=True),
                )
            except FloodwayError as error:
                click.echo(f"error: {error}", err=True)
                refused = True
    sys.exit(int(refused))


@app.command()
@click.argument("names", nargs=-1, required=True, metavar="PAPER...")
def pages(*, names: tuple[str, ...]) -> None:
    """Judge papers by the numbers kept of them; write docs/reproduced/PAPER.md and the page of all papers."""
    for name in names:
        ((_, studies),) = studies_of((name,))
        full = judge(studies, RESULTS / name)
        if full is None:
            sys.exit(f"error: {RESULTS / name}: keeps no numbers; first: {PROGRAM} numbers {name}")
        provenance = _provenance(f"{PROGRAM} pages {name}")
        few = judge(studies, RESULTS / name, quick=True)
        replace_file(RESULTS / f"{name}.md", results_page(name, full, few, provenance).encode())
        text = json.dumps(statements_of(full, provenance), indent=1, ensure_ascii=False)
        replace_file(RESULTS / name / STATEMENTS, f"{text}\n".encode())
    files = {name: RESULTS / name / STATEMENTS for name in PAPERS}
    statements = {
        name: json.loads(file.read_text(encoding="utf-8")) for name, file in files.items() if file.exists()
    }
    replace_file(RESULTS / "index.md", overview_page(statements).encode())


def _provenance(command: str) -> Provenance:
    return Provenance(command=command, date=_today(), revision=_revision())


def _today() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d}"


def _revision() -> str:
    return revision_of(ROOT)[:12]


if __name__ == "__main__":
    try:
        app()
    except FloodwayError as error:
        sys.exit(f"error: {error}")
