from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import floodway as package
from floodway.plot import Source, fct, look
from floodway.plot.curves import COLOURS
from floodway.study import (
    conduct,
    load_study,
    papers,
    plan_of,
    ready_studies,
)
from floodway.study.running.storage import Runs
from floodway_lab.study.model import plots_of
from floodway_lab.study.named_studies import studies_of
from floodway_lab.study.pictures import distributions, drawing, grid
from made_up import made_up_result
from scenarios import TOLD
from studies import BRIEF, STUDY, study_file

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command

PNG = b"\x89PNG\r\n\x1a\n"


def two_papers(folder: Path) -> Path:
    """Write two papers: one with figures 2 and 10, the other with figure 1."""
    one = STUDY.replace("small.toml", "../../small.toml").replace("seeds = 2", "seeds = 1")
    for paper, figure in (("alpha", "2"), ("alpha", "10"), ("beta", "1")):
        inner = folder / "studies" / paper
        inner.mkdir(parents=True, exist_ok=True)
        text = one.replace('"Pools"', f'"Figure {figure}"').replace('figure = "1"', f'figure = "{figure}a"')
        (inner / f"{figure}.toml").write_text(text, encoding="utf-8")
    study_file(folder)
    return folder / "studies"


def test_every_picture_is_drawn_with_its_data(tmp_path: Path) -> None:
    conducted = conduct(plan_of([load_study(study_file(tmp_path))]), out=tmp_path / "out", jobs=2)
    out = tmp_path / "out"
    for name in ("1", "2", "3", "4", "5"):
        assert (out / f"{name}.png").read_bytes().startswith(PNG)
        assert (out / f"{name}.png") in conducted.files
    lines = pl.read_csv(out / "1.csv")
    assert lines["metric"].to_list() == ["fct-mean"] * 4 + ["short-p99"] * 4
    assert lines["group"].to_list() == ["large", "large", "little", "little"] * 2
    assert lines["x"].to_list() == [0.2, 0.4] * 4
    assert (lines["low"] <= lines["mean"]).all()
    assert (lines["mean"] <= lines["high"]).all()
    assert pl.read_csv(out / "3.csv").columns == ["variant", "time_us", "span_us", "gbps"]
    distribution = pl.read_csv(out / "4.csv")
    assert distribution.columns == ["variant", "slowdown", "share"]
    assert distribution["share"].max() == 1.0
    ports = pl.read_csv(out / "5.csv", infer_schema_length=None)
    assert ports["result"].unique(maintain_order=True).to_list() == ["10 MB", "1 MB"]
    assert ports["object"].unique().to_list() == ["s1-s2: s1>s2"]
    # In buckets that reach into the window.
    assert ports["to_us"].min() > 100.0  # type: ignore[operator]
    assert ports["from_us"].max() < 1000.0  # type: ignore[operator]


def test_claims_of_our_own_are_counted_apart(tmp_path: Path) -> None:
    own = STUDY.replace("tolerance = 1\n", 'tolerance = 1\norigin = "ours"\n')
    study = load_study(study_file(tmp_path, own))
    conduct(plan_of([study]), out=tmp_path / "out", jobs=2)
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert re.search(r"^1 published statement: ", report, re.MULTILINE)
    assert re.search(r"^1 statement of our own: ", report, re.MULTILINE)


def test_claims_about_a_baseline_are_counted_apart_even_with_an_ablation(tmp_path: Path) -> None:
    ablated = STUDY.replace("value = -10\n", 'value = -10\nwithout = "little"\n').replace(
        "tolerance = 1\n", 'tolerance = 1\nfigure = "2"\nwithout = "little"\nabout = "baseline"\n'
    )
    conduct(plan_of([load_study(study_file(tmp_path, ablated))]), out=tmp_path / "out", jobs=2)
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert re.search(r"^1 published statement about the mechanism, with an ablation: ", report, re.MULTILINE)
    assert re.search(r"^1 published statement about a baseline, traffic or a cost", report, re.MULTILINE)


