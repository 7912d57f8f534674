"""`python -m floodway.reproduction mutants|pages`, from the root of the repository."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from floodway.bench.history import revision_of
from floodway.errors import FloodwayError
from floodway.reproduction.mutants import mutants_of, tried
from floodway.reproduction.pages import (
    PAPERS,
    Made,
    mutants_page,
    overview_page,
    read_results,
    results_page,
    statements_of,
    write_pictures,
)
from floodway.results.files import replace_file
from floodway.study import papers

__all__ = ["app"]

ROOT = Path.cwd()
MUTANTS = ROOT / "tests" / "mutants"
DOCS = ROOT / "docs"
PAGE = DOCS / "mutants.md"
RESULTS = DOCS / "reproduced"
#: In a paper's folder there: its rows of the page of all papers.
STATEMENTS = "statements.json"

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
    found = {
        name: tried(
            mutants_of(files[name]),
            studies[name],
            out=out / name,
            jobs=jobs,
            on_message=click.echo,
        )
        for name in chosen
    }
    missed = [f"{name}: {each.mutant.name}" for name, own in found.items() for each in own if not each.worse]
    if write and not names:
        replace_file(PAGE, mutants_page(found, _made("make mutants")).encode())
    if missed:
        sys.exit(f"error: not noticed: {'; '.join(missed)}")


@app.command()
@click.argument("names", nargs=-1, required=True, metavar="PAPER...", help="Papers.")
@click.option("--out", type=FOLDER, default="out/reproduce", help="Folder with a paper's results each.")
@click.option("--quick", type=FOLDER, default="out/quick", help="The same of the quick form.")
@click.option("--engine", default="", help="Revision whose engine made the runs, if another.")
def pages(*, names: tuple[str, ...], out: Path, quick: Path, engine: str) -> None:
    """Write docs/reproduced/PAPER.md from results that are there, and the page of all papers."""
    for name in names:
        full = read_results(out / name)
        if full["quick"]:
            sys.exit(f"error: {out / name}: has the quick form; a page has results at full size")
        few = read_results(quick / name) if (quick / name).exists() else None
        made = _made(f"floodway reproduce {name}", engine=engine)
        RESULTS.mkdir(exist_ok=True)
        write_pictures(name, full, out / name, RESULTS)
        replace_file(RESULTS / f"{name}.md", results_page(name, full, few, made).encode())
        own = json.dumps(statements_of(full, made), indent=1, ensure_ascii=False)
        replace_file(RESULTS / name / STATEMENTS, f"{own}\n".encode())
    files = {name: RESULTS / name / STATEMENTS for name in PAPERS}
    found = {
        name: json.loads(file.read_text(encoding="utf-8")) for name, file in files.items() if file.exists()
    }
    replace_file(RESULTS / "index.md", overview_page(found).encode())


def _made(command: str, *, engine: str = "") -> Made:
    return Made(
        command=command,
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        revision=revision_of(ROOT)[:12],
        engine=engine,
    )


if __name__ == "__main__":
    try:
        app()
    except FloodwayError as error:
        sys.exit(f"error: {error}")
