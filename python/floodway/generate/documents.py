"""Generated files that people read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from floodway.cli.page import page
from floodway.generate.pages import mechanism_table, pages

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["documents"]

BLOCK = re.compile(r"(<!-- begin: mechanisms -->\n).*(<!-- end: mechanisms -->)", flags=re.DOTALL)


def documents(root: Path) -> Mapping[str, str]:
    """Return the text of each file by its path below `root`, the repository."""
    readme = (root / "README.md").read_text(encoding="utf-8")
    table = mechanism_table(folder="docs/mechanisms/")
    return {
        "docs/cli.md": page(),
        "README.md": BLOCK.sub(lambda found: f"{found[1]}{table}\n{found[2]}", readme),
        **pages(),
    }
