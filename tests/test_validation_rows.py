from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floodway_lab.validation import CaseResult, Reference, Side
from floodway_lab.validation.counts import Counts
from floodway_lab.validation.equality import decided, equal
from floodway_lab.validation.first import first_difference
from floodway_lab.validation.flows import differences, matched, nearest_rank, tied
from floodway_lab.validation.queues import busiest
from floodway_lab.validation.rules import RULES, Limit, spread
from hpcc_cases import case_of, failing, flows_of, pauses_of, queues_of, rows_of, side

if TYPE_CHECKING:
    from floodway_lab.validation.rules import Kind


def test_a_side_equals_itself() -> None:
    own = side(flows_of(range(1000, 1400)), pauses=pauses_of({1: 150}))
    rows = rows_of(own, own)
    assert failing(rows) == set()
    assert rows["fct.equal"].typical == 1
    assert rows["fct.largest"].bounded_value == 0
    assert {row.difference for row in rows.values() if row.reference is not None} == {0.0}


@settings(max_examples=25)
@given(
    st.lists(st.integers(1000, 10**9), min_size=20, max_size=300),
    st.floats(-0.004, 0.004),
    st.randoms(use_true_random=False),
)
def test_what_is_close_everywhere_passes(times: list[int], by: float, random: object) -> None:
    expected = flows_of(times)
    ours = expected.with_columns(fct_ns=(pl.col("fct_ns") * (1 + by)).round().cast(pl.Int64))
    random.shuffle(order := list(range(len(times))))  # type: ignore[attr-defined]
    assert failing(rows_of(side(expected), side(ours[order]))) == set()


@settings(max_examples=25)
@given(
    st.lists(st.integers(10_000, 10**9), min_size=20, max_size=300), st.integers(0, 19), st.floats(0.021, 3)
)
def test_a_single_flow_that_is_far_off_fails(times: list[int], which: int, by: float) -> None:
    expected = flows_of(times)
    row = pl.int_range(pl.len()) == which
    later = (pl.col("fct_ns") * (1 + by)).ceil().cast(pl.Int64)
    ours = expected.with_columns(fct_ns=pl.when(row).then(later).otherwise("fct_ns"))
    assert "fct.largest" in failing(rows_of(side(expected), side(ours)))


@settings(max_examples=25)
@given(st.lists(st.integers(1000, 10**9), min_size=20, max_size=300), st.floats(0.006, 0.019))
def test_flows_that_are_all_a_little_off_fail(times: list[int], by: float) -> None:
    expected = flows_of(times)
    ours = expected.with_columns(fct_ns=(pl.col("fct_ns") * (1 + by)).ceil().cast(pl.Int64))
    rows = rows_of(side(expected), side(ours))
    assert "fct.close" in failing(rows)
    assert rows["fct.bias"].bounded_value == pytest.approx(by, rel=0.2)


def test_flows_that_one_side_lacks_are_counted_and_named() -> None:
    expected, ours = flows_of(range(100, 110)), flows_of(range(100, 110)).slice(1)
    rows = rows_of(side(expected), side(ours))
    assert rows["flows.unmatched"].typical == 1
    assert "flows.unmatched" in failing(rows)
    case = CaseResult(
        reference=Reference(case=case_of(marks=False), side=side(expected)), seeds=(1,), sides=(side(ours),)
    )
    assert list(case.unmatched(5)) == ["only the reference finished 1:10000 to 1000:100, 1,000 bytes"]


def test_a_start_that_is_a_nanosecond_off_fails() -> None:
    expected = flows_of(range(100, 110))
    ours = expected.with_columns(start_ns=pl.col("start_ns") + (pl.int_range(pl.len()) == 3).cast(pl.Int64))
    assert failing(rows_of(side(expected), side(ours))) == {"start.equal"}


