from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import pytest

from floodway.common.errors import StudyError
from floodway.study import load_study, plan_of
from floodway.study.metrics.kinds import Value
from floodway.study.numbers import Numbers, Part, RunFacts
from floodway.study.running.runs import expected
from floodway_lab.study.claims.verdicts import claim_verdicts
from floodway_lab.study.model import claims_of
from floodway_lab.study.report.claim_rows import claim_rows, shown
from studies import STUDY, study_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from floodway.study.format.model import Study
    from floodway_lab.study.claims.judgement import Judged, Verdict

    Given: TypeAlias = Mapping[str, Sequence[float | Value | None]]

THREE = """\
title = "Three"
scenario = "small.toml"
seeds = 2
[[variant]]
name = "a"
label = "A"
[[variant]]
name = "b"
label = "B"
set = { mtu = "2000B" }
[[variant]]
name = "c"
label = "C"
set = { mtu = "3000B" }
[[claim]]
figure = "1"
says = "says"
metric = "fct-mean"
"""


def judge(
    folder: Path, claim: str, given: Given, *, lost: Mapping[str, int] | None = None
) -> tuple[Study, Numbers, Judged]:
    """Judge the first claim over made-up numbers: by variant, one a seed; none for a run that is not there.

    Seeds with equal numbers have equal results. `lost` has packets that every run of a variant lost.
    """
    seeds = max(map(len, given.values()))
    study = load_study(study_file(folder, THREE.replace("seeds = 2", f"seeds = {seeds}") + claim))
    runs = plan_of([study]).runs
    done = {
        run.key: given[run.variant][run.seed - 1]
        for run in runs
        if given[run.variant][run.seed - 1] is not None
    }
    values = {key: each if isinstance(each, Value) else Value(value=each) for key, each in done.items()}
    variants = {run.key: run.variant for run in runs}
    facts = {
        key: RunFacts(digest=str(each), lost=(lost or {}).get(variants[key], 0))
        for key, each in values.items()
    }
    numbers = Numbers(
        runs=runs, done=frozenset(done), values={claims_of(study)[0].metric.name: values}, facts=facts
    )
    return study, numbers, claim_verdicts(study, numbers)[0]


def by_load(study: Study, *, quick: bool, of: Callable[[str, str], float]) -> Numbers:
    """Make up numbers of the study with pools, by variant and load: the same for all seeds and metrics."""
    runs = plan_of([study], quick=quick).runs
    values = {run.key: Value(value=of(run.variant, dict(run.at)["load"])) for run in runs}
    facts = {key: RunFacts(digest=str(value)) for key, value in values.items()}
    by_metric = {each.metric.name: values for each in claims_of(study)}
    return Numbers(runs=runs, done=frozenset(values), values=by_metric, facts=facts)


@pytest.mark.parametrize(
    ("claim", "given_values", "verdict"),
    [
        ("value = 100", {"a": (104.0, 104.0)}, "agrees"),
        ("value = 100", {"a": (106.0, 106.0)}, "differs"),
        # Two seeds that differ say nothing, wherever their mean is.
        ("value = 100", {"a": (90.0, 120.0)}, "not decided"),
        ("value = 100\ntolerance = 10", {"a": (109.0, 109.0)}, "agrees"),
        ('value = 100\nis = "at-least"', {"a": (300.0, 300.0)}, "agrees"),
        ('value = 100\nis = "at-most"', {"a": (300.0, 300.0)}, "differs"),
        ('value = 100\nis = "at-most"', {"a": (3.0, 3.0)}, "agrees"),
        ("value = 100", {"a": (100.0, None)}, "not run"),
        ("value = 100", {"a": (100.0, Value(value=100.0, unfinished=1))}, "unfinished"),
        ("value = 100", {"a": (100.0, Value(value=None, unfinished=1))}, "unfinished"),
        ("value = 100", {"a": (100.0, Value(value=None))}, "differs"),
        ('against = "b"\nvalue = -50', {"a": (52.0, 52.0)}, "agrees"),
        ('against = "b"\nvalue = -50', {"a": (60.0, 60.0)}, "agrees in direction"),
        ('against = "b"\nvalue = -50', {"a": (110.0, 110.0)}, "differs"),
        ('against = "b"\nvalue = -50', {"a": (99.97, 99.97)}, "differs"),
        ('against = "b"\nvalue = -50', {"a": (40.0, 70.0)}, "not decided"),
        ('against = "b"\nvalue = -50\nis = "at-most"', {"a": (20.0, 20.0)}, "agrees"),
        ('against = "b"\nvalue = -50', {"a": (52.0, 52.0), "b": (100.0, None)}, "not run"),
        ("between = [90, 110]", {"a": (100.0, 100.0)}, "agrees"),
        ("between = [90, 110]", {"a": (110.5, 110.5)}, "differs"),
        ("between = [90, 110]\ntolerance = 5", {"a": (115.0, 115.0)}, "agrees"),
        ("between = [90, 110]\ntolerance = 5", {"a": (117.0, 117.0)}, "differs"),
        ("between = [90, 110]", {"a": (80.0, 80.0)}, "differs"),
        ("between = [90, 110]\ntolerance = 0", {"a": (80.0, 92.0)}, "not decided"),
        ('against = "b"\nbetween = [-60, -40]', {"a": (59.9, 59.9)}, "agrees"),
        ('against = "b"\nbetween = [-60, -40]', {"a": (60.1, 60.1)}, "agrees in direction"),
        ('against = "b"\nbetween = [-60, -40]', {"a": (70.0, 70.0)}, "agrees in direction"),
        ('against = "b"\nbetween = [-60, -40]', {"a": (110.0, 110.0)}, "differs"),
    ],
)
def test_a_number_gets_the_verdict_that_the_page_says(
    tmp_path: Path, claim: str, given_values: Given, verdict: str
) -> None:
    values = {"a": (100.0, 100.0), "b": (100.0, 100.0), "c": (1.0, 1.0), **given_values}
    _, _, found = judge(tmp_path, f'variant = "a"\n{claim}', values)
    assert found.verdict == verdict


