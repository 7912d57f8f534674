"""Scenarios: from files, from text, from dictionaries, from builders."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from floodway import _floodway
from floodway.common.errors import Fault, InputError, ScenarioError
from floodway.common.files import is_pipe, read_pipe
from floodway.common.limits import LARGEST_SEED
from floodway.scenarios.builder import key, plain
from floodway.scenarios.own_code import known_digests
from floodway.scenarios.scenario_keys import Keys

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

__all__ = ["Extent", "Scenario", "inline", "load", "recorded"]

#: The name of a scenario without a file or a name of its own, in messages.
NAMELESS = "scenario"
#: The most rows of a list of flows: as many as a text of the largest size can have.
MOST_ROWS = 20_000_000


@dataclass(frozen=True, kw_only=True)
class Extent:
    """The end of a run, by which its progress is estimated.

    Attributes
    ----------
    arrivals_end_us
        The latest start of a measured flow, in microseconds.
    may_end_sooner
        Whether that is only the limit of a run that ends as soon as its flows have finished.
    """

    arrivals_end_us: float
    may_end_sooner: bool


class Scenario(Keys):
    """A valid scenario; immutable.

    Two scenarios are equal if they have the same name and the same keys; the contents of files that they name
    are not compared.

    It is made from builders here, from a file by `load`, from text by `from_toml`, from dictionaries by
    `from_dict`. The arguments are the keys of a scenario's top level.

    Raises
    ------
    ScenarioError
        If a key or a value is invalid; the error has the place of each fault.

    Examples
    --------
    >>> from floodway.builders import Burst, Dumbbell, Workload
    >>> scenario = Scenario(
    ...     name="incast",
    ...     topology=Dumbbell(left=2, right=1, rate="100G", delay="1us"),
    ...     workload=[Workload(name="burst", burst=Burst(from_="h*", to="h3", size="1MB"))],
    ... )
    >>> scenario
    Scenario('incast', seed 1)
    >>> print(scenario.to_toml().splitlines()[0])
    name = "incast"
    """

    _native: _floodway.Scenario
    _digests: Mapping[str, str]

    @classmethod
    def from_toml(cls, text: str, *, name: str = NAMELESS, sets: Sequence[tuple[str, str]] = ()) -> Self:
        """Read a scenario from its text; relative paths in it start from the working folder.

        Parameters
        ----------
        text
            The text of a scenario's file, in TOML.
        name
            Its name in messages, and that of its results if the text sets none.
        sets
            Key paths with values that replace those of the text, in order.

        Returns
        -------
        Scenario
            The valid scenario.

        Raises
        ------
        ScenarioError
            As in `load`.
        TypeError
            If the text or the name is not a string.

        Examples
        --------
        >>> text = '''
        ... topology.dumbbell = { left = 1, right = 1, rate = "100G", delay = "1us" }
        ... workload = [{ name = "one", flows = [{ from = "h1", to = "h2", size = "1MB", start = "0us" }] }]
        ... '''
        >>> Scenario.from_toml(text, name="pair", sets=[("seed", "7")])
        Scenario('pair', seed 7)
        """
        pairs = _pairs(sets)
        _refuse_halves(name, text, *(word for pair in pairs for word in pair))
        return cls._from_native(_floodway.parse_text(name, text, sets=pairs, tables=_as_csv))

    @classmethod
    def from_dict(cls, keys: Mapping[str, object], *, name: str = NAMELESS) -> Self:
        """Read a scenario from dictionaries and lists of the same form as its file.

        Parameters
        ----------
        keys
            The keys of the top level, spelled as in a file; values may be builders.
        name
            As in `from_toml`.

        Returns
        -------
        Scenario
            The valid scenario.

        Raises
        ------
        ScenarioError
            As in `load`; its faults have keys and no lines.
        InputError
            If a value is of a type that a scenario cannot have.

        Examples
        --------
        >>> flow = {"from": "h1", "to": "h2", "size": "1MB", "start": "0us"}
        >>> topology = {"dumbbell": {"left": 1, "right": 1, "rate": "100G", "delay": "1us"}}
        >>> Scenario.from_dict({"topology": topology, "workload": [{"name": "one", "flows": [flow]}]}).seed
        1
        """
        return cls._from_native(_parsed(name, keys))

    @classmethod
    def _from_native(cls, native: _floodway.Scenario) -> Self:
        scenario = cls.__new__(cls)
        scenario._native = native  # noqa: SLF001 (its own)
        scenario._digests = known_digests()  # noqa: SLF001 (its own)
        return scenario

    def _begin(self, arguments: Mapping[str, object]) -> None:
        self._native = _parsed(NAMELESS, _keys(arguments))
        self._digests = known_digests()

    def _replaced(self, arguments: Mapping[str, object], sets: Sequence[tuple[str, str]]) -> Self:
        text = _json(_keys(arguments))
        return self._from_native(self._native.replaced(text, sets=list(sets), tables=_as_csv))

    @property
    def native(self) -> _floodway.Scenario:
        """The scenario in the native module."""
        return self._native

    @property
    def digests(self) -> Mapping[str, str]:
        """Digests of the code of all classes in Python that were known when it was read, by slot and name."""
        return self._digests

    @property
    def name(self) -> str:
        """The name of the results: the key `name`, else the name of the file."""
        return self._native.name

    @property
    def seed(self) -> int:
        """The seed of all random streams and of the order of ties."""
        return self._native.seed

    @property
    def limit_us(self) -> float:
        """The latest end of the run, in microseconds of simulated time."""
        return self._native.limit_us

    @property
    def arrivals_end_us(self) -> float:
        """The latest start of a measured flow, in microseconds; the limit where the run continues to it."""
        return self._native.arrivals_end_us

    @property
    def extent(self) -> Extent:
        """The end of its run; computing it takes a fifth of a second for a large scenario."""
        # Where no last arrival is known, it is the limit, and the run may be done long before.
        to_the_limit = self.arrivals_end_us >= self.limit_us
        return Extent(
            arrivals_end_us=self.arrivals_end_us,
            may_end_sooner=to_the_limit and self.resolved()["stop"] != "limit",
        )

    @property
    def origin_ns(self) -> int:
        """Time 0 of the scenario on the clock of the simulator whose files it reads, in nanoseconds."""
        return self._native.origin_ns

    @property
    def warnings(self) -> tuple[str, ...]:
        """Settings that are allowed but rarely intended, one per line."""
        return tuple(self._native.warnings)

    def with_seed(self, seed: int) -> Self:
        """Return the same scenario with another seed, as `replace(seed=...)`, without reading it again.

        Parameters
        ----------
        seed
            The seed, from 0 to 2^64 - 1.

        Returns
        -------
        Scenario
            A scenario that is equal but for the seed.

        Raises
        ------
        ScenarioError
            If it is not such a number.
        """
        if 0 <= seed <= LARGEST_SEED:
            same = self._from_native(self._native.with_seed(seed))
            same._digests = self._digests  # noqa: SLF001 (its own)
            return same
        return self.replace(seed=seed)

    def check(self) -> dict[str, object]:
        """Build the network without running it.

        Returns
        -------
        dict
            The document of `floodway check --json`.

        Raises
        ------
        ScenarioError
            If the network cannot be built.
        """
        report: dict[str, object] = json.loads(_floodway.check(self._native).json)
        return report

    def to_dict(self) -> dict[str, object]:
        """Return the scenario as written.

        Returns
        -------
        dict
            Its keys, spelled as in a file, with dictionaries, lists, texts, numbers and booleans as values.
        """
        written: dict[str, object] = json.loads(self._native.written_json)
        return written

    def to_toml(self) -> str:
        """Return the scenario as written, as the text of a file.

        Names of files are unchanged: relative paths start from the folder of the original text.

        Returns
        -------
        str
            The text in TOML, without comments.

        Raises
        ------
        ScenarioError
            If it has a number that TOML cannot hold.
        """
        return self._native.written_toml()

    def resolved(self) -> dict[str, object]:
        """Return the whole scenario after defaults.

        Returns
        -------
        dict
            The document that `run.json` has as `scenario`.
        """
        document: dict[str, object] = json.loads(self._native.resolved_json)
        return document

    def __repr__(self) -> str:
        return f"Scenario({self.name!r}, seed {self.seed})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[str, str, int, str]:
        """The value by which scenarios are compared: the order of keys does not matter."""
        keys = {key: value for key, value in self.to_dict().items() if key != "seed"}
        return self._native.file, self.name, self.seed, json.dumps(keys, sort_keys=True)


def _as_csv(path: Path) -> str:
    """Return a list of flows in Parquet, which the native module cannot read, as CSV with a header line.

    Raises
    ------
    ValueError
        If it cannot be read; the text says why in one line.
    """
    # Few scenarios name one: the others do without the tables' library.
    import polars as pl  # noqa: PLC0415

    try:
        rows = pl.scan_parquet(path).select(pl.len()).collect().item()
        if rows > MOST_ROWS:
            raise ValueError(f"it has {rows:,} rows, and the limit is {MOST_ROWS:,}")
        return pl.read_parquet(path).write_csv(float_scientific=False)
    except FileNotFoundError as error:
        raise ValueError("no such file") from error
    except (OSError, pl.exceptions.PolarsError) as error:
        raise ValueError(str(error).partition("\n")[0]) from error


def load(path: str | os.PathLike[str], *, sets: Sequence[tuple[str, str]] = ()) -> Scenario:
    """Read a scenario's TOML file; relative paths in it start from its folder.

    A configuration of the HPCC simulator, `KEY value` a line, is converted to a scenario, whose warnings list
    the differences. The file may be a pipe, such as a shell's `<(...)` or `/dev/stdin`: then relative paths
    start from the working folder. Files that a scenario names are regular files.

    Parameters
    ----------
    path
        The file.
    sets
        Key paths with values that replace those of the file, in order, such as
        `("long-haul.buffer.static.size", "20MB")`.

    Returns
    -------
    Scenario
        The valid scenario.

    Raises
    ------
    ScenarioError
        If the file cannot be read, or is not a valid scenario; the error has the place of each fault.
    """
    if is_pipe(Path(path)):
        return _piped(Path(path), sets)
    return Scenario._from_native(_floodway.parse_file(path, sets=_pairs(sets), tables=_as_csv))  # noqa: SLF001 (its own module)


def inline(
    name: str, keys: str, *, folder: str | os.PathLike[str], sets: Sequence[tuple[str, str]] = ()
) -> Scenario:
    """Read a scenario from JSON; relative paths in it start from a folder.

    Parameters
    ----------
    name
        Its name in messages.
    keys
        Its keys, as JSON.
    folder
        Folder that relative paths start from.
    sets
        As in `load`.

    Raises
    ------
    ScenarioError
        As in `load`.
    """
    native = _floodway.parse_json(name, keys, sets=_pairs(sets), tables=_as_csv, folder=folder)
    return Scenario._from_native(native)  # noqa: SLF001 (its own module)


def _pairs(sets: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return key paths with their values; anything else is an error that shows the right form."""
    pairs = list(sets)
    is_pair = (isinstance(pair, tuple) and len(pair) == len(("key", "value")) for pair in pairs)
    if not all(is_pair) or not all(isinstance(word, str) for pair in pairs for word in pair):
        raise TypeError('sets: expected pairs of strings, such as [("mtu", "1KB")]')
    return pairs


