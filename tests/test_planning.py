"""Plans of long links: what is needed, what is set, and that runs hold at the size and lose below it."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from floodway import run as floodway_run
from floodway.common.errors import PlanError, UnknownNameError
from floodway.planning import question as question_module
from floodway.planning import trials as planning_runs
from floodway.planning.answer import distance, question_text
from floodway.planning.document import tables
from floodway.planning.flow_controls import FLOW_CONTROLS, flow_control
from floodway.planning.headroom import headroom_terms, largest_held, pfc_headroom
from floodway.planning.link import Buffers
from floodway.planning.planner import plan, plan_of, reach_m
from floodway.planning.pool import pool
from floodway.planning.question import Question
from floodway.planning.trials import Runs, busy_trial, carried_trial, flap_trial, trial

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from floodway._floodway import Progress
    from floodway.planning.planner import Plan
    from floodway.results import Result
    from floodway.scenarios.scenario import Scenario

MB = 1_000_000
#: Links that are small enough to run in a moment, and differ in what decides a size.
QUESTIONS = st.builds(
    Question.of,
    rate=st.sampled_from(["10G", "40G", "100G", "400G"]),
    length=st.sampled_from(["100m", "300m", "2km", "5km", "17km"]),
    mtu=st.sampled_from(["256B", "1024B", "4096B", "9000B"]),
    cell=st.sampled_from(["1B", "80B", "208B", "254B", "420B"]),
    mix=st.sampled_from(["any", "small", "64B:3,300B"]),
)


def of(**keys: object) -> Question:
    return Question.of(**({"rate": "400G", "length": "40km"} | keys))  # type: ignore[arg-type]


def buffers(question: Question, name: str, size: int) -> Buffers:
    return Buffers(control=flow_control(name).thresholds(question, size).control, size=size)


def test_headroom_is_the_sum_of_the_standard_s_terms() -> None:
    """IEEE 802.1Qbb, Annex O: two delays, reaction, interface, two frames, the pause, without cells."""
    question = of()
    frame = 4096 + 62 + 16
    reaction = interface = 905 * 64
    assert pfc_headroom(question) == 20 * MB + reaction + interface + 2 * frame + 64 + 40


@pytest.mark.parametrize(
    ("rate", "bits"), [("10G", 8_192), ("25G", 6_144), ("40G", 24_576), ("100G", 122_880)]
)
def test_the_port_s_own_interface_counts_beside_the_far_end_s_reaction(rate: str, bits: int) -> None:
    """Annex O's D-Intf, as Cisco quotes it."""
    asked = {"rate": rate, "length": "100m", "mtu": "9138B"}
    without = pfc_headroom(of(**asked, interface_delay="0us"))
    assert pfc_headroom(of(**asked)) == without + bits // 8
    if rate == "100G":
        assert (without, pfc_headroom(of(**asked))) == (56_252, 71_612)


@given(question=QUESTIONS, latency=st.sampled_from(["0us", "0.6us", "13ns"]))
def test_the_terms_of_headroom_add_up_and_have_sources(question: Question, latency: str) -> None:
    one_way = Question.of(rate="10G", length="1m", latency=latency).delay_ps - 5_000
    asked = replace(question, delay_ps=question.delay_ps + one_way)
    terms = headroom_terms(asked)
    assert sum(each.bytes for each in terms) == pfc_headroom(asked)
    assert all(each.source and each.value for each in terms)
    by_name = {each.name: each.bytes for each in terms}
    assert by_name["latency beside it, there and back"] == pytest.approx(
        2 * one_way * asked.rate_bps / 8e12, abs=1
    )


def test_100_kilometres_of_51_terabits_need_gigabytes() -> None:
    """A check from outside: 51.2T over 100 km has 6.4 GB on the fibre, and needs 12.8 GB to stay busy."""
    question = of(rate="51200G", length="100km", react="1us", interface_delay="0us")
    assert question.round_trip_bytes == 6_400 * MB
    assert flow_control("pfc").no_loss(question) == pytest.approx(6_400 * MB, rel=0.002)
    assert flow_control("pfc").busy(question) == pytest.approx(12_800 * MB, rel=0.002)