def test_flows_with_other_ports_are_matched_by_size_and_start() -> None:
    expected = flows_of(range(100, 110))
    ours = expected.with_columns(source_port=pl.lit(5, pl.Int64)).with_columns(fct_ns=pl.col("fct_ns") + 1)
    match = matched(expected, ours)
    assert (len(match.both), match.by_ports, match.unmatched) == (10, 0, 0)
    assert (match.both["own_fct_ns"] - match.both["fct_ns"]).to_list() == [1] * 10
    assert "ports differ" in rows_of(side(expected), side(ours))["flows.unmatched"].note


def test_flows_of_one_name_are_matched_in_the_order_of_their_starts() -> None:
    names = {name: pl.lit(1, pl.Int64) for name in ("source", "destination")}
    expected = flows_of([100, 200, 300]).with_columns(**names)
    match = matched(expected, expected.reverse())
    assert match.by_ports == 3
    assert np.all(differences(match.both) == 0)


def test_flows_that_tie_are_compared_by_rank() -> None:
    times, starts = [100, 200, 300, 400], [5, 5, 5, 5]
    expected, ours = flows_of(times, starts=starts), flows_of(times[::-1], starts=starts)
    assert tied(expected)
    rows = rows_of(side(expected), side(ours))
    assert rows["fct.equal"].typical == 0
    assert rows["fct.close"].typical == 1
    assert failing(rows) == set()
    assert not tied(flows_of(times))


def test_a_few_ties_among_many_flows_are_none_to_speak_of() -> None:
    many = flows_of(range(1000, 2000))
    two = many.with_columns(
        start_ns=pl.when(pl.int_range(pl.len()) < 2).then(0).otherwise("start_ns"),
        source=pl.when(pl.int_range(pl.len()) < 2).then(1).otherwise("source"),
    )
    assert not tied(two)


def test_where_switches_mark_at_random_our_own_spread_counts() -> None:
    expected = side(flows_of(range(10_000, 10_100)))

    def times(by: float) -> Side:
        return side(expected.flows.with_columns(fct_ns=(pl.col("fct_ns") * by).cast(pl.Int64)))

    assert failing(rows_of(expected, times(1.03), times(1.03), marks=True)) == {"fct.typical"}
    rows = rows_of(expected, times(1.03), times(0.97), marks=True)
    assert failing(rows) == set()
    limit = rows["fct.typical"].limit
    assert limit is not None
    assert limit.is_spread
    assert limit.value == pytest.approx(0.06, rel=0.1)


def test_buckets_with_few_flows_have_no_verdict() -> None:
    few, many = flows_of(range(1000, 1199), size=10), flows_of(range(1000, 1200), size=10)
    assert rows_of(side(few), side(few))["fct.p99.below-1-KB"].verdict == "shown"
    assert rows_of(side(many), side(many))["fct.p99.below-1-KB"].verdict == "pass"
    late = many.with_columns(fct_ns=pl.when(pl.col("fct_ns") > 1190).then(9000).otherwise("fct_ns"))
    assert {"fct.p99.below-1-KB", "slowdown.p99.below-1-KB"} <= failing(
        rows_of(side(many), side(late), marks=True)
    )


@given(st.lists(st.floats(1, 1e9), min_size=1), st.floats(0.01, 1))
def test_a_percentile_is_one_of_the_values_and_reaches_its_share(values: list[float], rank: float) -> None:
    found = nearest_rank(np.array(values), rank)
    assert found in values
    assert sum(value <= found for value in values) >= rank * len(values) - 1e-6


@given(st.lists(st.floats(1, 1e6), min_size=1, max_size=8))
def test_spread_is_that_of_the_two_seeds_farthest_apart(values: list[float]) -> None:
    assert spread(values) == pytest.approx(spread([min(values), max(values)]))


@given(st.lists(st.floats(1, 1e6), min_size=1, max_size=8))
def test_spread_does_not_depend_on_the_order_of_seeds(values: list[float]) -> None:
    assert spread(values) == pytest.approx(spread(values[::-1]))
    assert spread(values[:1]) == 0


