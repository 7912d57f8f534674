"""`floodway study` and `floodway reproduce`."""

from __future__ import annotations

import contextlib
import math
import os
import shlex
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from floodway.cli.output import DONE, FAILED, INTERRUPTED, echo, echo_json, errors, warnings
from floodway.cli.pictures import PictureOptions
from floodway.cli.show_document import show, show_table
from floodway.cli.terminal import Terminal
from floodway.cli.watch import WatchAll
from floodway.common.documents import Document, Section, Table
from floodway.common.errors import ScenarioError
from floodway.common.files import read_json
from floodway.common.laboratory import lacks
from floodway.common.ready import resolved
from floodway.comparison.variants import folder_names
from floodway.results.quantities import counted
from floodway.simulation.execution import cores
from floodway.study import (
    conduct,
    expected_minutes,
    load_study,
    plan_of,
    report_of,
    states_of,
)
from floodway.study.numbers import numbers_table, reports
from floodway.study.running.runs import expected

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from distributed import Client

    from floodway.simulation.shards import Shard
    from floodway.study import Conducted, Part, Plan, Study
    from floodway.study.running.runs import Run, State


__all__ = ["Request", "run_all", "slurm_script", "study"]

#: The error of a scenario whose files are in a folder of an environment variable that is not set.
WAITS_FOR_FILES = "needs the environment variable"
#: Width of the table when the output is not a terminal.
TABLE_WIDTH = 160
#: States of runs, in the order of their columns.
STATES: tuple[State, ...] = ("done", "failed", "to do")
#: What stands in place of a report where nothing makes one.
NO_REPORT = "no report: floodway-lab, which makes it, is not installed"
#: Rows of numbers that are shown, and metrics side by side.
MOST_ROWS, METRICS_BESIDE = 40, 4


@dataclass(frozen=True, kw_only=True)
class Request:
    """The options of a call, without what to run."""

    out: Path | None
    jobs: int | None
    seeds: int | tuple[int, ...] | None
    quick: bool
    status: bool
    force: bool
    quiet: bool
    json: bool
    cluster: str | None = None
    shard: Shard | None = None
    report: bool = False
    full: bool = False
    slurm: bool = False
    pictures: PictureOptions = field(default_factory=PictureOptions)


def study(files: Sequence[Path], request: Request) -> int:
    """Run studies, each in a folder of its own; returns the exit code."""
    if request.out is not None and len(files) > 1:
        raise click.BadParameter(f"is one folder, and {len(files)} studies are given", param_hint="--out")
    studies = [load_study(resolved(file)) for file in files]
    names = folder_names([study.name for study in studies])
    return run_all(
        (
            (study.title, (study,), request.out or Path("out", "study", name))
            for study, name in zip(studies, names, strict=True)
        ),
        request,
    )


def _refuse_crossed(request: Request) -> None:
    """Refuse options of which one leaves another without a meaning.

    A cluster has the workers that it has.

    A shard has no document of its own for `--json`, and what one forgets by `--force` another may have run.
    """
    if request.cluster is not None and request.jobs is not None:
        raise click.BadParameter("cannot go with --cluster", param_hint="--jobs")
    chosen = [f"--{name}" for name in ("slurm", "status", "report", "shard") if getattr(request, name)]
    if not chosen:
        return
    crossed = chosen[1:]
    crossed += ["--cluster"] if request.cluster is not None and chosen != ["--shard"] else []
    crossed += ["--force"] if request.force else []
    crossed += ["--json"] if request.json and chosen[0] in {"--slurm", "--shard"} else []
    if crossed:
        raise click.BadParameter(f"cannot go with {crossed[0]}", param_hint=chosen[0])


def run_all(folders: Iterable[tuple[str, tuple[Study, ...], Path]], request: Request) -> int:
    """Read everything before the first run, then run one folder after the other."""
    _refuse_crossed(request)
    if (request.report or (request.json and not request.status)) and reports() is None:
        raise lacks("--report" if request.report else "--json")
    plans = [(title, _plan(studies, request), out) for title, studies, out in folders]
    places = [(plan, out) for _, plan, out in plans]
    if request.status:
        return _status(places, request)
    if request.slurm:
        echo(slurm_script(places, jobs=request.jobs or 1).rstrip())
        return DONE
    documents: list[dict[str, Any]] = []
    code = DONE
    with _executor(request, places) as executor:
        for title, plan, out in plans:
            conducted = _conducted(title, plan, out, request, executor)
            ended = INTERRUPTED if conducted is None else _shown(title, conducted, request, documents)
            if ended == INTERRUPTED:
                return INTERRUPTED
            code = max(code, ended)
    if request.json:
        echo_json(documents if len(documents) > 1 else documents[0])
    return code


