"""The rule of a verdict over made-up results with a known truth: the right words, and rare errors."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floodway.study import load_study
from floodway.study.metrics.kinds import Value
from floodway.study.numbers import Numbers
from floodway.study.running.runs import Run
from floodway_lab.study.claims.judgement import VERDICTS
from floodway_lab.study.claims.rule import Interval, band_of, change_less
from floodway_lab.study.claims.verdicts import claim_verdicts
from floodway_lab.study.model import claims_of
from studies import study_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from floodway.study.format.model import Study
    from floodway_lab.study.claims.judgement import Verdict

#: A mechanism, what it is compared with, and the mechanism without its deciding part.
TEXT = """\
title = "Made up"
scenario = "small.toml"
seeds = 3
[[variant]]
name = "own"
[[variant]]
name = "other"
[[variant]]
name = "without"
[[claim]]
figure = "1"
says = "says"
metric = "fct-mean"
"""
REDUCES = 'variant = "own"\nagainst = "other"\nvalue = -20\ntolerance = 5\n'
#: So many made-up studies; a rate of 2.5 % has a standard error of 0.5 points.
STUDIES = 1000
#: Nearly five standard errors above 2.5 %, and below 5 %.
RARE = 0.049
#: Noise that all variants of a seed share, and of each run.
SHARED, OWN = 0.3, 0.1


def study_of(folder: Path, claim: str) -> Study:
    return load_study(study_file(folder, TEXT + claim))


def made_up(study: Study, by_variant: dict[str, list[float]]) -> Numbers:
    """Make up numbers of the study's only metric: by variant, one a seed; the results of seeds differ."""
    runs: list[Run] = []
    values: dict[str, Value] = {}
    for name, own in by_variant.items():
        for seed, value in enumerate(own, start=1):
            key = f"{name}-{seed}"
            # A verdict reads nothing of a run's scenario.
            rest: dict[str, Any] = {"recipe": None, "warnings": (), "extent": None}
            runs.append(Run(variant=name, at=(), seed=seed, key=key, written="", **rest))
            values[key] = Value(value=value)
    metric = claims_of(study)[0].metric.name
    return Numbers(runs=tuple(runs), done=frozenset(values), values={metric: values})


def verdict_of(study: Study, by_variant: dict[str, list[float]]) -> Verdict:
    return claim_verdicts(study, made_up(study, by_variant))[0].verdict


def drawn(
    rng: np.random.Generator, seeds: int, effects: dict[str, float], *, noise: float = OWN
) -> dict[str, list[float]]:
    """Draw numbers by variant: of a true effect in percent, with a seed's own luck and that of each run."""
    luck = 1 + SHARED * rng.standard_normal(seeds).clip(-2, 2)
    return {
        name: list(100 * luck * (1 + effect / 100) * (1 + noise * rng.standard_normal(seeds)))
        for name, effect in effects.items()
    }


def rate(
    study: Study, verdict: Verdict, draw: Callable[[np.random.Generator], dict[str, list[float]]]
) -> float:
    rng = np.random.default_rng(20_261_125)
    return sum(verdict_of(study, draw(rng)) == verdict for _ in range(STUDIES)) / STUDIES


@pytest.mark.parametrize("seeds", [3, 5, 20])
@pytest.mark.parametrize("noise", [0.02, 0.1, 0.3])
@pytest.mark.parametrize(
    "truth",
    [pytest.param(0, id="none"), pytest.param(-10, id="half"), pytest.param(20, id="opposite")],
)
def test_what_is_not_so_rarely_agrees(tmp_path: Path, truth: float, noise: float, seeds: int) -> None:
    study = study_of(tmp_path, REDUCES)
    found = rate(study, "agrees", lambda rng: drawn(rng, seeds, {"own": truth, "other": 0}, noise=noise))
    assert found <= RARE


