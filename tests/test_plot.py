"""Pictures: their content, data and bytes, and the command that draws them."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING

import matplotlib as mpl
import polars as pl
import pytest
from PIL import Image

import floodway as package
from floodway import plot
from floodway.plot.axes import axes_of, bytes_of, plain_style, scale_axes
from floodway.results.metrics import METRICS, chosen_objects, in_time, metric_of, natural
from made_up import made_up_flows, made_up_result
from scenarios import LISTED, SMALL, written

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from command import Command, Done
    from floodway.results import Result


def source(result: Result, label: str = "one") -> plot.Source:
    return plot.Source(label=label, results=(result,))


def with_series(rows: Sequence[tuple[str, str, float, float]], *, bucket_us: float = 10.0) -> Result:
    """Make up a result with these rows of series: object, metric, time, value."""
    series = pl.DataFrame(rows, schema=["object", "metric", "time_us", "value"], orient="row")
    result = made_up_result()
    return replace(result, series=series.with_columns(kind=pl.lit("link"), bucket_us=pl.lit(bucket_us)))


def labels(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def refused(done: Done) -> str:
    """The only line of a command that was refused."""
    assert (done.code, done.out) == (2, "")
    (line,) = done.err.splitlines()
    assert line.startswith("error: ")
    return line.removeprefix("error: ")


# Completion times and slowdown


def test_the_curve_of_completion_times_ends_at_the_share_that_finished() -> None:
    drawn = plot.fct([source(made_up_result([4.0, 1.0, None, None]))])
    assert drawn.data.rows() == [
        ("one", "load", 1.0, 0.0),
        ("one", "load", 1.0, 0.25),
        ("one", "load", 4.0, 0.5),
    ]
    assert labels(drawn.figure) == ["one (2 of 4 finished)"]


def test_a_curve_of_many_flows_keeps_its_ends_and_its_tail() -> None:
    many = 50_000
    drawn = plot.fct([source(made_up_result([float(n + 1) for n in range(many)]))]).data
    assert len(drawn) < 4100
    assert drawn["share"].to_list()[-1000:] == [(n + 1) / many for n in range(many - 1000, many)]
    exact = drawn.slice(1).select((pl.col("fct_us") / many - pl.col("share")).abs().max()).item()
    assert exact < 1e-12


def two_workloads() -> Result:
    flows = pl.concat(
        [
            made_up_flows([1.0, 2.0]),
            made_up_flows([8.0, None]).with_columns(workload=pl.lit("bulk")),
        ]
    )
    return replace(made_up_result(), flows=flows)


def test_workloads_of_one_result_and_results_are_distinguished() -> None:
    one, two = source(two_workloads(), "a"), source(two_workloads(), "b")
    assert labels(plot.fct([one]).figure) == ["load", "bulk (1 of 2 finished)"]
    assert labels(plot.fct([one], workloads=["load"]).figure) == ["a"]
    assert len(set(labels(plot.fct([one, two]).figure))) == 4
    assert labels(plot.fct([one, two], workloads=None).figure) == [
        "a (3 of 4 finished)",
        "b (3 of 4 finished)",
    ]
    lines = plot.fct([one, two]).figure.axes[0].lines
    looks = {(line.get_color(), str(line.get_linestyle())) for line in lines if line.get_marker() != "x"}
    assert len(looks) == 4


def test_an_unknown_workload_is_reported_with_the_nearest() -> None:
    with pytest.raises(package.PlotError, match=r"'laod' is not a workload .*did you mean 'load'") as caught:
        plot.slowdown([source(made_up_result())], workloads=["laod"])
    assert (caught.value.key, caught.value.nearest) == ("workload", "load")


def test_slowdown_that_is_not_reached_is_empty_and_said() -> None:
    times = [*[2.0] * 5, *[3.0, 3.0, 3.0, None, None]]
    drawn = plot.slowdown([source(made_up_result(times))])
    assert drawn.data.select("flows", "p50", "p99").rows() == [(5, 2.0, 2.0), (5, 3.0, None)]
    assert labels(drawn.figure) == ["one (p99 of 1 of 2 sizes not reached)"]


def test_flows_of_one_size_are_one_point() -> None:
    result = replace(made_up_result(), flows=made_up_flows([2.0] * 40, sizes=[1000] * 40))
    drawn = plot.slowdown([source(result)])
    assert drawn.data.select("from_bytes", "to_bytes", "flows").rows() == [(1000, 1000, 40)]


def test_medians_of_many_curves_have_a_panel_of_their_own() -> None:
    few, many = ([source(made_up_result(), str(n)) for n in range(count)] for count in (3, 8))
    assert len(plot.slowdown(few).figure.axes) == 1
    figure = plot.slowdown(many).figure
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["p50", "p99"]
    assert labels(figure) == [str(n) for n in range(8)]
    looks = {(line.get_color(), line.get_marker()) for line in figure.axes[0].lines}
    assert len(looks) == 8


@pytest.mark.parametrize("draw", [plot.fct, plot.slowdown])
def test_without_a_finished_flow_there_is_nothing_to_show(draw: Callable[..., plot.Drawing]) -> None:
    result = made_up_result()
    unmeasured = source(replace(result, flows=result.flows.with_columns(measured=pl.lit(value=False))))
    with pytest.raises(package.PlotError, match="to show"):
        draw([source(made_up_result([None, None]))])
    with pytest.raises(package.PlotError, match="no measured flow to show"):
        draw([unmeasured])


# Metrics in time


ROWS = [
    ("a-b: a>b", "tx_bytes", 0.0, 12_500.0),
    ("a-b: a>b", "tx_bytes", 10.0, 0.0),
    ("a-b: a>b", "queue_mean_bytes", 0.0, 100.0),
    ("a-b: a>b", "queue_mean_bytes", 10.0, 300.0),
    ("a-b: a>b", "queue_max_bytes", 0.0, 700.0),
    ("a-b: a>b", "queue_max_bytes", 10.0, 400.0),
    ("a-b: a>b", "paused_us", 0.0, 0.0),
    ("a-b: a>b", "paused_us", 10.0, 5.0),
    ("b-c#2: b>c", "tx_bytes", 0.0, 1250.0),
]


@pytest.mark.parametrize(
    ("name", "fine", "whole"),
    [
        ("throughput", [10.0, 0.0], 5.0),
        ("utilisation", [25.0, 0.0], 12.5),
        ("queue", [100.0, 300.0], 200.0),
        ("queue-max", [700.0, 400.0], 700.0),
        ("paused", [0.0, 50.0], 25.0),
        ("paused_us", [0.0, 5.0], 5.0),
        ("tx", [12_500.0, 0.0], 12_500.0),
    ],
)
def test_a_metric_is_that_of_the_buckets_taken_together(name: str, fine: list[float], whole: float) -> None:
    resolved = [
        {"kind": "direction", "objects": ["a>b"], "settings": [{"key": "rate", "value": "40G"}]},
    ]
    result = with_series(ROWS)
    result = replace(result, run=replace(result.run, scenario={"mtu": "1000B", "resolved": resolved}))
    metric = metric_of(name, [result.series])
    apart = in_time(result, metric, objects=["a-b: a>b"], points=2)
    together = in_time(result, metric, objects=["a-b: a>b"], points=1)
    assert apart["value"].to_list() == fine
    assert together.select("time_us", "span_us", "value").rows() == [(0.0, 20.0, whole)]


def test_an_object_whose_rate_is_not_known_has_no_utilisation() -> None:
    result = with_series(ROWS)
    metric = metric_of("utilisation", [result.series])
    assert in_time(result, metric, objects=["a-b: a>b"], points=2)["value"].to_list() == [None, None]
    with pytest.raises(package.PlotError, match="no object that is shown has a utilisation"):
        plot.heatmap([source(result)])


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("a-b", ["a-b: a>b"]),
        ("b>*", ["b-c#2: b>c"]),
        ("b-c#2: b>c", ["b-c#2: b>c"]),
        ("*", ["a-b: a>b", "b-c#2: b>c"]),
    ],
)
def test_patterns_name_links_and_directions(pattern: str, names: list[str]) -> None:
    assert chosen_objects([pattern], [with_series(ROWS).series]) == names


def test_unknown_metrics_and_objects_are_reported_with_the_nearest() -> None:
    kept = [with_series(ROWS).series]
    with pytest.raises(package.PlotError, match=r"'qeue' is not a metric .*did you mean 'queue'") as caught:
        metric_of("qeue", kept)
    assert "buffer" not in caught.value.allowed
    assert "paused_us" in caught.value.allowed
    with pytest.raises(package.PlotError, match=r"'a>d' is not .*did you mean 'a>b'") as caught:
        chosen_objects(["a>b", "a>d"], kept)
    assert (caught.value.key, caught.value.given) == ("object", "a>d")


def test_every_metric_of_a_run_can_be_drawn() -> None:
    result = package.run(package.Scenario.from_toml(name="small", text=SMALL))
    for metric in METRICS:
        drawn = plot.series([source(result)], metric=metric.name)
        assert drawn.data.columns[-1] == metric.column
        assert drawn.data[metric.column].null_count() == 0
    assert plot.heatmap([source(result)]).data["utilisation_percent"].max() > 30  # type: ignore[operator]


def test_panels_are_of_objects_and_of_results() -> None:
    one, two = source(with_series(ROWS), "1"), source(with_series(ROWS[:-1]), "2")
    titles = [axes.get_title(loc="left") for axes in plot.series([one, two]).figure.axes]
    assert titles == ["1", "2"]
    shown = plot.series([one, two], objects=["*"]).figure.axes
    assert [axes.get_title(loc="left") for axes in shown][:2] == ["1, a-b: a>b", "2, a-b: a>b"]
    assert [text.get_text() for axes in shown for text in axes.texts] == ["not watched"]


def test_too_many_panels_are_refused() -> None:
    rows = [(f"l{n}: a>b", "tx_bytes", 0.0, 1.0) for n in range(40)]
    with pytest.raises(package.PlotError, match="40 objects are too many panels"):
        plot.series([source(with_series(rows))], objects=["*"])
    assert len(plot.series([source(with_series(rows))]).figure.axes) == 4


def test_a_heatmap_orders_objects_by_when_congestion_reached_them() -> None:
    onsets = {"p1: a>b": 30.0, "p10: b>c": 10.0, "p2: c>d": 20.0, "p3: d>e": None}
    rows = [
        (name, "queue_max_bytes", time, 0.0 if onset is None or time < onset else 1000.0)
        for name, onset in onsets.items()
        for time in (0.0, 10.0, 20.0, 30.0)
    ]
    axes = plot.heatmap([source(with_series(rows))], metric="queue-max").figure.axes[0]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [
        "p10: b>c",
        "p2: c>d",
        "p1: a>b",
        "p3: d>e",
    ]
    assert sorted(onsets, key=natural) == ["p1: a>b", "p2: c>d", "p3: d>e", "p10: b>c"]


def test_a_heatmap_of_many_objects_keeps_the_largest_and_says_so() -> None:
    rows = [(f"l{n}: a>b", "tx_bytes", 0.0, float(n)) for n in range(100)]
    drawn = plot.heatmap([source(with_series(rows))], metric="throughput")
    assert drawn.figure.get_suptitle() == "one\nThroughput, the 64 largest of 100 objects"
    assert len(drawn.figure.axes[0].get_yticklabels()) == 64
    assert drawn.data["object"].n_unique() == 100


# Files


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, and a comparison with two seeds."""
    root = tmp_path_factory.mktemp("results")
    scenario = package.Scenario.from_toml(name="small", text=SMALL)
    package.run(scenario).save(root / "one")
    package.run(scenario.with_seed(2)).save(root / "two")
    file = written(root, SMALL)
    variants = package.vary(file, [("mtu", ["1000B", "4096B"])])
    package.compare(variants, seeds=2, out=root / "pair")
    return root


