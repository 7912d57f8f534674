"""Definition of `floodway import goal`: arguments, options and help."""

from __future__ import annotations

from floodway.cli.commands.import_options import of_one_file

__all__ = ["command"]

command = of_one_file(
    "goal",
    runs="a GOAL schedule of LogGOPSim or ATLAHS",
    file_help="The schedule, as text or in its binary form.",
    example="scenarios/jobs/pipeline.goal --out pipeline.toml",
)
