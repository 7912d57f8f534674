from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from command import Command

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def floodway(tmp_path: Path) -> Command:
    """Return the command line in an empty folder."""
    return Command(tmp_path)
