from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import floodway as package
from floodway.cli.main import main
from floodway.results.digests import sealed
from floodway.study import conduct, load_study, plan_of
from scenarios import SMALL, written
from studies import BRIEF, study_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: What a program says that met something nobody has thought of.
UNEXPECTED = ("Traceback", "a bug of floodway", "panicked")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs and a comparison, which tests copy."""
    folder = tmp_path_factory.mktemp("kept")
    written(folder, SMALL)
    scenario = package.load(folder / "small.toml")
    package.run(scenario).save(folder / "run")
    package.run(scenario.with_seed(2)).save(folder / "other")
    package.compare([scenario, scenario.with_seed(2).replace(name="two")], out=folder / "compared", jobs=1)
    return folder


@pytest.fixture
def place(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def flipped(file: Path, at: float = 0.5) -> None:
    """Change one bit somewhere in a file."""
    content = bytearray(file.read_bytes())
    content[int((len(content) - 1) * at)] ^= 1
    file.write_bytes(content)


def cut(file: Path, keep: float) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * keep)])


def lengthened(file: Path) -> None:
    file.write_bytes(file.read_bytes() + b"more")


def retabled(file: Path, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    change(pl.read_parquet(file)).write_parquet(file)


def rewritten(file: Path, change: Callable[[dict[str, Any]], object]) -> None:
    document = json.loads(file.read_text(encoding="utf-8"))
    change(document)
    file.write_text(json.dumps(document), encoding="utf-8")


def as_a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def as_a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def as_a_loop(file: Path) -> None:
    file.unlink()
    file.symlink_to(file.name)


def unsealed(run: Path, change: Callable[[dict[str, Any]], object] = lambda _: None) -> None:
    """Make results what an earlier version wrote, and change what it knew of the run."""

    def strip(document: dict[str, Any]) -> None:
        del document["sha256"], document["files"]
        change(document)

    rewritten(run / "run.json", strip)


def unsealed_with(table: Path, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    """Make results what an earlier version wrote, and change one of their tables."""
    unsealed(table.parent)
    retabled(table, change)


def resealed(run: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what is known of a run, and give it a digest that fits."""
    document = json.loads((run / "run.json").read_text(encoding="utf-8"))
    change(document)
    del document["sha256"]
    (run / "run.json").write_text(json.dumps(sealed(document)), encoding="utf-8")