def _piped(path: Path, sets: Sequence[tuple[str, str]]) -> Scenario:
    """Read a scenario from a pipe: Python waits for it, since the native module does not receive Ctrl-C."""
    try:
        text = read_pipe(path)
    except UnicodeDecodeError:
        why = "it is not text in UTF-8"
    except OSError as error:
        why = error.strerror or str(error)
    else:
        # A shell's name of a pipe, /dev/fd/63, is not a name for results.
        name = NAMELESS if path.is_relative_to("/dev") or path.is_relative_to("/proc") else str(path)
        return Scenario.from_toml(text, name=name, sets=sets)
    fault = Fault(text=f"{path}: cannot read it: {why}", file=str(path))
    raise ScenarioError((fault,))


def recorded(document: Mapping[str, Any]) -> Scenario:
    """Read a scenario again from the document of `resolved`, as `run.json` has it.

    Relative paths in it start from the folder of the original file.

    Parameters
    ----------
    document
        The document.

    Raises
    ------
    ScenarioError
        If it cannot be read, for example because a file that it names is missing.
    KeyError
        If the document has another form.
    """
    keys, file = document["scenario"], str(document["file"])
    folder = Path(file).parent
    return Scenario._from_native(  # noqa: SLF001 (its own module)
        _floodway.parse_json(file, _json(keys), sets=[], tables=_as_csv, folder=folder)
    )


