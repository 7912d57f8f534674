"""A pool of processes as an executor: a process that is killed takes no other with it.

Its processes end with the one that made the pool, whatever ends that.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from floodway.scenarios.own_code import FILES

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ProcessDiedError", "ProcessPool"]


class ProcessDiedError(RuntimeError):
    """A process of the pool ended before its call returned."""


class ProcessPool(Executor):
    """Processes that make calls of functions with plain values, which are written as JSON.

    Parameters
    ----------
    most
        Number of processes; they are started when there is something for them to do.
    on_report
        Called, in a thread of the pool, with what a function reports before it returns.
    """

    def __init__(self, most: int, *, on_report: Callable[[Any], None]) -> None:
        self._most = most
        self._report = on_report
        self._calls: queue.SimpleQueue[tuple[Future[Any], bytes] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._idle = 0
        self._is_over = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401 (as its base has it)
        """Call a function of a module in a process; its arguments and its result are plain values."""
        future: Future[Any] = Future()
        call = {"module": fn.__module__, "function": fn.__name__, "args": args, "kwargs": kwargs}
        line = f"{json.dumps(call)}\n".encode()
        with self._lock:
            if self._is_over:
                raise RuntimeError("the pool of processes has ended")
            if self._idle > 0:
                self._idle -= 1
            elif len(self._threads) < self._most:
                thread = threading.Thread(target=self._serve, daemon=True)
                self._threads.append(thread)
                thread.start()
            self._calls.put((future, line))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 (as its base has it)
        """End all processes at once: calls that have not returned are lost."""
        with self._lock:
            self._is_over = True
            for process in self._processes:
                process.kill()
            for _ in self._threads:
                self._calls.put(None)
        for thread in self._threads if wait else ():
            thread.join()

    def _serve(self) -> None:
        """Make calls in one process after another, until the pool ends."""
        process: _Process | None = None
        while (call := self._calls.get()) is not None:
            future, line = call
            if future.set_running_or_notify_cancel():
                try:
                    process = process or self._started()
                    answer = process.answer(line, self._report)
                except (ProcessDiedError, OSError) as error:
                    self._end(process)
                    process = None
                    future.set_exception(error)
                else:
                    future.set_result(answer)
            with self._lock:
                self._idle += 1
        self._end(process)

    def _started(self) -> _Process:
        with self._lock:
            if self._is_over:
                raise ProcessDiedError("the pool of processes has ended")
            process = _Process()
            self._processes.add(process.process)
        return process

    def _end(self, process: _Process | None) -> None:
        if process is not None:
            with self._lock:
                self._processes.discard(process.process)
            process.close()


class _Process:
    """A process that answers calls, one after another."""

    def __init__(self) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the process)
        # The files of `--python`, each with the name that its user gave.
        files = [text for path, shown in FILES.items() for text in (os.fspath(path), shown)]
        # A group of its own: Ctrl-C reaches this process only, which stops the others.
        self.process = subprocess.Popen(  # noqa: S603 (this very program, and files that its user named)
            [sys.executable, "-P", "-m", "floodway.study", *files],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            process_group=0,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(_search_path())},
        )

    def answer(self, line: bytes, on_report: Callable[[Any], None]) -> Any:  # noqa: ANN401 (a plain value)
        """Make a call, and return what it returns.

        Raises
        ------
        ProcessDiedError
            If the process ends before.
        """
        assert self.process.stdin is not None and self.process.stdout is not None  # noqa: PT018, S101 (made with pipes)
        try:
            self.process.stdin.write(line)
            self.process.stdin.flush()
        except BrokenPipeError:
            raise self._died() from None
        for received in self.process.stdout:
            if not received.endswith(b"\n"):
                break
            message = json.loads(received)
            if "report" not in message:
                return message["returned"]
            on_report(message["report"])
        raise self._died()

    def close(self) -> None:
        """End it, if it has not ended."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self._errors):
            # A write that failed before fails again.
            with contextlib.suppress(BrokenPipeError):
                if stream is not None:
                    stream.close()

    def _died(self) -> ProcessDiedError:
        code = self.process.wait()
        return ProcessDiedError(f"its process {_exit_text(code)}{_last_error_line(self._errors)}")


def _search_path() -> list[str]:
    """Return the search path with which a process imports this same package."""
    package_root = os.fspath(Path(__file__).parents[3])
    before = os.environ.get("PYTHONPATH", "")
    return [package_root, *([before] if before else [])]


def _exit_text(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


def _last_error_line(errors: IO[bytes]) -> str:
    errors.seek(0)
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return f": {lines[-1]}" if lines else ""
