"""The package as a notebook or a script uses it: results, interrupts, graphs and frames, errors."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import networkx as nx  # type: ignore[import-untyped]
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

import floodway as package
from floodway.builders import ListedFlow, Workload
from floodway.builders.networks import from_networkx
from floodway.builders.tables import flows
from floodway.common.names import nearest
from made_up import made_up_result
from scenarios import LISTED, LONG, SMALL, written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from floodway import Result


@pytest.fixture(scope="module")
def small() -> Result:
    return package.run(package.Scenario.from_toml(name="small", text=SMALL))


# Results


def test_the_summary_is_computed_once() -> None:
    result = made_up_result()
    assert result.summary() is result.summary()
    assert result.summary().total.fct.mean_us == 2.5


def test_a_saved_result_is_read_again_and_kept_unless_forced(small: Result, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "kept"
    small.save(folder)
    again = package.read(folder)
    assert again.flows.equals(small.flows)
    assert again.run == small.run
    with pytest.raises(package.OutputError, match="--force, in Python force=True, replaces them"):
        small.save(folder)
    small.save(folder, force=True)


def test_a_result_lacking_a_table_says_which(small: Result, tmp_path: Path) -> None:
    small.save(tmp_path / "kept")
    (tmp_path / "kept" / "series.parquet").unlink()
    with pytest.raises(package.OutputError, match=r"it lacks series\.parquet") as caught:
        package.read(tmp_path / "kept")
    assert caught.value.path == str(tmp_path / "kept")


@pytest.mark.parametrize(
    "draw",
    [
        lambda result: result.plot_fct(),
        lambda result: result.plot_slowdown(workloads=["rpc"]),
        lambda result: result.plot_series(objects="s1>s2", metric="queue"),
        lambda result: result.plot_heatmap(metric="utilisation"),
    ],
)
def test_a_result_draws_figures_that_a_notebook_shows(
    small: Result, draw: Callable[[Result], Figure]
) -> None:
    figure = draw(small)
    assert isinstance(figure, Figure)
    # What IPython asks an object for that no formatter is registered for.
    assert figure._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]


def test_drawing_leaves_no_state_of_pyplot_behind() -> None:
    code = """
