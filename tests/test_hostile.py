"""Hostile inputs: files without end, files of others, names with control characters."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import threading
from functools import partial
from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import floodway as package
from command import environment
from floodway import builders
from floodway.cli import main
from floodway.cli.output import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from command import Command

NETWORK = 'topology.single-switch = { hosts = 3, rate = "100G", delay = "1us" }\n'
FLOWS = 'workload = [{ name = "w", flows = [{ from = "h1", to = "h2", size = "10KB" }] }]\n'
#: What names a file, by what the file is.
NAMING = {
    "list of flows": f'{NETWORK}workload = [{{ name = "w", flow-list.file = "FILE" }}]',
    "flow file": f'{NETWORK}workload = [{{ name = "w", flow-list = {{ file = "FILE", format = "hpcc" }} }}]',
    "sizes": f'{NETWORK}workload = [{{ name = "w", poisson = {{ load = 0.1, sizes.file = "FILE" }} }}]',
    "topology": f'topology.hpcc.file = "FILE"\n{FLOWS}',
    "table of flows": f'{NETWORK}workload = [{{ name = "w", flow-list.file = "FILE.parquet" }}]',
}
#: What no output may hold, but for line breaks and tabs.
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


@contextlib.contextmanager
def waiting(command: Command, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A command that runs while something is done to it."""
    process = subprocess.Popen(
        command.line(*arguments),
        cwd=command.folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that runs the tests in the background ignores SIGINT, which what it starts inherits.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 (no threads)
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("kind", NAMING)
def test_a_pipe_that_a_scenario_names_is_refused_at_once(kind: str, floodway: Command) -> None:
    text = NAMING[kind]
    os.mkfifo(floodway.folder / ("FILE.parquet" if "FILE.parquet" in text else "FILE"))
    (floodway.folder / "a.toml").write_text(text)
    done = floodway("check", "a.toml")
    assert (done.code, done.out) == (2, "")
    (line,) = done.err.splitlines()
    assert line.startswith("error: a.toml:")
    assert line.endswith(": it is a named pipe; only regular files are allowed")


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("/dev/zero", "it is a device; only regular files are allowed"),
        (".", "it is a folder; only regular files are allowed"),
        ("/proc/self/environ", "it is empty, or has no size, as those of /proc: copy it to a file"),
    ],
)
def test_what_never_ends_is_refused_where_a_scenario_names_it(file: str, why: str, floodway: Command) -> None:
    (floodway.folder / "a.toml").write_text(NAMING["list of flows"].replace("FILE", file))
    done = floodway("check", "a.toml")
    assert done.code == 2
    assert done.err.rstrip().endswith(why)


@pytest.mark.parametrize("file", ["/dev/zero", "/proc/self/environ"])
@pytest.mark.parametrize("verb", ["check", "run", "study", "import hpcc"])
def test_what_never_ends_is_no_scenario_and_no_study(verb: str, file: str, floodway: Command) -> None:
    done = floodway(*verb.split(), file)
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1


def test_a_scenario_may_come_through_a_pipe(floodway: Command) -> None:
    os.mkfifo(floodway.folder / "a.toml")
    with waiting(floodway, "run", "a.toml", "--quiet") as process:
        (floodway.folder / "a.toml").write_text(NETWORK + FLOWS)
        process.communicate(timeout=120)
    assert process.returncode == 0
    assert (floodway.folder / "out" / "a" / "run.json").is_file()


