from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import floodway as package
from floodway.common.errors import StudyError
from floodway.study import load_study, plan_of
from floodway.study.metrics.kinds import KINDS
from floodway.study.running.runs import selected
from floodway_lab.study.model import claims_of, plots_of
from studies import BRIEF, STUDY, study_file

if TYPE_CHECKING:
    from command import Command

PLACES = "allowed: large, little"
METRICS = ", ".join(KINDS)


def fault(folder: Path, text: str) -> str:
    """What is said of a study's text, from its line on."""
    file = study_file(folder, text)
    with pytest.raises(package.StudyError) as told:
        load_study(file)
    said = str(told.value)
    assert said.startswith(f"{file}:")
    assert told.value.place == str(file)
    assert "\n" not in said
    return said.removeprefix(f"{file}:")


def test_a_study_has_what_its_file_says(tmp_path: Path) -> None:
    study = load_study(study_file(tmp_path))
    assert (study.name, study.title, study.seeds, study.quick.seeds) == ("pools", "Pools", 2, 1)
    (axis,) = study.axes
    assert [(point.name, point.number, point.sets) for point in axis.points] == [
        ("0.2", 0.2, (("workload.rpc.poisson.load", "0.2"),)),
        ("0.4", 0.4, (("workload.rpc.poisson.load", "0.4"),)),
    ]
    assert axis.quick == ("0.2",)
    assert study.variant("little").sets == (("defaults.buffer.shared.pool", '"1MB"'),)
    assert claims_of(study)[0].at == (("load", "0.4"),)
    assert claims_of(study)[0].unit == "%"
    assert plots_of(study)[0].along == "load"


