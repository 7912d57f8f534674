"""The display of runs in progress."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st

import floodway as package
from command import environment
from floodway import _floodway
from floodway.cli import watch
from floodway.study.running.work import TaskProgress
from scenarios import SMALL, written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from command import Command
    from floodway.scenarios.scenario import Extent


#: Flows arrive for 2 ms.
ARRIVING = package.Scenario.from_toml(SMALL, name="small")
#: Messages that follow one another.
LOOP = (
    SMALL[: SMALL.index("[[workload]]")]
    + """
[[workload]]
name = "loop"
perftest = { test = "write-bw", from = "h1", to = "h3", size = "10KB", iterations = 50 }
"""
)


@dataclass(frozen=True)
class Far(TaskProgress):
    """How far a run is."""

    time_us: float = 0.0
    flows_done: int = 0
    flows_started: int = 0
    packet_hops: int = 0
    share: float = 0.0
    by_work: bool = False
    bytes: tuple[int, int] = (0, 0)
    operations: tuple[int, int] = (0, 0)


@dataclass
class Run:
    """A run that is watched."""

    label: str
    extent: Extent
    began: float = 0.0
    progress: Far | None = None
    wall_s: float | None = None
    failed: bool = False


class Clock(Protocol):
    """A clock that stands still between ticks."""

    def __call__(self, seconds: float) -> None: ...


@pytest.fixture
def tick(monkeypatch: pytest.MonkeyPatch) -> Clock:
    now = [1000.0]
    monkeypatch.setattr("floodway.cli.watch.time.monotonic", lambda: now[0])

    def later(seconds: float) -> None:
        now[0] += seconds

    return later


def test_off_a_terminal_runs_have_one_line_a_minute_together(
    tick: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    runs: list[Any] = [Run(label=f"run {n}", extent=ARRIVING.extent) for n in range(8)]
    with watch.WatchAll(quiet=False) as watched:
        for second in range(600):
            number = second // 75
            runs[number].progress = Far(share=(second % 75) / 75, flows_started=10)
            if second % 75 == 74:
                runs[number].wall_s = 75.0
            watched.update(runs)
            tick(1.0)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert lines[0] == "0 of 8 runs done; run 0 0 %; no estimate yet"
    # 60 s for 8/10 of a run: 540 s are left of 600.
    assert lines[1] == "0 of 8 runs done; run 0 80 %; 9 min left"
    assert lines[-1] == "7 of 8 runs done; run 7 20 %; 60 s left"


def test_short_runs_say_nothing_of_each(tmp_path: Path, floodway: Command) -> None:
    path = written(tmp_path, SMALL)
    done = floodway("compare", path, "--vary", "seed=1,2", "--out", "out", "--jobs", "1")
    assert done.code == 0
    progress = [line for line in done.err.splitlines() if not line.startswith("warning: ")]
    assert len(progress) <= 1
    assert not re.search("done in", done.err)


def lefts(
    steps: list[tuple[float, Far]], *, tick: Callable[[float], None], of: package.Scenario = ARRIVING
) -> list[str]:
    """Return what is said after each of some steps, if there were a line every time."""
    heard = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stderr(heard):
        patch.setattr(watch, "LINE_EVERY_S", 0.0)
        watched = watch.Watch(of, quiet=False)
        for seconds, progress in steps:
            tick(seconds)
            watched.update(progress)
    return heard.getvalue().splitlines()


far = st.builds(
    Far,
    time_us=st.floats(0, 3000),
    flows_done=st.integers(0, 1000),
    flows_started=st.integers(0, 1000),
    packet_hops=st.integers(0, 10**9),
    share=st.floats(0, 1),
    by_work=st.booleans(),
    bytes=st.tuples(st.integers(0, 10**15), st.integers(0, 10**15)),
    operations=st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)),
)


@given(st.lists(st.tuples(st.floats(0.001, 1000.0), far), min_size=1, max_size=30))
def test_no_estimate_is_negative_or_beyond_a_hundred_times_what_has_passed(
    steps: list[tuple[float, Far]],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        now = [5.0]
        patch.setattr("floodway.cli.watch.time.monotonic", lambda: now[0])

        def later(seconds: float) -> None:
            now[0] += seconds

        spans = {"s": 1.0, "min": 60.0, "h": 3600.0}
        passed = 0.0
        for (seconds, _), said in zip(steps, lefts(steps, tick=later), strict=True):
            passed += seconds
            found = re.search(r", (?:no estimate yet|(less than )?(\S+) (s|min|h) left), ", said)
            assert found is not None, said
            if found[2]:
                # Half a unit is rounded.
                assert 0 <= float(found[2]) <= passed * 100 / spans[found[3]] + 0.5
                assert passed >= watch.LEAST_OBSERVED_S
            share = re.search(r": (\d+) %, ", said)
            assert share is not None
            assert 0 <= int(share[1]) <= 99


def test_an_estimate_comes_when_there_is_one_and_is_right(tick: Clock) -> None:
    steps = [
        (0.5, Far(time_us=10.0 * n, flows_done=n, flows_started=200, share=n / 200)) for n in range(1, 41)
    ]
    said = lefts(steps, tick=tick)
    assert all("no estimate yet" in line for line in said[:3])
    # A hundredth a second: 0.8 / 0.01.
    assert said[-1] == "running small: 20 %, 80 s left, 0.40 of 2.00 ms, 40 of 200 flows, 0.0 M packet-hops/s"


def test_where_nobody_knows_the_last_start_the_estimate_is_a_bound(tick: Clock) -> None:
    steps = [
        (1.0, Far(time_us=100.0 * n, flows_done=n, flows_started=n + 1, share=n / 200)) for n in range(1, 6)
    ]
    said = lefts(steps, tick=tick, of=package.Scenario.from_toml(LOOP, name="loop"))
    # 100 us a second of 20 ms; it may well be over before.
    assert said[-1].startswith("running loop: 2 %, at most 3 min left, 0.50 of 20.00 ms")
    to_its_limit = package.Scenario.from_toml(f'stop = "limit"\n{LOOP}', name="loop")
    assert lefts(steps, tick=tick, of=to_its_limit)[-1].startswith("running loop: 2 %, 3 min left")


def test_work_that_is_known_is_said_and_its_estimate_is_no_bound(tick: Clock) -> None:
    steps = [
        (1.0, Far(share=n / 10, by_work=True, bytes=(n * 10**8, 10**9), operations=(n, 10)))
        for n in range(1, 6)
    ]
    said = lefts(steps, tick=tick, of=package.Scenario.from_toml(LOOP, name="loop"))
    assert said[-1].startswith(
        "running loop: 50 %, 5 s left, 0.5 of 1.0 GB, 5 of 10 operations, 0.00 ms, 0 of 0 flows, "
    )


#: A limit that is a hundred times as long as the run.
FAR_LIMIT = 'limit = "100ms"\ntopology.single-switch = { hosts = 4, rate = "10G", delay = "1us" }\n'
CHAIN = "\n".join(
    ["num_ranks 2", "rank 0 {", *(f"a{i}: calc 5000" for i in range(200))]
    + [f"a{i} requires a{i - 1}" for i in range(1, 200)]
    + ["}", "rank 1 {", "}"]
)
#: Traffic of about a millisecond whose work is known.
KNOWN = {
    "list": 'flows = [{ from = "h1", to = "h2", size = "1MB" }, { from = "h3", to = "h4", size = "200KB" }]',
    "loop": 'perftest = { test = "write-bw", from = "h1", to = "h3", size = "10KB", iterations = 100 }',
    "collective": ('collective = { op = "all-reduce", ranks = "h*", size = "600KB", algorithm = "ring" }'),
    "trace": 'trace = { format = "goal", files = "chain.goal" }',
}


def progress_of(scenario: package.Scenario) -> package.Progress:
    """Return the progress of a run when it is over."""
    progress = package.Progress()
    plan = _floodway.Plan(scenario.native)
    assert _floodway.run(scenario.native, progress=progress, plan=plan) is not None
    return progress


@pytest.mark.parametrize("kind", sorted(KNOWN))
def test_progress_is_that_of_the_work_where_it_ends_before_the_limit(kind: str, tmp_path: Path) -> None:
    (tmp_path / "chain.goal").write_text(CHAIN)
    scenario = package.load(written(tmp_path, f'{FAR_LIMIT}[[workload]]\nname = "w"\n{KNOWN[kind]}\n'))
    last = progress_of(scenario)
    assert last.time_us < scenario.limit_us / 20
    assert (last.share, last.by_work) == (1.0, True)
    done, total = last.operations if kind in {"collective", "trace"} else last.bytes
    assert done == total > 0


def test_a_run_to_its_limit_is_as_far_as_its_time() -> None:
    text = f'stop = "limit"\n{FAR_LIMIT}[[workload]]\nname = "w"\n{KNOWN["list"]}\n'
    last = progress_of(package.Scenario.from_toml(text.replace("100ms", "2ms")))
    assert (last.share, last.by_work) == (1.0, False)


@pytest.mark.skipif(os.name != "posix", reason="terminals are those of POSIX")
def test_eighty_columns_have_room_for_share_and_bar(tmp_path: Path, floodway: Command) -> None:
    import fcntl  # noqa: PLC0415 (of POSIX)
    import pty  # noqa: PLC0415 (of POSIX)
    import struct  # noqa: PLC0415 (of a terminal's size)
    import termios  # noqa: PLC0415 (of POSIX)

    name = "a-scenario-with-a-name-that-is-longer-than-any-terminal-would-like-to-have-it"
    path = written(tmp_path, SMALL.replace('"2ms"', '"40ms"').replace('"20ms"', '"60ms"'), name=name)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    command = floodway.line("run", path, "--out", "out")
    around = {**environment(), "COLUMNS": "80", "TERM": "xterm"}
    with subprocess.Popen(
        command, cwd=tmp_path, env=around, stderr=theirs, stdout=subprocess.DEVNULL
    ) as running:
        os.close(theirs)
        seen = read_all(ours)
    assert running.returncode == 0
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen)
    lines = [line for line in re.split(r"[\r\n]+", plain) if line.strip()]
    assert lines
    for line in lines:
        assert re.match(r" *\d+ % [━╸╺ ]{20} a-scenario-with-a-n…", line), line
        assert len(line) <= 80


def read_all(terminal: int) -> str:
    """Read what a process writes to a terminal until it closes it."""
    parts: list[bytes] = []
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:
            # Linux says so where macOS gives nothing.
            break
        if not part:
            break
        parts.append(part)
    os.close(terminal)
    return b"".join(parts).decode()
