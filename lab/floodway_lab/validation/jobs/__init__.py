"""Traces and schedules of jobs with the times of ASTRA-sim, LogGOPSim and ATLAHS, run here and compared."""

from floodway_lab.validation.jobs.networks import star, wires
from floodway_lab.validation.jobs.rows import Row
from floodway_lab.validation.jobs.validation import JobsValidation, document, is_of_jobs, validate_jobs

__all__ = ["JobsValidation", "Row", "document", "is_of_jobs", "star", "validate_jobs", "wires"]
