"""Mutants of the mechanisms: each must make at least one verdict of its paper's quick studies worse.

A study whose verdicts stay the same, whatever is done to the mechanism, shows nothing about the mechanism.
Where statements of ours alone notice a mutant, no published one that was tried shows it; the page says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from floodway import _floodway
from floodway.common.errors import StudyError
from floodway.study import conduct, load_study, plan_of
from floodway.study.format.read import read_study_json
from floodway_lab.study.claims.judgement import VERDICTS, best_reading
from floodway_lab.study.report.claim_rows import statements

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from floodway.study import Conducted, Study
    from floodway.study.format.model import Sets
    from floodway_lab.study.claims.judgement import Judged, Verdict

__all__ = ["Mutant", "MutantResult", "Worse", "mutants_of", "tried"]


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A mechanism with something wrong.

    Attributes
    ----------
    name, fault
        Its name, and its fault in a sentence.
    studies
        The studies in which it is tried.
    variants
        The variants of these that have the mechanism; those that a study does not have are skipped.
    sets
        Its settings, which follow those of the variant.
    """

    name: str
    fault: str
    studies: tuple[str, ...]
    variants: tuple[str, ...]
    sets: Sets


@dataclass(frozen=True, kw_only=True)
class Worse:
    """A statement whose verdict a mutant makes worse: its study, its words, the verdict before and after.

    `published` is whether a paper prints it: statements of our own, of formulas and of logs do not count.
    """

    study: str
    published: bool
    says: str
    before: Verdict
    after: Verdict


@dataclass(frozen=True, kw_only=True)
class MutantResult:
    """A mutant with the statements whose verdicts it made worse."""

    mutant: Mutant
    worse: tuple[Worse, ...]

    @property
    def published(self) -> tuple[Worse, ...]:
        """The statements that a paper prints."""
        return tuple(statement for statement in self.worse if statement.published)


def mutants_of(file: Path) -> tuple[Mutant, ...]:
    """Read the mutants of a paper.

    Raises
    ------
    StudyError
        If the file cannot be read, has an unknown key, or lacks one.
    """
    return tuple(
        Mutant(
            name=table["name"],
            fault=table["what"],
            studies=tuple(table["studies"]),
            variants=tuple(table["variants"]),
            sets=table["sets"],
        )
        for table in read_study_json(file, _floodway.parse_mutants)
    )


def tried(
    mutants: Sequence[Mutant],
    files: Mapping[str, Path],
    *,
    out: Path,
    jobs: int | None = None,
    on_message: Callable[[str], None],
) -> tuple[MutantResult, ...]:
    """Run the quick studies with each mutant, and compare the verdicts with those without it.

    Parameters
    ----------
    mutants
        The mutants.
    files
        The studies' files by name.
    out
        Folder of the runs; those that it already has are not run again.
    jobs
        Number of processes; by default one per core.
    on_message
        Called with a line about each mutant.

    Raises
    ------
    StudyError
        If a study is not there, has none of a mutant's variants, or cannot be run.
    ScenarioError
        If a mutant cannot be simulated.
    """
    names = dict.fromkeys(name for mutant in mutants for name in mutant.studies)
    studies = {name: load_study(files[name]) for name in names}
    sound = {name: _judged(study, out, jobs) for name, study in studies.items()}
    results: list[MutantResult] = []
    for mutant in mutants:
        worse: list[Worse] = []
        for name in mutant.studies:
            changed = _judged(_mutated(studies[name], mutant), out, jobs)
            worse += _worse(name, sound[name], changed)
        results.append(MutantResult(mutant=mutant, worse=tuple(worse)))
        published = len(results[-1].published)
        on_message(
            f"{mutant.name}: {published} published statements are worse, and {len(worse) - published} others"
            + ("" if worse else ": not noticed")
        )
    return tuple(results)


def _mutated(study: Study, mutant: Mutant) -> Study:
    """Return a study in which the variants with the mechanism have the mutant's."""
    variants = tuple(
        # A reading with values of its own makes `VARIANT, READING` of a variant.
        replace(variant, sets=(*variant.sets, *mutant.sets))
        if variant.name.partition(", ")[0] in mutant.variants
        else variant
        for variant in study.variants
    )
    if variants == study.variants:
        text = f"{study.file}: variant: the mutant {mutant.name!r} is of none of this study's variants"
        raise StudyError(text, place=str(study.file), key="variant")
    return replace(study, variants=variants)


def _judged(study: Study, out: Path, jobs: int | None) -> dict[str, Judged]:
    """Run the quick form of a study; return the best reading of each statement."""
    conducted: Conducted = conduct(plan_of([study], quick=True), out=out, jobs=jobs, report=False)
    (part,) = conducted.parts
    return {readings[0].claim.statement: best_reading(readings) for readings in statements(part.judged)}


def _worse(name: str, before: Mapping[str, Judged], after: Mapping[str, Judged]) -> list[Worse]:
    worse = []
    for statement, sound in before.items():
        changed = after[statement]
        if VERDICTS.index(changed.verdict) > VERDICTS.index(sound.verdict):
            worse.append(
                Worse(
                    study=name,
                    published=sound.claim.origin == "printed",
                    says=sound.claim.says,
                    before=sound.verdict,
                    after=changed.verdict,
                )
            )
    return worse
