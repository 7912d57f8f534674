"""Kill `run`, `compare`, `study`, its shards and workers, and `reproduce` at random moments; count losses.

A command is started again and again at one place and killed by SIGKILL, SIGTERM or SIGINT, until in the end
it may come to its own. After each kill nothing that had ended may be gone or changed, and the place must take
the next command; at the end nothing hidden may be left, and every file must be, byte for byte, that of a
command that nobody disturbed. Timings, which differ between any two runs, are left out.

    .venv/bin/python tests/soak/kills.py --kills 200

All is decided by the seed, but for how far a command is when it is killed: that is the machine's.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import psutil  # type: ignore[import-untyped]

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from clusters import served
from command import environment
from floodway.results.verification import verified
from floodway_lab.study.report.report import TIMES
from scenarios import SMALL
from studies import BRIEF, study_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["COMMANDS", "Count", "soak"]

#: The folder that holds the project.
PROJECT = Path(__file__).resolve().parents[2]
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
#: What each command is called with; its place and more options follow.
COMMANDS: dict[str, tuple[str, ...]] = {
    "run": ("run", "small.toml", "--quiet"),
    "compare": ("compare", "small.toml", "--vary", "mtu=1000B,4096B", "--seeds", "2", "--quiet"),
    "study": ("study", "pools.toml", "--jobs", "2", "--quiet"),
    "shards": ("study", "pools.toml", "--jobs", "1", "--quiet"),
    "cluster": ("study", "pools.toml", "--quiet"),
    # The same, but a worker of it is killed and not the command.
    "workers": ("study", "pools.toml", "--quiet"),
    "reproduce": ("reproduce", "rcm", "6", "--quick", "--quiet"),
}
#: Of so many kills, those of each command: the longer one takes, the fewer.
SHARES = {"run": 7, "compare": 5, "study": 5, "shards": 5, "cluster": 3, "workers": 3, "reproduce": 3}
#: A command that has not ended by then hangs.
LONGEST_S = 600.0
#: Kills of one place before a command may come to its end.
MOST_A_ROUND = 20


@dataclass
class Count:
    """What kills of one command did."""

    kills: Counter[str] = field(default_factory=Counter)
    rounds: int = 0
    lost: list[str] = field(default_factory=list)
    locked: list[str] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)

    @property
    def faults(self) -> list[str]:
        """All that must not be."""
        return [*self.lost, *self.locked, *self.leftovers, *self.different]


def soak(verb: str, *, kills: int, seed: int, folder: Path) -> Count:
    """Kill a command so many times, in a folder that is empty, and count what it cost."""
    if verb not in {"cluster", "workers"}:
        return _soak(verb, (), kills=kills, seed=seed, folder=folder)
    with served(2) as address:
        return _soak(verb, ("--cluster", address), kills=kills, seed=seed, folder=folder)


def _soak(verb: str, more: tuple[str, ...], *, kills: int, seed: int, folder: Path) -> Count:
    random_ = random.Random(f"{seed}:{verb}")  # noqa: S311 (no secret)
    study_file(folder, BRIEF, scenario=SMALL)
    if verb == "reproduce":
        (folder / "studies").symlink_to(PROJECT / "studies")
        (folder / "scenarios").symlink_to(PROJECT / "scenarios")
    began = time.monotonic()
    whole = _run(verb, folder / "whole", folder, more)
    assert whole.code == 0, whole.said
    takes_s = time.monotonic() - began
    expected = _content(folder / "whole")
    count = Count()
    while count.kills.total() < kills:
        place = folder / f"round-{count.rounds}"
        most = min(random_.randint(1, MOST_A_ROUND), kills - count.kills.total())
        _round(verb, place, more, count, most=most, takes_s=takes_s, random_=random_)
        count.different += _differences(expected, place, f"{verb}, round {count.rounds}")
        count.leftovers += [f"{verb}: {name}" for name in _hidden(folder)]
        shutil.rmtree(place, ignore_errors=True)
        count.rounds += 1
        faults = "".join(f"; {fault}" for fault in count.faults)
        sys.stderr.write(
            f"{verb}: {count.kills.total()} of {kills} kills, {len(count.faults)} faults{faults}\n"
        )
    return count


@dataclass(frozen=True, kw_only=True)
class _Ended:
    code: int
    said: str
    killed: bool
    forced: bool


def _round(  # noqa: PLR0913 (what a round is of)
    verb: str,
    place: Path,
    more: tuple[str, ...],
    count: Count,
    *,
    most: int,
    takes_s: float,
    random_: random.Random,
) -> None:
    """Kill a command at one place so many times, then let it come to its end."""
    there: dict[Path, int] = {}
    for _ in range(most):
        number = signal.SIGKILL if verb == "workers" else random_.choice(SIGNALS)
        ended = _run(
            verb,
            place,
            place.parent,
            more,
            kill=number,
            after_s=random_.uniform(0, takes_s),
            force=_forced(verb, place),
        )
        _look(verb, place, ended, count, there)
        if ended.killed:
            count.kills[number.name] += 1
    ended = _run(verb, place, place.parent, more, force=_forced(verb, place))
    _look(verb, place, ended, count, there)
    if ended.code != 0:
        count.locked.append(f"{verb}: not to its end: {ended.said}")


def _forced(verb: str, place: Path) -> bool:
    """Whether a command has to be told to replace what is there: a run, or a comparison that is whole."""
    if verb == "run":
        return (place / "run.json").is_file()
    document = place / "compare.json"
    return verb == "compare" and document.is_file() and bool(json.loads(document.read_bytes())["complete"])


def _run(  # noqa: PLR0913 (how a command is called)
    verb: str,
    place: Path,
    folder: Path,
    more: tuple[str, ...],
    *,
    kill: signal.Signals | None = None,
    after_s: float = 0.0,
    force: bool = False,
) -> _Ended:
    """Call a command, and kill it after a while unless it has ended by then; of two shards, the first one."""
    line = [sys.executable, "-m", "floodway", *COMMANDS[verb], *more, "--out", place.name]
    line += ["--force"] if force else []
    if verb == "workers":
        return _with_a_worker_killed(_begun(line, folder), kill=kill, after_s=after_s, force=force)
    if verb != "shards":
        return _watched(_begun(line, folder), kill=kill, after_s=after_s, force=force)
    first, second = (_begun([*line, "--shard", f"{index}/2"], folder) for index in range(2))
    ended = _watched(first, kill=kill, after_s=after_s, force=force)
    other = _watched(second, kill=None, after_s=0.0, force=force)
    return ended if other.code == 0 else other


def _begun(line: Sequence[str], folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        line,
        cwd=folder,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )


def _watched(
    running: subprocess.Popen[str], *, kill: signal.Signals | None, after_s: float, force: bool
) -> _Ended:
    """Kill a command after a while unless it has ended by then, and wait for its end."""
    with running:
        killed = False
        if kill is not None:
            try:
                running.wait(after_s)
            except subprocess.TimeoutExpired:
                running.send_signal(kill)
                killed = True
        try:
            said = running.communicate(timeout=LONGEST_S)[1]
        except subprocess.TimeoutExpired:
            running.kill()
            said = "it hung"
    return _Ended(code=running.returncode, said=said.strip(), killed=killed, forced=force)


def _with_a_worker_killed(
    running: subprocess.Popen[str], *, kill: signal.Signals | None, after_s: float, force: bool
) -> _Ended:
    """Kill a worker of the cluster after a while, and wait for the command's end."""
    killed = False
    if kill is not None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.wait(after_s)
        with contextlib.suppress(psutil.NoSuchProcess):
            children = psutil.Process().children()
            for worker in [each for each in children if "spawn_main" in str(each.cmdline())][:1]:
                worker.send_signal(kill)
                killed = True
    ended = _watched(running, kill=None, after_s=0.0, force=force)
    # Nothing that is done to a worker ends the command.
    faulty = "" if ended.code == 0 else f"a worker's death ended it: {ended.said}"
    return replace(ended, killed=killed, said=faulty)


