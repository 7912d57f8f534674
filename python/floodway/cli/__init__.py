"""The command line: results to stdout, progress and warnings to stderr, no traceback ever."""

from floodway.cli.app import main

__all__ = ["main"]
