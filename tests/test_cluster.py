"""Studies on workers of Dask, and on executors: what they lose, and what they say."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import clusters
from command import environment, until
from floodway.cli.output import INTERRUPTED
from floodway.common.errors import ClusterError, InputError, LostResultsError, OutputError
from floodway.results.store import Reservation, read
from floodway.results.verification import verified_all
from floodway.scenarios.keys import key_of
from floodway.scenarios.mechanisms import load_file
from floodway.scenarios.scenario import load
from floodway.simulation.cluster import cluster
from floodway.study import conduct, load_study, plan_of
from floodway.study.running import work
from floodway.study.running.work import answer_to, task_of, with_contents
from floodway_lab.study.report.report import TIMES
from scenarios import LONG, SMALL
from studies import BRIEF, study_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from distributed import Client

    from command import Command
    from floodway.study import Conducted
    from floodway.study.running.work import Task


ROOT = Path(__file__).resolve().parents[1]
#: Sixteen runs of some tenths of a second, so that workers can be met in their middle.
STUDY = BRIEF.replace("seeds = 2", "seeds = 4")
SLOWER = SMALL.replace('"2ms"', '"20ms"').replace('"20ms"\ntopology', '"60ms"\ntopology')
#: A rate control that ends its process.
DEADLY = """
import os
import signal

import floodway


class Deadly(floodway.RateControl):
    fatal: bool = False

    def start(self, flow):
        self.window_bytes = flow.bdp_bytes

    def on_ack(self, ack):
        if self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)
"""


def contents(folder: Path) -> dict[str, bytes]:
    """All that a study writes beside its runs, without how long they took."""
    files = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    for name, mark in (("report.md", TIMES), ("index.html", TIMES.removeprefix("## "))):
        files[name] = files[name][: files[name].index(mark.encode())]
    return files


def hidden(folder: Path) -> list[str]:
    return [each.name for each in folder.rglob(".*")]


def there(folder: Path) -> int:
    return len(list(folder.glob("runs/*/run.json")))


@pytest.fixture
def address() -> Iterator[str]:
    with clusters.served(2) as address:
        yield address


@pytest.fixture
def workers(address: str) -> Iterator[Client]:
    with cluster(address) as client:
        yield client


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return study_file(tmp_path, STUDY)


def has_processes(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def by(executor: Executor | Client, study: Path, out: Path, **more: Any) -> Conducted:  # noqa: ANN401 (as conduct)
    return conduct(plan_of([load_study(study)]), out=out, executor=executor, **more)


def other_engine() -> None:
    """Be a worker of another version."""
    vars(work)["engine"] = lambda: "0.1.0+other"


def sees_nothing() -> None:
    """Be a worker on a machine without the file system of this one."""
    vars(work)["sees"] = lambda _: False
    os.chdir("/")


def reports_often() -> None:
    """Be a worker that reports progress whenever it is looked at."""
    vars(work)["REPORT_EVERY_S"] = 0.0


def no_space() -> None:
    """Be a worker whose disk is full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 12, resource.RLIM_INFINITY))


def test_workers_make_the_report_of_one_process(tmp_path: Path, address: str, floodway: Command) -> None:
    study_file(tmp_path, STUDY)
    assert floodway("study", "pools.toml", "--quiet", "--out", "alone").code == 0
    done = floodway("study", "pools.toml", "--cluster", address, "--out", "out")
    assert (done.code, done.err.count("warning")) == (0, 0), done.err
    assert contents(tmp_path / "out") == contents(tmp_path / "alone")
    assert hidden(tmp_path / "out") == []


def test_workers_report_how_far_their_runs_are(tmp_path: Path, workers: Client) -> None:
    class SeenEnoughError(Exception):
        """Two runs have reported, one of them twice: they need not end."""

    workers.run(reports_often)
    seen: dict[str, list[float]] = {}

    def look(tasks: Sequence[Task]) -> None:
        for task in tasks:
            shares = seen.setdefault(task.label, [])
            if task.progress is not None and task.progress.share not in shares[-1:]:
                shares.append(task.progress.share)
        if sum(bool(shares) for shares in seen.values()) > 1 and max(map(len, seen.values())) > 1:
            raise SeenEnoughError

    slowest = SLOWER.replace('"20ms"', '"200ms"').replace('"60ms"', '"600ms"')
    with pytest.raises(SeenEnoughError):
        by(workers, study_file(tmp_path, STUDY, scenario=slowest), tmp_path / "out", on_progress=look)
    for shares in seen.values():
        assert shares == sorted(shares)
    assert any(0 < share < 1 for shares in seen.values() for share in shares)


