"""Deterministic packet-level simulation of lossless RDMA networks.

Examples
--------
>>> import floodway
>>> scenario = floodway.load("scenarios/two-hosts.toml")  # doctest: +SKIP
>>> result = floodway.run(scenario)  # doctest: +SKIP
>>> result.summary.total.fct.p99_us  # doctest: +SKIP
"""

from floodway._floodway import Progress, Scenario, __version__
from floodway.comparison import Comparison, Variant, compare, vary
from floodway.errors import (
    ComparisonError,
    Fault,
    FloodwayError,
    InternalError,
    OutputError,
    RunError,
    ScenarioError,
)
from floodway.results import Result, Summary, read
from floodway.scenarios import load, loads
from floodway.simulation import run

__all__ = [
    "Comparison",
    "ComparisonError",
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
    "Variant",
    "__version__",
    "compare",
    "load",
    "loads",
    "read",
    "run",
    "vary",
]
