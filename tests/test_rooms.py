"""Limits of the sources: the length of a file, and which files and rooms may import each other."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx  # type: ignore[import-untyped]
import pytest

if TYPE_CHECKING:
    from collections.abc import Container

CRATES = Path(__file__).parent.parent / "crates"
FABRIC = CRATES / "fabric" / "src"
PYTHON = Path(__file__).parent.parent / "python" / "floodway"
LAB = Path(__file__).parent.parent / "lab" / "floodway_lab"
#: Packages and modules on the top floor of `python/floodway`, and how many import one another in a row.
MOST_ROOMS, MOST_FLOORS = 10, 10
#: Lines of a file. Tests that have a file of their own may be longer.
LONGEST = 600
#: Files that import each other, directly or over others.
LARGEST_CIRCLE = 3

#: By crate that has rooms, types whose methods are in several of them: none is added, and a room that goes,
#: goes here.
SPREAD: dict[str, dict[str, set[str]]] = {
    "blueprint": {
        "Blueprint": {"bounds", "network"},
        "Facts": {"bounds", "network"},
        "PoissonSpec": {"network", "traffic"},
    },
    "fabric": {
        "At": {"run", "switch"},
        "AtHost": {"host", "run", "switch"},
        "AtSwitch": {"run", "switch"},
    },
    "records": {},
}
#: Methods of what has all of any node, of a host, of a switch, or of the network: what follows what, and no
#: state of their own.
MOST_METHODS = {"At": 78, "AtHost": 45, "AtSwitch": 55, "AtNode": 12, "World": 23}

_TESTS = re.compile(r"#\[cfg\(test\)\]\nmod tests(?:;\n| \{.*)", re.DOTALL)
_USE = re.compile(r"\buse ([a-z_]+)::([^;]+);")
_PATH = re.compile(r"(?<![:\w])([a-z_]+)::((?:[a-z_]+::)*)")
_COMMENT = re.compile(r"//.*")
_TYPE = re.compile(r"^\s*(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|type) (\w+)", re.MULTILINE)
_IMPL = re.compile(r"^impl(?:<[^>]*>)? (\w+)(?:<[^{]*>)? \{(.*?)^\}", re.MULTILINE | re.DOTALL)
_METHOD = re.compile(r"^    (?:pub(?:\([^)]*\))? )?(?:const )?fn \w+", re.MULTILINE)


def _expanded(path: str) -> list[str]:
    """`a::{b, c::{d, e}}` as `a::b`, `a::c::d`, `a::c::e`."""
    before, brace, inner = path.strip().partition("{")
    if not brace:
        return [before.split(" as ")[0]]
    parts, depth = [""], 0
    for char in inner[: inner.rindex("}")]:
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [before + each for part in parts if part.strip() for each in _expanded(part)]


def _place(path: list[str], module: str, files: Container[str]) -> list[str]:
    """What a path names in its crate: one of another crate names nothing."""
    own = [] if module in ("lib", "main") else module.split("::")
    base, *rest = path
    if base == "crate":
        return rest
    if base not in ("self", "super"):
        # A module of this one, without `self::`.
        return [*own, *path] if "::".join([*own, base]) in files else []
    up = 1 if base == "super" else 0
    while rest and rest[0] == "super":
        up, rest = up + 1, rest[1:]
    return [*own[: len(own) - up], *rest]


def _imports(root: Path) -> nx.DiGraph:
    """Modules of a crate, and an edge from each to those whose names it uses."""
    files = {
        "::".join(file.relative_to(root).with_suffix("").parts).removesuffix("::mod"): file
        for file in root.rglob("*.rs")
    }
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from(files)
    for module, file in files.items():
        text = _COMMENT.sub("", _TESTS.sub("", file.read_text(encoding="utf-8")))
        used = [(base, path) for base, paths in _USE.findall(text) for path in _expanded(paths)]
        used += _PATH.findall(_USE.sub("", text))
        for base, path in used:
            parts = _place([base, *path.strip(":").split("::")], module, files)
            names = ("::".join(parts[:count]) for count in range(len(parts), 0, -1))
            target = next((name for name in names if name in files), None)
            if target is not None and target != module:
                graph.add_edge(module, target)
    return graph


@pytest.mark.parametrize(
    "crate", sorted(folder.name for folder in CRATES.iterdir() if (folder / "src").is_dir())
)
def test_no_file_is_longer_than_one_can_keep_in_mind(crate: str) -> None:
    lines = {
        str(file.relative_to(CRATES)): len(file.read_text(encoding="utf-8").splitlines())
        for file in (CRATES / crate / "src").rglob("*.rs")
        if file.name != "tests.rs"
    }
    assert {file: count for file, count in lines.items() if count > LONGEST} == {}


@pytest.mark.parametrize("crate", SPREAD)
def test_circles_of_files_are_small(crate: str) -> None:
    graph = _imports(CRATES / crate / "src")
    assert graph.number_of_edges() > graph.number_of_nodes()
    circles = [sorted(circle) for circle in nx.strongly_connected_components(graph)]
    assert [circle for circle in circles if len(circle) > LARGEST_CIRCLE] == []


def _rooms_of_types(root: Path) -> tuple[dict[str, set[str]], dict[str, set[str]], Counter[str]]:
    """Rooms that define each type, rooms that have methods of it, and how many methods it has."""
    defined: dict[str, set[str]] = defaultdict(set)
    extended: dict[str, set[str]] = defaultdict(set)
    methods: Counter[str] = Counter()
    for file in root.rglob("*.rs"):
        room = file.relative_to(root).parts[0].removesuffix(".rs")
        text = _COMMENT.sub("", _TESTS.sub("", file.read_text(encoding="utf-8")))
        for name in _TYPE.findall(text):
            defined[name].add(room)
        for name, body in _IMPL.findall(text):
            extended[name].add(room)
            methods[name] += len(_METHOD.findall(body))
    return defined, extended, methods


def _spread(root: Path) -> dict[str, set[str]]:
    defined, extended, _ = _rooms_of_types(root)
    return {
        name: rooms | defined[name]
        for name, rooms in extended.items()
        if name in defined and rooms - defined[name]
    }


@pytest.mark.parametrize("crate", SPREAD)
def test_methods_of_a_type_are_in_its_room(crate: str) -> None:
    assert _spread(CRATES / crate / "src") == SPREAD[crate]


def test_what_has_all_of_a_node_gets_no_more_methods() -> None:
    _, _, methods = _rooms_of_types(FABRIC)
    assert {name: methods[name] for name in MOST_METHODS} == MOST_METHODS


def test_links_know_neither_switches_nor_hosts() -> None:
    modules = _imports(FABRIC)
    named = [
        (one, other)
        for one, other in modules.edges
        if one.split("::")[0] == "link" and other.split("::")[0] in {"switch", "host"}
    ]
    assert named == []
    assert not any("link" in rooms for name, rooms in SPREAD["fabric"].items() if name.startswith("At"))


def test_a_method_outside_its_room_is_found(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "one.rs").write_text(
        "pub(crate) struct One<T>(T);\nimpl<T> One<T> {\n    fn f() {}\n}\n"
    )
    (tmp_path / "b" / "two.rs").write_text("impl One<u8> {\n    pub const fn g() {}\n}\nimpl Other {\n}\n")
    assert _spread(tmp_path) == {"One": {"a", "b"}}
    assert _rooms_of_types(tmp_path)[2]["One"] == 2


def test_a_circle_is_found(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "a.rs").write_text("use crate::b::{c::C, D};\nuse std::fmt;\n")
    (tmp_path / "b" / "mod.rs").write_text("pub mod c;\n")
    (tmp_path / "b" / "c.rs").write_text(
        "#[cfg(test)]\nmod tests;\nfn f() { crate::a::g() }\n#[cfg(test)]\nmod tests { use crate::b::X; }\n"
    )
    (tmp_path / "b" / "d.rs").write_text("mod e;\npub use e::E;\nuse floodway_units::e::F;\n")
    (tmp_path / "b" / "d").mkdir()
    (tmp_path / "b" / "d" / "e.rs").write_text(
        "use super::super::c::C;\nfn f(_: super::D) {}\nfn g() { super::h::i() }"
    )
    edges = {
        ("a", "b::c"),
        ("a", "b"),
        ("b::c", "a"),
        ("b::d", "b::d::e"),
        ("b::d::e", "b::c"),
        ("b::d::e", "b::d"),
    }
    assert set(_imports(tmp_path).edges) == edges


def _python_files(root: Path) -> dict[str, Path]:
    """Modules of a package by their names."""
    return {
        ".".join(file.relative_to(root.parent).with_suffix("").parts).removesuffix(".__init__"): file
        for file in root.rglob("*.py")
    }


def _for_types_alone(tree: ast.Module) -> set[ast.AST]:
    return {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for statement in node.body
        for inner in ast.walk(statement)
    }


def _python_imports(root: Path) -> nx.DiGraph:
    """Modules of a package, and an edge from each to those that it imports, at once or in a function."""
    files = _python_files(root)
    graph: nx.DiGraph = nx.DiGraph()
    graph.add_nodes_from(files)
    for module, file in files.items():
        tree = ast.parse(file.read_text(encoding="utf-8"))
        ignored = _for_types_alone(tree)
        names: list[tuple[str, ...]] = []
        for node in ast.walk(tree):
            if node in ignored:
                continue
            if isinstance(node, ast.ImportFrom) and node.module:
                names += [(f"{node.module}.{each.name}", node.module) for each in node.names]
            elif isinstance(node, ast.Import):
                names += [(each.name,) for each in node.names]
        for either in names:
            target = next((name for name in either if name in files), None)
            if target is not None and target != module:
                graph.add_edge(module, target)
    return graph


def _room(module: str) -> str:
    """The package of a module on the top floor, and `.` for the top itself."""
    return ".".join(module.split(".")[1:2]) or "."


def _rooms(modules: nx.DiGraph) -> nx.DiGraph:
    rooms = nx.DiGraph((_room(one), _room(other)) for one, other in modules.edges)
    rooms.remove_edges_from(list(nx.selfloop_edges(rooms)))
    return rooms


@pytest.mark.parametrize("package", [PYTHON, LAB], ids=lambda folder: folder.name)
def test_rooms_of_python_import_each_other_in_no_circle(package: Path) -> None:
    modules = _python_imports(package)
    assert modules.number_of_edges() > modules.number_of_nodes()
    rooms = _rooms(modules)
    circles = [sorted(circle) for circle in nx.strongly_connected_components(rooms) if len(circle) > 1]
    assert circles == []
    assert nx.dag_longest_path_length(rooms) < MOST_FLOORS


def test_the_top_floor_of_the_package_has_few_rooms() -> None:
    rooms = {_room(module) for module in _python_files(PYTHON)} - {".", "__main__"}
    assert len(rooms) <= MOST_ROOMS, sorted(rooms)


def test_the_package_does_not_import_the_laboratory() -> None:
    found = [
        f"{file.relative_to(PYTHON)}:{node.lineno}"
        for file in PYTHON.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if (isinstance(node, ast.ImportFrom) and (node.module or "").startswith(LAB.name))
        or (isinstance(node, ast.Import) and any(each.name.startswith(LAB.name) for each in node.names))
    ]
    assert found == []


def test_results_import_nothing_that_draws_or_explains_them() -> None:
    above = ("floodway.plot", "floodway.simulation", "floodway.comparison", "floodway.study")
    found = [
        (one, other)
        for one, other in _python_imports(PYTHON).edges
        if one.startswith("floodway.results") and other.startswith(above)
    ]
    assert found == []


def test_an_import_of_python_is_found(tmp_path: Path) -> None:
    package = tmp_path / "p"
    (package / "b").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "b" / "__init__.py").write_text("def f():\n    from p.a import g\n")
    (package / "a.py").write_text(
        "from typing import TYPE_CHECKING\nfrom p import b\nif TYPE_CHECKING:\n    import p.b.c\n"
    )
    (package / "b" / "c.py").write_text("import p.a\n")
    assert set(_python_imports(package).edges) == {("p.b", "p.a"), ("p.a", "p.b"), ("p.b.c", "p.a")}