def test_a_shell_may_put_a_scenario_together(floodway: Command) -> None:
    (floodway.folder / "network").write_text(NETWORK)
    (floodway.folder / "flows").write_text(FLOWS)
    command = " ".join(floodway.line("check", "--json"))
    done = subprocess.run(
        ["/bin/bash", "-c", f"{command} <(cat network flows)"],
        cwd=floodway.folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert json.loads(done.stdout)["name"] == "scenario"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_reader_of_a_pipe_receives_signals(number: int, code: int, floodway: Command) -> None:
    os.mkfifo(floodway.folder / "a.toml")
    with waiting(floodway, "check", "a.toml") as process:
        # Opened as soon as it is read: then nothing comes.
        writer = os.open(floodway.folder / "a.toml", os.O_WRONLY)
        process.send_signal(number)
        process.communicate(timeout=120)
        os.close(writer)
    assert process.returncode == code


def test_a_pipe_without_end_is_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "a.toml"
    os.mkfifo(pipe)

    def write() -> None:
        with contextlib.suppress(BrokenPipeError), pipe.open("wb") as file:
            for _ in range(80):
                file.write(b"#" * (1 << 20))

    writer = threading.Thread(target=write)
    writer.start()
    with pytest.raises(package.ScenarioError, match="cannot read it: it has more than 64 MiB"):
        package.load(pipe)
    writer.join()


SECRET = "correct-horse-battery"  # noqa: S105 (nobody's)
#: Files that are none of ours, of which each line has something that nobody may learn.
OTHERS = {
    "passwords": f"root:$6${SECRET}$x:19000:0:99999:7:::\ndaemon:*:19000:0:{SECRET}:7:::\n",
    "a key": f"-----BEGIN OPENSSH PRIVATE KEY-----\n{SECRET}{SECRET}\n",
    "a table": f"name,password,address\nann,{SECRET},x\n",
    "numbers": f"4 1 3\n{SECRET}{SECRET} 1\n",
    "words": f"passwords: {SECRET}\n",
}


@pytest.mark.parametrize("kind", [kind for kind in NAMING if kind != "table of flows"])
@pytest.mark.parametrize("other", OTHERS)
def test_no_error_shows_the_content_of_a_foreign_file(other: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / "FILE").write_text(OTHERS[other])
    (tmp_path / "a.toml").write_text(NAMING[kind])
    with pytest.raises(package.ScenarioError) as caught:
        package.load(tmp_path / "a.toml")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("other", OTHERS)
def test_no_error_shows_what_the_columns_of_somebody_elses_table_are(other: str, tmp_path: Path) -> None:
    pl.DataFrame({OTHERS[other]: [1]}).write_parquet(tmp_path / "FILE.parquet")
    (tmp_path / "a.toml").write_text(NAMING["table of flows"])
    with pytest.raises(package.ScenarioError) as caught:
        package.load(tmp_path / "a.toml")
    assert SECRET not in str(caught.value)


#: Where a scenario has names of its own.
NAMED: dict[str, Callable[[str], dict[str, object]]] = {
    "scenario": lambda name: {"name": name},
    "workload": lambda name: {"workload": [{"name": name, "burst": {"to": "h1", "size": "1KB"}}]},
    "tag of a workload": lambda name: {
        "workload": [{"name": "w", "tags": [name], "burst": {"to": "h1", "size": "1KB"}}]
    },
    "flow": lambda name: {
        "workload": [{"name": "w", "flows": [{"from": "h1", "to": "h2", "size": "1KB", "id": name}]}]
    },
    "host": lambda name: {"topology": explicit(host=name)},
    "tag of a host": lambda name: {"topology": explicit(host={"name": "h1", "tags": [name]})},
    "link": lambda name: {"topology": explicit(link={"name": name})},
    "tag of a link": lambda name: {"topology": explicit(link={"tags": [name]})},
    "file": lambda name: {"workload": [{"name": "w", "flow-list": {"file": name}}]},
    "selector": lambda name: {"override": [{"name": "o", "links": name, "rate": "1G"}]},
    "key": lambda name: {name: 1},
    "description": lambda name: {"description": name},
}


def explicit(host: object = "h1", link: dict[str, object] | None = None) -> dict[str, object]:
    """A network of two hosts and a switch with one name that somebody chose."""
    name = host["name"] if isinstance(host, dict) else host
    links = [{"between": [name, "s1"], **(link or {})}, {"between": ["h2", "s1"]}]
    nodes = {"hosts": [host, "h2"], "switches": ["s1"]}
    return {"explicit": {**nodes, "rate": "100G", "delay": "1us", "links": links}}


def scenario(kind: str, name: str) -> dict[str, object]:
    """A small scenario with a name of this kind."""
    flows = [{"from": "h2", "to": "h1", "size": "1KB"}]
    whole = {"topology": explicit(), "workload": [{"name": "w", "flows": flows}], "limit": "1ms"}
    if kind == "host":
        flows[0]["to"] = name
    return {**whole, **NAMED[kind](name)}


HOSTILE = st.one_of(
    st.sampled_from(
        ["\x1b]0;owned\x07", "\x1b[2J", "a\nb", "\u202eb", "\x9b31m", "a\x00", "\ud800", "\u200b"]
    ),
    st.text(min_size=1, max_size=8),
)


def shown(*arguments: str) -> str:
    """All that a command prints, in this process."""
    out, err = io.StringIO(), io.StringIO()
    before = signal.getsignal(signal.SIGTERM)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit):
            main(arguments)
    finally:
        signal.signal(signal.SIGTERM, before)
    return out.getvalue() + err.getvalue()


