"""Cases of the Ultra Ethernet Consortium's simulator, run here and compared with its results."""

from floodway_lab.validation.uet.cases import UetCase, is_of_uet, uet_cases_of
from floodway_lab.validation.uet.compare import Difference
from floodway_lab.validation.uet.scenario import scenario_of
from floodway_lab.validation.uet.validation import UetResult, UetValidation, document, validate_uet

__all__ = [
    "Difference",
    "UetCase",
    "UetResult",
    "UetValidation",
    "document",
    "is_of_uet",
    "scenario_of",
    "uet_cases_of",
    "validate_uet",
]
