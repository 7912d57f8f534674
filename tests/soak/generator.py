"""Random scenarios: small, mostly right, and with whatever the schema has in each slot.

Mechanisms and their parameters come from the schema, so a new one is tried as soon as it is there. Networks,
traffic and faults are made by hand, since they have to fit together. A scenario depends on its seed and the
schema alone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from values import LIKELY, Json, Values

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["SLOTS", "Generator", "toml"]

#: What a scenario may say, as `make generate` writes it.
SCHEMA = Path(__file__).parents[2] / "docs" / "scenario.schema.json"

_RATES = ("10G", "25G", "40G", "100G", "100G", "400G", "30G")
_DELAYS = ("100ns", "333ns", "1us", "1us", "2.5us", "5us")
_SIZES = ("1B", "64B", "999B", "1000B", "1001B", "4KB", "17777B", "64KiB", "100KB", "300KB")
_MTUS = ("1000B", "1000B", "1500B", "256B", "4096B", "1024B")
#: Classes that data may have.
_CLASSES = (0, 1, 2, 3, 4, 5, 7)
#: Of links that are longer than a switch takes to react; elsewhere refused, or with relays everywhere.
_FOR_LONG_LINKS = ("bifrost", "swing")
_PROFILES = ("hpcc-ns3", "swing-ns3", "conweave-ns3")


@dataclass(frozen=True)
class _Network:
    """A topology, and what its parts are called."""

    topology: Json
    hosts: int
    links: tuple[str, ...]
    switches: tuple[str, ...]
    #: One-way delay of its longest link, in microseconds.
    longest_us: float = 5.0
    tags: tuple[str, ...] = ()


class Generator:
    """Makes scenarios as JSON values."""

    def __init__(self) -> None:
        schema: Json = json.loads(SCHEMA.read_text(encoding="utf-8"))
        self._definitions: Json = schema["$defs"]

    def scenario(self, seed: int) -> Json:
        """Return the scenario of a seed."""
        return _Making(seed, self._definitions).scenario()

    def choices(self, slot: str) -> list[str]:
        """Return the names that can be chosen for a slot."""
        return _names(self._definitions[SLOTS[slot]])


def _names(definition: Json) -> list[str]:
    return [name for form in definition["anyOf"] for name in form.get("enum", ())]


class _Making(Values):
    """One scenario in the making."""

    def __init__(self, seed: int, definitions: Json) -> None:
        super().__init__(seed, definitions)
        self._limit_us = 400.0
        self._classes: list[int] = []
        #: The links in hand are long ones.
        self._is_long = False

    def scenario(self) -> Json:
        network = self._network()
        self._limit_us = self._random.choice((150.0, 300.0, 600.0)) + 8 * network.longest_us
        self._classes = self._random.sample(_CLASSES, self._random.choice((1, 1, 1, 2, 3)))
        document: Json = {
            "name": "soak",
            "seed": self._random.randrange(1 << 16),
            "mtu": self._one(_MTUS),
            "limit": self._time(self._limit_us),
            "topology": network.topology,
        }
        if self._often(0.12):
            document["profile"] = self._one(_PROFILES)
        if self._often(0.15):
            document["wire"] = self._value({"$ref": "#/$defs/Format"})
        if self._often(0.05):
            document["semantics"] = self._table("SemanticsKeys", given=0.15)
        if self._often(0.2):
            document["stop"] = self._one(("measured", "acknowledged", "limit"))
        if self._often(0.3):
            document["records"] = self._records()
        document["defaults"] = self._slots(_DEFAULTS, often=0.45)
        document["override"] = [self._override(network, i) for i in range(self._one((0, 1, 1, 2, 3)))]
        document["workload"] = [self._workload(network, i) for i in range(self._one((1, 1, 2, 3)))]
        return document

    # ---- networks

    def _network(self) -> _Network:
        makers = (
            self._line,
            self._line,
            self._leaf_spine,
            self._graph,
            self._graph,
            self._sites,
            self._sites,
        )
        make: Callable[[], _Network] = self._one(makers)
        return make()

    def _line(self) -> _Network:
        rate, delay = self._one(_RATES), self._one(_DELAYS)
        if self._often(0.5):
            left, right = self._one((1, 2, 3)), self._one((1, 2))
            table: Json = {"left": left, "right": right, "rate": rate, "delay": delay}
            if self._often(0.6):
                table["bottleneck"] = {"rate": self._one(_RATES), "delay": self._one((*_DELAYS, "50us"))}
            return _Network({"dumbbell": table}, left + right, ("s1-s2", "h1-s1"), ("s1", "s2"), 50.0)
        hosts = self._one((2, 3, 5))
        table = {"hosts": hosts, "rate": rate, "delay": delay, "links-per-host": self._one((1, 1, 2))}
        return _Network({"single-switch": table}, hosts, ("h1-s1*", "h2-s1*"), ("s1",))

    def _leaf_spine(self) -> _Network:
        leaves, hosts = self._one((2, 3)), self._one((1, 2))
        table = {"spines": self._one((1, 2, 3)), "leaves": leaves, "hosts": hosts}
        table |= {"rate": self._one(_RATES), "delay": self._one(_DELAYS), "parallel": self._one((1, 1, 2))}
        if leaves == 2 and self._often(0.3):
            table["homes"] = 2
            return _Network({"leaf-spine": table}, hosts, ("t1-c1*", "h1-t1*"), ("t1", "t2", "c1"))
        return _Network(
            {"leaf-spine": table}, leaves * hosts, ("t1-c1*", "t*-c1*", "h1-t1"), ("t1", "t2", "c1")
        )

    def _graph(self) -> _Network:
        """Make a random connected graph of switches, each with a host or two."""
        count = self._one((2, 3, 4, 5))
        switches = [f"s{i + 1}" for i in range(count)]
        pairs = [(switches[self._random.randrange(i)], switches[i]) for i in range(1, count)]
        for _ in range(self._one((0, 1, 2))):
            one, other = self._random.sample(switches, 2)
            pairs.append((one, other))
        links: list[Json] = [self._link(between) for between in dict.fromkeys(map(tuple, map(sorted, pairs)))]
        names = tuple("-".join(link["between"]) + "*" for link in links)
        hosts = 0
        for switch in switches:
            for _ in range(self._one((1, 1, 2))):
                hosts += 1
                links.append({"between": [f"h{hosts}", switch]})
        longest = max((link.get("length") == "20km") * 100.0 + 5 for link in links)
        table = {"hosts": [f"h1..h{hosts}"], "switches": switches, "links": links}
        table |= {"rate": self._one(_RATES), "delay": self._one(_DELAYS)}
        return _Network({"explicit": table}, hosts, (*names, "h1-*"), tuple(switches), longest)

    def _link(self, between: tuple[str, ...]) -> Json:
        link: Json = {"between": list(between)}
        if self._often(0.5):
            link["rate"] = self._one(_RATES)
        if self._often(0.3):
            link["length"] = self._one(("200m", "2km", "20km"))
        if self._often(0.15):
            link["count"] = 2
        return link

    def _sites(self) -> _Network:
        sites, length_km = self._one((2, 2, 3)), self._one((1, 10, 40, 120))
        fabric: Json = {"single-switch": {"hosts": self._one((1, 2))}}
        if self._often(0.3):
            fabric = {"leaf-spine": {"spines": 1, "leaves": 2, "hosts": 1}}
        each = fabric["single-switch"]["hosts"] if "single-switch" in fabric else 2
        rate, length = self._one(("25G", "100G")), f"{length_km}km"
        inside = {"fabric": fabric, "rate": self._one(("25G", "100G")), "delay": self._one(_DELAYS)}
        if sites == 2 and self._often(0.6):
            table = {**inside, "long-link": {"rate": rate, "length": length, "count": self._one((1, 1, 2))}}
            topology: Json = {"two-dc": table}
        else:
            kind = "ring" if sites > 2 else "full-mesh"
            topology = {"multi-dc": {**inside, "sites": sites, "long-links": {kind: length, "rate": rate}}}
        return _Network(topology, sites * each, ("x1-x2*",), ("x1", "x2"), 5.0 * length_km, ("long-haul",))

    # ---- choices

    def _slots(self, slots: Mapping[str, str], *, often: float) -> Json:
        table: Json = {}
        for key, definition in slots.items():
            if self._often(often):
                table[key] = self._slot(key, definition)
        return table

    def _slot(self, key: str, definition: str) -> object:
        special: Mapping[str, Callable[[], object]] = {
            "pipeline": lambda: self._one(("0ns", "450ns", "1us", "1ps")),
            "class": lambda: self._one(self._classes),
            "faults": lambda: self._faults(down=False, pause=False),
            "qp": lambda: self._value({"$ref": "#/$defs/Qp"}),
        }
        if key in special:
            return special[key]()
        if key in _USUAL and self._often(0.6):
            return self._one(_USUAL[key])
        if key == "flow-control" and len(self._classes) > 1 and self._often(0.3):
            return {f"class-{c}": self._choice(definition) for c in self._classes}
        if key in ("congestion-point", "rate-control") and self._often(0.2):
            return [self._choice(definition) for _ in range(2)]
        return self._choice(definition)

    def _choice(self, definition: str) -> object:
        form = self._definitions[definition]
        names = _names(form)
        if not self._is_long and self._often(0.9):
            names = [name for name in names if name not in _FOR_LONG_LINKS]
        name = self._one(names)
        if self._often(0.4):
            return name
        table = next(f for f in form["anyOf"] if name in f.get("properties", ()))
        return {name: self._value(table["properties"][name])}

    def _override(self, network: _Network, number: int) -> Json:
        name = f"o{number}"
        kind = self._one(("links", "links", "links", "switches", "flows"))
        if kind == "switches":
            selector: object = self._one(network.switches)
            slots = {
                key: _DEFAULTS[key]
                for key in ("buffer", "routing", "scheduler", "congestion-point", "pipeline")
            }
        elif kind == "flows":
            selector = "w*"
            slots = {key: _DEFAULTS[key] for key in ("rate-control", "reliability", "notification", "qp")}
        else:
            selector = {"tag": self._one(network.tags)} if network.tags else self._one(network.links)
            slots = {key: _DEFAULTS[key] for key in ("flow-control", "scheduler", "congestion-point")}
        self._is_long = kind == "links" and bool(network.tags)
        table = {"name": name, kind: selector, **self._slots(slots, often=0.4)}
        self._is_long = False
        if kind == "links" and self._often(0.6):
            table["faults"] = self._faults(down=True, pause=False)
        if kind == "switches" and self._often(0.2):
            table["faults"] = {"pause": [self._pause()]}
        if kind == "links" and self._often(0.1):
            table["rate"] = self._one(_RATES)
        if kind == "links" and (network.tags or self._often(0.2)):
            table["buffer"] = {"static": {"size": "auto" if self._often(0.8) else self._one(LIKELY["B"])}}
        return table

    def _faults(self, *, down: bool, pause: bool) -> Json:
        table: Json = {}
        if down and self._often(0.7):
            table["down"] = self._periods()
        if self._often(0.4):
            rate = self._one((0.0001, 0.001, 0.01))
            table["error-rate"] = (
                rate if self._often(0.5) else {"data": rate, "control": rate, "link-control": 0.0}
            )
        if self._often(0.3):
            table["jitter"] = self._one(("1ps", "300ns", "2us"))
        if pause:
            table["pause"] = [self._pause()]
        return table

    def _periods(self) -> list[Json]:
        """Make periods in order and apart: one, or a link that flaps."""
        count = 2 * self._one((1, 1, 2, 5, 20))
        instants = sorted({round(self._random.uniform(0, self._limit_us), 3) for _ in range(count)})
        pairs = zip(instants[::2], instants[1::2], strict=False)
        return [{"from": self._time(start), "to": self._time(end)} for start, end in pairs]

    def _pause(self) -> Json:
        start = self._random.uniform(0, self._limit_us / 2)
        return {
            "class": self._one(self._classes),
            "from": self._time(start),
            "to": self._time(start + self._random.uniform(1, self._limit_us / 2)),
        }

    # ---- traffic

    def _workload(self, network: _Network, number: int) -> Json:
        makers = (self._flows, self._flows, self._patterns, self._patterns, self._poisson, self._loops)
        table = {"name": f"w{number}", "class": self._one(self._classes), **self._one(makers)(network)}
        if self._often(0.2):
            table["start"] = self._time(self._random.uniform(0, self._limit_us / 4))
        return table

    def _pair(self, network: _Network) -> tuple[str, str]:
        numbers = range(1, max(network.hosts, 2) + 1)
        source, destination = self._random.sample(numbers, 2)
        return f"h{source}", f"h{destination}"

    def _flows(self, network: _Network) -> Json:
        flows: list[Json] = []
        for number in range(self._one((1, 2, 5, 12))):
            source, destination = self._pair(network)
            flow: Json = {
                "from": source,
                "to": destination,
                "size": self._one((*_SIZES, *_SIZES, "unbounded")),
            }
            if self._often(0.5):
                flow["start"] = self._time(self._random.uniform(0, self._limit_us / 2))
            if flow["size"] != "unbounded":
                flow["id"] = f"f{number}"
            before = [f for f in flows if "id" in f and source in (f["from"], f["to"])]
            if before and self._often(0.3):
                flow |= {"after": self._one(before)["id"], "wait": self._time(self._random.uniform(0, 5))}
            flows.append(flow)
        return {"flows": flows}

    def _patterns(self, network: _Network) -> Json:
        del network
        size = self._one(_SIZES)
        pattern: Json = self._one(
            (
                {"burst": {"to": "h1", "size": size}},
                {"burst": {"to": "h1", "size": self._one(_SIZES[5:]), "back-to-back": True}},
                {"permutation": {"size": self._one((size, "unbounded"))}},
                {
                    "incast": {
                        "to": "*",
                        "size": size,
                        "every": "20us",
                        "spacing": self._one(("fixed", "exponential")),
                    }
                },
                {"all-to-all": {"size": size}},
                {"micro-bursts": {"from": "h1", "to": "h2", "length": "3us", "every": "30us"}},
                {"long-lived": {"from": "h1", "to": "h2"}},
            )
        )
        if any(table.get("every") or table.get("back-to-back") for table in pattern.values()):
            pattern["until"] = self._time(self._limit_us / 4)
        return pattern

    def _poisson(self, network: _Network) -> Json:
        sizes = self._one(({"fixed": "3333B"}, [["100B", 20], ["5KB", 90], ["60KB", 100]], "googlerpc"))
        table = {"sizes": sizes, "load": self._one((0.05, 0.3, 0.7))}
        if network.tags and self._often(0.3):
            table["inter-dc"] = self._one((0.0, 0.5, 1.0))
        return {"poisson": table, "until": self._time(self._limit_us / 4)}

    def _loops(self, network: _Network) -> Json:
        client, server = self._pair(network)
        table: Json = {"test": self._one(("write-bw", "read-bw", "write-lat")), "from": client, "to": server}
        table |= {"size": self._one(_SIZES[:7]), "iterations": self._one((4, 9, 40))}
        if table["test"] != "write-lat":
            table |= {"queue-depth": self._one((1, 3, 16)), "qps": self._one((1, 2))}
        return {"perftest": table}

    def _records(self) -> Json:
        kept = [key for key in ("pauses", "signals", "allowances") if self._often(0.5)]
        table: Json = dict.fromkeys(kept, True)
        if self._often(0.3):
            table["queue-histogram"] = {"every": "2us", "bin": "1KB"}
        return table


#: Slots of mechanisms, and the definitions of what can be chosen for them.
SLOTS: Mapping[str, str] = {
    "flow-control": "FlowControlParams",
    "buffer": "BufferParams",
    "congestion-point": "CongestionPointParams",
    "routing": "RoutingParams",
    "scheduler": "SchedulerParams",
    "notification": "NotificationParams",
    "rate-control": "ReactionParams",
    "reliability": "ReliabilityParams",
}
#: What is chosen more often than the rest, since most else fits together with it.
_USUAL: Mapping[str, tuple[object, ...]] = {
    "buffer": ({"static": {"size": "auto"}},),
    "reliability": ("go-back-n", "irn"),
}
#: With what else `[defaults]` may set.
_DEFAULTS: Mapping[str, str] = {**SLOTS, "faults": "", "pipeline": "", "class": "", "qp": ""}


def toml(value: object) -> str:
    """Write a value of JSON as TOML; tables inside others stand in one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml(of)}" for key, of in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)
