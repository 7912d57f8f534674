"""Generated files that code reads: the JSON Schema, the builders, and the keys of a scenario."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from floodway import _floodway
from floodway.scenarios.grammar import Grammar
from floodway_lab.generate.builders import builders, scenario_keys

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["code"]

BUILDERS = "python/floodway/builders/__init__.py"
SCENARIO_KEYS = "python/floodway/scenarios/scenario_keys.py"


def code() -> Mapping[str, str]:
    """Return the text of each file by its path in the repository."""
    grammar = Grammar.current()
    return {
        "docs/scenario.schema.json": _schema(grammar),
        "docs/study.schema.json": _schema(Grammar(json.loads(_floodway.study_schema_json()))),
        BUILDERS: _formatted(builders(grammar), BUILDERS),
        SCENARIO_KEYS: _formatted(scenario_keys(grammar), SCENARIO_KEYS),
    }


def _schema(grammar: Grammar) -> str:
    return f"{json.dumps(grammar.document, indent=2, ensure_ascii=False)}\n"


def _formatted(source: str, file: str) -> str:
    """Format Python source like the rest of the repository."""
    ruff = [sys.executable, "-m", "ruff"]
    # In an `__init__.py` unused imports are kept.
    file = file.replace("__init__", "module")
    for step in (["check", "--quiet", "--fix-only"], ["format", "--quiet"]):
        command = [*ruff, *step, "--stdin-filename", file, "-"]
        source = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    return source
