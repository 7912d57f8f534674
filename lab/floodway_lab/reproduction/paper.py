"""Studies whose numbers are taken into the repository, and papers judged from there.

The rule of verdicts and the studies are the present ones; a claim without numbers of its runs counts as not
run.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floodway.results.quantities import counted
from floodway.study import Conducted, Part, plan_of
from floodway.study.format.model import KINDS_OF_NUMBERS
from floodway.study.running.storage import Runs
from floodway_lab.reproduction.pictures import copy_pictures
from floodway_lab.reproduction.stored_numbers import StoredNumbers, file_of, finished, keep
from floodway_lab.study.claims.outcome import decided_together
from floodway_lab.study.claims.verdicts import alone
from floodway_lab.study.model import plots_of
from floodway_lab.study.report.document import document
from floodway_lab.study.report.gallery import Gallery, file_name, overview

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from floodway.study import Study
    from floodway.study.running.runs import Run

__all__ = ["judge", "take_in"]


def take_in(  # noqa: PLR0913 (what a file says)
    study: Study,
    results: Path,
    folder: Path,
    *,
    date: str,
    revision: str,
    several: bool,
    quick: bool = False,
    on_message: Callable[[str], None],
) -> None:
    """Keep the numbers of a finished study beside the page of its paper, and its pictures of single runs.

    Parameters
    ----------
    study
        The study.
    results
        The folder of `floodway reproduce`, in which other studies may be unfinished.
    folder
        The folder of the paper's pictures and numbers.
    date, revision
        The present date, and the revision whose engine made the runs.
    several
        Whether the paper has other studies.
    quick
        Whether the runs are those of the quick form, of which a page has no pictures.
    on_message
        Called with a metric that nothing needs and that cannot be computed, or with a picture that cannot be
        drawn.

    Raises
    ------
    OutputError
        If runs are missing, or the files cannot be written.
    StudyError
        If a metric cannot be computed.
    ScenarioError
        If a scenario of the study cannot be simulated.
    """
    ((_, runs),) = plan_of((study,), quick=quick).studies
    store = Runs(results / "runs")
    form = " --quick" if quick else ""
    command = f"floodway reproduce {folder.name} {study.name}{form} --out {results}"
    part = finished(study, runs, store, command=command, on_message=on_message)
    with tempfile.TemporaryDirectory() as drawn:
        gallery = Gallery(part, Path(drawn), store, ("png",), several=several)
        for plot in plots_of(study):
            if plot.kind not in KINDS_OF_NUMBERS and not quick:
                gallery.picture(plot, on_message)
        copy_pictures((picture["file"] for picture in gallery.shown.values()), Path(drawn), folder)
    file = file_of(folder, study.name, quick=quick)
    keep(part, store, file, date=date, revision=revision, pictures=gallery.shown)


def judge(studies: Sequence[Study], folder: Path, *, quick: bool = False) -> dict[str, Any] | None:
    """Judge a paper from the numbers that are kept; None if none of its studies has any.

    Pictures of numbers are drawn again; those of single runs stay as they were when their study was taken in.

    Parameters
    ----------
    studies
        All studies of the paper.
    folder
        The folder of the paper's numbers and pictures.
    quick
        Whether the quick form is judged, of which a page has no pictures.

    Returns
    -------
    dict
        The keys of `study.json`, and `lacks`, sentences on missing numbers, with the count of runs and the
        minutes that they took. Each study also has these counts, and the date (`kept`) and `revision` of its
        numbers.

    Raises
    ------
    OutputError
        If a file cannot be read or written.
    ScenarioError
        If a scenario cannot be simulated.
    """
    judged_studies = [study for study in studies if not (quick and study.quick.skip)]
    kept_by_study = [StoredNumbers.read(file_of(folder, study.name, quick=quick)) for study in judged_studies]
    if not any(kept_numbers.date for kept_numbers in kept_by_study):
        return None
    plan = plan_of(judged_studies, quick=quick)
    parts = decided_together(
        [
            _alone(study, runs, kept_numbers)
            for (study, runs), kept_numbers in zip(plan.studies, kept_by_study, strict=True)
        ]
    )
    with tempfile.TemporaryDirectory() as drawn:
        conducted = Conducted(
            plan=plan,
            folder=Path(drawn),
            parts=parts,
            done=frozenset(key for part in parts for key in part.numbers.done),
            failures={key: error for part in parts for key, error in part.numbers.failures.items()},
            complete=True,
        )
        pictures = [
            [] if quick else _pictures(conducted, part, kept_numbers, folder)
            for part, kept_numbers in zip(parts, kept_by_study, strict=True)
        ]
        judgement = document(conducted, pictures, None if quick else overview(conducted, []))
        if not quick:
            _replace_pictures(judged_studies, judgement, Path(drawn), folder)
    took: dict[str, float] = {}
    for study, part, kept_numbers in zip(judgement["studies"], parts, kept_by_study, strict=True):
        own_took = kept_numbers.wall_s(part.numbers.runs)
        took |= own_took
        seeds = {run.seed for run in part.numbers.runs if run.key in own_took}
        study |= {
            "kept": kept_numbers.date,
            "revision": kept_numbers.revision,
            "seed_count": len(seeds),
            **_cost(own_took),
        }
    return {**judgement, "lacks": list(_lacks(parts, kept_by_study)), **_cost(took)}


def _alone(study: Study, runs: Sequence[Run], kept_numbers: StoredNumbers) -> Part:
    numbers = kept_numbers.numbers(study, runs)
    return Part(study=study, numbers=numbers, judged=alone(study, numbers))


def _pictures(
    conducted: Conducted, part: Part, kept_numbers: StoredNumbers, folder: Path
) -> list[dict[str, str]]:
    """Draw the pictures of a study's numbers; return them and the kept pictures of single runs.

    The kept ones are left out if a run is missing: they may show a run that the study no longer has.
    """
    study, several = part.study, len(conducted.parts) > 1
    gallery = Gallery(part, conducted.folder, Runs(folder), ("png",), several=several)
    for plot in plots_of(study):
        if plot.kind in KINDS_OF_NUMBERS:
            gallery.picture(plot, lambda _: None)
        elif plot.name in kept_numbers.pictures and not _missing(part):
            gallery.shown[plot.name] = kept_numbers.pictures[plot.name]
    return [*gallery.shown.values()]


def _replace_pictures(
    studies: Sequence[Study], judgement: Mapping[str, Any], drawn: Path, folder: Path
) -> None:
    """Replace the pictures in a paper's folder, and remove those that belong to no plot of its studies."""
    copy_pictures(sorted(file.name for file in drawn.glob("*.png")), drawn, folder)
    several = len(studies) > 1
    names = {
        f"{file_name(study, plot.name, several=several)}.png" for study in studies for plot in plots_of(study)
    }
    names |= {judgement["overview"]["file"]} if judgement["overview"] else set()
    for file in folder.glob("*.png"):
        if file.name not in names:
            file.unlink()


