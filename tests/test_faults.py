"""Scenarios that cannot be simulated: each is answered in one line, with its place, and exit code 2."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import floodway as package
from scenarios import APART, LISTED, SMALL, written

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command

AUTO = SMALL.replace('shared = { pool = "10MB" }', 'static = { size = "10KB" }').replace(
    "{ alpha = 0.25 }", '"auto"'
)

FAULTS = {
    "unknown mechanism": (
        SMALL.replace("flow-control.pfc", "flow-control.pcf"),
        'small.toml:6: defaults.flow-control: "pcf" is not a choice; allowed: ... did you mean "pfc"?',
    ),
    "unknown topology": (
        SMALL.replace("topology.dumbbell", "topology.dumbell"),
        'small.toml:3: topology: "dumbell" is not a choice; allowed: ... did you mean "dumbbell"?',
    ),
    "missing unit": (
        SMALL.replace('"20ms"', '"20"'),
        'small.toml:2: limit: "20" is not a time: its unit is missing; write it like "10us"',
    ),
    "negative time": (
        SMALL.replace('delay = "1us"', 'delay = "-1us"'),
        'small.toml:3: topology.dumbbell.delay: "-1us" is not a time: it is negative; write it like "10us"',
    ),
    "negative load": (
        SMALL.replace("load = 0.4", "load = -0.4"),
        "small.toml:15: workload.rpc.poisson.load: -0.4 is not a load above 0",
    ),
    "zero-delay link": (
        SMALL.replace('delay = "1us"', 'delay = "0us"'),
        "small.toml:3: topology.dumbbell.delay: a link needs a delay above 0",
    ),
    "disconnected topology": (
        APART,
        "small.toml:3: topology.explicit: it is not connected: no links lead from h1 to h2",
    ),
    "unreachable destination": (
        LISTED.replace('to = "h3"', 'to = "h9"'),
        'small.toml:11: workload.list.flows.1: no node is named "h9"; did you mean "h1"?',
    ),
    "a path that is none": (
        LISTED.replace("size =", 'path = "h1,s2,h3", size ='),
        'small.toml:11: workload.list.flows.1: its path "h1,s2,h3" has no link from h1 to s2',
    ),
    "distribution that is not monotone": (
        SMALL.replace('"fb-hadoop"', '{ file = "falling.cdf" }'),
        "falling.cdf:3: workload.rpc.poisson.sizes: point 3 (500 B, 100 %) lies below the one before it: both columns must not decrease",
    ),
    "empty workload": (
        LISTED[: LISTED.index("flows = ")],
        "small.toml:9: workload.list: it has no flows; name one of: flows, flow-list, ...",
    ),
    "selector that matches nothing": (
        SMALL + '\n[[override]]\nname = "slow"\nlinks = { tag = "slow" }\nrate = "1G"\n',
        'small.toml:22: slow.links: { tag = "slow" } matches nothing',
    ),
    "buffers that cannot fit": (
        AUTO,
        'small.toml:6: defaults.flow-control.pfc.xoff: s1 (s1-s2) and 5 more: "auto" does not fit: the buffer has 10KB, 19.375KB less than the 29.375KB that headroom (27.22KB), the least XOFF (1.078KB) and a frame less a byte need',
    ),
    "file that is not there": (
        SMALL.replace('"fb-hadoop"', '{ file = "nothing.cdf" }'),
        'small.toml:14: workload.rpc.poisson.sizes: cannot read "nothing.cdf": No such file or directory (os error 2)',
    ),
    "Parquet that is not there": (
        LISTED[: LISTED.index("flows = ")] + 'flow-list = { file = "nothing.parquet" }\n',
        (
            'small.toml:11: workload.list.flow-list.file: cannot read "nothing.parquet": '
            "No such file or directory (os error 2)"
        ),
    ),
    "unknown key": (
        SMALL.replace("mtu", "mut"),
        'small.toml:1: "mut" is not a key; allowed: ... did you mean "mtu"?',
    ),
    "not TOML": ("mtu = [\n", "small.toml:1: not TOML: unclosed array, expected `]`"),
}


def fits(text: str, message: str) -> bool:
    """Whether a text is this message, in which `...` stands for a list that grows."""
    head, _, tail = message.partition("...")
    return text.startswith(head) and text.endswith(tail) if "..." in message else text == message


@pytest.mark.parametrize("verb", ["run", "check"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_reported_in_one_line(floodway: Command, tmp_path: Path, fault: str, verb: str) -> None:
    text, message = FAULTS[fault]
    written(tmp_path, text)
    (tmp_path / "falling.cdf").write_text("1 0\n1000 60\n500 100\n")
    done = floodway(verb, "small.toml")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert fits(done.err.rstrip("\n"), f"error: {message}")
    assert not (tmp_path / "out").exists()


def test_a_value_that_is_set_is_reported_as_such(floodway: Command, tmp_path: Path) -> None:
    written(tmp_path, SMALL)
    done = floodway("run", "small.toml", "--set", "limit=20")
    assert done.code == 2
    assert done.err.startswith("error: --set limit=20: ")


def test_a_file_that_is_no_text_is_reported_in_one_line(floodway: Command, tmp_path: Path) -> None:
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    done = floodway("run", "binary.toml")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert done.err.startswith("error: binary.toml: cannot read it: ")


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if "falling" not in FAULTS[fault][1]])
def test_a_fault_has_its_place_as_attributes(fault: str) -> None:
    text, message = FAULTS[fault]
    with pytest.raises(package.ScenarioError) as caught:
        package.Scenario.from_toml(text, name="small.toml")
    (found,) = caught.value.faults
    assert fits(found.text, message)
    assert found.text == str(caught.value)
    assert (found.file, message.split(": ")[0]) == ("small.toml", f"small.toml:{found.line}")
    assert found.key is None or f": {found.key}: " in message
    assert found.nearest is None or f'did you mean "{found.nearest}"?' in message


def faults_of(text: str) -> tuple[package.Fault, ...]:
    try:
        package.Scenario.from_toml(text, name="noise.toml")
    except package.ScenarioError as error:
        return error.faults
    return ()


@given(st.text(max_size=60), st.integers(0, len(SMALL)))
def test_whatever_is_written_it_is_a_scenario_or_a_fault(noise: str, at: int) -> None:
    assert all("\n" not in fault.text for fault in faults_of(SMALL[:at] + noise + SMALL[at:]))


@given(st.lists(st.sampled_from(SMALL.splitlines()), max_size=25))
def test_lines_in_any_order_are_a_scenario_or_a_fault(lines: list[str]) -> None:
    assert all(1 <= (fault.line or 1) <= max(len(lines), 1) for fault in faults_of("\n".join(lines)))


def test_a_flow_list_may_be_parquet(tmp_path: Path) -> None:
    flows = {
        "source": ["h1", "h2"],
        "destination": ["h3", "h4"],
        "size_bytes": [5000, 7000],
        "start_us": [0.0, 1.5],
    }
    pl.DataFrame(flows).write_parquet(tmp_path / "flows.parquet")
    head = LISTED[: LISTED.index("flows = ")]
    text = head + 'flow-list = { file = "flows.parquet" }\n'
    result = package.run(package.load(written(tmp_path, text)))
    assert result.flows["size_bytes"].to_list() == [5000, 7000]
    assert result.flows["start_us"].to_list() == [0.0, 1.5]
    assert result.flows["destination"].to_list() == ["h3", "h4"]


def test_parquet_with_an_unknown_column_is_reported_in_one_line(tmp_path: Path) -> None:
    pl.DataFrame({"source": ["h1"], "destinaton": ["h3"]}).write_parquet(tmp_path / "flows.parquet")
    text = LISTED[: LISTED.index("flows = ")] + 'flow-list = { file = "flows.parquet" }\n'
    with pytest.raises(
        package.ScenarioError, match=r'"destinaton" is not a column.*did you mean "destination"'
    ):
        package.load(written(tmp_path, text))
