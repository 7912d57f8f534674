"""The score of `make mutation`, from cargo-mutants' files; the mutants themselves take hours."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import mutation
import pytest
from mutation import Score

ROOT = Path(__file__).parent.parent


def test_the_score_is_the_share_of_what_compiles() -> None:
    outcomes = {"total_mutants": 120, "caught": 90, "timeout": 6, "missed": 4, "unviable": 20, "success": 0}
    score = mutation.score_of(outcomes)
    assert (score.tried, score.share) == (100, 0.96)
    assert mutation.summary(score, 120).splitlines() == [
        "120 of 120 mutants: 90 caught, 6 timed out, 4 missed, 20 do not compile",
        "noticed: 96.0% of 100",
    ]
    # Wilson, 96 of 100: 90.16 % to 98.43 %.
    assert "of all mutants 90.2% to 98.4%" in mutation.summary(score, 3_000)


def test_an_interval_lies_within_0_and_1_and_is_not_a_point() -> None:
    # Wilson, 10 of 10: from 10 / (10 + 1.96^2).
    low, high = Score(10, 0, 0, 0).interval()
    assert low == pytest.approx(10 / (10 + 1.959964**2))
    assert 1.0 - 1e-9 < high <= 1.0
    assert Score(0, 0, 0, 5).interval() == (0.0, 1.0)
    assert Score(0, 0, 0, 5).share == 0.0


def test_a_sample_is_each_nth_mutant_from_a_start_that_the_seed_draws() -> None:
    assert mutation.shard(4_729, 0, 1) == mutation.shard(30, 40, 1) == "0/1"
    drawn = {mutation.shard(1_000, 100, seed) for seed in range(200)}
    assert drawn == {f"{start}/10" for start in range(10)}
    assert mutation.shard(1_000, 100, 7) == mutation.shard(1_000, 100, 7)


def test_files_that_are_left_out_exist() -> None:
    config = tomllib.loads((ROOT / ".cargo" / "mutants.toml").read_text(encoding="utf-8"))
    for path in config["exclude_globs"]:
        assert (ROOT / path).is_file(), path
    for expression in config["exclude_re"]:
        re.compile(expression)
