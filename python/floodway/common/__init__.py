"""Errors, files, names and texts, which every part uses."""