@pytest.mark.parametrize("seeds", [3, 5, 20])
@pytest.mark.parametrize("noise", [0.02, 0.1, 0.3])
def test_what_is_so_rarely_differs(tmp_path: Path, noise: float, seeds: int) -> None:
    study = study_of(tmp_path, REDUCES)
    found = rate(study, "differs", lambda rng: drawn(rng, seeds, {"own": -20, "other": 0}, noise=noise))
    assert found <= RARE


@pytest.mark.parametrize("seeds", [3, 5, 20])
def test_pure_noise_rarely_has_a_direction(tmp_path: Path, seeds: int) -> None:
    study = study_of(tmp_path, REDUCES)
    found = rate(study, "agrees in direction", lambda rng: drawn(rng, seeds, {"own": 0, "other": 0}))
    assert found <= RARE


@pytest.mark.parametrize("seeds", [3, 5, 20])
def test_the_interval_of_a_difference_of_differences_holds_the_true_one(seeds: int) -> None:
    """Each pair of a seed shares its luck, the two differences do not: 10 % less, and 4 % less."""
    rng = np.random.default_rng(20_261_125)
    held = 0
    for _ in range(STUDIES):
        one, two = (drawn(rng, seeds, {"own": effect, "other": 0.0}, noise=0.05) for effect in (-10.0, -4.0))
        pairs = [(each["own"], each["other"]) for each in (one, two)]
        found = change_less(*pairs, exact=False, level=0.95)
        assert found is not None
        assert found.reach is not None
        held += abs(found.middle + 6.0) <= found.reach
    assert held / STUDIES >= 0.93


@pytest.mark.parametrize("seeds", [3, 5, 20])
@pytest.mark.parametrize(
    "claim", ['order = ["own", "other"]\nmargin = 0\n', 'first = "own"\namong = ["other"]\n']
)
def test_noise_rarely_has_an_order(tmp_path: Path, claim: str, seeds: int) -> None:
    study = study_of(tmp_path, claim)
    found = rate(study, "agrees", lambda rng: drawn(rng, seeds, {"own": 0, "other": 0}))
    assert found <= RARE


@pytest.mark.parametrize("seeds", [3, 5, 20])
def test_the_best_of_several_readings_of_noise_rarely_agrees(tmp_path: Path, seeds: int) -> None:
    head, claim = TEXT[TEXT.index("[[claim]]") :], REDUCES.replace("-20", "-5")
    readings = [
        f'{claim}statement = "s"\nreadings = "{name}"\n'.replace('"own"', f'"{name}"') for name in "xyz"
    ]
    names = "".join(f'[[reading]]\nname = "{name}"\n' for name in "xyz")
    variants = "".join(f'[[variant]]\nname = "{name}"\n' for name in "xyz")
    text = TEXT.replace("[[claim]]", f"{variants}{names}[[claim]]", 1) + head.join(readings)
    study = load_study(study_file(tmp_path, text))
    rng = np.random.default_rng(20_261_125)
    wrong = 0
    for _ in range(STUDIES):
        numbers = made_up(study, drawn(rng, seeds, dict.fromkeys(("x", "y", "z", "other"), 0.0), noise=0.02))
        wrong += any(each.verdict == "agrees" for each in claim_verdicts(study, numbers))
    assert wrong / STUDIES <= 0.06


@pytest.mark.parametrize("seeds", [3, 5, 20])
def test_a_mechanism_that_decides_nothing_rarely_agrees(tmp_path: Path, seeds: int) -> None:
    """Its ablation has the same effect: whatever the noise, the claim is not counted as agreement."""
    study = study_of(tmp_path, f'{REDUCES}without = "without"\n')
    effects = {"own": -20.0, "other": 0.0, "without": -20.0}
    for noise in (0.005, 0.02, 0.1):
        assert rate(study, "agrees", lambda rng: drawn(rng, seeds, effects, noise=noise)) <= RARE  # noqa: B023


