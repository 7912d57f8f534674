"""Proof of the reproductions: mutants that their verdicts must notice, and pages of full-size results."""