@pytest.mark.parametrize(
    ("given_values", "verdict"),
    [
        ({}, "agrees"),
        ({"b": (3.5, 3.5)}, "agrees in direction"),
        ({"a": (3.5, 3.5)}, "differs"),
        ({"c": (Value(value=None, unfinished=2), Value(value=None, unfinished=1))}, "agrees"),
        ({"c": (Value(value=0.5, unfinished=2), Value(value=3.0, unfinished=1))}, "agrees"),
        ({"c": (2.0, 4.0)}, "not decided"),
        ({"b": (2.0, 2.5)}, "not decided"),
        ({"b": (Value(value=None, unfinished=2), Value(value=None, unfinished=1))}, "agrees in direction"),
        (
            {"b": (Value(value=None, unfinished=2), 3.0), "c": (Value(value=None, unfinished=2), 3.0)},
            "unfinished",
        ),
        ({"b": (None, 3.0)}, "not run"),
    ],
)
def test_an_order_gets_the_verdict_that_the_page_says(
    tmp_path: Path, given_values: Given, verdict: str
) -> None:
    values = {"a": (1.0, 1.0), "b": (2.0, 2.0), "c": (3.0, 3.0), **given_values}
    _, _, found = judge(tmp_path, 'order = ["a", "b", "c"]', values)
    assert found.verdict == verdict


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        # Half of it with every seed, whatever a seed's own luck is.
        ({"a": (10.0, 20.5, 80.0), "b": (20.0, 40.0, 160.0)}, "agrees"),
        ({"a": (10.0, 70.0, 80.0), "b": (20.0, 40.0, 160.0)}, "not decided"),
        # None with every seed, and some with one of three, which may be chance.
        ({"a": (0.0, 0.0, 0.0), "b": (0.0, 7.0, 0.0)}, "not decided"),
    ],
)
def test_an_order_is_of_ratios_where_there_are_any(tmp_path: Path, values: Given, verdict: Verdict) -> None:
    _, _, found = judge(tmp_path, 'order = ["a", "b"]\n', {**values, "c": (1.0, 1.0, 1.0)})
    assert found.verdict == verdict


@pytest.mark.parametrize(
    ("given_values", "verdict", "remark"),
    [
        ({"b": (1.0, 1.0)}, "differs", "As printed. A and B are equal within 1 %."),
        ({"c": (2.0, 2.0)}, "agrees in direction", "As printed. B and C are equal within 1 %."),
        ({"c": (2.01, 2.01)}, "agrees in direction", "As printed. B and C are equal within 1 %."),
        ({"c": (1.0, 1.0)}, "differs", "As printed. A and C are equal within 1 %."),
        (
            {"b": (1.0, 1.0), "c": (1.0, 1.0)},
            "differs",
            "As printed. A and B are equal within 1 %. B and C are equal within 1 %.",
        ),
        # What did not finish is last, whatever its number.
        ({"c": (Value(value=2.0, unfinished=1),) * 2}, "agrees", "As printed. 2 flows did not finish."),
        ({"c": (2.03, 2.03)}, "agrees", "As printed."),
    ],
)
@pytest.mark.parametrize("dot", ["", "."])
def test_numbers_within_the_margin_have_no_order_and_the_row_says_so(
    tmp_path: Path, given_values: Given, verdict: str, remark: str, dot: str
) -> None:
    values = {"a": (1.0, 1.0), "b": (2.0, 2.0), "c": (3.0, 3.0), **given_values}
    study, numbers, found = judge(tmp_path, f'order = ["a", "b", "c"]\nremark = "As printed{dot}"', values)
    row = shown(Part(study=study, numbers=numbers, judged=(found,)), found)
    assert (row.verdict, row.remark) == (verdict, remark)


