"""The help of every command as a page of the documentation."""

from __future__ import annotations

from click.testing import CliRunner

from floodway.cli.app import app

__all__ = ["page"]

#: Width of the help in columns, so that it does not depend on the terminal.
WIDTH = {"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1"}
VERBS = (
    "run",
    "compare",
    "study",
    "reproduce",
    "why",
    "plot",
    "verify",
    "validate",
    "check",
    "plan",
    "lint",
    "import chakra",
    "import goal",
    "import hpcc",
    "import htsim",
    "import simai",
    "export goal",
    "list",
    "explain",
    "schema",
)


def page() -> str:
    """Return the page."""
    parts = ["# Command line", "Written by `make generate` from the program's own help."]
    parts += [f"## {title}\n\n```text\n{_help(arguments)}\n```" for title, arguments in _sections()]
    return "\n\n".join(parts) + "\n"


def _sections() -> list[tuple[str, list[str]]]:
    return [("floodway", []), *((f"floodway {verb}", verb.split()) for verb in VERBS)]


def _help(arguments: list[str]) -> str:
    shown = CliRunner().invoke(app, [*arguments, "--help"], prog_name="floodway", env=WIDTH)
    return "\n".join(line.rstrip() for line in shown.stdout.strip().splitlines())