SPANNING = """\
title = "{title}"
paper = "A paper"
scenario = "small.toml"
seeds = 3
[[claim]]
statement = "flows"
spans = true
part = "{title}"
says = "so many flows"
metric = "flows"
value = {flows}
is = "at-least"
"""


def test_a_statement_with_parts_in_two_studies_counts_once_by_the_worst(tmp_path: Path) -> None:
    first = study_file(tmp_path, SPANNING.format(title="one", flows=0))
    second = tmp_path / "second.toml"
    second.write_text(SPANNING.format(title="two", flows=1_000_000), encoding="utf-8")
    conduct(plan_of([load_study(first), load_study(second)]), out=tmp_path / "out", jobs=2)
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert re.search(r"^1 published statement: differs 1\.", report, re.MULTILINE)


def test_statements_are_counted_for_one_setting_in_all_figures(tmp_path: Path) -> None:
    claim = 'setting = "high"\nwithout = "little"\n'
    text = STUDY.replace("value = -10\n", f"value = -10\n{claim}").replace(
        "tolerance = 1\n", 'tolerance = 1\nfigure = "2"\n'
    )
    conduct(plan_of([load_study(study_file(tmp_path, text))]), out=tmp_path / "out", jobs=2)
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    line = r"^1 published statement of these with one setting in all figures, high: "
    assert re.search(line, report, re.MULTILINE)


def test_claims_without_a_paper_are_not_called_published(tmp_path: Path) -> None:
    text = BRIEF.replace('figure = "1"\n', "").replace("seeds = 2", "seeds = 1")
    conduct(plan_of([load_study(study_file(tmp_path, text))]), out=tmp_path / "out", jobs=2)
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert re.search(r"^2 statements of our own: ", report, re.MULTILINE)
    assert not re.search(r"^[0-9]+ published statement", report, re.MULTILINE)


def test_a_distribution_has_the_labels_of_the_same_picture_of_runs(tmp_path: Path) -> None:
    picture = '[[plot]]\nname = "1"\nkind = "cdf"\nof = "fct"\nat = { load = 0.4 }\n'
    conducted = conduct(
        plan_of([load_study(study_file(tmp_path, f"{BRIEF}\n{picture}"))]), out=tmp_path / "out", jobs=2
    )
    (part,) = conducted.parts
    drawn = distributions.cdf(
        part.study, plots_of(part.study)[0], part.numbers, Runs(tmp_path / "out" / "runs")
    )
    (own,) = drawn.figure.axes
    (run,) = fct([Source(label="one", results=(made_up_result([1.0, 2.0]),))]).figure.axes
    assert (own.get_xlabel(), own.get_ylabel()) == (run.get_xlabel(), run.get_ylabel())


def test_the_page_needs_nothing_else(tmp_path: Path) -> None:
    text = STUDY.replace('title = "Pools"', 'title = "Pools <i>"\nnotes = "A *note* with <b>tags</b>."')
    conduct(plan_of([load_study(study_file(tmp_path, text))], quick=True), out=tmp_path / "out", jobs=2)
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"src=\"(?!data:)|<link|<script|@import|url\(", page)
    assert page.count("data:image/png;base64,") == 2
    assert "<title>Pools &lt;i&gt;</title>" in page
    assert "A <em>note</em> with &lt;b&gt;tags&lt;/b&gt;." in page
    assert "<i>" not in page
    assert "<th>verdict</th>" in page
    # The answer is the heading; on a telephone each cell names its column.
    assert re.search(r"<h1[^>]*>\d of 2 statements agrees?; .*\.</h1>", page)
    assert '<td data-label="verdict">not run</td>' in page
    assert page.index("data:image") < page.index("<table") < page.index("<details><summary>Numbers</summary>")
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "This is the quick version" in report
    assert "3: not drawn, none of its runs is there." in report
    assert (
        "| 1 | the larger pool is sooner | -10.0 % ± 3 points | - | no ablation is named | not run |  |"
        in report
    )


