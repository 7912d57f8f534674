"""Recorded shares of a link by flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import floodway as package
from floodway.results.feedback import share_rows
from made_up import made_up_result
from scenarios import SMALL, TOLD, written

if TYPE_CHECKING:
    from pathlib import Path

    from floodway.results import Result

#: The same as `TOLD`, with shares of all links.
SHARED = TOLD.replace('watch = "*"', 'watch = "*", shares = { links = "*", bucket = "7us" }')
#: Preamble and gap of a frame of Ethernet, in bytes.
AROUND_FRAMES = 20


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return package.run(package.load(written(tmp_path_factory.mktemp("shared"), SHARED)))


def test_what_flows_have_of_a_port_is_what_it_sends_on_the_wire(shared: Result) -> None:
    rows = share_rows(shared)
    sent = dict(rows.group_by("object").agg(pl.col("tx_bytes").sum()).iter_rows())
    series = shared.series.filter(pl.col("metric").cast(pl.String) == "tx_bytes")
    objects = series.group_by(pl.col("object").cast(pl.String)).agg(pl.col("value").sum())
    carried = dict(objects.iter_rows())
    # Data is in class 3; acknowledgements in class 6 are nobody's share.
    data = shared.counters.filter(pl.col("class") == 3, pl.col("tx_packets") > 0)
    assert len(data) == len(sent) == 5
    for node, link, packets, frames in data.select("node", "link", "tx_packets", "tx_bytes").iter_rows():
        (name,) = (name for name in sent if name.startswith(f"{link}: {node}>"))
        assert sent[name] == frames + AROUND_FRAMES * packets
        assert sent[name] == carried[name]


def test_each_flow_has_a_row_for_each_bucket_in_which_it_sent(shared: Result) -> None:
    rows = share_rows(shared)
    columns = ["object", "flow_id", "class", "time_us", "bucket_us", "tx_bytes", "direction", "workload"]
    assert rows.columns == columns
    assert set(rows["flow_id"]) == set(shared.flows["flow_id"].cast(pl.String))
    assert set(rows["workload"]) == {"culprits", "other"}
    assert set(rows["direction"]) == {"s1>s2", "s2>h4", "h1>s1", "h2>s1", "h3>s1"}
    assert rows.select("object", "flow_id", "time_us").is_unique().all()
    assert ((rows["time_us"] / 7).round() * 7 - rows["time_us"]).abs().max() == pytest.approx(0, abs=1e-9)
    assert (rows["tx_bytes"] > 0).all()
    last = rows.filter(pl.col("direction") == "s2>h4").group_by("flow_id").agg(pl.col("tx_bytes").sum())
    assert last["tx_bytes"].n_unique() == 1, "all flows are as large"


def test_shares_are_saved_and_read_again_and_left_out_where_they_are_not_kept(
    shared: Result, tmp_path: Path
) -> None:
    shared.save(tmp_path / "shared")
    again = package.read(tmp_path / "shared")
    assert shared.shares is not None
    assert shared.shares.equals(again.shares)  # type: ignore[arg-type]
    small = package.run(package.load(written(tmp_path, SMALL)))
    assert small.shares is None
    small.save(tmp_path / "shared", force=True)
    assert not (tmp_path / "shared" / "shares.parquet").exists()
    assert package.read(tmp_path / "shared").shares is None
    with pytest.raises(package.PlotError, match=r"did not record flows' shares of links; records\.shares = "):
        share_rows(small)


def test_threads_change_nothing(shared: Result, tmp_path: Path) -> None:
    two = package.run(package.load(written(tmp_path, SHARED)), threads=2, force_threads=True)
    assert two.run.timings.threads == 2
    assert shared.shares is not None
    assert shared.shares.equals(two.shares)  # type: ignore[arg-type]


def test_a_full_table_is_reported() -> None:
    assert made_up_result(shares={"rows": 4, "beyond": 7}).outcome.shares_beyond == 7
    assert made_up_result().outcome.shares_beyond == 0
