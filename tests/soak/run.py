"""Runs random scenarios and looks for what must never happen: `make soak`.

Each scenario is checked, run on one thread and run on two, by the command line as users call it. It is right
if `check` and `run` agree, if what is refused is refused in clear lines, if the books of a run balance, and
if both runs keep the same bytes. Workers are processes of their own with a bound on memory; one that says
nothing for too long is killed. Whatever is found is printed with the command that shows it again.
"""

from __future__ import annotations

import argparse
import json
import queue
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from generator import SLOTS, Generator, toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: A worker ends after so many scenarios, so that what one leaves in memory ends with it.
BATCH = 250
#: Of so many scenarios each mechanism must have run in one at least.
ENOUGH = 1000
#: Nothing that users see says any of these.
NEVER = ("Traceback", "panicked", "a bug of floodway", "RuntimeWarning")
LONGEST_LINE = 2000
#: How it is called.
AGAIN = ".venv/bin/python tests/soak/run.py"


class Found(Exception):  # noqa: N818 (what is looked for)
    """What must not happen has."""


# ---- one scenario


@dataclass(frozen=True)
class Done:
    """What a call of the command line left."""

    code: int
    out: str
    err: str


def call(*arguments: str | Path) -> Done:
    """Call the command line in this process."""
    from floodway.cli.main import main  # noqa: PLC0415 (the parent does without)

    out, err = StringIO(), StringIO()
    code = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = int(end.code or 0)
    done = Done(code, out.getvalue(), err.getvalue())
    for word in NEVER:
        if word in done.out + done.err:
            raise Found(f"{arguments[0]} says {word!r}: {done.err.strip().splitlines()[-1][:300]}")
    return done


def examine(seed: int, folder: Path, generator: Generator) -> dict[str, Any]:
    """Try the scenario of a seed; what it came to."""
    document = generator.scenario(seed)
    file = folder / "soak.toml"
    text = "".join(f"{key} = {toml(value)}\n" for key, value in document.items())
    file.write_text(text, encoding="utf-8")
    checked = call("check", file, "--resolved")
    one = call("run", file, "--out", folder / "one", "--force", "--quiet", "--threads", "1")
    if checked.code != 0:
        refused(checked, one)
        return {"seed": seed, "ran": False}
    if one.code != 0:
        raise Found(f"check accepts it, run ends with {one.code}: {one.err.strip()[:300]}")
    told = read_run(folder / "one")
    balanced(told["verdicts"])
    kept(told["verdicts"]["lossless"])
    two = call(
        "run", file, "--out", folder / "two", "--force", "--quiet", "--threads", "2", "--force-threads"
    )
    if two.code != 0:
        raise Found(f"on two threads it ends with {two.code}: {two.err.strip()[:300]}")
    same(folder / "one", folder / "two")
    hops = told["verdicts"]["packet_hops"]
    return {"seed": seed, "ran": True, "hops": hops, "features": sorted(features(document, generator))}


def refused(checked: Done, run: Done) -> None:
    """See to it that both refuse it alike, in lines that say where and what."""
    if checked.code != 2 or (run.code, run.err) != (checked.code, checked.err):
        raise Found(
            f"check ends with {checked.code}, run with {run.code}: {checked.err[:150]} / {run.err[:150]}"
        )
    lines = checked.err.splitlines()
    if not lines:
        raise Found("it is refused without a word")
    for line in lines:
        if not line.strip() or len(line) > LONGEST_LINE or ": " not in line:
            raise Found(f"an error is no clear line: {line[:300]!r}")


def read_run(folder: Path) -> dict[str, Any]:
    """Read what a run says of itself."""
    run: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return run


def balanced(verdicts: dict[str, Any]) -> None:
    """See to it that the books of a run balance."""
    for name, verdict in verdicts["invariants"].items():
        if verdict != "holds":
            raise Found(f"{name} is broken: {verdict}")
    bytes_ = verdicts["bytes"]
    if bytes_["injected"] != bytes_["delivered"] + bytes_["dropped"] + bytes_["in_flight"]:
        raise Found(f"bytes are missing: {bytes_}")


