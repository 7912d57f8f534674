"""Clusters of Dask: one of this machine, one that is there, or workers that a batch system starts."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import signal
import sys
import tempfile
import threading
import time
from multiprocessing import resource_tracker
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from floodway.common.errors import ClusterError, InputError
from floodway.common.files import read_text
from floodway.common.names import not_a_choice
from floodway.simulation.execution import cores
from floodway.simulation.watching import POLL_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from distributed import Client, LocalCluster, Security

__all__ = ["cluster", "lifetime_of"]

#: What is started.
Started = TypeVar("Started")
#: What `cluster` takes.
ALLOWED = "local, the address of a scheduler such as tcp://host:8786, or a YAML file for dask-jobqueue"
#: What dask-jobqueue calls the clusters of batch systems.
BATCH_SYSTEMS = {
    "slurm": "SLURMCluster",
    "pbs": "PBSCluster",
    "lsf": "LSFCluster",
    "sge": "SGECluster",
    "oar": "OARCluster",
    "moab": "MoabCluster",
    "htcondor": "HTCondorCluster",
    # Jobs as processes of this machine: a trial without a batch system.
    "local": "LocalCluster",
}
#: How long a scheduler has to answer.
CONNECT_S = 10
#: How much longer than that what answers at its address is waited for, in seconds.
PATIENCE_S = 5.0
#: Deaths of workers with one run after which that run is suspected.
MOST_DEATHS = 3
#: Jobs of a batch system that have ended are asked for again this often, in seconds.
RENEW_EVERY_S = 10.0
#: Before a job's time is over its worker takes nothing new, in seconds.
LEAVE_BEFORE_S = 120
#: Where the servers of HTTP listen that Dask always starts: this machine alone.
LOOPBACK, LOOPBACK_PORT = "127.0.0.1", "127.0.0.1:0"
#: Without a dashboard these servers answer nothing.
NO_PAGES: Mapping[str, Sequence[str]] = {
    "distributed.scheduler.http.routes": (),
    "distributed.worker.http.routes": (),
}


@contextlib.contextmanager
def cluster(where: str, *, jobs: int | None = None) -> Iterator[Client]:
    """Have a client of a cluster of Dask, for `conduct`; what was started for it is ended at the end.

    What is started talks by TLS, with credentials of its own that only its processes have: a scheduler runs
    the code of any client that it accepts. For a scheduler that is there, those of Dask's configuration
    apply.

    Parameters
    ----------
    where
        `local` for processes of this machine; the address of a scheduler; or a YAML file with the settings of
        one batch system as dask-jobqueue has them, below `jobqueue`.
    jobs
        Processes of this machine, by default one per core; or jobs of the batch system, by default one. A
        cluster that is there has the workers that it has.

    Raises
    ------
    InputError
        If it is none of these, the file has a mistake, or the packages of the extra are not installed.
    ClusterError
        If no scheduler answers, or the batch system refuses a job.
    """
    _refuse_without_packages()
    _silence()
    if where == "local":
        opened = _local(jobs or cores())
    elif re.match(r"[a-z]+://", where):
        if jobs is not None:
            raise InputError(f"--jobs cannot go with --cluster {where}: it has the workers that it has")
        opened = _client(where, where)
    elif where.endswith((".yaml", ".yml")):
        opened = _batch(Path(where), jobs or 1)
    else:
        near = f"tcp://{where}" if re.fullmatch(r"[\w.-]+:\d+", where) else None
        hint = "" if near is None else f"; did you mean {near}?"
        raise InputError(f"--cluster {where!r}: allowed: {ALLOWED}{hint}", given=where, nearest=near)
    with opened as client:
        yield client


def _refuse_without_packages() -> None:
    try:
        import distributed  # noqa: PLC0415 (of the extra)
    except ImportError as error:
        raise _lacks(error) from error
    del distributed


def _credentials() -> Security:
    """Make credentials for one cluster: without them nothing connects to its processes."""
    try:
        import cryptography  # noqa: PLC0415 (of the extra)
    except ImportError as error:
        raise _lacks(error) from error
    from distributed import Security  # noqa: PLC0415 (of the extra)

    del cryptography
    made: Security = Security.temporary()  # type: ignore[no-untyped-call]
    return made


def _lacks(error: ImportError) -> InputError:
    return InputError(f"--cluster needs the package {error.name!r}: pip install 'floodway[cluster]'")


def _silence() -> None:
    """Let the library log nothing: workers that die are replaced, and of all else floodway speaks itself."""
    for name in list(logging.root.manager.loggerDict):
        if name.split(".")[0] in {"distributed", "tornado", "asyncio"}:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


@contextlib.contextmanager
def _local(jobs: int) -> Iterator[Client]:
    import dask  # noqa: PLC0415 (of the extra)

    settings = {"distributed.scheduler.allowed-failures": MOST_DEATHS - 1, **NO_PAGES}
    security = _credentials()
    with (
        tempfile.TemporaryDirectory(prefix="floodway-") as folder,
        dask.config.set(settings),
        _ended(_started(lambda: _workers(jobs, folder, security))) as started,
        _client(started, "local") as client,
    ):
        yield client


@contextlib.contextmanager
def _ended(started: Started) -> Iterator[Started]:
    """End what was started, once, whatever signals come meanwhile: they count when it has ended."""
    try:
        yield started
    finally:
        _uninterrupted(started.close)  # type: ignore[attr-defined]  # a cluster without types


def _started(start: Callable[[], Started]) -> Started:
    """Start a cluster, with a scheduler in this process."""
    from distributed.gc import disable_gc_diagnosis  # noqa: PLC0415 (of the extra)

    def begun() -> Started:
        try:
            return start()
        finally:
            # Python ignores a Ctrl-C that comes while the scheduler's function for it is called.
            disable_gc_diagnosis(force=True)  # type: ignore[no-untyped-call]

    # Python starts this process before a thread's first one, and then unblocks the signal there.
    resource_tracker.ensure_running()
    return _uninterrupted(begun)


def _uninterrupted(start: Callable[[], Started]) -> Started:
    """Do something that Ctrl-C does not reach, such as starting processes that this command ends itself.

    Threads and processes have the blocked signals of the thread that starts them.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _workers(jobs: int, folder: str, security: Security) -> LocalCluster:
    """Start workers on this machine: again where one of them dies before it has begun."""
    from distributed import LocalCluster  # noqa: PLC0415 (of the extra)

    for left in reversed(range(MOST_DEATHS)):
        try:
            return LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=jobs,
                threads_per_worker=1,
                # A run sees to it by itself that memory does not run out.
                memory_limit=None,
                local_directory=folder,
                host=LOOPBACK,
                security=security,
                dashboard_address=LOOPBACK_PORT,
                scheduler_kwargs={"dashboard": False},
                silence_logs=logging.CRITICAL + 1,
            )
        except RuntimeError as error:
            if not left:
                raise ClusterError(f"--cluster local: its workers do not start: {error}") from error
    raise AssertionError("the last attempt returns or raises")