@pytest.mark.parametrize(
    ("given_values", "verdict"),
    [
        ({"b": (3.5, 3.5)}, "agrees"),
        ({"b": (3.0, 3.0)}, "agrees"),
        ({"b": (1.0, 1.0)}, "differs"),
        ({"b": (1.005, 1.005)}, "differs"),
        ({"a": (2.5, 2.5)}, "differs"),
        ({"b": (1.5, 2.5)}, "not decided"),
        ({"c": (None, 3.0)}, "not run"),
    ],
)
def test_a_first_one_says_nothing_of_those_behind_it(
    tmp_path: Path, given_values: Given, verdict: str
) -> None:
    values = {"a": (1.0, 1.0), "b": (2.0, 2.0), "c": (3.0, 3.0), **given_values}
    _, _, found = judge(tmp_path, 'first = "a"', values)
    assert (found.claim.order, found.verdict) == (("a", "b", "c"), verdict)


AGAINST_BOTH = 'variant = "a"\nagainst = ["b", "c"]\n'


@pytest.mark.parametrize(
    ("claim", "verdict", "ours", "remark"),
    [
        ("between = [-60, -40]", "agrees", "-55.0 to -50.0 %", ""),
        ('value = -40\nis = "at-most"\ntolerance = 0', "agrees", "-55.0 to -50.0 %", ""),
        (
            'value = -55\nis = "at-most"\ntolerance = 0',
            "agrees in direction",
            "-55.0 to -50.0 %",
            "Holds for 1 of 2, but not against B.",
        ),
        (
            'take = "lowest"\nvalue = -55\ntolerance = 0.1',
            "agrees",
            "-55.0 % (exact, 2 seeds)",
            "Ours is against C.",
        ),
        (
            'take = "highest"\nvalue = -50\ntolerance = 0.1',
            "agrees",
            "-50.0 % (exact, 2 seeds)",
            "Ours is against B.",
        ),
        (
            'take = "highest"\nvalue = 50\ntolerance = 0.1',
            "differs",
            "-50.0 % (exact, 2 seeds)",
            "Ours is against B.",
        ),
    ],
)
def test_a_claim_may_be_measured_against_several(
    tmp_path: Path, claim: str, verdict: str, ours: str, remark: str
) -> None:
    values = {"a": (45.0, 45.0), "b": (90.0, 90.0), "c": (100.0, 100.0)}
    study, numbers, found = judge(tmp_path, AGAINST_BOTH + claim, values)
    row = shown(Part(study=study, numbers=numbers, judged=(found,)), found)
    assert (row.verdict, row.ours, row.remark) == (verdict, ours, remark)


def test_of_several_numbers_the_cause_is_shown_where_the_chosen_one_is(tmp_path: Path) -> None:
    everywhere = STUDY.replace(
        "at = { load = 0.4 }\nvalue = -10", 'at = { load = "*" }\ntake = "lowest"\nvalue = -10'
    )
    cause = 'cause = { variant = "little", against = "large", says = "The other way round" }\n'
    study = load_study(
        study_file(tmp_path, everywhere.replace('take = "lowest"\n', f'take = "lowest"\n{cause}'))
    )
    large = {"0.2": 9.0, "0.4": 5.0}
    numbers = by_load(study, quick=False, of=lambda name, load: large[load] if name == "large" else 10.0)
    found = claim_verdicts(study, numbers)[0]
    assert (found.ours, found.cause) == pytest.approx((-50.0, 100.0))


def test_a_claim_over_several_is_not_run_while_one_is_missing(tmp_path: Path) -> None:
    values: Given = {"a": (45.0, 45.0), "b": (90.0, 90.0), "c": (100.0, None)}
    _, _, found = judge(tmp_path, AGAINST_BOTH + "between = [-60, -40]", values)
    assert found.verdict == "not run"
    values = {"a": (45.0, 45.0), "b": (90.0, 90.0), "c": (100.0, Value(value=90.0, unfinished=1))}
    _, _, found = judge(tmp_path, AGAINST_BOTH + "between = [-60, -40]", values)
    assert (found.verdict, found.unfinished) == ("unfinished", 1)


@pytest.mark.parametrize("at", ['"*"', "[0.2, 0.4]"])
def test_a_claim_may_be_over_points_of_an_axis(tmp_path: Path, at: str) -> None:
    everywhere = STUDY.replace("at = { load = 0.4 }\nvalue = -10", f"at = {{ load = {at} }}\nvalue = -10")
    study = load_study(study_file(tmp_path, everywhere))
    for quick, parts in ((False, ("0.2", "0.4")), (True, ("0.2",))):
        numbers = by_load(study, quick=quick, of=lambda name, _: 9.0 if name == "large" else 10.0)
        found = claim_verdicts(study, numbers)[0]
        assert [dict(part.claim.at)["load"] for part in found.parts] == list(parts)
        # One seed does not show that chance plays no part.
        assert found.verdict == ("not decided" if quick else "agrees")
        assert found.low == pytest.approx(-10.0)
        # The quick version goes over fewer points, and the report says so.
        assert any("Of 1 of 2 numbers" in note for note in found.notes) == quick