@contextlib.contextmanager
def _executor(request: Request, plans: Sequence[tuple[Plan, Path]]) -> Iterator[Client | None]:
    """Have the cluster that is asked for; none without one, or where no run is missing."""
    states = (state for plan, out in plans for state in states_of(plan, out).values())
    if request.cluster is None or not (request.force or any(state != "done" for state in states)):
        yield None
        return
    from floodway.simulation.cluster import cluster  # noqa: PLC0415 (of `--cluster` alone)

    with cluster(request.cluster) as client:
        yield client


def _plan(studies: Sequence[Study], request: Request) -> Plan:
    """Build all studies that can be built: one with missing files does not stop the others."""
    if request.quick and len(studies) > 1:
        skipped = [study.name for study in studies if study.quick.skip]
        if skipped:
            echo(f"left out of the quick version: {', '.join(skipped)}", err=True)
        studies = [study for study in studies if not study.quick.skip]
    built: list[Plan] = []
    waiting: list[tuple[Study, ScenarioError]] = []
    for study in studies:
        try:
            built.append(plan_of((study,), quick=request.quick, seeds=request.seeds))
        except ScenarioError as error:
            if any(WAITS_FOR_FILES not in fault.text for fault in error.faults):
                raise
            waiting.append((study, error))
    if not built:
        raise waiting[0][1]
    for study, failure in waiting:
        echo(f"left out: {failure.faults[0].text.replace(str(study.file), study.name, 1)}", err=True)
    return replace(built[0], studies=tuple(study for plan in built for study in plan.studies))


def _conducted(
    title: str, plan: Plan, out: Path, request: Request, executor: Client | None
) -> Conducted | None:
    """Run what is missing, or report what is there; None after an interruption."""
    jobs = request.jobs or cores()
    if executor is not None:
        from floodway.study.running.executors import threads_of  # noqa: PLC0415 (of `--cluster` alone)

        jobs = max(1, threads_of(executor))
    if not request.quiet and not request.report:
        warnings(_warnings(plan))
        echo(_announced(title, plan, out, request, jobs=jobs), err=True)
    formats = request.pictures.formats
    try:
        with request.pictures.look(), WatchAll(quiet=request.quiet) as watch:
            if request.report:
                return report_of(plan, out=out, title=title, formats=formats, on_message=_warn)
            conducted = conduct(
                plan,
                out=out,
                jobs=jobs,
                shard=request.shard,
                executor=executor,
                force=request.force,
                title=title,
                formats=formats,
                on_progress=watch.update,
                on_message=_warn,
            )
    except KeyboardInterrupt:
        # While pictures were made; during the runs, Ctrl-C ends them and raises nothing.
        echo(f"interrupted; completed runs are kept in {out}/", err=True)
        return None
    if conducted.complete:
        return conducted
    message = f"{len(conducted.done)} of {len(plan.runs)} runs are kept in {out}/"
    echo(f"interrupted; {message}, and the same command continues from there", err=True)
    return None


def _shown(title: str, conducted: Conducted, request: Request, documents: list[dict[str, Any]]) -> int:
    """Print what came out, or add it to the documents for JSON, and return the exit code."""
    if not conducted.parts:
        return _left_to_others(conducted, request)
    if request.json:
        documents.append(read_json(conducted.folder / "study.json"))
    elif not request.quiet:
        show(_document(conducted, title), sys.stdout, full=request.full)
        files = conducted.files
        echo(f"report: {files[0]}" if files else f"{NO_REPORT}; runs: {conducted.folder}/")
    return _verdict(conducted, conducted.plan.runs)


