"""Pages of runs: the network over time, in one self-contained file."""

from floodway.simulation.report.page import Page
from floodway.simulation.report.report import MOST_RUNS, report
from floodway.simulation.run import with_report_records

__all__ = ["MOST_RUNS", "Page", "report", "with_report_records"]
