"""Install a wheel where there is no Rust and no clone, and run the first commands of the README.

    python3 .ci/test_wheel.py dist/*.whl

The Python that runs this makes a virtual environment in a temporary folder; pip installs the dependencies.
`PATH` has the programs of that environment and no others.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

#: Variables of the environment that must not decide anything begin so.
FOREIGN = ("PYTHON", "VIRTUAL_ENV", "CARGO", "RUST", "FLOODWAY")
#: A command, its exit code, and files that it leaves behind.
COMMANDS: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    ("floodway --version", 0, ()),
    ("floodway list scenarios", 0, ()),
    ("floodway list studies", 0, ()),
    ("floodway explain bifrost", 0, ()),
    ("floodway schema", 0, ()),
    ("floodway check scenarios/demo.toml", 0, ()),
    (
        "floodway run scenarios/incast.toml --out out/run --quiet",
        0,
        ("out/run/run.json", "out/run/flows.parquet"),
    ),
    ("floodway verify out/run", 0, ()),
    ("floodway why out/run p99", 0, ()),
    ("floodway plot slowdown out/run", 0, ()),
    ("floodway report out/run --quiet", 0, ("out/run/report.html",)),
    (
        "floodway compare scenarios/long-flow.toml --vary defaults.rate-control=line-rate,dcqcn --out out/2",
        0,
        ("out/2/compare.json", "out/2/index.html"),
    ),
    ("floodway study studies/example.toml --quick --out out/study", 0, ()),
    ("floodway validate .", 2, ()),
    ("floodway run scenarios/no-such-scenario.toml", 2, ()),
)


def main(wheel: Path) -> int:
    """Install the wheel, run the commands, and return how many of them failed."""
    with tempfile.TemporaryDirectory(prefix="wheel-") as place:
        folder = Path(place)
        venv.create(folder / "venv", with_pip=True)
        programs = folder / "venv" / "bin"
        environment = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        environment["PATH"] = str(programs)
        pip: list[str | Path] = [
            programs / "python",
            "-m",
            "pip",
            "--quiet",
            "--disable-pip-version-check",
            "install",
        ]
        subprocess.run(
            [*pip, "--only-binary", ":all:", wheel.resolve()], check=True, env=environment, cwd=folder
        )
        work = folder / "work"
        work.mkdir()
        return sum(not _passes(*each, work=work, environment=environment) for each in COMMANDS)


def _passes(
    command: str, code: int, files: tuple[str, ...], *, work: Path, environment: dict[str, str]
) -> bool:
    start = time.monotonic()
    program, *arguments = command.split()
    done = subprocess.run(
        [Path(environment["PATH"]) / program, *arguments],
        cwd=work,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    missing = [file for file in files if not (work / file).is_file()]
    ok = done.returncode == code and not missing
    _say(f"{'ok' if ok else 'FAILED':6}  {time.monotonic() - start:5.1f} s  {command}")
    if not ok:
        _say(f"exit code {done.returncode}, missing {missing}\n{done.stdout}{done.stderr}")
    return ok


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    match sys.argv[1:]:
        case [one]:
            sys.exit(min(main(Path(one)), 1))
        case given:
            sys.exit(f"one wheel is expected, got {len(given)}; make wheel makes it")
