"""Rate controls and congestion points that users write in Python."""

from __future__ import annotations

import re
import signal
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

import floodway
from command import Command, environment, until
from floodway.common.errors import InputError, MechanismError, ScenarioError
from floodway.scenarios.keys import key_of
from floodway.scenarios.mechanisms import load_file
from floodway.simulation.run import run

if TYPE_CHECKING:
    from pathlib import Path

    from floodway._floodway import Ack, Cnp, Flow, Packet, Port, Queue, Sent

#: Two flows of a megabyte into one link: some 500 us.
TEXT = """
topology.single-switch = { hosts = 3, rate = "100G", delay = "1us" }
defaults.congestion-point.red = { kmin = "20KB", kmax = "20KB", pmax = 1.0 }
workload = [{ name = "pair", flows = [
  { from = "h1", to = "h3", size = "1MB" },
  { from = "h2", to = "h3", size = "1MB" },
] }]
"""


def pair(**defaults: object) -> floodway.Scenario:
    scenario = floodway.Scenario.from_toml(TEXT)
    known: Any = scenario.to_dict()["defaults"]
    keys: Any = {**known, **{key.replace("_", "-"): value for key, value in defaults.items()}}
    return scenario.replace(defaults=keys)


class Halved(floodway.RateControl):
    """Adds a packet a window, and halves it on a mark."""

    least: floodway.Size = floodway.Size("1KB")
    gain: float = 1.0

    def start(self, flow: Flow) -> None:
        self.window: float = flow.bdp_bytes
        self.window_bytes = self.window
        self.mtu = flow.mtu_bytes

    def on_ack(self, ack: Ack) -> None:
        if ack.marked:
            self.window = max(self.window / 2, self.least)
        else:
            self.window += self.gain * self.mtu * ack.acked_bytes / self.window
        self.window_bytes = self.window