@contextlib.contextmanager
def _client(address: Any, named: str) -> Iterator[Client]:  # noqa: ANN401 (an address or a cluster)
    """Connect to a scheduler, which `named` is called, and disconnect at the end."""
    client = _connected(address, named)
    try:
        yield client
    finally:
        # A scheduler that is gone does not answer.
        with contextlib.suppress(OSError, TimeoutError):
            _uninterrupted(lambda: client.close(timeout=CONNECT_S))  # type: ignore[no-untyped-call]


def _connected(address: Any, named: str) -> Client:  # noqa: ANN401 (an address or a cluster)
    """Connect to a scheduler, in a thread: where something else answers, the library may wait for ever."""
    from distributed import Client  # noqa: PLC0415 (of the extra)

    answer: SimpleQueue[Client | BaseException] = SimpleQueue()

    def connect() -> None:
        try:
            answer.put(Client(address, timeout=CONNECT_S))  # type: ignore[no-untyped-call]
        except BaseException as error:  # noqa: BLE001 (what is no scheduler may answer anything)
            answer.put(error)

    threading.Thread(target=connect, daemon=True).start()
    end = time.monotonic() + CONNECT_S + PATIENCE_S
    found: Client | BaseException | None = None
    while found is None and time.monotonic() < end:
        # A signal may come to another thread: this one looks for it between its waits.
        with contextlib.suppress(Empty):
            found = answer.get(timeout=POLL_S)
    match found:
        case None:
            raise ClusterError(
                f"--cluster {named}: what is there accepts a connection, and does not answer as a scheduler "
                f"of Dask does within {CONNECT_S + PATIENCE_S:.0f} s"
            )
        case OSError() | ValueError():
            why = _first_line(found) or f"no scheduler answered within {CONNECT_S} s"
            raise ClusterError(f"--cluster {named}: cannot be reached: {why}") from found
        case BaseException():
            why = _first_line(found) or type(found).__name__
            raise ClusterError(
                f"--cluster {named}: does not answer as a scheduler of Dask does: {why}"
            ) from found
        case _:
            return found


