"""Deterministic packet-level simulation of lossless RDMA networks.

Examples
--------
>>> import floodway
>>> scenario = floodway.load("scenarios/two-hosts.toml")  # doctest: +SKIP
>>> result = floodway.run(scenario)  # doctest: +SKIP
>>> result.summary.total.fct.p99_us  # doctest: +SKIP
"""

from floodway._floodway import Progress, Scenario, __version__
from floodway.errors import Fault, FloodwayError, InternalError, OutputError, RunError, ScenarioError
from floodway.results import Result, Summary, read
from floodway.scenarios import load, loads
from floodway.simulation import run

__all__ = [
    "Fault",
    "FloodwayError",
    "InternalError",
    "OutputError",
    "Progress",
    "Result",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Summary",
    "__version__",
    "load",
    "loads",
    "read",
    "run",
]