def kept(lossless: dict[str, Any]) -> None:
    """See to it that nothing is lost where the sizes of buffers promise that nothing can be."""
    promised = "short" not in lossless and "unproven" not in lossless
    if lossless["verdict"] == "violated" and promised:
        raise Found(f"bytes were lost where sizes promise that none are: {lossless['loss']}")


def same(one: Path, two: Path) -> None:
    """See to it that two folders hold the same results."""
    names = [sorted(file.name for file in folder.iterdir()) for folder in (one, two)]
    if names[0] != names[1]:
        raise Found(f"one thread writes {names[0]}, two write {names[1]}")
    for name in names[0]:
        if name.endswith(".parquet") and (one / name).read_bytes() != (two / name).read_bytes():
            raise Found(f"two threads keep other bytes than one: {name}")
    verdicts = [dict(read_run(folder)["verdicts"]) for folder in (one, two)]
    if verdicts[0] != verdicts[1]:
        keys = [key for key in verdicts[0] if verdicts[0][key] != verdicts[1].get(key)]
        raise Found(f"two threads have other verdicts than one: {', '.join(keys)}")


def features(document: dict[str, Any], generator: Generator) -> Iterator[str]:
    """Name the mechanisms that a scenario chooses, and what else makes it special."""
    for table in (document["defaults"], *document["override"]):
        for slot in SLOTS:
            known = generator.choices(slot)
            yield from (f"{slot} {name}" for name in _named(table.get(slot), known))
        if "down" in table.get("faults", {}):
            yield "links that fail"
    if "profile" in document:
        yield f"profile {document['profile']}"


def _named(value: object, known: Sequence[str]) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _named(item, known)
    elif isinstance(value, dict):
        for key, of in value.items():
            if key in known:
                yield key
            elif key.startswith("class-"):
                yield from _named(of, known)


def work(seeds: Sequence[int], gib: float) -> None:
    """Try scenarios one after another, and write a line for each."""
    limit = int(gib * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    lines = sys.stdout
    generator = Generator()
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        for seed in seeds:
            try:
                told = examine(seed, Path(name), generator)
            except Found as found:
                told = {"seed": seed, "found": str(found)}
            except Exception as error:  # noqa: BLE001 (whatever it is, it is found)
                told = {"seed": seed, "found": f"{type(error).__name__}: {error}"}
            print(json.dumps(told), file=lines, flush=True)


# ---- all of them


@dataclass
class Tally:
    """What has been seen so far."""

    total: int
    began: float = field(default_factory=time.monotonic)
    ran: int = 0
    refused: int = 0
    hops: int = 0
    features: Counter[str] = field(default_factory=Counter)
    found: list[int] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, told: dict[str, Any], out: TextIO) -> None:
        """Count a scenario."""
        with self.lock:
            if "found" in told:
                self.found.append(told["seed"])
                print(f"finding: seed {told['seed']}: {told['found']}", file=out)
                print(f"  again: {AGAIN} --first {told['seed']} --count 1", file=out, flush=True)
            elif told["ran"]:
                self.ran += 1
                self.hops += told["hops"]
                self.features.update(told["features"])
            else:
                self.refused += 1
            if self.done % 500 == 0:
                print(f"{self.done:,} of {self.total:,} after {self.seconds:.0f} s", file=out, flush=True)

    @property
    def done(self) -> int:
        """How many scenarios there were."""
        return self.ran + self.refused + len(self.found)

    @property
    def seconds(self) -> float:
        """How long it has taken."""
        return time.monotonic() - self.began