def _left_to_others(conducted: Conducted, request: Request) -> int:
    """Say why there is no report yet, and return the exit code."""
    runs = conducted.plan.runs
    shard_runs = runs if request.shard is None else request.shard.of(runs)
    done = sum(run.key in conducted.done for run in shard_runs)
    of_shard = "" if request.shard is None else f" of shard {request.shard}"
    rest = (
        f"{conducted.missing} of all {len(runs)} are missing, and the last shard writes the report"
        if conducted.missing
        else f"all {len(runs)} are there, and another process writes the report"
    )
    if not request.quiet:
        state = f"{done} of {len(shard_runs)} runs{of_shard} are there"
        echo(f"{conducted.folder}: {state}; {rest}", err=True)
    lost = any(run.key not in conducted.done and run.key not in conducted.failures for run in shard_runs)
    return max(_verdict(conducted, shard_runs), FAILED if lost else DONE)


def _warn(text: str) -> None:
    warnings([text])


def _announced(title: str, plan: Plan, out: Path, request: Request, *, jobs: int) -> str:
    if request.shard is not None:
        plan = plan.shard(request.shard)
        title = f"{title}, shard {request.shard}"
    states = {} if request.force else states_of(plan, out)
    missing = sum(states.get(run.key) != "done" for run in plan.runs)
    total = len(plan.runs)
    if not missing:
        return f"{title}: all {total} runs are in {out}/"
    of_total = f" of {total}" if missing < total else ""
    minutes = expected_minutes(plan, out, states=states, jobs=jobs)
    return f"{title}: {missing}{of_total} runs, {expected(minutes, jobs=jobs)}"


def _warnings(plan: Plan) -> list[str]:
    """Return each warning once, with the first run that has it."""
    first: dict[str, str] = {}
    for run in plan.runs:
        for warning in run.warnings:
            first.setdefault(warning, run.label)
    return [f"{label}: {warning}" for warning, label in first.items()]


def _status(plans: Sequence[tuple[Plan, Path]], request: Request) -> int:
    """Count runs by study and variant; what failed is named, with why, each reason once."""
    rows = [row for plan, out in plans for row in _status_rows(plan, out)]
    if request.json:
        echo_json(rows)
        return DONE
    for plan, out in plans:
        counts = Counter(states_of(plan, out).values())
        counts_text = ", ".join(f"{counts[state]} {state}" for state in STATES)
        echo(f"{out}: {counted(len(plan.runs), 'run')}: {counts_text}")
        if not request.quiet and counts["done"] < len(plan.runs):
            _show_states([row for row in rows if row["folder"] == str(out)])
    return DONE


def _show_states(rows: Sequence[dict[str, Any]]) -> None:
    groups: dict[tuple[str, str], Counter[str]] = {}
    for row in rows:
        groups.setdefault((row["study"], row["variant"]), Counter())[row["state"]] += 1
    # A study is named once.
    names = [name for name, _ in groups]
    lines = (
        (
            "" if number and names[number - 1] == name else name,
            variant,
            *(f"{counts[state]:,}" if counts[state] else "" for state in STATES),
        )
        for number, ((name, variant), counts) in enumerate(groups.items())
    )
    show_table(
        Terminal(width=TABLE_WIDTH),
        Table(columns=("study", "variant", *STATES), rows=tuple(lines), words=frozenset({"variant"})),
    )
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row["error"]:
            reasons.setdefault(row["error"], []).append(f"{row['study']}: {row['run']}")
    for error, runs in reasons.items():
        more = f" and {len(runs) - 1} more" if len(runs) > 1 else ""
        echo(f"  failed: {runs[0]}{more}: {error}")


def _status_rows(plan: Plan, out: Path) -> list[dict[str, Any]]:
    from floodway.study.running.storage import Runs  # noqa: PLC0415 (of the status alone)

    states = states_of(plan, out)
    store = Runs(out / "runs")
    return [
        {
            "folder": str(out),
            "study": study.name,
            "variant": run.variant,
            "run": run.label,
            "key": run.key,
            "state": states[run.key],
            "error": store.failure(run.key) if states[run.key] == "failed" else None,
        }
        for study, runs in plan.studies
        for run in runs
    ]


