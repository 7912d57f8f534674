"""Pages of runs: the network over time, in one self-contained file."""

from floodway.report.report import MOST_RUNS, report

__all__ = ["MOST_RUNS", "report"]
