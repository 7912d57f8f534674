"""Plans of `floodway plan`: computed, printed and written."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from floodway.cli.bar import counting
from floodway.cli.output import echo, errors, warnings
from floodway.cli.show_document import show
from floodway.common.documents import as_json
from floodway.common.errors import OutputError
from floodway.planning.answer import lost, lost_in_its_run
from floodway.planning.document import document
from floodway.planning.folder import write_plan
from floodway.planning.plan_files import RUNS_FOLDER
from floodway.planning.planner import plan_of
from floodway.planning.sonic.from_plan import (
    configuration_of,
    warnings_of,
    write_plan_for_switches,
)
from floodway.planning.trials import Runs

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from floodway.cli.plan import Request
    from floodway.planning.planner import Plan
    from floodway.planning.question import Question

__all__ = ["check_configuration", "echo_json", "losses_of", "planned", "show_and_write"]


def check_configuration(questions: Mapping[str, Question], request: Request) -> None:
    """Check by formulas that the requested configuration of SONiC is possible.

    Raises
    ------
    PlanError
        If it is not.
    """
    for question in questions.values():
        sketch = plan_of(question, simulate=False, oversubscribed=request.oversubscribed)
        configuration_of(sketch, ports=request.ports, dscps=request.dscps)


def planned(question: Question, request: Request, *, out: Path | None) -> Plan:
    """Compute a plan, with a progress bar; finished runs are kept in the plan's folder, if any."""
    with counting("hardest runs", "parts", visible=not request.quiet) as done:
        return plan_of(
            question,
            flow_controls=request.flow_controls,
            simulate=request.simulate,
            oversubscribed=request.oversubscribed,
            jobs=request.jobs,
            done=done,
            runs=None if out is None else Runs(out / RUNS_FOLDER),
        )


def echo_json(plans: Mapping[str, Plan], *, one: bool) -> None:
    """Print the document of one plan, or of several by kind of link, as JSON."""
    documents = {name: as_json(document(plan)) for name, plan in plans.items()}
    whole = next(iter(documents.values())) if one else documents
    echo(json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False))


def losses_of(plan: Plan, request: Request) -> list[str]:
    """Return which planned sizes lost packets, without what the writer of a configuration reports."""
    pooled = lost_in_its_run(plan)
    return [text for text in lost(plan) if request.sonic is None or text != pooled]


def show_and_write(
    plan: Plan, name: str, request: Request, *, out: Path | None = None, sonic: Path | None = None
) -> bool:
    """Print a plan, write it into the given folders, and return whether it could be written."""
    spoken = not request.json and not request.quiet
    if spoken:
        if name:
            echo(f"{name}:")
        show(document(plan), sys.stdout, full=request.full)
    try:
        if out is not None:
            write_plan(plan, out)
            if spoken:
                echo(f"page, pictures, plan.json and scenarios: {out}")
        if sonic is not None:
            return _write_for_switches(plan, sonic, request)
    except OutputError as error:
        # The answer has been printed.
        errors(str(error))
        return False
    return True


def _write_for_switches(plan: Plan, folder: Path, request: Request) -> bool:
    """Write SONiC's configuration, unless the plan's run lost packets, and return whether it was written."""
    if reason := lost_in_its_run(plan):
        errors(f"{folder}: not written: {reason}")
        return False
    write_plan_for_switches(plan, folder, ports=request.ports, dscps=request.dscps)
    if request.quiet:
        return True
    warnings(warnings_of(plan, configuration_of(plan, ports=request.ports, dscps=request.dscps)))
    if not request.json:
        echo(f"SONiC's configuration, not tried on a device: {folder}")
    return True
