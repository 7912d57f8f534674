"""Variants of a comparison: a scenario with varied values, or several scenarios; and their warnings."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floodway import _floodway
from floodway.common.errors import ComparisonError, Fault, ScenarioError
from floodway.common.files import parse_toml
from floodway.scenarios.scenario import load

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping

    from floodway.scenarios.scenario import Scenario

__all__ = [
    "Variant",
    "VariantWarning",
    "differing",
    "files",
    "folder_names",
    "merged_warnings",
    "split_values",
    "vary",
]

#: Maximum number of characters of a folder's name.
LONGEST_FOLDER = 60
_OPEN, _CLOSE, _QUOTES = "[{(", "]})", "\"'"


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One of the scenarios that are compared.

    Attributes
    ----------
    label
        Name in tables and pictures.
    scenario
        Scenario of the variant.
    differs
        Keys that differ from other variants, with their values as written.
    sets
        Keys whose values replace those of the scenario's file in all variants, for variants of several files.
    """

    label: str
    scenario: Scenario
    differs: tuple[tuple[str, str], ...] = ()
    sets: tuple[tuple[str, str], ...] = ()


def split_values(text: str) -> tuple[str, ...]:
    """Split values at commas, but not inside brackets, braces and quotes.

    Parameters
    ----------
    text
        Values as on the command line, separated by commas.

    Returns
    -------
    tuple of str
        The values, without spaces around them.

    Raises
    ------
    ComparisonError
        If a bracket or quote does not match, or a value is missing.

    Examples
    --------
    >>> split_values('pfc,{ xoff = "1MB", react = "0us" }')
    ('pfc', '{ xoff = "1MB", react = "0us" }')
    """
    values, depth, quote, begin = [], 0, "", 0
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote and not _escaped(text, at, quote) else quote
        elif letter in _QUOTES:
            quote = letter
        elif letter == "," and depth == 0:
            values.append(text[begin:at].strip())
            begin = at + 1
        else:
            depth += (letter in _OPEN) - (letter in _CLOSE)
        if depth < 0:
            break
    if quote or depth:
        raise ComparisonError(f"{text!r}: a bracket or quote does not match", given=text)
    values.append(text[begin:].strip())
    if not all(values):
        raise ComparisonError(f"{text!r}: a value is missing; write them as in A,B", given=text)
    return tuple(values)


def vary(
    path: str | os.PathLike[str],
    axes: Sequence[tuple[str, Sequence[str]]] = (),
    *,
    named: Sequence[tuple[str, Sequence[tuple[str, str]]]] = (),
    sets: Sequence[tuple[str, str]] = (),
) -> tuple[Variant, ...]:
    """Return a variant of a scenario for each combination of values.

    Parameters
    ----------
    path
        File of the scenario.
    axes
        Key paths as in the argument `sets` of `load`, each with its values.
    named
        Names, each with key paths and the values that it sets together; a name without any is the scenario
        as it is. Each name is combined with all combinations of the axes.
    sets
        Key paths with values that hold for all variants.

    Returns
    -------
    tuple of Variant
        One variant per combination; names vary slowest, and the last key varies fastest.

    Raises
    ------
    ComparisonError
        If a key or name is given twice, or a key has less than two values, or one of them twice, or `axes` is
        no list of pairs.
    ScenarioError
        If a value is not valid; the error has the faults of all variants, each with the variant's name.

    Examples
    --------
    >>> import floodway
    >>> lossy = [("defaults.flow-control", "lossy"), ("defaults.reliability", "irn")]
    >>> variants = floodway.vary("scenarios/incast.toml", named=[("pfc", []), ("irn", lossy)])
    >>> [variant.label for variant in variants]
    ['pfc', 'irn']
    """
    _refuse_other_forms(axes)
    _refuse_axes(axes, [key for key, _ in sets])
    _refuse_named(named, axes, sets)
    combinations = [
        tuple(zip((key for key, _ in axes), values, strict=True))
        for values in itertools.product(*(values for _, values in axes))
    ]
    of_axes = list(zip(_labels(axes, combinations), combinations, strict=True))
    settings_by_name = [(name, tuple(settings)) for name, settings in named] or [("", ())]
    chosen = [
        (", ".join(filter(None, (name, label))), (*settings, *values))
        for name, settings in settings_by_name
        for label, values in of_axes
    ]
    labels = [label for label, _ in chosen]

    def build(index: int) -> Variant:
        label, differs = chosen[index]
        return Variant(label=label, scenario=load(path, sets=[*sets, *differs]), differs=differs)

    options = {key: "--vary" for key, _ in axes}
    options |= {key: "--variant" for _, settings in named for key, _ in settings}
    return _built(build, labels, options=options)