@pytest.mark.parametrize("kind", ["fct", "slowdown", "series", "heatmap", "ports"])
@pytest.mark.parametrize("form", plot.FORMATS)
def test_the_same_results_give_the_same_bytes_in_every_format(
    folders: Path, tmp_path: Path, kind: str, form: plot.Format
) -> None:
    draw = getattr(plot, kind)
    sources = plot.sources_of([folders / "one", folders / "two"])
    first = bytes_of(draw(sources).figure, form)
    with mpl.rc_context({"axes.facecolor": "black", "font.size": 20}):
        plot.save(draw(sources), [tmp_path / f"a.{form}", tmp_path / "a.csv"])
    assert (tmp_path / f"a.{form}").read_bytes() == first, "whatever anybody's settings are"
    assert b"2026" not in first or form != "svg"
    if form == "svg":
        assert ET.fromstring(first).tag.endswith("svg")  # noqa: S314 (our own)
    elif form == "pdf":
        assert first.startswith(b"%PDF-")
        assert b"%%EOF" in first
        assert b"CreationDate" not in first
    else:
        with Image.open(BytesIO(first)) as image:
            assert image.size[0] > 1000
            assert "Software" not in image.info


def test_names_have_no_meaning_as_signs() -> None:
    odd = source(two_workloads(), "_$x^{$ \n\x1b" + "long" * 40)
    figure = plot.fct([odd, source(made_up_result(), "$\\frac$")], workloads=None).figure
    assert len(labels(figure)) == 2
    assert bytes_of(figure, "png").startswith(b"\x89PNG")


