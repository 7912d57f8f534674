"""Numbers of studies that the repository keeps, from which claims are judged without the runs.

A file has the study's table of all numbers, the time that each run took, the engine of the runs and the date.
A run is found in it by its scenario as written and its seed, whatever the present engine is.
"""

from __future__ import annotations

import io
import json
from collections import defaultdict
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

import polars as pl

from floodway.common.errors import OutputError, unwritable
from floodway.common.files import read_json
from floodway.results.files import replace_file
from floodway.results.folders import STUDY_FILE
from floodway.scenarios.keys import engine
from floodway.study.metrics.kinds import Value
from floodway.study.metrics.selection import Options
from floodway.study.numbers import Numbers, Part, RunFacts, evaluated, metrics_of
from floodway_lab.study.report.tidy import tidy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from floodway.study.format.model import Metric, Study
    from floodway.study.running.runs import Run
    from floodway.study.running.storage import Runs

__all__ = ["StoredNumbers", "file_of", "finished", "keep"]

#: Names in a paper's folder: the file of a study, and the folder of the files of the quick form.
NUMBERS, QUICK = "numbers", "quick"
#: The key of a file's metadata.
HEAD = "floodway"
#: The options of a metric without options.
NO_OPTIONS = asdict(Options())


def file_of(folder: Path, study: str, *, quick: bool) -> Path:
    """Return the file of a study's numbers in the folder of its paper."""
    return folder / NUMBERS / QUICK / f"{study}.parquet" if quick else folder / NUMBERS / f"{study}.parquet"


@dataclass(frozen=True, kw_only=True)
class StoredNumbers:
    """Numbers that are kept of a study; none by default.

    Attributes
    ----------
    date, revision
        When the numbers were kept, and the revision whose engine made the runs; empty where nothing is kept.
    metrics
        By name of a metric: its kind and options.
    pictures
        By name of a picture of single runs: its file, title and caption.
    table
        The study's table of all numbers, with `wall_s`: the seconds that the run took.
    """

    date: str = ""
    revision: str = ""
    metrics: Mapping[str, Any] = field(default_factory=dict)
    pictures: Mapping[str, dict[str, str]] = field(default_factory=dict)
    table: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=["scenario", "seed", "wall_s"]))

    @classmethod
    def read(cls, file: Path) -> StoredNumbers:
        """Read a file of `keep`; without a file, nothing is kept.

        Raises
        ------
        OutputError
            If the file cannot be read, or has another form.
        """
        if not file.exists():
            return cls()
        try:
            head = json.loads(pl.read_parquet_metadata(file)[HEAD])
            return cls(**head, table=pl.read_parquet(file))
        except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
            raise OutputError(str(file), f"has no numbers of a study: {error}") from error

    def numbers(self, study: Study, runs: Sequence[Run]) -> Numbers:
        """Return the numbers of a study's runs; those of other scenarios, seeds and metrics do not count.

        Parameters
        ----------
        study, runs
            The study as it is now, with its runs.
        """
        metrics = metrics_of(study)
        same = {metric.name for metric in metrics} - set(self.lacks(study))
        rows: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
        for row in self.table.iter_rows(named=True):
            rows[row["scenario"], row["seed"]].append(row)
        values: dict[str, dict[str, Value]] = {metric.name: {} for metric in metrics}
        facts: dict[str, RunFacts] = {}
        failures: dict[str, str] = {}
        for run in runs:
            for row in rows.get((run.written, run.seed), ()):
                if row["failure"] is not None:
                    failures[run.key] = row["failure"]
                    continue
                facts[run.key] = RunFacts(**_fields(RunFacts, row))
                if row["metric"] in same:
                    values[row["metric"]][run.key] = Value(**_fields(Value, row))
        return Numbers(
            metrics=metrics,
            runs=tuple(runs),
            done=frozenset(facts),
            values=values,
            facts=facts,
            failures=failures,
        )

    def lacks(self, study: Study) -> tuple[str, ...]:
        """Return the names of a study's metrics that are not kept, or that have another definition now."""
        return tuple(
            metric.name
            for metric in metrics_of(study)
            if self.metrics.get(metric.name) != _definition(metric)
        )

    def wall_s(self, runs: Sequence[Run]) -> dict[str, float]:
        """Return by key the seconds that these runs took, of those that are kept and did not fail."""
        rows = self.table.filter(pl.col("wall_s").is_not_null()).select("scenario", "seed", "wall_s")
        took = {(written, seed): wall_s for written, seed, wall_s in rows.iter_rows()}
        return {run.key: took[run.written, run.seed] for run in runs if (run.written, run.seed) in took}


