"""Definitions of these commands: arguments, options and help."""
