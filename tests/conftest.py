from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from command import Command

if TYPE_CHECKING:
    from pathlib import Path

# How long an example takes says more of the machine than of the code.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@pytest.fixture
def floodway(tmp_path: Path) -> Command:
    """Return the command line in an empty folder."""
    return Command(tmp_path)
