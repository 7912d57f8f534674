from __future__ import annotations

import os
from typing import TYPE_CHECKING

import polars as pl
import pytest

from floodway.errors import OutputError
from floodway.plot import save_all
from floodway.results import Reservation, Result, read
from made_up import made_up_result

if TYPE_CHECKING:
    from pathlib import Path

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
    with pytest.raises(OutputError, match="--force replaces them"):
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
    left = tmp_path / ".out.abcd_123"
    (left / "new").mkdir(parents=True)
    (left / "new" / "flows.parquet").write_bytes(b"half")
    publish(tmp_path / "out", made_up_result())
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("kept", [".out.abcd_123/old", ".out.abcd_123/mine", ".output.abcd_123", ".out.mine"])
def test_what_may_be_somebody_s_is_not_removed(tmp_path: Path, kept: str) -> None:
    (tmp_path / kept).mkdir(parents=True)
    publish(tmp_path / "out", made_up_result())
    assert (tmp_path / kept).is_dir()


def test_two_runs_to_the_same_place_do_not_remove_each_other_s_folder(tmp_path: Path) -> None:
    with (
        Reservation(tmp_path / "out", force=True) as first,
        Reservation(tmp_path / "out", force=True) as second,
    ):
        assert len(names(tmp_path)) == 2
        first.publish(made_up_result([1.0]))
        second.publish(made_up_result([2.0]))
    assert names(tmp_path) == ["out"]
    assert read(tmp_path / "out").flows["fct_us"].to_list() == [2.0]


def test_a_write_that_fails_leaves_the_old_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(tmp_path / "out", made_up_result([1.0]))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    with pytest.raises(OutputError, match="No space left"):
        publish(tmp_path / "out", made_up_result([2.0]), force=True)
    monkeypatch.undo()
    assert read(tmp_path / "out").flows["fct_us"].to_list() == [1.0]
    assert names(tmp_path) == ["out"]


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"timings": {}}'])
def test_what_is_not_a_result_is_not_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(OutputError, match="no results that this version can read"):
        read(tmp_path)
    with pytest.raises(OutputError, match="cannot be read: No such file"):
        read(tmp_path / "nothing")


def test_pictures_are_drawn_and_the_same_result_gives_the_same_bytes(tmp_path: Path) -> None:
    result = made_up_result([1.0, 2.0, None])
    first = {file.name: file.read_bytes() for file in save_all(result, tmp_path)}
    assert sorted(first) == ["fct.png", "slowdown.png", "throughput.png"]
    assert all(picture.startswith(b"\x89PNG") for picture in first.values())
    assert first == {file.name: file.read_bytes() for file in save_all(result, tmp_path)}


def test_a_picture_with_nothing_in_it_is_left_out(tmp_path: Path) -> None:
    assert [file.name for file in save_all(made_up_result([None, None]), tmp_path)] == ["throughput.png"]