@pytest.mark.parametrize("without", [-10.0, -6.0])
@pytest.mark.parametrize("seeds", [3, 5, 20])
def test_a_direction_without_the_mechanism_rarely_counts_as_its_own(
    tmp_path: Path, seeds: int, without: float
) -> None:
    """The ablation has half of the published effect, as much as the mechanism, or little more than counts."""
    study = study_of(tmp_path, f'{REDUCES}without = "without"\n')
    effects = {"own": -10.0, "other": 0.0, "without": without}
    for noise in (0.005, 0.02, 0.1):
        found = rate(study, "agrees in direction", lambda rng: drawn(rng, seeds, effects, noise=noise))  # noqa: B023
        assert found <= RARE


@pytest.mark.parametrize(
    ("truth", "expected"), [(-20, "agrees"), (-10, "agrees in direction"), (0, "differs"), (20, "differs")]
)
def test_twenty_seeds_with_little_noise_get_the_right_word(
    tmp_path: Path, truth: float, expected: Verdict
) -> None:
    study = study_of(tmp_path, REDUCES)
    found = rate(study, expected, lambda rng: drawn(rng, 20, {"own": truth, "other": 0}, noise=0.02))
    assert found >= 1 - RARE


@pytest.mark.parametrize("seeds", [1, 2])
@pytest.mark.parametrize(
    "claim",
    [
        REDUCES,
        'order = ["own", "other"]\n',
        'first = "own"\namong = ["other"]\n',
        'variant = "own"\nvalue = 80\n',
    ],
)
def test_one_seed_and_two_say_nothing(tmp_path: Path, claim: str, seeds: int) -> None:
    study = study_of(tmp_path, claim)
    by_variant = {"own": [80.0, 80.1][:seeds], "other": [100.0, 100.1][:seeds]}
    assert verdict_of(study, by_variant) == "not decided"


#: A sentence of two parts, each with the same ablation: as little, and nothing lost of what is carried.
PARTS = (
    TEXT.replace('says = "says"', 'says = "says"\nstatement = "s"\npart = "less"\nwithout = "without"')
    + REDUCES
    + TEXT[TEXT.index("[[claim]]") :].replace(
        'says = "says"', 'says = "says"\nstatement = "s"\npart = "ratio"\nwithout = "without"'
    )
    + 'variant = "own"\nagainst = "third"\nvalue = -20\ntolerance = 5\n'
).replace("[[claim]]", '[[variant]]\nname = "third"\n[[claim]]', 1)


@pytest.mark.parametrize(
    ("other", "third", "expected"),
    [
        # Without the mechanism both parts hold; one of them; none.
        (100, 100, ("holds without the mechanism too",) * 2),
        (100, 70, ("holds without the mechanism too", "differs")),
        (70, 100, ("differs", "holds without the mechanism too")),
    ],
)
def test_of_parts_with_one_ablation_each_number_is_judged_first(
    tmp_path: Path, other: float, third: float, expected: tuple[Verdict, ...]
) -> None:
    """Parts that do not hold are judged as such; what the ablation then says of the others stays true."""
    study = load_study(study_file(tmp_path, PARTS))
    numbers = made_up(
        study,
        {"own": [80.0, 80.1, 80.2], "without": [80.0, 80.1, 80.2]}
        | {name: [value, value + 0.1, value + 0.2] for name, value in (("other", other), ("third", third))},
    )
    assert tuple(each.verdict for each in claim_verdicts(study, numbers)) == expected


@pytest.mark.parametrize("seeds", [3, 5, 20])
@pytest.mark.parametrize("noise", [0.005, 0.02, 0.1])
def test_a_conjunction_that_holds_without_the_mechanism_rarely_agrees(
    tmp_path: Path, seeds: int, noise: float
) -> None:
    study = load_study(study_file(tmp_path, PARTS))
    rng = np.random.default_rng(20_261_128)
    effects = {"own": -20.0, "without": -20.0, "other": 0.0, "third": 0.0}
    wrong = 0
    for _ in range(STUDIES):
        found = claim_verdicts(study, made_up(study, drawn(rng, seeds, effects, noise=noise)))
        wrong += all(each.verdict in {"agrees", "agrees in direction"} for each in found)
    assert wrong / STUDIES <= RARE


SECOND = '[metric.second]\nkind = "fct-mean"\nlabel = "second"\n'


