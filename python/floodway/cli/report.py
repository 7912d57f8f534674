"""The command `floodway report`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from floodway.cli.inputs import new_file
from floodway.cli.output import DONE, echo, warnings
from floodway.cli.watched_path import watched_path, watched_why
from floodway.results.files import REPORT_FILE

if TYPE_CHECKING:
    from collections.abc import Sequence


__all__ = ["Request", "report"]


@dataclass(frozen=True, kw_only=True)
class Request:
    """The arguments of `floodway report`."""

    folders: Sequence[Path]
    flows: Sequence[str]
    out: Path | None
    title: str | None
    force: bool
    quiet: bool


def report(request: Request) -> int:
    """Write the page of runs, print its name, and return the exit code."""
    from floodway.plot import folder_labels, sources_of  # noqa: PLC0415 (drawing is loaded where it is needed)
    from floodway.simulation.report.report import report as page_of  # noqa: PLC0415

    folders = request.folders
    # Without the option it is the page that chooses.
    flows = [flow for flow in request.flows if flow != "none"] if request.flows else None
    sources = sources_of(folders)
    out = request.out
    if out is None:
        several = Path(
            "out", "report", "-".join(folder_labels(folders)).replace("/", "-").replace(" ", "-") + ".html"
        )
        out = folders[0] / REPORT_FILE if len(folders) == 1 else several

    with new_file(out, force=request.force) as file:
        results = {source.label: source.results[0] for source in sources}
        places = {source.label: source.folders[0] for source in sources}
        why = partial(watched_why, quiet=request.quiet)
        path = partial(watched_path, quiet=request.quiet)
        page = page_of(results, title=request.title, flows=flows, folders=places, why=why, path=path)
        file.write(page)
    if not request.quiet:
        seeds = {source.label: [result.run.seed for result in source.results] for source in sources}
        warnings(
            f"{label}: the first of {len(of_source)} seeds is shown, {of_source[0]}"
            for label, of_source in seeds.items()
            if len(of_source) > 1
        )
    echo(str(out))
    return DONE
