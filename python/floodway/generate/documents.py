"""Generated files that people read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.cli.page import page
from floodway.generate.glossary import glossary_page
from floodway.generate.pages import pages

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["documents"]


def documents() -> Mapping[str, str]:
    """Return the text of each file by its path below the repository."""
    return {
        "docs/cli.md": page(),
        "docs/glossary.md": glossary_page(),
        **pages(),
    }