def test_a_name_that_a_study_does_not_have_is_refused_with_the_nearest(tmp_path: Path) -> None:
    study = load_study(study_file(tmp_path))
    with pytest.raises(package.UnknownNameError) as refused:
        study.variant("litle")
    assert str(refused.value) == (
        "'litle' is not a variant of this study; allowed: large, little; did you mean 'little'?"
    )
    assert (refused.value.key, refused.value.given, refused.value.nearest) == ("variant", "litle", "little")
    with pytest.raises(
        package.UnknownNameError, match="'laod' is not an axis of this study; allowed: load; did"
    ):
        study.axis("laod")
    with pytest.raises(package.UnknownNameError, match=r"'0\.3' is not a point of load; allowed: 0\.2, 0\.4"):
        study.axis("load").point("0.3")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('title = "Pools"', "", '1: the key "title" is missing'),
        ('title = "Pools"', "title = 3", "1: title: the number 3 where a string is required"),
        (
            'title = "Pools"',
            'tilte = "Pools"\ntitle = "Pools"',
            '1: "tilte" is not a key; allowed: title, paper, shows, notes, source, minutes, draws, scenario, set, seeds, axis, variant, without, reading, metric, claim, plot, quick; did you mean "title"?',
        ),
        (
            'scenario = "small.toml"',
            'scenario = "smal.toml"',
            '2: scenario: "smal.toml" is not a file; paths are relative to the study\'s folder',
        ),
        ("seeds = 2", "seeds = 0", "3: seeds: 0 is neither a number of at least 1 nor a list of seeds"),
        ("seeds = 2", "seeds = [1, 1]", "3: seeds: 1 is given twice"),
        (
            "value = -10",
            'value = -10\nunit = "us"',
            '36: claim.mean.unit: "us" is not the unit of the number; allowed: "%"',
        ),
        (
            "values = [0.2, 0.4]",
            "values = [0.2, 0.2]",
            '8: axis.load.values: "0.2": two points have this name',
        ),
        ("values = [0.2, 0.4]", "", "5: axis.load.values: is missing; an axis needs at least one value"),
        (
            "values = [0.2, 0.4]",
            'values = [0.2, 0.4]\nlabels = ["a"]',
            "9: axis.load.labels: 1 entries for 2 values",
        ),
        (
            "quick = [0.2]",
            "quick = [0.3]",
            '9: axis.load.quick: "0.3" is not a point of the axis load; allowed: 0.2, 0.4; did you mean "0.2"?',
        ),
        (
            'name = "little"',
            'name = "large"',
            '16: variant.large.name: "large": two variants have this name, the first in line 12',
        ),
        (
            'label = "1 MB"',
            'like = "larg"',
            '17: variant.little.like: "larg" is not a variant above this one; allowed: large; did you mean "large"?',
        ),
        (
            'label = "1 MB"',
            "only = { laod = 0.2 }",
            '17: variant.little.only.laod: "laod" is not an axis of this study; allowed: load; did you mean "load"?',
        ),
        (
            '"defaults.buffer.shared.pool"',
            "defaults.buffer.shared.pool",
            '18: variant.little.set.defaults: is a table; quote the whole path, as in "defaults.buffer" = ...',
        ),
        (
            'kind = "fct-p99"',
            'kind = "fct-p98"',
            f'24: metric.short-p99.kind: "fct-p98" is not a metric; allowed: {METRICS}; did you mean "fct-p95"?',
        ),
        (
            'size = ["0B", "10KB"]',
            'link = "x1>x2"',
            '25: metric.short-p99.link: "link" is not an option of fct-p99; allowed: workload, path-class, from, to, size',
        ),
        (
            'size = ["0B", "10KB"]',
            'size = ["10KB", "0B"]',
            '25: metric.short-p99.size: "10KB" is not below "0B"',
        ),
        (
            'size = ["0B", "10KB"]',
            'size = ["0", "10KB"]',
            '25: metric.short-p99.size: "0" is not a size: its unit is missing; write it like "288KB"',
        ),
        (
            'variant = "large"\nagainst',
            'variant = "big"\nagainst',
            '32: claim.mean.variant: "big" is not a variant of this study; allowed: large, little',
        ),
        (
            'against = "little"',
            'against = "large"',
            '33: claim.mean.against: "large" is measured against itself',
        ),
        (
            "at = { load = 0.4 }\nvalue = -10",
            "value = -10",
            "27: claim.mean.at: names no point of the axis load; allowed: 0.2, 0.4, *",
        ),
        (
            "at = { load = 0.4 }\nvalue = -10",
            "at = { load = 0.5 }\nvalue = -10",
            '34: claim.mean.at.load: "0.5" is not a point of the axis load; allowed: 0.2, 0.4; did you mean "0.2"?',
        ),
        (
            "value = -10",
            "",
            "27: claim.mean.value: is missing; a claim has a published value, or an order of variants",
        ),
        (
            "value = -10",
            'order = ["large", "little"]',
            "33: claim.mean.against: applies to a number, and this claim is an order; choose one of the two",
        ),
        (
            'variant = "large"\nagainst = "little"\nat = { load = 0.4 }\nvalue = -10',
            'at = { load = 0.4 }\nunchanged-order = ["large", "little"]',
            "33: claim.mean.unchanged-order: compares the orders at several points, and `at` has only one",
        ),
        (
            "value = -10",
            'order = ["large", "little"]\nunchanged-order = ["large", "little"]',
            '36: claim.mean.unchanged-order: cannot be given with "order"; choose one of the two',
        ),
        (
            "value = -10",
            "between = [-10, -20]",
            "35: claim.mean.between: [-10.0, -20.0] is not a range: expected two numbers, the smaller first",
        ),
        (
            "value = -10",
            "value = -10\nbetween = [-20, -10]",
            "36: claim.mean.between: is given with a value; choose one of the two",
        ),
        (
            "value = -10",
            'value = -10\ntake = "lowest"',
            "36: claim.mean.take: selects one of several numbers, and this claim has only one",
        ),
        (
            'against = "little"\nat = { load = 0.4 }\nvalue = -10',
            'at = { load = "*" }\nvalue = -10\nagainst-at = { load = 0.2 }',
            '27: claim.mean.against: "large" is measured against itself',
        ),
        (
            'against = "little"\nat = { load = 0.4 }\nvalue = -10',
            "at = { load = 0.4 }\nvalue = -10\nless-at = { load = 0.2 }",
            "35: claim.mean.less-at: applies to a difference; this claim has no `against`",
        ),
        (
            "value = -10",
            "value = -10\nless-at = { load = 0.4 }",
            "36: claim.mean.less-at: is where the claim is; the difference would be 0",
        ),
        (
            "value = -10",
            'value = -10\nless-at = { load = 0.2 }\ncause = { variant = "little", says = "why" }',
            "37: claim.mean.cause: applies to a plain difference, and this claim subtracts another",
        ),
        (
            "at = { load = 0.4 }\nvalue = -10",
            'at = { load = "*" }\nvalue = -10\ncause = { variant = "little", says = "why" }',
            "36: claim.mean.cause: applies to one number, and this claim covers several",
        ),
        (
            "at = { load = 0.4 }\nvalue = -10",
            "at = { load = [0.2, 0.5] }\nvalue = -10",
            '34: claim.mean.at.load: "0.5" is not a point of the axis load; allowed: 0.2, 0.4; did you mean "0.2"?',
        ),
        (
            'against = "little"\nat = { load = 0.4 }\nvalue = -10',
            'at = { load = 0.4 }\nfirst = "big"',
            '34: claim.mean.first: "big" is not a variant of this study; allowed: large, little',
        ),
        (
            'variant = "large"\nagainst = "little"\nat = { load = 0.4 }\nvalue = -10',
            'at = { load = 0.4 }\nfirst = "large"\namong = ["large"]',
            "34: claim.mean.among: takes at least two variants, each once, best first",
        ),
        ('label = "1 MB"', "except = { load = 0.4 }", '34: claim.mean.at: "little" is not run at load = 0.4'),
        (
            'name = "flows"',
            'name = "mean"',
            '38: claim.mean.name: "mean": two claims have this name, the first in line 28',
        ),
        (
            'metric = "flows"',
            'metric = "flow"',
            f'40: claim.flows.metric: "flow" is not a metric; allowed: short-p99, {METRICS}; did you mean "flows"?',
        ),
        (
            'kind = "lines"',
            'kind = "line"',
            '48: plot.1.kind: "line" is not a choice; allowed: bars, lines, grid, series, cdf, ports, region, shares; did you mean "lines"?',
        ),
        (
            'kind = "lines"',
            'kind = "grid"\nlog = "y"',
            "49: plot.1.log: does not apply to a picture of the kind grid; it applies to bars, lines, series, cdf",
        ),
        (
            'kind = "fct-p99"\nsize = ["0B", "10KB"]',
            'kind = "time-in-state"\nports = "s1"',
            "23: metric.short-p99.state: is missing; time-in-state needs it",
        ),
        (
            'metric = "flows"',
            'metric = "time-in-state"',
            "40: claim.flows.metric: time-in-state needs state: name a metric of this kind under [metric.NAME]",
        ),
        (
            'window = ["100us", "1ms"]',
            'window = ["1ms", "100us"]',
            '74: plot.5.window: "1ms" is not below "100us"',
        ),
        (
            'kind = "cdf"\n',
            'kind = "cdf"\nports = "s1>s2"\n',
            "67: plot.4.ports: does not apply to a picture of the kind cdf; it applies to ports",
        ),
        (
            'kind = "ports"\n',
            'kind = "region"\n',
            "73: plot.5.ports: does not apply to a picture of the kind region; it applies to ports",
        ),
        (
            'name = "2"',
            'name = "1"',
            '52: plot.1.name: "1": two pictures have this name, the first in line 47',
        ),
        (
            'name = "2"',
            'name = "../2"',
            '52: plot.../2.name: "../2" is a file\'s name: letters, digits, -, . and _',
        ),
        ('log = "y"', 'group = "load"', '56: plot.2.group: "load" is already the axis across'),
        (
            'kind = "cdf"\n',
            'kind = "cdf"\nrelative-to = "little"\n',
            "67: plot.4.relative-to: does not apply to a picture of the kind cdf; it applies to bars, lines, grid",
        ),
        (
            'log = "y"',
            'log = "x"',
            '56: plot.2.log: "x" is not an axis with numbers of bars; allowed: y; did you mean "y"?',
        ),
        (
            'log = "y"',
            "[[plot.published]]\nx = 0.3\nvalue = 1",
            '56: plot.2.published: "0.3" is not a point of load; allowed: 0.2, 0.4; did you mean "0.2"?',
        ),
        (
            'log = "y"',
            '[[plot.published]]\nx = 0.2\ngroup = "litle"\nvalue = 1',
            '56: plot.2.published: "litle" is not a group of this picture; allowed: large, little; did you mean "little"?',
        ),
        (
            'short-p99"]\n',
            'short-p99"]\n[[plot.theory]]\nformula = "bpd"\nx = "delay-us"\n',
            '51: plot.1.theory.1.formula: "bpd" is not a formula; allowed: swing-eq4, swing-eq6, swing-relay-buffer, swing-pfc-buffer, cbfc-lowest, cbfc-highest, bifrost-buffer, bdp; did you mean "bdp"?',
        ),
        (
            'short-p99"]\n',
            'short-p99"]\n[[plot.theory]]\nformula = "bdp"\nx = "delay-us"\n',
            "50: plot.1.theory.1.with: lacks rate-gbps of bdp",
        ),
        (
            "[quick]\nseeds = 1",
            '[quick]\nvariants = ["larg"]',
            '21: quick.variants: "larg" is not a variant of this study; allowed: large, little; did you mean "large"?',
        ),
    ],
)
def test_a_fault_names_its_key_and_what_is_right(tmp_path: Path, before: str, after: str, said: str) -> None:
    assert before in STUDY
    assert fault(tmp_path, STUDY.replace(before, after, 1)) == said


