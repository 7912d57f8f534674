"""Ultra Ethernet's transport in networks that cut packets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import floodway
from floodway.common.errors import ScenarioError

if TYPE_CHECKING:
    from command import Command

SCENARIOS = Path(__file__).parent.parent / "scenarios"
#: A fourth of the queue of the ready scenarios, so that many packets are cut.
SMALL = ("defaults.buffer.output-queue.size", '"41500B"')


def run(name: str, *sets: tuple[str, str], threads: int = 1) -> floodway.Result:
    scenario = floodway.load(SCENARIOS / f"{name}.toml")
    return floodway.run(scenario.replace(sets=[*sets, ("engine.threads", str(threads))]))


@pytest.mark.parametrize("victim", ["arriving", "either"])
@pytest.mark.parametrize("control", ['"nscc"', '"rccc"', '["nscc", "rccc"]'])
def test_cut_packets_are_sent_again_and_each_byte_is_delivered_once(control: str, victim: str) -> None:
    sets = (
        ("defaults.rate-control", control),
        ("defaults.buffer.output-queue.victim", f'"{victim}"'),
        SMALL,
    )
    result = run("uet-incast", *sets)
    counters, flows = result.counters, result.flows
    assert counters["trims"].sum() > 0
    assert counters["trimmed_bytes"].sum() > 64 * counters["trims"].sum()
    assert flows["finished"].all()
    assert (flows["delivered_bytes"] == flows["size_bytes"]).all()
    # Each cut packet is sent again, and a header that is lost costs a timeout.
    assert flows["retransmitted_bytes"].sum() > 0
    assert result.outcome.faults == ()


def test_what_was_cut_and_sent_again_is_named_wherever_drops_are(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    command: Command = request.getfixturevalue("floodway")
    path, small = SCENARIOS / "uet-incast.toml", "=".join(SMALL)
    shown = command("run", path, "--set", small, "--out", tmp_path / "run", "--full").out
    trims = floodway.read(tmp_path / "run").counters["trims"].sum()
    assert f"cut to their headers: {trims:,} packets, which lost" in shown
    assert "sent again: " in shown
    variants = ("--vary", "defaults.buffer.output-queue.trim=true,false", "--no-pictures")
    shown = command("compare", path, "--set", small, *variants, "--out", tmp_path / "both").out
    assert "packets cut to their headers" in shown
    assert "payload sent again" in shown


def test_without_trimming_packets_are_dropped_and_timers_send_them_again() -> None:
    result = run("uet-incast", ("defaults.buffer.output-queue.trim", "false"), SMALL)
    assert "trims" not in result.counters.columns
    assert result.counters["drops_egress"].sum() > 0
    assert result.flows["finished"].all()
    assert result.flows["timeouts"].sum() > 0
    assert result.outcome.faults == ()


def test_a_queue_holds_no_more_than_its_bound() -> None:
    result = run("uet-incast", ("records.watch", '["h16-t8"]'), SMALL)
    is_queue = pl.col("metric").cast(pl.String) == "queue_max_bytes"
    at_port = pl.col("object").cast(pl.String).str.contains("t8>h16")
    longest = result.series.filter(is_queue & at_port)["value"].max()
    # Its queue of control packets has twice as much room.
    assert 0 < longest <= 41_500 + 2 * 41_500  # type: ignore[operator]


def test_a_port_s_queue_may_have_a_room_of_its_own() -> None:
    """The queue to the receiver of the incast alone holds 1.5 times as much, as Ultra Ethernet has it."""
    scenario = floodway.load(SCENARIOS / "uet-incast.toml").to_dict()
    last = {"name": "last", "links": "h16-t8", "direction": "t8>h16", "output-queue": "62250B"}
    changed = floodway.Scenario.from_dict({**scenario, "override": [last]})
    one, other = (
        floodway.run(each.replace(sets=[SMALL, ("records.watch", '["h16-t8"]')]))
        for each in (floodway.Scenario.from_dict(scenario), changed)
    )

    def longest(result: floodway.Result) -> float:
        is_queue = pl.col("metric").cast(pl.String) == "queue_max_bytes"
        return float(result.series.filter(is_queue)["value"].max())  # type: ignore[arg-type]

    assert longest(one) + 0.9 * 20_750 < longest(other)
    assert other.counters["trims"].sum() < one.counters["trims"].sum()


@pytest.mark.parametrize("name", ["uet-incast", "uet-credit", "uet-spray"])
def test_records_do_not_depend_on_threads(name: str) -> None:
    one, two = (run(name, SMALL, threads=threads) for threads in (1, 2))
    assert one.flows.equals(two.flows)
    assert one.counters.equals(two.counters)


def test_entropy_values_spread_flows_over_paths() -> None:
    slowest = {}
    for entropy in ("fixed", "oblivious", "bitmap", "reps", "reps-legacy", "mixed"):
        result = run("uet-spray", ("defaults.reliability.uet.entropy", f'"{entropy}"'))
        assert result.flows["finished"].all()
        slowest[entropy] = result.flows["slowdown"].max()
    fixed = slowest.pop("fixed")
    assert all(spread < fixed for spread in slowest.values())  # type: ignore[operator]


def test_cut_packets_may_have_a_class_of_their_own() -> None:
    result = run("uet-trim-class")
    assert result.counters["trims"].sum() > 0
    of_class = result.counters.filter(pl.col("class") == 2)
    # Headers of 64 bytes alone.
    assert of_class["tx_packets"].sum() > 0
    assert of_class["tx_bytes"].sum() == 64 * of_class["tx_packets"].sum()
    assert result.flows["finished"].all()
    assert result.outcome.faults == ()


def test_the_form_of_the_simulator_gives_other_numbers() -> None:
    forms = [
        run("uet-incast", ("defaults.rate-control", f'{{ nscc = {{ form = "{form}" }} }}'), SMALL)
        for form in ("spec", "htsim")
    ]
    assert not forms[0].flows.equals(forms[1].flows)


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("defaults.reliability.uet.paths", "48", "48 is not a power of two from 1 to 65536"),
        ("defaults.buffer.output-queue.size", '"0B"', "a queue of 0B holds no packet"),
        ("defaults.reliability.uet.entropy", '"reps-old"', "reps"),
        ("defaults.buffer.output-queue.victim", '"last"', "arriving"),
    ],
)
def test_a_value_without_meaning_is_refused(key: str, value: str, text: str) -> None:
    with pytest.raises(ScenarioError, match=text):
        floodway.load(SCENARIOS / "uet-incast.toml").replace(sets=[(key, value)])


def test_with_sleek_losses_are_found_sooner_than_by_timers() -> None:
    sets = (
        ("defaults.buffer.output-queue.trim", "false"),
        ("defaults.buffer.output-queue.size", '"400KB"'),
    )
    timers = run("uet-incast", *sets)
    sleek = run("uet-incast", *sets, ("defaults.reliability", "{ uet = { sleek = true } }"))
    assert sleek.flows["timeouts"].sum() == 0 < timers.flows["timeouts"].sum()
    assert sleek.flows["finish_sender_us"].max() < timers.flows["finish_sender_us"].max()  # type: ignore[operator]
    assert sleek.outcome.faults == ()


@pytest.mark.parametrize("control", ['"rccc"', '["nscc", "rccc"]'])
def test_flows_go_on_where_most_reports_and_grants_are_lost(control: str) -> None:
    sets = (
        ("defaults.rate-control", control),
        # Of six links in turn: 76 % of all are lost.
        ("defaults.faults.error-rate", "{ control = 0.2 }"),
        ("workload.incast.burst.size", '"100KB"'),
        ("limit", '"100ms"'),
        ("seed", "3"),
    )
    result = run("uet-credit", *sets)
    assert dict(result.outcome.drops)["link_error"] > 100
    assert result.flows["finished"].all()
    assert (result.flows["delivered_bytes"] == result.flows["size_bytes"]).all()


@pytest.mark.parametrize("control", ['"nscc"', '"rccc"', '["nscc", "rccc"]'])
@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_with_sleek_flows_go_on_after_losses_of_all_kinds(control: str, seed: str) -> None:
    sets = (
        ("defaults.buffer.output-queue.trim", "false"),
        ("defaults.reliability", "{ uet = { sleek = true } }"),
        ("defaults.rate-control", control),
        ("defaults.faults.error-rate", "{ data = 0.1, control = 0.1 }"),
        ("workload.incast.burst.size", '"300KB"'),
        ("limit", '"1s"'),
        ("seed", seed),
    )
    result = run("uet-incast", *sets)
    assert result.flows["finished"].all()
    assert (result.flows["delivered_bytes"] == result.flows["size_bytes"]).all()


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("defaults.rate-control", '"hpcc"', "needs records of telemetry"),
        ("defaults.flow-control", '"pfc"', "never pauses where"),
        ("defaults.buffer.output-queue.size", '"4KB"', "holds no packet of"),
        ("defaults.buffer.output-queue.control", '"0B"', "holds no reply of"),
    ],
)
def test_what_cannot_work_together_is_an_error(key: str, value: str, text: str) -> None:
    with pytest.raises(ScenarioError, match=text):
        floodway.load(SCENARIOS / "uet-incast.toml").replace(sets=[(key, value)])


@pytest.mark.parametrize("threads", [2, 3])
def test_probes_and_requests_come_the_same_on_any_number_of_threads(threads: int) -> None:
    sets = (
        ("defaults.buffer.output-queue.trim", "false"),
        ("defaults.reliability", "{ uet = { sleek = true } }"),
        SMALL,
    )
    one, other = run("uet-incast", *sets), run("uet-incast", *sets, threads=threads)
    assert one.flows.equals(other.flows)
    assert one.counters.equals(other.counters)


TWO_HOSTS = """
mtu = "4096B"
topology.single-switch = { hosts = 2, rate = "100G", delay = "10us" }
[defaults]
flow-control = "lossy"
rate-control = "line-rate"
buffer.output-queue = { size = "400KB" }
[[override]]
name = "last"
links = "h2-s1"
faults.error-rate = { data = 0.01 }
[[workload]]
name = "one"
flows = [{ from = "h1", to = "h2", size = "1MB" }]
"""


def two_hosts(folder: Path) -> Path:
    file = folder / "two.toml"
    file.write_text(TWO_HOSTS, encoding="utf-8")
    return file


def test_a_timeout_below_the_round_trip_gets_a_warning(tmp_path: Path) -> None:
    early = floodway.load(two_hosts(tmp_path), sets=[("defaults.reliability", '{ uet = { rto = "1ns" } }')])
    assert any('"uet" counts as lost after 1ns' in warning for warning in early.warnings)
    late = floodway.load(two_hosts(tmp_path), sets=[("defaults.reliability", '{ uet = { rto = "1ms" } }')])
    assert not late.warnings


def test_a_check_shows_the_bounds_of_output_queues(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    command: Command = request.getfixturevalue("floodway")
    shown = command("check", two_hosts(tmp_path)).out
    assert "output queues of 400KB" in shown
    assert "GB" not in shown


def test_a_probability_set_from_outside_is_refused_there(tmp_path: Path) -> None:
    with pytest.raises(
        ScenarioError, match=r"^--set last\.faults\.error-rate\.data=1\.5: .*1\.5 is not a prob"
    ):
        floodway.load(two_hosts(tmp_path), sets=[("last.faults.error-rate.data", "1.5")])


def test_timeouts_for_each_pair_count_what_output_queues_hold(tmp_path: Path) -> None:
    sets = [
        ("defaults.reliability", '{ irn = { preset = "per-pair" } }'),
        ("last.faults.error-rate.data", "0.3"),
        ("limit", "1s"),
    ]
    result = floodway.run(floodway.load(two_hosts(tmp_path), sets=sets))
    # A queue of 400 KB drains in 32 us.
    assert result.flows["finished"].all()
    assert result.flows["fct_us"].max() < 5_000  # type: ignore[operator]
    assert result.flows["timeouts"].sum() > 0