def test_a_run_of_the_page_leads_to_its_page_over_time(tmp_path: Path, floodway: Command) -> None:
    study = study_file(tmp_path)
    conduct(plan_of([load_study(study)], quick=True), out=tmp_path / "out", jobs=2)
    page = tmp_path / "out" / "index.html"
    folders = re.findall(r'href="(runs/[0-9a-f]+)"', page.read_text(encoding="utf-8"))
    assert folders
    assert all((tmp_path / "out" / folder / "run.json").is_file() for folder in folders)
    written = re.search(r"<code>floodway (report [^<]*)</code>", page.read_text(encoding="utf-8"))
    assert written is not None
    done = floodway(*written[1].split(), "--flow", "none", "--quiet")
    assert done.code == 0, done.err
    conduct(plan_of([load_study(study)], quick=True), out=tmp_path / "out", jobs=2)
    (found,) = re.findall(r'href="(runs/[0-9a-f]+/report.html)"', page.read_text(encoding="utf-8"))
    assert (tmp_path / "out" / found).is_file()


def test_a_picture_that_cannot_be_drawn_is_reported_on_the_way(tmp_path: Path) -> None:
    text = STUDY[: STUDY.index("[[plot]]")] + STUDY[STUDY.rindex("[[plot]]") :].replace("s1>s2", "s1>s3")
    said: list[str] = []
    plan = plan_of([load_study(study_file(tmp_path, text))])
    conduct(plan, out=tmp_path / "out", jobs=2, on_message=said.append)
    (line,) = said
    assert line.startswith("not drawn: pools: plot[5]: 's1>s3' is not the name of a watched object")
    assert "5: not drawn, " in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    # That the quick version leaves a picture's runs out is no fault.
    said.clear()
    quick = plan_of([load_study(study_file(tmp_path, text))], quick=True)
    conduct(quick, out=tmp_path / "quick", jobs=2, on_message=said.append)
    assert said == []


#: Four senders to one over a switch whose ports have roles; a threshold of its own is all that differs.
REGION = """\
title = "Regions"
scenario = "small.toml"

[[variant]]
name = "late"
label = "at 20 KB"

[[variant]]
name = "early"
label = "at 10 KB"
set = { "defaults.congestion-point.rcm.equilibrium" = "10KB" }

[[plot]]
name = "spread"
title = "The region"
kind = "region"
window = ["1us", "60us"]
"""


def test_a_region_has_a_picture_with_the_variants_beside_one_another(tmp_path: Path) -> None:
    scenario = TOLD.replace("limit", 'stop = "limit"\nlimit').replace('"2ms"', '"100us"')
    points = scenario[scenario.index("congestion-point") : scenario.index("[[workload]]")]
    scenario = scenario.replace(points, 'congestion-point.rcm = { equilibrium = "20KB" }\n\n')
    file = study_file(tmp_path, REGION, scenario=scenario)
    said: list[str] = []
    conduct(plan_of([load_study(file)]), out=tmp_path / "out", jobs=2, on_message=said.append)
    assert said == []
    assert (tmp_path / "out" / "spread.png").read_bytes().startswith(PNG)
    drawn = pl.read_csv(tmp_path / "out" / "spread.csv")
    assert drawn.columns == ["result", "seed", "port", "from_us", "to_us", "role", "hops"]
    assert drawn["result"].unique(maintain_order=True).to_list() == ["at 20 KB", "at 10 KB"]
    assert (drawn["from_us"].min(), drawn["to_us"].max()) == (1.0, 60.0)
    assert "root" in set(drawn["role"])
    file = study_file(tmp_path, REGION, scenario=scenario.replace("signals = true, ", ""))
    conduct(plan_of([load_study(file)]), out=tmp_path / "without", jobs=2, on_message=said.append)
    (line,) = said
    assert (
        "plot[spread]: at 20 KB: the run did not record signals; records.signals = true records them" in line
    )