@pytest.mark.parametrize("kind", ["bars", "lines", "grid"])
@pytest.mark.parametrize("variants", ["", 'variants = ["little", "large"]'])
def test_a_picture_of_one_variant_says_which(tmp_path: Path, kind: str, variants: str) -> None:
    axis = '[[axis]]\nname = "mtu"\nkey = "mtu"\nvalues = ["1000B", "2000B"]\n\n[[variant]]'
    text = BRIEF[: BRIEF.index("[[claim]]")].replace("[[variant]]", axis, 1)
    line, after = (38, 39) if variants else (32, 32)
    picture = f'[[plot]]\nname = "1"\nkind = "{kind}"\nmetric = "fct-mean"\nx = "load"\ngroup = "mtu"\n'
    named = "little, large" if variants else "large, little"
    said = "must name one, since neither x nor group is variant: the others would not be shown; allowed: "
    assert fault(tmp_path, f"{text}{picture}{variants}\n") == f"{line}: plot.1.variants: {said}{named}"
    # Nor is one chosen where the picture has no groups at all.
    alone = picture.replace('group = "mtu"', 'group = ""\nat = { mtu = "1000B" }')
    assert fault(tmp_path, f"{text}{alone}{variants}\n") == f"{after}: plot.1.variants: {said}{named}"
    one = load_study(study_file(tmp_path, f'{text}{picture}variants = "little"\n'))
    assert plots_of(one)[0].variants == ("little",)


