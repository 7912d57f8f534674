"""Comparisons of variants of a scenario: runs, numbers, findings, the page."""