def test_the_verb_writes_a_picture_and_its_data(floodway: Command, folders: Path) -> None:
    done = floodway("plot", "fct", folders / "one", folders / "two")
    out = floodway.folder / "out" / "plot" / "one-two"
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == ["out/plot/one-two/fct.png", "out/plot/one-two/fct.csv"]
    data = pl.read_csv(out / "fct.csv")
    assert data.columns == ["result", "workload", "fct_us", "share"]
    expected = package.read(folders / "two").flows.filter("measured")["fct_us"].sort()
    assert data.filter(pl.col("result") == "two")["fct_us"].to_list()[1:] == expected.to_list()
    assert sorted(file.name for file in out.iterdir()) == ["fct.csv", "fct.png"]


@pytest.mark.long
def test_the_verb_reads_the_variants_of_a_comparison(floodway: Command, folders: Path) -> None:
    assert floodway("plot", "slowdown", folders / "pair", "--quiet", "--csv").out == ""
    data = pl.read_csv(floodway.folder / "out" / "plot" / "pair" / "slowdown.csv")
    assert data["result"].unique(maintain_order=True).to_list() == ["mtu=1000B", "mtu=4096B"]
    runs = [package.read(folders / "pair" / f"mtu=1000B/seed-{seed}") for seed in (1, 2)]
    measured = sum(result.flows["measured"].sum() for result in runs)
    assert data.filter(pl.col("result") == "mtu=1000B")["flows"].sum() == measured
    done = floodway("plot", "series", folders / "pair", folders / "one", "--out", "figures")
    assert done.code == 0
    assert done.err.splitlines()[0] == "warning: pair: mtu=1000B: the first of 2 seeds is shown, 1"
    data = pl.read_csv(floodway.folder / "figures" / "series-throughput.csv")
    names = ["pair: mtu=1000B", "pair: mtu=4096B", "one"]
    assert data["result"].unique(maintain_order=True).to_list() == names


