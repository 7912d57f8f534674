"""Runs of a study: what to run, in which processes, and where results are stored."""