def finished(
    study: Study,
    runs: Sequence[Run],
    store: Runs,
    *,
    command: str,
    on_message: Callable[[str], None],
) -> Part:
    """Return a study with the numbers of its runs, not judged; all of them have ended.

    Parameters
    ----------
    study, runs
        The study with its runs.
    store
        The store of the runs, in which other studies of the paper may be unfinished.
    command
        The command that runs them, for the error.
    on_message
        Called for a metric that nothing needs and that cannot be computed.

    Raises
    ------
    OutputError
        If runs are missing.
    StudyError
        If a metric cannot be computed.
    """
    done = {run.key for run in runs if store.has(run.key)}
    failures = {run.key: store.failure(run.key) for run in runs if run.key not in done}
    missing = [run for run in runs if failures.get(run.key, "") is None]
    if missing:
        folder = store.folder.parent
        text = f"{len(missing)} of {len(runs)} runs of {study.name} are missing, such as {missing[0].label}"
        raise OutputError(str(folder), f"{text}{_of_another_engine(folder)}; `{command}` runs them")
    numbers = evaluated(
        study,
        runs,
        store,
        done=done,
        failures={key: error for key, error in failures.items() if error is not None},
        on_message=on_message,
        on_result=lambda *_: None,
    )
    return Part(study=study, numbers=numbers, judged=())


def keep(  # noqa: PLR0913 (what a file says)
    part: Part,
    store: Runs,
    file: Path,
    *,
    date: str,
    revision: str,
    pictures: Mapping[str, dict[str, str]],
) -> None:
    """Write the numbers of a study into a file.

    Parameters
    ----------
    part
        The study with its numbers, as `finished` returned it.
    store
        The store of the runs, with the time that each took.
    file
        The file to write; its folder is made if it does not exist.
    date, revision, pictures
        As in `StoredNumbers`.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    took = {key: store.wall_s(key) for key in part.numbers.done}
    wall_s = pl.col("run").replace_strict(took, default=None, return_dtype=pl.Float64).alias("wall_s")
    metrics = {metric.name: _definition(metric) for metric in part.numbers.metrics}
    head = {"date": date, "revision": revision, "metrics": metrics, "pictures": pictures}
    content = io.BytesIO()
    table = tidy(part).with_columns(wall_s)
    table.write_parquet(content, compression="zstd", metadata={HEAD: json.dumps(head, ensure_ascii=False)})
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, content.getvalue())
    except OSError as error:
        raise unwritable(file, error) from error


def _definition(metric: Metric) -> Any:  # noqa: ANN401 (any JSON value)
    """Return the definition of a metric in JSON: its kind and its options."""
    options = {name: value for name, value in asdict(metric.options).items() if value != NO_OPTIONS[name]}
    return json.loads(json.dumps({"kind": metric.kind_name, **options}))


def _fields(kind: type[RunFacts | Value], row: Mapping[str, Any]) -> dict[str, Any]:
    return {column.name: row[column.name] for column in fields(kind)}


def _of_another_engine(folder: Path) -> str:
    """Return a remark on the engine of a folder, if it is not the present one: then no run is found in it."""
    try:
        stored_engine = read_json(folder / STUDY_FILE)["engine"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    if stored_engine == engine():
        return ""
    return f" (the folder is of the engine {stored_engine}, and this is {engine()})"
