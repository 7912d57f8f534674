"""Definitions of commands, one per file; what a command does is imported when it is called.

To build all commands, or to import the modules that draw, takes longer than a small run.
"""
