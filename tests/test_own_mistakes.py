"""Errors in users' own mechanisms, reported with their place and the right name."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import floodway
from clusters import served
from command import Command, environment, until
from floodway.common.errors import InputError, MechanismError, ScenarioError
from floodway.scenarios.mechanisms import load_file
from floodway.scenarios.own_code import missing
from floodway.simulation.run import run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from floodway._floodway import Ack, Flow, Packet, Port, Queue

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
    ("offset", "allowed"), [(1, "the flow of the current packet"), (-(10**9), "current packet")]
)
def test_a_cnp_for_another_flow_than_the_current_packets_is_refused(offset: int, allowed: str) -> None:
    class Stray(floodway.CongestionPoint, tells=("cnps",)):
        def on_enqueue(self, packet: Packet, queue: Queue) -> None:  # noqa: ARG002 (called with it)
            self.send_cnp(packet.flow + offset)

    with pytest.raises(MechanismError, match=rf"send_cnp\(-?\d+\); allowed: \d+, .*{allowed}"):
        run(pair("congestion-point", "stray"))


def test_a_cnp_without_a_current_packet_is_refused() -> None:
    class Late(floodway.CongestionPoint, tells=("cnps",)):
        def start(self, port: Port) -> None:  # noqa: ARG002 (called with it)
            self.timer_ps = 1_000_000

        def on_timer(self, now_ps: int) -> None:  # noqa: ARG002 (called with it)
            self.send_cnp(0)

    with pytest.raises(MechanismError, match="nothing, because there is no current packet here"):
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


#: A class that needs a file beside its own, and Python's own module of random numbers.
SHADOW = """
import random

import floodway
from the_factor import FACTOR


class Own(floodway.RateControl):
    def start(self, flow):
        self.window_bytes = FACTOR * flow.bdp_bytes + random.Random(1).randrange(100)
"""
PAIR = """
limit = "2ms"
topology.single-switch = { hosts = 3, rate = "10G", delay = "1us" }
defaults.rate-control = "own"
workload = [{ name = "w", incast = { to = "h1", size = "100KB" } }]
"""


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
            "from floodway.scenarios.mechanisms import load_file",
            "from floodway.scenarios.own_code import known_digests",
            "load_file(Path('with_factor.py'))",
            "print(known_digests()['rate-control.with-factor'])",
        )
        command = [sys.executable, "-B", "-c", "; ".join(lines)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    assert digest(2) == digest(2) != digest(3)


#: Names of Python's own modules, of packages that floodway needs or may need, and of its own parts.
TAKEN = ("random", "json", "typer", "polars", "out.of-order")


@pytest.mark.parametrize("name", TAKEN)
def test_a_file_may_be_called_as_a_module_of_python_or_of_a_package(name: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.py").write_text(SHADOW, encoding="utf-8")
    (tmp_path / "the_factor.py").write_text("FACTOR = 2\n", encoding="utf-8")
    (tmp_path / "pair.toml").write_text(PAIR, encoding="utf-8")
    done = Command(tmp_path)("run", "pair.toml", "--python", f"{name}.py", "--out", "out", "--report")
    assert (done.code, "error" in done.err) == (0, False), done.err
    assert floodway.read(tmp_path / "out").flows["finished"].all()


def test_worker_processes_know_a_file_that_is_called_as_a_module_of_python(
    tmp_path: Path,
) -> None:
    (tmp_path / "random.py").write_text(SHADOW, encoding="utf-8")
    (tmp_path / "the_factor.py").write_text("FACTOR = 2\n", encoding="utf-8")
    (tmp_path / "pair.toml").write_text(PAIR, encoding="utf-8")
    study = 'title = "T"\nscenario = "pair.toml"\nseeds = 2\n[[variant]]\nname = "only"\n'
    (tmp_path / "two.toml").write_text(study + '[metric.mean]\nkind = "fct-mean"\n', encoding="utf-8")
    with served(1) as address:
        for more in (("--jobs", "2"), ("--cluster", address)):
            done = Command(tmp_path)(
                "study", "two.toml", "--python", "random.py", "--out", f"out{more[0]}", *more
            )
            assert (done.code, "error" in done.err) == (0, False), done.err


DOCUMENTED = """
import floodway


