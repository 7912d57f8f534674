"""Tables of results in pandas and Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import floodway as package
from floodway.builders.tables import flows
from scenarios import SMALL

if TYPE_CHECKING:
    from pathlib import Path

pandas = pytest.importorskip("pandas", reason="pandas is not installed: floodway[pandas]")
pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed: floodway[pandas]")


@pytest.fixture(scope="module")
def result() -> package.Result:
    """A run that cuts some flows off."""
    text = SMALL.replace('"20ms"', '"1.9ms"').replace("limit", 'stop = "limit"\nlimit')
    return package.run(package.Scenario.from_toml(text, name="small"))


def test_flows_are_the_same_in_pandas(result: package.Result) -> None:
    frame = result.flows.to_pandas()
    assert list(frame.columns) == result.flows.columns
    for name in ("flow_id", "workload", "source", "size_bytes", "start_us", "finished"):
        assert frame[name].tolist() == result.flows[name].to_list()
    # Null is NaN, of unfinished flows and of no others.
    assert 0 < frame["fct_us"].isna().sum() < len(frame)
    assert frame["fct_us"].isna().tolist() == (~frame["finished"]).tolist()
    assert str(frame["source"].dtype) == "category"
    counts = frame.groupby("source", observed=True)["flow_id"].count().to_dict()
    assert counts == dict(result.flows["source"].cast(str).value_counts().iter_rows())


def test_flows_are_the_same_in_arrow(result: package.Result) -> None:
    for table in (result.flows.to_arrow(), pyarrow.table(result.flows)):
        assert table.column_names == result.flows.columns
        assert table["source"].to_pylist() == result.flows["source"].to_list()
        assert table["fct_us"].to_pylist() == result.flows["fct_us"].to_list()
        assert pyarrow.types.is_dictionary(table.schema.field("source").type)


def test_all_tables_convert_and_files_are_read_to_the_same_frame(
    result: package.Result, tmp_path: Path
) -> None:
    result.save(tmp_path / "run")
    for name in ("flows", "series", "counters", "latency"):
        frame = getattr(result, name).to_pandas()
        again = pandas.read_parquet(tmp_path / "run" / f"{name}.parquet")
        pandas.testing.assert_frame_equal(frame, again)


def test_flows_of_a_frame_of_pandas_are_those_of_the_run(result: package.Result) -> None:
    columns = ["source", "destination", "size_bytes", "start_us"]
    frame = result.flows.to_pandas()[columns]
    assert flows(frame) == flows(result.flows.select(columns))
