"""The model of a study: base, axes, variants, seeds, metrics, published numbers, pictures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from floodway.common.errors import by_name

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from floodway.study.metrics.kinds import Kind
    from floodway.study.metrics.selection import Options

__all__ = [
    "KINDS_OF_NUMBERS",
    "Axis",
    "AxisPoint",
    "Base",
    "Coordinates",
    "Metric",
    "Quick",
    "Sets",
    "Study",
    "Variant",
]

#: Key paths with values as TOML writes them.
Sets = tuple[tuple[str, str], ...]
#: Axes with the names of their points.
Coordinates = tuple[tuple[str, str], ...]
#: Pictures of metrics, over what goes across; the others are of single runs.
KINDS_OF_NUMBERS = ("bars", "lines", "grid")


@dataclass(frozen=True, kw_only=True)
class Base:
    """The base of variants: a scenario's file, or its keys as the study has them."""

    file: Path | None = None
    keys: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class AxisPoint:
    """A value of an axis.

    Attributes
    ----------
    name
        What `at`, `only` and tables call it.
    number
        Where lines place it; none for a value that is no number.
    sets
        What it sets.
    seeds
        How many of the study's seeds are run there at most; none for all of them.
    """

    name: str
    number: float | None
    sets: Sets
    seeds: int | None = None


@dataclass(frozen=True, kw_only=True)
class Axis:
    """Values that a study goes through; `quick` names those of its quick version."""

    name: str
    label: str
    points: tuple[AxisPoint, ...]
    quick: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its points."""
        return tuple(point.name for point in self.points)

    def point(self, name: str) -> AxisPoint:
        """Return a point by its name; an `UnknownNameError` if the axis has no such point."""
        return by_name(self.points, name, noun=f"a point of {self.name}", key="point")


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A scheme that is compared.

    Attributes
    ----------
    name, label
        What the study and what pictures call it.
    base
        What it begins with.
    sets
        What it sets.
    only, left_out
        By axis: the points that it is run at, and those that it is not.
    seeds
        How many of the study's seeds it is run with at most; none for all of them.
    may_lose
        Whether it may drop packets; a claim about any other variant fails if it does.
    """

    name: str
    label: str
    base: Base
    sets: Sets = ()
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    seeds: int | None = None
    may_lose: bool = False

    def runs_at(self, at: Coordinates) -> bool:
        """Whether it is run at these coordinates."""
        return all(
            (axis not in self.only or point in self.only[axis]) and point not in self.left_out.get(axis, ())
            for axis, point in at
        )


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A number of every run: its name, kind and options."""

    name: str
    label: str
    kind_name: str
    kind: Kind
    options: Options

    @property
    def title(self) -> str:
        """Its label with its unit."""
        return f"{self.label}, {self.kind.unit}" if self.kind.unit else self.label


@dataclass(frozen=True, kw_only=True)
class Quick:
    """The changes of the quick version: fewer seeds and variants, further values, and its duration.

    Attributes
    ----------
    skip
        Whether the quick version of a paper leaves the study out.
    """

    minutes: float | None = None
    skip: bool = False
    seeds: tuple[int, ...] | int | None = None
    sets: Sets = ()
    variants: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Study:
    """A study as read from its file, whose references are checked.

    Attributes
    ----------
    file
        Where it stands.
    name, title, paper, shows, notes, source
        What it is; notes are Markdown.
    minutes
        How long the full size takes on two cores; None if not given.
    sets
        Values that hold for all runs.
    axes, variants
        What it goes through.
    seeds
        A number of seeds, from the scenario's own on, or the seeds.
    metrics
        Those that it defines.
    claims, readings, plots
        What it compares with and draws, as tables: a package that judges and draws reads them.
    quick
        Its quick version.
    """

    file: Path
    name: str
    title: str
    paper: str
    shows: str
    notes: str
    source: str
    minutes: float | None
    sets: Sets
    axes: tuple[Axis, ...]
    variants: tuple[Variant, ...]
    seeds: tuple[int, ...] | int
    metrics: Mapping[str, Metric]
    claims: tuple[Mapping[str, Any], ...]
    readings: tuple[Mapping[str, Any], ...]
    plots: tuple[Mapping[str, Any], ...]
    quick: Quick

    @property
    def has_quick_form(self) -> bool:
        """Whether the quick version is another than the full size."""
        return self.quick != Quick() or any(axis.quick != axis.names for axis in self.axes)

    def variant(self, name: str) -> Variant:
        """Return a variant by its name.

        Parameters
        ----------
        name
            Name of a variant of the study.

        Returns
        -------
        Variant
            The variant.

        Raises
        ------
        UnknownNameError
            If the study has no variant of this name.
        """
        return by_name(self.variants, name, noun="a variant of this study", key="variant")

    def axis(self, name: str) -> Axis:
        """Return an axis by its name.

        Parameters
        ----------
        name
            Name of an axis of the study.

        Returns
        -------
        Axis
            The axis.

        Raises
        ------
        UnknownNameError
            If the study has no axis of this name.
        """
        return by_name(self.axes, name, noun="an axis of this study", key="axis")