def test_workers_elsewhere_record_what_a_run_here_does(
    tmp_path: Path, workers: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    study_file(tmp_path, STUDY)
    monkeypatch.chdir(tmp_path)
    here = conduct(plan_of([load_study(Path("pools.toml"))]), out="here", report=False)
    workers.run(os.chdir, "/")
    by(workers, Path("pools.toml"), Path("beside"), report=False)
    workers.run(sees_nothing)
    by(workers, Path("pools.toml"), Path("afar"))
    for run in here.plan.runs:
        alone, beside, afar = (
            read(tmp_path / place / "runs" / run.key) for place in ("here", "beside", "afar")
        )
        assert alone.run.scenario == beside.run.scenario == afar.run.scenario
        assert alone.flows.equals(beside.flows)
        assert alone.flows.equals(afar.flows)
    assert [each for each in verified_all(tmp_path / "afar") if each.faults] == []
    assert hidden(tmp_path / "afar") == []


def test_a_run_that_carries_its_files_needs_none_there(tmp_path: Path) -> None:
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "list.csv").write_text("start_us,source,destination,size_bytes\n1,h1,h3,9000\n")
    (tmp_path / "above.csv").write_text("start_us,source,destination,size_bytes\n2,h2,h3,7000\n")
    # A host is called as a file is.
    (tmp_path / "h1").write_text("no host")
    shutil.copytree(ROOT / "scenarios/jobs/chakra", tmp_path / "chakra")
    text = (
        SMALL[: SMALL.index("[[workload]]")]
        + f"""
[[workload]]
name = "near"
flow-list.file = "flows/list.csv"

[[workload]]
name = "above"
flow-list.file = "{tmp_path}/above.csv"

[[workload]]
name = "job"
trace = {{ format = "chakra", files = "{tmp_path}/chakra", algorithm = "ring" }}
"""
    )
    file = study_file(tmp_path, BRIEF.split("[[axis]]")[0] + '[[variant]]\nname = "only"\n', scenario=text)
    ((run, *_), *_) = [plan_of([load_study(file)]).runs]
    mark = tmp_path / "mark"
    place = tmp_path / "place" / run.key
    task = task_of(run, folder=place, mark=mark)
    assert answer_to(task)["sees"] is False
    whole = with_contents(task, run)
    for each in (*(tmp_path / name for name in ("flows", "chakra", "above.csv", "small.toml")), file):
        shutil.rmtree(each) if each.is_dir() else each.unlink()
    answer = answer_to(whole)
    assert set(answer) == {"host", "pid", "done", "files"}, answer
    with Reservation(place) as reserved:
        reserved.receive(answer["files"], key=run.key)
    result = read(place, key=run.key)
    assert {9000, 7000} <= set(result.flows["size_bytes"])
    assert result.collectives is not None


def test_a_trace_that_changed_makes_another_run(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "scenarios/jobs/chakra", tmp_path / "chakra")
    text = (
        SMALL[: SMALL.index("[[workload]]")]
        + """
[[workload]]
name = "job"
trace = { format = "chakra", files = "chakra", algorithm = "ring" }
"""
    )
    (tmp_path / "small.toml").write_text(text)
    scenario = load(tmp_path / "small.toml")
    before = key_of(scenario, tmp_path)
    (tmp_path / "chakra" / "note.txt").write_text("no trace")
    assert key_of(scenario, tmp_path) == before
    with (tmp_path / "chakra" / "step.1.et").open("ab") as file:
        file.write(b"more")
    assert key_of(scenario, tmp_path) != before


def test_files_that_changed_on_their_way_are_not_taken(study: Path, tmp_path: Path) -> None:
    run = plan_of([load_study(study)]).runs[0]
    place = tmp_path / "place" / run.key
    task = with_contents(task_of(run, folder=place, mark=tmp_path / "mark"), run)
    files = answer_to(task)["files"]
    torn = {**files, "flows.parquet": files["flows.parquet"][:-9]}
    foreign = {**files, "../../evil": b""}
    with Reservation(place) as reserved:
        for wrong, key, said in ((torn, run.key, "flows.parquet"), (files, "other", "another run")):
            with pytest.raises(OutputError, match=said):
                reserved.receive(wrong, key=key)
        with pytest.raises(OutputError, match="evil"):
            reserved.receive(foreign, key=run.key)
    assert not place.exists()


