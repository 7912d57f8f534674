"""`floodway plan`."""

from __future__ import annotations

import contextlib
import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from floodway.cli.bar import bar
from floodway.cli.exits import DONE, FAILED
from floodway.cli.inputs import parsed
from floodway.cli.output import echo
from floodway.cli.show_plan import show
from floodway.errors import LostResultsError, OutputError, PlanError, unwritable
from floodway.planning.asking import is_question, question_of, questions_of_scenario, read_keys
from floodway.planning.document import document
from floodway.planning.folder import write_plan
from floodway.planning.planner import plan_of
from floodway.planning.sonic.from_plan import configuration_of, write_plan_for_switches
from floodway.ready import resolved
from floodway.results.files import new_folder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from floodway.planning.planner import Plan
    from floodway.planning.question import Question

__all__ = ["Wanted", "plan"]


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the options ask for."""

    keys: Mapping[str, Any]
    flow_controls: tuple[str, ...]
    kinds: tuple[str, ...]
    oversubscribed: float
    simulate: bool
    out: Path | None
    sonic: Path | None
    ports: tuple[str, ...]
    jobs: int | None
    quiet: bool
    json: bool


def plan(file: Path | None, wanted: Wanted) -> int:
    """Plan links, print or write the plans; returns the exit code."""
    questions = _questions(file, wanted)
    with contextlib.ExitStack() as folders:
        _check_before(questions, wanted, folders)
        return _answered(file, questions, wanted)


def _answered(file: Path | None, questions: Mapping[str, Question], wanted: Wanted) -> int:
    plans = {name: _planned(question, wanted) for name, question in questions.items()}
    if wanted.json:
        documents = {name: document(each) for name, each in plans.items()}
        whole = documents if file is not None and "" not in documents else next(iter(documents.values()))
        echo(json.dumps(whole, indent=2, ensure_ascii=False))
    if len(plans) > 1:
        echo(
            "warning: each kind of link is planned as if it had the memory at its end alone; where they share"
            " a switch, their needs add up",
            err=True,
        )
    written: list[bool] = []
    for name, each in plans.items():
        if not wanted.json and not wanted.quiet:
            if name:
                echo(f"{name}:")
            show(each, sys.stdout)
        written.append(_written(each, name if len(plans) > 1 else "", wanted))
    return DONE if all(written) and all(_hold(each) for each in plans.values()) else FAILED


def _written(plan: Plan, name: str, wanted: Wanted) -> bool:
    """Write a plan to the folders that are asked for, and say so; whether that was possible."""
    try:
        if wanted.out is not None:
            write_plan(plan, wanted.out / name)
            if not wanted.json and not wanted.quiet:
                echo(f"page, pictures, plan.json and scenarios: {wanted.out / name}")
        if wanted.sonic is not None:
            write_plan_for_switches(plan, wanted.sonic / name, ports=wanted.ports)
            if not wanted.json and not wanted.quiet:
                echo(f"SONiC's configuration, not tried on a device: {wanted.sonic / name}")
    except OutputError as error:
        # The answer itself is printed already.
        echo(f"error: {error}", err=True)
        return False
    return True


def _check_before(questions: Mapping[str, Question], wanted: Wanted, folders: contextlib.ExitStack) -> None:
    """Refuse before anything is run what cannot be written afterwards; `folders` ends with the command."""
    if wanted.ports and wanted.sonic is None:
        raise PlanError("ports: only a configuration of SONiC has ports (--sonic DIR)", key="ports")
    if wanted.sonic is not None:
        _check_configuration(questions, wanted)
    for key, folder in (("out", wanted.out), ("sonic", wanted.sonic)):
        if folder is None:
            continue
        # What typer makes of an empty text.
        if str(folder) == ".":
            raise PlanError(f"{key}: the name of a folder of its own is needed", key=key)
        try:
            folders.enter_context(new_folder(folder))
        except OSError as error:
            fault = unwritable(folder, error)
            # The answer needs no room.
            if not isinstance(fault, LostResultsError):
                raise fault from error


def _check_configuration(questions: Mapping[str, Question], wanted: Wanted) -> None:
    if len(questions) > 1:
        kinds = ", ".join(questions)
        text = f"sonic: a configuration is for one kind of link; choose one by --kinds: {kinds}"
        raise PlanError(text, key="sonic")
    for question in questions.values():
        sketch = plan_of(question, simulate=False, oversubscribed=wanted.oversubscribed)
        configuration_of(sketch, ports=wanted.ports)


def _questions(file: Path | None, wanted: Wanted) -> dict[str, Question]:
    """Return the questions by the kind of link of a scenario; the only one elsewhere has no name."""
    if file is None or is_question(resolved(file)):
        if wanted.kinds:
            raise PlanError("kinds: only links of a scenario have kinds", key="kinds")
        given = {key: value for key, value in wanted.keys.items() if value is not None}
        written = {} if file is None else read_keys(resolved(file))
        return {"": question_of(written | given, place="" if file is None or given else str(file))}
    return questions_of_scenario(parsed(file, sets=()), wanted.keys, wanted.kinds)


def _planned(question: Question, wanted: Wanted) -> Plan:
    with bar() as display:
        task = display.add_task("hardest runs", total=None, state="", visible=not wanted.quiet)

        def done(count: int, of: int) -> None:
            display.update(task, completed=count, total=of, state=f"{count} of {of} parts")

        return plan_of(
            question,
            flow_controls=wanted.flow_controls,
            simulate=wanted.simulate,
            oversubscribed=wanted.oversubscribed,
            jobs=wanted.jobs,
            done=done,
        )


def _hold(plan: Plan) -> bool:
    """Whether no planned size lost packets where it should not."""
    runs = [run for row in plan.rows for run in (row.trial, row.busy_run, row.flap_run) if run is not None]
    pooled = plan.pool_run is None or plan.pool_run.holds
    return pooled and all(run.lost_packets == 0 for run in runs)
