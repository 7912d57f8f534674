"""Pages of runs: the network over time, in one self-contained file."""

from floodway.report.page import Page
from floodway.report.report import MOST_RUNS, report
from floodway.results.report_records import with_report_records

__all__ = ["MOST_RUNS", "Page", "report", "with_report_records"]