def _look(verb: str, place: Path, ended: _Ended, count: Count, there: dict[Path, int]) -> None:
    """Compare what is at a place with what was there before, and with what the command said."""
    may_end = ended.killed and verb != "workers"
    allowed = (0, 130, 143, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT) if may_end else (0,)
    if ended.code not in allowed or "Traceback" in ended.said:
        count.locked.append(f"{verb}: exit code {ended.code}: {ended.said}")
    for run, made in there.items():
        now = _made(run)
        # Between two renames what was there is in the hidden folder, and the next command finishes it.
        if now is None and not _hidden(run.parent):
            count.lost.append(f"{verb}: {run.relative_to(place.parent)} is gone")
        elif now != made and not ended.forced:
            count.lost.append(f"{verb}: {run.relative_to(place.parent)} was made again")
    there.clear()
    for file in _below(place):
        parts = file.relative_to(place).parts
        if file.name != "run.json" or any(part.startswith(".") for part in parts):
            continue
        faults = verified(file.parent).faults
        if faults:
            count.lost.append(f"{verb}: {file.parent.relative_to(place.parent)}: {faults[0]}")
        there[file.parent] = file.stat().st_mtime_ns


def _made(run: Path) -> int | None:
    try:
        return (run / "run.json").stat().st_mtime_ns
    except OSError:
        return None