def test_the_page_s_pictures_are_those_of_the_verb(floodway: Command, folders: Path) -> None:
    given = ("--out", "fct.png", "--workload", "rpc", "--width", "5")
    assert floodway("plot", "fct", folders / "pair", *given).code == 0
    assert (floodway.folder / "fct.png").read_bytes() == (folders / "pair" / "fct.png").read_bytes()


def test_out_may_be_the_picture_itself(floodway: Command, folders: Path) -> None:
    given = ("plot", "heatmap", folders / "one", "--metric", "queue", "--out", "deep/spread.svg")
    assert floodway(*given).out.splitlines() == ["deep/spread.svg", "deep/spread.csv"]
    assert (floodway.folder / "deep" / "spread.svg").read_bytes().startswith(b"<?xml")
    assert (
        refused(floodway(*given))
        == "deep/spread.svg: is there already; --force, in Python force=True, replaces it"
    )
    assert floodway(*given, "--force").code == 0
    line = refused(floodway(*given, "--force", "--format", "pdf"))
    assert "is pdf, and --out ends with .svg" in line


def test_nothing_is_written_where_there_is_nothing_to_show(floodway: Command) -> None:
    made_up_result([None]).save(floodway.folder / "none")
    line = refused(floodway("plot", "fct", "none", "--out", "figures"))
    assert line == "no measured flow has finished, so there is no completion time to show"
    assert not (floodway.folder / "figures").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fct", "{}/oen"), "{}/oen: no such folder; did you mean {}/one?"),
        (("fct", "{}/nothing/at/all"), "{}/nothing/at/all: no such folder"),
        (("fct", "{}/small.toml"), "{}/small.toml: is not a folder; give the folder"),
        (("fct", "{}"), "{}: holds no results: it has neither run.json (of a run) nor compare.json"),
        (("fct", "{}"), "folders inside that do: one, two"),
        (("fct", "{}/one", "{}/one"), "one: is given twice"),
        (("fct", "{}/one", "--metric", "queue"), "does not apply to fct; only to series and heatmap"),
        (("heatmap", "{}/one", "--log", "x"), "does not apply to heatmap; only to fct, slowdown and series"),
        (("fct", "{}/one", "--title", "a\x1bb"), "--title: it has the character U+001B, which cannot be"),
        (("heatmap", "{}/one", "--workload", "rpc"), "does not apply to heatmap; only to fct"),
        (("series", "{}/one", "--metric", "qeue"), "'qeue' is not a metric of these results"),
        (("series", "{}/one", "--object", "s1>s9"), "did you mean 's1>s2'?"),
        (("fct", "{}/one", "--workload", "rcp"), "did you mean 'rpc'?"),
        (("fct", "{}/one", "--out", "{}/small.toml/x"), "cannot be written: Not a directory"),
        (("fct",), "missing DIR"),
        (("pie", "{}/one"), "'pie' is not one of"),
    ],
)
def test_what_cannot_be_drawn_is_reported_in_a_line(
    floodway: Command, folders: Path, arguments: tuple[str, ...], message: str
) -> None:
    filled = [argument.replace("{}", str(folders)) for argument in arguments]
    assert message.replace("{}", str(folders)) in refused(floodway("plot", *filled))


