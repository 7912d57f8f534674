"""Pages of runs: the network over time, in one self-contained file."""

from floodway.results.report_records import with_report_records
from floodway.simulation.report.page import Page
from floodway.simulation.report.report import MOST_RUNS, report

__all__ = ["MOST_RUNS", "Page", "report", "with_report_records"]