#: What may be done to the results of a run.
ATTACKS: dict[str, Callable[[Path], object]] = {
    "a bit of a table": lambda run: flipped(run / "flows.parquet"),
    "a bit of a footer": lambda run: flipped(run / "series.parquet", 0.99),
    "a bit of the first bytes": lambda run: flipped(run / "latency.parquet", 0),
    "a bit of run.json": lambda run: flipped(run / "run.json", 0.3),
    "a cut table": lambda run: cut(run / "counters.parquet", 0.5),
    "an empty table": lambda run: cut(run / "flows.parquet", 0),
    "a cut run.json": lambda run: cut(run / "run.json", 0.9),
    "an empty run.json": lambda run: cut(run / "run.json", 0),
    "bytes after a table": lambda run: lengthened(run / "flows.parquet"),
    "two tables exchanged": lambda run: (
        (run / "latency.parquet").replace(run / "series.parquet")
        and shutil.copy(run.parent / "other" / "latency.parquet", run / "latency.parquet")
    ),
    "a table of another run": lambda run: shutil.copy(run.parent / "other" / "flows.parquet", run),
    "run.json of another run": lambda run: shutil.copy(run.parent / "other" / "run.json", run),
    "a table that is not of the run": lambda run: shutil.copy(run / "series.parquet", run / "pauses.parquet"),
    "a capture that is not of the run": lambda run: (run / "capture.pcapng").write_bytes(b"\n"),
    "a missing table": lambda run: (run / "latency.parquet").unlink(),
    "a missing run.json": lambda run: (run / "run.json").unlink(),
    "a missing column": lambda run: retabled(run / "flows.parquet", lambda flows: flows.drop("slowdown")),
    "a column of another type": lambda run: retabled(
        run / "flows.parquet", lambda flows: flows.with_columns(fct_us=pl.lit("soon"))
    ),
    "missing rows": lambda run: retabled(run / "flows.parquet", lambda flows: flows.head(3)),
    "rows twice": lambda run: retabled(run / "flows.parquet", lambda flows: pl.concat([flows, flows])),
    "a table that is a named pipe": lambda run: as_a_pipe(run / "flows.parquet"),
    "a run.json that is a named pipe": lambda run: as_a_pipe(run / "run.json"),
    "a table that is a folder": lambda run: as_a_folder(run / "flows.parquet"),
    "a table that links to itself": lambda run: as_a_loop(run / "series.parquet"),
    "a run.json that links to itself": lambda run: as_a_loop(run / "run.json"),
    "JSON that nests too deep": lambda run: (run / "run.json").write_text("[" * 100_000, encoding="utf-8"),
    "JSON that is a list": lambda run: (run / "run.json").write_text("[]", encoding="utf-8"),
    "JSON that is a number": lambda run: (run / "run.json").write_text("1", encoding="utf-8"),
    "JSON that is nothing": lambda run: (run / "run.json").write_text("null", encoding="utf-8"),
    "JSON with an endless number": lambda run: (run / "run.json").write_text("9" * 9999, encoding="utf-8"),
    "text that is not UTF-8": lambda run: (run / "run.json").write_bytes(b"\xff\xfe{}"),
    "another seed in run.json": lambda run: rewritten(run / "run.json", lambda own: own.update(seed=7)),
    "another verdict in run.json": lambda run: rewritten(
        run / "run.json", lambda own: own["verdicts"].update(stopped="limit")
    ),
    "digests without their own": lambda run: rewritten(run / "run.json", lambda own: own.pop("sha256")),
    "its own digest without the others": lambda run: rewritten(
        run / "run.json", lambda own: own.pop("files")
    ),
    "digests that are numbers": lambda run: resealed(run, lambda own: own.update(files=5)),
    "a digest without a size": lambda run: resealed(
        run, lambda own: own["files"].update({"flows.parquet": {}})
    ),
    "other rows than are said": lambda run: resealed(
        run, lambda own: own["files"]["flows.parquet"].update(rows=1)
    ),
    "no digests and no verdicts": lambda run: unsealed(run, lambda own: own.pop("verdicts")),
    "no digests and verdicts that are a list": lambda run: unsealed(run, lambda own: own.update(verdicts=[])),
    "no digests and a seed that is text": lambda run: unsealed(run, lambda own: own.update(seed="one")),
    "no digests and a scenario that is none": lambda run: unsealed(run, lambda own: own.update(scenario=3)),
    "no digests and a key that nobody knows": lambda run: unsealed(run, lambda own: own.update(more=3)),
    "no digests and a missing column": lambda run: unsealed_with(
        run / "flows.parquet", lambda flows: flows.drop("slowdown")
    ),
    "no digests and a column of another type": lambda run: unsealed_with(
        run / "series.parquet", lambda series: series.with_columns(value=pl.lit("much"))
    ),
    "no digests and a table of no rows": lambda run: unsealed_with(
        run / "series.parquet", lambda series: series.head(0).drop("value")
    ),
}


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str]]:
    """Call the command line in this process; its exit code and the lines that it says on stderr."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    err = capsys.readouterr().err
    assert not any(word in err for word in UNEXPECTED), err
    return int(str(ended.value.code)), err.splitlines()


@pytest.mark.parametrize("attack", ATTACKS)
def test_results_that_were_tampered_with_are_one_clear_error_everywhere(
    place: Path, capsys: pytest.CaptureFixture[str], attack: str
) -> None:
    ATTACKS[attack](place / "run")
    with pytest.raises(package.OutputError) as caught:
        package.read("run")
    assert str(caught.value).startswith("run: ")
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 200
    for verb in (["plot", "fct", "run"], ["why", "run"]):
        code, lines = told(capsys, *verb)
        assert (code, len(lines)) == (2, 1), verb
        assert lines[0].startswith("error: run: "), verb
    code, lines = told(capsys, "verify", "run")
    assert code in {1, 2}
    assert lines
    assert all(line.startswith("error: run: ") for line in lines)


#: What may be done to a comparison, and a word of what is said of it.
ON_COMPARISONS: dict[str, tuple[Callable[[Path], object], str]] = {
    "runs exchanged": (
        lambda out: exchanged(out / "small", out / "two"),
        "run.json belongs to another run",
    ),
    "a missing run": (lambda out: shutil.rmtree(out / "two"), "compared/two: "),
    "a bit of a table": (lambda out: flipped(out / "two" / "flows.parquet"), "has changed"),
    "a cut compare.json": (lambda out: cut(out / "compare.json", 0.7), "not one that this version can read"),
    "one that nests too deep": (
        lambda out: (out / "compare.json").write_text("[" * 100_000, encoding="utf-8"),
        "not one that this version can read",
    ),
    "one that is a list": (
        lambda out: (out / "compare.json").write_text("[]", encoding="utf-8"),
        "not one that this version can read",
    ),
    "runs that are numbers": (
        lambda out: rewritten(out / "compare.json", lambda own: own.update(runs=[1, 2])),
        "not one that this version can read",
    ),
    "no runs": (
        lambda out: rewritten(out / "compare.json", lambda own: own.update(runs=[])),
        "of which no run has ended",
    ),
}


def exchanged(one: Path, other: Path) -> None:
    aside = one.with_name("aside")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)


@pytest.mark.parametrize("attack", ON_COMPARISONS)
def test_comparisons_that_were_tampered_with_are_one_clear_error(
    place: Path, capsys: pytest.CaptureFixture[str], attack: str
) -> None:
    harm, said = ON_COMPARISONS[attack]
    harm(place / "compared")
    code, (line,) = told(capsys, "plot", "fct", "compared")
    assert code == 2
    assert line.startswith("error: compared")
    assert said in line
    code, lines = told(capsys, "verify", "compared")
    assert code in {1, 2}
    assert any(said in line for line in lines)


def test_unchanged_results_are_verified(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["verify", "run", "compared"])
    out, err = capsys.readouterr()
    assert (ended.value.code, err) == (0, "")
    title, _, answer, not_covered, *_ = out.splitlines()
    assert title == "Compared with their digests: run, compared"
    assert answer.startswith("All 3 runs are unchanged: ")
    found = [line.split()[:2] for line in out.splitlines() if "unchanged" in line and line != answer]
    assert found == [[name, "unchanged"] for name in ("run", "compared/small", "compared/two")]
    # The page and the numbers have no digests.
    assert not_covered == (
        "compared: not covered: compare.json, index.html, 3 tables and 4 pictures; the same comparison with "
        "--force makes them again, with the runs"
    )
    with pytest.raises(SystemExit):
        main(["verify", "run", "compared", "--json"])
    left_out = [run["not_covered"] for run in json.loads(capsys.readouterr().out)["runs"]]
    assert left_out == [None, *["compare.json, index.html, 3 tables and 4 pictures"] * 2]
    (place / "run" / "notes.txt").write_text("mine", encoding="utf-8")
    assert told(capsys, "verify", "run") == (0, [])


def test_verify_names_what_it_does_not_cover_of_a_study(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = '[[plot]]\nname = "1"\nkind = "bars"\nmetric = "fct-p99"\nx = "load"\n'
    file = study_file(tmp_path, f"{BRIEF}\n{picture}")
    conduct(plan_of((load_study(file),), quick=True), out=tmp_path / "out", jobs=1)
    with pytest.raises(SystemExit) as ended:
        main(["verify", str(tmp_path / "out")])
    assert ended.value.code == 0
    assert capsys.readouterr().out.splitlines()[3] == (
        f"{tmp_path}/out: not covered: study.json, report.md, index.html, 4 tables and 1 picture; the same "
        "study makes them again from the runs"
    )


def test_every_fault_is_reported_and_as_json_too(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flipped(place / "run" / "flows.parquet")
    (place / "run" / "series.parquet").unlink()
    with pytest.raises(SystemExit) as ended:
        main(["verify", "run", "--json"])
    out, err = capsys.readouterr()
    faults = ["flows.parquet has changed", "series.parquet is missing"]
    assert ended.value.code == 1
    assert err.splitlines() == [f"error: run: {fault}" for fault in faults]
    printed = json.loads(out)
    (run,) = printed["runs"]
    assert printed["answer"] == "Of 1 run, 1 changed or cannot be verified."
    assert (run["as_written"], run["faults"]) == (False, faults)


@pytest.mark.filterwarnings("default::floodway.UnverifiedWarning")
def test_results_of_an_earlier_version_are_read_with_a_word_that_they_cannot_be_verified(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = package.read("run")
    unsealed(place / "run")
    said = "run: cannot be verified: an earlier version wrote it without digests"
    with pytest.warns(package.UnverifiedWarning, match=said):
        after = package.read("run")
    assert after.run == before.run
    assert after.flows.equals(before.flows)
    assert told(capsys, "plot", "fct", "run", "--out", "fct.png") == (
        0,
        [f"warning: {said}"],
    )
    assert told(capsys, "verify", "run") == (1, [f"error: {said}"])


def test_two_runs_of_a_seed_have_the_same_digests_and_another_seed_has_not(place: Path) -> None:
    for name in ("one", "again"):
        package.run(package.load("small.toml")).save(name)

    def digest(name: str) -> str:
        document = json.loads((place / name / "run.json").read_text(encoding="utf-8"))
        assert document["files"]["flows.parquet"]["rows"] == len(package.read(name).flows)
        return str(document["sha256"])

    assert digest("one") == digest("again")
    assert digest("other") != digest("run")
