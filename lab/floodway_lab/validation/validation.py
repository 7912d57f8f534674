"""The validation of every case of a folder."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from floodway.common.errors import ScenarioError, ValidationError
from floodway.comparison.variants import folder_names
from floodway.simulation.execution import Task, cores, run_all
from floodway_lab.validation.case_results import CaseResult, Reference, side_of
from floodway_lab.validation.cases import cases_of
from floodway_lab.validation.document import document
from floodway_lab.validation.equality import decided
from floodway_lab.validation.folder import DOCUMENT_FILE, open_folder
from floodway_lab.validation.rows import worst
from floodway_lab.validation.running import export, refusal_of, scenario_of
from floodway_lab.validation.selection import selected

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from floodway.results import Result
    from floodway.scenarios.scenario import Scenario
    from floodway_lab.validation.case_results import Side
    from floodway_lab.validation.rules import Verdict

__all__ = ["SEEDS", "Validation", "validate"]

#: Runs of a case that bounds decide, since chance or ties may differ.
SEEDS = 5
#: The most bytes of payload of a case of the quick form.
QUICK_BYTES = 1_000_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Validation:
    """Cases with their verdicts.

    Attributes
    ----------
    cases
        The results, in the order of their names.
    failures
        Faults of runs, independent of the reference, a line each.
    complete
        Whether all runs ended; false after Ctrl-C, when the cases have the runs that did.
    """

    cases: tuple[CaseResult, ...]
    failures: tuple[str, ...]
    complete: bool

    @property
    def verdict(self) -> Verdict:
        """The verdict of all cases that have run."""
        return "fail" if self.failures else worst(case.verdict for case in self.cases if not case.not_run)

    @property
    def counts(self) -> dict[str, int]:
        """Number of configurations with each verdict."""
        counter = Counter(case.verdict for case in self.cases)
        return {
            verdict: counter[verdict] for verdict in ("pass", "fail", "shown", "not run") if counter[verdict]
        }


@dataclass(kw_only=True)
class _Plan:
    """A case and its runs."""

    reference: Reference
    scenario: Scenario | None
    not_run: str
    #: The configuration's own seed, and those that run if the first does not equal the reference.
    seeds: tuple[int, ...]
    tasks: dict[int, Task] = field(default_factory=dict)
    sides: dict[int, Side] = field(default_factory=dict)

    @property
    def decided(self) -> bool:
        """Whether the first run decides: its flows and PFC frames equal the reference's, or have to."""
        expected = self.reference
        return any(
            decided(expected.side, side) or expected.kind(side) == "equal" for side in self.sides.values()
        )


def validate(  # noqa: PLR0913 (what a caller may choose)
    folder: str | os.PathLike[str],
    *,
    seeds: int = SEEDS,
    jobs: int | None = None,
    quick: bool = False,
    other_build: bool = False,
    only: Sequence[str] = (),
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    on_progress: Callable[[Sequence[Task]], None] | None = None,
) -> Validation:
    """Run the cases of a folder and compare them with the HPCC simulator's results.

    Parameters
    ----------
    folder
        A case or a folder of cases: `config_TAG.txt` with the files that it names, and beside it the
        reference's `fct_TAG.txt`, `pfc_TAG.txt` and `qlen_TAG.txt`, or the files that it names instead.
    seeds
        Number of runs of a case that bounds decide and in which switches mark at random or ties occur; other
        cases have one run.
    jobs
        Number of runs at a time; by default one per core.
    quick
        Whether to leave out cases of more than 1 GB of payload, and run those once in which only ties decide.
    other_build
        Whether another build or fork of the simulator made the reference, whose ties, draws and paths may
        differ: then bounds decide. By default its flows, frames, samples and totals have to be equal, unless
        a hash chooses paths that are not listed and fewer than 200 flows ended before the first difference.
    only
        Patterns of `case/tag`, in which `*` and `?` are wildcards; all by default.
    out
        The folder of the runs and of `validate.json`; by default they are not kept.
    force
        Whether an earlier validation there may be replaced.
    on_progress
        Called about ten times a second in the calling thread.

    Raises
    ------
    ValidationError
        If a file of the reference is missing or malformed; nothing has run then.
    ScenarioError
        If a topology or a list of flows cannot be read; nothing has run then.
    OutputError
        If the folder has other files, or cannot be written.
    RunError
        If a run failed.
    """
    if seeds < 1:
        raise ValidationError(f"{seeds} seeds: at least one is needed", key="seeds", given=str(seeds))
    chosen = selected(cases_of(folder), only, unmatched=_unmatched)
    references = [Reference.of(case, other_build=other_build) for case in chosen]
    plans = [_plan(reference, seeds=seeds, quick=quick) for reference in references]
    with open_folder(out, force=force) as target:
        failures = _run(plans, target, jobs=jobs or cores(), on_progress=on_progress)
        done = Validation(
            cases=tuple(_case_result(plan) for plan in plans),
            failures=tuple(failures),
            complete=all(task.result for plan in plans for task in plan.tasks.values()),
        )
        if out is not None:
            text = json.dumps(document(done), indent=2, ensure_ascii=False)
            (target / DOCUMENT_FILE).write_text(text + "\n", encoding="utf-8")
    return done


