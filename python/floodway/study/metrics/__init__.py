"""Metrics of a study: the numbers that it compares, measured or computed."""