def test_a_first_one_over_all_points_says_where_it_is_not(tmp_path: Path) -> None:
    first = STUDY.replace(
        'variant = "large"\nagainst = "little"\nat = { load = 0.4 }\nvalue = -10',
        'first = "large"\nat = { load = "*" }',
    )
    study = load_study(study_file(tmp_path, first))
    best = {("large", "0.2"): 1.0, ("little", "0.2"): 2.0, ("large", "0.4"): 4.0, ("little", "0.4"): 3.0}
    numbers = by_load(study, quick=False, of=lambda name, load: best[name, load])
    found = claim_verdicts(study, numbers)[0]
    row = shown(Part(study=study, numbers=numbers, judged=(found,)), found)
    assert (row.published, row.ours, row.verdict) == (
        "10 MB lowest, by 1 % or more",
        "holds for 1 of 2",
        "differs",
    )
    assert row.remark == "Holds for 1 of 2, but not at load = 0.4, where 1 MB is."


def test_numbers_of_an_order_have_units_and_no_exponents(tmp_path: Path) -> None:
    values = {"a": (590.71, 590.71), "b": (16_280.4, 16_280.4), "c": (3e6, 3e6)}
    study, numbers, found = judge(tmp_path, 'order = ["a", "b", "c"]', values)
    assert claims_of(study)[0].metric.kind.unit == "us"
    row = shown(Part(study=study, numbers=numbers, judged=(found,)), found)
    assert row.ours == "A 590.7 us, B 16,280 us, C 3,000,000 us"


def test_what_is_best_may_be_the_highest(tmp_path: Path) -> None:
    values = {"a": (1.0, 1.0), "b": (2.0, 2.0), "c": (3.0, 3.0)}
    _, _, found = judge(tmp_path, 'order = ["c", "b", "a"]\nbest = "highest"', values)
    assert found.verdict == "agrees"
    assert found.means == (("c", 3.0), ("b", 2.0), ("a", 1.0))


REMARK = (
    "as printed. Over 3 seeds the interval reaches beyond what agrees. "
    "With C: -20.0 %. C leaves the rest out."
)


def test_a_difference_is_of_the_means_and_has_the_interval_of_the_pairs(tmp_path: Path) -> None:
    values = {"a": (50.0, 90.0, 70.0), "b": (100.0, 200.0, 150.0), "c": (80.0, 160.0, 120.0)}
    cause = 'cause = { variant = "c", says = "C leaves the rest out" }\nremark = "as printed"'
    study, numbers, found = judge(
        tmp_path, f'variant = "a"\nagainst = "b"\nvalue = -50\nsource = "section 6"\n{cause}', values
    )
    assert found.ours == pytest.approx((210 / 450 - 1) * 100)
    # The residuals of the ratio are 10/3, -10/3 and 0: 4.303 x 3.333 / sqrt(3) / 150.
    assert (found.low, found.high) == pytest.approx((-58.853, -47.814), abs=1e-3)
    assert found.cause == pytest.approx(-20.0)
    row = shown(Part(study=study, numbers=numbers, judged=(found,)), found)
    assert row.cells == (
        "1",
        "says",
        "-50.0 % ± 3 points (section 6)",
        "-53.3 % (-58.9 to -47.8)",
        "no ablation is named",
        "agrees in direction",
        REMARK,
    )


def test_a_number_that_unfinished_flows_touch_is_marked(tmp_path: Path) -> None:
    values: Given = {"a": (100.0, Value(value=100.0, unfinished=3)), "b": (1.0, 1.0), "c": (1.0, 1.0)}
    study, numbers, found = judge(tmp_path, 'variant = "a"\nvalue = 100\nunit = "us"', values)
    row = shown(Part(study=study, numbers=numbers, judged=(found,)), found)
    assert (row.ours, row.verdict, row.remark) == (
        "100 us* (2 seeds)",
        "unfinished",
        "3 flows did not finish.",
    )


def test_what_is_measured_against_may_lie_at_another_point(tmp_path: Path) -> None:
    against = STUDY.replace('against = "little"', "against-at = { load = 0.2 }")
    study = load_study(study_file(tmp_path, against))
    claim = claims_of(study)[0]
    assert (claim.against, claim.against_at, claim.unit) == ("large", (("load", "0.2"),), "%")
    numbers = by_load(study, quick=False, of=lambda _, load: 10.0 if load == "0.2" else 9.0)
    found = claim_verdicts(study, numbers)[0]
    assert found.ours == pytest.approx(-10.0)
    assert found.verdict == "agrees"


