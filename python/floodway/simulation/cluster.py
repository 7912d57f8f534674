"""Clusters of Dask: the scheduler at an address, or the one that a user's configuration of Dask names."""

from __future__ import annotations

import contextlib
import logging
import re
import signal
import threading
import time
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from floodway.common.errors import ClusterError, InputError
from floodway.common.files import read_text
from floodway.simulation.watching import POLL_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from distributed import Client

__all__ = ["cluster"]

#: The forms of an address that `cluster` accepts.
ALLOWED = "the address of a scheduler such as tcp://host:8786, or a YAML file of Dask's configuration"
#: The key of Dask's configuration that holds the scheduler's address.
ADDRESS = "scheduler-address"
#: Time that a scheduler has to answer, in seconds.
CONNECT_S = 10
#: Time after `CONNECT_S` until the attempt to connect is given up, in seconds.
PATIENCE_S = 5.0


@contextlib.contextmanager
def cluster(where: str) -> Iterator[Client]:
    """Connect to a scheduler of Dask, for `conduct`; the connection is closed at the end.

    Parameters
    ----------
    where
        The address of a scheduler; or a YAML file of Dask's configuration, with the address as
        `scheduler-address` and whatever else a client needs, such as certificates.

    Raises
    ------
    InputError
        If it is neither, the file has a mistake, or the package of the extra is not installed.
    ClusterError
        If no scheduler answers.
    """
    try:
        import dask  # noqa: PLC0415 (of the extra)
        import distributed  # noqa: PLC0415 (of the extra)
    except ImportError as error:
        text = f"--cluster needs the package {error.name!r}: pip install 'floodway[cluster]'"
        raise InputError(text) from error
    del distributed
    _silence()
    settings: dict[str, Any] = {}
    address = where
    if where.endswith((".yaml", ".yml")):
        settings = _settings(Path(where))
        address = settings[ADDRESS]
    elif not re.match(r"[a-z]+://", where):
        near = f"tcp://{where}" if re.fullmatch(r"[\w.-]+:\d+", where) else None
        hint = "" if near is None else f"; did you mean {near}?"
        raise InputError(f"--cluster {where!r}: allowed: {ALLOWED}{hint}", given=where, nearest=near)
    with dask.config.set(dask.config.merge(dask.config.config, settings)), _client(address, where) as client:
        yield client


def _settings(file: Path) -> dict[str, Any]:
    """Read a configuration of Dask."""
    import yaml  # noqa: PLC0415 (of the extra)

    try:
        document = yaml.safe_load(read_text(file))
    except OSError as error:
        raise InputError(f"{file}: cannot read it: {error.strerror or error}", given=str(file)) from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{file}: is not YAML: {error}", given=str(file)) from error
    if not isinstance(document, dict) or not isinstance(document.get(ADDRESS), str):
        expected = f"Dask's configuration with {ADDRESS}, such as {ADDRESS}: tcp://host:8786"
        raise InputError(f"{file}: expected {expected}", given=str(file), key=ADDRESS)
    return document


def _silence() -> None:
    """Turn off the library's logs: workers that die are replaced, and floodway reports all else itself."""
    for name in list(logging.root.manager.loggerDict):
        if name.split(".")[0] in {"distributed", "tornado", "asyncio"}:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


@contextlib.contextmanager
def _client(address: str, label: str) -> Iterator[Client]:
    """Connect to a scheduler, which errors call `label`, and disconnect at the end."""
    client = _connected(address, label)
    try:
        yield client
    finally:
        # Ctrl-C counts when the client is closed.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        # A scheduler that is gone does not answer.
        with contextlib.suppress(OSError, TimeoutError):
            client.close(timeout=CONNECT_S)  # type: ignore[no-untyped-call]
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _connected(address: str, label: str) -> Client:
    """Connect to a scheduler in a thread: where another program answers, the library may wait for ever."""
    from distributed import Client  # noqa: PLC0415 (of the extra)

    answer: SimpleQueue[Client | BaseException] = SimpleQueue()

    def connect() -> None:
        try:
            answer.put(Client(address, timeout=CONNECT_S))  # type: ignore[no-untyped-call]
        except BaseException as error:  # noqa: BLE001 (what is no scheduler may answer anything)
            answer.put(error)

    threading.Thread(target=connect, daemon=True).start()
    end = time.monotonic() + CONNECT_S + PATIENCE_S
    reply: Client | BaseException | None = None
    while reply is None and time.monotonic() < end:
        # A signal may arrive in another thread; this one notices it between its waits.
        with contextlib.suppress(Empty):
            reply = answer.get(timeout=POLL_S)
    match reply:
        case None:
            silent = "what is there accepts a connection, and does not answer as a scheduler of Dask does"
            raise ClusterError(f"--cluster {label}: {silent} within {CONNECT_S + PATIENCE_S:.0f} s")
        case OSError() | ValueError():
            why = _first_line(reply) or f"no scheduler answered within {CONNECT_S} s"
            raise ClusterError(f"--cluster {label}: cannot be reached: {why}") from reply
        case BaseException():
            why = _first_line(reply) or type(reply).__name__
            text = f"--cluster {label}: does not answer as a scheduler of Dask does: {why}"
            raise ClusterError(text) from reply
        case _:
            return reply


def _first_line(error: BaseException) -> str:
    """Return the first line of what an error says, since libraries add advice for programmers."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "")
