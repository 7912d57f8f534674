"""Files of the repository that must agree: versions, least versions, workflows, widths, commit messages."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import commit_message
import floodway
import release_notes
import widths
from floodway.common import extensions
from floodway.common.ready import FOLDER, resolved

if TYPE_CHECKING:
    from command import Command

ROOT = Path(__file__).parent.parent
TEMPLATE = ROOT / "examples" / "own-mechanism"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted(
    file for file in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if file.name != "config.yml"
)


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def toml_of(name: str) -> dict[str, Any]:
    return tomllib.loads(text_of(name))


def yaml_of(file: Path) -> dict[Any, Any]:
    content: dict[Any, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return content


VERSION = release_notes.version()
LEAST_RUST: str = toml_of("Cargo.toml")["workspace"]["package"]["rust-version"]
LEAST_PYTHON: str = toml_of("pyproject.toml")["project"]["requires-python"].removeprefix(">=")


def locked(lock: str) -> set[str]:
    """Versions of floodway's crates in a lock file."""
    return {
        package["version"] for package in toml_of(lock)["package"] if package["name"].startswith("floodway-")
    }


def steps_of(workflow: Path) -> list[dict[str, Any]]:
    return [step for job in yaml_of(workflow)["jobs"].values() for step in job["steps"]]


def test_every_file_that_names_the_version_names_the_same() -> None:
    citation = yaml_of(ROOT / "CITATION.cff")
    named = {
        "the package": floodway.__version__,
        "CITATION.cff": citation["version"],
        "CHANGELOG.md": release_notes.newest()[0],
        "extensions.py": extensions.VERSION,
        "lab/pyproject.toml": toml_of("lab/pyproject.toml")["project"]["version"],
        "the template's Cargo.toml": re.findall(
            r'tag = "v([^"]+)"', text_of("examples/own-mechanism/Cargo.toml")
        )[0],
        "the template's pyproject.toml": toml_of("examples/own-mechanism/pyproject.toml")["project"][
            "dependencies"
        ][0].removeprefix("floodway=="),
    }
    assert named == dict.fromkeys(named, VERSION)
    assert locked("Cargo.lock") == locked("examples/own-mechanism/Cargo.lock") == {VERSION}
    project = toml_of("pyproject.toml")["project"]
    assert ("version" in project, project["dynamic"]) == (False, ["version"])
    assert f"## [{VERSION}] - {citation['date-released']}\n" in text_of("CHANGELOG.md")


def test_the_changelog_begins_with_what_is_not_released() -> None:
    headings = re.findall(r"^## (.*)", text_of("CHANGELOG.md"), re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", each) for each in headings[1:])
    kinds = set(re.findall(r"^### (.*)", text_of("CHANGELOG.md"), re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Removed", "Fixed", "Changed results"}


def test_notes_of_a_release_need_the_tag_of_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    release_notes.main(f"v{VERSION}")
    assert capsys.readouterr().out.strip() == release_notes.newest()[1]
    with pytest.raises(
        SystemExit, match=rf"the tag is v9.9.9, and the version is {VERSION}: v{VERSION} is expected"
    ):
        release_notes.main("v9.9.9")


def test_every_file_that_names_the_least_rust_and_python_names_the_same() -> None:
    assert toml_of("examples/own-mechanism/Cargo.toml")["package"]["rust-version"] == LEAST_RUST
    assert (
        toml_of("examples/own-mechanism/pyproject.toml")["project"]["requires-python"] == f">={LEAST_PYTHON}"
    )
    abi = f"abi3-py{LEAST_PYTHON.replace('.', '')}"
    assert toml_of("Cargo.toml")["workspace"]["dependencies"]["pyo3"]["features"] == [abi]
    assert abi in toml_of("examples/own-mechanism/Cargo.toml")["dependencies"]["pyo3"]["features"]
    for page in ("README.md", "docs/getting-started.md"):
        assert set(re.findall(r"Rust (\d\.\d+)", text_of(page))) == {LEAST_RUST}
        assert set(re.findall(r"Python (\d\.\d+) or newer", text_of(page))) == {LEAST_PYTHON}
    # Elsewhere they are read from there.
    assert LEAST_RUST not in text_of("Makefile")
    assert "target-version" not in toml_of("pyproject.toml")["tool"]["ruff"]


def test_tests_run_with_the_least_rust_and_python() -> None:
    job = yaml_of(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]["least"]
    assert [
        step["with"]["python-version"] for step in job["steps"] if "python-version" in step.get("with", {})
    ] == [LEAST_PYTHON]
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert f"rustup default {LEAST_RUST}" in commands
    assert "make least test-rust test-python" in commands


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_no_crate_of_the_lock_file_needs_a_newer_rust() -> None:
    done = subprocess.run(
        ["cargo", "metadata", "--locked", "--offline", "--format-version", "1"],  # noqa: S607 (rustup's)
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip("the crates of the lock file are not here")
    newer = {
        f"{package['name']} {package['version']}": package["rust_version"]
        for package in json.loads(done.stdout)["packages"]
        if package["rust_version"] and _parts(package["rust_version"]) > _parts(LEAST_RUST)
    }
    assert newer == {}


def test_every_crate_that_the_workspace_names_is_used() -> None:
    named = set(toml_of("Cargo.toml")["workspace"]["dependencies"])
    used: set[str] = set()
    for file in (ROOT / "crates").glob("*/Cargo.toml"):
        content = tomllib.loads(file.read_text(encoding="utf-8"))
        for table in (content, *content.get("target", {}).values()):
            for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
                used |= set(table.get(kind, {}))
    assert named - used == set()


def test_no_python_package_has_an_upper_bound() -> None:
    for file in ("pyproject.toml", "lab/pyproject.toml", "examples/own-mechanism/pyproject.toml"):
        content = toml_of(file)
        needs = [*content["build-system"]["requires"], *content["project"]["dependencies"]]
        for extra in content["project"].get("optional-dependencies", {}).values():
            needs += extra
        # The module of an extension is built for one version.
        own = {"floodway", f"floodway=={VERSION}"}
        assert [need for need in needs if not re.fullmatch(r"[\w-]+>=[\d.]+", need) and need not in own] == []


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))[:2]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.name)
def test_a_workflow_pins_its_actions_and_limits_its_jobs(workflow: Path) -> None:
    text = workflow.read_text(encoding="utf-8")
    used = re.findall(r"uses: (.*)", text)
    assert used
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each) for each in used)
    # One version of each action everywhere.
    assert len({each.split("@")[0] for each in used}) == len(set(used))
    content = yaml_of(workflow)
    assert content["permissions"] == {}
    for job in content["jobs"].values():
        assert job["timeout-minutes"] <= 90
        assert job["permissions"]
        assert "latest" not in str(job["runs-on"])


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda file: file.name)
def test_a_workflow_calls_what_is_there(workflow: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE))
    for step in steps_of(workflow):
        for words in (line.split() for line in step.get("run", "").splitlines()):
            if words[:1] == ["make"]:
                assert {word for word in words[1:] if "=" not in word} <= targets
            for program in (word for word in words if word.startswith(".ci/")):
                assert (ROOT / program).is_file()