def test_workers_that_are_killed_are_replaced_and_lose_nothing(
    study: Path, tmp_path: Path, workers: Client
) -> None:
    (tmp_path / "small.toml").write_text(SLOWER, encoding="utf-8")
    killed: list[int] = []

    def kill(_: object) -> None:
        if there(tmp_path / "out") > 3 * len(killed) and len(killed) < 3:
            # A worker that is starting does not answer.
            found: dict[str, int] = workers.run(os.getpid, on_error="ignore")
            fresh = [pid for pid in found.values() if pid not in killed]
            if fresh:
                killed.append(fresh[0])
                os.kill(fresh[0], signal.SIGKILL)

    ended = by(workers, study, tmp_path / "out", on_progress=kill)
    assert (len(ended.done), ended.failures, len(killed)) == (16, {}, 3)
    assert [each for each in verified_all(tmp_path / "out") if each.faults] == []
    alone = conduct(ended.plan, out=tmp_path / "alone")
    assert alone.complete
    assert contents(tmp_path / "out") == contents(tmp_path / "alone")
    assert hidden(tmp_path / "out") == []


@pytest.mark.long
def test_a_run_that_kills_its_workers_is_named_and_left_out(tmp_path: Path, workers: Client) -> None:
    code = tmp_path / "deadly.py"
    code.write_text(DEADLY, encoding="utf-8")
    load_file(code)
    variants = """
[[variant]]
name = "fine"

[[variant]]
name = "fatal"
set = { "defaults.rate-control.deadly.fatal" = true }
seeds = 1
"""
    text = 'title = "T"\nscenario = "small.toml"\nseeds = 8\n' + variants
    scenario = SMALL.replace("[defaults]", "[defaults]\nrate-control.deadly = {}", 1)
    study = study_file(tmp_path, text + '[metric.mean]\nkind = "fct-mean"\n', scenario=scenario)
    messages: list[str] = []
    ended = by(workers, study, tmp_path / "out", on_message=messages.append)
    (fatal,) = [run for run in ended.plan.runs if run.variant == "fatal"]
    assert set(ended.failures) == {fatal.key}
    assert "3 workers died in turn while they had this run alone" in ended.failures[fatal.key]
    assert (len(ended.done), len(messages)) == (8, 1)
    assert "fatal" in (tmp_path / "out/report.md").read_text()


def test_a_worker_of_another_version_is_refused(study: Path, tmp_path: Path, workers: Client) -> None:
    (some, *_) = workers.run(os.getpid)
    workers.run(other_engine, workers=[some])
    with pytest.raises(ClusterError, match=r"has floodway 0\.1\.0\+other, and this is 0\.\d+\.\d+\+"):
        by(workers, study, tmp_path / "out")
    assert not (tmp_path / "out/report.md").exists()
    assert hidden(tmp_path / "out") == []


def test_a_full_disk_ends_the_study_and_loses_nothing(study: Path, tmp_path: Path, workers: Client) -> None:
    plan = plan_of([load_study(study)])
    few = conduct(plan_of([load_study(study)], quick=True), out=tmp_path / "out", executor=workers)
    assert len(few.done) == 2
    workers.run(no_space)
    with pytest.raises(LostResultsError, match="completed runs are kept"):
        conduct(plan, out=tmp_path / "out", executor=workers)
    assert there(tmp_path / "out") == 2
    assert conduct(plan, out=tmp_path / "out", report=False).missing == 0


def test_two_clients_on_one_folder_are_refused(study: Path, tmp_path: Path, workers: Client) -> None:
    (tmp_path / "small.toml").write_text(SLOWER, encoding="utf-8")
    refused: list[str] = []

    def again(_: object) -> None:
        if not refused:
            with pytest.raises(OutputError, match="is in use: process") as error:
                by(workers, study, tmp_path / "out")
            refused.append(str(error.value))

    assert by(workers, study, tmp_path / "out", on_progress=again, report=False).missing == 0
    assert len(refused) == 1


