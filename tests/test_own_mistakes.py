"""What goes wrong in users' own mechanisms, told where it is and by its right name."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import floodway
from floodway.errors import MechanismError
from floodway.mechanisms import load_file
from floodway.simulation import run

if TYPE_CHECKING:
    from pathlib import Path

    from floodway._floodway import Flow, Packet, Port, Queue

TEXT = """
topology.single-switch = { hosts = 3, rate = "100G", delay = "1us" }
workload = [{ name = "pair", flows = [
  { from = "h1", to = "h3", size = "100KB" },
  { from = "h2", to = "h3", size = "100KB" },
] }]
"""


def pair(key: str, name: str) -> floodway.Scenario:
    return floodway.Scenario.from_toml(f'defaults.{key} = "{name}"\n{TEXT}')


def test_a_timer_that_comes_again_at_once_ends_the_run() -> None:
    class Standstill(floodway.RateControl):
        def start(self, flow: Flow) -> None:  # noqa: ARG002 (called with it)
            self.timer_ps = 1_000_000

        def on_timer(self, now_ps: int) -> None:
            self.timer_ps = now_ps

    with pytest.raises(
        MechanismError, match="timer_ps = 1000000; allowed in on_timer: later than now, 1000000"
    ) as error:
        run(pair("rate-control", "standstill"))
    assert error.value.call == "Standstill.on_timer"


@pytest.mark.parametrize(
    ("offset", "allowed"), [(1, "the flow of the packet in hand"), (-(10**9), "in hand")]
)
def test_a_cnp_for_another_flow_than_that_in_hand_is_refused(offset: int, allowed: str) -> None:
    class Stray(floodway.CongestionPoint, tells=("cnps",)):
        def on_enqueue(self, packet: Packet, queue: Queue) -> None:  # noqa: ARG002 (called with it)
            self.send_cnp(packet.flow + offset)

    with pytest.raises(MechanismError, match=rf"send_cnp\(-?\d+\); allowed: \d+, .*{allowed}"):
        run(pair("congestion-point", "stray"))


def test_a_cnp_where_no_packet_is_in_hand_is_refused() -> None:
    class Late(floodway.CongestionPoint, tells=("cnps",)):
        def start(self, port: Port) -> None:  # noqa: ARG002 (called with it)
            self.timer_ps = 1_000_000

        def on_timer(self, now_ps: int) -> None:  # noqa: ARG002 (called with it)
            self.send_cnp(0)

    with pytest.raises(MechanismError, match="nothing, as no packet is in hand here"):
        run(pair("congestion-point", "late"))


def test_a_cnp_from_admit_is_refused_and_not_lost() -> None:
    class Dropping(floodway.CongestionPoint, tells=("cnps",)):
        def admit(self, packet: Packet, queue: Queue) -> bool:  # noqa: ARG002 (called with it)
            self.send_cnp(packet.flow)
            return True

    with pytest.raises(MechanismError, match="send_cnp in admit; allowed: in on_enqueue"):
        run(pair("congestion-point", "dropping"))


@pytest.mark.parametrize(
    "wrong", [{"rate_bps": -1}, {"rate_bps": 0}, {"window_bytes": 0}, {"degree": float("nan")}]
)
def test_a_cnp_of_no_rate_window_or_weight_is_refused(wrong: dict[str, float]) -> None:
    class Odd(floodway.CongestionPoint, tells=("cnps",)):
        def on_enqueue(self, packet: Packet, queue: Queue) -> None:  # noqa: ARG002 (called with it)
            self.send_cnp(packet.flow, **wrong)

    with pytest.raises(MechanismError, match=r"send_cnp: .*; allowed: "):
        run(pair("congestion-point", "odd"))


CLASS = "import floodway\n\n\nclass {name}(floodway.RateControl):\n    '''A test.'''\n"


def test_two_files_with_one_class_are_refused(tmp_path: Path) -> None:
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    for file in (first, second):
        file.write_text(CLASS.format(name="TwiceThere"), encoding="utf-8")
    load_file(first)
    with pytest.raises(MechanismError) as error:
        load_file(second)
    assert "first.py has a rate-control 'twice-there' already" in str(error.value.__cause__)


def test_a_class_is_known_by_what_its_file_imports_from_its_folder_too(tmp_path: Path) -> None:
    (tmp_path / "with_factor.py").write_text(
        "import factor\n" + CLASS.format(name="WithFactor"), encoding="utf-8"
    )

    def digest(factor: int) -> str:
        (tmp_path / "factor.py").write_text(f"FACTOR = {factor}\n", encoding="utf-8")
        lines = (
            "from pathlib import Path",
            "from floodway.mechanisms import digests, load_file",
            "load_file(Path('with_factor.py'))",
            "print(digests()['rate-control.with-factor'])",
        )
        command = [sys.executable, "-B", "-c", "; ".join(lines)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    assert digest(2) == digest(2) != digest(3)
