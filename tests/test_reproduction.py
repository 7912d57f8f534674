"""Mutants that verdicts must notice, and the pages of results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from floodway import StudyError
from floodway.study import conduct, load_study, papers, plan_of, report_of
from floodway_lab.reproduction.mutants import mutants_of, tried
from floodway_lab.reproduction.pages import Provenance, mutants_page, results_page
from floodway_lab.reproduction.paper import judge, take_in
from studies import BRIEF, study_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway.study import Study
    from floodway_lab.reproduction.mutants import MutantResult

#: Three seeds, and a claim that holds: the smaller pool is no worse, since nothing pauses at these loads.
HOLDS = (
    BRIEF.replace("seeds = 2", "seeds = 3")
    .replace("[quick]\nseeds = 1\n", "")
    .replace(
        'variant = "large"\nagainst = "little"\nat = { load = 0.4 }\nvalue = -10',
        'variant = "large"\nat = { load = 0.2 }\nvalue = 1000\nis = "at-most"',
    )
)
MUTANTS = """\
[[mutant]]
name = "slow"
what = "every link is a hundred times slower"
studies = ["pools"]
variants = ["large"]
set = { "topology.dumbbell.rate" = "1G" }

[[mutant]]
name = "name-only"
what = "nothing is wrong"
studies = ["pools"]
variants = ["large", "elsewhere"]
set = { "seed" = 1 }
"""
MADE = Provenance(command="floodway reproduce pools", date="2026-01-01", revision="abc")


def found(folder: Path) -> tuple[MutantResult, ...]:
    (folder / "mutants.toml").write_text(MUTANTS, encoding="utf-8")
    lines: list[str] = []
    mutants = mutants_of(folder / "mutants.toml")
    study = study_file(folder, HOLDS)
    return tried(mutants, {"pools": study}, out=folder / "out", jobs=2, on_message=lines.append)


def test_a_mutant_that_makes_a_verdict_worse_is_noticed_and_another_is_not(tmp_path: Path) -> None:
    slow, same = found(tmp_path)
    assert [(each.says, each.before, each.after) for each in slow.worse] == [
        ("the larger pool is sooner", "agrees", "differs")
    ]
    assert same.worse == ()
    page = mutants_page({"pools": (slow, same)}, MADE)
    assert "1 of 2 mutants are noticed, 1 of them by published statements." in page
    assert "not noticed" in page


def test_a_page_says_which_mutants_published_statements_notice(tmp_path: Path) -> None:
    slow, _ = found(tmp_path)
    (own,) = slow.worse
    unnoticed = replace(slow, worse=(replace(own, published=False),))
    assert slow.published == (own,)
    page = mutants_page({"pools": (unnoticed,)}, MADE)
    assert "1 of 1 mutants are noticed, 0 of them by published statements." in page
    assert "| none | 1 |" in page


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (
            MUTANTS.replace('variants = ["large"]', 'variants = ["none"]'),
            "is of none of this study's variants",
        ),
        (MUTANTS.replace('studies = ["pools"]\n', "", 1), 'mutant.slow: the key "studies" is missing'),
        (MUTANTS.replace("what =", 'why = ""\nwhat ='), '3: mutant.slow: "why" is not a key'),
    ],
)
def test_a_wrong_mutant_is_refused(tmp_path: Path, wrong: str, text: str) -> None:
    (tmp_path / "mutants.toml").write_text(wrong, encoding="utf-8")
    with pytest.raises(StudyError, match=text.replace("[", r"\[").replace("]", r"\]")):
        tried(
            mutants_of(tmp_path / "mutants.toml"),
            {"pools": study_file(tmp_path, HOLDS)},
            out=tmp_path / "out",
            on_message=lambda _: None,
        )


def test_every_paper_has_mutants_of_its_studies() -> None:
    folder = Path(__file__).parent / "mutants"
    studies = {paper.name: {file.stem: file for file in paper.files} for paper in papers()}
    for name in ("swing", "bifrost", "rcm", "mercury", "casl"):
        mutants = mutants_of(folder / f"{name}.toml")
        assert mutants
        for mutant in mutants:
            for study in mutant.studies:
                variants = {variant.name for variant in load_study(studies[name][study]).variants}
                assert variants & set(mutant.variants), (name, mutant.name, study)


def kept(studies: Sequence[Study], folder: Path, *, quick: bool = False) -> dict[str, Any]:
    """Run the studies of a paper, keep their numbers, and judge it by them."""
    conduct(plan_of(studies, quick=quick), out=folder / "out", jobs=2, report=False)
    page, several = folder / "docs" / "pools", len(studies) > 1
    how: dict[str, Any] = {"date": "2026-01-02", "revision": "def", "several": several, "quick": quick}
    for study in studies:
        take_in(study, folder / "out", page, **how, on_message=pytest.fail)
    found = judge(studies, page, quick=quick)
    assert found is not None
    return found


def test_a_page_begins_with_the_published_statements_about_the_mechanism(tmp_path: Path) -> None:
    """One table and one picture over all studies; baselines and other claims are below, folded."""
    studies = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        text = BRIEF.replace('title = "Pools"', f'title = "{name}"\npaper = "A paper"', 1)
        text = text.replace('figure = "1"', f'figure = "{name}"\nwithout = "little"', 1)
        studies.append(load_study(study_file(tmp_path / name, text, name=name)))
    page = results_page("pools", kept(studies, tmp_path), None, MADE)
    done = report_of(plan_of(studies), out=tmp_path / "out")
    assert "published-and-ours.csv" in [file.name for file in done.files]
    first, rest = page.split("## Figure by figure")
    rows = [line.split(" | ")[0] for line in first.splitlines() if line.startswith("| ")]
    assert rows == ["| figure", "| ---", "| one", "| two"]
    assert "![Published and ours, all figures](pools/published-and-ours.png)" in first
    assert (tmp_path / "docs" / "pools" / "published-and-ours.png").stat().st_size > 1000
    assert rest.count("<details") == rest.count("</details>") == 2


def test_a_page_has_the_claims_the_pictures_and_the_quick_form_beside_them(tmp_path: Path) -> None:
    picture = '\n[[plot]]\nname = "1"\ntitle = "Means"\nkind = "lines"\nmetric = "fct-mean"\n'
    study = load_study(
        study_file(tmp_path, HOLDS.replace("[metric", "[quick]\nseeds = 1\n[metric", 1) + picture)
    )
    few, full = (kept([study], tmp_path, quick=quick) for quick in (True, False))
    page = results_page("pools", full, few, MADE)
    assert "`floodway reproduce pools`, 2026-01-01, revision abc, judges 12 runs that took 0 minutes" in page
    numbers = "[numbers](pools/numbers/pools.parquet) of 2026-01-02, revision def"
    assert f"`floodway reproduce pools pools`: 12 runs with 3 seeds, 0 minutes of one core; {numbers}" in page
    assert "| 1 | the larger pool is sooner | at most 1,000 us" in page
    assert "![Means](pools/1.png)" in page
    assert "| 1 | the larger pool is sooner | agrees | not decided |" in page
    assert (tmp_path / "docs" / "pools" / "1.png").stat().st_size > 1000
