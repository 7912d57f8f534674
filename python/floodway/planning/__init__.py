"""The planner of long lossless links: sizes by formulas, which runs verify."""

from typing import TYPE_CHECKING

from floodway.common.on_demand import found_in

if TYPE_CHECKING:
    from floodway.planning.planner import Plan, Planned, plan

__all__ = ["Plan", "Planned", "plan"]

#: The module of each name: questions are checked without what answers them.
_NAMES = {"planner": __all__}


def __getattr__(name: str) -> object:
    return found_in(_NAMES, name, package=__name__)