def _keys(arguments: Mapping[str, object]) -> dict[str, object]:
    """Return the keys that the arguments of a method give, in the order of the grammar."""
    names = [name for name in Keys.replace.__kwdefaults__ or () if name != "sets"]
    return {key(name): arguments[name] for name in names if arguments[name] is not None}


def _parsed(name: str, keys: Mapping[str, object]) -> _floodway.Scenario:
    if not isinstance(keys, Mapping):
        raise InputError(f"expected keys with their values, got a {type(keys).__name__}")
    values = {key: value for key, value in keys.items() if value is not None}
    _refuse_halves(name)
    return _floodway.parse_json(name, _json(values), sets=[], tables=_as_csv)


def _json(keys: Mapping[str, object]) -> str:
    """Return keys as JSON."""
    try:
        text = json.dumps(plain(keys), ensure_ascii=False)
    except RecursionError:
        raise InputError("the scenario: tables or lists are nested too deeply") from None
    _refuse_halves(text)
    return text


def _refuse_halves(*texts: str) -> None:
    """Refuse texts with half a character, which no file can hold: Python alone has them."""
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"the text of a scenario, and its name: expected strings, not {text!r}")
        half = next((c for c in text if "\ud800" <= c <= "\udfff"), None)
        if half is not None:
            raise InputError(f"the scenario: a string has U+{ord(half):04X}, which is half of a character")
