"""SONiC's switch configurations: reading and judging them, and writing what was planned."""

from floodway.planning.sonic.judge import Judged, Lint, lint

__all__ = ["Judged", "Lint", "lint"]
