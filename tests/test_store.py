from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from command import limited_files
from floodway.common.errors import OutputError
from floodway.plot import save_all
from floodway.results import Reservation, Result, read
from made_up import made_up_result

FILES = ["counters.parquet", "flows.parquet", "latency.parquet", "run.json", "series.parquet"]


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def publish(folder: Path, result: Result, *, force: bool = False) -> None:
    with Reservation(folder, force=force) as place:
        place.publish(result)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    result = made_up_result([1.0, None])
    publish(tmp_path / "deep" / "out", result)
    again = read(tmp_path / "deep" / "out")
    assert names(tmp_path / "deep" / "out") == FILES
    assert again.flows.equals(result.flows)
    assert again.summary() == result.summary()
    assert again.run == result.run


def test_results_are_replaced_only_by_force(tmp_path: Path) -> None:
    publish(tmp_path / "out", made_up_result([1.0]))
    with pytest.raises(OutputError, match="--force, in Python force=True, replaces them"):
        Reservation(tmp_path / "out")
    publish(tmp_path / "out", made_up_result([2.0]), force=True)
    assert read(tmp_path / "out").flows["fct_us"].to_list() == [2.0]
    assert names(tmp_path) == ["out"]


def test_force_keeps_what_others_have_put_beside_the_results(tmp_path: Path) -> None:
    out = tmp_path / "out"
    publish(out, made_up_result([1.0]))
    (out / "analysis").mkdir()
    (out / "analysis" / "notes.txt").write_text("mine", encoding="utf-8")
    publish(out, made_up_result([2.0]), force=True)
    assert (out / "analysis" / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert names(out) == ["analysis", *FILES]
    assert read(out).flows.equals(made_up_result([2.0]).flows)


def test_a_name_that_is_too_long_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be written"):
        Reservation(tmp_path / ("x" * 300))


def test_a_name_that_is_no_text_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"o\\udcff': is not text in UTF-8"):
        Reservation(tmp_path / os.fsdecode(b"o\xff"))
    assert names(tmp_path) == []


