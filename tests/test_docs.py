from __future__ import annotations

import json
import re
import shlex
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import floodway
from floodway_lab.concepts import PICTURES, draw, svg_of
from floodway_lab.lossless_or_not import region
from floodway_lab.reproduction.stored_numbers import StoredNumbers, file_of

if TYPE_CHECKING:
    from command import Command

ROOT = Path(__file__).parent.parent


def test_the_scenario_of_the_readme_is_one() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```toml\n(.*?)```", readme, flags=re.DOTALL)
    assert floodway.Scenario.from_toml(text, name="readme").warnings == ()


def test_every_scenario_that_is_ready_to_run_is_one() -> None:
    ready = [
        file for file in (ROOT / "scenarios").glob("*.toml") if "${" not in file.read_text(encoding="utf-8")
    ]
    assert {floodway.load(file).name for file in ready} >= {"demo"}


def test_every_scenario_of_the_concepts_is_one_and_has_its_picture() -> None:
    files = sorted((ROOT / "scenarios" / "concepts").glob("*.toml"))
    assert {file.stem for file in files} == set(PICTURES)
    warnings = {file.stem: floodway.load(file).warnings for file in files}
    # What this one shows is what is warned of.
    assert all("SWING, Eq. 4" in warning for warning in warnings.pop("long-link"))
    assert not any(warnings.values())


def test_the_pictures_of_the_concepts_are_those_of_their_runs(tmp_path: Path) -> None:
    for file in draw(tmp_path, ROOT / "scenarios" / "concepts"):
        kept = ROOT / "docs" / "pictures" / file.name
        again = "run `python -m floodway_lab.concepts docs/pictures`"
        assert file.read_bytes() == kept.read_bytes(), again


def commands_in(name: str) -> list[list[str]]:
    """Return the calls of the command line that a page shows, in code spans and in blocks."""
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    spans = re.findall(r"`(floodway [^`]+)`", text)
    blocks = re.findall(r"^(floodway .+)$", text.replace("\\\n", " "), flags=re.MULTILINE)
    return [shlex.split(command, comments=True) for command in dict.fromkeys(spans + blocks)]


@pytest.mark.parametrize("name", ["concepts.md", "faq.md", "lossless-or-not.md"])
def test_the_commands_of_a_page_name_scenarios_and_keys_that_there_are(name: str) -> None:
    commands = [words for words in commands_in(name) if any(word.endswith(".toml") for word in words)]
    assert commands
    for _, verb, *words in commands:
        file = ROOT / next(word for word in words if word.endswith(".toml"))
        given = [(option, *value.partition("=")[::2]) for option, value in pairwise(words)]
        sets = [(key, value) for option, key, value in given if option == "--set"]
        varied = [(key, values.split(",")) for option, key, values in given if option == "--vary"]
        assert verb in {"run", "check", "compare"}
        floodway.vary(file, varied, sets=sets)


def test_no_command_of_a_page_fails_on_the_results_of_an_earlier_one() -> None:
    for page in sorted((ROOT / "docs").glob("*.md")):
        written: set[tuple[str, ...]] = set()
        blocks = re.findall(r"^(floodway (?:run|plot busbw) .+)$", joined(page), flags=re.MULTILINE)
        for words in (shlex.split(block, comments=True) for block in blocks):
            inputs = [word for word in words if word.endswith(".toml")]
            out = words[words.index("--out") + 1 :][:1] if "--out" in words else [words[1], *inputs]
            where = tuple(Path(word).stem for word in out)
            assert "--force" in words or not inputs or where not in written, (page.name, words)
            written.add(where)


def joined(page: Path) -> str:
    """Return the text of a page with each command in one line; help of the command line has examples."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    return "" if page.name == "cli.md" else text


def test_the_page_of_studies_names_all_that_reproduce_takes() -> None:
    text = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^floodway reproduce .*# papers: (.*)$", text, flags=re.MULTILINE)
    folders = {path.name for path in (ROOT / "studies").iterdir() if path.is_dir()}
    assert set(re.findall(r"[a-z-]+", line)) >= folders


def test_the_comparison_of_flow_controls_that_jobs_show_runs(floodway: Command) -> None:
    (command,) = (words for words in commands_in("jobs.md") if "--variant" in words)
    _, verb, file, *words = command
    short = ("--set", "workload.storage.until=10us", "--set", 'workload.job.collective.size="64KB"')
    done = floodway(verb, ROOT / file, *words, *short, "--json", "--quiet", "--out", "out")
    assert done.code == 0, done.err
    printed = json.loads(done.out)
    assert [variant["label"] for variant in printed["variants"]] == ["pfc", "bifrost", "irn"]


def test_the_comparisons_of_lossless_and_lossy_networks_that_the_readme_shows_run(floodway: Command) -> None:
    commands = [
        words for words in commands_in("../README.md") if any("lossless-or-not" in word for word in words)
    ]
    assert len(commands) == 2
    short = ("--set", "workload.cross.burst.size=64KiB", "--no-pictures", "--json", "--quiet")
    for number, (_, verb, *words) in enumerate(commands):
        given = [ROOT / word if word.endswith(".toml") else word for word in words[: words.index("--out")]]
        done = floodway(verb, *given, *short, "--out", f"out-{number}")
        assert done.code == 0, done.err
        labels = [variant["label"] for variant in json.loads(done.out)["variants"]]
        assert labels == ["pfc", "bifrost", "nscc"]


def test_the_picture_of_lossless_and_lossy_regions_is_that_of_the_kept_numbers() -> None:
    docs = ROOT / "docs"
    numbers = StoredNumbers.read(file_of(docs / "reproduced" / "lossless-or-not", "incast", quick=False))
    drawn = svg_of(region(numbers.table), "lossless-or-not")
    again = "run `python -m floodway_lab.lossless_or_not`"
    assert drawn == (docs / "pictures" / "lossless-or-not.svg").read_bytes(), again


def test_the_worked_example_is_the_code_that_is_tested() -> None:
    page = (ROOT / "docs" / "add-a-mechanism.md").read_text(encoding="utf-8")
    *mechanism, network = re.findall(r"```rust\n(.*?)```", page, flags=re.DOTALL)
    tests = ROOT / "crates" / "scenario" / "tests" / "all"
    assert "\n".join(mechanism) == (tests / "worked_example" / "standing.rs").read_text(encoding="utf-8")
    assert network == (tests / "worked_example.rs").read_text(encoding="utf-8")


def test_the_registration_that_a_page_shows_is_that_of_the_template() -> None:
    page = (ROOT / "docs" / "add-a-mechanism.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```rs\n(.*?)```", page, flags=re.DOTALL)
    assert shown in (ROOT / "examples" / "own-mechanism" / "src" / "lib.rs").read_text(encoding="utf-8")


def test_the_scenario_of_the_worked_example_is_one() -> None:
    page = (ROOT / "docs" / "add-a-mechanism.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    assert floodway.Scenario.from_toml(name="example", text=text).warnings == ()
