"""Print the changelog's entry of the version in Cargo.toml: the notes of a release.

    python3 .ci/release_notes.py [TAG]

Fails unless that version is the changelog's newest, has a date, and is what the tag says after its `v`.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
#: `## [0.2.0] - 2026-11-25`, and what follows up to the next one.
ENTRY = re.compile(
    r"^## \[(?P<version>\d[^\]]*)\] - \d{4}-\d\d-\d\d\n(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL
)


def version() -> str:
    """Return the version in Cargo.toml."""
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    found: str = manifest["workspace"]["package"]["version"]
    return found


def newest() -> tuple[str, str]:
    """Return the version and text of the changelog's newest release."""
    entry = ENTRY.search((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    if entry is None:
        sys.exit("CHANGELOG.md has no release with a date")
    return entry["version"], entry["text"].strip()


def main(tag: str | None) -> None:
    """Print the notes, or say what does not agree."""
    own = version()
    last, text = newest()
    if last != own:
        sys.exit(f"Cargo.toml has version {own}, and the newest release of CHANGELOG.md is {last}")
    if tag is not None and tag != f"v{own}":
        sys.exit(f"the tag is {tag}, and the version is {own}: v{own} is expected")
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
