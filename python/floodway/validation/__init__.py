"""Cases of the HPCC simulator, run here and compared with its results."""

from floodway.validation.case_results import CaseResult, Reference, Side, compare_sides, side_of
from floodway.validation.cases import Case, cases_of
from floodway.validation.document import document
from floodway.validation.folder import DOCUMENT_FILE
from floodway.validation.rows import Row
from floodway.validation.rules import RULES, Limit, Rules
from floodway.validation.validation import SEEDS, Validation, validate

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
