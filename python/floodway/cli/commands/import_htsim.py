"""Definition of `floodway import htsim`: arguments, options and help."""

from __future__ import annotations

from floodway.cli.commands.import_options import of_one_file

__all__ = ["command"]

command = of_one_file(
    "htsim",
    runs="a connection matrix of htsim",
    file_help="The connection matrix, a .cm file.",
    example="scenarios/jobs/ring.cm --out ring.toml",
)