def test_long_labels_of_bars_have_lines_and_wide_numbers_stand_upright(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "a pool of so many bytes that its label is long"
    text = STUDY[: STUDY.index("[[plot]]")].replace('"10 MB"', f'"{name}"') + (
        '[[plot]]\nname = "1"\nkind = "bars"\nmetric = "fct-mean"\nat = { load = 0.4 }\n'
    )
    folder = tmp_path / "out"
    conducted = conduct(plan_of([load_study(study_file(tmp_path, text))]), out=folder, jobs=2)
    (part,) = conducted.parts
    (axes,) = drawing.bars(part.study, plots_of(part.study)[0], part.numbers).figure.axes
    first, second = (label.get_text() for label in axes.get_xticklabels())
    assert first.split("\n") == ["a pool of so many bytes that its label", "is long"]
    assert second == "1 MB"
    assert {number.get_rotation() for number in axes.texts} == {0.0}
    monkeypatch.setattr(drawing, "ACROSS", 0.5)
    (axes,) = drawing.bars(part.study, plots_of(part.study)[0], part.numbers).figure.axes
    assert {number.get_rotation() for number in axes.texts} == {90.0}


def test_a_heat_map_has_the_number_of_every_cell(tmp_path: Path) -> None:
    text = STUDY[: STUDY.index("[[plot]]")] + (
        '[[plot]]\nname = "1"\nkind = "grid"\nmetric = ["fct-mean", "short-p99"]\n'
    )
    folder = tmp_path / "out"
    conducted = conduct(plan_of([load_study(study_file(tmp_path, text))]), out=folder, jobs=2)
    (part,) = conducted.parts
    (plot,) = plots_of(part.study)
    figure = grid.grid(part.study, plot, part.numbers).figure
    panels = figure.axes
    assert [text.get_text() for text in figure.texts][1:] == ["in each panel, darker = more"]
    assert [axes.get_title(loc="left") for axes in panels] == [
        "mean completion time, us",
        "p99 completion time, us",
    ]
    assert [label.get_text() for label in panels[0].get_yticklabels()] == ["10 MB", "1 MB"]
    kept = pl.read_csv(folder / "1.csv")
    for axes, metric in zip(panels, ("fct-mean", "short-p99"), strict=True):
        across = [label.get_text() for label in axes.get_xticklabels()]
        numbers = [float(text.get_text().rstrip("*").replace(",", "")) for text in axes.texts]
        own = kept.filter(pl.col("metric") == metric)
        assert len(numbers) == 2 * len(across) == len(own)
        assert numbers == pytest.approx(own["mean"].to_list(), rel=1e-3)
        (image,) = axes.images
        shades = dict(zip(own["mean"], np.ravel(image.norm(np.asarray(image.get_array()))), strict=True))
        assert [shades[number] for number in sorted(shades)] == sorted(shades.values())


@pytest.mark.parametrize("width_in", [None, 3.4, 12.0])
def test_a_heat_map_has_the_width_of_its_picture(tmp_path: Path, width_in: float | None) -> None:
    text = f'{BRIEF}\n[[plot]]\nname = "1"\nkind = "grid"\nmetric = ["fct-mean"]\n'
    (part,) = conduct(plan_of([load_study(study_file(tmp_path, text))]), out=tmp_path / "out", jobs=2).parts
    with look(width_in=width_in, font_pt=8):
        figure = grid.grid(part.study, plots_of(part.study)[0], part.numbers).figure
    (axes,) = figure.axes
    place = axes.get_position()
    letters = 0.8 / figure.get_figwidth()
    assert place.x1 > 1 - 0.3 * letters
    assert place.x0 < 1.1 * letters
    (title, said) = figure.texts
    assert said.get_text() == "darker = more"
    assert not said.get_window_extent().overlaps(title.get_window_extent())
    around = axes.get_tightbbox()
    assert around is not None
    assert not said.get_window_extent().overlaps(around)


def test_theory_and_published_points_stand_beside_ours(tmp_path: Path) -> None:
    theory = """
[[plot.theory]]
formula = "swing-relay-buffer"
label = "2 D R"
x = "delay-us"
factor = 1000
with = { rate-gbps = "100G" }
[[plot.published]]
x = 0.2
group = "little"
value = 5000
"""
    text = STUDY.replace('metric = ["fct-mean", "short-p99"]\n', f'metric = "fct-mean"\n{theory}')
    conduct(plan_of([load_study(study_file(tmp_path, text))]), out=tmp_path / "out", jobs=2)
    shown = pl.read_csv(tmp_path / "out" / "1.csv", schema_overrides={"published": pl.Float64})
    curve = shown.filter(pl.col("group") == "2 D R")
    assert curve["mean"].to_list() == pytest.approx([float(x) * 25e6 for x in curve["x"]])
    published = shown.filter(pl.col("published").is_not_null())
    assert published.select("group", "x", "published").rows() == [("little", 0.2, 5000.0)]


def test_a_number_of_our_own_is_not_drawn_as_published(tmp_path: Path) -> None:
    ours = STUDY.replace('against = "little"\n', "").replace("value = -10", 'value = 80\norigin = "ours"')
    conduct(plan_of([load_study(study_file(tmp_path, ours))]), out=tmp_path / "out", jobs=2)
    shown = pl.read_csv(tmp_path / "out" / "1.csv", schema_overrides={"published": pl.Float64})
    assert shown["published"].null_count() == len(shown)


def test_what_a_study_does_not_run_has_no_bar(tmp_path: Path) -> None:
    text = STUDY.replace('label = "1 MB"', 'label = "1 MB"\nonly = { load = [0.2] }')
    text = text.replace('against = "little"\n', "").replace("value = -10", "value = 80")
    conduct(plan_of([load_study(study_file(tmp_path, text))]), out=tmp_path / "out", jobs=2)
    shown = pl.read_csv(tmp_path / "out" / "2.csv")
    assert shown.select("group", "x").rows() == [("large", 0.2), ("large", 0.4), ("little", 0.2)]


def test_published_numbers_of_claims_are_drawn_where_they_belong(tmp_path: Path) -> None:
    absolute = STUDY.replace('against = "little"\n', "").replace("value = -10", "value = 80")
    conduct(plan_of([load_study(study_file(tmp_path, absolute))]), out=tmp_path / "out", jobs=2)
    shown = pl.read_csv(tmp_path / "out" / "1.csv", schema_overrides={"published": pl.Float64})
    marked = shown.filter(pl.col("published").is_not_null()).select("metric", "group", "x", "published")
    assert marked.rows() == [("fct-mean", "large", 0.4, 80.0)]
    text = STUDY.replace('log = "y"', 'relative-to = "little"').replace('"fct-p99"\nx', '"fct-mean"\nx')
    conduct(plan_of([load_study(study_file(tmp_path, text))]), out=tmp_path / "relative", jobs=2)
    shown = pl.read_csv(tmp_path / "relative" / "2.csv", schema_overrides={"published": pl.Float64})
    marked = shown.filter(pl.col("published").is_not_null()).select("group", "x", "published")
    assert marked.rows() == [("large", 0.4, 0.9)]
    assert shown.filter(pl.col("group") == "little")["mean"].to_list() == [1.0, 1.0]


def test_papers_are_folders_and_figures_files_in_their_order(tmp_path: Path) -> None:
    folder = two_papers(tmp_path)
    assert [(paper.name, [file.stem for file in paper.files]) for paper in papers(folder)] == [
        ("alpha", ["2", "10"]),
        ("beta", ["1"]),
    ]
    (alpha,) = studies_of(["alpha", "10a"], folder)
    assert (alpha[0], [study.name for study in alpha[1]]) == ("alpha", ["10"])
    both = studies_of(["beta", "alpha", "2"], folder)
    assert [(name, [study.name for study in studies]) for name, studies in both] == [
        ("beta", ["1"]),
        ("alpha", ["2"]),
    ]
    with pytest.raises(package.UnknownNameError) as told:
        studies_of(["alhpa"], folder)
    assert str(told.value) == "'alhpa' is not a paper; allowed: alpha, beta; did you mean 'alpha'?"
    with pytest.raises(package.UnknownNameError) as told:
        studies_of(["beta", "1b"], folder)
    assert str(told.value) == ("'1b' is not a figure of beta; allowed: 1, 1a, 2, 3, 4, 5; did you mean '1'?")


@pytest.mark.long
def test_what_figures_share_is_run_once(tmp_path: Path, floodway: Command) -> None:
    two_papers(tmp_path)
    done = floodway("reproduce", "alpha", "beta", "--full")
    assert done.code == 0
    assert "alpha: 4 runs, " in done.err
    assert "so many flows" in done.out
    assert "report: out/reproduce/alpha/index.html" in done.out
    out = tmp_path / "out" / "reproduce"
    assert len(list((out / "alpha" / "runs").iterdir())) == 4
    assert {file.name for file in (out / "alpha").glob("*.png")} == {
        *(f"10-{plot}.png" for plot in "12345"),
        *(f"2-{plot}.png" for plot in "1345"),
        "2.png",
    }
    document = json.loads((out / "alpha" / "study.json").read_text(encoding="utf-8"))
    assert [study["name"] for study in document["studies"]] == ["2", "10"]
    again = floodway("reproduce", "alpha", "--status")
    assert again.out == "out/reproduce/alpha: 4 runs: 4 done, 0 failed, 0 to do\n"
    told = floodway("reproduce", "alpha", "11")
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith("error: '11' is not a figure of alpha; allowed: 1, 2, ")


def test_studies_are_listed_with_what_they_show(tmp_path: Path, floodway: Command) -> None:
    folder = two_papers(tmp_path)
    (folder / "alone.toml").write_text(STUDY.replace('"small.toml"', '"../small.toml"'), encoding="utf-8")
    (folder / "beta" / "3.toml").write_text("title = 1", encoding="utf-8")
    found = ready_studies(folder)
    assert [file.relative_to(folder).as_posix() for file, _, _ in found] == [
        "alone.toml",
        "alpha/2.toml",
        "alpha/10.toml",
        "beta/1.toml",
        "beta/3.toml",
    ]
    listed = floodway("list", "studies")
    assert listed.code == 0
    assert "studies/alpha/10.toml  Figure 10" in listed.out
    assert "cannot be read" in listed.out
    assert json.loads(floodway("list", "studies", "--json").out)[0]["title"] == "Pools"


def test_two_variants_of_a_picture_have_different_colours(tmp_path: Path) -> None:
    """Even beyond the number of colours, which then come again with another line."""
    names = [f"v{number}" for number in range(12)]
    variants = "".join(f'[[variant]]\nname = "{name}"\n' for name in names)
    shown = "".join(
        f'[[plot]]\nname = "p{first}"\nkind = "bars"\nmetric = "fct-mean"\nvariants = {json.dumps(own)}\n'
        for first, own in ((0, names[:2] + names[6:9]), (1, names[5:12]), (2, names[::5]))
    )
    study = load_study(study_file(tmp_path, f'title = "T"\nscenario = "small.toml"\n{variants}{shown}'))
    for plot in plots_of(study):
        assert len({drawing.colour_in(study, name) for name in plot.variants}) == len(plot.variants)
    assert [drawing.colour_in(study, name) for name in names[:2]] == list(COLOURS[:2])


@pytest.mark.parametrize("log", ["", 'log = "x"\n'])
def test_a_line_of_a_single_point_is_in_the_middle_of_its_picture(tmp_path: Path, log: str) -> None:
    text = f'{BRIEF}[[plot]]\nname = "1"\nkind = "lines"\nmetric = "fct-mean"\n{log}'
    conducted = conduct(
        plan_of([load_study(study_file(tmp_path, text))], quick=True), out=tmp_path / "out", jobs=2
    )
    (part,) = conducted.parts
    (axes,) = drawing.lines(part.study, plots_of(part.study)[0], part.numbers).figure.axes
    low, high = axes.get_xlim()
    assert 0 < low < 0.2 < high < 1
