"""`python -m floodway_lab.generate FOLDER`: write every generated file of the repository."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from floodway.common.extensions import installed
from floodway_lab.generate.code import code

if TYPE_CHECKING:
    from collections.abc import Mapping


def main(root: Path) -> None:
    """Write the files below `root`, and remove pages of mechanisms that no longer exist."""
    write(root, code())
    # Imported here: these modules import the builders, which may have been out of date until now.
    from floodway_lab.generate.documents import documents  # noqa: PLC0415

    pages = documents(root)
    for old in (root / "docs" / "mechanisms").glob("*.md"):
        if f"docs/mechanisms/{old.name}" not in pages:
            old.unlink()
    write(root, pages)


def write(root: Path, files: Mapping[str, str]) -> None:
    """Write the files that are missing or out of date."""
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    extension = installed()
    if extension is not None:
        sys.exit(
            f"error: the extension {extension} is installed, and pages would tell of its mechanisms, too: "
            "uninstall it first"
        )
    main(Path(sys.argv[1]))
