"""Pictures of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from floodway.study.format.model import KINDS_OF_NUMBERS, Mark, Plot, Theory
from floodway.study.format.parse_axes import number_of
from floodway.study.format.parse_claims import full_coordinates
from floodway.study.format.parse_metrics import bucket_of, metric_named, window_of
from floodway.study.format.values import plain
from floodway.study.metrics.formulas import FORMULAS, arguments_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from floodway.study.format.model import Axis, Metric, Variant
    from floodway.study.format.toml_table import Table

__all__ = ["plots_of"]

PLOTS = (*KINDS_OF_NUMBERS, "series", "cdf", "ports", "region", "shares")
#: What distributions are of.
DISTRIBUTIONS = ("fct", "slowdown", "throughput")
#: What a picture in time is of.
IN_TIME = ("throughput", "queue")
VARIANT = "variant"
#: What the table of all numbers is called, beside the pictures.
NUMBERS = "numbers"
#: Pictures that have variants side by side, and no more of these than can be read.
BESIDE, MOST_RESULTS = ("ports", "region"), 4
#: Keys that mean something in pictures of some kinds only.
OF_KINDS: dict[str, tuple[str, ...]] = {
    "x": KINDS_OF_NUMBERS,
    "group": KINDS_OF_NUMBERS,
    "relative-to": KINDS_OF_NUMBERS,
    "published": KINDS_OF_NUMBERS,
    "metric": (*KINDS_OF_NUMBERS, "series", "cdf"),
    "log": ("bars", "lines", "series", "cdf"),
    "theory": ("lines",),
    "of": ("series", "cdf"),
}


class _OfTime(TypedDict, total=False):
    """What only pictures of ports, regions and shares in time have."""

    ports: tuple[str, ...]
    flows: tuple[str, ...]
    window: tuple[float | None, float | None]
    link: str
    bucket_us: float | None


def plots_of(
    top: Table, variants: Sequence[Variant], axes: Sequence[Axis], metrics: Mapping[str, Metric]
) -> tuple[Plot, ...]:
    """Read the pictures.

    Raises
    ------
    StudyError
        If one names a metric, variant, axis, point or formula that is not there.
    """
    plots: list[Plot] = []
    for table in top.tables("plot"):
        plot = _plot(table, variants, axes, metrics)
        if any(plot.name == other.name for other in plots):
            raise table.fault("name", f"{plot.name!r}: two pictures have this name", given=plot.name)
        plots.append(plot)
    return tuple(plots)


def _plot(
    table: Table, variants: Sequence[Variant], axes: Sequence[Axis], metrics: Mapping[str, Metric]
) -> Plot:
    name = table.text("name", due=True)
    if not all(letter.isalnum() or letter in "-_." for letter in name) or name.startswith("."):
        raise table.fault("name", f"{name!r} is a file's name: letters, digits, - and _", given=name)
    if name == NUMBERS:
        raise table.fault("name", f"{name!r} is the table of all numbers; choose another name", given=name)
    kind = table.choice("kind", table.text("kind", due=True), what="a kind of picture", allowed=PLOTS)
    _refuse_meaningless(table, kind)
    across = (VARIANT, *(axis.name for axis in axes))
    along = table.choice(
        "x",
        table.text("x", _usual_x(kind, axes)),
        what="an axis of this study, or variant",
        allowed=across,
    )
    group = table.text("group", "" if along == VARIANT else VARIANT)
    if group:
        table.choice("group", group, what="an axis of this study, or variant", allowed=across)
    if group == along:
        raise table.fault("group", f"{group!r} is already the axis across", given=group)
    free = [each for each in (along, group) if each and each != VARIANT]
    shown_metrics = _metrics(table, kind, metrics)
    plot = Plot(
        name=name,
        title=table.text("title", name),
        kind=kind,  # type: ignore[arg-type]
        metrics=shown_metrics,
        along=along,
        group=group,
        at=full_coordinates(table, "at", axes, free=free),
        variants=_shown_variants(table, variants),
        relative_to=_relative_to(table, variants),
        log=_log(table, kind),
        theory=tuple(_theory(each, shown_metrics) for each in table.tables("theory")),
        marks=_marks(table, metrics),
        of=_of(table, kind),
        **_of_time(table, kind),
    )
    table.finish()
    _refuse_hidden_variants(table, plot)
    _refuse_strange_marks(table, plot, axes)
    _refuse_nothing(table, plot, variants)
    return plot


def _refuse_meaningless(table: Table, kind: str) -> None:
    """Refuse keys that do not apply to pictures of this kind."""
    for key, kinds in OF_KINDS.items():
        if key in table and kind not in kinds:
            text = f"does not apply to a picture of the kind {kind}; it applies to {', '.join(kinds)}"
            raise table.fault(key, text, allowed=kinds)


def _log(table: Table, kind: str) -> tuple[str, ...]:
    """Read which axes are logarithmic; bars stand side by side, along no numbers."""
    allowed = ("y",) if kind == "bars" else ("x", "y")
    return tuple(
        table.choice("log", each, what=f"an axis with numbers of {kind}", allowed=allowed)
        for each in table.texts("log")
    )


def _refuse_hidden_variants(table: Table, plot: Plot) -> None:
    """Refuse a picture of one variant that does not say which, as one that says no point of an axis."""
    if plot.kind in KINDS_OF_NUMBERS and VARIANT not in (plot.along, plot.group) and len(plot.variants) > 1:
        text = (
            f"must name one, since neither x nor group is {VARIANT}: the others would not be shown; "
            f"allowed: {', '.join(plot.variants)}"
        )
        raise table.fault("variants", text, given=", ".join(plot.variants), allowed=plot.variants)


def _refuse_strange_marks(table: Table, plot: Plot, axes: Sequence[Axis]) -> None:
    """Refuse published points that are not in the picture."""
    points = {axis.name: axis.names for axis in axes} | {VARIANT: plot.variants, "": ("",)}
    shown = [metric.name for metric in plot.metrics]
    for mark in plot.marks:
        table.choice("published", mark.at, what=f"a point of {plot.along}", allowed=points[plot.along])
        table.choice("published", mark.group, what="a group of this picture", allowed=points[plot.group])
        if mark.metric:
            table.choice("published", mark.metric, what="a metric of this picture", allowed=shown)


def _of_time(table: Table, kind: str) -> _OfTime:
    """Read which ports, links and flows are shown, and when; of other pictures these are no keys."""
    read: _OfTime = {}
    if kind == "ports":
        read = {"ports": table.texts("ports"), "flows": table.texts("flows")}
    if kind == "shares":
        read = {"link": table.text("link"), "flows": table.texts("flows"), "bucket_us": bucket_of(table)}
    if kind in (*BESIDE, "shares"):
        read["window"] = window_of(table) or (None, None)
    return read


def _of(table: Table, kind: str) -> str:
    """Read what a distribution, or a picture in time, is of."""
    of_time = kind == "series"
    allowed = IN_TIME if of_time else DISTRIBUTIONS
    what = "the subject of a picture in time" if of_time else "the subject of a distribution"
    return table.choice("of", table.text("of", allowed[0]), what=what, allowed=allowed)


def _usual_x(kind: str, axes: Sequence[Axis]) -> str:
    several = [axis.name for axis in axes if len(axis.points) > 1]
    return several[0] if kind in ("lines", "grid") and several else VARIANT


def _metrics(table: Table, kind: str, metrics: Mapping[str, Metric]) -> tuple[Metric, ...]:
    names = table.texts("metric")
    if not names and kind in KINDS_OF_NUMBERS:
        raise table.fault("metric", "is missing; expected a metric, or several with a panel each")
    usual = "fct-mean" if kind == "cdf" else "throughput"
    return tuple(metric_named(table, "metric", name, metrics) for name in names or (usual,))


def _shown_variants(table: Table, variants: Sequence[Variant]) -> tuple[str, ...]:
    names = [variant.name for variant in variants]
    given = table.texts("variants")
    for name in given:
        table.choice("variants", name, what="a variant of this study", allowed=names)
    return given or tuple(names)


def _relative_to(table: Table, variants: Sequence[Variant]) -> str:
    given = table.text("relative-to")
    names = [variant.name for variant in variants]
    return table.choice("relative-to", given, what="a variant of this study", allowed=names) if given else ""


def _theory(table: Table, metrics: Sequence[Metric]) -> Theory:
    formula = table.choice("formula", table.text("formula", due=True), what="a formula", allowed=FORMULAS)
    allowed = arguments_of(formula)
    along = table.choice("x", table.text("x", due=True), what=f"an argument of {formula}", allowed=allowed)
    given = table.mapping("with")
    for name in given:
        table.choice("with", name, what=f"an argument of {formula}", allowed=allowed)
    missing = [name for name in allowed if name not in given and name != along]
    if missing:
        raise table.fault("with", f"lacks {', '.join(missing)} of {formula}", allowed=allowed)
    factor = table.number("factor")
    names = [metric.name for metric in metrics]
    theory = Theory(
        metric=table.choice("metric", table.text("metric", names[0]), what="of this picture", allowed=names),
        formula=formula,
        label=table.text("label", formula),
        along=along,
        factor=1.0 if factor is None else factor,
        arguments={name.replace("-", "_"): _argument(table, name, value) for name, value in given.items()},
    )
    table.finish()
    return theory


def _argument(table: Table, name: str, value: object) -> float:
    found = number_of(value)
    if found is None:
        raise table.fault("with", f"{name}: {plain(value)!r} is neither a number nor a quantity", given=value)
    return found


def _marks(table: Table, metrics: Mapping[str, Metric]) -> tuple[Mark, ...]:
    marks = []
    for mark in table.tables("published"):
        name = mark.text("metric")
        at = mark.value("x")
        value = mark.number("value")
        if at is None or value is None:
            raise mark.fault("x" if at is None else "value", "is missing")
        marks.append(
            Mark(
                metric=metric_named(mark, "metric", name, metrics).name if name else "",
                at=plain(at),
                group=mark.text("group"),
                value=value,
            )
        )
        mark.finish()
    return tuple(marks)


def _refuse_nothing(table: Table, plot: Plot, variants: Sequence[Variant]) -> None:
    shown = [variant for variant in variants if variant.name in plot.variants]
    if plot.kind in BESIDE and len(shown) > MOST_RESULTS:
        text = f"{len(shown)} variants are too many side by side; choose at most {MOST_RESULTS}"
        raise table.fault("variants", text, given=plot.variants)
    if not any(variant.runs_at(plot.at) for variant in shown):
        where = ", ".join(f"{axis} = {point}" for axis, point in plot.at)
        raise table.fault("at", f"no variant of this picture is run at {where}", given=where)