def test_what_is_no_number_keeps_within_no_limit() -> None:
    nothing = float("nan")
    assert {Limit(side=side, value=1.0).verdict(nothing) for side in ("most", "least")} == {"fail"}


@pytest.mark.parametrize(
    ("expected", "ours", "verdict"),
    [
        (100, 110, "pass"),
        (100, 112, "fail"),
        (100, 89, "fail"),
        (99, 50, "shown"),
        (0, 99, "shown"),
        (95, 106, "shown"),
        (0, 200, "fail"),
        (0, 0, "shown"),
    ],
)
def test_frames_are_judged_where_there_are_enough(expected: int, ours: int, verdict: str) -> None:
    flows = flows_of(range(100, 110))
    rows = rows_of(side(flows, pauses=pauses_of({3: expected})), side(flows, pauses=pauses_of({3: ours})))
    assert rows["pfc.pause"].verdict == verdict
    assert rows["pfc.resume"].verdict == verdict


def test_lines_of_frames_and_samples_of_queues_are_compared_one_by_one() -> None:
    flows = flows_of(range(100, 110))
    expected = side(flows, pauses=pauses_of({3: 60}), queues=queues_of({5: 30, 6: 10}))
    later = pauses_of({3: 60}).with_columns(time_ns=pl.col("time_ns") + (pl.col("time_ns") == 1000))
    ours = side(flows, pauses=later, queues=queues_of({5: 27, 6: 12}))
    rows = rows_of(expected, ours)
    assert rows["pfc.lines"].typical == 119 / 120
    assert (rows["queue.equal"].typical, rows["queue.apart"].typical) == (37 / 40, 3)
    assert equal(expected, expected)
    assert not equal(expected, ours)
    assert not equal(expected, side(flows, pauses=later, queues=expected.queues))
    assert not equal(expected, side(flows, pauses=expected.pauses, queues=ours.queues))
    assert not equal(expected, side(flows, pauses=expected.pauses))
    assert decided(expected, side(flows, pauses=expected.pauses, queues=ours.queues))
    assert equal(side(flows), expected)


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=20), st.data())
def test_a_nanosecond_of_one_flow_is_a_difference(times: list[int], data: st.DataObject) -> None:
    which = data.draw(st.integers(0, len(times) - 1))
    changed = [time + (place == which) for place, time in enumerate(times)]
    assert equal(side(flows_of(times)), side(flows_of(times)))
    assert not equal(side(flows_of(times)), side(flows_of(changed)))


def test_frames_at_other_nodes_are_reported() -> None:
    flows = flows_of(range(100, 110))
    expected, ours = side(flows, pauses=pauses_of({3: 60, 4: 60})), side(flows, pauses=pauses_of({3: 120}))
    assert rows_of(expected, ours)["pfc.nodes"].typical == 1
    case = CaseResult(
        reference=Reference(case=case_of(marks=False), side=expected), seeds=(1,), sides=(ours,)
    )
    assert {"node": 4, "event": "pause", "reference": 60, "ours": [0]} in case.nodes


@pytest.mark.parametrize(
    ("ours", "failed"),
    [
        ({100: 1000, 200: 1000}, set()),
        ({101: 1000, 201: 1000}, set()),
        ({110: 1000, 220: 1000}, {"mean", "p99"}),
        ({100: 1100, 200: 1100}, {"samples"}),
        ({}, {"samples", "mean", "p99"}),
    ],
)
def test_queues_are_judged_by_samples_mean_and_tail(ours: dict[int, int], failed: set[str]) -> None:
    flows = flows_of(range(100, 110))
    expected = side(flows, queues=queues_of({100: 1000, 200: 1000}))
    rows = rows_of(expected, side(flows, queues=queues_of(ours)))
    assert failing(rows) == {f"queue.16-1.{name}" for name in failed}


def test_the_busiest_ports_are_those_with_the_most_waiting() -> None:
    ports = [queues_of({10: 100 * port}, port=port) for port in range(1, 7)]
    assert [port.port for port in busiest(pl.concat(ports))] == [3, 4, 5, 6]


