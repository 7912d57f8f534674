"""Pages of the documentation with a paper's results at full size, and the tables of mutants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from floodway.common.markdown import Markdown, plain, table
from floodway.results.quantities import counted
from floodway_lab.markdown import code, formatted, target
from floodway_lab.study.claims.judgement import VERDICTS
from floodway_lab.study.report.claim_rows import COLUMNS, RULE, readings_list
from floodway_lab.study.report.glance import COLUMNS as GLANCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from floodway_lab.reproduction.mutants import MutantResult

__all__ = [
    "PAPERS",
    "Provenance",
    "mutants_page",
    "overview_page",
    "results_page",
    "statements_of",
]

#: The papers of the overview, in its order.
PAPERS = ("swing", "bifrost", "rcm", "mercury", "casl")

#: Above the tables of all papers.
ABOVE_OVERVIEW = (
    "This page is generated: `make reproduced` judges a paper and writes its rows. Each row is a published "
    "statement about the mechanism, by the best of its readings; "
    "[the rule](../studies.md#the-rule-of-a-verdict) says what a verdict means, and "
    "[what we could not reproduce, and why](not-reproduced.md) the causes. "
    "[Other sentences](not-judged.md) of the papers have no row."
)

#: Above the tables of mutants.
MUTANTS = (
    "A reproduction is worth as much as its power to fail. Each mutant is a mechanism with something "
    "wrong: a part of it off, a parameter halved or doubled. It must make at least one verdict of its "
    "paper's quick studies worse; otherwise the studies would not notice such a mistake. Where statements of "
    "ours alone become worse, the published statements of the studies that were tried do not show that part: "
    "that they agree is no evidence for it. The mutants are in `tests/mutants/`."
)


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """The origin of a page: the command that wrote it, the date, and the revision of the sources."""

    command: str
    date: str
    revision: str


def results_page(
    name: str, full: Mapping[str, Any], quick: Mapping[str, Any] | None, provenance: Provenance
) -> str:
    """Return the page of a paper: its claims figure by figure beside the published numbers, and pictures.

    Parameters
    ----------
    name
        The name of the paper for `floodway reproduce`.
    full, quick
        Results of `judge` for both forms; without a quick form the page does not compare.
    provenance
        The origin of the page.
    """
    paper = next((study["paper"] for study in full["studies"] if study["paper"]), name)
    head = map(plain, [*full["lacks"], *full["counts"]])
    size = "of a part of its runs" if full["lacks"] else "at full size"
    parts = [f"# {plain(paper)}: results {size}", _generated(full, provenance), *head, *_overview(name, full)]
    parts += ["## Figure by figure", RULE]
    for study in full["studies"]:
        parts += _study(name, study)
    if quick is not None:
        parts += _compared(full, quick)
    return "\n\n".join(part for part in parts if part) + "\n"


def statements_of(full: Mapping[str, Any], provenance: Provenance) -> dict[str, Any]:
    """Return a paper's part of the overview, as in `docs/reproduced/PAPER/statements.json`."""
    return {
        "paper": next((study["paper"] for study in full["studies"] if study["paper"]), ""),
        "date": provenance.date,
        "counts": [*full["lacks"], *full["counts"]],
        "glance": full["glance"],
    }