def test_a_class_is_chosen_by_its_name_with_its_parameters() -> None:
    scenario = pair(rate_control={"halved": {"least": "4KB"}})
    result = run(scenario)
    assert result.flows["finished"].all()
    assert result.counters["ecn_marks"].sum() > 0
    said: Any = scenario.resolved()["scenario"]
    assert said["defaults"]["rate-control"] == {"halved": {"least": "4KB"}}
    again = run(pair(rate_control={"halved": {"least": "4KB"}}), threads=2)
    assert again.run.timings.threads == 1
    assert (
        again.run.timings.threads_why
        == 'machines of "halved" are called in the order of time, which is one for the whole network'
    )
    assert again.flows.equals(result.flows)
    other = run(pair(rate_control={"halved": {"gain": 4}}))
    assert not other.flows.equals(result.flows)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"leest": "1KB"}, 'did you mean "least"?'),
        ({"least": 3}, "least: 3 is not a size, such as"),
        ({"least": "3 parsecs"}, 'least: "3 parsecs" is not a size'),
        ({"gain": "much"}, 'gain: "much" is not a number'),
    ],
)
def test_a_wrong_parameter_is_refused_with_the_right_one(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        pair(rate_control={"halved": parameters})
    assert message in str(error.value)


def test_a_class_that_cannot_be_a_mechanism_is_refused_where_it_is_defined() -> None:
    with pytest.raises(TypeError, match=r"on_akc is never called; .* did you mean on_ack"):

        class Misspelled(floodway.RateControl):
            def on_akc(self, ack: object) -> None: ...

    with pytest.raises(
        TypeError, match=r"Listed.steps: list\[int\] is not a type of a parameter; allowed: int,"
    ):

        class Listed(floodway.RateControl):
            steps: list[int]

    with pytest.raises(TypeError, match=r"Worded.gain = 'x' is not of type float"):

        class Worded(floodway.RateControl):
            gain: float = "x"  # type: ignore[assignment]

    with pytest.raises(TypeError, match="needs='luck' is not allowed; allowed: acks, int, marks, timestamps"):

        class Lucky(floodway.RateControl, needs=("luck",)): ...

    with pytest.raises(ValueError, match=r'mechanism "dcqcn" already'):

        class Mine(floodway.RateControl, name="dcqcn"): ...

    with pytest.raises(ValueError, match=r"Not_a_name.* is not a name"):

        class Odd(floodway.CongestionPoint, name="Not_a_name"): ...

    with pytest.raises(ValueError, match=r'rate-control: "" is not a name'):

        class Nameless(floodway.RateControl, name=""): ...


#: What `Everything` has heard.
HEARD: list[tuple[str, Any]] = []


class Everything(floodway.RateControl, name="everything", needs=("acks", "int")):
    """Hears all there is, and keeps it."""

    def start(self, flow: Flow) -> None:
        HEARD.append(("start", flow))
        self.window_bytes = flow.bdp_bytes
        self.timer_ps = 50_000_000

    def on_ack(self, ack: Ack) -> None:
        HEARD.append(("ack", ack))

    def on_cnp(self, cnp: Cnp) -> None:
        HEARD.append(("cnp", cnp))

    def on_sent(self, sent: Sent) -> None:
        HEARD.append(("sent", sent))

    def on_timer(self, now_ps: int) -> None:
        HEARD.append(("timer", now_ps))
        assert self.timer_ps is None
        if now_ps < 150_000_000:
            self.timer_ps = now_ps + 50_000_000


def test_what_is_kept_beyond_a_call_stays_as_it_was() -> None:
    scenario = pair(rate_control="everything")
    HEARD.clear()
    run(scenario)
    acks = [what for kind, what in HEARD if kind == "ack"]
    assert sum(ack.acked_bytes for ack in acks) == 2_000_000
    assert [ack.now_ps for ack in acks] == sorted(ack.now_ps for ack in acks)
    assert len({(ack.now_ps, ack.next) for ack in acks}) == len(acks)
    assert all(ack.hops[-1].rate_bps == 10**11 for ack in acks)
    assert sum(kind == "sent" for kind, _ in HEARD) == 2_000
    assert {"pair:h1:0", "pair:h2:0"} <= {what.name for kind, what in HEARD if kind == "start"}
    timers = [what for kind, what in HEARD if kind == "timer"]
    assert timers == sorted(2 * [50_000_000, 100_000_000, 150_000_000])
    assert any(kind == "cnp" and what.marked for kind, what in HEARD)
    with pytest.raises(AttributeError):
        acks[0].rtt_ps = 3


def test_two_runs_of_one_process_know_nothing_of_each_other() -> None:
    first = run(pair(rate_control="halved"))
    run(pair(rate_control="everything"))
    assert run(pair(rate_control="halved")).flows.equals(first.flows)


def failing(method: str) -> None:
    """Define a rate control whose method raises something in a run."""

    def fail(self: floodway.RateControl, event: object) -> None:  # noqa: ARG001 (called as a method)
        if getattr(event, "name", "of a run"):
            raise ValueError(f"no more of {type(event).__name__}")

    def start(self: floodway.RateControl, flow: Flow) -> None:  # noqa: ARG001 (called as a method)
        self.window_bytes = 100_000
        self.timer_ps = 10_000_000

    type("Failing", (floodway.RateControl,), {"start": start, method: fail})


@pytest.mark.parametrize(
    ("method", "event"),
    [("start", "Flow"), ("on_ack", "Ack"), ("on_cnp", "Cnp"), ("on_sent", "Sent"), ("on_timer", "int")],
)
def test_what_a_rate_control_raises_ends_the_run_and_says_where(method: str, event: str) -> None:
    failing(method)
    with pytest.raises(MechanismError) as error:
        run(pair(rate_control="failing"))
    assert isinstance(error.value.__cause__, ValueError)
    assert error.value.call == f"Failing.{method}"
    assert error.value.place in {"pair:h1:0", "pair:h2:0"}
    assert (error.value.at is None) == (method == "start")
    text = str(error.value)
    assert f"Failing.{method} raised ValueError: no more of {event} (test_own_mechanisms.py:" in text
    assert ", pair:h" in text


def test_a_loss_that_raises_ends_the_run() -> None:
    failing("on_loss")
    lossy = pair(rate_control="failing", flow_control="lossy", buffer={"static": {"size": "20KB"}})
    with pytest.raises(MechanismError, match="on_loss raised ValueError: no more of Loss"):
        run(lossy)


def test_a_class_that_cannot_start_is_refused_before_a_run() -> None:
    class Unready(floodway.RateControl):
        def start(self, flow: Flow) -> None:  # noqa: ARG002 (called with it)
            self.window_bytes = 1 / 0

    with pytest.raises(MechanismError, match=r"Unready.start raised ZeroDivisionError: .*py:\d+\)$"):
        pair(rate_control="unready")


@pytest.mark.parametrize("value", [0, -1, float("nan"), "much"])
def test_a_window_that_is_none_is_refused(value: object) -> None:
    class Odd(floodway.RateControl):
        def start(self, flow: Flow) -> None:  # noqa: ARG002 (called with it)
            self.window_bytes = value  # type: ignore[assignment]

    with pytest.raises(MechanismError, match="window_bytes = "):
        pair(rate_control="odd")


class Threshold(floodway.CongestionPoint):
    """Marks what joins a queue above a threshold."""

    above: floodway.Size = floodway.Size("20KB")

    def on_enqueue(self, packet: Packet, queue: Queue) -> bool:  # noqa: ARG002 (called with it)
        return queue.len_bytes > self.above


def test_a_congestion_point_marks_as_the_same_one_in_rust() -> None:
    step = {"kmin": "20KB", "kmax": "20KB", "pmax": 1.0, "at": "enqueue"}
    ours = run(pair(rate_control="halved", congestion_point={"threshold": {"above": "20KB"}}))
    theirs = run(pair(rate_control="halved", congestion_point={"red": step}))
    assert ours.counters["ecn_marks"].sum() > 0
    assert ours.flows.equals(theirs.flows)
    assert ours.counters.equals(theirs.counters)


class Complaining(floodway.CongestionPoint, tells=("cnps",)):
    """Sends a CNP for each tenth packet."""

    def start(self, port: Port) -> None:  # noqa: ARG002 (called with it)
        self.seen = 0

    def on_dequeue(self, packet: Packet, queue: Queue) -> None:  # noqa: ARG002 (called with it)
        self.seen += 1
        if self.seen % 10 == 0 and not packet.is_reply:
            self.send_cnp(packet.flow, rate_bps=10**10)


class Obeying(floodway.RateControl):
    """Sends as fast as it is told to."""

    def on_cnp(self, cnp: Cnp) -> None:
        self.rate_bps = cnp.rate_bps


def test_a_congestion_point_sends_cnps_that_a_rate_control_obeys() -> None:
    free = run(pair(rate_control="line-rate"))
    told = run(pair(rate_control="obeying", congestion_point="complaining"))
    assert told.counters["cnps"].sum() > 10
    slow, fast = told.flows["fct_us"].to_list(), free.flows["fct_us"].to_list()
    assert min(slow) > 2 * max(fast)


@pytest.mark.parametrize(
    "method", ["start", "admit", "on_enqueue", "on_dequeue", "on_paused", "on_resumed", "on_timer"]
)
def test_what_a_congestion_point_raises_names_the_port_and_the_time(method: str) -> None:
    def fail(self: floodway.CongestionPoint, *views: object) -> None:  # noqa: ARG001 (called as a method)
        if getattr(views[0], "name", "of a run"):
            raise KeyError(method)

    def start(self: floodway.CongestionPoint, port: Port) -> None:  # noqa: ARG001 (called as a method)
        self.timer_ps = 1_000_000

    type("Broken", (floodway.CongestionPoint,), {"start": start, method: fail})
    chain = floodway.Scenario.from_toml(PAUSED)
    with pytest.raises(MechanismError) as error:
        run(chain)
    assert error.value.call == f"Broken.{method}"
    assert isinstance(error.value.__cause__, KeyError)
    assert error.value.place is not None
    assert (error.value.at is None) == (method == "start")


#: The second switch pauses the first.
PAUSED = """
topology.dumbbell = { left = 2, right = 1, rate = "100G", delay = "1us", bottleneck = { rate = "200G" } }
defaults.congestion-point = "broken"
defaults.flow-control.pfc = { xoff = "10KB" }
workload = [{ name = "burst", burst = { from = ["h1", "h2"], to = "h3", size = "1MB" } }]
"""


def test_an_answer_that_is_none_is_refused() -> None:
    class Wordy(floodway.CongestionPoint):
        def on_dequeue(self, packet: Packet, queue: Queue) -> str:  # type: ignore[override]  # noqa: ARG002
            return "ce"

    with pytest.raises(MechanismError, match="on_dequeue returned 'ce'; allowed: True marks"):
        run(pair(congestion_point="wordy"))


def test_a_run_is_stored_under_a_key_that_knows_its_code(tmp_path: Path) -> None:
    def key(window: int) -> str:
        code = (
            f"class Keyed(floodway.RateControl):\n    def start(self, flow): self.window_bytes = {window}\n"
        )
        exec(code, {"floodway": floodway})  # noqa: S102 (as a cell of a notebook is)
        return key_of(pair(rate_control="keyed"), tmp_path)

    assert key(2_000) == key(2_000) != key(3_000)


#: A file of a user.
FILE = '''
import pathlib
import floodway
from beside import GAIN

class Steady(floodway.RateControl):
    """A window that never changes."""

    packets: int = 20

    def start(self, flow):
        self.window_bytes = self.packets * flow.mtu_bytes * GAIN

    def on_ack(self, ack):
        if FOREVER:
            pathlib.Path("looping").touch()
        while FOREVER:
            pass
        if ack.now_ps > LAST_PS:
            raise RuntimeError("out of patience")
'''
CHOOSE = ("--set", "defaults.rate-control=steady", "--python", "steady.py")


def folder(tmp_path: Path, *, forever: bool = False, last_ps: int = 10**18) -> Command:
    (tmp_path / "steady.py").write_text(f"FOREVER, LAST_PS = {forever}, {last_ps}\n{FILE}")
    (tmp_path / "beside.py").write_text("GAIN = 2\n")
    (tmp_path / "pair.toml").write_text(TEXT)
    return Command(tmp_path)


def test_every_verb_knows_the_classes_of_a_file(tmp_path: Path) -> None:
    floodway_ = folder(tmp_path)
    assert floodway_("run", "pair.toml", *CHOOSE, "--out", "out").code == 0
    assert floodway_("check", "pair.toml", *CHOOSE).code == 0
    why = floodway_("why", "out", "p99", "--python", "steady.py")
    assert (why.code, "window" in why.out) == (0, True)
    told = floodway_("explain", "steady", "--python", "steady.py")
    assert "A window that never changes." in told.out
    assert "`packets`" in told.out
    assert "steady" in floodway_("list", "mechanisms", "--python", "steady.py").out
    vary = "defaults.rate-control=steady,{steady={packets=5}}"
    assert floodway_("compare", "pair.toml", *CHOOSE[2:], "--vary", vary, "--quiet").code == 0
    unknown = floodway_("run", "pair.toml", *CHOOSE[:2])
    assert (unknown.code, '"steady" is not a choice' in unknown.err) == (2, True)
    absent = floodway_("run", "pair.toml", "--python", "sturdy.py")
    assert (absent.code, absent.err.count("there is no such file")) == (2, 1)


#: Two values of a parameter, in two processes.
STUDY = """
title = "Windows"
shows = "A larger window ends sooner."
source = "no paper"
minutes = 0.1
seeds = 2

[scenario]
topology.single-switch = { hosts = 3, rate = "100G", delay = "1us" }
defaults.rate-control = "steady"

[[scenario.workload]]
name = "flow"
burst = { from = ["h1"], to = "h3", size = "1MB" }

[[axis]]
name = "size"
label = "size, MB"
key = "workload.flow.burst.size"
values = ["1MB", "2MB"]
labels = ["1", "2"]
numbers = [1, 2]

[[variant]]
name = "one"
label = "one packet"
set = { "defaults.rate-control" = { steady = { packets = 1 } } }

[[variant]]
name = "many"
label = "many packets"

[[claim]]
figure = "1"
says = "a larger window ends sooner"
metric = "fct-mean"
at = { size = "1" }
order = ["many", "one"]

[[plot]]
name = "1"
title = "Completion times"
kind = "lines"
x = "size"
metric = ["fct-mean"]
"""


@pytest.mark.long
def test_a_study_gives_the_file_to_its_processes(tmp_path: Path) -> None:
    floodway_ = folder(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    done = floodway_("study", "study.toml", "--python", "steady.py", "--out", "out", "--jobs", "2", "--quiet")
    assert done.code == 0, done.err
    assert list((tmp_path / "out").rglob("flows.parquet"))


def test_the_command_line_shows_the_traceback_of_users_code_and_no_more(tmp_path: Path) -> None:
    line = folder(tmp_path, last_ps=20_000_000).line("run", "pair.toml", *CHOOSE)
    done = subprocess.run(
        line, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert all(line.startswith("error: ") for line in lines)
    assert lines[0] == "error: Traceback (most recent call last):"
    assert "steady.py" in lines[1]
    assert lines[-1].startswith(
        "error: Steady.on_ack raised RuntimeError: out of patience (steady.py:21, pair:h"
    )
    assert lines[-1].endswith(" us)")
    assert "/floodway/" not in done.stderr


def test_ctrl_c_ends_a_run_whose_code_never_ends(tmp_path: Path) -> None:
    line = folder(tmp_path, forever=True).line("run", "pair.toml", *CHOOSE, "--out", "out")
    with subprocess.Popen(line, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE) as running:
        until((tmp_path / "looping").exists, "its loop", of=running)
        running.send_signal(signal.SIGINT)
        error = running.communicate(timeout=60)[1].decode()
    assert running.returncode == 130
    # What the run did afterwards would be without the class.
    assert re.search(
        r"interrupted in \w+\.on_ack \(.*steady.py:\d+, pair:h\d:0, at [\d.]+ us\); nothing was", error
    ), error
    assert not (tmp_path / "out").exists()


def test_a_file_that_cannot_be_run_is_reported(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("1 / 0\n")
    with pytest.raises(
        MechanismError, match=r"broken.py raised ZeroDivisionError: division by zero \(broken.py:1\)"
    ):
        load_file(broken)
    with pytest.raises(InputError, match="there is no such file"):
        load_file(tmp_path / "none.py")