def _document(conducted: Conducted, title: str) -> Document:
    """Return the counts of verdicts, the statements that do not hold first, and every claim and number."""
    laboratory = reports()
    claims = None if laboratory is None else laboratory.claims(conducted)
    numbers = [
        table
        for part in conducted.parts
        if not part.judged
        for table in _numbers(part, report=bool(conducted.files))
    ]
    if claims is None:
        where = "--full, and the report" if conducted.files else "--full"
        claims = Document(
            title=title,
            answer=f"{counted(len(conducted.done), 'run')} ended; no statement is judged.",
            table=next((table.shortened("more rows", where) for table in numbers), None),
        )
    sections = (*claims.sections, Section(title="Numbers", tables=tuple(numbers)))
    return replace(claims, title=title, sections=sections)


def _numbers(part: Part, *, report: bool) -> Iterator[Table]:
    """Return the means of a study without claims, a few side by side; all rows if no report has them."""
    metrics = part.numbers.metrics
    for begin in range(0, len(metrics), METRICS_BESIDE):
        table = numbers_table(part, metrics[begin : begin + METRICS_BESIDE])
        most = MOST_ROWS if report else len(table.rows)
        left_out = len(table.rows) - most
        more = [f"{left_out} more rows are in the report's folder, in numbers.csv"] if left_out > 0 else []
        yield replace(table, title=part.study.title, rows=table.rows[:most], notes=(*table.notes, *more))


def _verdict(conducted: Conducted, runs: Iterable[Run]) -> int:
    """Name those of some runs that failed, and return the exit code."""
    failed = [run for run in runs if run.key in conducted.failures]
    errors(*(f"{run.label}: {conducted.failures[run.key]}" for run in failed))
    return FAILED if failed else DONE


#: Maximum number of tasks: Slurm's default of MaxArraySize is 1,001.
MOST_TASKS = 1000
#: Duration of a task, if that of runs is known: starting a task takes seconds.
MINUTES_A_TASK = 60
#: Runs of a task, if their duration is not known.
RUNS_A_TASK = 16
#: The shard of a task, by the variables that Slurm sets.
SHARD = '"$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT"'


def slurm_script(plans: Sequence[tuple[Plan, Path]], *, jobs: int) -> str:
    """Return the script of a job array for the missing runs of plans.

    Parameters
    ----------
    plans
        Plans with the folders of their results.
    jobs
        Number of runs at a time in each task, one per core.
    """
    missing, minutes = _work(plans, jobs=jobs)
    if not missing:
        return "# all runs are there\n"
    tasks = missing / RUNS_A_TASK if minutes is None else minutes / MINUTES_A_TASK
    last = max(1, min(math.ceil(tasks), missing, MOST_TASKS)) - 1
    taken = "" if minutes is None else f", some {max(1, round(minutes * jobs)):,} min of one core"
    command = _command()
    return f"""\
#!/bin/sh
# {missing:,} runs are missing{taken}. Any number of tasks does: each of n has every n-th run.
#SBATCH --job-name=floodway
#SBATCH --array=0-{last}
#SBATCH --cpus-per-task={jobs}
#SBATCH --chdir={shlex.quote(os.fspath(Path.cwd()))}
# The task that ends last writes the report. After tasks that were killed, submit this again.
exec {command} --jobs {jobs} --quiet --shard {SHARD}
"""


def _work(plans: Sequence[tuple[Plan, Path]], *, jobs: int) -> tuple[int, float | None]:
    """Return the number of missing runs, and the minutes that they take; None if that is not known."""
    missing, total = 0, 0.0
    is_known = True
    for plan, out in plans:
        states = states_of(plan, out)
        missing += sum(state != "done" for state in states.values())
        minutes = expected_minutes(plan, out, states=states, jobs=jobs)
        is_known = is_known and minutes is not None
        total += minutes or 0
    return missing, total if is_known else None


def _command() -> str:
    """Return this command line without the options that the script sets."""
    program = Path(sys.argv[0])
    called = (
        [sys.executable, "-P", "-m", "floodway"]
        if program.name == "__main__.py"
        else [os.fspath(program.resolve())]
    )
    words = iter(sys.argv[1:])
    arguments = []
    for word in words:
        if word == "--jobs":
            next(words, None)
        elif word not in {"--slurm", "--quiet"} and not word.startswith("--jobs="):
            arguments.append(word)
    return shlex.join([*called, *arguments])
