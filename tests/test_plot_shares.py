"""Pictures of flows' shares of a link."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from matplotlib.colors import to_hex

import floodway as package
from floodway import plot
from floodway.plot.axes import bytes_of
from floodway.plot.shares import styles_of
from floodway.study import conduct, load_study, plan_of
from made_up import made_up_result, made_up_shares
from scenarios import SMALL, TOLD, written
from studies import BRIEF, study_file

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from command import Command
    from floodway import Result

#: `TOLD` with shares of what leads to the only receiver.
SHARED = TOLD.replace('watch = "*"', 'watch = "*", shares = { links = "h4-s2", bucket = "5us" }')


def source(result: Result, label: str = "one") -> plot.Source:
    return plot.Source(label=label, results=(result,))


def labels(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def line(drawn: plot.Drawing, flow: str) -> list[tuple[float, float]]:
    """When each part begins, and what the flow has in it."""
    own = drawn.data.filter(pl.col("flow_id") == flow)
    return own.select("time_us", "throughput_gbps").rows()


def colours(axes: Axes) -> list[str]:
    return [to_hex(str(each.get_color())) for each in axes.get_lines()]


def with_rows(result: Result, rows: list[tuple[str, str, float, int]], bucket_us: float = 100.0) -> Result:
    """Replace what flows had of links."""
    names = ("object", "flow_id", "time_us", "tx_bytes")
    shares = pl.DataFrame(rows, schema=names, orient="row", schema_overrides={"tx_bytes": pl.UInt64})
    return replace(result, shares=shares.with_columns(bucket_us=bucket_us))


def crowd(flows: int) -> Result:
    """So many flows of one workload, of which each has more than the one before."""
    rows = [("l9: s1>h9", f"load:h{n}:0", 0.0, 10_000 * n) for n in range(1, flows + 1)]
    return with_rows(made_up_shares(), rows)


def test_a_flow_has_a_line_that_is_0_where_it_sends_nothing() -> None:
    drawn = plot.shares([source(made_up_shares())], objects=["s1>h9"])
    expected = [80.0, 40.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert line(drawn, "load:h1:0") == [(100.0 * n, gbps) for n, gbps in enumerate(expected)]
    assert line(drawn, "burst:h2:0")[2:5] == [(200.0, 0.0), (300.0, 60.0), (400.0, 0.0)]
    assert drawn.data.columns == [
        "result",
        "seed",
        "object",
        "flow_id",
        "time_us",
        "span_us",
        "tx_bytes",
        "throughput_gbps",
    ]
    assert drawn.data["tx_bytes"].sum() == 3_000_000
    assert drawn.data["span_us"].unique().to_list() == [100.0]
    assert labels(drawn.figure) == ["load:h1:0", "load:h1:1", "burst:h2:0"]
    (axes,) = drawn.figure.axes
    assert axes.get_title(loc="left") == "s1>h9"
    assert len(axes.lines) == 3


def test_by_default_the_direction_with_most_bytes_in_the_window_is_shown() -> None:
    result = made_up_shares()
    assert set(plot.shares([source(result)]).data["object"]) == {"l9: s1>h9"}
    late = plot.shares([source(result)], window=(200.0, 300.0))
    assert set(late.data["object"]) == {"l8: s1>h8"}


def test_a_window_shows_the_buckets_that_reach_into_it() -> None:
    drawn = plot.shares([source(made_up_shares())], window=(150.0, 310.0))
    assert line(drawn, "load:h1:1") == [(100.0, 40.0), (200.0, 0.0), (300.0, 20.0)]
    assert drawn.figure.axes[0].get_xlim() == (150.0, 310.0)
    exact = plot.shares([source(made_up_shares())], window=(100.0, 300.0))
    assert line(exact, "load:h1:1") == [(100.0, 40.0), (200.0, 0.0)]


def test_buckets_are_put_together_until_they_are_wide_enough() -> None:
    drawn = plot.shares([source(made_up_shares())], objects=["s1>h9"], bucket_us=150.0)
    assert line(drawn, "load:h1:0") == [(0.0, 60.0), (200.0, 0.0), (400.0, 0.0), (600.0, 0.0), (800.0, 0.0)]
    narrow = plot.shares([source(made_up_shares())], objects=["s1>h9"], bucket_us=1.0)
    assert narrow.data["span_us"].unique().to_list() == [100.0]
    # The last part is as long as what is left of the run.
    uneven = plot.shares([source(made_up_shares())], objects=["s1>h9"], bucket_us=300.0)
    assert line(uneven, "burst:h2:0") == [(0.0, 0.0), (300.0, 20.0), (600.0, 0.0), (900.0, 0.0)]
    assert uneven.data["span_us"].unique(maintain_order=True).to_list() == [300.0, 100.0]


@pytest.mark.parametrize("width_us", [0.1, 0.3, 0.7, 3.3])
def test_by_default_there_are_at_most_250_parts_that_hold_all_bytes(width_us: float) -> None:
    buckets = int(1000 / width_us)
    rows = [("l9: s1>h9", "load:h1:0", n * 1e-6 * round(width_us * 1e6), n + 1) for n in range(buckets)]
    drawn = plot.shares([source(with_rows(made_up_result(), rows, width_us))])
    assert 125 < len(drawn.data) <= 250
    assert drawn.data["tx_bytes"].sum() == buckets * (buckets + 1) // 2
    assert drawn.data["span_us"].sum() == pytest.approx(1000.0)
    assert drawn.data["tx_bytes"][:-1].is_sorted()


@pytest.mark.parametrize("width_us", [0.1, 0.3, 0.7, 1.1])
def test_a_window_of_whole_buckets_holds_their_bytes_and_no_others(width_us: float) -> None:
    step = round(width_us * 1e6)
    rows = [("l9: s1>h9", "load:h1:0", n * step / 1e6, 1 << n % 50) for n in range(100)]
    result = with_rows(made_up_result(), rows, width_us)
    for first, last in ((3, 7), (6, 41), (9, 50), (29, 100)):
        drawn = plot.shares([source(result)], window=(first * step / 1e6, last * step / 1e6))
        assert drawn.data["tx_bytes"].to_list() == [1 << n % 50 for n in range(first, last)]
        assert drawn.data["time_us"].to_list() == [n * step / 1e6 for n in range(first, last)]


def test_the_only_bucket_may_be_cut_short_by_the_end_of_the_run() -> None:
    result = with_rows(made_up_shares(), [("l9: s1>h9", "load:h1:0", 980.0, 1000)], 20.0)
    for window in ((0.0, None), (985.0, None), (975.0, 990.0)):
        drawn = plot.shares([source(result)], window=window)
        assert drawn.data["tx_bytes"].sum() == 1000
    short = with_rows(made_up_shares(), [("l9: s1>h9", "load:h1:0", 980.0, 1000)], 19.0)
    assert plot.shares([source(short)], window=(990.0, 995.0)).data["tx_bytes"].sum() == 1000


def test_the_run_may_end_inside_a_bucket_and_before_the_window_does() -> None:
    short = replace(made_up_shares(), run=made_up_result(simulated_us=350.0).run)
    rows = [("l9: s1>h9", "load:h1:0", 300.0, 50_000), ("l9: s1>h9", "load:h1:0", 0.0, 0)]
    short = with_rows(short, rows)
    shares = short.shares
    assert shares is not None
    cut = pl.when(pl.col("time_us") == 300).then(50.0).otherwise("bucket_us")
    short = replace(short, shares=shares.with_columns(bucket_us=cut))
    drawn = plot.shares([source(short, "short"), source(made_up_shares(), "long")], objects=["s1>h9"])
    own = drawn.data.filter(pl.col("result") == "short", pl.col("flow_id") == "load:h1:0")
    assert own.select("time_us", "span_us", "throughput_gbps").rows()[-1] == (300.0, 50.0, 8.0)
    assert drawn.figure.axes[0].get_xlim() == (0.0, 1000.0)
    late = plot.shares([source(short, "short"), source(made_up_shares(), "long")], window=(350.0, 400.0))
    assert [text.get_text() for axes in late.figure.axes for text in axes.texts] == ["the run had ended"]


def test_the_eight_flows_with_most_bytes_have_lines_and_all_others_one() -> None:
    drawn = plot.shares([source(crowd(11))])
    assert drawn.data["flow_id"].unique(maintain_order=True).to_list() == [
        *(f"load:h{n}:0" for n in range(4, 12)),
        "others (3 flows)",
    ]
    others = drawn.data.filter(pl.col("flow_id") == "others (3 flows)")
    assert others["tx_bytes"].to_list()[0] == 10_000 * (1 + 2 + 3)
    # Of one workload, the flows need not say which.
    assert labels(drawn.figure) == [*(f"h{n}:0" for n in range(4, 12)), "others (3 flows)"]
    (legend,) = drawn.figure.legends
    explained, single = legend.get_title().get_text().split("\n")
    assert explained.startswith("Earlier curves are drawn wider")
    assert single == "flows of load"
    assert labels(plot.shares([source(crowd(9))]).figure)[-1] == "others (1 flow)"
    assert labels(plot.shares([source(crowd(8))]).figure) == [f"h{n}:0" for n in range(1, 9)]
    assert labels(plot.shares([source(crowd(1))]).figure) == ["load:h1:0"]


def test_flows_that_are_asked_for_are_the_only_ones() -> None:
    drawn = plot.shares([source(made_up_shares())], flows=["burst"])
    assert set(drawn.data["flow_id"]) == {"burst:h2:0"}
    drawn = plot.shares([source(made_up_shares())], flows=["load:*:0", "burst:h2:0"])
    assert set(drawn.data["flow_id"]) == {"load:h1:0", "burst:h2:0"}
    some = plot.shares([source(crowd(30))], flows=["load:h?:0"])
    assert labels(some.figure)[-1] == "others (1 flow)"


def test_results_are_in_panels_with_the_same_ranges_and_colours() -> None:
    one = made_up_shares()
    rows = [("l9: s1>h9", "burst:h2:0", 0.0, 1_100_000), ("l9: s1>h9", "load:h1:1", 100.0, 9_000)]
    sources = [source(one, "with"), source(with_rows(one, rows), "without")]
    drawn = plot.shares(sources, objects=["s1>h9"], title="Both")
    upper, lower = drawn.figure.axes
    assert [axes.get_title(loc="left") for axes in (upper, lower)] == ["with, s1>h9", "without, s1>h9"]
    assert upper.get_ylim() == lower.get_ylim()
    assert upper.get_xlim() == lower.get_xlim() == (0.0, 1000.0)
    assert upper.get_ylim()[0] == 0.0
    assert upper.get_ylim()[1] >= 88.0
    # A flow that had nothing of it in one result has no line there.
    first, second, burst = colours(upper)
    assert colours(lower) == [second, burst]
    assert len({first, second, burst}) == 3
    assert drawn.figure.get_suptitle() == "Both"
    again = plot.shares(sources, objects=["s1>h9"], title="Both")
    assert bytes_of(drawn.figure, "png") == bytes_of(again.figure, "png")


def test_directions_stand_below_and_results_beside_one_another() -> None:
    sources = [source(made_up_shares(), "a"), source(made_up_shares(), "b")]
    drawn = plot.shares(sources, objects=["s1>h*"])
    assert [axes.get_title(loc="left") for axes in drawn.figure.axes] == [
        "a, s1>h8",
        "b, s1>h8",
        "a, s1>h9",
        "b, s1>h9",
    ]
    assert drawn.data["object"].unique(maintain_order=True).to_list() == ["l8: s1>h8", "l9: s1>h9"]


def test_a_result_without_shares_says_so_beside_one_that_kept_them() -> None:
    sources = [source(made_up_result(), "without"), source(made_up_shares(), "with")]
    without, kept = plot.shares(sources).figure.axes
    assert [text.get_text() for text in without.texts] == ["shares not recorded"]
    assert not without.lines
    assert len(kept.lines) == 3
    other = with_rows(made_up_shares(), [("l8: s1>h8", "load:h1:2", 0.0, 1)])
    silent, _ = plot.shares([source(other, "a"), source(made_up_shares(), "b")]).figure.axes
    assert [text.get_text() for text in silent.texts] == ["no flow sent anything"]


@pytest.mark.parametrize(
    "counts", [(8,), (4, 4), (7, 1), (1, 7), (4, 1), (3, 3, 2), (6, 1, 1), (2,) * 4, (1,) * 8, (5, 1, 1, 1)]
)
def test_no_two_flows_look_the_same(counts: tuple[int, ...]) -> None:
    flows = {f"w{w}:h{n}:0": f"w{w}" for w, count in enumerate(counts) for n in range(count)}
    styles = list(styles_of(flows).values())
    assert len(styles) == 8 or sum(counts) < 8
    for one, other in combinations(styles, 2):
        assert (one["color"], one["linestyle"]) != (other["color"], other["linestyle"])


def test_flows_of_a_workload_have_shades_and_the_only_one_of_another_stands_out() -> None:
    flows = {f"incast:h{n}:0": "incast" for n in range(4)} | {"burst:h9:0": "burst"}
    *shades, burst = styles_of(flows).values()
    brightness = [sum(int(look["color"][n : n + 2], 16) for n in (1, 3, 5)) for look in shades]
    assert brightness == sorted(brightness)
    # Lines that are the same show, since what lies below is wider.
    assert [look["linewidth"] for look in shades] == sorted(
        (look["linewidth"] for look in shades), reverse=True
    )
    assert burst["color"] == "#d55e00"
    assert burst["zorder"] > max(look["zorder"] for look in shades)


@pytest.mark.parametrize(
    ("result", "given", "message"),
    [
        (
            made_up_result(),
            {},
            r'did not record flows\' shares of links; records\.shares = { links = "h1-t1" }',
        ),
        (made_up_result(), {"objects": ["s1>h9"]}, r"records\.shares = "),
        (
            made_up_shares(),
            {"objects": ["s1>h7"]},
            r"^'s1>h7' is not a direction of a link whose shares were .*did you mean '.*s1>h[89]'\?$",
        ),
        (
            made_up_shares(),
            {"flows": ["brust"]},
            r"^'brust' is not a flow or workload .*; allowed: load, burst, burst:h.* did you mean 'burst'\?$",
        ),
        (
            made_up_shares(),
            {"flows": ["load:h1:2"]},
            r"'load:h1:2' is not a flow or .*did you mean 'load:h1:1'",
        ),
        (
            made_up_shares(),
            {"window": (400.0, 500.0)},
            r"no flow sent anything in this time over links whose",
        ),
        (
            made_up_shares(),
            {"window": (400.0, 500.0), "objects": ["s1>h9"]},
            r"no such flow sent anything in this time over these directions",
        ),
        (
            made_up_shares(),
            {"window": (2000.0, None)},
            r"nothing lies from 2000 us on: the run ends at 1000 us",
        ),
        (made_up_shares(), {"window": (700.0, 300.0)}, r"from, 700 us, is not before to, 300 us"),
    ],
)
def test_what_is_lacking_is_reported_with_what_is_right(
    result: Result, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(package.PlotError, match=message):
        plot.shares([source(result)], **given)


def test_too_much_is_refused() -> None:
    with pytest.raises(package.PlotError, match="1 direction of 13 results are too many panels"):
        plot.shares([source(made_up_shares(), str(n)) for n in range(13)])
    rows = [("l9: s1>h9", "load:h1:0", n / 10, 1) for n in range(10_000)]
    fine = with_rows(made_up_shares(), rows, 0.1)
    with pytest.raises(
        package.PlotError, match=r"parts of 0\.1 us are too many for a picture: 10,000; choose"
    ):
        plot.shares([source(fine)], bucket_us=0.1)


@pytest.mark.long
def test_the_verb_draws_shares(floodway: Command, tmp_path: Path) -> None:
    assert floodway("run", written(tmp_path, SHARED), "--out", "shared").code == 0
    window = ("--from", "10us", "--to", "100us")
    done = floodway(
        "plot", "shares", "shared", "--object", "s2>h4", "--flow", "culprits", *window, "--out", "p"
    )
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == ["p/shares.png", "p/shares.csv"]
    data = pl.read_csv(floodway.folder / "p" / "shares.csv")
    assert set(data["flow_id"]) == {"culprits:h1:0", "culprits:h2:0"}
    assert (data["time_us"].min(), data["time_us"].max(), len(data)) == (10.0, 95.0, 36)
    wider = floodway("plot", "shares", "shared", *window, "--bucket", "20us", "--csv", "--out", "wider")
    assert wider.out == "wider/shares.csv\n"
    data = pl.read_csv(floodway.folder / "wider" / "shares.csv")
    assert data["time_us"].unique().sort().to_list() == [10.0, 30.0, 50.0, 70.0, 90.0]
    assert floodway("run", written(tmp_path, SMALL, name="plain"), "--out", "plain").code == 0
    lacking = floodway("plot", "shares", "plain", "--out", "q")
    assert lacking.code == 2
    assert "records.shares = {" in lacking.err
    beside = floodway("plot", "shares", "shared", "plain", "--out", "r")
    assert beside.code == 0
    assert beside.err.startswith(
        "warning: plain: flows' shares of links were not recorded; records.shares = {"
    )


@pytest.mark.long
def test_the_command_reports_what_is_wrong(floodway: Command, tmp_path: Path) -> None:
    assert floodway("run", written(tmp_path, SHARED), "--out", "shared").code == 0
    wrong = floodway("plot", "shares", "shared", "--object", "s2>h5")
    assert wrong.code == 2
    assert "did you mean" in wrong.err
    bad = floodway("plot", "shares", "shared", "--bucket", "wide")
    assert bad.code == 2
    assert "--bucket" in bad.err
    unheard = floodway("plot", "ports", "shared", "--bucket", "1us")
    assert "does not apply to ports; only to shares" in unheard.err
    assert "does not apply to shares" in floodway("plot", "shares", "shared", "--metric", "queue").err


def test_rows_beyond_the_number_that_is_kept_are_reported(floodway: Command) -> None:
    full = replace(made_up_shares(), run=made_up_result(shares={"rows": 6, "beyond": 2_000}).run)
    full.save(floodway.folder / "full")
    told = floodway("plot", "shares", "full", "--out", "p")
    assert told.code == 0
    assert told.err == (
        "warning: full: the last buckets lack 2,000 rows beyond the recorded number, and are shown as 0\n"
    )


def test_a_result_draws_its_shares(tmp_path: Path) -> None:
    result = package.run(package.load(written(tmp_path, SHARED)))
    figure = result.plot_shares(objects="s2>h4", flows="culprits", from_us=10.0, to_us=100.0, bucket_us=10.0)
    assert figure.axes[0].get_xlim() == (10.0, 100.0)
    assert labels(figure) == ["h1:0", "h2:0"]


PICTURE = """
[[plot]]
name = "6"
title = "Who has how much"
kind = "shares"
link = "s1>s2"
flows = "rpc"
window = ["100us", "1ms"]
bucket = "30us"
at = { load = 0.4 }
"""
KEPT = SMALL.replace("[defaults]", 'records.shares = { links = "s1-s2", bucket = "10us" }\n\n[defaults]')


def test_a_study_draws_shares_with_a_panel_for_each_variant(tmp_path: Path) -> None:
    file = study_file(tmp_path, BRIEF + PICTURE, scenario=KEPT)
    conducted = conduct(plan_of([load_study(file)]), out=tmp_path / "out", jobs=2)
    assert tmp_path / "out" / "6.png" in conducted.files
    data = pl.read_csv(tmp_path / "out" / "6.csv")
    assert data["result"].unique(maintain_order=True).to_list() == ["10 MB", "1 MB"]
    assert data["seed"].n_unique() == 1, "the first is shown"
    assert data["object"].unique().to_list() == ["s1-s2: s1>s2"]
    assert data["time_us"].unique().sort().to_list() == [100.0 + 30 * n for n in range(30)]
    assert data["flow_id"].str.starts_with("others (").sum() == 2 * 30
    assert data["flow_id"].n_unique() <= 9


def test_a_study_without_shares_names_the_key_that_records_them(tmp_path: Path) -> None:
    said: list[str] = []
    plan = plan_of([load_study(study_file(tmp_path, BRIEF + PICTURE))])
    conduct(plan, out=tmp_path / "out", jobs=2, on_message=said.append)
    (said_once,) = said
    assert said_once.startswith(
        "not drawn: pools: plot[6]: the run did not record flows' shares of links; records."
    )


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            'bucket = "30us"',
            'bucket = "wide"',
            r'54: plot\.6\.bucket: "wide" is not a time',
        ),
        ('["100us", "1ms"]', '["1ms", "100us"]', r'plot\.6\.window: "1ms" is not below "100us"'),
        (
            'link = "s1>s2"',
            'ports = "s1>s2"',
            r"plot\.6\.ports: does not apply to a picture of the kind shares",
        ),
        (
            '"shares"',
            '"share"',
            r'plot\.6\.kind: "share" is not a choice; .*did you mean "shares"\?',
        ),
    ],
)
def test_a_fault_of_the_picture_names_its_key(tmp_path: Path, before: str, after: str, said: str) -> None:
    file = study_file(tmp_path, (BRIEF + PICTURE).replace(before, after), scenario=KEPT)
    with pytest.raises(package.StudyError, match=said):
        load_study(file)
