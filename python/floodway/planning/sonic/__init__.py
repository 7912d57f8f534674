"""SONiC's switch configurations: reading and judging them, and writing what was planned."""

from floodway.planning.sonic.configuration import Configuration, LosslessPort
from floodway.planning.sonic.judge import Judged, Lint, lint
from floodway.planning.sonic.writing import snippets, write

__all__ = ["Configuration", "Judged", "Lint", "LosslessPort", "lint", "snippets", "write"]