def watch(seeds: list[int], options: argparse.Namespace, tally: Tally) -> None:
    """Have workers try these seeds, batch by batch, and see to it that none hangs."""
    while seeds:
        batch = seeds[:BATCH]
        tried = attend(batch, options, tally)
        del seeds[: max(tried, 1)]


def attend(batch: list[int], options: argparse.Namespace, tally: Tally) -> int:
    """Have a worker try a batch; how many of its seeds were tried."""
    line = [sys.executable, __file__, "--memory-gib", str(options.memory_gib), "--worker", *map(str, batch)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as worker:
        said: queue.Queue[str] = queue.Queue()
        assert worker.stdout is not None
        reader = threading.Thread(target=_listen, args=(worker.stdout, said), daemon=True)
        reader.start()
        for tried, seed in enumerate(batch):
            try:
                told = said.get(timeout=options.seconds)
            except queue.Empty:
                worker.kill()
                tally.add({"seed": seed, "found": f"nothing came for {options.seconds:.0f} s"}, sys.stdout)
                return tried + 1
            if not told:
                code = worker.wait()
                how = signal.Signals(-code).name if code < 0 else f"code {code}"
                tally.add({"seed": seed, "found": f"its process ended with {how}"}, sys.stdout)
                return tried + 1
            tally.add(json.loads(told), sys.stdout)
    return len(batch)


def _listen(stream: TextIO, said: queue.Queue[str]) -> None:
    for line in stream:
        said.put(line)
    said.put("")


def soak(options: argparse.Namespace) -> int:
    """Try all scenarios; returns the exit code."""
    seeds = range(options.first, options.first + options.count)
    print(f"soak: seeds {seeds[0]:,} to {seeds[-1]:,}, {options.jobs} at a time", flush=True)
    tally = Tally(total=len(seeds))
    threads = [
        threading.Thread(target=watch, args=(list(seeds[i :: options.jobs]), options, tally), daemon=True)
        for i in range(options.jobs)
    ]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        done = tally.done // options.jobs * options.jobs
        print(f"interrupted; to go on: {AGAIN} --first {options.first + done} --count {options.count - done}")
        return 130
    return report(tally)


def report(tally: Tally) -> int:
    """Say what there was; returns the exit code."""
    print(
        f"{tally.done:,} scenarios: {tally.ran:,} ran, {tally.refused:,} were refused in clear lines, "
        f"{len(tally.found):,} findings; {tally.hops:,} packet-hops in {tally.seconds:.0f} s"
    )
    generator = Generator()
    untried = []
    for slot in SLOTS:
        counts = {name: tally.features[f"{slot} {name}"] for name in generator.choices(slot)}
        print(f"{slot}: " + ", ".join(f"{name} {count:,}" for name, count in counts.items()))
        untried += [f"{slot} {name}" for name, count in counts.items() if not count]
    others = {name: count for name, count in sorted(tally.features.items()) if name.split()[0] not in SLOTS}
    print("others: " + ", ".join(f"{name} {count:,}" for name, count in others.items()))
    if untried and tally.done >= ENOUGH:
        print("never ran: " + ", ".join(untried))
    return 1 if tally.found or (untried and tally.done >= ENOUGH) else 0


def main() -> int:
    """Read the command line and go."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--first", type=int, default=1, help="the first seed (1)")
    parser.add_argument("--count", type=int, default=1000, help="how many (1,000)")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (2)")
    parser.add_argument("--seconds", type=float, default=120.0, help="longest for one scenario (120)")
    parser.add_argument("--memory-gib", type=float, default=8.0, help="address space of a worker (8)")
    parser.add_argument("--show", action="store_true", help="print the scenarios, and try none")
    parser.add_argument("--worker", type=int, nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker, options.memory_gib)
        return 0
    if options.show:
        for seed in range(options.first, options.first + options.count):
            for key, value in Generator().scenario(seed).items():
                print(f"{key} = {toml(value)}")
        return 0
    return soak(options)


if __name__ == "__main__":
    sys.exit(main())
