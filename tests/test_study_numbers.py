"""Numbers, intervals and pictures of studies, with claims and without."""

from __future__ import annotations

import json
import re
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from floodway import plot
from floodway.results.interval import half_width, ratio_half_width, student_t
from floodway.study import Conducted, conduct, load_study, plan_of
from floodway_lab.study.model import plots_of
from floodway_lab.study.pictures import drawing
from floodway_lab.study.report.tidy import tidy
from studies import BRIEF, study_file

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command

#: Two variants at two points, without claims.
BARE = BRIEF[: BRIEF.index("[metric.short-p99]")]
PICTURES = """
[[plot]]
name = "1"
kind = "lines"
metric = "fct-mean"

[[plot]]
name = "2"
kind = "bars"
metric = "fct-p99"
x = "load"
"""
#: The quantile of Student's t for three seeds.
T_OF_3 = 4.302653


@pytest.fixture(scope="module")
def three_seeds(tmp_path_factory: pytest.TempPathFactory) -> Conducted:
    """A study without claims, with three seeds."""
    folder = tmp_path_factory.mktemp("three")
    file = study_file(folder, BARE.replace("seeds = 2", "seeds = 3") + PICTURES)
    plan = plan_of([load_study(file)])
    return conduct(plan, out=folder / "out", jobs=2, formats=("svg", "pdf"))


def test_every_number_is_in_a_tidy_table(three_seeds: Conducted) -> None:
    folder = three_seeds.folder
    table = pl.read_parquet(folder / "numbers.parquet")
    assert table.columns == [
        *("study", "variant", "load", "seed", "metric", "unit", "value", "unfinished", "flows"),
        *("run", "scenario", "digest", "lost", "deadlocked", "failure"),
    ]
    # Two variants, two points, three seeds, two metrics.
    assert len(table) == 2 * 2 * 3 * 2
    assert table.select("variant", "load", "seed", "metric").n_unique() == len(table)
    assert table["load"].dtype == pl.Float64
    assert pl.read_csv(folder / "numbers.csv")["value"].to_list() == table["value"].to_list()
    document = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    known = {
        (run["variant"], float(run["at"]["load"]), run["seed"]): run["metrics"]["fct-mean"]["value"]
        for run in document["studies"][0]["runs"]
    }
    means = table.filter(pl.col("metric") == "fct-mean")
    assert {(v, load, seed): value for v, load, seed, value in means.select(
        "variant", "load", "seed", "value"
    ).iter_rows()} == known  # fmt: skip
    p99 = table.filter(pl.col("metric") == "fct-p99")
    assert p99["flows"].min() > 30  # type: ignore[operator]


def test_error_bars_are_confidence_intervals_and_the_captions_say_so(three_seeds: Conducted) -> None:
    folder = three_seeds.folder
    drawn = pl.read_csv(folder / "1.csv")
    numbers = tidy(three_seeds.parts[0]).filter(pl.col("metric") == "fct-mean")
    for group, x, mean, low, high in drawn.select("group", "x", "mean", "ci95_low", "ci95_high").iter_rows():
        values = numbers.filter(pl.col("variant") == group, pl.col("load") == x)["value"].to_list()
        reach = T_OF_3 * stdev(values) / 3**0.5
        assert (mean, low, high) == pytest.approx(
            (fmean(values), fmean(values) - reach, fmean(values) + reach)
        )
    said = "Error bars: 95 % confidence intervals of the mean, by Student's t over 3 seeds."
    report = (folder / "report.md").read_text(encoding="utf-8")
    assert report.count(said) == 2
    (part,) = three_seeds.parts
    figure = drawing.bars(part.study, plots_of(part.study)[1], part.numbers).figure
    (legend,) = figure.legends
    note = legend.get_title().get_text().replace("\n", " ")
    assert said in note
    assert re.search(r"p99 of each run is of [0-9]+ to [0-9]+ flows: fewer than 10 lie above it\.", note)


def test_too_few_seeds_have_no_error_bars(three_seeds: Conducted, tmp_path: Path) -> None:
    text = BARE.replace("seeds = 2", "seeds = 1") + PICTURES
    file = study_file(tmp_path, text)
    conducted = conduct(plan_of([load_study(file)], seeds=2, quick=True), out=tmp_path / "out", jobs=2)
    report = (conducted.folder / "report.md").read_text(encoding="utf-8")
    assert "No error bars: too few seeds (2; a confidence interval needs 3)." in report
    assert "mean over 2 seeds: too few for a confidence interval" in report
    drawn = pl.read_csv(conducted.folder / "1.csv")
    assert drawn["ci95_low"].null_count() == len(drawn)
    assert pl.read_csv(three_seeds.folder / "1.csv")["ci95_low"].null_count() == 0


