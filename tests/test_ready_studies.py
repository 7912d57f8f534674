"""Every study that comes with floodway is read, and its quick version planned."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import floodway as package
from floodway.study import load_study, plan_of

STUDIES = Path(__file__).parents[1] / "studies"
FILES = sorted(STUDIES.rglob("*.toml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(STUDIES)))
def test_a_study_s_quick_form_can_be_planned(file: Path) -> None:
    study = load_study(file)
    try:
        runs = plan_of([study], quick=True).runs
    except package.ScenarioError as error:
        if "FLOODWAY_REFERENCE" in os.environ or "environment variable FLOODWAY_REFERENCE" not in str(error):
            raise
        pytest.skip("it reads published files, and FLOODWAY_REFERENCE is not set")
    assert runs
    assert {run.variant for run in runs} <= {variant.name for variant in study.variants}


@pytest.mark.parametrize("figure", ["13", "14"])
def test_figures_of_one_paper_share_their_runs(figure: str) -> None:
    """Figures 13 and 14 of Mercury take Figure 11's runs apart by the flows' sizes."""
    both = [load_study(STUDIES / "mercury" / f"{name}.toml") for name in ("11", figure)]
    whole, part = ({run.key for run in plan_of([study]).runs} for study in both)
    assert part < whole