def test_a_comparison_of_which_no_run_has_ended_is_reported(floodway: Command) -> None:
    folder = floodway.folder / "cut"
    folder.mkdir()
    (folder / "compare.json").write_text(json.dumps({"complete": False, "runs": []}), encoding="utf-8")
    assert "is a comparison of which no run has ended" in refused(floodway("plot", "fct", folder))
    (folder / "compare.json").write_text("[]", encoding="utf-8")
    assert "is not one that this version can read" in refused(floodway("plot", "fct", folder))


def test_a_run_that_ended_early_is_reported(floodway: Command, tmp_path: Path) -> None:
    result = package.run(
        package.Scenario.from_toml(name="cut", text=LISTED), on_progress=lambda progress: progress.stop()
    )
    kept = replace(
        result, run=replace(result.run, verdicts={**result.run.verdicts, "stopped": "interrupted"})
    )
    kept.save(tmp_path / "cut")
    done = floodway("plot", "series", "cut")
    assert done.err == "warning: cut, seed 1: the run ended early: interrupted\n"


def same(count: int) -> list[plot.Source]:
    """So many results that are the same."""
    return [source(made_up_result([float(n + 1) for n in range(100)]), f"r{n}") for n in range(count)]


@pytest.mark.parametrize("note", [False, True])
def test_the_label_of_several_panels_stands_in_their_middle(note: bool) -> None:  # noqa: FBT001 (a parameter)
    with plot.look(note=note, log=("x", "y")):
        figure = plot.slowdown(same(4)).figure
        bytes_of(figure, "png")
    (label,) = [text for text in figure.texts if text.get_text() == "slowdown"]
    upper, lower = (axes.get_position() for axes in figure.axes)
    assert label.get_position()[1] == pytest.approx((lower.y0 + upper.y1) / 2, abs=0.003)


def test_curves_of_slowdown_that_coincide_can_all_be_seen() -> None:
    for count in (2, 4, 8):
        first = plot.slowdown(same(count)).figure.axes[0].lines
        medians = [line for line in first if line.get_linestyle() == "-"]
        assert len(medians) == count
        sizes = [line.get_markersize() for line in medians]
        assert sizes == sorted(set(sizes), reverse=True)
        assert {line.get_markerfacecolor() for line in medians} == {"white"}
        assert len({line.get_linewidth() for line in medians}) == 1


