"""Pictures of ports and senders in time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from matplotlib.collections import LineCollection, PolyCollection

import floodway as package
from floodway import plot
from floodway.plot.axes import bytes_of
from floodway.results.feedback import chosen_ports_of
from floodway.results.pauses import paused_spans
from made_up import made_up_feedback, made_up_result
from scenarios import SMALL, TOLD, written

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from command import Command
    from floodway.results import Result


def source(result: Result, label: str = "one") -> plot.Source:
    return plot.Source(label=label, results=(result,))


def labels(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def rows(drawn: plot.Drawing, what: str, *columns: str) -> list[tuple[Any, ...]]:
    return drawn.data.filter(pl.col("what") == what).select("from_us", "to_us", *columns).rows()


def test_a_picture_shows_all_that_was_kept_of_a_port_and_its_sender() -> None:
    drawn = plot.ports([source(made_up_feedback())], objects=["s1>h1"])
    assert rows(drawn, "queue", "queue_bytes") == [(0.0, 500.0, 5000.0), (500.0, 1000.0, 3000.0)]
    # A pause that is repeated goes on; one without a resume lasts to the end.
    assert rows(drawn, "paused") == [(100.0, 200.0), (900.0, 1000.0)]
    states = [(0.0, 250.0, "calm"), (250.0, 400.0, "busy"), (400.0, 1000.0, "calm")]
    assert rows(drawn, "state", "state") == states
    assert rows(drawn, "allowed", "allowed_gbps") == [
        (0.0, 300.0, 100.0),
        (300.0, 500.0, 20.0),
        (500.0, 700.0, 60.0),
    ]
    for event, at in (("mark-ce", 260.0), ("mark-ue", 270.0), ("cnp", 280.0)):
        ((begin, end, count),) = rows(drawn, event, "count")
        assert begin <= at < end
        assert count == 1
    queue, strip, senders = drawn.figure.axes
    assert [label.get_text() for label in strip.get_yticklabels()] == ["CE", "UE", "CNP made", "state"]
    assert len([each for each in strip.collections if isinstance(each, LineCollection)]) == 3
    assert len([each for each in strip.collections if isinstance(each, PolyCollection)]) == len(states)
    assert len(queue.patches) == 2
    assert len(senders.lines) == 1
    assert labels(drawn.figure) == ["longest queue", "paused", "busy", "calm", "load:h1:0 allowed"]


def test_a_window_cuts_all_panels() -> None:
    drawn = plot.ports([source(made_up_feedback())], objects=["s1>h1"], window=(150.0, 350.0))
    assert rows(drawn, "paused") == [(150.0, 200.0)]
    assert rows(drawn, "state", "state") == [(150.0, 250.0, "calm"), (250.0, 350.0, "busy")]
    assert rows(drawn, "allowed", "allowed_gbps") == [(150.0, 300.0, 100.0), (300.0, 350.0, 20.0)]
    assert rows(drawn, "queue", "queue_bytes") == [(0.0, 500.0, 5000.0)]
    assert drawn.figure.axes[0].get_xlim() == (150.0, 350.0)
    late = plot.ports([source(made_up_feedback())], objects=["s1>h1"], window=(500.0, None))
    assert rows(late, "mark-ce", "count") == []
    assert [label.get_text() for label in late.figure.axes[1].get_yticklabels()] == ["state"]


@pytest.mark.parametrize(
    ("window", "message"),
    [
        ((2000.0, None), "nothing lies from 2000 us on: the run ends at 1000 us"),
        ((1e8, None), "nothing lies from 100000000 us on: the run ends at 1000 us"),
        ((700.0, 300.5), "from, 700 us, is not before to, 300.5 us"),
        ((None, 0.0), "from, 0 us, is not before to, 0 us"),
        ((2e8, 1e8), "from, 200000000 us, is not before to, 100000000 us"),
    ],
)
def test_a_window_in_which_nothing_can_lie_is_refused(
    window: tuple[float | None, float | None], message: str
) -> None:
    with pytest.raises(package.PlotError) as refused:
        plot.ports([source(made_up_feedback())], window=window)
    assert str(refused.value) == message


@pytest.fixture(scope="module")
def victim() -> Path:
    return Path(__file__).parents[1] / "scenarios" / "concepts" / "victim.toml"


def with_downs(victim: Path, folder: Path, **records: str) -> Result:
    """Run the victim's scenario with a trunk that goes down twice while it is paused."""
    down = 'faults.down = [{ from = "150us", to = "250us" }, { from = "400us", to = "900us" }]'
    text = f'{victim.read_text()}\n[[override]]\nname = "d"\nlinks = "s2-s3"\n{down}\n'
    sets = tuple((f"records.{key}", said) for key, said in records.items())
    return package.run(package.load(written(folder, text), sets=sets))