def of_two(study: Study, values: dict[str, tuple[float, float]]) -> Numbers:
    """Make up two metrics of three seeds: by variant a number of each."""
    first, second = (
        made_up(study, {name: [each[at], each[at] + 0.1, each[at] + 0.2] for name, each in values.items()})
        for at in (0, 1)
    )
    own, other = (claim.metric.name for claim in claims_of(study))
    (by_key,) = second.values.values()
    return replace(first, values={own: first.values[own], other: by_key})


@pytest.mark.parametrize(
    ("without", "expected"),
    [
        # As small, and as fast: not the mechanism's. As small, but slower: its own. Neither: its own.
        ((80, 80), "holds without the mechanism too"),
        ((80, 110), "agrees"),
        ((110, 80), "agrees"),
        ((110, 110), "agrees"),
    ],
)
def test_a_sentence_holds_without_the_mechanism_only_if_all_its_parts_do(
    tmp_path: Path, without: tuple[float, float], expected: Verdict
) -> None:
    text = PARTS.replace("[[claim]]", f"{SECOND}[[claim]]", 1).replace(
        'against = "third"', 'against = "other"'
    )
    head, tail = text[: text.rindex('metric = "fct-mean"')], text[text.rindex('metric = "fct-mean"') :]
    study = load_study(study_file(tmp_path, head + tail.replace("fct-mean", "second", 1)))
    values = {"own": (80.0, 80.0), "other": (100.0, 100.0), "third": (100.0, 100.0), "without": without}
    found = claim_verdicts(study, of_two(study, values))
    assert [each.verdict for each in found] == [expected] * 2
    noted = ["this part alone holds" in " ".join(each.notes) for each in found]
    assert noted == [without == (80, 110), without == (110, 80)]


@pytest.mark.parametrize(
    ("lead", "without", "expected"),
    [
        # By percent of the number of the other one: 36 beside 4, 12, 20, 36 and 50.
        (64, (95, 97, 96), "agrees"),
        (64, (90, 86, 88), "agrees"),
        (64, (80, 80.1, 80.2), "holds without the mechanism too"),
        (64, (64, 64.1, 64.2), "holds without the mechanism too"),
        (64, (50, 50.1, 50.2), "holds without the mechanism too"),
        # Half of so small a lead is within chance.
        (98, (99, 98, 101), "not decided"),
    ],
)
@pytest.mark.parametrize(
    "claim", ['order = ["own", "other"]\nmargin = 0\n', 'first = "own"\namong = ["other"]\nmargin = 0\n']
)
def test_an_order_asks_its_ablation_by_the_size_of_its_lead(
    tmp_path: Path, claim: str, lead: float, without: tuple[float, ...], expected: Verdict
) -> None:
    study = study_of(tmp_path, f'{claim}without = "without"\n')
    found = verdict_of(
        study,
        {"own": [lead, lead + 0.1, lead + 0.2], "other": [100.0, 100.1, 100.2], "without": list(without)},
    )
    assert found == expected


@pytest.mark.parametrize("seeds", [3, 5, 20])
def test_a_lead_without_the_mechanism_rarely_counts_as_its_own(tmp_path: Path, seeds: int) -> None:
    """The ablation has the same lead, or little more than half of it."""
    study = study_of(tmp_path, 'order = ["own", "other"]\nmargin = 0\nwithout = "without"\n')
    for without in (-20.0, -11.0):
        effects = {"own": -20.0, "other": 0.0, "without": without}
        for noise in (0.005, 0.02, 0.1):
            assert rate(study, "agrees", lambda rng: drawn(rng, seeds, effects, noise=noise)) <= RARE  # noqa: B023