def test_slowdown_of_three_seeds_has_means_with_their_intervals() -> None:
    seeds = tuple(made_up_result([float(n + 1 + more) for n in range(100)]) for more in (0, 1, 2))
    drawn = plot.slowdown([plot.Source(label="three", results=seeds)])
    single = plot.slowdown([plot.Source(label="one", results=seeds[1:2])])
    assert drawn.data["p50"].to_list() == single.data["p50"].to_list()
    # Of 1, 2, 3 above the same number: 4.303 times 1 over the root of 3.
    assert drawn.data["p50_reach"].to_list() == pytest.approx([2.484] * len(drawn.data), abs=1e-3)
    assert "95 % confidence intervals" in drawn.note
    assert single.data["p50_reach"].null_count() == len(single.data)


def labels_of(axis: Axis) -> list[str]:
    """The numbers at an axis, in their order, where they can be seen."""
    low, high = sorted(axis.get_view_interval())
    ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
    placed = sorted((tick.get_loc(), tick.label1.get_text()) for tick in ticks)
    return [text for at, text in placed if low <= at <= high and text]


@pytest.mark.parametrize(
    ("times", "numbers"),
    [
        ((115.0, 175.0), ["120", "130", "140", "150", "160", "170"]),
        ((120.0, 900.0), ["200", "500"]),
        ((3.0, 60.0), ["5", "10", "20", "50"]),
        ((15_000.0, 90_000.0), ["20,000", "50,000"]),
        ((3.0, 60_000.0), ["10", "100", "1000", "10,000"]),
        ((3.0, 6e7), [f"$\\mathdefault{{10^{{{power}}}}}$" for power in range(1, 8)]),
    ],
)
def test_numbers_of_logarithmic_axes_are_written_out(times: tuple[float, float], numbers: list[str]) -> None:
    with plain_style():
        figure, axes = axes_of("time", "share", title="")
        axes.plot(times, [0.1, 0.9])
        scale_axes(axes, "x")
        axes.margins(x=0)
        bytes_of(figure, "png")
    assert labels_of(axes.xaxis) == numbers


@pytest.mark.parametrize(
    ("draw", "given", "said"),
    [
        ("plot_ports", {"from_us": float("nan")}, "from: nan is not a time from 0 us on"),
        ("plot_region", {"to_us": float("nan")}, "to: nan is not a time from 0 us on"),
        ("plot_shares", {"from_us": -1.0}, "from: -1 is not a time from 0 us on"),
        ("plot_shares", {"bucket_us": float("nan")}, "nan us is not a width above 0"),
        ("plot_shares", {"bucket_us": float("inf")}, "inf us is not a width above 0"),
    ],
)
def test_an_invalid_time_is_named(draw: str, given: dict[str, float], said: str) -> None:
    with pytest.raises(package.PlotError, match=f"^{said}$"):
        getattr(made_up_result(), draw)(**given)


def test_a_title_has_no_characters_that_cannot_be_shown() -> None:
    with (
        pytest.raises(
            package.PlotError, match=r"^title: it has the character U\+001B, which cannot be shown$"
        ),
        plot.look(title="a\x1b[31mb"),
    ):
        pass


def test_results_are_called_what_labels_say(floodway: Command, folders: Path) -> None:
    given = ("plot", "slowdown", folders / "pair", "--csv", "--out", "named.png")
    done = floodway(*given, "--label", "one", "--label", "two")
    assert done.code == 0, done.err
    data = pl.read_csv(floodway.folder / "named.csv")
    assert data["result"].unique(maintain_order=True).to_list() == ["one", "two"]
    wrong = floodway(*given, "--label", "one", "--force")
    assert wrong.code == 2
    assert "1 name for " in wrong.err


def test_the_family_of_letters_is_the_caller_s() -> None:
    with mpl.rc_context({"font.family": ["monospace"]}):
        figure = plot.fct([source(made_up_result())]).figure
    assert figure.axes[0].title.get_fontfamily() == ["monospace"]
    assert plot.fct([source(made_up_result())]).figure.axes[0].title.get_fontfamily() == ["sans-serif"]


def test_a_sweep_of_a_scenario_without_a_collective_says_that_it_has_none(
    tmp_path: Path, floodway: Command
) -> None:
    done = floodway("plot", "busbw", written(tmp_path, SMALL))
    assert done.code == 2
    assert "small has no workload with a collective, whose sizes it would run" in done.err
