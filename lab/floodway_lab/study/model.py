"""The model of what is judged and drawn of a study: claims, pictures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from floodway.study.format.read import metric_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from floodway.study import Study
    from floodway.study.format.model import Coordinates, Metric

__all__ = [
    "NUMBERS",
    "About",
    "Claim",
    "Mark",
    "Origin",
    "Plot",
    "Take",
    "Theory",
    "claims_of",
    "plots_of",
]

#: Name of the table of all numbers, beside the pictures.
NUMBERS = "numbers"
PlotKind = Literal["bars", "lines", "grid", "series", "cdf", "ports", "region", "shares"]
#: Origin of a claim: a paper's print or formula, its authors' logs, or our own.
Origin = Literal["printed", "formula", "log", "ours"]
#: Subject of a claim: the mechanism of its study, or its baseline.
About = Literal["mechanism", "baseline"]
#: The numbers of a claim over several: each, or an extreme.
Take = Literal["each", "lowest", "highest"]


def claims_of(study: Study) -> tuple[Claim, ...]:
    """Return the claims of a study."""
    return tuple(_claim(table, study) for table in study.claims)


def plots_of(study: Study) -> tuple[Plot, ...]:
    """Return the pictures of a study."""
    return tuple(_plot(table, study) for table in study.plots)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A published number or order, and how ours is computed.

    Attributes
    ----------
    name, figure, says, source, remark
        Its name, its figure, and its text.
    statement, reading, part
        What is published, by a name: claims of one statement are readings of it, and it counts once. What
        tells this reading from the others, in words; and this part of it, where all parts must hold.
    spans
        Whether the statement has parts or readings in other studies of the paper, too.
    setting
        Which of several settings that a paper does not give it is for, in words that are the same in all
        studies of the paper; empty if it does not depend on them.
    origin, about
        Where it comes from; and whether it is about the mechanism of the study, or about a baseline.
    metric, variant, at
        What is computed: the metric of a variant at some coordinates.
    against, against_points
        What it is measured against: another variant, the same one at other points of some axes, or both; the
        number is then a difference in percent.
    less_points
        Points of some axes at which the same difference is taken, too: the number is then the difference less
        that one, in points. Empty for a plain number.
    coordinates, rivals, take
        Of a claim over several numbers: all coordinates, of which `at` is the first; all that it is measured
        against, of which `against` is the first; and whether the `lowest`, the `highest` or `each` of these
        numbers is to be as published.
    value, between, unit, tolerance, bound
        What was published, a value or a range, and how far ours may be from it; `at-least` and `at-most` are
        bounds.
    draws
        Of how many runs of a simulation the published number is the mean; 0 where chance plays no part in
        it, or nothing is known.
    order, best, only_first, unchanged
        For an order: the variants, best first, whether the lowest or the highest is best, and whether nothing
        is said of those behind the first; or whether nothing is said but that all coordinates have the same
        order of these variants, whichever it is.
    margin
        For an order: the least difference between two variants, in percent of the larger number.
    ablations, halves, ablated, no_ablation
        Variants without the mechanism or its deciding part, each of which is judged, too; variants without a
        part of it, whose verdicts show which part carries the claim, and decide nothing; the variant that
        they are derived from; or the reason why the claim has no ablation.
    removes
        What ablations and halves remove, in words, where the study says so.
    may_lose
        Variants that may drop packets in this claim.
    looks
        Among how many numbers the best is taken: readings of the statement.
    cause, cause_against, cause_says
        The variant that isolates why ours differs, what it is measured against, and what it shows.
    """

    name: str
    figure: str
    says: str
    source: str
    remark: str
    statement: str
    reading: str
    part: str
    spans: bool
    setting: str
    origin: Origin
    about: About
    metric: Metric
    variant: str
    at: Coordinates
    against: str
    against_points: Coordinates
    less_points: Coordinates
    coordinates: tuple[Coordinates, ...]
    rivals: tuple[str, ...]
    take: Take
    value: float | None
    between: tuple[float, float] | None
    unit: str
    tolerance: float
    bound: Literal["about", "at-least", "at-most"]
    draws: int
    order: tuple[str, ...]
    best: str
    only_first: bool
    unchanged: bool
    margin: float
    ablations: tuple[str, ...]
    halves: tuple[str, ...]
    ablated: str
    no_ablation: str
    removes: Mapping[str, str]
    may_lose: frozenset[str]
    looks: int
    cause: str
    cause_against: str
    cause_says: str

    @property
    def relative(self) -> bool:
        """Whether the number is a difference to another one."""
        return bool(self.against)

    @property
    def against_at(self) -> Coordinates:
        """The coordinates of the runs that it is compared with."""
        return _moved(self.at, self.against_points)

    @property
    def less_at(self) -> tuple[Coordinates, Coordinates]:
        """The coordinates of the difference that is subtracted, and of that difference's reference."""
        at = _moved(self.at, self.less_points)
        return at, _moved(at, self.against_points)

    @property
    def cells(self) -> tuple[tuple[str, Coordinates], ...]:
        """The variants and coordinates whose runs it needs: its own, then those that it is compared with."""
        pairs = [(name, self.at) for name in self.variants]
        if self.relative:
            pairs.append((self.against, self.against_at))
        if self.less_points:
            at, against_at = self.less_at
            pairs += [(self.variant, at), (self.against, against_at)]
        return tuple(dict.fromkeys(pairs))

    @property
    def several(self) -> bool:
        """Whether it is over several numbers or orders."""
        return len(self.coordinates) > 1 or len(self.rivals) > 1

    @property
    def parts(self) -> tuple[Claim, ...]:
        """A claim for each of its numbers or orders."""
        return tuple(
            replace(
                self, at=at, coordinates=(at,), against=rival, rivals=(rival,) if rival else (), remark=""
            )
            for at in self.coordinates
            for rival in self.rivals or ("",)
        )

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants whose runs it needs at its coordinates."""
        return self.order or (self.variant,)


def _moved(at: Coordinates, points: Coordinates) -> Coordinates:
    """Return coordinates with other points on some axes."""
    other = dict(points)
    return tuple((axis, other.get(axis, point)) for axis, point in at)


@dataclass(frozen=True, kw_only=True)
class Theory:
    """A curve by a formula.

    Attributes
    ----------
    metric
        The metric in whose panel it is drawn.
    formula, label
        Its name, and what the legend calls it.
    along, factor
        The argument that goes along the axis, and what the axis' numbers are multiplied by for it.
    arguments
        The others.
    """

    metric: str
    formula: str
    label: str
    along: str
    factor: float
    arguments: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A published point of a picture: of a metric, at a variant or a point of the axis."""

    metric: str
    at: str
    group: str
    value: float