class Base(floodway.RateControl):
    #: Of the base.
    share: float = 1.0

    def start(self, flow):
        self.window_bytes = self.share * flow.bdp_bytes


class WithMeanings(Base):
    \'\'\'Keeps a window.

    Parameters
    ----------
    least, most : Size
        Limits of the window,
        in bytes.

    Notes
    -----
    Nothing else.
    \'\'\'

    least: floodway.Size = floodway.Size("2KB")
    most: floodway.Size = floodway.Size("2MB")
    growth: int = 3  #: Packets of a round trip.
    bare: bool = False
"""


def test_the_page_of_a_class_has_the_meanings_of_its_parameters(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(DOCUMENTED, encoding="utf-8")
    done = Command(tmp_path)("explain", "with-meanings", "--python", "mine.py", "--json")
    assert done.code == 0, done.err
    entry = json.loads(done.out)
    (entry,) = entry if isinstance(entry, list) else [entry]
    assert {each["key"]: each["text"] for each in entry["parameters"]} == {
        "share": "Of the base.",
        "least": "Limits of the window, in bytes.",
        "most": "Limits of the window, in bytes.",
        "growth": "Packets of a round trip.",
        "bare": "",
    }
    page = Command(tmp_path)("explain", "with-meanings", "--python", "mine.py").out
    assert "Nothing else." in page
    assert page.count("Parameters") == 1


def test_two_files_of_one_name_are_two_modules(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / str(number)).mkdir()
        file = tmp_path / str(number) / "control.py"
        lines = ("import sys", CLASS.format(name=f"OfFolder{number}"), "ME = sys.modules[__name__].__file__")
        file.write_text("\n".join(lines), encoding="utf-8")
        load_file(file)
    files = {module.ME for module in list(sys.modules.values()) if "ME" in vars(module)}
    assert files == {str(tmp_path / "1" / "control.py"), str(tmp_path / "2" / "control.py")}


def test_what_code_lacks_is_not_told_as_too_little_memory() -> None:
    program = """
import resource, sys
from floodway.common.loading import loading
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
with loading():
    from random import Nobody
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "ImportError: cannot import name 'Nobody'" in done.stderr
    assert "memory" not in done.stderr


def refused(scenario: str = "rate-control", name: str = "odd") -> str:
    with pytest.raises(ScenarioError) as error:
        pair(scenario, name)
    return str(error.value)


def test_an_attribute_that_is_nearly_one_of_ours_is_refused_where_it_has_no_effect() -> None:
    class Window(floodway.RateControl, name="odd"):
        def start(self, flow: Flow) -> None:
            self.window = flow.bdp_bytes

        def on_ack(self, ack: Ack) -> None:
            self.window += ack.acked_bytes

    told = refused()
    line = inspect.getsourcelines(Window)[1] + 2
    assert (
        f"class Window sets window (test_own_mistakes.py:{line}) but never window_bytes, which is "
        "read instead (payload that may be in flight, in bytes): did you mean window_bytes?"
    ) in told

    class Pace(floodway.RateControl, name="odd"):
        def on_ack(self, ack: Ack) -> None:
            self.rate_gbps = ack.acked_bytes

    assert "did you mean rate_bps?" in refused()

    class Timer(floodway.RateControl, name="odd"):
        def start(self, flow: Flow) -> None:
            self.window_bytes = flow.bdp_bytes
            self.timer = 1_000_000

        def on_timer(self, now_ps: int) -> None:
            self.timer = now_ps + 1_000_000

    assert "did you mean timer_ps?" in refused()

    class Unset(floodway.CongestionPoint, name="odd"):
        def on_timer(self, now_ps: int) -> None: ...

    assert "never sets timer_ps, so its on_timer is never called" in refused("congestion-point")

    class Constant(floodway.RateControl, name="odd"):
        windw_bytes = 3_000

        def start(self, flow: Flow) -> None: ...

    assert "sets windw_bytes (in class Constant)" in refused()