def test_each_of_several_numbers_may_be_measured_against_another_point(tmp_path: Path) -> None:
    text = (
        STUDY.replace("values = [0.2, 0.4]", "values = [0.2, 0.4, 0.6]")
        .replace('against = "little"', "against-at = { load = 0.2 }")
        .replace("at = { load = 0.4 }", "at = { load = [0.4, 0.6] }", 1)
    )
    study = load_study(study_file(tmp_path, text))
    numbers = by_load(study, quick=False, of=lambda _, load: {"0.2": 10.0, "0.4": 9.0}.get(load, 8.0))
    found = claim_verdicts(study, numbers)[0]
    assert [part.ours for part in found.parts] == pytest.approx([-10.0, -20.0])
    assert found.verdict == "agrees in direction"


@pytest.mark.parametrize(
    ("at_other", "ours", "verdict"),
    [
        # 10 % less at one load and 4 % less at the other: 6 points.
        (9.6, -6.0, "agrees"),
        (9.0, 0.0, "differs"),
        (8.0, 10.0, "differs"),
    ],
)
def test_a_difference_may_be_larger_than_at_another_point(
    tmp_path: Path, at_other: float, ours: float, verdict: Verdict
) -> None:
    text = STUDY.replace("value = -10", 'value = 0\nis = "at-most"\nless-at = { load = 0.2 }')
    study = load_study(study_file(tmp_path, text))

    def of(variant: str, load: str) -> float:
        return 10.0 if variant == "little" else at_other if load == "0.2" else 9.0

    numbers = by_load(study, quick=False, of=of)
    found = claim_verdicts(study, numbers)[0]
    assert found.ours == pytest.approx(ours)
    assert found.verdict == verdict
    row = shown(Part(study=study, numbers=numbers, judged=(found,)), found)
    assert row.published.startswith("at most +0.0 points")


@pytest.mark.parametrize(
    ("minutes", "said"),
    [
        (None, "how long that takes is not known yet"),
        (0.2, "less than a minute"),
        (5.4, "about 5 min in 2 processes"),
        (125.0, "about 2 h 5 min in 2 processes"),
    ],
)
def test_the_time_that_something_takes_is_said_in_words(minutes: float | None, said: str) -> None:
    assert expected(minutes, jobs=2) == said


#: C is A without its mechanism, and A is measured against B.
ABLATED = 'variant = "a"\nagainst = "b"\nvalue = -50\nwithout = "c"\n'


def test_a_row_says_what_its_ablations_are_without(tmp_path: Path) -> None:
    text = """\
variant = "a"
against = "b"
value = -50
[[without]]
of = "a"
variant = "c"
removes = "both"
halves = [{ variant = "b", removes = "the first half" }]
"""
    values: Given = {"a": (50.0, 51.0, 52.0), "b": (100.0, 102.0, 104.0), "c": (100.0, 102.0, 104.0)}
    study, numbers, found = judge(tmp_path, text, values)
    row = shown(Part(study=study, numbers=numbers, judged=(found,)), found)
    assert row.without.startswith("C (without both): ")
    assert "; one half, B (without the first half)" in row.without


@pytest.mark.parametrize(
    ("c", "lost", "verdict", "without"),
    [
        ((90.0, 90.0), {}, "agrees", "C: -10.0 % (exact, 2 seeds) does not"),
        ((52.0, 52.0), {}, "holds without the mechanism too", "C: -48.0 % (exact, 2 seeds) also agrees"),
        ((50.0, 50.0), {}, "holds without the mechanism too", "C: -50.0 % (exact, 2 seeds) also agrees"),
        # A larger effect without the mechanism is not its effect.
        ((30.0, 30.0), {}, "holds without the mechanism too", "C: -70.0 % (exact, 2 seeds) larger effect"),
        # Outside the tolerance, but not by what the claim takes for a difference.
        ((55.5, 55.5), {}, "agrees", "C: -44.5 % (exact, 2 seeds) does not"),
        ((40.0, 60.0), {}, "not decided", "C: -50.0 % (2 seeds) undecided"),
        ((None, None), {}, "not run", "C: not run"),
        # Without the mechanism packets are lost: then it does not hold.
        (
            (50.0, 50.0),
            {"c": 7},
            "agrees",
            "C: -50.0 % (exact, 2 seeds) does not (C lost 14 packets in 2 runs, and must lose none)",
        ),
        ((90.0, 90.0), {"a": 1}, "differs", "C: -10.0 % (exact, 2 seeds) does not"),
        # Flows that never finish without the mechanism are a failure of it only if that is no accident.
        (
            (Value(value=50.0, unfinished=2), Value(value=50.0, unfinished=1)),
            {},
            "agrees",
            "C: -50.0 %* (2 seeds) does not (3 flows unfinished)",
        ),
        (
            (Value(value=50.0, unfinished=1), 50.0),
            {},
            "not decided",
            "C: -50.0 %* (2 seeds) undecided (1 flow unfinished)",
        ),
    ],
)
def test_a_claim_that_holds_without_its_mechanism_does_not_agree(
    tmp_path: Path, c: tuple[float | None, ...], lost: Mapping[str, int], verdict: str, without: str
) -> None:
    values: Given = {"a": (50.0, 50.0), "b": (100.0, 100.0), "c": c}
    study, numbers, found = judge(tmp_path, ABLATED, values, lost=lost)
    row = shown(Part(study=study, numbers=numbers, judged=(found,)), found)
    assert (found.verdict, row.without) == (verdict, without)


