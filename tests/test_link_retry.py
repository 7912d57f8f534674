"""Retry of the frames that a link damages."""

from __future__ import annotations

from pathlib import Path

import pytest

import floodway
from floodway.common.errors import ScenarioError

SCENARIO = Path(__file__).parent.parent / "scenarios" / "link-retry.toml"


def run(*sets: tuple[str, str], threads: int = 1) -> floodway.Result:
    scenario = floodway.load(SCENARIO)
    return floodway.run(scenario.replace(sets=[*sets, ("engine.threads", str(threads))]))


def test_damaged_frames_are_sent_again_and_hosts_notice_nothing() -> None:
    result = run()
    retry = result.outcome.link_retry
    assert retry is not None
    assert retry.nacks > 0
    assert retry.discarded >= retry.replays >= retry.nacks
    # Replies are sent again, too.
    assert retry.replay_bytes > 84 * retry.replays
    assert (retry.given_up, result.outcome.drops, result.outcome.faults) == (0, (), ())
    assert result.flows["retransmitted_bytes"].sum() == 0
    without = run(("trunk.link-retry", '"none"'))
    assert without.outcome.link_retry is None
    assert dict(without.outcome.drops)["link_error"] > 0
    assert without.flows["retransmitted_bytes"].sum() > 0
    assert result.flows["fct_us"].max() < without.flows["fct_us"].max()  # type: ignore[operator]


@pytest.mark.parametrize("control", ['"pfc"', '"cbfc"'])
def test_records_do_not_depend_on_threads(control: str) -> None:
    one, two = (run(("defaults.flow-control", control), threads=threads) for threads in (1, 2))
    assert one.flows.equals(two.flows)
    assert one.counters.equals(two.counters)
    assert one.outcome.link_retry == two.outcome.link_retry
    assert one.outcome.drops == ()


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("trunk.link-retry", '"lrl"', "allowed: none, llr"),
        ("trunk.link-retry.llr.ack-spacing", '"20KB"', "not from 400B to 17.296KB"),
        ("trunk.link-retry.llr.replay-timer", '"1us"', "the timer must be at least that"),
        ("trunk.flow-control", '"bifrost"', 'does not work with flow-control = "bifrost"'),
    ],
)
def test_mistakes_are_named(key: str, value: str, message: str) -> None:
    scenario = floodway.load(SCENARIO)
    with pytest.raises(ScenarioError, match="link-retry") as found:
        floodway.run(scenario.replace(sets=[(key, value)]))
    assert message in str(found.value)