def test_an_attribute_of_the_users_own_stays_allowed() -> None:
    class Base(floodway.RateControl, name="base"):
        """Others are made from it."""

        window = 0.0

        def apply(self) -> None:
            self.window_bytes = self.window

    class Both(Base, name="both"):
        def start(self, flow: Flow) -> None:
            self.window = flow.bdp_bytes
            self.rate = 3
            self.time_ps = self.rate
            self.apply()

        def on_ack(self, ack: Ack) -> None:
            self.window += ack.acked_bytes + self.rate + self.time_ps
            self.apply()

    class Hidden(floodway.RateControl, name="hidden"):
        def on_ack(self, ack: Ack) -> None:
            self._window = ack.acked_bytes
            self.packets = ack.acked_bytes

    class ByName(floodway.RateControl, name="by-name"):
        def start(self, flow: Flow) -> None:
            self.window = flow.bdp_bytes
            setattr(self, "window_" + "bytes", self.window)

    class Class(floodway.RateControl, name="class"):
        window_bytes = 10_000.0

    for name in ("both", "hidden", "by-name", "class"):
        assert run(pair("rate-control", name)).flows["finished"].all()
    assert "class Base overrides no method that is called; allowed: start, on_ack, " in refused(name="base")
    assert "; it has apply" in refused(name="base")


def test_a_callback_that_would_not_run_is_refused_where_the_class_is_defined() -> None:
    with pytest.raises(TypeError, match=r"Later.on_ack is async: .*; write def on_ack"):

        class Later(floodway.RateControl):
            async def on_ack(self, ack: Ack) -> None:  # type: ignore[override]
                self.window_bytes = ack.acked_bytes

    with pytest.raises(TypeError, match=r"Parts.on_ack has a yield"):

        class Parts(floodway.RateControl):
            def on_ack(self, ack: Ack) -> Iterator[int]:  # type: ignore[override]
                yield ack.acked_bytes

    with pytest.raises(TypeError, match=r"Camel.onAck is never called; did you mean on_ack\?"):

        class Camel(floodway.RateControl):
            def onAck(self, ack: Ack) -> None:  # noqa: N802 (it is a mistake)
                self.window_bytes = ack.acked_bytes

    with pytest.raises(TypeError, match=r"Swapped.strat is never called; did you mean start\?"):

        class Swapped(floodway.RateControl):
            def strat(self, flow: Flow) -> None: ...

    with pytest.raises(
        TypeError,
        match="needs is not a keyword of this class; allowed: name, tells; `needs` is for rate controls",
    ):

        class Needs(floodway.CongestionPoint, needs=("int",)): ...

    with pytest.raises(
        TypeError, match=r"nedes is not a keyword of this class; allowed: name, needs; did you mean needs"
    ):

        class Nedes(floodway.RateControl, nedes=("int",)): ...


def test_an_object_in_place_of_a_name_is_refused_with_the_name() -> None:
    class Paced(floodway.RateControl):
        growth: float = 1.0

        def on_ack(self, ack: Ack) -> None:  # noqa: ARG002 (called with it)
            self.rate_bps = 10**10 * self.growth

    with pytest.raises(TypeError, match=r"Paced is chosen by its name, .*: \{'paced': \{'growth': 2\}\}; "):
        Paced(growth=2)
    for given in (Paced(), Paced):
        with pytest.raises(InputError, match=r"defaults.rate-control: Paced is chosen by its name.*'paced'"):
            floodway.Scenario.from_dict({"defaults": {"rate-control": given}})