def test_a_claim_of_one_variant_says_which(tmp_path: Path) -> None:
    text = BRIEF.replace('metric = "flows"\nvariant = "large"\n', 'metric = "flows"\n')
    assert text != BRIEF
    assert fault(tmp_path, text).endswith(
        "claim.flows.variant: is missing; a variant is required; allowed: large, little"
    )


def test_a_file_that_is_no_study_is_reported(tmp_path: Path) -> None:
    assert fault(tmp_path, "title = ").startswith("1: not TOML: ")
    with pytest.raises(package.StudyError, match=r"missing\.toml: cannot be read: No such file"):
        load_study(tmp_path / "missing.toml")


def test_faults_of_scenarios_name_the_study_and_its_runs(tmp_path: Path, floodway: Command) -> None:
    file = study_file(tmp_path, STUDY.replace('pool" = "1MB"', 'pol" = "1MB"'))
    done = floodway("study", file.name)
    assert (done.code, done.out) == (2, "")
    (line,) = done.err.splitlines()
    assert line.startswith("error: pools.toml: little, load=0.2; little, load=0.4: --set ")
    assert "pol" in line
    assert not (tmp_path / "out").exists()


def test_variants_are_run_where_they_are_wanted(tmp_path: Path) -> None:
    text = STUDY.replace('label = "1 MB"', "only = { load = [0.2] }").replace(
        '"little"\nat = { load = 0.4 }', '"little"\nat = { load = 0.2 }'
    )
    study = load_study(study_file(tmp_path, text))
    places = [(variant.name, dict(place)["load"]) for variant, place in selected(study, quick=False)]
    assert places == [("large", "0.2"), ("large", "0.4"), ("little", "0.2")]
    quick = [(variant.name, dict(place)["load"]) for variant, place in selected(study, quick=True)]
    assert quick == [("large", "0.2"), ("little", "0.2")]