@pytest.mark.parametrize("half", [(50.0, 50.0), (100.0, 100.0), (75.0, 75.0)])
def test_a_half_of_a_mechanism_is_shown_and_decides_nothing(tmp_path: Path, half: tuple[float, ...]) -> None:
    values: Given = {"a": (50.0, 50.0), "b": (100.0, 100.0), "c": half}
    claim = 'variant = "a"\nagainst = "b"\nvalue = -50\nwithout = { variant = "b", halves = ["c"] }'
    study, numbers, found = judge(tmp_path, claim, values)
    row = shown(Part(study=study, numbers=numbers, judged=(found,)), found)
    assert row.verdict == "agrees"
    assert row.without.startswith("B, which it is compared with; one half, C: ")


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("value = -50\ndraws = 0", "claim.1.draws: 0 is not allowed; the minimum is 1"),
        (
            "value = -50\ndraws = 1.5",
            "claim.1.draws: the number 1.5 where a whole number of at least 0 is required",
        ),
        ('value = -50\nis = "at-most"\ndraws = 1', "draws: applies to a number, and this claim is a bound"),
        (
            'value = -50\nwithout = "b"\nhalves = ["c"]',
            'claim.1: "halves" is not a key; allowed: ',
        ),
        (
            'value = -50\nwithout = { halves = ["c"] }',
            "without.variant: is missing; expected a variant, or `none` with a reason",
        ),
        (
            'value = -50\nwithout = { variant = "b", halves = ["d"] }',
            'without.halves: "d" is not a variant of this study; allowed: a, b, c',
        ),
        (
            'value = -50\nwithout = { none = "no", halves = ["c"] }',
            "without: cannot name variants with a reason for which there is none",
        ),
    ],
)
def test_wrong_draws_and_halves_are_refused_with_the_key(tmp_path: Path, claim: str, message: str) -> None:
    with pytest.raises(StudyError) as refused:
        load_study(study_file(tmp_path, f'{THREE}variant = "a"\nagainst = "b"\n{claim}'))
    assert message in str(refused.value)


def test_what_a_claim_is_compared_with_is_an_ablation_without_effect(tmp_path: Path) -> None:
    values: Given = {"a": (50.0, 51.0, 52.0), "b": (100.0, 102.0, 104.0), "c": (1.0, 1.0, 1.0)}
    study, numbers, found = judge(tmp_path, ABLATED.replace('without = "c"', 'without = "b"'), values)
    row = shown(Part(study=study, numbers=numbers, judged=(found,)), found)
    assert (found.verdict, row.without) == ("agrees", "B, which it is compared with")


def test_an_ablation_may_stand_for_another_variant_of_an_order(tmp_path: Path) -> None:
    values: Given = {"a": (1.0, 1.0), "b": (2.0, 2.0), "c": (0.5, 0.5)}
    claim = 'order = ["a", "b"]\nwithout = { variant = "c", replaces = "b" }'
    _, _, found = judge(tmp_path, claim, values)
    assert (found.verdict, found.ablations[0].judged.means) == ("agrees", (("c", 0.5), ("a", 1.0)))


def test_a_claim_without_an_ablation_says_why(tmp_path: Path) -> None:
    claim = 'variant = "a"\nvalue = 50\nwithout = { none = "it is of the network alone" }'
    study, numbers, found = judge(tmp_path, claim, {"a": (50.0, 50.0), "b": (1.0, 1.0), "c": (1.0, 1.0)})
    row = shown(Part(study=study, numbers=numbers, judged=(found,)), found)
    assert (found.verdict, row.without) == ("agrees", "none: it is of the network alone")


LOST = "A lost 72,724 packets in 2 runs"


@pytest.mark.parametrize(
    ("may_lose", "verdict", "remark"),
    [
        (
            "",
            "differs",
            f"{LOST}, and must lose none. B lost 2 packets in 2 runs, and must lose none.",
        ),
        (
            'may-lose = "a"',
            "differs",
            f"{LOST}. B lost 2 packets in 2 runs, and must lose none.",
        ),
        ('may-lose = ["a", "b"]', "agrees", f"{LOST}. B lost 2 packets in 2 runs."),
    ],
)
def test_what_must_lose_nothing_fails_by_a_lost_packet(
    tmp_path: Path, may_lose: str, verdict: str, remark: str
) -> None:
    values: Given = {"a": (50.0, 50.0), "b": (100.0, 100.0), "c": (1.0, 1.0)}
    claim = f'variant = "a"\nagainst = "b"\nvalue = -50\n{may_lose}'
    study, numbers, found = judge(tmp_path, claim, values, lost={"a": 36_362, "b": 1})
    row = shown(Part(study=study, numbers=numbers, judged=(found,)), found)
    assert (row.verdict, row.remark) == (verdict, remark)