def test_a_wrong_value_names_the_line_that_set_it() -> None:
    class Wordy(floodway.RateControl):
        def start(self, flow: Flow) -> None:
            self.packet = flow.mtu_bytes

        def on_ack(self, ack: Ack) -> None:
            self.packet = ack.acked_bytes
            self.window_bytes = "much"  # type: ignore[assignment]

    line = inspect.getsourcelines(Wordy)[1] + 6
    with pytest.raises(
        MechanismError, match=rf"window_bytes = 'much'.* \(test_own_mistakes.py:{line}, pair:h"
    ):
        run(pair("rate-control", "wordy"))

    class Answer(floodway.CongestionPoint):
        def on_dequeue(self, packet: Packet, queue: Queue) -> str:  # type: ignore[override]  # noqa: ARG002 (called with it)
            return "ce"

    line = inspect.getsourcelines(Answer)[1] + 1
    with pytest.raises(MechanismError, match=rf"on_dequeue returned 'ce'.* \(test_own_mistakes.py:{line}, "):
        run(pair("congestion-point", "answer"))


def test_what_a_file_raises_is_reported_by_its_own_lines(tmp_path: Path) -> None:
    file = tmp_path / "odd_file.py"
    file.write_text(
        CLASS.format(name="Fine") + "\n\nclass Odd(floodway.RateControl, nedes=1):\n    pass\n", "utf-8"
    )
    (tmp_path / "none.toml").write_text(TEXT, "utf-8")
    line = Command(tmp_path).line("check", "none.toml", "--python", "odd_file.py")
    done = subprocess.run(
        line, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "odd_file.py raised TypeError: class Odd(" in done.stderr
    assert "(odd_file.py:8)" in done.stderr
    assert "mechanisms.py" not in done.stderr
    assert "importlib" not in done.stderr


#: A rate control, and a scenario that chooses it.
STEADY = """
import os
import time
import floodway

class Steady(floodway.RateControl):
    def start(self, flow):
        self.window_bytes = 2_000
        if SLOW:
            # Without a file object, in whose finalizer Ctrl-C would be lost.
            os.close(os.open("slow", os.O_CREAT))
            time.sleep(60)
"""


def steady(folder: Path, *, slow: bool = False) -> Command:
    (folder / "steady.py").write_text(f"SLOW = {slow}\n{STEADY}", "utf-8")
    (folder / "pair.toml").write_text(f'defaults.rate-control = "steady"\n{TEXT}', "utf-8")
    return Command(folder)


def test_ctrl_c_ends_a_check_in_users_code(tmp_path: Path) -> None:
    line = steady(tmp_path, slow=True).line("check", "pair.toml", "--python", "steady.py")
    with subprocess.Popen(line, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE) as running:
        until((tmp_path / "slow").exists, "its sleep", of=running)
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=60) == 130


def test_a_stored_run_names_the_file_that_its_class_came_from(tmp_path: Path) -> None:
    floodway_ = steady(tmp_path)
    for out in ("one", "two"):
        assert floodway_("run", "pair.toml", "--python", "./steady.py", "--out", out).code == 0
    one, two = (json.loads((tmp_path / out / "run.json").read_text("utf-8")) for out in ("one", "two"))
    (code,) = one["code"]["python"]
    digest = hashlib.sha256((tmp_path / "steady.py").read_bytes()).hexdigest()
    assert code == {
        "mechanism": "rate-control.steady",
        "class": "Steady",
        "file": "steady.py",
        "sha256": digest,
    }
    assert one["sha256"] == two["sha256"]
    assert floodway_("plot", "fct", "one").code == 0
    lacks = floodway_("why", "one", "p99")
    assert lacks.code == 2
    assert "pair: the run used rate-control 'steady' of steady.py: add --python steady.py" in lacks.err
    assert floodway_("why", "one", "p99", "--python", "steady.py").code == 0
    text = (tmp_path / "steady.py").read_text("utf-8").replace("2_000", "9_000")
    (tmp_path / "steady.py").write_text(text, "utf-8")
    other = floodway_("why", "one", "p99", "--python", "steady.py")
    assert (other.code, "'steady' of steady.py has changed" in other.err) == (1, True)


