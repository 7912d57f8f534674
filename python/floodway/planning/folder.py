"""The folder of a plan: the page, its pictures, the document, and every scenario that was run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import floodway
from floodway.common.documents import as_json
from floodway.common.documents.html import PAGE_WIDTH_IN, page
from floodway.common.errors import unwritable
from floodway.planning.document import document
from floodway.planning.pictures import pictures
from floodway.plot.style import look
from floodway.results.files import new_folder, replace_file

if TYPE_CHECKING:
    from pathlib import Path

    from floodway.planning.planner import Plan

__all__ = ["write_plan"]


def write_plan(plan: Plan, folder: Path) -> None:
    """Write a plan.

    Raises
    ------
    OutputError
        If the folder cannot be written.
    """
    with look(width_in=PAGE_WIDTH_IN):
        drawn = pictures(plan)
    contents = document(plan)
    foot = f"planned with floodway {floodway.__version__}; propagation 5 us a km"
    scenarios = plan.scenarios()
    try:
        with new_folder(folder / "scenarios"):
            for name, text in scenarios.items():
                replace_file(folder / "scenarios" / f"{name}.toml", text.encode())
            for picture in drawn:
                replace_file(folder / picture.file, picture.png)
            text = json.dumps(as_json(contents), indent=2, ensure_ascii=False) + "\n"
            replace_file(folder / "plan.json", text.encode())
            replace_file(folder / "index.html", page(contents, drawn, foot=foot).encode())
    except OSError as error:
        raise unwritable(folder, error) from error