@pytest.mark.parametrize(("rate", "kilometres"), [("100G", 512), ("400G", 128), ("800G", 64)])
def test_64_megabytes_reach_as_far_as_the_fibre_s_bytes_allow(rate: str, kilometres: int) -> None:
    """Planner's closed forms: 64 MB is 512 km at 100G, and half of it without idle time."""
    question = of(rate=rate, buffer="64MB")
    pfc = flow_control("pfc")
    assert reach_m(question, pfc, pfc.no_loss) == pytest.approx(kilometres * 1000, rel=0.01)
    assert reach_m(question, pfc, pfc.busy) == pytest.approx(kilometres * 500, rel=0.01)


@settings(max_examples=15, deadline=None)
@given(question=QUESTIONS)
@example(question=of(length="17km", cell="254B", mix="dnx"))
def test_pfc_holds_at_the_planned_size_and_loses_a_cell_below_the_least(question: Question) -> None:
    pfc = flow_control("pfc")
    planned = pfc.thresholds(question, pfc.no_loss(question))
    found = trial(question, buffers(question, "pfc", planned.size), pauses=True, with_least=True)
    assert found.holds
    # The runs at the least size, which holds, and at a cell less, which loses, are part of the trial.
    assert found.least is not None
    assert found.least <= planned.size
    # What formula and run differ by: of every frame the preamble and gap that a buffer without cells does not
    # hold, frames cut off at both ends of the time that counts, and the phase of the mix.
    frame = largest_held(question)
    unseen = 0 if question.cell_bytes > 1 else pfc_headroom(question) * 20 // 84
    mix = sum(-(-each // question.cell_bytes) * question.cell_bytes for each in question.mix_bytes)
    assert planned.size - found.least <= unseen + 4 * frame + mix


@settings(max_examples=8, deadline=None)
@given(question=QUESTIONS, name=st.sampled_from(["pfc", "pfc-timer", "cbfc", "bifrost", "swing"]))
def test_a_busy_size_loses_nothing_and_does_not_idle(question: Question, name: str) -> None:
    own = flow_control(name)
    try:
        size = own.busy(question)
    except PlanError:
        # It is not made for such a link, and says so.
        return
    found = busy_trial(question, buffers(question, name, size))
    # Of each slot of 10 us Bifrost may leave a frame and a quantum of 64 bytes: a frame that does not fit in
    # what is granted waits, and grants are whole quanta.
    slots = (8 * question.delay_ps + 300_000_000) // 10_000_000 if name == "bifrost" else 0
    assert found.lost_packets == 0
    assert found.idle_ps <= slots * (question.largest_frame + 84) * 8 * 10**12 // question.rate_bps


def test_the_size_that_only_loses_nothing_lets_the_link_idle() -> None:
    question = of(rate="100G", length="10km")
    found = busy_trial(question, buffers(question, "pfc", flow_control("pfc").no_loss(question)))
    assert found.lost_packets == 0
    # A round trip: nothing is left when the resume is sent.
    assert found.idle_ps == pytest.approx(2 * question.delay_ps, rel=0.02)


@pytest.mark.parametrize("drain", [0.5, 0.75, 0.9])
@pytest.mark.parametrize("part", [0.0, 0.3, 1.0])
def test_throughput_by_formula_is_that_of_runs(drain: float, part: float) -> None:
    """SWING, Eq. 4."""
    question = of(rate="100G", length="40km", mtu="1024B")
    pfc = flow_control("pfc")
    size = round(pfc.no_loss(question) + part * (pfc.busy(question) - pfc.no_loss(question)))
    xoff = flow_control("pfc").thresholds(question, size).xoff
    found = carried_trial(question, buffers(question, "pfc", size), drain=drain, xoff=xoff)
    assert found == pytest.approx(pfc.carried(question, size, drain), rel=0.02)


def test_a_shared_buffer_holds_when_all_links_stop_at_once_unless_it_is_over_subscribed() -> None:
    question = of(rate="100G", length="10km", links=3, classes=2, buffer="40MB", cell="254B", mix="dnx")
    whole = pool(question)
    assert whole is not None
    assert whole.shared == whole.total - 6 * whole.headroom_each
    held = trial(question, whole.buffers(question), pauses=True, with_least=False)
    assert held.holds
    assert held.peak <= whole.headroom_pool
    halved = pool(question, oversubscribed=2.0)
    assert halved is not None
    assert not trial(question, halved.buffers(question), pauses=True, with_least=False).holds


def test_alpha_is_the_least_that_keeps_a_link_that_is_alone_busy() -> None:
    question = of(links=2, buffer="200MB")
    found = pool(question)
    busy = flow_control("pfc").thresholds(question, flow_control("pfc").busy(question)).xoff
    assert found is not None
    assert busy is not None
    assert found.alpha is not None
    assert found.xoff_alone >= busy
    half = found.alpha / 2
    assert found.shared * half / (1 + half) < busy


def test_a_plan_that_cannot_be_met_says_which_number_is_missing() -> None:
    plan = plan_of(of(links=8, buffer="64MB"), simulate=False)
    pfc = plan.row("pfc")
    assert pfc.no_loss * 8 - 64 * MB == 8 * (20_124_292 + 4 * 4174 - 1) - 64 * MB
    assert (pfc.links_no_loss, pfc.links_busy) == (3, 1)
    assert plan.pool is not None
    assert plan.pool.shared < 0
    with pytest.raises(
        UnknownNameError, match=r"'pfc-timr' is not a flow control of this plan; .*'pfc-timer'"
    ) as no_row:
        plan.row("pfc-timr")
    assert no_row.value.nearest == "pfc-timer"


def test_flow_controls_for_one_class_are_refused_with_a_reason() -> None:
    plan = plan_of(of(classes=2), simulate=False)
    refused = {row.flow_control: row.refused for row in plan.rows if row.refused}
    assert set(refused) == {"bifrost", "swing"}
    assert "one lossless class" in refused["bifrost"]
    assert (
        "a slot of 10us does not lie between"
        in plan_of(of(length="300m"), simulate=False).row("bifrost").refused
    )


@pytest.mark.parametrize("name", ["pfc", "pfc-timer", "bifrost", "swing"])
def test_a_flap_in_a_stall_loses_unless_it_is_sized_for(name: str) -> None:
    question = of(rate="100G", length="40km", survive="flap=500us")
    row = plan_of(question, flow_controls=[name]).row(name)
    assert row.flap_run is not None
    assert row.flap_run.holds
    assert row.restart > 0
    before = buffers(question, name, row.busy - row.restart)
    assert not flap_trial(question, before, flap_ps=500_000_000).holds
    # What formulas are held against is still the least headroom without the flap.
    if row.least_headroom is not None:
        assert row.least_headroom <= pfc_headroom(question)


def test_cbfc_survives_a_flap_without_more() -> None:
    question = of(rate="100G", length="40km", survive="flap=500us")
    row = plan_of(question, flow_controls=["cbfc"]).row("cbfc")
    assert row.restart == 0
    assert row.flap_run is not None
    assert row.flap_run.holds


def test_every_scenario_of_a_plan_is_kept() -> None:
    plan = plan_of(of(rate="100G", length="2km", buffer="20MB"))
    names = plan.scenarios()
    assert {f"{each.name}-planned" for each in FLOW_CONTROLS} <= set(names) | {"bifrost-planned"}
    assert {"pfc-least", "pfc-one-cell-less", "pfc-busy", "pool-planned"} <= set(names)


def test_a_longer_link_keeps_what_is_not_fibre() -> None:
    question = of(latency="30us")
    assert question.at(80_000).delay_ps == 400_000_000 + 30_000_000
    assert replace(question, delay_ps=0).delay_ps == 0


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"length": "-3km"}, r"length: '-3km' is not a length of whole metres above 0 and up to 50000km"),
        ({"length": "0.0005km"}, r"length: '0.0005km' is not a length of whole metres"),
        ({"rate": "0G"}, r"rate: 0 is not a rate of a link"),
        ({"rate": "fast"}, r"rate: "),
        ({"links": 0}, r"links: 0 is not from 1 to 512"),
        ({"classes": 8}, r"classes: 8 is not from 1 to 7"),
        ({"mix": "32B"}, r"mix: 32 B is not a frame of 64 to 4174 B"),
        ({"mix": "64B:0"}, r"mix: '0' is not a count of frames, 1 to 1000"),
        ({"cell": "0B"}, r"cell: 0 is not from 1 to 8192"),
        ({"mix": "64B,65B," * 8 + "64B"}, r"mix: 17 sizes one after another are more than 16"),
        ({"survive": "flood=1ms"}, r"survive: 'flood=1ms' is not a fault that is sized for"),
        ({"survive": "flap=0us"}, r"survive: 'flap=0us': a flap takes time"),
        ({"buffer": "0B"}, r"buffer: 0B holds no packet"),
        ({"rate": "33G"}, r"react: IEEE 802.3 has no time for this rate"),
        ({"rate": "33G", "react": "1us"}, r"interface-delay: IEEE 802.3 has no time for this rate"),
    ],
)
def test_wrong_values_are_named(keys: dict[str, object], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        of(**keys)


def test_wrong_names_have_the_nearest_right_one() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'tomahawk-5'"):
        of(asic="tomahawk5")
    with pytest.raises(PlanError, match="did you mean 'bifrost'"):
        plan_of(of(), flow_controls=["bifrots"], simulate=False)
    for ratio in (0.5, float("inf"), float("nan"), 10**400):
        with pytest.raises(PlanError, match=r"oversubscribe: \S+ is not a number of at least 1, and finite"):
            plan_of(of(), oversubscribed=ratio, simulate=False)


def test_an_interrupt_ends_all_runs_of_a_plan() -> None:
    code = """
import os, signal, threading
from floodway.planning.planner import plan, plan_of
from floodway.planning.question import Question

def done(count, of):
    if count == 1:
        os.kill(os.getpid(), signal.SIGINT)

try:
    plan_of(Question.of(rate="400G", length="40km"), jobs=2, done=done)
except KeyboardInterrupt:
    print("interrupted", threading.active_count())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "interrupted 1\n"


def test_finished_runs_of_an_interrupted_plan_are_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = Question.of(rate="100G", length="2km", buffer="4MB")
    seen: list[Scenario] = []

    def run(scenario: Scenario, *, on_progress: Callable[[Progress], None]) -> Result:
        seen.append(scenario)
        if len(seen) == 4:
            raise KeyboardInterrupt
        return floodway_run(scenario, on_progress=on_progress)

    def planned() -> Plan:
        return plan_of(question, flow_controls=["pfc"], jobs=1, runs=Runs(tmp_path / "runs"))

    monkeypatch.setattr(planning_runs, "run", run)
    with pytest.raises(KeyboardInterrupt):
        planned()
    assert len(list((tmp_path / "runs").iterdir())) == 3
    found = planned()
    # What was interrupted is run again, and what follows it.
    whole, other = len(seen) - 1, plan_of(question, flow_controls=["pfc"], jobs=1)
    assert len(seen) - 1 == 2 * whole
    assert found.to_dict() == other.to_dict()


def test_a_plan_needs_a_job_at_least() -> None:
    with pytest.raises(PlanError, match="jobs: 0 is not a number of at least 1"):
        plan(rate="100G", length="2km", jobs=0)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("rate", 400, "rate: 400 is not a text with a unit"),
        ("asic", 3, "asic: 3 is not the name of a chip"),
        ("mix", ["64B"], r"mix: \['64B'\] is not a text"),
        ("survive", 3, "survive: 3 is not a text"),
        ("links", "8", "links: '8' is not a whole number"),
        ("links", 8.0, "links: 8.0 is not a whole number"),
        ("links", True, "links: True is not a whole number"),
        ("oversubscribe", "2", "oversubscribe: '2' is not a number"),
        ("flow_controls", "pcf", "flow-control: 'pcf' is not a flow control"),
    ],
)
def test_a_value_of_another_kind_is_named(key: str, value: object, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        plan(**({"rate": "400G", "length": "40km", "simulate": False} | {key: value}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "mix",
    [
        "64B:1000,65B:999",
        "64B:997,65B:991,66B:983,67B:977",
        ",".join(f"{64 + each}B:{1000 - each}" for each in range(16)),
    ],
)
def test_every_allowed_mix_is_planned_in_a_moment(mix: str) -> None:
    began = time.process_time()
    found = plan(rate="400G", length="40km", buffer="64MB", cell="254B", mix=mix, simulate=False)
    assert time.process_time() - began < 20
    need = found.row("pfc").no_loss
    small = plan(rate="400G", length="40km", cell="254B", mix="small", simulate=False).row("pfc").no_loss
    assert 0.7 * small < need <= small + 4 * 1000


def test_the_most_important_choice_is_shown_side_by_side() -> None:
    """Four links of 400G over 10 km in 113 MB: 52 MB keep them busy with DNX's frames, 122 MB with any."""
    asked: dict[str, Any] = {"rate": "400G", "length": "10km", "asic": "TH4", "links": 4, "simulate": False}
    found = plan(**asked)
    by_name = {each.mix: each for each in found.by_mix}
    assert [name for name, each in by_name.items() if each.is_asked] == ["any"]
    assert (by_name["any"].verdict, by_name["dnx"].verdict) == ("may idle", "enough")
    for name, each in by_name.items():
        row = plan(**asked, mix=name).row("pfc")
        assert (each.no_loss, each.busy) == (4 * row.no_loss, 4 * row.busy)
    (said,) = [each for each in found.warnings if "choose the mix that your traffic has" in each]
    assert "PFC with frames of any size: may idle (62.02 MB to lose nothing, 122.5 MB" in said
    assert "--mix dnx: enough (26.39 MB to lose nothing, 52.1 MB" in said
    # Where bytes are counted, frames decide nothing.
    assert plan(rate="400G", length="10km", buffer="64MB", simulate=False).by_mix == ()


def test_a_mix_of_one_s_own_is_among_those_shown() -> None:
    found = plan(rate="400G", length="10km", asic="TH4", mix="64B:3,1082B", simulate=False)
    (own,) = [each for each in found.by_mix if each.is_asked]
    assert own.mix == "as asked"
    assert own.no_loss == found.row("pfc").no_loss


def test_cells_of_8_kib_are_planned() -> None:
    asked = of(rate="100G", length="100m", cell="8KiB", mtu="9000B", mix="64B,9000B", buffer="20MB")
    run = plan_of(asked, flow_controls=["pfc"]).row("pfc").trial
    assert run is not None
    assert run.holds
    assert run.least is not None


def test_the_names_that_are_checked_are_those_of_the_flow_controls() -> None:
    assert tuple(each.name for each in FLOW_CONTROLS) == question_module.FLOW_CONTROLS


def test_bifrost_s_size_is_set_beside_pfc_s_for_the_same_frames() -> None:
    asked = {"rate": "400G", "length": "40km", "cell": "254B", "simulate": False}
    for mix, said in (("dnx", True), ("any", False)):
        found = plan(**asked, mix=mix)  # type: ignore[arg-type]
        (bifrost,) = [each for each in found.answers if each.startswith("Bifrost")]
        assert ("for frames of any size, for which PFC needs" in bifrost) == said


def test_bounds_of_waits_count_what_a_class_holds_in_a_shared_buffer() -> None:
    alone = plan(rate="400G", length="2km", buffer="64MB", links=8, simulate=False)
    assert alone.pool is not None
    assert alone.advice is not None
    held = alone.pool.xoff_alone + alone.pool.headroom_each
    assert alone.advice.longest_wait_ps >= held * 8 * 1_000_000_000_000 // alone.question.rate_bps


def test_numbers_of_headlines_have_no_exponent() -> None:
    far = Question.of(rate="400G", length="50000km", latency="750ms", buffer="64MB")
    assert question_text(far).startswith(
        "one link of 400G over 50,000 km, 1,000,000 us one way, one lossless class"
    )
    assert [distance(metres) for metres in (999, 12_345, 1_234_567)] == ["999 m", "12.35 km", "1,235 km"]


def test_a_delay_of_a_second_is_planned_for_every_flow_control() -> None:
    found = plan(rate="400G", length="40km", latency="1s", simulate=False)
    assert not [row.refused for row in found.rows if row.refused and row.flow_control != "swing"]
    assert all("ends before" not in row.refused for row in found.rows)


def test_one_class_of_links_is_one() -> None:
    one = plan(rate="100G", length="2km", buffer="64MB", simulate=False)
    texts = [str(cell) for table in tables(one) for row in table.rows for cell in row]
    assert any(text.endswith(" bytes for 1 class of links") for text in texts)