def test_true_is_no_window() -> None:
    class Truth(floodway.RateControl):
        def start(self, flow: Flow) -> None:  # noqa: ARG002 (called with it)
            self.window_bytes = True

    with pytest.raises(MechanismError, match="window_bytes = True: allowed: a number"):
        run(pair("rate-control", "truth"))


def test_two_classes_of_one_name_in_a_file_are_refused(tmp_path: Path) -> None:
    text = "import floodway\n" + 2 * (
        "class SameName(floodway.RateControl):\n    def start(self, flow): self.window_bytes = 9_000\n"
    )
    (tmp_path / "twice.py").write_text(text, "utf-8")
    # Whether it is read once or again.
    for _ in range(2):
        with pytest.raises(MechanismError, match=r"twice\.py has a rate-control 'same-name' already"):
            load_file(tmp_path / "twice.py")


def test_a_comparison_names_the_variant_and_the_error_of_a_class(tmp_path: Path) -> None:
    floodway_ = steady(tmp_path)
    body = "    def on_ack(self, ack): self.window_bytes = -1\n"
    text = f"import floodway\nclass Steady(floodway.RateControl):\n{body}"
    (tmp_path / "steady.py").write_text(text, "utf-8")
    vary = "defaults.rate-control=steady,line-rate"
    done = floodway_(
        "compare", "pair.toml", "--python", "steady.py", "--vary", vary, "--out", "out", "--quiet"
    )
    assert done.code == 1
    assert "steady: Steady.on_ack raised ValueError: window_bytes = -1" in done.err
    assert "a bug" not in done.err


def test_a_class_of_a_module_is_recorded_with_its_module(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    body = "    def start(self, flow): self.window_bytes = 9_000\n"
    text = f"import floodway\nclass Imported(floodway.RateControl):\n{body}"
    (tmp_path / "of_ours.py").write_text(text, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("of_ours")
    result = run(pair("rate-control", "imported"))
    (code,) = result.run.code["python"]
    assert (code["class"], code["module"], "file" in code) == ("Imported", "of_ours", False)
    elsewhere = {"python": [{**code, "mechanism": "rate-control.not-imported"}]}
    assert missing(elsewhere) == (
        "the run used rate-control 'not-imported', class Imported: add an import of of_ours"
    )


def test_a_study_records_files_as_they_were_named(tmp_path: Path) -> None:
    floodway_ = steady(tmp_path)
    vary = "defaults.rate-control=steady,line-rate"
    done = floodway_(
        "compare", "pair.toml", "--python", "steady.py", "--vary", vary, "--out", "out", "--quiet"
    )
    assert done.code == 0, done.err
    runs = [json.loads(file.read_text("utf-8")) for file in (tmp_path / "out").rglob("run.json")]
    assert sorted(each.get("code", {}).get("python", [{}])[0].get("file", "") for each in runs) == [
        "",
        "steady.py",
    ]


def defined_anew(window: int) -> None:
    code = f"class Anew(floodway.RateControl):\n    def start(self, flow): self.window_bytes = {window}\n"
    exec(code, {"floodway": floodway})  # noqa: S102 (as a cell of a notebook is)


def test_a_scenario_that_keeps_an_older_class_is_warned_of() -> None:
    defined_anew(2_000)
    scenario = pair("rate-control", "anew")
    defined_anew(2_000)
    first = run(scenario)
    defined_anew(50_000)
    with pytest.warns(
        UserWarning, match="scenario: class Anew was redefined after .* load the scenario again"
    ):
        kept = run(scenario.with_seed(1))
    assert kept.flows.equals(first.flows)
    assert kept.run.code == first.run.code
    assert not run(pair("rate-control", "anew")).flows.equals(first.flows)