def overview_page(statements: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the page of all papers: the published statements about each mechanism, a row each.

    Parameters
    ----------
    statements
        Results of `statements_of`, by paper. For a paper without one, the page says so.
    """
    parts = ["# The five papers, statement by statement", ABOVE_OVERVIEW]
    for name in PAPERS:
        page = f"{name}.md"
        if name not in statements:
            text = f"Its page is of an earlier rule and earlier words of verdicts: [{name}]({page})."
            parts += [f"## {name}", text]
            continue
        summary = statements[name]
        parts += [
            f"## {plain(summary['paper'] or name)}",
            f"Judged on {summary['date']}; [figure by figure]({page}).",
        ]
        parts += map(plain, summary["counts"])
        if summary["glance"]:
            parts.append(table(GLANCE, ([row[column] for column in GLANCE] for row in summary["glance"])))
    return "\n\n".join(parts) + "\n"


def _generated(full: Mapping[str, Any], provenance: Provenance) -> str:
    return (
        f"This page is generated: {code(provenance.command)}, {provenance.date}, "
        f"revision {provenance.revision}, judges "
        f"{counted(full['run_count'], 'run')} that took {full['core_minutes']:,.0f} minutes of one core; "
        "each study says when its numbers were kept, and the revision whose engine simulated them. [What we "
        "could not reproduce, and why](not-reproduced.md) sums up where the numbers differ."
    )


def _overview(paper: str, full: Mapping[str, Any]) -> Iterator[str]:
    """Show all published statements about the mechanism, in one table and one picture."""
    rows = full["glance"]
    if rows:
        yield table(GLANCE, ([row[column] for column in GLANCE] for row in rows))
    picture = full["overview"]
    if picture:
        yield f"![{plain(picture['title'])}]({target(paper + '/' + picture['file'])})"
        yield plain(picture["caption"])


def _study(paper: str, study: Mapping[str, Any]) -> Iterator[str]:
    yield f"### {plain(study['title'])}"
    yield plain(study["shows"])
    yield _cost(paper, study)
    yield formatted(study["notes"])
    yield readings_list((reading["name"], reading["says"]) for reading in study["readings"])
    if study["rows"]:
        # Readings and remarks on baselines are hidden until a reader opens them.
        yield f'<details markdown="1"><summary>{counted(len(study["rows"]), "claim")} and readings</summary>'
        yield table(COLUMNS, ([row[column] for column in COLUMNS] for row in study["rows"]))
        yield "</details>"
    for picture in study["pictures"]:
        yield f"![{plain(picture['title'])}]({target(paper + '/' + picture['file'])})"
        yield plain(picture["caption"])


def _cost(paper: str, study: Mapping[str, Any]) -> str:
    """Return a sentence on the time that a study took, and on the engine that simulated it."""
    command = code(f"floodway reproduce {paper} {study['name']}")
    if not study["kept"]:
        return f"{command}: no numbers are kept"
    runs, seeds = counted(study["run_count"], "run"), counted(study["seed_count"], "seed")
    minutes = counted(round(study["core_minutes"]), "minute")
    file = target(f"{paper}/numbers/{study['name']}.parquet")
    return (
        f"{command}: {runs} with {seeds}, {minutes} of one core; [numbers]({file}) of {study['kept']}, "
        f"revision {plain(study['revision'])}"
    )


def _compared(full: Mapping[str, Any], quick: Mapping[str, Any]) -> Iterator[str]:
    """Yield the comparison of the quick form's verdicts with those of the full form."""
    verdicts = {
        (study["name"], claim["name"]): claim["verdict"]
        for study in quick["studies"]
        for claim in study["claims"]
    }
    yield "## The quick form beside the full one"
    rows = []
    compared = 0
    for study in full["studies"]:
        for claim in study["claims"]:
            quick_verdict = verdicts.get((study["name"], claim["name"]), "not run")
            compared += quick_verdict != "not run"
            if quick_verdict not in {"not run", claim["verdict"]}:
                rows.append(
                    (claim["figure"] or study["name"], claim["says"], claim["verdict"], quick_verdict)
                )
    kinder = sum(VERDICTS.index(row[3]) < VERDICTS.index(row[2]) for row in rows)
    yield (
        f"`--quick` judges {compared} of these claims; {compared - len(rows)} have the same verdict, and in "
        f"{kinder} the quick form is kinder."
    )
    if rows:
        yield table(("figure", "claim", "full", "quick"), rows)


def mutants_page(by_paper: Mapping[str, Sequence[MutantResult]], provenance: Provenance) -> str:
    """Return the page of all mutants: by paper, each with the verdicts that it makes worse."""
    generated = f"{code(provenance.command)}, {provenance.date}, revision {provenance.revision}"
    parts = ["# Mutants of the mechanisms", MUTANTS, f"This page is generated: {generated}."]
    for paper, results in by_paper.items():
        noticed = sum(bool(result.worse) for result in results)
        published = sum(bool(result.published) for result in results)
        by = f"{noticed} of {len(results)} mutants are noticed, {published} of them by published statements."
        parts += [f"## {plain(paper)}", by]
        parts.append(
            table(
                ("mutant", "what is wrong", "published statements worse", "others", "such as"),
                map(_mutant, results),
            )
        )
    return "\n\n".join(parts) + "\n"


def _mutant(result: MutantResult) -> tuple[str, ...]:
    mutant = result.mutant
    sets = ", ".join(code(f"{key} = {value}") for key, value in mutant.sets)
    description = Markdown(f"{plain(mutant.fault)} ({sets})")
    if not result.worse:
        return (mutant.name, description, "none", "none", "not noticed")
    first = (*result.published, *result.worse)[0]
    return (
        mutant.name,
        description,
        str(len(result.published) or "none"),
        str(len(result.worse) - len(result.published)),
        f"{first.study}: {first.says}: {first.before} → {first.after}",
    )