def test_a_variant_like_another_sets_what_that_sets_and_more(tmp_path: Path) -> None:
    more = '[[variant]]\nname = "third"\nlike = "little"\nset = { mtu = "2000B" }\n\n[quick]'
    study = load_study(study_file(tmp_path, STUDY.replace("[quick]", more)))
    assert study.variant("third").sets == (("defaults.buffer.shared.pool", '"1MB"'), ("mtu", '"2000B"'))
    runs = plan_of([study]).runs
    third = next(run for run in runs if run.variant == "third")
    keys: Any = third.recipe.scenario().to_dict()
    assert (keys["defaults"]["buffer"]["shared"]["pool"], keys["mtu"]) == ("1MB", "2000B")


def test_points_and_variants_may_have_fewer_seeds_than_the_study(tmp_path: Path) -> None:
    points = """\
[[axis.point]]
name = "low"
set = { "workload.rpc.poisson.load" = 0.2 }
seeds = 2

[[axis.point]]
name = "high"
set = { "workload.rpc.poisson.load" = 0.4 }
"""
    text = STUDY.replace(STUDY[STUDY.index('key = "work') : STUDY.index("[[variant]]")], points)
    text = text.replace("seeds = 2\n\n", "seeds = 4\n\n", 1).replace(
        'label = "1 MB"', 'label = "1 MB"\nseeds = 3'
    )
    text = text.replace("at = { load = 0.4 }", 'at = { load = "high" }')
    runs = plan_of([load_study(study_file(tmp_path, text))]).runs
    found = Counter((run.variant, run.at[0][1]) for run in runs)
    assert found == {
        ("large", "low"): 2,
        ("large", "high"): 4,
        ("little", "low"): 2,
        ("little", "high"): 3,
    }
    with pytest.raises(
        StudyError, match=r"point\.low\.seeds: .* of a point it is how many of the study's it has"
    ):
        load_study(study_file(tmp_path, text.replace("seeds = 2\n", "seeds = [2]\n")))


def test_a_value_of_an_axis_may_set_several_keys(tmp_path: Path) -> None:
    points = """\
keys = ["workload.rpc.poisson.load", "mtu"]
values = [[0.2, "1000B"], [0.4, "2000B"]]
numbers = [1, 2]"""
    text = STUDY.replace('key = "workload.rpc.poisson.load"\nvalues = [0.2, 0.4]', points)
    runs = plan_of([load_study(study_file(tmp_path, text))]).runs
    said: list[Any] = [
        run.recipe.scenario().to_dict() for run in runs if run.variant == "large" and run.seed == 1
    ]
    assert [(keys["workload"][0]["poisson"]["load"], keys["mtu"]) for keys in said] == [
        (0.2, "1000B"),
        (0.4, "2000B"),
    ]


READINGS = STUDY.replace(
    """\
variant = "large"
against = "little"
at = { load = 0.4 }
value = -10
""",
    """\
readings = ["as printed", "low load", "jumbo", "low load, jumbo"]
variant = "large"
against = "little"
at = { load = 0.4 }
value = -10

[[without]]
of = "large"
variant = "none"
removes = "the pool"
halves = [{ variant = "half", removes = "the larger half" }]

[[reading]]
name = "as printed"

[[reading]]
name = "low load"
says = "The load is not given."
setting = "low"
at = { load = 0.2 }

[[reading]]
name = "jumbo"
variants = { half = "none" }
set = { mtu = "4000B" }

[[reading]]
name = "low load, jumbo"
like = ["low load", "jumbo"]
""",
).replace("[quick]", '[[variant]]\nname = "none"\nlabel = "none"\n\n[[variant]]\nname = "half"\n\n[quick]')