def files(
    paths: Sequence[str | os.PathLike[str]], *, sets: Sequence[tuple[str, str]] = ()
) -> tuple[Variant, ...]:
    """Return a variant for each scenario's file, with the file's name as its label.

    Parameters
    ----------
    paths
        Files of scenarios.
    sets
        Key paths with values that hold for all variants.

    Returns
    -------
    tuple of Variant
        One variant per file; labels have the files' folders if names are equal.

    Raises
    ------
    ComparisonError
        If a file is given twice.
    ScenarioError
        If a scenario cannot be simulated; the error has the faults of all of them.
    """
    scenario_files = [Path(path) for path in paths]
    twice = _twice([path.resolve() for path in scenario_files])
    if twice:
        raise ComparisonError(f"{twice}: is given twice", place=twice)
    labels = _file_labels(scenario_files)
    return _built(
        lambda index: Variant(
            label=labels[index], scenario=load(scenario_files[index], sets=sets), sets=tuple(sets)
        ),
        labels,
        options={},
    )


def differing(variants: Sequence[Variant]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the keys that differ between variants, with the value of each variant.

    Values of varied keys are as written, and `-` if a variant does not set the key. Of separate scenarios,
    the settings of objects that all of them have are compared.
    """
    written = [dict(variant.differs) for variant in variants]
    if any(written):
        keys = list(dict.fromkeys(key for differs in written for key in differs))
        return tuple((key, tuple(differs.get(key, "-") for differs in written)) for key in keys)
    settings = [_settings(variant.scenario) for variant in variants]
    keys = list(dict.fromkeys(key for variant_settings in settings for key in variant_settings))
    rows = ((key, tuple(variant_settings.get(key, "-") for variant_settings in settings)) for key in keys)
    return tuple((key, values) for key, values in rows if len(set(values)) > 1)


def folder_names(labels: Sequence[str]) -> tuple[str, ...]:
    """Return a folder's name for each label; names are unique even if upper and lower case are equal.

    Parameters
    ----------
    labels
        Labels of variants.

    Returns
    -------
    tuple of str
        Names without special characters, in the order of the labels.

    Examples
    --------
    >>> folder_names(["pfc, size=42MB", "PFC, size=42MB"])
    ('pfc-size=42MB', 'PFC-size=42MB-2')
    """
    names: list[str] = []
    for label in labels:
        plain = re.sub(r"[^A-Za-z0-9._=+-]+", "-", label)[:LONGEST_FOLDER].strip("-.") or "variant"
        numbered = (plain if n == 1 else f"{plain}-{n}" for n in itertools.count(1))
        taken = {name.casefold() for name in names}
        names.append(next(name for name in numbered if name.casefold() not in taken))
    return tuple(names)


def _escaped(text: str, at: int, quote: str) -> bool:
    """Whether an odd number of backslashes stands before a place; TOML's plain quotes know none."""
    before = text[:at]
    return quote == '"' and (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _refuse_other_forms(axes: object) -> None:
    """Refuse axes that are not a list of pairs, such as a dictionary."""
    form = 'a list of pairs, like [("mtu", ["1KB", "2KB"])]'
    if isinstance(axes, dict):
        message = f"axes: expected {form}, not a dict; list(axes.items()) makes one of it"
        raise ComparisonError(message, place="axes", given=repr(axes))
    if not isinstance(axes, Sequence) or isinstance(axes, str):
        raise ComparisonError(f"axes: expected {form}, not {axes!r}", place="axes", given=repr(axes))
    for axis in axes:
        if isinstance(axis, str) or not isinstance(axis, Sequence) or len(axis) != 2:  # noqa: PLR2004 (a pair)
            raise ComparisonError(f"axes: {axis!r} is not a pair of {form}", place="axes", given=repr(axis))


def _refuse_axes(axes: Sequence[tuple[str, Sequence[str]]], set_keys: Sequence[str]) -> None:
    twice = _twice([key for key, _ in axes])
    if twice:
        raise ComparisonError(f"{twice}: is varied twice; give all its values at once", place=twice)
    for key, values in axes:
        if isinstance(values, str) or not all(isinstance(value, str) for value in values):
            message = f"{key}: its values must be strings in TOML syntax, like ['1KB', '2KB']"
            raise ComparisonError(message, place=key, given=repr(values))
        same = _twice(values)
        if same:
            raise ComparisonError(f"{key}: {same} is given twice", place=key, given=same)
        if len(values) < 2:  # noqa: PLR2004 (what a comparison is of)
            count = "one value" if values else "no value"
            message = f"{key}: varies over {count}; give at least two, as in {key}=A,B"
            raise ComparisonError(message, place=key)
        if key in set_keys:
            raise ComparisonError(f"{key}: is both set and varied; choose one of the two", place=key)


def _refuse_named(
    named: Sequence[tuple[str, Sequence[tuple[str, str]]]],
    axes: Sequence[tuple[str, Sequence[str]]],
    sets: Sequence[tuple[str, str]],
) -> None:
    twice = _twice([name for name, _ in named])
    if twice:
        raise ComparisonError(f"{twice}: two variants have this name", place=twice)
    varied, set_keys = {key for key, _ in axes}, {key for key, _ in sets}
    for name, settings in named:
        keys = [key for key, _ in settings]
        twice = _twice(keys)
        if twice:
            raise ComparisonError(f"variant {name}: {twice} is given twice", place=twice)
        both = next((key for key in keys if key in varied), None)
        if both:
            raise ComparisonError(f"variant {name}: {both} also varies; choose one of the two", place=both)
        both = next((key for key in keys if key in set_keys), None)
        if both:
            message = f"variant {name}: {both} is also set for all variants; choose one of the two"
            raise ComparisonError(message, place=both)
    if len(named) == 1 and not axes:
        name = named[0][0]
        message = f"{name}: the only variant; give a second one: NAME= is the scenario as it is"
        raise ComparisonError(message, place=name)


def _twice(values: Iterable[Any]) -> str | None:
    return next((str(value) for value, count in Counter(values).items() if count > 1), None)


def _labels(
    axes: Sequence[tuple[str, Sequence[str]]], combinations: Sequence[tuple[tuple[str, str], ...]]
) -> list[str]:
    """Return labels of variants by their values, with the key as a prefix if a value is ambiguous."""
    names = {(key, value): _plain_name(value) for key, values in axes for value in values}
    uses = Counter(names.values())
    plain = {key for key, values in axes if all(uses[names[key, value]] == 1 for value in values)}

    def name(key: str, value: str) -> str:
        name = names[key, value]
        return name if name is not None and key in plain else f"{_short(key, axes)}={value}"

    return [", ".join(name(key, value) for key, value in combination) for combination in combinations]


def _plain_name(value: str) -> str | None:
    """Return the word of a value, or the key of a table with one key; None if it has none."""
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", value):
        return None if value in ("true", "false", "inf", "nan") else value
    try:
        read = parse_toml(f"value = {value}")["value"]
    except ValueError:
        return None
    if isinstance(read, dict) and len(read) == 1:
        read = next(iter(read))
    return _plain_name(read) if isinstance(read, str) and read != value else None


def _short(key: str, axes: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return the shortest end of a key path that is unique among the axes."""
    parts = key.split(".")
    others = [other for other, _ in axes if other != key]
    ends = (".".join(parts[begin:]) for begin in range(len(parts) - 1, 0, -1))
    unlike = (end for end in ends if not any(other == end or other.endswith(f".{end}") for other in others))
    return next(unlike, key)


def _file_labels(paths: Sequence[Path]) -> list[str]:
    """Return the names of files without suffix, with their folders if names are equal."""
    for depth in range(1, max(len(path.resolve().parts) for path in paths) + 1):
        labels = ["/".join(path.resolve().with_suffix("").parts[-depth:]) for path in paths]
        if _twice(labels) is None:
            return labels
    # Two endings of one name.
    return [str(path) for path in paths]


def _built(
    build: Callable[[int], Variant], labels: Sequence[str], *, options: Mapping[str, str]
) -> tuple[Variant, ...]:
    """Parse and build every variant; the faults of all of them are raised together.

    `options` has the option of the command line that gave each key.
    """
    variants: list[Variant] = []
    faults: dict[str, list[tuple[str, Fault]]] = {}
    for index, label in enumerate(labels):
        try:
            variant = build(index)
            _floodway.check(variant.scenario.native)
            variants.append(variant)
        except ScenarioError as error:
            for fault in error.faults:
                renamed = _by_option(fault, options)
                faults.setdefault(renamed.text, []).append((label, renamed))
    if faults:
        raise ScenarioError(
            tuple(_name_variants(variant_faults, total=len(labels)) for variant_faults in faults.values())
        )
    return tuple(variants)


def _by_option(fault: Fault, options: Mapping[str, str]) -> Fault:
    """Replace `--set` in the location of a fault by the option of the command line that set the value."""
    option = next((name for key, name in options.items() if fault.file.startswith(f"--set {key}=")), None)
    if option is None:
        return fault
    rename = fault.file.replace("--set", option, 1)
    return replace(fault, file=rename, text=fault.text.replace(fault.file, rename, 1))


def _name_variants(variant_faults: Sequence[tuple[str, Fault]], *, total: int) -> Fault:
    """Add the names of the variants that have a fault, unless all have it."""
    _, fault = variant_faults[0]
    if len(variant_faults) == total:
        return fault
    labels = "; ".join(label for label, _ in variant_faults)
    return replace(fault, text=f"variant{'s' if len(variant_faults) > 1 else ''} {labels}: {fault.text}")


def _settings(scenario: Scenario) -> dict[str, str]:
    """Return the values of a scenario as texts, by key path."""
    return dict(_flat(scenario.resolved()["scenario"], ""))


def _flat(value: Any, path: str) -> Iterable[tuple[str, str]]:  # noqa: ANN401 (any JSON value)
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _flat(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value and all(isinstance(inner, dict) for inner in value):
        for number, inner in enumerate(value, start=1):
            name = inner.get("name", number)
            yield from _flat(inner, str(name) if path == "override" else f"{path}.{name}")
    else:
        yield path, value if isinstance(value, str) else json.dumps(value)


@dataclass(frozen=True, kw_only=True)
class VariantWarning:
    """A warning, and the variants that it concerns.

    Attributes
    ----------
    text
        Text of the warning.
    labels
        Labels of the variants that have it; empty if all have it.
    """

    text: str
    labels: tuple[str, ...]

    @property
    def whole(self) -> str:
        """The warning in one line, with its variants."""
        prefix = f"{'; '.join(self.labels)}: " if self.labels else ""
        return f"{prefix}{self.text}"


def merged_warnings(variants: Iterable[tuple[str, Iterable[str]]]) -> tuple[VariantWarning, ...]:
    """Merge equal warnings of variants, in the order of their first occurrence.

    Parameters
    ----------
    variants
        Labels of variants with their warnings; a label may occur several times.

    Returns
    -------
    tuple of VariantWarning
        One for each different warning.

    Examples
    --------
    >>> [warning.whole for warning in merged_warnings([("pfc", ["a", "b"]), ("swing", ["b"])])]
    ['pfc: a', 'b']
    """
    labels: dict[str, None] = {}
    labels_by_text: dict[str, dict[str, None]] = {}
    for label, texts in variants:
        labels[label] = None
        for text in texts:
            labels_by_text.setdefault(text, {})[label] = None
    return tuple(
        VariantWarning(text=text, labels=() if with_it.keys() == labels.keys() else tuple(with_it))
        for text, with_it in labels_by_text.items()
    )