def _lines(error: BaseException) -> list[str]:
    """Return the lines of what an error says, without empty ones."""
    return [line.strip() for line in str(error).splitlines() if line.strip()]


def _first_line(error: BaseException) -> str:
    """Return the first line of what an error says, since libraries add advice for programmers."""
    return next(iter(_lines(error)), "")


@contextlib.contextmanager
def _batch(file: Path, jobs: int) -> Iterator[Client]:
    import dask  # noqa: PLC0415 (of the extra)

    _uninterrupted(_import_jobqueue)
    system, settings = _settings(file)
    with (
        dask.config.set(dask.config.merge(dask.config.config, {"jobqueue": {system: settings}})),
        contextlib.ExitStack() as kept,
    ):
        own = dask.config.get(f"jobqueue.{system}")
        kept.enter_context(dask.config.set({} if _asks_for_pages(own) else dict(NO_PAGES)))
        try:
            options = _options(system, own, kept.enter_context(_shared_credentials(own)))
            started = _started(lambda: _cluster_class(system)(**options))
        except (ValueError, TypeError, OSError, RuntimeError) as error:
            raise InputError(f"{file}: jobqueue.{system}: {_first_line(error)}", given=str(file)) from error
        with _ended(started):
            _ask_for(started, jobs, named=f"{file}: jobqueue.{system}")
            with _kept(started, jobs), _client(started, str(file)) as client:
                yield client


def _options(system: str, own: Mapping[str, Any], security: Security) -> dict[str, Any]:
    """Return what a cluster of a batch system gets beside the settings of its file.

    Parameters
    ----------
    system
        The batch system.
    own
        The settings, with the defaults of dask-jobqueue.
    security
        The credentials.
    """
    scheduler, given = dict(own["scheduler-options"] or {}), list(own["worker-extra-args"] or [])
    extra = [*given, *lifetime_of(str(own.get("walltime") or ""), given=given)]
    if not _asks_for_pages(own):
        scheduler |= {"dashboard": False, "dashboard_address": LOOPBACK_PORT}
        extra += ["--no-dashboard", "--dashboard-address", LOOPBACK_PORT]
    is_elsewhere = bool({"host", "interface"} & {*scheduler}) or bool(own["interface"])
    if system == "local" and not is_elsewhere:
        scheduler["host"] = LOOPBACK
        extra += ["--host", LOOPBACK]
    return {
        "worker_extra_args": extra,
        "scheduler_options": scheduler,
        "security": security,
        # Without the working folder, whose files could replace modules of Python.
        "python": own["python"] or f"{sys.executable} -P",
    }


def _asks_for_pages(own: Mapping[str, Any]) -> bool:
    """Whether the settings of a batch system ask for Dask's dashboard."""
    asked = own["scheduler-options"] or {}
    return bool(asked.get("dashboard", "dashboard_address" in asked))


@contextlib.contextmanager
def _shared_credentials(own: Mapping[str, Any]) -> Iterator[Security]:
    """Make credentials of which those of jobs are files that no other user may read: the nodes need them."""
    above = Path(os.path.expandvars(own["shared-temp-directory"] or ".")).expanduser().absolute()
    with tempfile.TemporaryDirectory(prefix=".floodway-", dir=above) as folder:
        made = _credentials()
        for name in ("tls_ca_file", "tls_worker_cert", "tls_worker_key"):
            file = Path(folder) / name
            file.touch(mode=0o600)
            file.write_text(getattr(made, name), encoding="utf-8")
            setattr(made, name, str(file))
        yield made


def _ask_for(started: Any, jobs: int, *, named: str) -> None:  # noqa: ANN401 (a cluster without types)
    """Ask for the first jobs, and wait until one has been taken.

    Raises
    ------
    ClusterError
        If the batch system does not take it: it will take no others either.
    """
    from distributed.core import Status  # noqa: PLC0415 (of the extra)

    answers: SimpleQueue[Exception | None] = SimpleQueue()
    job_class = started.new_spec["cls"]

    class Asked(job_class):  # type: ignore[misc, valid-type]  # a class without types
        """A job whose start is known here: the library only logs why one is not taken."""

        async def start(self) -> None:
            try:
                await super().start()
            except Exception as error:
                # Otherwise it cannot be closed.
                self.status = Status.failed
                answers.put(error)
                raise
            answers.put(None)

        async def close(self) -> None:
            if self.job_id is not None:
                await super().close()

    started.new_spec["cls"] = Asked
    started.scale(jobs=jobs)
    error = answers.get()
    if error is not None:
        lines = _lines(error)
        # What the batch system wrote stands below `stderr:`.
        said = lines[lines.index("stderr:") + 1 :] if "stderr:" in lines else lines
        why = said[0] if said else type(error).__name__
        raise ClusterError(f"{named}: the batch system takes no job: {why}") from error