def test_why_a_run_failed_stands_in_the_claim_s_row(tmp_path: Path) -> None:
    values: Given = {"a": (50.0, None), "b": (1.0, 1.0), "c": (1.0, 1.0)}
    study, numbers, _ = judge(tmp_path, 'variant = "a"\nvalue = 50', values)
    failed = next(run.key for run in numbers.runs if run.variant == "a" and run.seed == 2)
    numbers = replace(numbers, failures={failed: "invariant buffers broken: s1 (l1): 5 bytes too many"})
    (found,) = claim_verdicts(study, numbers)
    row = shown(Part(study=study, numbers=numbers, judged=(found,)), found)
    assert row.verdict == "not run"
    assert row.remark == "A: failed: invariant buffers broken: s1 (l1): 5 bytes too many."


READINGS = """\
variant = "a"
value = 100
statement = "sooner"
readings = "as printed"
[[claim]]
figure = "1"
says = "says"
metric = "fct-mean"
variant = "b"
value = 100
statement = "sooner"
readings = "with B"
[[reading]]
name = "as printed"
[[reading]]
name = "with B"
"""


def test_a_statement_has_the_verdict_of_its_best_reading(tmp_path: Path) -> None:
    values: Given = {"a": (120.0, 120.0), "b": (101.0, 101.0), "c": (1.0, 1.0)}
    study, numbers, _ = judge(tmp_path, READINGS, values)
    part = Part(study=study, numbers=numbers, judged=claim_verdicts(study, numbers))
    rows = [(row.claim, row.verdict) for row in claim_rows(part)]
    assert rows == [("says [with B]", "agrees"), ("↳ as printed", "(differs)")]


PARTS = READINGS.replace('readings = "as printed"', 'part = "A"').replace('readings = "with B"', 'part = "B"')


def test_a_statement_in_parts_is_as_good_as_the_worst_of_them(tmp_path: Path) -> None:
    for b, verdict in ((101.0, "differs"), (120.0, "differs")):
        values: Given = {"a": (120.0, 120.0), "b": (b, b), "c": (1.0, 1.0)}
        study, numbers, _ = judge(tmp_path, PARTS, values)
        part = Part(study=study, numbers=numbers, judged=claim_verdicts(study, numbers))
        rows = [(row.claim, row.verdict) for row in claim_rows(part)]
        other = "(agrees)" if b < 110 else "(differs)"
        assert rows == [("says [A]", verdict), ("↳ B", other)]


def test_a_statement_is_about_the_mechanism_or_about_a_baseline(tmp_path: Path) -> None:
    text = READINGS.replace('readings = "with B"', 'readings = "with B"\nabout = "baseline"')
    with pytest.raises(StudyError, match=r'"baseline", but an earlier reading .* is about the mechanism'):
        judge(tmp_path, text, {"a": (1.0, 1.0), "b": (1.0, 1.0), "c": (1.0, 1.0)})
    with pytest.raises(StudyError, match='did you mean "baseline"'):
        judge(tmp_path, text.replace('"baseline"', '"baselin"'), {"a": (1.0, 1.0)})