import sys
sys.path[:0] = ["tests"]
from made_up import made_up_result
made_up_result().plot_fct()
print("matplotlib.pyplot" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_notebook_shows_a_table_with_names_escaped() -> None:
    result = made_up_result([1.0, None], stopped="limit")
    shown = replace(result, run=replace(result.run, name="<b>&"))._repr_html_()
    assert "&lt;b&gt;&amp;, seed 1" in shown
    assert "the limit was reached" in shown
    assert "<h1>All 4 measured flows finished" in shown
    assert "<td>1 us *</td>" in shown
    assert "<td>not reached</td>" in shown


# Interrupts


def interrupted(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_an_interrupt_ends_a_run_of_the_main_thread_with_what_is_complete() -> None:
    # As a kernel does for a cell: its handler is Python's own, and it is there again afterwards.
    code = f"""
import os, signal, threading
import floodway
before = signal.signal(signal.SIGINT, signal.default_int_handler)
def interrupt(progress):
    if progress.flows_done > 0:
        os.kill(os.getpid(), signal.SIGINT)
result = floodway.run(floodway.Scenario.from_toml(name="long", text={LONG!r}), on_progress=interrupt)
print(result.outcome.stopped, len(result.flows) > 0, result.outcome.broken)
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
try:
    os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    print("raised")
"""
    assert interrupted(code) == "interrupted True ()\nTrue\nraised\n"


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_a_run_of_another_thread_leaves_the_interrupt_to_the_main_thread_and_can_be_stopped() -> None:
    code = f"""
import os, signal, threading, time
import floodway
# Where the tests run in the background, it may have been ignored from the start.
signal.signal(signal.SIGINT, signal.default_int_handler)
stop, results, started = threading.Event(), [], threading.Event()
def look(progress):
    started.set()
    if stop.is_set():
        progress.stop()
def run():
    results.append(floodway.run(floodway.Scenario.from_toml(name="long", text={LONG!r}), on_progress=look))
thread = threading.Thread(target=run)
thread.start()
started.wait()
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(10)
except KeyboardInterrupt:
    stop.set()
thread.join()
print(results[0].outcome.stopped)
"""
    assert interrupted(code) == "interrupted\n"


def test_an_error_of_the_observer_stops_the_run() -> None:
    def fail(progress: package.Progress) -> None:
        raise LookupError(str(progress.time_us >= 0))

    with pytest.raises(LookupError, match="True"):
        package.run(package.Scenario.from_toml(name="long", text=LONG), on_progress=fail)


def test_the_handler_of_interrupts_is_put_back_after_a_run_that_failed() -> None:
    before = signal.getsignal(signal.SIGINT)

    def fail(_: package.Progress) -> None:
        raise LookupError

    with pytest.raises(LookupError):
        package.run(package.Scenario.from_toml(name="long", text=LONG), on_progress=fail)
    assert signal.getsignal(signal.SIGINT) is before


# Errors


@pytest.mark.parametrize(
    "error",
    [
        package.GraphError(
            "a", place="node 'h1'", key="kind", given="hots", allowed=("host",), nearest="host"
        ),
        package.TableError("b", place="row 0", key="size_bytes"),
        package.PlotError("c", key="metric"),
        package.ComparisonError("d", place="mtu", given="1"),
        package.RunError("e", label="pfc, seed 1"),
        package.InternalError("f", label="pfc"),
        package.OutOfMemoryError("g", label="pfc"),
        package.OutputError("out", "is taken"),
    ],
)
def test_errors_are_of_one_family_and_keep_their_place(error: package.FloodwayError) -> None:
    assert isinstance(error, package.FloodwayError)
    assert vars(error)
    if not isinstance(error, package.OutputError):
        again = pickle.loads(pickle.dumps(error))  # noqa: S301 (our own)
        assert (str(again), vars(again)) == (str(error), vars(error))


def test_a_comparison_names_what_is_at_fault(tmp_path: Path) -> None:
    file = written(tmp_path, SMALL)
    with pytest.raises(package.ComparisonError) as caught:
        package.vary(file, [("mtu", ["1000B"])])
    assert caught.value.place == "mtu"
    with pytest.raises(package.ComparisonError) as caught:
        package.vary(file, [("mtu", ["1000B", "1000B"])])
    assert (caught.value.place, caught.value.given) == ("mtu", "1000B")


def test_the_nearest_name_is_one_of_the_known_ones_or_none() -> None:
    assert nearest("Queue", ["queue", "paused"]) == "queue"
    assert nearest("zzz", ["queue", "paused"]) is None


# Graphs


def graph() -> nx.Graph:
    made = nx.Graph(name="a triangle with hosts")
    made.add_nodes_from(["s1", "s2"], kind="switch", tags=["spine"], pos=(0, 1))
    made.add_nodes_from(["h1", "h2"], kind="host")
    made.add_edge("h1", "s1", rate="25G", weight=3)
    made.add_edge("h2", "s2")
    made.add_edge("s1", "s2", length="1km", tags=["long-haul"], name="far", count=1)
    return made


def test_a_graph_becomes_a_topology_that_is_simulated() -> None:
    explicit = from_networkx(graph(), rate="100G", delay="1us")
    assert explicit.to_dict()["explicit"] == {
        "hosts": ["h1", "h2"],
        "switches": [{"name": "s1", "tags": ["spine"]}, {"name": "s2", "tags": ["spine"]}],
        "rate": "100G",
        "delay": "1us",
        "links": [
            {"between": ["s1", "h1"], "rate": "25G"},
            {"between": ["s1", "s2"], "length": "1km", "name": "far", "count": 1, "tags": ["long-haul"]},
            {"between": ["s2", "h2"]},
        ],
    }
    one = ListedFlow(from_="h1", to="h2", size="10KB", start="0us")
    workload = [Workload(name="one", flows=[one])]
    scenario = package.Scenario(limit="1ms", topology=explicit, workload=workload)
    (flow,) = package.run(scenario).flows.iter_rows(named=True)
    assert flow["finished"]
    # 1 km and 2 us of propagation, and 10 KB over 25G at least.
    assert flow["fct_us"] > 5 + 2 + 3.2


def test_parallel_edges_are_parallel_links() -> None:
    made = nx.MultiGraph()
    made.add_nodes_from([1, 2])
    made.add_edge(1, 2, rate="10G")
    made.add_edge(1, 2, rate="40G")
    links = from_networkx(made, kind="host", delay="1us").links or ()
    assert [(link.between, link.rate) for link in links] == [(("1", "2"), "10G"), (("1", "2"), "40G")]


def edited(edit: Callable[[nx.Graph], object]) -> nx.Graph:
    made = graph()
    edit(made)
    return made


@pytest.mark.parametrize(
    ("made", "message", "key"),
    [
        (nx.DiGraph([("a", "b")]), "the graph is directed, .*to_undirected", None),
        (nx.Graph(), "has no nodes", None),
        ("h1-h2", "a str is not a graph of networkx", None),
        (
            edited(lambda g: g.add_node("x")),
            r"node 'x': has no attribute 'kind'; allowed: host, switch",
            "kind",
        ),
        (
            edited(lambda g: g.add_node("x", kind="hots")),
            "node 'x': 'hots' is not a kind; allowed: host, switch; did you mean 'host'",
            "kind",
        ),
        (
            edited(lambda g: g.add_node("x", kind="host", tag="a")),
            "node 'x': 'tag' is not an attribute; allowed: kind, tags; did you mean 'tags'",
            "tag",
        ),
        (edited(lambda g: g.add_node("h1..h4", kind="host")), r"node 'h1\.\.h4': is not a name", None),
        (edited(lambda g: g.add_node("", kind="host")), "it is empty", None),
        (edited(lambda g: g.add_node("x", kind="host", tags=3)), "tags are 3", "tags"),
        (edited(lambda g: g.add_edge("h1", "s2", rate=100)), r'write it like "400G"', "rate"),
        (
            edited(lambda g: g.add_edge("h1", "s2", dealy="1us")),
            "edge 's2' - 'h1': 'dealy' is not an attribute; .*did you mean 'delay'",
            "dealy",
        ),
        (edited(lambda g: g.add_edge("h1", "s2", delay="1us", length="1km")), "one of the two", "delay"),
        (edited(lambda g: g.add_edge("h1", "s2", count=0)), "count is 0", "count"),
        (edited(lambda g: g.add_edge("s1", "s1")), "linked with itself", None),
    ],
)
def test_a_graph_that_is_no_network_is_refused_with_its_place(
    made: nx.Graph, message: str, key: str | None
) -> None:
    with pytest.raises(package.GraphError, match=message) as caught:
        from_networkx(made, rate="100G", delay="1us")
    assert caught.value.key == key
    assert caught.value.place is None or str(caught.value).startswith(caught.value.place)


@pytest.mark.parametrize(("defaults", "key"), [({"delay": "1us"}, "rate"), ({"rate": "1G"}, "delay")])
def test_an_edge_without_rate_or_delay_is_refused(defaults: dict[str, str], key: str) -> None:
    made = nx.Graph([("a", "b")])
    with pytest.raises(package.GraphError, match="edge 'a' - 'b': has no attribute") as caught:
        from_networkx(made, kind="host", **defaults)
    assert caught.value.key == key


# Frames


def test_a_frame_becomes_flows_that_are_simulated() -> None:
    frame = pl.DataFrame(
        {
            "start_us": [0.0, 1.5, 0.1 + 0.2],
            "source": ["h1", "h2", "h1"],
            "destination": ["h3", "h4", "h4"],
            "size_bytes": [1000, 2000, 3000],
            "class": [None, 4, None],
            "source_port": [7, None, None],
        }
    )
    listed = flows(frame)
    rows = [flow.to_dict() for flow in listed]
    assert rows[0] == {"from": "h1", "to": "h3", "size": "1000B", "start": "0us", "source-port": 7}
    assert rows[1] == {"from": "h2", "to": "h4", "size": "2000B", "start": "1.5us", "class": 4}
    assert rows[2]["start"] == "0.3us"
    assert flows(frame.lazy()) == listed
    scenario = package.Scenario.from_toml(LISTED).replace(workload=[Workload(name="list", flows=listed)])
    ran = package.run(scenario)
    assert sorted(ran.flows["start_us"]) == [0.0, 0.3, 1.5]
    assert sorted(ran.flows["size_bytes"]) == [1000, 2000, 3000]


def test_texts_of_a_frame_are_quantities_as_they_are() -> None:
    frame = pl.DataFrame(
        {"source": "a", "destination": "b", "size_bytes": ["1MB", "unbounded"], "start_ns": 5}
    )
    assert [flow.size for flow in flows(frame)] == ["1MB", "unbounded"]
    assert flows(frame)[0].start == "5ns"


def row(**changes: object) -> pl.DataFrame:
    plain: dict[str, object] = {"source": "a", "destination": "b", "size_bytes": 1, "start_us": 0.0}
    return pl.DataFrame({**plain, **changes})


@pytest.mark.parametrize(
    ("frame", "message", "key", "place"),
    [
        (row(sorce="x"), "'sorce' is not a column .* did you mean 'source'", "sorce", None),
        (row().drop("size_bytes"), "no column has the 'size'", "size_bytes", None),
        (row().drop("start_us"), "'start_us' or 'start_ns'", "start_us", None),
        (row(start_ns=1), "the columns 'start_us' and 'start_ns' have the same meaning", "start_ns", None),
        (row(size_bytes=-1), "row 0, column 'size_bytes': -1: it is negative", "size_bytes", "row 0"),
        (row(size_bytes=1.5), "not a whole number of bytes", "size_bytes", "row 0"),
        (row(start_us=float("nan")), "it is not a number", "start_us", "row 0"),
        (row(start_us=None), "it is empty", "start_us", "row 0"),
        (row(source=1), "it is not text", "source", "row 0"),
        (row(**{"class": 1.5}), "it is not a whole number", "class", "row 0"),
        ([1], "a list is not a frame", None, None),
    ],
)
def test_a_frame_that_is_no_list_of_flows_is_refused_with_its_place(
    frame: pl.DataFrame, message: str, key: str | None, place: str | None
) -> None:
    with pytest.raises(package.TableError, match=message) as caught:
        flows(frame)
    assert (caught.value.key, caught.value.place) == (key, place)


@given(st.integers(0, 10**15))
def test_a_start_in_whole_picoseconds_is_kept(picoseconds: int) -> None:
    (flow,) = flows(row(start_us=picoseconds / 1e6))
    text = str(flow.start).removesuffix("us")
    assert abs(float(text) * 1e6 - picoseconds) <= max(0.51, picoseconds * 1e-15)


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"mtu": ["1KB", "2KB"]}, "axes: expected a list of pairs, .*, not a dict; list"),
        (["mtu"], "axes: 'mtu' is not a pair of a list of pairs"),
        ([("mtu",)], r"axes: \('mtu',\) is not a pair"),
        (5, "axes: expected a list of pairs, .*, not 5"),
        ([("mtu", [])], "mtu: varies over no value; give at least two"),
    ],
)
def test_axes_of_another_form_are_refused_with_the_right_one(
    tmp_path: Path, axes: object, message: str
) -> None:
    with pytest.raises(package.ComparisonError, match=message):
        package.vary(written(tmp_path, SMALL), axes)  # type: ignore[arg-type]


@pytest.mark.parametrize(("text", "name"), [(b"x", "x"), (None, "x"), ("x = 1", 3)])
def test_a_text_that_is_no_string_is_an_error_that_says_so(text: object, name: object) -> None:
    with pytest.raises(TypeError, match="the text of a scenario, and its name: expected strings, not "):
        package.Scenario.from_toml(text, name=name)  # type: ignore[arg-type]
