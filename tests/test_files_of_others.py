"""Files of other simulators, from the command line to times: servers, flows without end, formats."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

import floodway

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command

#: An all-reduce of 16 MiB over eight tensor-parallel ranks.
WORKLOAD = """HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 8 ga: 1 \
all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0
1
layer -1 556000 ALLREDUCE 16777216 1 NONE 0 1 NONE 0 1
"""
#: Eight GPUs at one NVSwitch, 8, and at one switch, 9.
SERVERS = "10 8 1 1 16 A100\n8 9\n" + "".join(
    f"{gpu} 8 2400Gbps 0.000025ms 0\n{gpu} 9 100Gbps 0.0005ms 0\n" for gpu in range(8)
)
#: Fourteen steps of an eighth at 300 GB/s.
WITHIN_A_SERVER_US = 14 * (1 << 24) / 8 / 300e3


def all_reduce_us(path: Path) -> float:
    """Return the time of the only collective of a scenario."""
    result = floodway.run(floodway.load(path))
    assert result.collectives is not None
    (time,) = result.collectives["time_us"].to_list()
    return float(time)


@pytest.mark.parametrize(
    ("options", "told", "step_us"),
    [
        ((), "servers are not in the workload: 8 GPUs each", 0.05),
        (("--topology", "servers.txt"), "", 0.048),
        (("--gpu-nodes", '{ scale-up = { rate = "2400G", latency = "1us" } }'), "", 1.0),
    ],
    ids=["assumed", "by the topology", "given"],
)
def test_tensor_parallel_ranks_stay_inside_a_server(
    floodway: Command, tmp_path: Path, options: tuple[str, ...], told: str, step_us: float
) -> None:
    (tmp_path / "workload.txt").write_text(WORKLOAD, encoding="utf-8")
    (tmp_path / "servers.txt").write_text(SERVERS, encoding="utf-8")
    done = floodway("import", "simai", "workload.txt", *options, "--out", "job.toml")
    assert done.code == 0, done.err
    assert (told in done.err) if told else (done.err == "")
    time = all_reduce_us(tmp_path / "job.toml")
    assert time == pytest.approx(WITHIN_A_SERVER_US + 14 * step_us, abs=0.01)


def test_without_servers_they_cross_the_network_with_a_warning(floodway: Command, tmp_path: Path) -> None:
    (tmp_path / "workload.txt").write_text(WORKLOAD, encoding="utf-8")
    done = floodway("import", "simai", "workload.txt", "--gpu-nodes", "none", "--out", "job.toml")
    assert "groups of 8 tensor-parallel ranks, which SimAI keeps inside a server, exchange" in done.err
    assert all_reduce_us(tmp_path / "job.toml") > 7 * WITHIN_A_SERVER_US


def test_connections_without_end_run_to_the_limit(floodway: Command, tmp_path: Path) -> None:
    matrix = b"Nodes 4\nConnections 2\n0->1 start 0.000000 size 0\n2->1 start 0.000000 size 0\n"
    (tmp_path / "endless.cm.gz").write_bytes(gzip.compress(matrix))
    done = floodway("import", "htsim", "endless.cm.gz", "--out", "flows.toml")
    assert done.code == 0, done.err
    assert "connections without end (size 0) are flows" in done.err
    assert floodway("run", "flows.toml", "--out", "out").code == 0


@pytest.mark.parametrize(
    ("name", "text", "seems"),
    [
        ("tiny.topo", "Nodes 8\nTiers 3\nPodsize 4\nTier 0\n", "a topology of htsim: give it by --topology"),
        (
            "ring8.yml",
            "topology: [ Ring ]\nnpus_count: [ 8 ]\n",
            "a network of ASTRA-sim: give it by --topology",
        ),
        (
            "sys.json",
            '{ "endpoint-delay": 10 }',
            "a system of ASTRA-sim: import the traces (NAME.<rank>.et) that it belongs to, with `--topology`",
        ),
        (
            "logical.json",
            '{ "logical-dims": ["8"] }',
            "a logical topology of ASTRA-sim: import the traces (NAME.<rank>.et) that it belongs to",
        ),
        ("w.txt", WORKLOAD, "a workload of SimAI: `floodway import simai FILE` reads it"),
    ],
)
def test_a_file_of_another_format_is_named(
    floodway: Command, tmp_path: Path, name: str, text: str, seems: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    done = floodway("import", "htsim", name)
    assert done.code == 2
    assert f"error: {name}:1: it is not a connection matrix of htsim; it seems to be {seems}" in done.err


def test_a_file_that_is_no_network_is_named(floodway: Command, tmp_path: Path) -> None:
    (tmp_path / "workload.txt").write_text(WORKLOAD, encoding="utf-8")
    done = floodway("import", "simai", "workload.txt", "--topology", "workload.txt")
    assert done.code == 2
    assert "error: workload.txt: it is no network; it seems to be a workload of SimAI" in done.err
    missing = floodway("import", "simai", "workload.txt", "--topology", "missing.txt")
    assert "'missing.txt' is not KIND={...}, or a file that is there" in missing.err