@pytest.mark.parametrize("buckets", ["1500", "100", "7"])
def test_pauses_that_end_unheard_end_when_the_port_sends_again(
    victim: Path, tmp_path: Path, buckets: str
) -> None:
    result = with_downs(victim, tmp_path, buckets=buckets)
    paused = result.counters.filter(pl.col("paused_us") > 0)
    assert len(paused) > 8
    for node, link, held_us in paused.select("node", "link", "paused_us").iter_rows():
        (name,) = chosen_ports_of(result, [f"{link}: {node}>*"])
        spans = paused_spans(result, name)
        assert (spans["to_us"] - spans["from_us"]).sum() == pytest.approx(held_us, abs=1e-3)
        assert (spans["from_us"].shift(-1) > spans["to_us"]).all()
    if buckets == "1500":
        drawn = plot.ports([source(result)], objects=["s2>s3"])
        expected = ((123.3968, 250.0), (279.628, 346.7984), (361.5236, 376.878), (386.4096, 900.0))
        assert rows(drawn, "paused") == [pytest.approx(span) for span in expected]


def test_pauses_of_a_port_that_is_not_watched_last_to_the_next_resume(victim: Path, tmp_path: Path) -> None:
    result = with_downs(victim, tmp_path)
    unwatched = result.series.filter(pl.col("object").cast(pl.String) != "s2-s3: s2>s3")
    drawn = plot.ports([source(replace(result, series=unwatched))], objects=["s2>s3"])
    assert rows(drawn, "paused") == [
        pytest.approx(span) for span in ((123.3968, 346.7984), (361.5236, 376.878), (386.4096, 1500.0))
    ]


def test_time_without_credit_is_shown_where_no_frame_pauses() -> None:
    plain = made_up_feedback()
    buckets = pl.DataFrame(
        {
            "object": "l1: s1>h1",
            "kind": "link",
            "metric": "paused_us",
            "time_us": [0.0, 100.0, 200.0, 300.0, 400.0],
            "bucket_us": 100.0,
            "value": [0.0, 30.0, 100.0, 20.0, 0.0],
        }
    )
    drawn = plot.ports([source(replace(plain, series=buckets, pauses=None))], objects=["s1>h1"])
    assert rows(drawn, "paused") == [(170.0, 320.0)]


@pytest.mark.parametrize(
    ("size", "expected"),
    [("1MB", {"s1>s2", "s2>h9", "s1>h1", "s1>h2"}), ("1KB", {"s1>s2", "s2>h9", "s1>h1", "s1>h2"})],
)
def test_the_initial_state_of_a_port_is_no_event(tmp_path: Path, size: str, expected: set[str]) -> None:
    text = TOLD.replace("left = 3", "left = 8").replace('"h4"', '"h9"').replace('"1MB"', f'"{size}"')
    head, tail = text[: text.index("congestion-point")], text[text.index("]\n\n[[") + 1 :]
    result = package.run(package.load(written(tmp_path, f"{head}congestion-point.tcd = {{}}{tail}")))
    signals = result.signals
    assert signals is not None
    assert len(signals.filter(pl.col("time_ns") == 0)) > 8, "each port has a state from the start"
    assert not (signals["time_ns"] > 0).any(), "and nothing is told of any"
    drawn = plot.ports([source(result)])
    assert {name.partition(": ")[2] for name in drawn.data["object"] if ">" in name} == expected


