"""Cases of the HPCC simulator, run here and compared with its results."""

from floodway_lab.validation.case_results import CaseResult, Reference, Side, compare_sides, side_of
from floodway_lab.validation.cases import Case, cases_of
from floodway_lab.validation.document import document
from floodway_lab.validation.folder import DOCUMENT_FILE
from floodway_lab.validation.rows import Row
from floodway_lab.validation.rules import RULES, Limit, Rules
from floodway_lab.validation.validation import SEEDS, Validation, validate

__all__ = [
    "DOCUMENT_FILE",
    "RULES",
    "SEEDS",
    "Case",
    "CaseResult",
    "Limit",
    "Reference",
    "Row",
    "Rules",
    "Side",
    "Validation",
    "cases_of",
    "compare_sides",
    "document",
    "side_of",
    "validate",
]