def test_a_release_needs_every_wheel_and_publishing_is_a_choice() -> None:
    content = yaml_of(ROOT / ".github" / "workflows" / "release.yml")
    jobs = content["jobs"]
    # YAML's `on` is true.
    assert content[True]["push"]["tags"] == ["v*"]
    assert set(jobs["release"]["needs"]) == {"notes", "wheel", "sdist"}
    assert {runner.split("-")[0] for runner in jobs["wheel"]["strategy"]["matrix"]["runner"]} == {
        "ubuntu",
        "macos",
    }
    assert jobs["publish"]["if"] == "github.ref_type == 'tag' && vars.PUBLISH == 'true'"
    assert (jobs["publish"]["permissions"], jobs["publish"]["environment"]) == ({"id-token": "write"}, "pypi")


@pytest.mark.parametrize("form", FORMS, ids=lambda file: file.name)
def test_a_form_for_issues_has_fields_with_names_of_their_own(form: Path) -> None:
    content = yaml_of(form)
    assert {"name", "description", "body"} <= set(content)
    fields = [field["id"] for field in content["body"] if field["type"] != "markdown"]
    assert fields
    assert len(fields) == len(set(fields))


def test_the_form_for_bugs_asks_for_what_repeats_a_run() -> None:
    body = yaml_of(ROOT / ".github" / "ISSUE_TEMPLATE" / "bug.yml")["body"]
    needed = {field["id"] for field in body if field.get("validations", {}).get("required")}
    assert {"scenario", "seed", "version", "command"} <= needed
    assert "run" in {field.get("id") for field in body}