def processes() -> Executor:
    # A process that is forked from one with threads may wait for them for ever.
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


@pytest.mark.parametrize("made", [processes, partial(ThreadPoolExecutor, 2)], ids=["processes", "threads"])
def test_executors_run_a_study(made: Callable[[], Executor], study: Path, tmp_path: Path) -> None:
    with made() as executor:
        ended = by(executor, study, tmp_path / "out", jobs=2)
    assert (ended.missing, len(ended.done), ended.failures) == (0, 16, {})


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (BrokenExecutor("its processes have ended"), "the executor is lost: its processes have ended"),
        (ConnectionResetError("reset by peer"), "the cluster is lost: reset by peer"),
    ],
)
def test_an_executor_that_is_lost_says_so(error: Exception, said: str, study: Path, tmp_path: Path) -> None:
    class Lost(Executor):
        def submit(self, *_: Any, **__: Any) -> Future[Any]:  # noqa: ANN401 (as its base has it)
            future: Future[Any] = Future()
            future.set_exception(error)
            return future

    with pytest.raises(ClusterError, match=f"{said}; completed"):
        by(Lost(), study, tmp_path / "out")


@pytest.mark.long
def test_a_scheduler_that_is_lost_ends_the_study(tmp_path: Path, floodway: Command) -> None:
    study_file(tmp_path, STUDY)
    (tmp_path / "small.toml").write_text(SLOWER, encoding="utf-8")
    scheduler = served(tmp_path, "scheduler", "--port", "0", "--scheduler-file", "scheduler.json")
    until((tmp_path / "scheduler.json").exists, "no scheduler", of=scheduler)
    until(lambda: bool((tmp_path / "scheduler.json").read_text()), "no scheduler", of=scheduler)
    address = json.loads((tmp_path / "scheduler.json").read_text())["address"]
    worker = served(tmp_path, "worker", address, "--nthreads", "2", "--no-nanny")
    words = ("study", "pools.toml", "--cluster", address, "--out", "out", "--quiet")
    client = subprocess.Popen(
        floodway.line(*words), cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True
    )
    try:
        until(lambda: there(tmp_path / "out") > 1, "no run was stored")
        scheduler.send_signal(signal.SIGKILL)
        _, said = client.communicate(timeout=100)
    finally:
        for each in (scheduler, worker, client):
            each.kill()
            each.wait()
    assert client.returncode == 1
    kept = "completed runs are kept, and the same command continues"
    # What was on its way names the connection, and what was not the scheduler.
    why = r"scheduler-connection-lost|in <TCP [^\n]+"
    assert re.fullmatch(rf"error: the cluster is lost: ({why}); {kept}\n", said)
    assert floodway("study", "pools.toml", "--out", "out", "--quiet").code == 0
    assert [each for each in verified_all(tmp_path / "out") if each.faults] == []
    assert hidden(tmp_path / "out") == []


