"""Every example of the README and of the documentation runs."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import floodway
from command import Command

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]

#: Calls that need what others have written.
LAST = ("floodway plot", "floodway verify", "floodway why", "floodway report", "floodway export perfetto")
#: What nothing else needs, with what an example of it calls.
EXTRAS = {"pandas": ".to_pandas(", "pyarrow": ".to_arrow("}

#: What a part of a scenario stands in.
AROUND = """
limit = "5ms"
topology.dumbbell = { left = 2, right = 2, rate = "100G", delay = "1us" }
"""
TRAFFIC = """
[[workload]]
name = "burst"
burst = { from = "h1", to = "h3", size = "10KB" }
"""
DEEP = """
topology.single-switch = { hosts = 4, rate = "400G", delay = "1us" }

[[workload]]
name = "llama"

[workload.training]
model = { layers = 32, hidden = 64, sequence = 128, parameters = 3200000 }
forward = "1ms"
pipeline = 4
micro-batches = 16
"""


def blocks(page: Path, language: str) -> list[str]:
    """Return the blocks of code of a page that are in a language; none for those that name no language."""
    text = page.read_text(encoding="utf-8")
    fences = re.findall(r"^```(\w*)[^\n]*\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    return [code for named, code in fences if named == language]


def commands(pages: Sequence[Path]) -> Iterator[str]:
    """Find every call of the command line on these pages, in blocks and in code spans."""
    for page in pages:
        for block in (*blocks(page, ""), *blocks(page, "bash"), *blocks(page, "text")):
            # What an extension needs is called where one is built, in another test.
            if "maturin develop" in block:
                continue
            lines = re.sub(r"\\\n *", "", block)
            yield from re.findall(r"^ *(floodway (?!COMMAND|\[)[a-z].+)$", lines, flags=re.MULTILINE)
        spans = re.findall(r"`(floodway [a-z]+ [^`]*\.toml[^`]*)`", page.read_text(encoding="utf-8"))
        yield from (" ".join(span.split()) for span in spans)


def in_order(*pages: Path) -> list[str]:
    """Return the calls of pages without repetition; those that draw what others have run come last."""
    found = dict.fromkeys(command.partition(" #")[0].strip() for command in commands(pages))
    runnable = [command for command in found if not re.search(r"[A-Z]{3,}|\.\.\.|…", command)]
    return sorted(runnable, key=lambda command: command.startswith(LAST))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which the examples find what they find in a clone."""
    made = tmp_path_factory.mktemp("examples")
    for ready in ("scenarios", "studies", "benchmarks"):
        shutil.copytree(ROOT / ready, made / ready)
    (made / "out").mkdir()
    (own,) = blocks(ROOT / "README.md", "toml")
    (made / "mine.toml").write_text(own, encoding="utf-8")
    own_control, *_ = blocks(ROOT / "docs" / "your-own-control.md", "python")
    (made / "mine.py").write_text(own_control, encoding="utf-8")
    # A rate control and its study.
    tutorial = ROOT / "docs" / "paper-in-a-day.md"
    for name, language in (("converge.py", "python"), ("paper.toml", "toml")):
        (own_file,) = blocks(tutorial, language)
        (made / name).write_text(own_file, encoding="utf-8")
    # What an operator has: a question, and the files of a switch.
    (made / "plan.toml").write_text('rate = "100G"\nlength = "2km"\nbuffer = "64MB"\n', encoding="utf-8")
    sonic = ("plan", "--rate", "400G", "--length", "2km", "--buffer", "64MB", "--asic", "tomahawk-3")
    assert Command(made)(*sonic, "--no-simulate", "--sonic", "out/sonic", "--quiet").code == 0
    for name in ("pg_profile_lookup.ini", "config_db.json"):
        shutil.copy(made / "out" / "sonic" / name, made / name)
    # A cluster, and what nccl-tests print on it.
    shutil.copy(made / "scenarios" / "nccl-two-nodes.toml", made / "cluster.toml")
    table = Command(made)("plot", "busbw", "cluster.toml", "-b", "1M", "-e", "4M", "--quiet", "--full")
    assert table.code == 0, table.err
    (made / "all_reduce.log").write_text(table.out.partition("As nccl-tests report:\n")[2], encoding="utf-8")
    # An iteration of a model of 32 layers, of 16 micro-batches.
    (made / "llama.toml").write_text(DEEP, encoding="utf-8")
    # The demonstration is in many examples; a tenth of its traffic shows as well that they run.
    demo = made / "scenarios" / "demo.toml"
    text = demo.read_text(encoding="utf-8")
    assert text.count('until = "50ms"') == 1
    demo.write_text(text.replace('until = "50ms"', 'until = "5ms"'), encoding="utf-8")
    return made


