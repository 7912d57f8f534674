"""The command `floodway plan`."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from floodway.cli.output import DONE, FAILED, echo, errors, warnings
from floodway.common.errors import LostResultsError, OutputError, PlanError, unwritable
from floodway.common.loading import loading
from floodway.common.ready import resolved
from floodway.planning.plan_files import PLAN_FILES, SWITCH_FILES
from floodway.planning.question import check_flow_controls, check_oversubscribed
from floodway.planning.question_files import is_question, question_of, questions_of_scenario, read_keys
from floodway.results.files import new_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from floodway.planning.question import Question

__all__ = ["Request", "plan"]

#: Warning of plans of several kinds of links.
OF_KINDS = (
    "each kind of link is planned as if it had the memory at its end alone; where they share a switch, their "
    "needs add up"
)


@dataclass(frozen=True, kw_only=True)
class Request:
    """The arguments of `floodway plan`."""

    file: Path | None
    keys: Mapping[str, Any]
    flow_controls: tuple[str, ...]
    kinds: tuple[str, ...]
    oversubscribed: float
    simulate: bool
    out: Path | None
    sonic: Path | None
    ports: tuple[str, ...]
    dscps: tuple[str, ...]
    force: bool
    jobs: int | None
    quiet: bool
    json: bool
    full: bool


def plan(request: Request) -> int:
    """Plan links, print or write the plans, and return the exit code."""
    check_oversubscribed(request.oversubscribed)
    check_flow_controls(request.flow_controls)
    questions = _questions(request)
    _check_folders(tuple(questions), request)
    # Takes longer to import than the checks before it.
    with loading():
        from floodway.cli import planned  # noqa: PLC0415 (errors above need none of it)
    if request.sonic is not None:
        planned.check_configuration(questions, request)
    with contextlib.ExitStack() as folders:
        _make_folders(request, folders)
        return _answered(questions, request)


def _answered(questions: Mapping[str, Question], request: Request) -> int:
    from floodway.cli import planned  # noqa: PLC0415 (as above)

    names = tuple(questions)
    try:
        plans = {
            name: planned.planned(question, request, out=dict(_folders(name, names, request)).get("out"))
            for name, question in questions.items()
        }
    except KeyboardInterrupt:
        if request.simulate:
            continuing = f"what was simulated is kept in {request.out}/: the same call goes on there"
            missing = "--out DIR would have kept what was simulated"
            echo(f"interrupted; {missing if request.out is None else continuing}", err=True)
        raise
    if request.json:
        planned.echo_json(plans, one=request.file is None or "" in plans)
    if len(plans) > 1:
        warnings([OF_KINDS])
    written: list[bool] = []
    for name, answer in plans.items():
        folders = dict(_folders(name, tuple(plans), request))
        written.append(planned.show_and_write(answer, name, request, **folders))
    reasons = ((name, ", ".join(planned.losses_of(answer, request))) for name, answer in plans.items())
    lost = {name: reason for name, reason in reasons if reason}
    if request.quiet or request.json:
        # Otherwise the tables contain these errors.
        for name, reason in lost.items():
            errors(f"{name}: {reason}" if name else reason)
    return DONE if all(written) and not lost else FAILED


def _folders(name: str, names: Sequence[str], request: Request) -> Iterator[tuple[str, Path]]:
    """Yield the folders of a kind of link: subfolders of the given ones if there are several kinds."""
    for key, folder in (("out", request.out), ("sonic", request.sonic)):
        if folder is not None:
            yield key, folder / name if name and len(names) > 1 else folder


def _check_folders(names: Sequence[str], request: Request) -> None:
    """Check before the runs that the plans can be written afterwards.

    Raises
    ------
    PlanError
        If an option needs another, or a folder has no name.
    OutputError
        If there is a plan already, and `--force` is not given.
    """
    for key, label, value in (("ports", "ports", request.ports), ("dscp", "DSCPs", request.dscps)):
        if value and request.sonic is None:
            raise PlanError(f"{key}: only a configuration of SONiC has {label} (--sonic DIR)", key=key)
    if request.sonic is not None and len(names) > 1:
        kinds = ", ".join(names)
        text = f"sonic: a configuration is for one kind of link; choose one by --kinds: {kinds}"
        raise PlanError(text, key="sonic")
    for name in names:
        for key, folder in _folders(name, names, request):
            # An empty text is this path.
            if str(folder) == ".":
                raise PlanError(f"{key}: the name of a folder of its own is needed", key=key)
            files = PLAN_FILES if key == "out" else SWITCH_FILES
            if not request.force and any((folder / file).exists() for file in files):
                raise OutputError(str(folder), "holds a plan already; --force replaces it")


def _make_folders(request: Request, folders: contextlib.ExitStack) -> None:
    """Create the requested folders; the end of `folders` removes those that are empty."""
    for folder in (request.out, request.sonic):
        if folder is None:
            continue
        try:
            folders.enter_context(new_folder(folder))
        except OSError as error:
            fault = unwritable(folder, error)
            # Without room on the disk the answer can still be printed.
            if not isinstance(fault, LostResultsError):
                raise fault from error


def _questions(request: Request) -> dict[str, Question]:
    """Return the questions of a scenario by kind of link; that of other inputs has an empty name."""
    file = request.file
    if file is None or is_question(resolved(file)):
        if request.kinds:
            raise PlanError("kinds: only links of a scenario have kinds", key="kinds")
        return {"": question_of(request.keys, file=None if file is None else read_keys(resolved(file)))}
    with loading():
        from floodway.cli.inputs import parsed  # noqa: PLC0415 (only scenarios need it)
    return questions_of_scenario(parsed(file, sets=()), request.keys, request.kinds)