def agreement_with_one_draw(folder: Path, *, draws: str, truth: float, seeds: int) -> float:
    """How often a truth agrees with a number that is one draw of an effect of -20 %, with as much noise."""
    rng = np.random.default_rng(20_261_128)
    studies: dict[float, Study] = {}
    agree = 0
    for _ in range(STUDIES // 5):
        one = drawn(rng, 1, {"own": -20.0, "other": 0.0}, noise=0.06)
        published = round(100 * (one["own"][0] / one["other"][0] - 1), 1)
        if published not in studies:
            text = REDUCES.replace("-20", str(published)).replace("tolerance = 5", "tolerance = 3")
            studies[published] = study_of(folder, text + draws)
        agree += (
            verdict_of(studies[published], drawn(rng, seeds, {"own": truth, "other": 0.0}, noise=0.06))
            == "agrees"
        )
    return agree / (STUDIES // 5)


def test_one_draw_of_the_same_truth_agrees_more_often_if_it_is_stated(tmp_path: Path) -> None:
    """A published number of one run is off by a run's chance, which at least ten of ours estimate."""
    for name in ("one", "none", "few"):
        (tmp_path / name).mkdir()
    stated = agreement_with_one_draw(tmp_path / "one", draws="draws = 1\n", truth=-20, seeds=40)
    unstated = agreement_with_one_draw(tmp_path / "none", draws="", truth=-20, seeds=40)
    few = agreement_with_one_draw(tmp_path / "few", draws="draws = 1\n", truth=-20, seeds=9)
    assert stated > 0.6
    assert unstated < 0.3
    assert few < 0.3


@pytest.mark.parametrize("noise", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("truth", [0.0, -9.0, 10.0])
def test_chance_of_one_draw_never_reaches_half_of_the_effect(
    tmp_path: Path, truth: float, noise: float
) -> None:
    study = study_of(tmp_path, f"{REDUCES}draws = 1\n")
    found = rate(study, "agrees", lambda rng: drawn(rng, 20, {"own": truth, "other": 0}, noise=noise))
    assert found <= RARE


#: The same at two points of an axis, whose order is the same, whichever it is.
AXIS = '[[axis]]\nname = "length"\nkey = "topology.single-switch.delay"\nvalues = ["1us", "2us"]\n'
UNCHANGED = TEXT.replace("[[claim]]", f"{AXIS}[[claim]]", 1) + (
    'at = { length = "*" }\nunchanged-order = ["own", "other"]\n'
)


def over_lengths(study: Study, by_point: list[dict[str, list[float]]]) -> Numbers:
    """Put the made-up numbers of the two points together."""
    runs: list[Run] = []
    values: dict[str, Value] = {}
    for point, by_variant in zip(("1us", "2us"), by_point, strict=True):
        own = made_up(study, by_variant)
        metric = claims_of(study)[0].metric.name
        for run in own.runs:
            key = f"{run.key}-{point}"
            runs.append(replace(run, at=(("length", point),), key=key))
            values[key] = own.values[metric][run.key]
    return Numbers(runs=tuple(runs), done=frozenset(values), values={claims_of(study)[0].metric.name: values})


NEAR, FAR, SAME = [80.0, 80.1, 80.2], [100.0, 100.1, 100.2], [80.1, 80.2, 80.0]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((NEAR, FAR), (NEAR, FAR), "agrees"),
        ((FAR, NEAR), (FAR, NEAR), "agrees"),
        ((NEAR, SAME), (SAME, NEAR), "agrees"),
        ((NEAR, FAR), (FAR, NEAR), "differs"),
        ((NEAR, FAR), (NEAR, SAME), "differs"),
        ((NEAR, FAR), ([80.0, 99.0, 110.0], [100.0, 90.0, 120.0]), "not decided"),
        ((NEAR[:2], FAR[:2]), (NEAR[:2], FAR[:2]), "not decided"),
    ],
)
def test_an_unchanged_order_is_the_same_at_all_points(
    tmp_path: Path,
    first: tuple[list[float], list[float]],
    second: tuple[list[float], list[float]],
    expected: Verdict,
) -> None:
    study = load_study(study_file(tmp_path, UNCHANGED))
    points = [{"own": own, "other": other} for own, other in (first, second)]
    (found,) = claim_verdicts(study, over_lengths(study, points))
    assert found.verdict == expected
    assert [len(part.means) for part in found.parts] == [2, 2]


@pytest.mark.parametrize("seeds", [3, 5, 20])
def test_an_order_that_changes_rarely_counts_as_unchanged(tmp_path: Path, seeds: int) -> None:
    study = load_study(study_file(tmp_path, UNCHANGED))
    rng = np.random.default_rng(20_261_125)
    wrong = 0
    for _ in range(STUDIES):
        points = [drawn(rng, seeds, {"own": effect, "other": 0.0}) for effect in (-10.0, 0.0)]
        wrong += claim_verdicts(study, over_lengths(study, points))[0].verdict == "agrees"
    assert wrong / STUDIES <= RARE


@settings(max_examples=200, deadline=None)
@given(
    value=st.floats(-99, 300).filter(lambda value: abs(value) > 0.1),
    tolerance=st.floats(0, 500),
    middle=st.floats(-99, 500),
    reach=st.floats(0, 100),
    wider=st.floats(0, 100),
    bound=st.sampled_from(["about", "at-least", "at-most"]),
)
def test_more_noise_is_never_kinder_and_no_tolerance_crosses_zero(  # noqa: PLR0913, PLR0917 (drawn)
    claims: Study, value: float, tolerance: float, middle: float, reach: float, wider: float, bound: str
) -> None:
    claim = replace(claims_of(claims)[0], value=value, tolerance=tolerance, bound=bound)  # type: ignore[arg-type]
    band = band_of(claim)
    narrow, wide = (Interval(middle=middle, reach=each) for each in (reach, reach + wider))
    if band.holds(wide) == "yes":
        assert band.holds(narrow) == "yes"
    if band.has_sign(wide) == "yes":
        assert band.has_sign(narrow) == "yes"
    # A bound on the other side of zero, such as "at most 5 %", allows both signs.
    if band.holds(narrow) == "yes" and (bound == "about" or (bound == "at-least") == (value > 0)):
        assert narrow.low is not None
        assert narrow.high is not None
        assert math.copysign(1, value) * min(narrow.low * value, narrow.high * value) * value > 0


@pytest.fixture(scope="module")
def claims(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Study with a claim of a difference."""
    return study_of(tmp_path_factory.mktemp("claims"), REDUCES)


@pytest.mark.parametrize(
    ("claim", "inside", "outside"),
    [
        ("value = -5\ntolerance = 10", (-15, -0.1), (-15.1, 0, 0.04, -0.04, 4)),
        ("value = 5\ntolerance = 10", (15, 0.1), (15.1, 0, -0.04, 0.04)),
        ("value = 0\ntolerance = 2", (-2, 0, 2), (-2.1, 2.1)),
        ("between = [0, 10]\ntolerance = 2", (0, 12), (-0.1, 12.1)),
        ("between = [-10, 10]\ntolerance = 2", (-12, 12), (-12.1, 12.1)),
        ('value = -20\ntolerance = 5\nis = "at-most"', (-15, -90), (-14.9, 0, 20)),
        ('value = 3\ntolerance = 5\nis = "at-least"', (0.1, 200), (0, -1)),
        ('value = 0\ntolerance = 5\nis = "at-most"', (-4, -0.1), (0, 0.1, 5)),
        ('value = 0\ntolerance = 5\nis = "at-least"', (4, 0.1), (0, 0.04, -5)),
    ],
)
def test_what_agrees_ends_at_the_tolerance_and_before_zero(
    tmp_path: Path, claim: str, inside: tuple[float, ...], outside: tuple[float, ...]
) -> None:
    band = band_of(claims_of(study_of(tmp_path, f'variant = "own"\nagainst = "other"\n{claim}\n'))[0])
    assert [band.holds(Interval(middle=each, reach=0.0)) for each in inside] == ["yes"] * len(inside)
    assert [band.holds(Interval(middle=each, reach=0.0)) for each in outside] == ["no"] * len(outside)


def test_verdicts_are_listed_from_best_to_worst() -> None:
    assert VERDICTS[0] == "agrees"
    assert VERDICTS.index("agrees in direction") < VERDICTS.index("not decided") < VERDICTS.index("differs")
