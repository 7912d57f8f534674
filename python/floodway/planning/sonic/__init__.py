"""SONiC's switch configurations: reading and judging them, and writing what was planned."""

from floodway.planning.sonic.configuration import Configuration, LosslessPort
from floodway.planning.sonic.judge import Judged, Lint, lint
from floodway.planning.sonic.snippets import snippets
from floodway.planning.sonic.writing import write

__all__ = ["Configuration", "Judged", "Lint", "LosslessPort", "lint", "snippets", "write"]