def _missing(part: Part) -> int:
    """Count the runs of a study that have no numbers and are not known to fail."""
    numbers = part.numbers
    return sum(run.key not in numbers.done and run.key not in numbers.failures for run in numbers.runs)


def _cost(took: Mapping[str, float]) -> dict[str, Any]:
    return {"run_count": len(took), "core_minutes": sum(took.values()) / 60}


def _lacks(parts: Sequence[Part], kept_by_study: Sequence[StoredNumbers]) -> Iterator[str]:
    """Yield sentences on the numbers that a paper lacks, whose statements count as not run."""
    none = [
        part.study.name
        for part, kept_numbers in zip(parts, kept_by_study, strict=True)
        if not kept_numbers.date
    ]
    if none:
        yield f"No numbers are kept of {', '.join(none)}: their statements are not run."
    for part, kept_numbers in zip(parts, kept_by_study, strict=True):
        if not kept_numbers.date:
            continue
        name = part.study.name
        since = f"by {kept_numbers.date}, or have changed since; what needs them is not run."
        if missing := _missing(part):
            runs = f"{missing} of {counted(len(part.numbers.runs), 'run')}"
            yield f"{name}: {runs} were not run {since}"
        if lacks := kept_numbers.lacks(part.study):
            yield f"{name}: the metrics {', '.join(lacks)} were not computed {since}"
