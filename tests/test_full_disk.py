"""A disk without room: a command fails with one line and code 1, gives its answer, and leaves no folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from command import Command, Done, limited_files
from scenarios import SMALL, written
from studies import BRIEF, study_file

#: With less than this no file of any command can be written, as on a disk that is full.
FULL = 1
NO_ROOM = "cannot be written: File too large"
LINK = ("--rate", "100G", "--length", "1km", "--buffer", "64MB")
JOB = Path(__file__).resolve().parents[1] / "scenarios" / "jobs" / "chakra"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the results of a run, and the inputs of the commands."""
    folder = tmp_path_factory.mktemp("there")
    command = Command(folder)
    assert command("run", written(folder, SMALL), "--quiet", "--out", "run").code == 0
    (folder / "pg_profile_lookup.ini").write_text("100000 300m 0 0 300000 0\n", encoding="utf-8")
    study_file(folder, BRIEF)
    return folder


#: Commands that write, with something of the answer that needs no room.
COMMANDS = {
    "run": (("run", "small.toml"), ""),
    "run into a folder": (("run", "small.toml", "--out", "new/folder"), ""),
    "compare": (("compare", "small.toml", "--vary", "seed=1,2"), ""),
    "study": (("study", "pools.toml", "--quick"), ""),
    "report": (("report", "run", "--out", "new/page.html"), ""),
    "export perfetto": (("export", "perfetto", "run", "--out", "new/trace"), ""),
    "export goal": (("export", "goal", "job.toml", "--out", "new/job.goal"), ""),
    "plot": (("plot", "fct", "run"), ""),
    "plan": (("plan", *LINK, "--no-simulate", "--out", "new/plan"), "Bifrost"),
    "plan as JSON": (("plan", *LINK, "--no-simulate", "--json", "--out", "new/plan"), '"answers"'),
    "plan for SONiC": (("plan", *LINK, "--no-simulate", "--sonic", "new/sonic"), "Bifrost"),
    "plan lint": (
        ("plan", "lint", "pg_profile_lookup.ini", "--simulate", "--out", "new/tried"),
        ": 1 row",
    ),
    "import chakra": (("import", "chakra", str(JOB), "--out", "new/job.toml"), ""),
}


def tree(folder: Path) -> list[str]:
    return sorted(str(each.relative_to(folder)) for each in folder.rglob("*"))


@pytest.mark.parametrize("kind", COMMANDS)
def test_a_command_that_finds_no_room_fails_with_one_line_and_leaves_nothing(
    kind: str, results: Path, tmp_path: Path
) -> None:
    words, answer = COMMANDS[kind]
    folder = tmp_path / "here"
    shutil.copytree(results, folder)
    (folder / "job.toml").write_text(
        f'{SMALL[: SMALL.index("[[workload]]")]}\n[[workload]]\nname = "job"\n'
        f'trace = {{ format = "chakra", files = "{JOB}", algorithm = "ring" }}\n',
        encoding="utf-8",
    )
    before = tree(folder)
    with limited_files(FULL):
        done: Done = Command(folder)(*words)
    errors = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert done.code == 1, done.err
    assert len(errors) == 1, done.err
    assert NO_ROOM in errors[0]
    assert answer in done.out
    assert tree(folder) == before


def test_a_run_whose_page_finds_no_room_says_its_results_and_keeps_them(tmp_path: Path) -> None:
    written(tmp_path, SMALL)
    with limited_files(60_000):
        done = Command(tmp_path)("run", "small.toml", "--report", "--out", "out")
    assert done.code == 1
    assert "results: out/" in done.out
    (error,) = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert error == f"error: out/report.html: {NO_ROOM}; the results are in out/"
    assert Command(tmp_path)("verify", "out").code == 0
    assert not (tmp_path / "out" / "report.html").exists()


def test_a_place_that_may_not_be_written_is_a_mistake_of_its_user(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for words in (
        ("plan", *LINK, "--no-simulate", "--out", "file/plan"),
        ("run", "small.toml", "--out", "file/out"),
    ):
        written(tmp_path, SMALL)
        done = Command(tmp_path)(*words)
        assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1), done.err
