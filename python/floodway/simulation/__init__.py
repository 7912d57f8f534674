"""Runs of scenarios, one or many at once, and their results with what draws and explains them."""
