"""A small program that starts another one and writes its resource usage.

`launcher.py FOLDER STDOUT STDERR COMMAND...`. Linux counts the memory of the process that starts a program
into the peak of that program. This one imports next to nothing and takes some 10 MB, which is the least
peak that it can measure.
"""

from __future__ import annotations

import os
import sys
import time

NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


def main(folder: str, stdout: str, stderr: str, *command: str) -> None:
    """Run a command in a folder; write its exit code, CPU seconds, wall seconds and peak memory in bytes."""
    os.chdir(folder)
    streams = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, stdout, NEW, 0o644),
        (os.POSIX_SPAWN_OPEN, 2, stderr, NEW, 0o644),
    ]
    start = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=streams)
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - start
    code, cpu = os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime
    # In KiB on Linux.
    sys.stdout.write(f"{code} {cpu} {wall} {usage.ru_maxrss * 1024}\n")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except OSError as error:
        sys.exit(f"{sys.argv[4]}: {error.strerror}")
