from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from kills import soak

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.long
@pytest.mark.parametrize("verb", ["run", "compare", "study", "shards", "cluster", "workers"])
def test_a_command_that_is_killed_loses_nothing_locks_nothing_and_leaves_nothing(
    tmp_path: Path, verb: str
) -> None:
    count = soak(verb, kills=3, seed=1, folder=tmp_path)
    assert count.kills.total() == 3
    assert count.faults == []
