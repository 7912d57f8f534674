"""Recorded congestion feedback and allowances of senders."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

import floodway as package
from floodway.study.metrics.kinds import KINDS
from floodway.study.metrics.selection import Options
from made_up import made_up_result
from scenarios import BURST, SMALL, TOLD, written

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command
    from floodway.results import Result

SIGNALS = (
    *("time_ns", "node", "port", "link", "class", "event", "state", "flow_id", "window_bytes"),
    *("neighbour", "degree", "flows"),
)
MARKS = {"mark-ce": "ecn_marks", "mark-ue": "ue_marks", "cnp": "cnps"}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return package.run(package.load(written(tmp_path_factory.mktemp("recorded"), TOLD)))


def test_marks_and_cnps_have_as_many_rows_as_the_counters_count(recorded: Result) -> None:
    assert recorded.signals is not None
    for event, column in MARKS.items():
        rows = recorded.signals.filter(pl.col("event") == event)
        assert len(rows) == recorded.counters[column].sum()
    assert recorded.counters["ecn_marks"].sum() > 100
    assert recorded.counters["cnps"].sum() > 3
    assert recorded.counters["ue_marks"].sum() == recorded.counters["cns"].sum() == 0


def test_signals_name_port_flow_and_time(recorded: Result) -> None:
    assert recorded.signals is not None
    assert recorded.signals.columns == [*SIGNALS]
    assert recorded.signals["time_ns"].is_sorted()
    assert recorded.signals["time_ns"].min() > 10_000  # type: ignore[operator]
    assert set(recorded.signals["flow_id"].cast(pl.String)) == set(recorded.flows["flow_id"])
    assert set(recorded.signals["node"].cast(pl.String)) <= {"s1", "s2"}
    # These machines have no states, and their CNPs no window.
    assert recorded.signals["state"].null_count() == len(recorded.signals)
    assert recorded.signals["window_bytes"].null_count() == len(recorded.signals)
    assert recorded.signals["neighbour"].null_count() == len(recorded.signals)


def test_allowances_are_of_the_chosen_flows_and_begin_with_them(recorded: Result) -> None:
    assert recorded.allowances is not None
    assert recorded.allowances.columns == ["time_ns", "flow_id", "rate_gbps", "window_bytes", "allowed_gbps"]
    flows = recorded.allowances.group_by(pl.col("flow_id").cast(pl.String), maintain_order=True)
    first = {row["flow_id"]: row for row in flows.first().iter_rows(named=True)}
    assert sorted(first) == ["culprits:h1:0", "culprits:h2:0"]
    for row in first.values():
        assert (row["time_ns"], row["rate_gbps"], row["allowed_gbps"]) == (10_000.0, 100.0, 100.0)
    lowest = flows.agg(pl.col("allowed_gbps").min())["allowed_gbps"]
    assert (lowest < 60).all()
    assert (lowest > 0).all()


def test_feedback_is_saved_and_read_again_and_left_out_where_it_is_not_kept(
    recorded: Result, tmp_path: Path
) -> None:
    recorded.save(tmp_path / "recorded")
    again = package.read(tmp_path / "recorded")
    assert recorded.signals is not None
    assert recorded.allowances is not None
    assert recorded.signals.equals(again.signals)  # type: ignore[arg-type]
    assert recorded.allowances.equals(again.allowances)  # type: ignore[arg-type]
    small = package.run(package.load(written(tmp_path, SMALL)))
    assert (small.signals, small.allowances) == (None, None)
    small.save(tmp_path / "recorded", force=True)
    assert not (tmp_path / "recorded" / "signals.parquet").exists()


def test_threads_change_nothing(tmp_path: Path) -> None:
    one = package.run(package.load(written(tmp_path, TOLD)), threads=1)
    two = package.run(package.load(written(tmp_path, TOLD)), threads=2, force_threads=True)
    assert two.run.timings.threads == 2
    assert one.signals is not None
    assert one.allowances is not None
    assert one.signals.equals(two.signals)  # type: ignore[arg-type]
    assert one.allowances.equals(two.allowances)  # type: ignore[arg-type]


def test_the_summary_names_ports_that_notified_senders(
    floodway: Command, recorded: Result, tmp_path: Path
) -> None:
    summary = recorded.summary()
    assert summary.cnps.congestion_points == recorded.counters["cnps"].sum()
    assert summary.most_feedback[0].cnps == recorded.counters["cnps"].max()
    out = floodway("run", written(tmp_path, TOLD), "--full", "--out", tmp_path / "out").out
    assert "Most feedback by ports" in out
    assert "CNs" not in out
    assert f"over all ports: {summary.cnps.congestion_points:,} CNPs" in out
    assert "CNPs" not in floodway("run", written(tmp_path, SMALL), "--full", "--out", tmp_path / "small").out
    # Results of older versions do not count them.
    assert (made_up_result().summary().cnps.total, made_up_result().summary().most_feedback) == (0, ())


#: Three senders to one under DCQCN: ports mark, and only receivers make CNPs.
MARKED = TOLD.replace(TOLD[TOLD.index("    { proxy-cnp") : TOLD.index("]\n\n[[workload]]")], "")


def test_cnps_of_receivers_are_counted_and_distinguished_from_those_of_ports(
    floodway: Command, recorded: Result, tmp_path: Path
) -> None:
    result = package.run(package.load(written(tmp_path, MARKED)))
    made = result.summary().cnps
    assert (made.congestion_points, made.flags) == (0, 0)
    # None is lost, and all that were made arrive before the last flow is over.
    assert made.receivers == result.counters["receiver_cnps"].sum() == result.flows["cnps"].sum() > 5
    rows = result.counters.filter(pl.col("receiver_cnps") > 0)
    assert rows.select("node", "link", "class").rows() == [("h4", "h4-s2", 3)]
    assert KINDS["cnps-made"].compute(result, Options()).value == made.total
    assert KINDS["cnps-made"].compute(result, Options(ports=("switches",))).value == 0
    out = floodway("run", written(tmp_path, MARKED), "--full", "--out", tmp_path / "marked").out
    assert f"CNPs: 0 made by congestion points, {made.receivers:,} by receivers\n" in out
    # Where both make some, both stand there.
    both = recorded.summary().cnps
    assert both.receivers > 0
    assert both.congestion_points + both.receivers == recorded.flows["cnps"].sum()


def test_cnps_that_are_flags_of_acks_are_counted(floodway: Command, tmp_path: Path) -> None:
    file = written(tmp_path, MARKED.replace('"dcqcn"', '{ dcqcn = { cnp = "ack-flag" } }'))
    result = package.run(package.load(file), threads=1)
    made = result.outcome.cnps
    assert made is not None
    assert (made.congestion_points, made.receivers) == (0, 0)
    # Each packet that was marked has its ACK, but those whose ACK was still on its way.
    marks = int(result.counters["ecn_marks"].sum())
    assert marks * 0.8 < made.flags <= marks
    assert made.flags == result.counters["cnp_flags"].sum()
    assert KINDS["cnps-made"].compute(result, Options()).value == made.flags
    done = floodway("run", file, "--full", "--out", tmp_path / "flags")
    assert f"{made.flags:,} by receivers as flags of ACKs" in done.out
    verdicts = json.loads((tmp_path / "flags" / "run.json").read_text())["verdicts"]
    assert verdicts["cnps"] == {"congestion_points": 0, "receivers": 0, "flags": made.flags}
    # Without a mark, no word of CNPs.
    assert "CNPs" not in floodway("run", written(tmp_path, SMALL), "--full", "--out", tmp_path / "quiet").out


def test_ports_that_hold_flows_back_notify_neighbours_but_no_host(floodway: Command, tmp_path: Path) -> None:
    file = written(tmp_path, BURST)
    result = package.run(package.load(file))
    assert result.signals is not None
    notices = result.signals.filter(pl.col("event") == "cn")
    # s1 and s2 have hosts upstream only.
    assert len(notices) == result.counters["cns"].sum() > 0
    for ports in ("all",), ("s3",):
        assert KINDS["cns-made"].compute(result, Options(ports=ports)).value == len(notices)
    assert set(notices["neighbour"].cast(pl.String)) <= {"s1", "s2"}
    assert notices["degree"].is_between(0, 63).all()
    assert notices["flows"].is_between(0, 16).all()
    others = result.signals.filter(pl.col("event") != "cn")
    assert others.select(pl.col("neighbour", "degree", "flows").null_count()).row(0) == (len(others),) * 3
    assert result.summary().cns_made == len(notices)
    out = floodway("run", file, "--full", "--out", tmp_path / "out").out
    assert "CNs sent" in out
    assert f"{len(notices):,} CNs" in out


def test_full_tables_are_reported() -> None:
    outcome = made_up_result(signals={"rows": 4, "beyond": 7}, allowances={"rows": 4, "beyond": 2}).outcome
    assert (outcome.signals_beyond, outcome.allowances_beyond, outcome.pauses_beyond) == (7, 2, 0)
    assert made_up_result().outcome.signals_beyond == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ('["culprit"]', '"culprit" matches nothing; did you mean "culprits"?'),
        ('{ tag = "x" }', "matches nothing"),
        ("3", "true, false, a workload, a list of workloads"),
    ],
)
def test_allowances_of_an_unknown_workload_are_an_error(given: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(package.ScenarioError) as error:
        package.load(written(tmp_path, TOLD.replace('["culprits"]', given)))
    assert said in str(error.value)
    assert "allowances" in str(error.value)
