"""Metrics of a study: predefined ones, and those that it defines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.results.quantities import quantity_bytes, quantity_us
from floodway.study.format.model import Metric
from floodway.study.metrics.kinds import KINDS
from floodway.study.metrics.selection import Options

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from floodway.study.format.toml_table import Table

__all__ = ["bucket_of", "metric_named", "metrics_of", "ready_metric", "window_of"]

#: How a metric's label is extended by what it is of.
_WORDS = {"intra": "within a datacenter", "inter": "between datacenters"}


def metrics_of(top: Table) -> dict[str, Metric]:
    """Read `[metric.NAME]`.

    Raises
    ------
    StudyError
        If one is not of its form.
    """
    tables = top.table("metric")
    found = {}
    for name in tables.names():
        if name in KINDS:
            raise tables.fault(name, "is the name of a ready metric; choose another one", given=name)
        found[name] = _metric(tables.table(name), name)
    return found


def metric_named(table: Table, key: str, name: str, metrics: Mapping[str, Metric]) -> Metric:
    """Return a metric by the name that a study gave it, or a ready one.

    Raises
    ------
    StudyError
        If there is none of this name.
    """
    if name in metrics:
        return metrics[name]
    table.choice(key, name, what="a metric", allowed=(*metrics, *KINDS))
    kind = KINDS[name]
    if kind.due:
        text = f"{name} needs {', '.join(kind.due)}: name a metric of this kind under [metric.NAME]"
        raise table.fault(key, text, given=name)
    return ready_metric(name)


def ready_metric(name: str) -> Metric:
    """Return a metric that goes by the name of its kind, without options."""
    kind = KINDS[name]
    return Metric(name=name, label=kind.label, kind_name=name, kind=kind, options=Options())


def _metric(table: Table, name: str) -> Metric:
    kind_name = table.choice("kind", table.text("kind", due=True), what="a metric", allowed=KINDS)
    kind = KINDS[kind_name]
    label = table.text("label")
    for key in table.names():
        if key not in ("kind", "label"):
            table.choice("", key, what=f"an option of {kind_name}", allowed=("label", *kind.options))
    for key in kind.due:
        table.text(key, due=True)
    options = _options(table)
    table.finish()
    return Metric(
        name=name, label=label or _label(kind.label, options), kind_name=kind_name, kind=kind, options=options
    )


def _options(table: Table) -> Options:
    path_class = table.text("path-class")
    if path_class:
        table.choice("path-class", path_class, what="a path class", allowed=("intra", "inter"))
    sizes = _pair(table, "size", quantity_bytes, "two sizes", '["0B", "100KB"]')
    window = window_of(table)
    return Options(
        workload=table.texts("workload"),
        path_class=path_class,
        source=table.texts("from"),
        destination=table.texts("to"),
        smallest_bytes=None if sizes is None else int(sizes[0]),
        largest_bytes=None if sizes is None else int(sizes[1]),
        link=table.text("link"),
        ports=table.texts("ports") or ("all",),
        from_us=0.0 if window is None else window[0],
        to_us=None if window is None else window[1],
        bucket_us=bucket_of(table),
        column=table.text("column"),
        state=table.text("state"),
        operation=table.texts("operation"),
    )


def window_of(table: Table) -> tuple[float, float] | None:
    """Read `window`, in microseconds; None where there is none.

    Raises
    ------
    StudyError
        If it is not two times, the first below the second.
    """
    return _pair(table, "window", quantity_us, "two times", '["0us", "100ms"]')


def bucket_of(table: Table) -> float | None:
    """Read `bucket`, in microseconds; None where there is none.

    Raises
    ------
    StudyError
        If it is not a time.
    """
    bucket = table.text("bucket")
    return _quantity(table, "bucket", bucket, quantity_us, "100us") if bucket else None


def _pair(
    table: Table, key: str, read: Callable[[str], float], what: str, example: str
) -> tuple[float, float] | None:
    given = table.texts(key)
    if not given:
        return None
    if len(given) != 2:  # noqa: PLR2004 (a pair)
        raise table.fault(key, f"takes {what}, as in {example}", given=given)
    low, high = (_quantity(table, key, each, read, example) for each in given)
    if low >= high:
        raise table.fault(key, f"{given[0]!r} is not below {given[1]!r}", given=given)
    return low, high


def _quantity(table: Table, key: str, text: str, read: Callable[[str], float], example: str) -> float:
    try:
        found = float(read(text))
    except ValueError as error:
        raise table.fault(key, f"{error}, as in {example}", given=text) from error
    return found


def _label(label: str, options: Options) -> str:
    parts = [", ".join(options.workload), _WORDS.get(options.path_class, "")]
    option_text = ", ".join(part for part in parts if part)
    return f"{label} ({option_text})" if option_text else label
