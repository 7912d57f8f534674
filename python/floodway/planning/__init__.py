"""The planner: what a long lossless link needs, by formulas that runs check."""

from floodway.planning.planner import Plan, Planned, plan

__all__ = ["Plan", "Planned", "plan"]