def test_pictures_come_in_the_formats_that_are_asked_for(three_seeds: Conducted) -> None:
    for name in ("1", "2"):
        assert (three_seeds.folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (three_seeds.folder / f"{name}.pdf").read_bytes().startswith(b"%PDF")
        assert b"<svg" in (three_seeds.folder / f"{name}.svg").read_bytes()[:1000]
    report = (three_seeds.folder / "report.md").read_text(encoding="utf-8")
    assert "([svg](1.svg), [pdf](1.pdf), [data](1.csv))" in report


def test_a_study_without_claims_shows_its_numbers(three_seeds: Conducted) -> None:
    report = (three_seeds.folder / "report.md").read_text(encoding="utf-8")
    assert "| variant | load | mean completion time, us | p99 completion time, us |" in report
    rows = re.findall(r"^\| (10 MB|1 MB) \| (0\.2|0\.4) \| ([0-9.]+) ± [0-9.]+ \|", report, re.MULTILINE)
    means = [
        fmean(own["value"].to_list())
        for own in tidy(three_seeds.parts[0])
        .filter(pl.col("metric") == "fct-mean")
        .partition_by("variant", "load", maintain_order=True)
    ]
    assert [float(row[2]) for row in rows] == pytest.approx(means, rel=1e-3)
    # A p99 of few flows has their number beside it.
    assert re.search(r" ± [0-9.]+ †[0-9]{2} \|", report)
    page = (three_seeds.folder / "index.html").read_text(encoding="utf-8")
    assert "<h3>Numbers</h3>" in page


def test_the_terminal_shows_the_usual_numbers_of_a_study_that_names_none(
    tmp_path: Path, floodway: Command
) -> None:
    study_file(tmp_path, BARE.replace("seeds = 2", "seeds = 1"))
    done = floodway("study", "pools.toml", "--out", "out", "--quick", "--full")
    assert done.code == 0
    for head in ("flows", "goodput", "end of the last flow", "p99 slowdown", "packets dropped"):
        assert head in " ".join(done.out.split())
    assert "mean over 1 seed: too few for a confidence interval" in done.out
    assert re.search(r"^ +10 MB +0\.2 +[0-9,.]+ ", done.out, re.MULTILINE)
    status = floodway("study", "pools.toml", "--out", "out", "--status")
    assert status.out.splitlines()[0] == "out: 4 runs: 2 done, 0 failed, 2 to do"
    assert re.search(r"^ +study +variant +done +failed +to do *$", status.out, re.MULTILINE)
    assert re.search(r"^ +pools +large +1 +1 *$", status.out, re.MULTILINE)
    assert re.search(r"^ +little +1 +1 *$", status.out, re.MULTILINE)


def test_a_picture_has_the_width_letters_title_and_axes_that_are_chosen(three_seeds: Conducted) -> None:
    (part,) = three_seeds.parts
    first, second = plots_of(part.study)
    with plot.look(width_in=3.4, font_pt=8, title="Ours", log=("y",)):
        lines = drawing.lines(part.study, first, part.numbers).figure
        bars = drawing.bars(part.study, second, part.numbers).figure
    for figure in (lines, bars):
        assert figure.get_figwidth() == pytest.approx(3.4)
        (axes,) = figure.axes
        assert axes.get_yscale() == "log"
        assert axes.yaxis.label.get_fontsize() == pytest.approx(8.0)
        title: Any = figure.get_suptitle()
        assert title == "Ours"
    usual = drawing.lines(part.study, first, part.numbers).figure
    assert usual.get_figwidth() == 7.0
    assert usual.axes[0].get_yscale() == "linear"
    with plot.look(title="", note=False):
        bare = drawing.lines(part.study, first, part.numbers).figure
    assert bare.get_suptitle() == ""
    assert "Error bars" not in bare.legends[0].get_title().get_text()


def test_the_report_says_behind_pictures_and_numbers_what_was_simulated(three_seeds: Conducted) -> None:
    report = (three_seeds.folder / "report.md").read_text(encoding="utf-8")
    assert report.index("![1](1.png)") < report.index("### Numbers") < report.index("### Simulated")
    assert "| topology | dumbbell: left 2, right 2, rate 100G, delay 1us |" in report
    assert "| seeds | 1 to 3 |" in report
    # What differs says by what: thresholds by variant, load by point.
    assert re.search(
        r"\| flow control \| 10 MB: pfc.*threshold 2\.5 MB.*; 1 MB: pfc.*threshold 250 KB", report
    )
    assert re.search(r"\| traffic \| load 0\.2: rpc: .*; load 0\.4: rpc: ", report)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--width", "1"), "--width: 1 is not between 2 and 40"),
        (("--font-size", "3"), "--font-size: 3 is not between 4 and 40"),
        (
            ("--width", "3", "--font-size", "20"),
            "--width: 3 is too narrow for letters of 20 points; at least 6",
        ),
        (("--format", "jpg"), "--format: 'jpg' is not a format; allowed: png, pdf, svg; did you mean 'png'?"),
        (("--log", "z"), "--log: 'z' is not an axis; allowed: x, y, none"),
    ],
)
def test_a_look_that_cannot_be_is_refused_before_anything_runs(
    tmp_path: Path, floodway: Command, options: tuple[str, ...], said: str
) -> None:
    study_file(tmp_path, BARE)
    done = floodway("study", "pools.toml", "--out", "out", *options)
    assert (done.code, done.out, done.err) == (2, "", f"error: invalid value for {said}\n")
    assert not (tmp_path / "out").exists()


def test_intervals_are_those_of_student_s_t() -> None:
    # Tables of the distribution: 95 % in the middle.
    tabled = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 10: 2.228, 30: 2.042, 120: 1.980}
    for freedom, quantile in tabled.items():
        assert student_t(freedom) == pytest.approx(quantile, abs=5e-4)
    assert half_width([1.0, 2.0]) is None
    assert half_width([1.0, 2.0, 3.0]) == pytest.approx(T_OF_3 / 3**0.5)
    # What is proportional in every seed has a ratio without chance, however much its parts vary.
    assert ratio_half_width([2.0, 4.0, 8.0], [1.0, 2.0, 4.0]) == pytest.approx(0.0)
    assert half_width([2.0, 4.0, 8.0]) > 1.0  # type: ignore[operator]
