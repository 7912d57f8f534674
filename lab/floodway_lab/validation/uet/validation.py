"""The validation of every case of a folder of the Ultra Ethernet Consortium's simulator."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floodway.common.errors import ScenarioError, ValidationError
from floodway.simulation.execution import Task, cores, run_all
from floodway_lab.validation.folder import DOCUMENT_FILE, open_folder
from floodway_lab.validation.selection import selected
from floodway_lab.validation.uet.cases import uet_cases_of
from floodway_lab.validation.uet.compare import differences
from floodway_lab.validation.uet.distribution import beyond, outlying, spread_of
from floodway_lab.validation.uet.scenario import scenario_of

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from floodway.results import Result
    from floodway_lab.validation.uet.cases import UetCase
    from floodway_lab.validation.uet.compare import Difference
    from floodway_lab.validation.uet.distribution import SeedRuns

__all__ = ["SEEDS", "UetResult", "UetValidation", "document", "validate_uet"]

#: Runs of a case in which chance decides.
SEEDS = 5


@dataclass(frozen=True, kw_only=True)
class UetResult:
    """A case with its verdict.

    Attributes
    ----------
    case
        The case.
    verdict
        `"pass"` if every end and every window is equal to the picosecond, or if chance decides and the means
        of several runs are within the reference's spread, or where it has one run that is within ours; else
        `"fail"`; `"not run"` where something is not supported.
    seeds
        Number of runs: more than one where chance decides.
    reason
        The reason why it has not run.
    differences
        The differences, the earliest first.
    faults
        Faults of the run, independent of the reference.
    """

    case: UetCase
    verdict: str
    reason: str = ""
    seeds: int = 1
    differences: tuple[Difference | str, ...] = ()
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class UetValidation:
    """Cases with their verdicts.

    Attributes
    ----------
    results
        The results, in the order of their names.
    complete
        Whether all runs ended; false after Ctrl-C.
    """

    results: tuple[UetResult, ...]
    complete: bool

    @property
    def failed(self) -> tuple[UetResult, ...]:
        """Cases that differ from the reference, or whose run broke."""
        return tuple(result for result in self.results if result.verdict == "fail")


def validate_uet(  # noqa: PLR0913 (what a caller may choose)
    folder: str | os.PathLike[str],
    *,
    seeds: int = SEEDS,
    jobs: int | None = None,
    only: Sequence[str] = (),
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    on_progress: Callable[[Sequence[Task]], None] | None = None,
) -> UetValidation:
    """Run the cases of a folder and compare them with the results of the Consortium's simulator.

    Parameters
    ----------
    folder
        A case or a folder of cases: `command.txt` with the files that it names, `flows.tsv`, and where chance
        would choose paths `paths.tsv`.
    seeds
        Number of runs of a case in which chance decides; twice as many where the reference has one.
    jobs
        Number of runs at a time; by default one per core.
    only
        Patterns of cases' names, in which `*` and `?` are wildcards; all by default.
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
    OutputError
        If the folder has other files, or cannot be written.
    RunError
        If a run failed.
    """
    root = Path(folder)
    cases = selected(uet_cases_of(root), only, unmatched=_unmatched)
    plans = [_plan(case, root, seeds=seeds) for case in cases]
    slots = [(plan, task) for plan in plans for task in plan.tasks]
    with open_folder(out, force=force) as target:

        def keep(number: int, result: Result) -> None:
            plan, task = slots[number]
            plan.results.append(result)
            if out is not None:
                result.save(target / task.label.replace("/", "-"), force=True)

        tasks = [task for _, task in slots]
        run_all(tasks, jobs=jobs or cores(), on_progress=on_progress, on_result=keep)
        done = UetValidation(
            results=tuple(_judged(plan) for plan in plans),
            complete=all(len(plan.results) == len(plan.tasks) for plan in plans),
        )
        if out is not None:
            text = json.dumps(document(done), indent=2, ensure_ascii=False)
            (target / DOCUMENT_FILE).write_text(text + "\n", encoding="utf-8")
    return done


@dataclass(kw_only=True)
class _Plan:
    """A case and its runs."""

    case: UetCase
    reason: str = ""
    has_chance: bool = False
    spread: SeedRuns | None = None
    tasks: list[Task] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)


def _plan(case: UetCase, root: Path, *, seeds: int) -> _Plan:
    """Return the plan of a case: its runs, or the reason why it has none."""
    try:
        scenario = scenario_of(case)
    except (ScenarioError, ValidationError) as error:
        return _Plan(case=case, reason=str(error))
    if case.paths:
        return _Plan(case=case, tasks=[Task(label=case.label, scenario=scenario)])
    spread = spread_of(case, root)
    first, seeds = case.options.seed, seeds if spread is not None else 2 * seeds
    tasks = [
        Task(label=f"{case.label}, seed {seed}", scenario=scenario.with_seed(seed))
        for seed in range(first, first + seeds)
    ]
    return _Plan(case=case, has_chance=True, spread=spread, tasks=tasks)


def _unmatched(pattern: str, labels: Sequence[str], near: str | None) -> ValidationError:
    hint = f"; did you mean {near}?" if near else ""
    message = f"{pattern!r} matches none of the cases: {', '.join(labels)}{hint}"
    return ValidationError(message, key="only", given=pattern, allowed=tuple(labels), nearest=near)


def _judged(plan: _Plan) -> UetResult:
    if len(plan.results) < len(plan.tasks) or not plan.tasks:
        return UetResult(case=plan.case, verdict="not run", reason=plan.reason or "interrupted")
    findings: list[Difference | str] = []
    if not plan.has_chance:
        findings += differences(plan.case, plan.results[0])
    elif plan.spread is not None:
        findings += beyond(plan.spread, plan.results)
    else:
        findings += outlying(plan.case, plan.results)
    faults = tuple(fault for result in plan.results for fault in result.outcome.faults)
    return UetResult(
        case=plan.case,
        verdict="fail" if findings or faults else "pass",
        seeds=len(plan.results),
        differences=tuple(findings),
        faults=faults,
    )


def document(validation: UetValidation) -> dict[str, Any]:
    """Return every case with its verdict and its first differences."""
    return {
        "complete": validation.complete,
        "verdict": "fail" if validation.failed else "pass",
        "cases": [
            {
                "case": result.case.label,
                "verdict": result.verdict,
                "reason": result.reason,
                "flows": len(result.case.connections),
                "seeds": result.seeds,
                "differences": [str(one) for one in result.differences[:10]],
                "faults": list(result.faults),
            }
            for result in validation.results
        ],
    }
