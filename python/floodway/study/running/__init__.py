"""Runs of a study: their plan, their processes, and the storage of their results."""