def _hidden(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in _below(folder) if path.name.startswith(".")]


def _below(folder: Path) -> Iterator[Path]:
    """Yield all files and folders below; a worker that outlives its command may remove some meanwhile."""
    for base, folders, files in os.walk(folder):
        yield from (Path(base, name) for name in sorted((*folders, *files)))


def _content(folder: Path) -> dict[str, bytes]:
    """Every file of a command, without timings."""
    return {
        str(file.relative_to(folder)): _timeless(file) for file in sorted(_below(folder)) if file.is_file()
    }


def _timeless(file: Path) -> bytes:
    content = file.read_bytes()
    if file.name == "run.json":
        document = json.loads(content)
        del document["timings"]
        return json.dumps(document).encode()
    # A study's report ends with the times of its runs; its page has them as well.
    mark = TIMES.encode() if file.suffix == ".md" else TIMES.removeprefix("## ").encode()
    return content.partition(mark)[0] if file.suffix in {".md", ".html"} else content


def _differences(expected: dict[str, bytes], place: Path, called: str) -> list[str]:
    found = _content(place)
    names = sorted(name for name in {*expected, *found} if expected.get(name) != found.get(name))
    return [f"{called}: {name}" for name in names]


def _shared(kills: int, verbs: Sequence[str]) -> dict[str, int]:
    """Share kills among commands."""
    whole = sum(SHARES[verb] for verb in verbs)
    shared = {verb: kills * SHARES[verb] // whole for verb in verbs}
    shared[verbs[0]] += kills - sum(shared.values())
    return shared


def _table(counts: dict[str, Count]) -> str:
    head = (
        "command",
        "kills",
        *(each.name for each in SIGNALS),
        "places",
        "lost",
        "locked",
        "leftovers",
        "different",
    )
    rows = [
        (
            verb,
            count.kills.total(),
            *(count.kills[each.name] for each in SIGNALS),
            count.rounds,
            *(len(found) for found in (count.lost, count.locked, count.leftovers, count.different)),
        )
        for verb, count in counts.items()
    ]
    sums = ("all", *(sum(row[column] for row in rows) for column in range(1, len(head))))  # type: ignore[misc]
    lines = [head, ("---",) * len(head), *rows, sums]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the options, soak every command, print the table; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--kills", type=int, default=200, help="over all commands (200)")
    parser.add_argument("--seed", type=int, default=1, help="of moments and signals (1)")
    parser.add_argument("--only", choices=COMMANDS, action="append", help="this command; may be repeated")
    chosen = parser.parse_args(arguments)
    verbs = chosen.only or list(COMMANDS)
    counts: dict[str, Count] = {}
    for verb, own in _shared(chosen.kills, verbs).items():
        with tempfile.TemporaryDirectory(prefix="floodway-kills-") as folder:
            counts[verb] = soak(verb, kills=own, seed=chosen.seed, folder=Path(folder))
        for fault in counts[verb].faults:
            sys.stderr.write(f"{fault}\n")
    sys.stdout.write(f"{_table(counts)}\n")
    return int(any(count.faults for count in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
