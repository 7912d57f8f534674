"""Deterministic packet-level simulation of lossless RDMA networks.

Examples
--------
>>> import floodway
>>> from floodway.builders import Burst, SingleSwitch, Workload
>>> scenario = floodway.Scenario(
...     topology=SingleSwitch(hosts=3, rate="100G", delay="1us"),
...     workload=[Workload(name="pair", burst=Burst(from_=["h1", "h2"], to="h3", size="100KB"))],
... )
>>> result = floodway.run(scenario)
>>> result.flows["finished"].to_list()
[True, True]
"""

from typing import TYPE_CHECKING

from floodway.common.errors import (
    ComparisonError,
    ExtensionError,
    Fault,
    FloodwayError,
    GraphError,
    InputError,
    InternalError,
    InUseError,
    LostResultsError,
    MechanismError,
    OutOfMemoryError,
    OutputError,
    PlanError,
    PlotError,
    RunError,
    ScenarioError,
    StudyError,
    TableError,
    UnknownNameError,
    UnverifiedWarning,
    ValidationError,
)
from floodway.common.extensions import native
from floodway.common.on_demand import found_in

if TYPE_CHECKING:
    from floodway._floodway import Progress, __version__
    from floodway.comparison.comparison import Comparison, compare
    from floodway.comparison.variants import Variant, vary
    from floodway.planning import Plan, plan
    from floodway.results import Summary
    from floodway.scenarios.mechanisms import CongestionPoint, Duration, Rate, RateControl, Size
    from floodway.scenarios.scenario import Scenario, load
    from floodway.simulation.analysis import Result, read
    from floodway.simulation.run import run

__all__ = [
    "Comparison",
    "ComparisonError",
    "CongestionPoint",
    "Duration",
    "ExtensionError",
    "Fault",
    "FloodwayError",
    "GraphError",
    "InUseError",
    "InputError",
    "InternalError",
    "LostResultsError",
    "MechanismError",
    "OutOfMemoryError",
    "OutputError",
    "Plan",
    "PlanError",
    "PlotError",
    "Progress",
    "Rate",
    "RateControl",
    "Result",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Size",
    "StudyError",
    "Summary",
    "TableError",
    "UnknownNameError",
    "UnverifiedWarning",
    "ValidationError",
    "Variant",
    "__version__",
    "compare",
    "load",
    "plan",
    "read",
    "run",
    "vary",
]

#: The modules that public names come from. They are imported when a name is first used, so that the
#: command line answers Ctrl-C before the tables' library is loaded.
_NAMES = {
    "_floodway": ("Progress", "__version__"),
    "simulation.analysis": ("Result", "read"),
    "comparison.comparison": ("Comparison", "compare"),
    "comparison.variants": ("Variant", "vary"),
    "scenarios.mechanisms": ("CongestionPoint", "Duration", "Rate", "RateControl", "Size"),
    "planning": ("Plan", "plan"),
    "results": ("Summary",),
    "scenarios.scenario": ("Scenario", "load"),
    "simulation.run": ("run",),
}


def __getattr__(name: str) -> object:
    # The first access to the native module decides which one is loaded.
    if name == "_floodway":
        return native()
    if name in _NAMES["_floodway"]:
        return getattr(native(), name)
    return found_in(_NAMES, name, package=__name__)


def __dir__() -> list[str]:
    return __all__
