"""Studies: what to run, what was published, and how the two compare; papers' figures are studies."""

from floodway.study.conduct import Conducted, Part, Plan, conduct, expected_minutes, plan_of, states_of
from floodway.study.model import Study
from floodway.study.papers import Paper, asked_for, papers, ready_studies
from floodway.study.parse import load_study
from floodway.study.pool import Task
from floodway.study.verdicts import Judged

__all__ = [
    "Conducted",
    "Judged",
    "Paper",
    "Part",
    "Plan",
    "Study",
    "Task",
    "asked_for",
    "conduct",
    "expected_minutes",
    "load_study",
    "papers",
    "plan_of",
    "ready_studies",
    "states_of",
]