def test_what_is_left_to_chance_is_bounded_no_closer() -> None:
    def bounds(kind: Kind) -> tuple[float, float]:
        rules = RULES[kind]
        assert rules.p50 is not None
        assert rules.p99 is not None
        return rules.p50, rules.p99

    exact = bounds("exact")
    for kind in ("tied", "random", "hashed"):
        assert bounds(kind)[0] >= exact[0]
        assert bounds(kind)[1] > exact[1]
        assert RULES[kind].close is None
        assert RULES[kind].or_spread


def test_where_ties_draws_and_paths_are_the_references_a_nanosecond_fails() -> None:
    expected = flows_of(range(1000, 1400))
    later = expected.with_columns(fct_ns=pl.col("fct_ns") + (pl.int_range(pl.len()) == 300).cast(pl.Int64))
    for marks in (False, True):
        assert failing(rows_of(side(expected), side(later), marks=marks, other_build=False)) == {"fct.equal"}
        assert failing(rows_of(side(expected), side(later), marks=marks)) == set()


def test_where_equality_is_due_a_frame_a_sample_and_a_total_fail_as_a_flow_does() -> None:
    flows, here = flows_of(range(100, 110)), queues_of({5: 30})
    expected = Side(flows=flows, pauses=pauses_of({3: 6}), queues=here, counts=Counts(drops=0, packets=10))
    others = {
        "pfc.lines": replace(expected, pauses=pauses_of({3: 7})),
        "queue.equal": replace(expected, queues=queues_of({5: 29, 6: 1})),
        "packets.sent": replace(expected, counts=Counts(drops=0, packets=11)),
    }
    for key, ours in others.items():
        assert failing(rows_of(expected, ours, other_build=False)) == {key}
        case = CaseResult(
            reference=Reference(case=case_of(marks=False), side=expected), seeds=(1,), sides=(ours,)
        )
        assert (case.kind, case.verdict) == ("equal", "fail")


def hashed(expected: Side, ours: Side) -> CaseResult:
    case = case_of(marks=True, pinned=False)
    return CaseResult(reference=Reference(case=case, side=expected), seeds=(1,), sides=(ours,))


@pytest.mark.parametrize(("before", "kind"), [(199, "hashed"), (200, "equal")])
def test_paths_are_the_references_where_enough_flows_had_ended_before_anything_differs(
    before: int, kind: Kind
) -> None:
    # Flows start 7 ns apart and take 1000 ns each: the n-th is the n-th to end.
    expected = flows_of([1000] * 300)
    late = (pl.int_range(pl.len()) >= before).cast(pl.Int64)
    changed = expected.with_columns(fct_ns=pl.col("fct_ns") + late)
    case = hashed(side(expected), side(changed))
    assert (case.kind, case.verdict) == (kind, "fail" if kind == "equal" else "pass")
    assert case.first is not None
    assert (case.first.before, case.first.differing) == (before, 300 - before)
    assert case.first.time_ns == 7 * before + 1000


def test_a_frame_before_all_flows_is_the_first_difference() -> None:
    flows = flows_of([5000] * 300)
    expected, ours = side(flows, pauses=pauses_of({3: 2})), side(flows, pauses=pauses_of({3: 1}))
    first = first_difference(expected, ours)
    assert first is not None
    assert str(first) == (
        "1,000 ns after the first start: PFC pause received by node 3 at port 1: 1 in the reference, 0 in "
        "floodway; 0 flows had ended before, all equal; 0 differ"
    )
    assert first_difference(expected, expected) is None


def test_a_flow_that_one_side_lacks_differs_when_it_ends() -> None:
    expected = flows_of([1000] * 3)
    first = first_difference(side(expected), side(expected.slice(0, 2)))
    assert first is not None
    assert (first.time_ns, first.before) == (1014, 2)
    assert "1,000 ns in the reference, unfinished in floodway" in first.text
