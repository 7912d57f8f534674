"""Networks from graphs of other programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Protocol

from floodway.builders import Explicit, Listed, ListedLink, TaggedNode
from floodway.common.errors import GraphError
from floodway.common.names import nearest, not_a_choice

__all__ = ["Graph", "from_networkx"]

Attributes = Mapping[str, object]
#: Attributes that are read; others are ignored unless their names are nearly one of these.
NODE_ATTRIBUTES = ("kind", "tags")
EDGE_ATTRIBUTES = ("rate", "delay", "length", "name", "tags", "count")
KINDS = ("host", "switch")
#: An example of each quantity, for errors.
_WRITTEN = {"rate": '"400G"', "delay": '"10us"', "length": '"80km"'}
#: A scenario's names are matched by globs and paths, and `h1..h4` is a range.
_NOT_IN_NAMES = (",", ">", "*", "?", '"', "..")


class Graph(Protocol):
    """The part of `networkx.Graph` and `MultiGraph` that is used; the package itself is not needed."""

    def is_directed(self) -> bool:
        """Whether edges have a direction."""

    def nodes(self, *, data: bool) -> Iterable[tuple[object, Attributes]]:
        """Its nodes with their attributes."""

    def edges(self, *, data: bool) -> Iterable[tuple[object, object, Attributes]]:
        """Its edges with their attributes."""


def from_networkx(
    graph: Graph,
    *,
    kind: Literal["host", "switch"] | None = None,
    rate: str | None = None,
    delay: str | None = None,
    length: str | None = None,
) -> Explicit:
    """Return a graph as the topology of a scenario.

    A node's name is its text. Nodes and links are in the order of the graph, and so are the ports of a node.
    Parallel edges of a `MultiGraph` become parallel links.

    Parameters
    ----------
    graph
        An undirected `networkx.Graph` or `MultiGraph`. Attributes of nodes: `kind` (`"host"` or
        `"switch"`) and `tags` (texts). Attributes of edges: `rate` (`"400G"`), `delay` (`"10us"`) or
        `length` (`"80km"`), and optionally `name`, `tags`, and `count` (number of identical links). Other
        attributes are ignored, but a name that is nearly one of these is an error.
    kind
        The kind of nodes without that attribute.
    rate, delay, length
        The attributes of edges without them, each a text with its unit; either delay or length.

    Returns
    -------
    Explicit
        The builder of `topology.explicit`.

    Raises
    ------
    GraphError
        If the graph is directed, or a node or an edge is invalid; `place` names it, `key` its attribute.

    Examples
    --------
    >>> import networkx
    >>> graph = networkx.Graph()
    >>> graph.add_nodes_from(["h1", "h2"], kind="host")
    >>> graph.add_edge("h1", "s1", rate="100G")
    >>> graph.add_edge("h2", "s1")
    >>> topology = from_networkx(graph, kind="switch", rate="10G", delay="1us")
    >>> [link.to_dict() for link in topology.links]
    [{'between': ['h1', 's1'], 'rate': '100G'}, {'between': ['h2', 's1']}]
    """
    _refuse_other(graph)
    common = _quantities({"rate": rate, "delay": delay, "length": length}, "the defaults")
    nodes = _nodes(graph, kind)
    return Explicit(
        hosts=[node for node, node_kind in nodes if node_kind == "host"],
        switches=[node for node, node_kind in nodes if node_kind == "switch"],
        links=[
            ListedLink.from_dict(_link((a, b), attributes, common))
            for a, b, attributes in graph.edges(data=True)
        ],
        **common,
    )


def _refuse_other(graph: object) -> None:
    if not all(hasattr(graph, name) for name in ("is_directed", "nodes", "edges")):
        type_name = type(graph).__name__
        raise GraphError(f"a {type_name} is not a graph of networkx", given=type_name)
    if graph.is_directed():  # type: ignore[attr-defined]
        raise GraphError(
            "the graph is directed, and every link has both directions; use graph.to_undirected()",
            given=type(graph).__name__,
        )


def _nodes(graph: Graph, kind: str | None) -> list[tuple[Listed, str]]:
    """Return each node as the scenario lists it, with its kind."""
    nodes: dict[str, tuple[Listed, str]] = {}
    for node, attributes in graph.nodes(data=True):
        name = str(node)
        subject = f"node {name!r}"
        _refuse_name(name, subject)
        if name in nodes:
            raise GraphError(f"{subject}: two nodes have this name", place=subject, given=name)
        _refuse_nearly(attributes, NODE_ATTRIBUTES, subject)
        tags = _tags(attributes, subject)
        nodes[name] = (TaggedNode(name=name, tags=tags) if tags else name, _kind(attributes, kind, subject))
    if not nodes:
        raise GraphError("the graph has no nodes")
    return list(nodes.values())


def _kind(attributes: Attributes, default: str | None, subject: str) -> str:
    kind = attributes.get("kind", default)
    if kind is None:
        message = f"{subject}: has no attribute 'kind'; allowed: {', '.join(KINDS)}; or give a kind for all"
        raise GraphError(message, place=subject, key="kind", allowed=KINDS)
    if kind not in KINDS:
        text, near = not_a_choice(str(kind), noun="a kind", allowed=KINDS)
        raise GraphError(
            f"{subject}: {text}", place=subject, key="kind", given=str(kind), allowed=KINDS, nearest=near
        )
    return str(kind)


def _link(ends: tuple[object, object], attributes: Attributes, common: Attributes) -> dict[str, object]:
    between = (str(ends[0]), str(ends[1]))
    subject = f"edge {between[0]!r} - {between[1]!r}"
    if between[0] == between[1]:
        raise GraphError(f"{subject}: a node is linked with itself", place=subject)
    _refuse_nearly(attributes, EDGE_ATTRIBUTES, subject)
    quantities = _quantities(attributes, subject)
    for keys in (("rate",), ("delay", "length")):
        if not any(key in quantities or key in common for key in keys):
            names = " or ".join(map(repr, keys))
            message = f"{subject}: has no attribute {names}; give it one, or a default for all"
            raise GraphError(message, place=subject, key=keys[0], allowed=keys)
    tags = _tags(attributes, subject)
    return {
        "between": between,
        **quantities,
        **_name_and_count(attributes, subject),
        **({"tags": tags} if tags else {}),
    }


def _quantities(attributes: Attributes, subject: str) -> dict[str, str]:
    """Return rate and delay or length, each a text with its unit."""
    quantities: dict[str, str] = {}
    for key in (key for key in _WRITTEN if attributes.get(key) is not None):
        value = attributes[key]
        if not isinstance(value, str):
            message = f"{subject}: {key} is {value!r}, and its unit is missing; write it like {_WRITTEN[key]}"
            raise GraphError(message, place=subject, key=key, given=repr(value))
        quantities[key] = value
    if "delay" in quantities and "length" in quantities:
        message = f"{subject}: has a delay and a length; give one of the two"
        raise GraphError(message, place=subject, key="delay", given=str(quantities["delay"]))
    return quantities


def _name_and_count(attributes: Attributes, subject: str) -> dict[str, object]:
    """Return name and count."""
    keys: dict[str, object] = {}
    if attributes.get("name") is not None:
        keys["name"] = str(attributes["name"])
        _refuse_name(str(attributes["name"]), subject)
    count = attributes.get("count")
    if count is not None:
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            message = f"{subject}: count is {count!r}, allowed: a whole number of at least 1"
            raise GraphError(message, place=subject, key="count", given=repr(count))
        keys["count"] = count
    return keys


def _tags(attributes: Attributes, subject: str) -> list[str]:
    tags = attributes.get("tags", ())
    if isinstance(tags, str):
        return [tags]
    if not isinstance(tags, Sequence | set | frozenset) or not all(isinstance(tag, str) for tag in tags):
        message = f"{subject}: tags are {tags!r}, allowed: a list of strings"
        raise GraphError(message, place=subject, key="tags", given=repr(tags))
    # A set has no order that is the same in every process.
    return sorted(tags) if isinstance(tags, set | frozenset) else list(tags)


def _refuse_name(name: str, subject: str) -> None:
    wrong = next((sign for sign in _NOT_IN_NAMES if sign in name), None)
    if not name or wrong is not None:
        why = "it is empty" if not name else f"{wrong!r} is in it"
        raise GraphError(f"{subject}: is not a name for a scenario: {why}", place=subject, given=name)


def _refuse_nearly(attributes: Attributes, names: Sequence[str], subject: str) -> None:
    """Refuse misspelt attributes of ours; graphs have many other attributes, which are ignored."""
    for attribute in attributes:
        near = None if attribute in names else nearest(str(attribute), names)
        if near is not None and near not in attributes:
            text, _ = not_a_choice(str(attribute), noun="an attribute", allowed=names)
            raise GraphError(
                f"{subject}: {text}",
                place=subject,
                key=str(attribute),
                given=str(attribute),
                allowed=tuple(names),
                nearest=near,
            )