def _unmatched(pattern: str, labels: Sequence[str], near: str | None) -> ValidationError:
    hint = f"; did you mean {near}?" if near else ""
    message = f"{pattern!r} matches none of the cases: {', '.join(labels)}{hint}"
    return ValidationError(message, key="only", given=pattern, allowed=tuple(labels), nearest=near)


def _plan(reference: Reference, *, seeds: int, quick: bool) -> _Plan:
    payload = int(reference.side.flows["size_bytes"].sum())
    if quick and payload > QUICK_BYTES:
        reason = f"left out of the quick version: {payload / 1e9:,.1f} GB of payload"
        return _Plan(reference=reference, scenario=None, not_run=reason, seeds=())
    try:
        scenario = scenario_of(reference.case)
    except ScenarioError as error:
        refusal = refusal_of(reference.case, error)
        if refusal is None:
            raise
        return _Plan(reference=reference, scenario=None, not_run=refusal, seeds=())
    once = reference.chance == "exact" or (quick and reference.chance == "tied")
    count = 1 if once else seeds
    first = scenario.seed
    return _Plan(reference=reference, scenario=scenario, not_run="", seeds=tuple(range(first, first + count)))


def _run(
    plans: Sequence[_Plan],
    target: Path,
    *,
    jobs: int,
    on_progress: Callable[[Sequence[Task]], None] | None,
) -> list[str]:
    """Run every plan with its first seed and then, unless that run decides, with the others."""
    names = folder_names([plan.reference.case.label.replace("/", " ") for plan in plans])
    folders = [target / name for name in names]
    done: list[Task] = []
    failures: list[str] = []
    for first in (True, False):
        slots = list(_slots(plans, folders, first=first))
        if not slots or not all(task.result for task in done):
            break
        tasks = [slot.task for slot in slots]

        def keep(number: int, result: Result, slots: Sequence[_Slot] = slots) -> None:
            slot = slots[number]
            export(result, slot.task.scenario, slot.folder)
            slot.plan.sides[slot.seed] = side_of(slot.folder)
            failures.extend(f"{slot.task.label}: {text}" for text in result.outcome.faults)

        def look(running: Sequence[Task], before: tuple[Task, ...] = tuple(done)) -> None:
            if on_progress is not None:
                on_progress([*before, *running])

        run_all(tasks, jobs=jobs, on_progress=look, on_result=keep)
        done += tasks
    return failures


@dataclass(frozen=True, kw_only=True)
class _Slot:
    """A planned run, and its folder."""

    plan: _Plan
    seed: int
    task: Task
    folder: Path


def _slots(plans: Sequence[_Plan], folders: Sequence[Path], *, first: bool) -> Iterator[_Slot]:
    """Return the tasks of the first seed of every plan, or of the other seeds of plans that need them."""
    for plan, folder in zip(plans, folders, strict=True):
        if plan.scenario is None or (not first and (len(plan.seeds) == 1 or plan.decided)):
            continue
        for seed in plan.seeds[:1] if first else plan.seeds[1:]:
            label = plan.reference.case.label + ("" if first else f", seed {seed}")
            task = Task(label=label, scenario=plan.scenario.with_seed(seed))
            plan.tasks[seed] = task
            yield _Slot(plan=plan, seed=seed, task=task, folder=folder / f"seed-{seed}")


def _case_result(plan: _Plan) -> CaseResult:
    """Compare the finished runs of a case with its reference."""
    ended = [(seed, plan.tasks[seed].result, side) for seed, side in sorted(plan.sides.items())]
    if not ended:
        return CaseResult(reference=plan.reference, not_run=plan.not_run or "interrupted")
    return CaseResult(
        reference=plan.reference,
        seeds=tuple(seed for seed, _, _ in ended),
        sides=tuple(side for _, _, side in ended),
        wall_s=tuple(result.run.timings.wall_s for _, result, _ in ended if result is not None),
        warnings=() if plan.scenario is None else plan.scenario.warnings,
    )
