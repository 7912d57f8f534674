"""Generated files that people read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway_lab.generate import numbering
from floodway_lab.generate.commands import page
from floodway_lab.generate.glossary import glossary_page
from floodway_lab.generate.pages import WRITTEN, pages

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["documents"]


def documents(root: Path) -> Mapping[str, str]:
    """Return the text of each file by its path below `root`, the repository."""
    return {
        "docs/cli.md": page(),
        "docs/glossary.md": glossary_page(),
        **pages(),
        "docs/mechanisms/numbering.md": numbering.page(root, WRITTEN),
    }