def test_there_are_examples() -> None:
    assert len(in_order(README)) > 5
    assert len(in_order(*PAGES)) > 20


def quick(command: str) -> bool:
    """Whether a command runs nothing, and reads nothing that another has written."""
    return command.split()[1] in ("check", "explain", "list", "import")


@pytest.mark.parametrize("command", dict.fromkeys([*in_order(README), *filter(quick, in_order(*PAGES))]))
def test_a_command_of_the_readme_or_a_quick_one_runs(command: str, folder: Path) -> None:
    runs(command, folder)


@pytest.mark.long
@pytest.mark.parametrize("command", in_order(*PAGES))
def test_a_command_of_the_documentation_runs(command: str, folder: Path) -> None:
    runs(command, folder)


def runs(command: str, folder: Path) -> None:
    reads_lists = any(words in command for words in ("swing-80km", "reproduce swing", "reproduce themis"))
    if reads_lists and "FLOODWAY_REFERENCE" not in os.environ:
        pytest.skip("FLOODWAY_REFERENCE names no folder of the flow lists that authors published")
    words = re.split(r" [|>] ", command)[0]
    _, *arguments = shlex.split(words)
    if arguments[0] == "reproduce":
        # Figures take minutes and more; the status reads every study and its scenarios.
        arguments.append("--status")
        if not all((ROOT / "studies" / word).is_dir() for word in arguments[1:] if word.isalpha()):
            pytest.skip("the studies of a paper are not there")
    if "benchmarks/" in command:
        # Measurements take minutes; that their files are as the command says shows as well that they run.
        arguments = [*arguments[:2], "--status"] if arguments[0] == "study" else ["check", *arguments[1:4]]
    if arguments[0] in ("run", "compare", "plot") and not {"--force", "--shard"} & {*arguments}:
        arguments.append("--force")
    if arguments[0] == "lint" and "/etc/sonic" in command:
        pytest.skip("it is a file of a switch")
    if arguments[0] == "plan":
        if {"--out", "--sonic"} & {*arguments}:
            arguments.append("--force")
        # Several kinds of links of 120 km take minutes, and the others show as well that they run.
        if "regional-hub" in command:
            arguments.append("--no-simulate")
    done = Command(folder)(*arguments)
    # A strict run that starves a buffer, and a deadlock, fail as their pages say.
    may_fail = "--strict" in arguments or "ring-deadlock" in command or " lint " in command
    assert done.code in ({0, 1} if may_fail else {0}), done.err


# Some read what the commands have written.
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=() if page == README else pytest.mark.long) for page in PAGES],
    ids=lambda page: page.stem,
)
def test_the_python_of_a_page_runs(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    names: dict[str, object] = {}
    missing: set[str] = set()
    for block in blocks(page, "python"):
        needed = {name for name, use in EXTRAS.items() if use in block and not importlib.util.find_spec(name)}
        missing |= needed
        if not needed:
            exec(compile(block, page.name, "exec"), names)  # noqa: S102 (our own pages)
    if missing:
        pytest.skip(
            f"{' and '.join(sorted(missing))} of floodway[pandas] are not installed: the rest of it runs"
        )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_scenarios_of_a_page_are_right(page: Path) -> None:
    for block in blocks(page, "toml"):
        for text in whole(block):
            read = floodway.Scenario.from_toml(text, name=page.name)
            assert read.warnings == () or text != block


def whole(block: str) -> list[str]:
    """Return a block as scenarios: it is one, or flows or overrides of one, or lines that may stand in one.

    Studies, claims and readings are not scenarios; the tests of studies run them.
    """
    if any(table in block for table in ("[[variant]]", "[[claim]]", "[[reading]]")):
        return []
    if "topology" in block:
        return [block]
    if "[[workload]]" in block:
        return [AROUND + block]
    if "[[override]]" in block:
        return [f"{AROUND}\n{block}\n{TRAFFIC}"]
    return [f"{AROUND}\n[defaults]\n{line}\n{TRAFFIC}" for line in block.splitlines() if line.strip()]