def test_hooks_call_programs_that_are_pinned_or_here() -> None:
    pinned = {line.split("==")[0] for line in text_of("requirements/dev.lock").splitlines()}
    (repository,) = yaml_of(ROOT / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    for hook in repository["hooks"]:
        program, *words = hook["entry"].split()
        if program == ".venv/bin/python":
            assert (ROOT / words[0]).is_file()
        else:
            assert program == "cargo" or program.removeprefix(".venv/bin/") in pinned
        assert hook["language"] == "system"


def test_requirements_of_one_package_are_the_same_in_every_lock_file() -> None:
    versions: dict[str, set[str]] = {}
    for name in ("dev", "release"):
        for line in text_of(f"requirements/{name}.lock").splitlines():
            if not line.startswith("#"):
                package, version = line.split("==")
                versions.setdefault(package.lower(), set()).add(version)
    assert {package: each for package, each in versions.items() if len(each) > 1} == {}


def test_the_image_is_made_of_what_the_wheel_needs() -> None:
    let_in = {
        line.removeprefix("!") for line in text_of(".dockerignore").splitlines() if line.startswith("!")
    }
    assert all((ROOT / name).exists() for name in let_in)
    project = toml_of("pyproject.toml")
    needed = {"Cargo.toml", "Cargo.lock", "Makefile", "pyproject.toml", "crates", "lab", "requirements"}
    needed |= {project["project"]["readme"], *project["project"]["license-files"]}
    needed |= {
        project["tool"]["maturin"]["python-source"],
        *(link.name for link in FOLDER.iterdir() if link.is_symlink()),
    }
    assert let_in == needed
    assert not any(
        ":latest" in line for line in text_of("Dockerfile").splitlines() if line.startswith("FROM")
    )


@pytest.mark.parametrize("name", ["scenarios", "studies"])
def test_ready_files_are_part_of_the_package(name: str) -> None:
    assert (FOLDER / name).samefile(ROOT / name)
    (pattern,) = toml_of("pyproject.toml")["tool"]["maturin"]["include"]
    assert set((ROOT / name).rglob("*.*")) <= {file.resolve() for file in ROOT.glob(pattern)}


def test_ready_files_are_found_from_everywhere(floodway: Command, tmp_path: Path) -> None:
    listed = floodway("list", "scenarios").out.splitlines()
    assert any(line.startswith("scenarios/demo.toml ") for line in listed)
    assert any(
        line.startswith("studies/example.toml ") for line in floodway("list", "studies").out.splitlines()
    )
    assert floodway("check", "scenarios/demo.toml").code == 0
    assert floodway("study", "studies/example.toml", "--status").code == 0
    missing = floodway("check", "scenarios/nothing.toml")
    assert (
        missing.err
        == "error: scenarios/nothing.toml: cannot read it: No such file or directory (os error 2)\n"
    )
    # A file of one's own comes first.
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "demo.toml").write_text("what = 1\n")
    assert floodway("check", "scenarios/demo.toml").code == 2


@pytest.mark.parametrize(
    "path", ["scenarios/../demo.toml", "demo.toml", "/scenarios/demo.toml", "tests/demo.toml"]
)
def test_other_paths_stay_as_they_are(path: str) -> None:
    assert resolved(Path(path)) == Path(path)


def test_comments_and_pages_are_no_wider_than_their_width(capsys: pytest.CaptureFixture[str]) -> None:
    assert (widths.main([]), capsys.readouterr().out) == (0, "")


def test_widths_are_those_of_the_formatters() -> None:
    assert toml_of("pyproject.toml")["tool"]["ruff"]["line-length"] == widths.CODE
    sections = dict(re.findall(r"\[(.*)\]\n(?:.*\n)*?max_line_length = (\d+)", text_of(".editorconfig")))
    assert sections == {"*": str(widths.CODE), "*.md": str(widths.MARKDOWN)}


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        (
            "a.rs",
            ["    /// " + "word " * 25],
            ["    /// " + ("word " * 20).strip(), "    /// " + ("word " * 5).strip()],
        ),
        ("a.toml", ["# " + "word " * 25], ["# " + ("word " * 21).strip(), "# " + ("word " * 4).strip()]),
        ("a.md", ["- " + "word " * 25], ["- " + ("word " * 23).strip(), "  word word"]),
        # A code span stays on one line.
        ("a.md", ["word " * 23 + "`a b c`"], [("word " * 23).strip(), "`a b c`"]),
        # A line does not begin with what Markdown takes for an item.
        ("a.md", ["word " * 24 + "- word"], [("word " * 23).strip(), "word - word"]),
    ],
)
def test_paragraphs_that_are_too_wide_are_wrapped(name: str, before: list[str], after: list[str]) -> None:
    rule = widths.width_of(name)
    assert rule is not None
    before = [line.rstrip() for line in before]
    assert widths.too_wide(before, *rule)
    assert widths.fixed(before, *rule) == after
    assert widths.fixed(after, *rule) == after


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("a.md", ["| " + "word " * 40 + "|"]),
        ("a.md", ["```", "word " * 40, "```"]),
        ("a.md", ["https://example.org/" + "x" * 120]),
        ("a.md", ["# " + "word " * 40]),
        ("a.rs", ["//! ```", "//! " + "word " * 40, "//! ```"]),
        ("a.rs", ['let text = "' + "word " * 40 + '";']),
        ("a.toml", ['key = "' + "word " * 40 + '"']),
        ("a.toml", ["# floodway run scenarios/demo.toml " + "--set a=1 " * 10]),
    ],
)
def test_what_cannot_be_wrapped_stays(name: str, lines: list[str]) -> None:
    rule = widths.width_of(name)
    assert rule is not None
    assert widths.fixed(lines, *rule) == lines


@pytest.mark.parametrize(
    ("message", "faults"),
    [
        ("Drop packets that no route leads to\n\nThey waited for ever.\n", []),
        ("Merge branch 'main' into a branch that has a name which is longer than 72 characters", []),
        ("", ["there is no subject"]),
        (
            "x" * 73,
            [
                "the subject has 73 characters; at most 72 are allowed",
                "the subject begins with a small letter",
            ],
        ),
        ("Drop packets.", ["the subject ends with a full stop"]),
        ("Drop packets\nof others", ["no blank line follows the subject"]),
        ("# Only a comment\nDrop packets\n# Another", []),
    ],
)
def test_subjects_of_commits_are_short(message: str, faults: list[str]) -> None:
    assert commit_message.faults(message) == faults