@settings(max_examples=50)
@given(kind=st.sampled_from(sorted(NAMED)), name=HOSTILE)
@example(kind="link", name="\x1b]0;owned\x07")
@example(kind="host", name="\u202eb")
@example(kind="flow", name="\x9b31m")
def test_no_command_prints_a_raw_control_character_of_a_name(
    kind: str, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("hostile")
    try:
        text, said = package.Scenario.from_dict(scenario(kind, name), name="a.toml").to_toml(), ""
    except package.FloodwayError as error:
        said = str(error)
        text = NETWORK + FLOWS + f"name = {json.dumps(name)}\n"
    assert not RAW.search(said), repr(said)
    (folder / "a.toml").write_text(text, encoding="utf-8")
    file, out = str(folder / "a.toml"), str(folder / "out")
    for arguments in (
        ("check", file, "--resolved"),
        ("check", file, "--json"),
        ("run", file, "--out", out),
        ("why", out, "worst"),
    ):
        printed = shown(*arguments)
        assert not RAW.search(printed), (arguments, RAW.search(printed))


@settings(max_examples=25)
@given(name=st.text(alphabet=st.characters(exclude_characters="/\0", codec="utf-8"), min_size=1, max_size=20))
@example(name="\x1b]0;owned\x07")
@example(name="a\nb")
def test_no_command_prints_a_raw_control_character_of_a_path_or_a_value(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("path") / f"x{name}"
    folder.mkdir()
    file = folder / "a.toml"
    file.write_text(NETWORK + FLOWS)
    for arguments in (
        ("check", str(file), "--resolved"),
        ("check", str(folder / name)),
        ("check", str(file), "--set", f"limit={name}"),
        ("check", str(file), "--set", f"{name}=1"),
        ("run", str(file), "--out", str(folder / "out" / f"o{name}")),
        ("plot", "fct", str(folder)),
        ("explain", name),
        ("compare", str(file), "--vary", f"seed={name},2", "--out", str(folder / "both")),
        ("study", str(folder / "none.toml")),
    ):
        printed = shown(*arguments)
        assert not RAW.search(printed), (arguments, RAW.search(printed))


@given(st.text())
def test_what_is_printed_stays_the_json_that_it_was(text: str) -> None:
    document = json.dumps({"name": text}, ensure_ascii=False)
    assert json.loads(printable(document)) == {"name": text}
    assert not RAW.search(printable(document))


def test_no_builder_echoes_a_raw_control_character_of_a_key() -> None:
    key = "\x1b]0;owned\x07"
    for builder in (builders.Workload, builders.SingleSwitch, builders.Pfc, builders.Defaults):
        with pytest.raises(TypeError, match=f"is not a key of {builder.__name__}; allowed: ") as caught:
            builder.from_dict({key: 1})
        assert not RAW.search(str(caught.value))
    for document in ({key: object()}, {"workload": [{key: object()}]}):
        with pytest.raises(package.InputError, match="is not a valid value") as error:
            package.Scenario.from_dict(document)
        assert not RAW.search(str(error.value))


def test_names_that_spreadsheets_take_for_formulas_are_refused() -> None:
    for kind in ("scenario", "workload", "host", "link"):
        with pytest.raises(package.ScenarioError, match="is not a name"):
            package.Scenario.from_dict(scenario(kind, "=HYPERLINK(1)" if kind != "workload" else "+x"))


def test_an_error_shows_at_most_a_line_of_what_was_given(floodway: Command) -> None:
    (floodway.folder / "a.toml").write_text(NETWORK + FLOWS)
    long = "x" * 20_000
    for words in (
        ("check", "a.toml", "--set", f"limit={long}"),
        ("check", "a.toml", "--set", f"{long}=1"),
        ("check", "a.toml", "--set", f"topology.preset={long}"),
    ):
        done = floodway(*words)
        assert done.code == 2
        assert max(map(len, done.err.splitlines())) < 1_500
        assert "20000 characters" in done.err or f"{20_000 + len('limit=')} characters" in done.err


def test_a_file_with_control_characters_is_no_list_of_flows(tmp_path: Path) -> None:
    (tmp_path / "FILE").write_text("source,destination,size_bytes,start_us,id\nh1,h2,1000,0,\x1b]0;x\x07\n")
    (tmp_path / "a.toml").write_text(NAMING["list of flows"])
    with pytest.raises(package.ScenarioError, match=r"it is not text: line 2 has the character U\+001B"):
        package.load(tmp_path / "a.toml")


def test_a_table_of_more_rows_than_any_run_has_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = {"source": "h1", "destination": "h2", "size_bytes": 1000, "start_us": 0.0}
    pl.DataFrame([row] * 3).write_parquet(tmp_path / "FILE.parquet")
    (tmp_path / "a.toml").write_text(NAMING["table of flows"])
    assert package.load(tmp_path / "a.toml").check()["workloads"]
    monkeypatch.setattr("floodway.scenarios.scenario.MOST_ROWS", 2)
    with pytest.raises(package.ScenarioError, match="it has 3 rows, and the limit is 2"):
        package.load(tmp_path / "a.toml")
