"""The program of a process of the pool of studies: calls on stdin, answers on stdout, one line each."""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

from floodway.scenarios.mechanisms import load_file
from floodway.study.running.work import report_by


def main() -> None:
    """Execute calls until stdin ends: without the parent process, nothing needs the current task.

    Arguments are files of Python with mechanisms that scenarios choose, each before what its user called it.
    """
    # Nothing that is printed to stdout must disturb the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tasks: queue.SimpleQueue[str] = queue.SimpleQueue()
    for file, shown in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        load_file(Path(file), name=shown)
    threading.Thread(target=_listen, args=(tasks,), daemon=True).start()

    report_by(lambda seen: _say(answers, {"report": seen}))
    while True:
        call = json.loads(tasks.get())
        function = getattr(import_module(call["module"]), call["function"])
        _say(answers, {"returned": function(*call["args"], **call["kwargs"])})


def _listen(tasks: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        tasks.put(line)
    os._exit(0)


def _say(answers: TextIO, message: dict[str, Any]) -> None:
    try:
        answers.write(json.dumps(message) + "\n")
        answers.flush()
    except BrokenPipeError:
        os._exit(0)


if __name__ == "__main__":
    main()
