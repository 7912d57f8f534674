"""Every study that comes with floodway is read, and its quick version planned."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import floodway as package
from floodway.study import load_study, plan_of
from floodway_lab.study.model import claims_of

if TYPE_CHECKING:
    from floodway.study.format.model import Study
    from floodway.study.running.runs import Run

STUDIES = Path(__file__).parents[1] / "studies"
FILES = sorted(STUDIES.rglob("*.toml"))


def planned(study: Study, *, quick: bool = False) -> tuple[Run, ...]:
    """Plan a study's runs; skip the test where it reads published files that are not there."""
    try:
        return plan_of([study], quick=quick).runs
    except package.ScenarioError as error:
        if "FLOODWAY_REFERENCE" in os.environ or "environment variable FLOODWAY_REFERENCE" not in str(error):
            raise
        pytest.skip("it reads published files, and FLOODWAY_REFERENCE is not set")


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(STUDIES)))
def test_a_study_s_quick_form_can_be_planned(file: Path) -> None:
    study = load_study(file)
    runs = planned(study, quick=True)
    assert runs
    assert {run.variant for run in runs} <= {variant.name for variant in study.variants}


@pytest.mark.parametrize("figure", ["13", "14"])
def test_figures_of_one_paper_share_their_runs(figure: str) -> None:
    """Figures 13 and 14 of Mercury take Figure 11's runs apart by size, and add seeds and variants."""
    both = [load_study(STUDIES / "mercury" / f"{name}.toml") for name in ("11", figure)]
    whole, part = (plan_of([study]).runs for study in both)
    seeds = {run.seed for run in whole}
    common = {run.variant for run in whole} & {run.variant for run in part}
    assert {"mercury", "dcqcn", "hpcc"} < common
    own = {run.key for run in part if run.seed in seeds and run.variant in common}
    assert own < {run.key for run in whole}


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(STUDIES)))
def test_every_claim_names_its_ablation_or_says_why_there_is_none(file: Path) -> None:
    missing = [
        f"{claim.name}: {claim.says}"
        for claim in claims_of(load_study(file))
        if not claim.ablations and not claim.no_ablation
    ]
    assert not missing


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(STUDIES)))
def test_an_ablation_differs_from_what_it_stands_for(file: Path) -> None:
    """With the same scenario and settings it would be no experiment."""
    study = load_study(file)
    for claim in claims_of(study):
        subject = study.variant(claim.ablated or claim.variants[0])
        for name in claim.ablations:
            other = study.variant(name)
            assert (other.base, other.sets) != (subject.base, subject.sets), (claim.name, name)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(STUDIES)))
def test_a_larger_tolerance_than_usual_says_why(file: Path) -> None:
    """Of what others published: 3 points or 5 %, and none for a bound or a range, as docs/studies.md says."""
    unexplained = []
    for claim in claims_of(load_study(file)):
        is_one_number = claim.bound == "about" and claim.between is None
        usual = 0 if not is_one_number else 3 if claim.unit == "%" else 5
        if not claim.order and claim.origin != "ours" and claim.tolerance > usual and not claim.remark:
            unexplained.append(f"{claim.name}: {claim.says}: {claim.tolerance:g}, usual: {usual}")
    assert not unexplained


#: Texts of which every scenario with the paper's mechanism has one, and no other.
MECHANISMS = {
    "bifrost": ("bifrost",),
    "casl": ("casl",),
    "mercury": ("mercury",),
    "rcm": ("rcm",),
    "swing": ('flow-control = "swing"', "flow-control.swing]"),
}


@pytest.mark.long
@pytest.mark.parametrize(
    "file",
    [file for file in FILES if file.parent.name in MECHANISMS],
    ids=lambda file: str(file.relative_to(STUDIES)),
)
def test_a_statement_without_the_mechanism_counts_as_one_about_a_baseline(file: Path) -> None:
    study = load_study(file)
    runs = planned(study)
    written = {run.variant: run.recipe for run in runs}
    having = {
        name
        for name, recipe in written.items()
        if any(text in recipe.scenario().to_toml() for text in MECHANISMS[file.parent.name])
    }
    # Readings with the same settings have the same runs, which are planned under one of their names.
    with_mechanism = [_settings(study, name) for name in having]
    astray = [
        f"{claim.name}: {claim.says}"
        for claim in claims_of(study)
        if claim.ablations and claim.origin != "ours" and claim.about == "mechanism"
        if all(_settings(study, name) not in with_mechanism for name in (*claim.variants, *claim.ablations))
    ]
    assert not astray


def _settings(study: Study, name: str) -> tuple[object, object]:
    variant = study.variant(name)
    return variant.base, variant.sets
