from __future__ import annotations

import re
from pathlib import Path

import floodway
from floodway.cli.page import page

ROOT = Path(__file__).parent.parent


def test_the_page_of_the_command_line_is_that_of_the_program() -> None:
    written = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert written == page(), "run `make generate`"


def test_the_scenario_of_the_readme_is_one() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```toml\n(.*?)```", readme, flags=re.DOTALL)
    assert floodway.Scenario.from_toml(text, name="readme").warnings == ()


def test_every_scenario_that_is_ready_to_run_is_one() -> None:
    ready = [
        file for file in (ROOT / "scenarios").glob("*.toml") if "${" not in file.read_text(encoding="utf-8")
    ]
    assert {floodway.load(file).name for file in ready} >= {"demo"}
