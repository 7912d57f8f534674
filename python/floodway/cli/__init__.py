"""The command line: results to stdout, progress and warnings to stderr, no traceback ever."""

from floodway.cli.main import main

__all__ = ["main"]
