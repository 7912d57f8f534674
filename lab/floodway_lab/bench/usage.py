"""Resource usage of a program: CPU seconds, wall time and peak memory of its whole process."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from floodway.common.errors import FloodwayError
from floodway_lab.bench import launcher
from floodway_lab.bench.model import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["used"]

#: Python without variables of the environment and installed packages, so that the launcher stays small.
ISOLATED = (sys.executable, "-I", "-S", launcher.__file__)


def used(command: Sequence[str], *, folder: Path, name: str) -> tuple[Usage, str]:
    """Run a program to its end.

    Parameters
    ----------
    command
        The program and its arguments.
    folder
        The working folder, in which `NAME.out` and `NAME.err` receive its output.
    name
        Its name in errors.

    Returns
    -------
    tuple
        Its resource usage, and its output.

    Raises
    ------
    FloodwayError
        It could not be started, failed, or was killed.
    """
    out, err = folder / f"{name}.out", folder / f"{name}.err"
    launched = subprocess.run(
        [*ISOLATED, str(folder), str(out), str(err), *command], capture_output=True, text=True, check=False
    )
    if launched.returncode != 0:
        raise FloodwayError(f"{name} could not be started: {_last_line(launched.stderr)}")
    code, cpu, wall, peak = launched.stdout.split()
    if int(code) != 0:
        raise FloodwayError(f"{name} {_ended(int(code))}: {_last_line(_text(err)) or _last_line(_text(out))}")
    return Usage(cpu_s=float(cpu), wall_s=float(wall), peak_memory_bytes=int(peak)), _text(out)


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]


def _ended(code: int) -> str:
    return f"failed with exit code {code}" if code > 0 else f"was killed by {signal.Signals(-code).name}"
