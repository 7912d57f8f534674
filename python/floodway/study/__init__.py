"""Studies: runs, published numbers and their comparison; figures of papers are studies."""

from floodway.study.execution import conduct, report_of
from floodway.study.format.model import Study
from floodway.study.format.read import Paper, load_study, papers, ready_studies
from floodway.study.numbers import Conducted, Part
from floodway.study.running.runs import Plan, expected_minutes, plan_of, states_of
from floodway.study.running.work import Task

__all__ = [
    "Conducted",
    "Paper",
    "Part",
    "Plan",
    "Study",
    "Task",
    "conduct",
    "expected_minutes",
    "load_study",
    "papers",
    "plan_of",
    "ready_studies",
    "report_of",
    "states_of",
]