def test_a_folder_of_something_else_is_not_replaced_even_by_force(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(OutputError, match="something other than results") as caught:
        Reservation(tmp_path, force=True)
    assert caught.value.path == str(tmp_path)
    assert names(tmp_path) == ["thesis.tex"]


def test_an_empty_folder_may_be_filled(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    publish(tmp_path / "out", made_up_result())
    assert names(tmp_path / "out") == FILES


@pytest.mark.parametrize("place", ["file", "file/out"])
def test_a_place_below_or_at_a_file_is_refused_at_once(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"is not a folder|cannot be written"):
        Reservation(tmp_path / place)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_without_the_right_to_write_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(OutputError, match="cannot be written: Permission denied"):
        Reservation(tmp_path / "closed" / "out")


def test_a_reservation_that_is_left_leaves_no_trace(tmp_path: Path) -> None:
    with Reservation(tmp_path / "out"):
        assert len(names(tmp_path)) == 1
    assert names(tmp_path) == []


def test_what_a_killed_run_left_is_removed_by_the_next_one_to_the_same_place(tmp_path: Path) -> None:
    left = tmp_path / ".out.floodway"
    (left / "new").mkdir(parents=True)
    (left / "new" / "flows.parquet").write_bytes(b"half")
    (left / "lock").write_text("", encoding="utf-8")
    publish(tmp_path / "out", made_up_result())
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("kept", [".out.floodway.mine/new", ".output.floodway/new", ".out.mine"])
def test_what_may_be_somebody_s_is_not_removed(tmp_path: Path, kept: str) -> None:
    (tmp_path / kept).mkdir(parents=True)
    publish(tmp_path / "out", made_up_result())
    assert (tmp_path / kept).is_dir()


def test_a_run_killed_between_two_renames_has_published(tmp_path: Path) -> None:
    out, left = tmp_path / "out", tmp_path / ".out.floodway"
    publish(out, made_up_result([1.0]))
    (out / "notes.txt").write_text("mine", encoding="utf-8")
    publish(tmp_path / "other", made_up_result([2.0]))
    left.mkdir()
    out.rename(left / "old")
    (tmp_path / "other").rename(left / "new")
    with pytest.raises(OutputError, match="holds results already"):
        Reservation(out)
    assert names(tmp_path) == ["out"]
    assert names(out) == sorted([*FILES, "notes.txt"])
    assert read(out).flows["fct_us"].to_list() == [2.0]


def test_a_second_run_to_the_same_folder_is_refused_at_its_start_and_names_the_first(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with Reservation(out) as first:
        with pytest.raises(
            OutputError, match=rf"is in use: process {os.getpid()} has been writing"
        ) as caught:
            Reservation(out, force=True)
        assert caught.value.path == str(out)
        first.publish(made_up_result([1.0]))
    assert read(out).flows["fct_us"].to_list() == [1.0]
    assert names(tmp_path) == ["out"]
    Reservation(out, force=True).__exit__(None, None, None)


@pytest.mark.parametrize("there", [False, True])
def test_what_comes_into_a_reserved_place_meanwhile_is_never_replaced(tmp_path: Path, *, there: bool) -> None:
    out = tmp_path / "out"
    if there:
        publish(out, made_up_result([1.0]))
    with Reservation(out, force=True) as place:
        shutil.rmtree(out, ignore_errors=True)
        publish(tmp_path / "other", made_up_result([3.0]))
        (tmp_path / "other").rename(out)
        with pytest.raises(OutputError, match="something that was not there when the run began"):
            place.publish(made_up_result([2.0]))
    assert read(out).flows["fct_us"].to_list() == [3.0]
    assert names(tmp_path) == ["out"]


def test_a_place_that_was_cleared_meanwhile_takes_the_results(tmp_path: Path) -> None:
    publish(tmp_path / "out", made_up_result([1.0]))
    with Reservation(tmp_path / "out", force=True) as place:
        shutil.rmtree(tmp_path / "out")
        place.publish(made_up_result([2.0]))
    assert read(tmp_path / "out").flows["fct_us"].to_list() == [2.0]
    assert names(tmp_path) == ["out"]


def no_locks(*_: object) -> None:
    raise OSError(errno.ENOLCK, "No locks available")


def test_without_locks_the_file_is_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fcntl, "flock", no_locks)
    with Reservation(tmp_path / "out") as first:
        with pytest.raises(OutputError, match=rf"process {os.getpid()} .* has no locks: .* remove .*/lock"):
            Reservation(tmp_path / "out")
        first.publish(made_up_result([1.0]))
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize(
    ("host", "refused"), [("", False), ("elsewhere", True)], ids=["this machine", "another machine"]
)
def test_without_locks_a_process_that_is_gone_holds_none_on_its_own_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str, *, refused: bool
) -> None:
    monkeypatch.setattr(fcntl, "flock", no_locks)
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    record = {"pid": gone.pid, "host": host or socket.gethostname(), "since": "2026-01-01T00:00:00+00:00"}
    (tmp_path / ".out.floodway").mkdir()
    (tmp_path / ".out.floodway" / "lock").write_text(json.dumps(record), encoding="utf-8")
    if refused:
        with pytest.raises(OutputError, match=rf"process {gone.pid} on elsewhere .* remove"):
            Reservation(tmp_path / "out")
        return
    publish(tmp_path / "out", made_up_result())
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize(
    "record", ["", "{", "[]", '{"pid": "x"}', f'{{"pid": {10**30}, "host": "h", "since": 1}}', "[" * 100_000]
)
def test_a_lock_that_no_process_holds_is_free_whatever_its_content(tmp_path: Path, record: str) -> None:
    (tmp_path / ".out.floodway").mkdir()
    (tmp_path / ".out.floodway" / "lock").write_text(record, encoding="utf-8")
    publish(tmp_path / "out", made_up_result())
    assert names(tmp_path) == ["out"]


def test_all_is_on_the_disk_before_it_takes_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    plain_sync, plain_rename = os.fsync, Path.rename

    def sync(descriptor: int) -> None:
        synced.append(os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}")))  # noqa: PTH119, PTH115
        plain_sync(descriptor)

    def rename(self: Path, target: Path) -> Path:
        synced.append(f"{self.name} becomes {target.name}")
        return plain_rename(self, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "rename", rename)
    publish(tmp_path / "out", made_up_result())
    tables = ["flows.parquet", "latency.parquet", "series.parquet", "counters.parquet"]
    assert synced == [*tables, "run.json", "new", "new becomes out", tmp_path.name]


def test_a_write_that_fails_leaves_the_old_results(tmp_path: Path) -> None:
    publish(tmp_path / "out", made_up_result([1.0]))
    with limited_files(1000), pytest.raises(OutputError, match="cannot be written: File too large") as caught:
        made_up_result([2.0] * 1000).save(tmp_path / "out", force=True)
    assert str(caught.value).endswith("the result is still in memory: save it elsewhere")
    assert read(tmp_path / "out").flows["fct_us"].to_list() == [1.0]
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"timings": {}}'])
def test_what_is_not_a_result_is_not_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(OutputError, match="no results that this version can read"):
        read(tmp_path)
    with pytest.raises(OutputError, match="no such folder"):
        read(tmp_path / "nothing")


def test_pictures_are_drawn_and_the_same_result_gives_the_same_bytes(tmp_path: Path) -> None:
    result = made_up_result([1.0, 2.0, None])
    first = {file.name: file.read_bytes() for file in save_all(result, tmp_path)}
    assert sorted(first) == ["fct.png", "slowdown.png", "throughput.png"]
    assert all(picture.startswith(b"\x89PNG") for picture in first.values())
    assert first == {file.name: file.read_bytes() for file in save_all(result, tmp_path)}


def test_a_picture_with_nothing_in_it_is_left_out(tmp_path: Path) -> None:
    assert [file.name for file in save_all(made_up_result([None, None]), tmp_path)] == ["throughput.png"]


def test_a_folder_of_several_runs_names_them(tmp_path: Path) -> None:
    result = made_up_result()
    for name in ("compare.json", "study.json"):
        folder = tmp_path / name.partition(".")[0]
        inside = folder / ("runs/a" if name == "study.json" else "a")
        inside.parent.mkdir(parents=True)
        result.save(inside)
        (folder / name).write_text('{"runs": [{"variant": "a", "folder": "a"}]}', encoding="utf-8")
        with pytest.raises(OutputError, match=f"name one of its runs: {re.escape(str(inside))}$"):
            read(folder)
    with pytest.raises(OutputError, match=r"no such folder; did you mean .*study"):
        read(tmp_path / "studi")