def test_ports_are_in_the_order_in_which_they_are_asked_for() -> None:
    result = made_up_feedback()
    drawn = plot.ports([source(result)], objects=["h1>s1", "s1>h1"])
    names = [text.get_text() for axes in drawn.figure.axes for text in axes.texts]
    assert names == ["h1>s1", "packets wait in queue pairs", "s1>h1"]
    assert drawn.data["object"].unique().to_list().count("l1: h1>s1") == 0, "nothing is known of it"


def test_by_default_switch_ports_with_most_events_are_shown(tmp_path: Path) -> None:
    result = package.run(package.load(written(tmp_path, TOLD)))
    drawn = plot.ports([source(result)])
    shown = {name for name in drawn.data["object"] if ">" in name}
    told = result.signals
    assert told is not None
    most = told.group_by(pl.col("link").cast(pl.String)).len().sort("len")["link"][-1]
    assert any(name.startswith(f"{most}: s") for name in shown)
    assert all(name.partition(": ")[2].startswith("s") for name in shown)
    assert {"culprits:h1:0", "culprits:h2:0"} <= set(drawn.data["object"])
    # Flows go over the last link together: it carried more than each was allowed, no more than its rate.
    carried = drawn.data.filter(pl.col("what").str.starts_with("carried"))
    assert carried["what"].unique().to_list() == ["carried s2>h4"]
    assert 50 < (carried["throughput_gbps"].max() or 0) < 110  # type: ignore[operator]


def test_marks_are_counted_where_they_cannot_be_distinguished(tmp_path: Path) -> None:
    result = package.run(package.load(written(tmp_path, TOLD)))
    drawn = plot.ports([source(result)], objects=["*"])
    for event, column in (("mark-ce", "ecn_marks"), ("cnp", "cnps")):
        counted = sum(count for *_, count in rows(drawn, event, "count"))
        assert counted == result.counters[column].sum()


def test_results_stand_beside_one_another_in_the_same_ranges() -> None:
    one, other = made_up_feedback(), replace(made_up_feedback(), signals=None)
    drawn = plot.ports([source(one, "with"), source(other, "without")], objects=["s1>h1"], title="Both")
    assert len(drawn.figure.axes) == 6
    assert [axes.get_title() for axes in drawn.figure.axes[:2]] == ["with", "without"]
    assert drawn.data["result"].unique(maintain_order=True).to_list() == ["with", "without"]
    left, right = drawn.figure.axes[:2]
    assert left.get_ylim() == right.get_ylim()
    assert drawn.figure.get_suptitle() == "Both"
    again = plot.ports([source(one, "with"), source(other, "without")], objects=["s1>h1"], title="Both")
    assert bytes_of(drawn.figure, "png") == bytes_of(again.figure, "png")


def test_senders_are_shown_of_the_results_that_kept_them() -> None:
    one, other = made_up_feedback(), replace(made_up_feedback(), allowances=None)
    both = [source(other, "without"), source(one, "with")]
    drawn = plot.ports(both, objects=["s1>h1"])
    without, kept = drawn.figure.axes[-2:]
    assert (len(without.lines), len(kept.lines)) == (0, 1)
    assert labels(drawn.figure)[-1] == "load:h1:0 allowed"
    assert drawn.data.filter(pl.col("what") == "allowed")["result"].unique().to_list() == ["with"]
    with pytest.raises(
        package.PlotError, match=r"^without: the run did not record allowances; records\.allow"
    ):
        plot.ports(both, objects=["s1>h1"], flows=["load"])