def _import_jobqueue() -> None:
    """Import dask-jobqueue, with its settings: it would have Ctrl-C end the process without a word."""
    before = signal.getsignal(signal.SIGINT)
    try:
        import dask_jobqueue.local  # noqa: PLC0415 (of the extra)
    except ImportError as error:
        raise _lacks(error) from error
    finally:
        signal.signal(signal.SIGINT, before)
    del dask_jobqueue


def _cluster_class(system: str) -> Any:  # noqa: ANN401 (one of several classes without types)
    import dask_jobqueue  # noqa: PLC0415 (of the extra)

    module = dask_jobqueue.local if system == "local" else dask_jobqueue
    return getattr(module, BATCH_SYSTEMS[system])


@contextlib.contextmanager
def _kept(started: Any, jobs: int) -> Iterator[None]:  # noqa: ANN401 (a cluster without types)
    """Have so many jobs for as long as this is entered: those that have ended are asked for again."""
    over = threading.Event()

    def renew() -> None:
        while True:
            started.scale(jobs=jobs)
            if over.wait(RENEW_EVERY_S):
                return

    renewing = threading.Thread(target=renew, daemon=True)
    renewing.start()
    try:
        yield
    finally:
        over.set()
        renewing.join()


def _settings(file: Path) -> tuple[str, Mapping[str, Any]]:
    """Read the settings of one batch system."""
    import yaml  # noqa: PLC0415 (of the extra)

    try:
        found = yaml.safe_load(read_text(file))
    except OSError as error:
        raise InputError(f"{file}: cannot read it: {error.strerror or error}", given=str(file)) from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{file}: is not YAML: {error}", given=str(file)) from error
    systems = found.get("jobqueue") if isinstance(found, dict) else None
    if not isinstance(systems, dict) or len(systems) != 1:
        raise InputError(
            f"{file}: expected the key jobqueue with one of {', '.join(BATCH_SYSTEMS)} below it, with the "
            "settings of dask-jobqueue",
            given=str(file),
        )
    ((system, settings),) = systems.items()
    if system not in BATCH_SYSTEMS:
        text, near = not_a_choice(str(system), what="a batch system", allowed=BATCH_SYSTEMS)
        raise InputError(f"{file}: jobqueue: {text}", given=str(system), nearest=near)
    _refuse_unknown(file, system, settings)
    return system, settings


def _refuse_unknown(file: Path, system: str, settings: object) -> None:
    import dask  # noqa: PLC0415 (of the extra)

    if not isinstance(settings, dict):
        raise InputError(f"{file}: jobqueue.{system}: expected keys with their values", given=str(settings))
    known = tuple(dask.config.get(f"jobqueue.{system}"))
    for key in settings:
        if str(key).replace("_", "-") not in known:
            text, near = not_a_choice(str(key), what=f"a key of jobqueue.{system}", allowed=known)
            raise InputError(f"{file}: {text}", given=str(key), nearest=near)


def lifetime_of(walltime: str, *, given: Sequence[object]) -> list[str]:
    """Return arguments by which a worker leaves before its job's time is over, so that nothing dies.

    Parameters
    ----------
    walltime
        How long the job may take, as the batch system has it.
    given
        The arguments that the user chose: a `--lifetime` among them stays.
    """
    seconds = _seconds(walltime)
    if seconds is None or any(str(each).startswith("--lifetime") for each in given):
        return []
    leaves = max(seconds - LEAVE_BEFORE_S, seconds // 2)
    return ["--lifetime", f"{leaves}s"]


def _seconds(walltime: str) -> int | None:
    """Read how long a job may take: hours and minutes, perhaps seconds and days; none where it is unclear."""
    found = re.fullmatch(r"(?:(\d+)-)?(\d+):(\d\d)(?::(\d\d))?", walltime)
    if found is None:
        return None
    days, hours, minutes, seconds = (int(each or 0) for each in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
