"""Pictures of the congestion region in time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from matplotlib.collections import PolyCollection

import floodway as package
from floodway import _floodway, plot
from floodway.plot.axes import bytes_of
from floodway.plot.port_panels import STATE_COLOURS
from floodway.plot.region import BY_SEVERITY, QUIET
from floodway.plot.region_panels import INSTANTS
from made_up import made_up_feedback, made_up_result
from scenarios import SMALL, written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from command import Command
    from floodway import Result

#: Two switches below a core: senders behind t2 and c send to h1.
TREE = ("t1-h1", "a-t1", "b-t1", "c-a", "t2-a", "x-t2")
RCM = Path(__file__).parents[1] / "scenarios" / "rcm-burst.toml"


def made_up_region(
    links: Sequence[str],
    changes: Sequence[tuple[float, str, str]],
    *,
    begin: str = "outside",
    class_: int = 3,
) -> Result:
    """Result of a run of 1 ms; changes are time in us, direction, state, and their ports begin in a state."""
    ends = [(link, node) for link in links for node in link.split("-")]
    counters = pl.DataFrame([{"node": node, "link": link, "class": class_} for link, node in ends])
    of = {f"{node}>{_other(link, node)}": (node, link) for link, node in ends}
    starts = [(0.0, port, begin) for port in dict.fromkeys(port for _, port, _ in changes)]
    signals = pl.DataFrame(
        [
            {"time_ns": at * 1e3, "node": of[port][0], "link": of[port][1], "class": class_, "state": state}
            for at, port, state in sorted([*starts, *changes], key=lambda row: row[0])
        ]
    ).with_columns(event=pl.lit("state"), flow_id=pl.lit(None, dtype=pl.String))
    return replace(made_up_result(), counters=counters, signals=signals)


def _other(link: str, node: str) -> str:
    first, last = link.split("-")
    return last if node == first else first


def source(result: Result, label: str = "one") -> plot.Source:
    return plot.Source(label=label, results=(result,))


def strips(figure: Figure) -> list[str]:
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def hops(figure: Figure, *, results: int = 1) -> list[str]:
    return [text.get_text() for text in figure.axes[results - 1].texts]


def rows(drawn: plot.Drawing, direction: str) -> list[tuple[Any, ...]]:
    own = drawn.data.filter(pl.col("port").str.ends_with(f": {direction}"))
    return own.select("from_us", "to_us", "role").rows()


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


#: The switches farther up find congestion first, and are told later that it comes from below.
SPREAD = [
    (100.0, "t2>a", "root"),
    (110.0, "b>t1", "root"),
    (120.0, "a>t1", "root"),
    (130.0, "t1>h1", "root"),
    (140.0, "b>t1", "inner"),
    (150.0, "a>t1", "inner"),
    (160.0, "t2>a", "edge"),
    (170.0, "c>a", "edge"),
    (400.0, "c>a", "outside"),
    (500.0, "t2>a", "outside"),
    (600.0, "a>t1", "outside"),
    (700.0, "t1>h1", "outside"),
]


def test_the_root_is_on_top_and_then_come_ports_by_hops_and_by_when_they_joined() -> None:
    drawn = plot.region([source(made_up_region(TREE, SPREAD))])
    assert strips(drawn.figure) == ["t1>h1", "b>t1", "a>t1", "t2>a", "c>a"]
    assert hops(drawn.figure) == ["root", "1 hop up", "2 hops up"]
    assert legend(drawn.figure) == ["root", "inner", "edge", "outside"]
    assert drawn.data.columns == ["result", "seed", "port", "from_us", "to_us", "role", "hops"]
    told = drawn.data.select("port", "hops").unique(maintain_order=True).rows()
    assert told == [
        ("t1-h1: t1>h1", 0),
        ("b-t1: b>t1", 1),
        ("a-t1: a>t1", 1),
        ("t2-a: t2>a", 2),
        ("c-a: c>a", 2),
    ]
    assert rows(drawn, "t2>a") == [
        (0.0, 100.0, "outside"),
        (100.0, 160.0, "root"),
        (160.0, 500.0, "edge"),
        (500.0, 1000.0, "outside"),
    ]


def test_a_port_is_upstream_of_the_one_that_has_notified_it() -> None:
    """Both `t1>h1` and `t1>b` are fed by `a>t1`, and by its switch alone the tree of either could have it."""
    links = ("t1-h1", "a-t1", "t1-b", "x-a")
    changes = [(90.0, "t1>b", "root"), (100.0, "t1>h1", "root"), (110.0, "a>t1", "edge")]
    result = made_up_region(links, changes)
    assert result.signals is not None
    assert strips(plot.region([source(result)]).figure) == ["t1>b", "a>t1", "t1>h1"]
    told = {"time_ns": 105e3, "node": "t1", "link": "t1-h1", "class": 3, "event": "cn", "neighbour": "a"}
    signals = pl.concat([result.signals, pl.DataFrame([told])], how="diagonal")
    drawn = plot.region([source(replace(result, signals=signals))])
    assert strips(drawn.figure) == ["t1>b", "t1>h1", "a>t1"]


def test_the_panel_below_stacks_how_many_ports_have_each_role() -> None:
    drawn = plot.region([source(made_up_region(TREE, SPREAD))])
    spans = drawn.data
    counts = drawn.figure.axes[1]
    stacked = [each for each in counts.collections if isinstance(each, PolyCollection)]
    assert len(stacked) == 3
    for time in (50.0, 105.0, 125.0, 145.0, 165.0, 300.0, 450.0, 650.0, 900.0):
        below = 0
        for role, area in zip(("root", "inner", "edge"), stacked, strict=True):
            here = (pl.col("from_us") <= time) & (pl.col("to_us") > time) & (pl.col("role") == role)
            count = len(spans.filter(here))
            (path,) = area.get_paths()
            for height in (below + 0.5, below + count - 0.5):
                assert path.contains_point((time, height)) == (count > 0)
            assert not path.contains_point((time, below + count + 0.5))
            below += count


def test_a_window_cuts_strips_and_leaves_out_ports_outside_the_region() -> None:
    result = made_up_region(TREE, SPREAD)
    drawn = plot.region([source(result)], window=(450.0, 650.0))
    # Those that were in the region already joined at once.
    assert strips(drawn.figure) == ["t1>h1", "a>t1", "b>t1", "t2>a"]
    assert rows(drawn, "a>t1") == [(450.0, 600.0, "inner"), (600.0, 650.0, "outside")]
    assert drawn.figure.axes[0].get_xlim() == (450.0, 650.0)
    figure = result.plot_region(from_us=450.0, to_us=650.0)
    assert strips(figure) == strips(drawn.figure)


def test_each_root_has_its_own_ports_below_it() -> None:
    links = ("a-h1", "b-a", "c-h2", "d-c", "a-c")
    changes = [
        (100.0, "d>c", "edge"),
        (200.0, "c>h2", "root"),
        (300.0, "a>h1", "root"),
        (400.0, "b>a", "edge"),
    ]
    drawn = plot.region([source(made_up_region(links, changes))])
    assert strips(drawn.figure) == ["c>h2", "d>c", "a>h1", "b>a"]
    assert hops(drawn.figure) == ["root", "1 hop up", "root", "1 hop up"]


def test_a_root_upstream_of_another_is_among_its_ports() -> None:
    changes = [(100.0, "a>t1", "root"), (200.0, "t1>h1", "root"), (150.0, "c>a", "edge")]
    drawn = plot.region([source(made_up_region(TREE, changes))])
    assert strips(drawn.figure) == ["t1>h1", "a>t1", "c>a"]
    assert hops(drawn.figure) == ["root", "1 hop up", "2 hops up"]


def test_where_no_port_is_a_root_what_lies_farthest_downstream_is_on_top() -> None:
    changes = [(100.0, "c>a", "undetermined"), (200.0, "a>t1", "undetermined"), (300.0, "a>t1", "determined")]
    drawn = plot.region([source(made_up_region(TREE, changes, begin="determined"))])
    assert strips(drawn.figure) == ["a>t1", "c>a"]
    assert hops(drawn.figure) == ["farthest down", "1 hop up"]
    assert legend(drawn.figure) == ["undetermined", "determined"]
    assert any("farthest downstream" in text.get_text() for text in drawn.figure.texts)


def test_in_a_ring_the_port_that_joined_first_is_on_top() -> None:
    changes = [(300.0, "a>b", "edge"), (100.0, "b>c", "edge"), (200.0, "c>a", "edge")]
    drawn = plot.region([source(made_up_region(("a-b", "b-c", "c-a"), changes))])
    assert strips(drawn.figure) == ["b>c", "a>b", "c>a"]
    assert drawn.data["hops"].unique(maintain_order=True).to_list() == [0, 1, 2]


def test_a_relay_is_no_hop() -> None:
    changes = [(100.0, "s>h", "root"), (200.0, "x>r1", "edge"), (300.0, "r2>s", "edge")]
    drawn = plot.region([source(made_up_region(("s-h", "x-r1", "r1-r2", "r2-s"), changes))])
    # Who has states is a hop, and what lies between is left out.
    assert strips(drawn.figure) == ["s>h", "r2>s", "x>r1"]
    assert drawn.data["hops"].unique(maintain_order=True).to_list() == [0, 1, 2]
    both = plot.region([source(made_up_region(("s-h", "x-r1", "r1-r2", "r2-s"), changes[:2]))])
    assert strips(both.figure) == ["s>h", "x>r1"]
    assert both.data["hops"].unique(maintain_order=True).to_list() == [0, 1]


def test_at_most_forty_ports_have_a_strip() -> None:
    links = ["s-h", *(f"n{n}-s" for n in range(1, 43))]
    changes = [(100.0, "s>h", "root"), *((100.0 + n, f"n{n}>s", "edge") for n in range(1, 43))]
    result = made_up_region(links, changes)
    drawn = plot.region([source(result)])
    assert strips(drawn.figure) == ["s>h", *(f"n{n}>s" for n in range(1, 40))]
    assert drawn.data["port"].n_unique() == 43
    notes = "\n".join(text.get_text() for text in drawn.figure.texts)
    assert "3 more ports were in it for less time, without a strip" in notes
    assert drawn.figure.axes[1].get_ylim()[1] > 43, "counts are of all"
    fewer = plot.region([source(made_up_region(links[:40], changes[:40]))])
    assert "more" not in "\n".join(text.get_text() for text in fewer.figure.texts)


def test_a_port_of_several_classes_is_in_the_gravest_role_of_any() -> None:
    one = made_up_region(TREE, [(100.0, "a>t1", "edge"), (500.0, "a>t1", "outside")])
    other = made_up_region(TREE, [(200.0, "a>t1", "root"), (300.0, "a>t1", "outside")], class_=4)
    assert one.signals is not None
    assert other.signals is not None
    result = replace(one, signals=pl.concat([one.signals, other.signals]).sort("time_ns"))
    drawn = plot.region([source(result)])
    assert rows(drawn, "a>t1") == [
        (0.0, 100.0, "outside"),
        (100.0, 200.0, "edge"),
        (200.0, 300.0, "root"),
        (300.0, 500.0, "edge"),
        (500.0, 1000.0, "outside"),
    ]
    (chosen, *_) = rows(plot.region([source(result)], class_=4), "a>t1")[1:]
    assert chosen == (200.0, 300.0, "root")
    with pytest.raises(package.PlotError, match=r"'5' is not a class of queues with states; allowed: 3, 4"):
        plot.region([source(result)], class_=5)


def test_the_quiet_state_of_an_unknown_congestion_point_is_the_one_in_which_queues_begin() -> None:
    drawn = plot.region([source(made_up_feedback())])
    assert rows(drawn, "s1>h1") == [(0.0, 250.0, "calm"), (250.0, 400.0, "busy"), (400.0, 1000.0, "calm")]
    assert legend(drawn.figure) == ["busy", "calm"]


def test_every_state_that_a_mechanism_has_is_in_the_region_or_outside() -> None:
    assert {*BY_SEVERITY, *QUIET} == {state for _, states in _floodway.queue_states() for state in states}
    assert {*BY_SEVERITY, *QUIET} == set(STATE_COLOURS)
    assert {states[0] for _, states in _floodway.queue_states()} == set(QUIET)


def test_ports_of_parallel_links_are_distinguished_and_long_names_are_cut() -> None:
    long = "n" * 80
    plain = made_up_region(("s-h", f"{long}-s"), [(100.0, "s>h", "root"), (200.0, f"{long}>s", "edge")])
    _, name = strips(plot.region([source(plain)]).figure)
    assert len(name) < 70
    assert " ... " in name
    result = made_up_region(("s-h", "x-s"), [(100.0, "s>h", "root"), (200.0, "x>s", "edge")])
    assert result.signals is not None
    renamed = pl.col("link").replace("x-s", "x-s-2")
    twice = replace(
        result,
        counters=pl.concat([result.counters, result.counters.with_columns(renamed)]).unique(
            maintain_order=True
        ),
        signals=pl.concat(
            [result.signals, result.signals.filter(pl.col("link") == "x-s").with_columns(renamed)]
        ),
    )
    assert strips(plot.region([source(twice)]).figure) == ["s>h", "x-s-2: x>s", "x-s: x>s"]


def test_changes_that_cannot_be_distinguished_are_thinned_but_for_the_data() -> None:
    flaps = [(10.0 + n / 4, "a>t1", "edge" if n % 2 == 0 else "outside") for n in range(2 * INSTANTS)]
    drawn = plot.region([source(made_up_region(TREE, flaps))])
    assert len(drawn.data) == 2 * INSTANTS + 1
    for axes in drawn.figure.axes:
        for collection in axes.collections:
            corners = [np.asarray(path.vertices).shape[0] for path in collection.get_paths()]
            assert len(corners) <= INSTANTS
            assert sum(corners) <= 6 * INSTANTS


def test_results_stand_beside_one_another_with_the_same_strips() -> None:
    one = made_up_region(TREE, SPREAD)
    other = made_up_region(TREE, [(300.0, "x>t2", "edge"), (350.0, "t2>a", "root")])
    both = [source(one, "with"), source(other, "without")]
    drawn = plot.region(both, title="Both")
    assert strips(drawn.figure) == ["t1>h1", "b>t1", "a>t1", "t2>a", "c>a", "x>t2"]
    assert hops(drawn.figure) == []
    assert hops(drawn.figure, results=2) == ["root", "1 hop up", "2 hops up", "3 hops up"]
    assert [axes.get_title() for axes in drawn.figure.axes[:2]] == ["with", "without"]
    assert drawn.data["result"].unique(maintain_order=True).to_list() == ["with", "without"]
    assert drawn.figure.get_suptitle() == "Both"
    again = plot.region(both, title="Both")
    assert bytes_of(drawn.figure, "png") == bytes_of(again.figure, "png")
    silent = replace(other, signals=one.signals.clear() if one.signals is not None else None)
    beside = plot.region([source(one, "with"), source(silent, "without")])
    assert next(text.get_text() for text in beside.figure.axes[1].texts) == "no states of these ports"


@pytest.mark.parametrize(
    ("result", "given", "message"),
    [
        (made_up_result(), {}, r"^the run did not record signals; records\.signals = true records them$"),
        (
            replace(made_up_region(TREE, SPREAD), signals=made_up_region(TREE, SPREAD).signals.clear()),  # type: ignore[union-attr]
            {},
            r"^these congestion points have no states; rcm, casl, mercury, tcd and pacc have some$",
        ),
        (
            made_up_region(TREE, SPREAD),
            {"window": (0.0, 50.0)},
            r"^no port left the state outside in this time: there is no region to show$",
        ),
        (made_up_region(TREE, SPREAD), {"window": (2000.0, None)}, r"^nothing lies from 2000 us on: the run"),
    ],
)
def test_what_is_lacking_is_reported(result: Result, given: dict[str, Any], message: str) -> None:
    with pytest.raises(package.PlotError, match=message):
        plot.region([source(result)], **given)


def test_missing_signals_are_reported_and_too_much_is_refused() -> None:
    one = made_up_region(TREE, SPREAD)
    with pytest.raises(package.PlotError, match=r"^without: the run did not record signals"):
        plot.region([source(one, "with"), source(made_up_result(), "without")])
    with pytest.raises(package.PlotError, match="5 results are too many side by side"):
        plot.region([source(one, str(n)) for n in range(5)])


@pytest.mark.long
def test_the_verb_draws_the_region(floodway: Command, tmp_path: Path) -> None:
    assert floodway("run", RCM, "--out", "burst").code == 0
    done = floodway("plot", "region", "burst", "--from", "140us", "--to", "220us", "--out", "p")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == ["p/region.png", "p/region.csv"]
    data = pl.read_csv(floodway.folder / "p" / "region.csv")
    assert data.columns == ["result", "seed", "port", "from_us", "to_us", "role", "hops"]
    assert data["port"].unique(maintain_order=True).to_list() == ["s-to: s>to", "b-s: b>s"]
    assert (data["from_us"].min(), data["to_us"].max()) == (140.0, 220.0)
    other = floodway("plot", "region", "burst", "--class", "1", "--out", "q")
    assert (other.code, other.err) == (2, "error: '1' is not a class of queues with states; allowed: 3\n")
    assert "does not apply to ports; only to region" in floodway("plot", "ports", "burst", "--class", "3").err
    assert "does not apply to region" in floodway("plot", "region", "burst", "--object", "x").err
    assert floodway("run", written(tmp_path, SMALL), "--out", "small").code == 0
    lacking = floodway("plot", "region", "small", "--out", "r")
    told = "error: the run did not record signals; records.signals = true records them\n"
    assert (lacking.code, lacking.err) == (2, told)
    assert not (floodway.folder / "r").exists()