def test_the_range_of_a_row_holds_the_longest_queue_of_all_results() -> None:
    one = made_up_feedback()
    longer = replace(one, series=one.series.with_columns(value=pl.col("value") * 10))
    faster = replace(longer, allowances=made_up_allowances(one, 5.0))
    drawn = plot.ports([source(one, "short"), source(faster, "long")], objects=["s1>h1"])
    queues, senders = drawn.figure.axes[:2], drawn.figure.axes[-2:]
    for axes in queues:
        assert axes.get_ylim()[0] == 0
        assert axes.get_ylim()[1] >= 50.0, "KB"
    assert all(axes.get_ylim()[1] >= 500.0 for axes in senders)


def made_up_allowances(result: Result, times: float) -> pl.DataFrame:
    """So many times what senders were allowed."""
    assert result.allowances is not None
    return result.allowances.with_columns(pl.col("allowed_gbps") * times)


def test_a_port_of_which_only_the_queue_is_known_has_no_strip(tmp_path: Path) -> None:
    result = package.run(package.load(written(tmp_path, SMALL)))
    drawn = plot.ports([source(result)], objects=["s1>s2"])
    assert set(drawn.data["what"]) == {"queue"}
    assert [axes.get_visible() for axes in drawn.figure.axes] == [True, False]
    assert labels(drawn.figure) == ["longest queue"]
    figure = result.plot_ports(objects="s1>s2", from_us=100.0, to_us=200.0)
    assert figure.axes[0].get_xlim() == (100.0, 200.0)


@pytest.mark.parametrize(
    ("result", "given", "message"),
    [
        (made_up_feedback(), {"objects": ["s1>h9"]}, r"'s1>h9' is not the name .*did you mean"),
        (made_up_feedback(), {"flows": ["laod"]}, r"'laod' is not a flow whose allowance was recorded"),
        (made_up_result(), {"flows": ["load"]}, r"did not record allowances; records\.allowances = true"),
        (
            made_up_feedback(),
            {"objects": ["h1>s1"]},
            r"nothing was recorded for these ports .*records\.watch",
        ),
        (made_up_result(), {}, r"nothing was recorded for any port; records\.watch"),
    ],
)
def test_what_is_lacking_is_reported_with_the_key_that_keeps_it(
    result: Result, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(package.PlotError, match=message):
        plot.ports([source(result)], **given)


def test_too_much_is_refused() -> None:
    many = [source(made_up_feedback(), str(n)) for n in range(5)]
    with pytest.raises(package.PlotError, match="5 results are too many side by side"):
        plot.ports(many)


@pytest.mark.long
def test_the_verb_draws_ports(floodway: Command, tmp_path: Path) -> None:
    assert floodway("run", written(tmp_path, TOLD), "--out", "told").code == 0
    window = ("--from", "10us", "--to", "100us")
    done = floodway("plot", "ports", "told", "--object", "s2>h4", "--flow", "culprits", *window, "--out", "p")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == ["p/ports.png", "p/ports.csv"]
    data = pl.read_csv(floodway.folder / "p" / "ports.csv", infer_schema_length=None)
    assert data.columns[:6] == ["result", "seed", "object", "what", "from_us", "to_us"]
    assert data.filter(pl.col("what") == "allowed")["to_us"].max() == 100.0
    bad = floodway("plot", "ports", "told", "--from", "soon")
    assert bad.code == 2
    assert "--from" in bad.err
    one = '    { from = "h1", to = "h4", size = "1MB", start = "10us" },\n'
    many = written(tmp_path, TOLD.replace(one, 6 * one), name="many")
    assert floodway("run", many, "--out", "many").code == 0
    told = floodway("plot", "ports", "many", "--object", "s2>h4", *window, "--out", "q").err
    assert told == "warning: many: the first 6 of 7 flows are shown; --flow names others\n"
    plain = written(tmp_path, SMALL, name="plain")
    assert floodway("run", plain, "--out", "plain").code == 0
    lacking = floodway("plot", "ports", "plain", "--out", "r").err
    for key in ("pauses", "signals", "allowances"):
        assert f"records.{key} = true records" in lacking
    assert "does not apply to fct; only to ports" in floodway("plot", "fct", "told", "--flow", "x").err