@dataclass(frozen=True, kw_only=True)
class Plot:
    """A picture.

    Attributes
    ----------
    name, title
        Of its files, and above it.
    kind
        `bars`, `lines`, `grid` (a heat map), `series` (a link's throughput or queue in time), `cdf`, `ports`
        (ports and senders in time), `region` (the congestion region in time) or `shares` (what flows have of
        a link, in time).
    metrics
        A panel for each.
    along
        What goes across: `variant`, or an axis.
    group
        What has colours of its own, or goes down in a heat map: `variant`, an axis, or nothing.
    at
        The point of every other axis.
    variants
        Those that are shown, in order.
    relative_to
        A variant that all others are divided by; none where empty.
    log
        Axes that are logarithmic.
    theory, marks
        Curves and published points.
    of
        Of `cdf`: completion times (`fct`), slowdown, or throughput of buckets. Of `series`: throughput or
        queue.
    ports, flows
        Of `ports`: patterns of ports and of flows, as `floodway plot ports` takes them. Flows also of
        `shares`.
    window
        Of `ports`, `region` and `shares`: from when to when in microseconds.
    link, bucket_us
        Of `shares`: a pattern of directions, and how wide buckets shall be at least, as `floodway plot
        shares` takes them.
    """

    name: str
    title: str
    kind: PlotKind
    metrics: tuple[Metric, ...]
    along: str
    group: str
    at: Coordinates
    variants: tuple[str, ...]
    relative_to: str
    log: tuple[str, ...]
    theory: tuple[Theory, ...]
    marks: tuple[Mark, ...]
    of: str
    ports: tuple[str, ...] = ()
    flows: tuple[str, ...] = ()
    window: tuple[float | None, float | None] = (None, None)
    link: str = ""
    bucket_us: float | None = None


def _claim(table: Mapping[str, Any], study: Study) -> Claim:
    return Claim(
        **{
            **table,
            "metric": metric_of(study, table["metric"]),
            "may_lose": frozenset(table["may_lose"]),
            "removes": dict(table["removes"]),
        }
    )


def _plot(table: Mapping[str, Any], study: Study) -> Plot:
    return Plot(
        **{
            **table,
            "metrics": tuple(metric_of(study, name) for name in table["metrics"]),
            "theory": tuple(_theory(theory) for theory in table["theory"]),
            "marks": tuple(Mark(**mark) for mark in table["marks"]),
            "window": table["window"] or (None, None),
        }
    )


def _theory(table: Mapping[str, Any]) -> Theory:
    arguments = {name.replace("-", "_"): value for name, value in table["arguments"]}
    return Theory(**{**table, "arguments": arguments})
