"""Definition of `floodway import simai`: arguments, options and help."""

from __future__ import annotations

from floodway.cli.commands.import_options import of_one_file

__all__ = ["command"]

command = of_one_file(
    "simai",
    runs="a workload of SimAI",
    file_help="The workload, as AICB writes it.",
    example="scenarios/jobs/transformer.txt --out transformer.toml",
)