def test_a_claim_is_judged_in_each_of_its_readings(tmp_path: Path) -> None:
    study = load_study(study_file(tmp_path, READINGS))
    first, low, jumbo, both = claims_of(study)[:4]
    assert [claim.reading for claim in claims_of(study)] == [
        "as printed",
        "low load",
        "jumbo",
        "low load, jumbo",
        "",
    ]
    assert {claim.statement for claim in claims_of(study)[:4]} == {"mean"}
    assert (first.looks, first.setting, first.at, first.variant) == (4, "", (("load", "0.4"),), "large")
    assert (first.ablations, first.halves) == (("none",), ("half",))
    assert first.removes == {"none": "the pool", "half": "the larger half"}
    assert (low.setting, low.at, low.variant, low.against) == ("low", (("load", "0.2"),), "large", "little")
    assert (jumbo.variant, jumbo.against, jumbo.at) == ("large, jumbo", "little, jumbo", (("load", "0.4"),))
    assert (jumbo.ablations, jumbo.halves) == (("none, jumbo",), ("none, jumbo",))
    assert (both.setting, both.at, both.variant) == ("low", (("load", "0.2"),), "large, low load, jumbo")
    assert study.variant("large, jumbo").sets == (("mtu", '"4000B"'),)
    assert study.variant("little, jumbo").sets == (*study.variant("little").sets, ("mtu", '"4000B"'))
    assert [(reading["name"], reading["says"]) for reading in study.readings][:2] == [
        ("as printed", ""),
        ("low load", "The load is not given."),
    ]
    # What readings add is in no picture that names no variants.
    assert plots_of(study)[0].variants == ("large", "little", "none", "half")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            '"low load", "jumbo", "low',
            '"low laod", "low',
            'claim.mean.readings: "low laod" is not a reading of this study',
        ),
        (
            "{ half = ",
            "{ hafl = ",
            'reading.jumbo.variants.hafl: "hafl" is not a variant of this study; allowed: ',
        ),
        (
            '= "none" }\nset',
            '= "non" }\nset',
            'reading.jumbo.variants.half: "non" is not a variant of this study; ',
        ),
        (
            '"low load", "jumbo"]\n',
            '"jumbo", "later"]\n',
            'reading.low load, jumbo.like: "later" is not a reading above this one',
        ),
        (
            'set = { mtu = "4000B" }',
            'set = { "workload.rpc.poisson.load" = 0.3 }',
            "the axis load sets it, too",
        ),
        ('of = "large"', 'of = "larg"', 'without.1.of: "larg" is not a variant of this study; '),
        (
            'name = "jumbo"',
            'name = "low load"',
            'reading.low load.name: "low load": two readings have this name, the first in line',
        ),
        (
            'says = "The load',
            'say = "The load',
            'reading.low load: "say" is not a key; allowed: name, says, ',
        ),
    ],
)
def test_wrong_readings_are_refused(tmp_path: Path, before: str, after: str, said: str) -> None:
    assert before in READINGS
    assert said in fault(tmp_path, READINGS.replace(before, after, 1))


def test_a_claim_may_have_no_ablation_where_its_variant_has_one(tmp_path: Path) -> None:
    text = READINGS.replace("value = -10", "value = -10\nwithout = []")
    claim = claims_of(load_study(study_file(tmp_path, text)))[0]
    assert (claim.ablations, claim.halves, claim.no_ablation) == ((), (), "")


def test_the_page_s_example_is_a_study_that_runs(tmp_path: Path, floodway: Command) -> None:
    page = (Path(__file__).parents[1] / "docs" / "studies.md").read_text(encoding="utf-8")
    block = page.split("<!-- example: begin -->")[1].split("<!-- example: end -->")[0]
    (tmp_path / "page.toml").write_text(block.replace("```toml", "").replace("```", ""), encoding="utf-8")
    done = floodway("study", "page.toml", "--quiet", "--json")
    assert (done.code, done.err) == (0, "")
    (study,) = json.loads(done.out)["studies"]
    assert [claim["verdict"] for claim in study["claims"]] == ["agrees", "agrees"]