def test_parts_do_not_make_intervals_wider(tmp_path: Path) -> None:
    values: Given = {"a": (99.0, 100.0, 101.0), "b": (99.0, 100.0, 101.0), "c": (1.0, 1.0, 1.0)}
    _, _, alone = judge(tmp_path, 'variant = "a"\nvalue = 100', values)
    _, _, one_of_two = judge(tmp_path, PARTS, values)
    assert (alone.low, alone.high) == (one_of_two.low, one_of_two.high)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PARTS.replace('part = "B"', 'part = "A"'), 'two parts of the statement "sooner" have "A"'),
        (PARTS.replace('part = "B"\n', ""), "either all claims are parts or none is"),
    ],
)
def test_parts_of_a_reading_are_told_apart(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        judge(tmp_path, text, {"a": (1.0, 1.0), "b": (1.0, 1.0), "c": (1.0, 1.0)})


def test_more_readings_make_intervals_wider(tmp_path: Path) -> None:
    values: Given = {"a": (99.0, 100.0, 101.0), "b": (99.0, 100.0, 101.0), "c": (1.0, 1.0, 1.0)}
    _, _, alone = judge(tmp_path, 'variant = "a"\nvalue = 100', values)
    _, _, one_of_two = judge(tmp_path, READINGS, values)
    widths = [found.high - found.low for found in (alone, one_of_two) if found.high and found.low]
    assert widths == pytest.approx([2 * 2.484, 2 * 3.58266], abs=1e-3)


OPEN = "The direction is as published, but the seeds do not decide whether it also is with C."


@pytest.mark.parametrize(
    ("c", "verdict", "without", "remark"),
    [
        (
            (95.0, 95.0),
            "holds without the mechanism too",
            "-5.0 % (exact, 2 seeds) agrees in direction",
            "The mechanism adds to it beyond chance.",
        ),
        ((92.0, 92.0), "holds without the mechanism too", "-8.0 % (exact, 2 seeds) no difference", ""),
        ((101.0, 101.0), "agrees in direction", "+1.0 % (exact, 2 seeds) does not", ""),
        ((97.0, 97.0), "agrees in direction", "-3.0 % (exact, 2 seeds) less than half", ""),
        # Its interval ends below half of the claim's difference, or beyond that.
        ((99.9, 100.0, 100.2), "agrees in direction", "+0.0 % (-0.3 to +0.4) does not", ""),
        (
            (95.0, 98.0, 101.0),
            "not decided",
            "-2.0 % (-9.5 to +5.5) undecided",
            f"{OPEN} The mechanism adds to it beyond chance.",
        ),
        (
            (40.0, 160.0),
            "not decided",
            "+0.0 % (2 seeds) undecided",
            OPEN,
        ),
        ((None, None), "not run", "not run", "The experiment without the mechanism, C, is not run."),
    ],
)
def test_a_direction_without_the_mechanism_is_no_direction_of_it(
    tmp_path: Path, c: tuple[float | None, ...], verdict: str, without: str, remark: str
) -> None:
    values: Given = {"a": (90.0,) * len(c), "b": (100.0,) * len(c), "c": c}
    study, numbers, found = judge(tmp_path, ABLATED, values)
    row = shown(Part(study=study, numbers=numbers, judged=(found,)), found)
    assert (found.verdict, row.without, row.remark) == (verdict, f"C: {without}", remark)


def test_what_is_lost_at_another_number_than_the_selected_one_counts(tmp_path: Path) -> None:
    claim = 'variant = "a"\nagainst = ["b", "c"]\ntake = "lowest"\nvalue = -50\n'
    values: Given = {"a": (50.0, 50.0), "b": (100.0, 100.0), "c": (60.0, 60.0)}
    _, _, sound = judge(tmp_path, claim, values)
    _, _, lossy = judge(tmp_path, claim, values, lost={"c": 3})
    assert (sound.verdict, lossy.verdict) == ("agrees", "differs")
    assert "C lost 6 packets in 2 runs, and must lose none" in lossy.notes


def test_what_is_lost_at_the_point_of_comparison_counts(tmp_path: Path) -> None:
    study = load_study(
        study_file(tmp_path, STUDY.replace('against = "little"', "against-at = { load = 0.2 }"))
    )
    numbers = by_load(study, quick=False, of=lambda _, load: 10.0 if load == "0.2" else 9.0)
    there = {run.key for run in numbers.runs if run.variant == "large" and dict(run.at)["load"] == "0.2"}
    facts = {key: replace(own, lost=1) if key in there else own for key, own in numbers.facts.items()}
    found = claim_verdicts(study, replace(numbers, facts=facts))[0]
    assert found.verdict == "differs"
    assert found.notes == ("10 MB at load = 0.2 lost 2 packets in 2 runs, and must lose none",)


def test_what_is_lost_at_one_of_several_points_is_said_with_the_point(tmp_path: Path) -> None:
    text = STUDY.replace('against = "little"\nat = { load = 0.4 }', 'against = "little"\nat = { load = "*" }')
    study = load_study(study_file(tmp_path, text))
    numbers = by_load(study, quick=False, of=lambda *_: 10.0)
    there = {run.key for run in numbers.runs if run.variant == "large" and dict(run.at)["load"] == "0.2"}
    small = {run.key for run in numbers.runs if run.variant == "little"}
    facts = {key: replace(own, lost=1) if key in there | small else own for key, own in numbers.facts.items()}
    found = claim_verdicts(study, replace(numbers, facts=facts))[0]
    assert "10 MB lost 2 packets in 2 runs, and must lose none (load = 0.2)" in found.notes
    # What is the same at all points is said once, and without them.
    assert "1 MB lost 2 packets in 2 runs, and must lose none" in found.notes


@pytest.mark.parametrize(
    ("c", "verdict"),
    [
        ((Value(value=3.0, unfinished=1), Value(value=3.0, unfinished=1)), "agrees"),
        # With one seed alone, that of another seed may be as good.
        ((Value(value=3.0, unfinished=1), 3.0), "not decided"),
        ((Value(value=None), Value(value=None)), "not decided"),
    ],
)
def test_last_is_what_is_unfinished_with_every_seed(
    tmp_path: Path, c: tuple[float | Value, ...], verdict: str
) -> None:
    _, _, found = judge(tmp_path, 'first = "a"', {"a": (1.0, 1.0), "b": (2.0, 2.0), "c": c})
    assert found.verdict == verdict
