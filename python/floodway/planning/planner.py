"""The plan of a long lossless link: sizes and thresholds of each flow control, and results of runs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floodway.common.documents import as_json
from floodway.common.documents.html import body
from floodway.common.errors import PlanError, value_of
from floodway.planning.answer import answer, answers, warnings
from floodway.planning.document import document, formulas_frame, frame
from floodway.planning.flow_controls import (
    FLOW_CONTROLS,
    HALF_RATE,
    NINE_TENTHS_RATE,
    FlowControl,
    Thresholds,
)
from floodway.planning.folder import write_plan
from floodway.planning.headroom import Formula, formulas
from floodway.planning.link import Buffers
from floodway.planning.pool import Advice, OfMix, Pool, advice, by_mix, pool
from floodway.planning.question import Question, check_flow_controls, check_oversubscribed
from floodway.planning.trials import Busy, Trial, at_once, busy_trial, carried_trial, flap_trial, trial
from floodway.simulation.execution import cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import polars as pl

    from floodway.planning.trials import Runs, Simulate

__all__ = ["Plan", "Planned", "plan", "plan_of", "reach_m"]

#: Shares of the rate at which the far end drains, for which throughput is given.
DRAINS = (HALF_RATE, NINE_TENTHS_RATE)
#: Results of runs of a flow control, by its attribute.
RUNS = {"trial": "trial", "busy_run": "busy", "flap_run": "flap"}
#: The longest link that is looked at: half of the way round the Earth.
FARTHEST_M = 20_000_000


@dataclass(frozen=True, kw_only=True)
class Planned:
    """One flow control at the end of the link. Sizes are bytes of one class of one link.

    Attributes
    ----------
    flow_control, label, place
        Its name, its name in words, and where its buffer is: in the switch or in a relay.
    refused
        Why it is not planned; then only the names are given.
    no_loss, busy
        What it needs to lose nothing, and to keep the link busy as well.
    switch_bytes
        What of the busy size is memory of the switch: all, if it is not in a relay.
    restart
        What of both is for a flap that must be survived.
    thresholds
        What is configured: for the given buffer if it loses nothing, else for what it would need.
    links_no_loss, links_busy
        For how many links the given memory suffices; none where no memory was given.
    reach_no_loss_m, reach_busy_m
        Up to which length the share of one class suffices, in metres; none where it never does.
    carried
        The share of its rate that the link carries, by formula, by the share at which its far end drains.
    trial, busy_run, carried_run, flap_run
        Results of runs with these thresholds; None without runs.
    notes
        What a reader must know who relies on it.
    """

    flow_control: str
    label: str
    place: str
    refused: str = ""
    no_loss: int = 0
    busy: int = 0
    switch_bytes: int = 0
    restart: int = 0
    thresholds: Thresholds | None = None
    links_no_loss: int | None = None
    links_busy: int | None = None
    reach_no_loss_m: int | None = None
    reach_busy_m: int | None = None
    carried: Mapping[float, float] = field(default_factory=dict)
    trial: Trial | None = None
    busy_run: Busy | None = None
    carried_run: Mapping[float, float] = field(default_factory=dict)
    flap_run: Trial | None = None
    notes: tuple[str, ...] = ()

    @property
    def xoff(self) -> int | None:
        """What a class holds when its switch pauses; none for a flow control that does not."""
        return None if self.thresholds is None else self.thresholds.xoff

    @property
    def least_headroom(self) -> int | None:
        """The least headroom that held, of a buffer of XOFF, a frame less a byte, and headroom."""
        planned = self.thresholds
        if self.trial is None or self.trial.least is None or planned is None or planned.headroom is None:
            return None
        return planned.headroom - (planned.size - self.restart - self.trial.least)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The answer to a question.

    Attributes
    ----------
    question
        The question.
    rows
        One for each flow control.
    formulas
        The headroom of PFC by several formulas, side by side.
    pool
        PFC in a shared buffer; none where no memory was given.
    pool_run
        Result of the run with all links at once.
    advice
        Settings beside the buffer; None where PFC is not planned.
    """

    question: Question
    rows: tuple[Planned, ...]
    formulas: tuple[Formula, ...]
    pool: Pool | None = None
    pool_run: Trial | None = None
    advice: Advice | None = None

    @property
    def by_mix(self) -> tuple[OfMix, ...]:
        """PFC's buffer for the usual mixes of frames, where memory consists of cells."""
        return by_mix(self.question)

    def row(self, flow_control: str) -> Planned:
        """Return the row of a flow control.

        Parameters
        ----------
        flow_control
            Name of a planned flow control, such as "pfc".

        Returns
        -------
        Planned
            Its sizes and thresholds, in bytes of one class of one link.

        Raises
        ------
        UnknownNameError
            If the plan has no flow control of this name.
        """
        rows = {row.flow_control: row for row in self.rows}
        return value_of(rows, flow_control, noun="a flow control of this plan", key="flow-control")

    @property
    def answer(self) -> str:
        """The answer in one sentence: whether the given memory suffices."""
        return answer(self)

    @property
    def answers(self) -> tuple[str, ...]:
        """A sentence for each flow control: whether the given memory suffices, or what it needs."""
        return tuple(answers(self))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings to read before the numbers are used."""
        return tuple(warnings(self))

    @property
    def frame(self) -> pl.DataFrame:
        """A row for each flow control; units are in the names of columns."""
        return frame(self)

    @property
    def formulas_frame(self) -> pl.DataFrame:
        """A row for each formula of PFC's headroom, in bytes."""
        return formulas_frame(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as a document.

        Returns
        -------
        dict
            The document that `floodway plan --json` prints; the names of keys have the units.
        """
        return as_json(document(self))

    def write(self, folder: str | Path) -> None:
        """Write the page, its pictures, plan.json, and every scenario that was run.

        Parameters
        ----------
        folder
            The folder to write to; it is made if it does not exist.

        Raises
        ------
        OutputError
            If the folder cannot be written.
        """
        write_plan(self, Path(folder))

    def _repr_html_(self) -> str:
        return body(document(self))

    def scenarios(self) -> dict[str, str]:
        """Return the scenarios of the plan's runs.

        Returns
        -------
        dict of str to str
            The text of each scenario as TOML, by the name of its file without `.toml`.
        """
        tried = [
            (row.flow_control, run) for row in self.rows for run in (row.trial, row.busy_run, row.flap_run)
        ]
        return {
            f"{label}-{name}": text
            for label, run in (*tried, ("pool", self.pool_run))
            if run is not None
            for name, text in run.scenarios.items()
        }


def plan(  # noqa: PLR0913 (one argument an option)
    *,
    rate: str,
    length: str,
    buffer: str | None = None,
    links: int = 1,
    classes: int = 1,
    mtu: str = "4096B",
    mix: str = "any",
    cell: str | None = None,
    asic: str | None = None,
    react: str = "ieee-802.3",
    interface_delay: str = "ieee-802.3",
    latency: str = "0us",
    survive: str | None = None,
    flow_controls: Iterable[str] = (),
    oversubscribe: float = 1.0,
    simulate: bool = True,
    jobs: int | None = None,
) -> Plan:
    """Plan a long lossless link, as `floodway plan` does.

    Parameters
    ----------
    rate, length
        Of the link, such as "400G" and "40km".
    buffer
        Memory for all these links, such as "64MB"; none for the chip's, if one is named.
    links, classes
        How many such links end at the switch, and how many lossless classes each has.
    mtu
        Payload of the largest packet.
    mix
        Sizes of frames: "any", "small", "dnx", or a list such as "64B:3,1082B".
    cell, asic
        The cell of the switch's buffer, and its chip, whose cell and memory count where none is given.
    react
        From a pause's arrival to its start; "ieee-802.3" for what it allows at the rate.
    interface_delay
        Of the port's own interface, of pauses out and of data in; "ieee-802.3" for the most at the rate.
    latency
        Beside the fibre, one way: transponders, gearboxes, retimers, MACsec.
    survive
        A fault that must be survived while the far end takes nothing, such as "flap=500us".
    flow_controls
        Those to plan, by name; all, if there are none.
    oversubscribe
        Headroom of all links over the shared pool of headroom.
    simulate
        Whether each number is tried by runs.
    jobs
        How many runs are at work at once; one a core, if none.

    Returns
    -------
    Plan
        The answer, with a row for each flow control.

    Raises
    ------
    PlanError
        If a value is not what it should be.
    UnknownNameError
        If no chip has that name.
    RunError
        If a run failed.

    Examples
    --------
    >>> answer = plan(rate="400G", length="40km", buffer="64MB", links=8, simulate=False)
    >>> answer.row("pfc").links_no_loss
    3
    """
    question = Question.of(
        rate=rate,
        length=length,
        buffer=buffer,
        links=links,
        classes=classes,
        mtu=mtu,
        mix=mix,
        cell=cell,
        asic=asic,
        react=react,
        interface_delay=interface_delay,
        latency=latency,
        survive=survive,
    )
    return plan_of(
        question, flow_controls=flow_controls, simulate=simulate, oversubscribed=oversubscribe, jobs=jobs
    )


def plan_of(  # noqa: PLR0913 (one argument a choice)
    question: Question,
    *,
    flow_controls: Iterable[str] = (),
    simulate: bool = True,
    oversubscribed: float = 1.0,
    jobs: int | None = None,
    done: Callable[[int, int], None] | None = None,
    runs: Runs | None = None,
) -> Plan:
    """Answer a question.

    Parameters
    ----------
    question
        The question.
    flow_controls
        Those to plan, by name; all, if there are none.
    simulate
        Whether each number is tried by runs.
    oversubscribed
        By how much the headroom of all links exceeds the shared pool of headroom.
    jobs
        How many runs are at work at once; one a core, if none. It changes nothing that is found.
    done
        Called with how many parts have been tried, and how many there are.
    runs
        Has finished runs, which are not run again, and gets the others as they end.

    Raises
    ------
    PlanError
        If no flow control has such a name, over-subscription is less than 1, or no job is allowed.
    RunError
        If a run failed.
    KeyboardInterrupt
        After Ctrl-C, when all runs have ended.
    """
    check_oversubscribed(oversubscribed)
    if jobs is not None and jobs < 1:
        raise PlanError(f"jobs: {jobs} is not a number of at least 1", key="jobs", given=str(jobs))
    chosen = (flow_controls,) if isinstance(flow_controls, str) else tuple(flow_controls)
    check_flow_controls(chosen)
    controls = [control for control in FLOW_CONTROLS if not chosen or control.name in chosen]
    planned = [_planned(question, control) for control in controls]
    shared = pool(question, oversubscribed=oversubscribed)
    rows, pool_run = tuple(planned), None
    if simulate:
        done = done or (lambda _done, _total: None)
        rows, pool_run = _tried(question, planned, shared, jobs=jobs or cores(), done=done, runs=runs)
    alone = shared.xoff_alone + shared.headroom_each if shared is not None else 0
    pfc = next((row.thresholds for row in rows if row.xoff is not None), None)
    return Plan(
        question=question,
        rows=rows,
        formulas=formulas(question),
        pool=shared,
        pool_run=pool_run,
        advice=None if pfc is None else advice(question, pfc, alone),
    )


def _planned(question: Question, control: FlowControl) -> Planned:
    row = Planned(flow_control=control.name, label=control.label, place=control.place, notes=control.notes)
    try:
        restart = _restart(question, control)
        no_loss, busy = _no_loss(question, control), _busy(question, control)
        share = question.share_bytes
        size = busy if share is None or control.place != "switch" else min(busy, max(share, no_loss))
        thresholds = replace(control.thresholds(question, size - restart), size=size)
    except PlanError as error:
        return replace(row, refused=str(error))
    in_switch = control.in_switch(question, busy)
    return replace(
        row,
        no_loss=no_loss,
        busy=busy,
        switch_bytes=in_switch,
        restart=restart,
        thresholds=thresholds,
        links_no_loss=links_for(question, control.in_switch(question, no_loss)),
        links_busy=links_for(question, in_switch),
        reach_no_loss_m=reach_m(question, control, partial(_no_loss, control=control)),
        reach_busy_m=reach_m(question, control, partial(_busy, control=control)),
        carried={drain: control.carried(question, size - restart, drain) for drain in DRAINS},
    )


def _restart(question: Question, control: FlowControl) -> int:
    """Return what a flap that must be survived asks for."""
    return 0 if question.flap_ps is None else control.restart(question)


def _no_loss(question: Question, control: FlowControl) -> int:
    return control.no_loss(question) + _restart(question, control)


def _busy(question: Question, control: FlowControl) -> int:
    return control.busy(question) + _restart(question, control)


def _tried(  # noqa: PLR0913 (one argument a choice)
    question: Question,
    rows: Sequence[Planned],
    shared: Pool | None,
    *,
    jobs: int,
    done: Callable[[int, int], None],
    runs: Runs | None,
) -> tuple[tuple[Planned, ...], Trial | None]:
    """Try what is set: with buffers of their own one class of one link is the hardest."""
    one = replace(question, links=1, classes=1)
    parts: dict[tuple[str, str], Callable[[Simulate], Any]] = {}
    for row in rows:
        if row.thresholds is not None:
            tried = _parts(one, row, row.thresholds)
            parts |= {(row.flow_control, name): part for name, part in tried.items()}
    if shared is not None and shared.exponent is not None:
        buffers = shared.buffers(question)
        parts["", "pool"] = partial(trial, question, buffers, pauses=True, with_least=False)
    outcomes = dict(zip(parts, at_once(list(parts.values()), jobs=jobs, done=done, runs=runs), strict=True))
    tried_rows = []
    for row in rows:
        trials: dict[str, Any] = {name: outcomes.get((row.flow_control, part)) for name, part in RUNS.items()}
        if row.thresholds is not None:
            trials["carried_run"] = {
                drain: outcomes[row.flow_control, f"carried at {drain}"] for drain in DRAINS
            }
        tried_rows.append(replace(row, **trials))
    return tuple(tried_rows), outcomes.get(("", "pool"))


def _parts(
    question: Question, row: Planned, thresholds: Thresholds
) -> dict[str, Callable[[Simulate], Trial | Busy | float]]:
    """Return what is tried of a flow control."""
    buffers = Buffers(control=thresholds.control, size=thresholds.size)
    with_least = row.no_loss > 0 and row.flow_control != "cbfc"
    pauses, flap_ps = thresholds.headroom is not None, question.flap_ps
    parts: dict[str, Callable[[Simulate], Trial | Busy | float]] = {
        "trial": partial(trial, question, buffers, pauses=pauses, with_least=with_least),
        "busy": partial(busy_trial, question, buffers),
    }
    for drain in DRAINS:
        parts[f"carried at {drain}"] = partial(
            carried_trial, question, buffers, drain=drain, xoff=thresholds.xoff
        )
    if flap_ps is not None:
        parts["flap"] = partial(flap_trial, question, buffers, flap_ps=flap_ps)
    return parts


def reach_m(question: Question, control: FlowControl, need: Callable[[Question], int]) -> int | None:
    """Return the longest link, in whole metres, for which the question's buffer suffices.

    None if it does not suffice for any length for which the flow control is made, if no buffer is known, or
    if the length does not matter to the switch.
    """
    share = question.share_bytes
    if share is None:
        return None

    def fits(metres: int) -> bool | None:
        at = question.at(metres)
        try:
            return control.in_switch(at, need(at)) <= share
        except PlanError:
            return None

    # A flow control may be made for long links only: what is too short for it is not too long.
    low, high = 0, FARTHEST_M + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) is False else (middle, high)
    return low if 0 < low < FARTHEST_M and fits(low) else None


def links_for(question: Question, class_bytes: int) -> int | None:
    """Return for how many links the question's buffer suffices, if each class of each takes so many bytes."""
    memory = question.buffer_bytes
    return None if memory is None else memory // (class_bytes * question.classes)