def served(folder: Path, what: str, *words: str) -> subprocess.Popen[bytes]:
    """Start a scheduler or a worker as a process of its own."""
    line = [sys.executable, "-m", f"distributed.cli.dask_{what}", *words, "--no-dashboard"]
    return subprocess.Popen(
        line, cwd=folder, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def test_a_configuration_of_dask_names_the_scheduler(tmp_path: Path, address: str, floodway: Command) -> None:
    study_file(tmp_path, STUDY)
    (tmp_path / "dask.yaml").write_text(f"scheduler-address: {address}\n", encoding="utf-8")
    done = floodway("study", "pools.toml", "--cluster", "dask.yaml", "--out", "out", "--quiet")
    assert (done.code, done.err) == (0, "")
    assert there(tmp_path / "out") == 16
    assert (tmp_path / "out/report.md").exists()


def test_ctrl_c_ends_a_command_in_silence(tmp_path: Path, address: str, floodway: Command) -> None:
    study_file(tmp_path, STUDY, scenario=LONG)
    words = ("study", "pools.toml", "--cluster", address, "--out", "out", "--quiet")
    running = subprocess.Popen(
        floodway.line(*words),
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    until(lambda: bool(list(tmp_path.glob("out/runs/.*"))), "no run has begun")
    # As a terminal does: all processes of the command.
    os.killpg(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=100)
    kept = "interrupted; 0 of 16 runs are kept in out/, and the same command continues from there\n"
    assert (running.returncode, said) == (130, kept)
    until(lambda: not has_processes(running.pid), "a process of the command is left")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "is not YAML"),
        ("", "expected Dask's configuration with scheduler-address"),
        ("scheduler-address: 3", "expected Dask's configuration with scheduler-address"),
        ("jobqueue: {slurm: {cores: 3}}", "expected Dask's configuration with scheduler-address"),
    ],
)
def test_mistakes_in_a_configuration_are_named(
    text: str, said: str, tmp_path: Path, floodway: Command
) -> None:
    study_file(tmp_path, STUDY)
    (tmp_path / "dask.yaml").write_text(text, encoding="utf-8")
    done = floodway("study", "pools.toml", "--cluster", "dask.yaml", "--out", "out")
    assert done.code == 2
    assert re.search(rf"error: dask\.yaml: .*{re.escape(said)}", done.err), done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere",), "allowed: the address of a scheduler"),
        (("127.0.0.1:8786",), "did you mean tcp://127.0.0.1:8786?"),
        (("none.yaml",), "none.yaml: cannot read it"),
        (("/dev/zero.yaml",), "cannot read it"),
        (("tcp://127.0.0.1:1", "--jobs", "2"), "cannot go with --cluster"),
        (("tcp://127.0.0.1:1", "--slurm"), "cannot go with --cluster"),
        (("tcp://127.0.0.1:1", "--status"), "cannot go with --cluster"),
        (("tcp://127.0.0.1:1", "--report"), "cannot go with --cluster"),
    ],
)
def test_clusters_that_are_none_are_refused(
    words: tuple[str, ...], said: str, tmp_path: Path, floodway: Command
) -> None:
    study_file(tmp_path, STUDY)
    done = floodway("study", "pools.toml", "--out", "out", "--cluster", *words)
    assert (done.code, said in done.err) == (2, True), done.err


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path, address: str, floodway: Command) -> None:
    study_file(tmp_path, STUDY)
    done = floodway("study", "pools.toml", "--cluster", address, "--out", "/proc/study", "--quiet")
    assert (done.code, done.err) == (2, "error: /proc/study: cannot be written: No such file or directory\n")


def test_a_scheduler_that_is_not_there_is_an_error(tmp_path: Path, floodway: Command) -> None:
    study_file(tmp_path, STUDY)
    done = floodway("study", "pools.toml", "--cluster", "tcp://127.0.0.1:1", "--quiet")
    assert done.code == 1
    assert "error: --cluster tcp://127.0.0.1:1: cannot be reached" in done.err


@contextlib.contextmanager
def answering(words: bytes) -> Iterator[str]:
    """Have something at an address that accepts a connection, says this, and reads nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        held: list[socket.socket] = []

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    held.append(server.accept()[0])
                    held[-1].sendall(words)

        threading.Thread(target=accept, daemon=True).start()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
        for each in held:
            each.close()


@pytest.mark.parametrize("words", [b"", b"SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n"])
def test_what_is_no_scheduler_is_an_error(words: bytes, tmp_path: Path, floodway: Command) -> None:
    study_file(tmp_path, STUDY)
    with answering(words) as address:
        done = floodway("study", "pools.toml", "--cluster", address, "--quiet")
    assert done.code == 1
    assert done.err.startswith(f"error: --cluster {address}: ")
    assert len(done.err.splitlines()) == 1


def test_ctrl_c_while_a_scheduler_is_waited_for_ends_the_command(tmp_path: Path, floodway: Command) -> None:
    study_file(tmp_path, STUDY)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        words = ("study", "pools.toml", "--cluster", address, "--quiet")
        running = subprocess.Popen(
            floodway.line(*words), cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True
        )
        held = server.accept()[0]
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=100)
        held.close()
    assert running.returncode == INTERRUPTED
    assert "Traceback" not in said


def test_an_executor_that_is_none_is_refused(study: Path, tmp_path: Path) -> None:
    plan = plan_of([load_study(study)])
    with pytest.raises(TypeError, match=r"a int is no executor of concurrent\.futures"):
        conduct(plan, out=tmp_path / "out", executor=3)  # type: ignore[arg-type]


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'floodway\[cluster\]'"), cluster("tcp://127.0.0.1:1"):
        pass
