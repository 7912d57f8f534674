"""The answer of a plan in one sentence, `answer`, and in one for each flow control, with its warnings."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from floodway.common.documents import four_digits, size_text
from floodway.planning.asics import asic
from floodway.planning.flow_controls import flow_control
from floodway.planning.units import number_text
from floodway.results.quantities import bytes_text, counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from floodway.planning.planner import Plan, Planned
    from floodway.planning.pool import OfMix
    from floodway.planning.question import Question

__all__ = ["answer", "answers", "distance", "lost", "lost_in_its_run", "notes", "question_text", "suffices"]
__all__ += ["verdict", "warnings"]

METRES_OF_KM = 1000
MOST_NAMED = 6


def question_text(question: Question) -> str:
    """Return the question in words."""
    links = "one link" if question.links == 1 else f"{question.links} links"
    classes = "one lossless class" if question.classes == 1 else f"{question.classes} lossless classes"
    memory = "" if question.buffer_bytes is None else f", {bytes_text(question.buffer_bytes)} of buffer"
    counts = Counter(question.mix_bytes)
    sizes = [f"{size} B" if times == 1 else f"{times} of {size} B" for size, times in counts.items()]
    mix = "frames of " + ", ".join(sizes[:MOST_NAMED]) if sizes else "frames of any size"
    flap = ""
    if question.flap_ps is not None:
        flap = f"; survives a flap of {number_text(question.flap_ps / 1e6)} us in a stall"
    allowed = " (IEEE 802.3)" if question.react_ps is None else ""
    react = f"; pauses obeyed within {four_digits(question.reaction_ps / 1e6)} us{allowed}"
    cells = "no cells" if question.cell_bytes == 1 else f"cells of {question.cell_bytes} B"
    return (
        f"{links} of {question.rate_bps // 1_000_000_000}G over {distance(question.length_m)}, "
        f"{number_text(question.delay_ps / 1e6)} us one way, {classes}{memory}; {mix} up to "
        f"{question.largest_frame} B, {cells}{react}{flap}"
    )


def distance(metres: int | None) -> str:
    """Write a length."""
    if metres is None:
        return "-"
    if metres < METRES_OF_KM:
        return f"{metres} m"
    km = metres / METRES_OF_KM
    return f"{km:,.0f} km" if km >= METRES_OF_KM else f"{km:.4g} km"


def answer(plan: Plan) -> str:
    """Say what the memory is enough for with the first flow control, and what would be for all links."""
    chosen = next((row for row in plan.rows if not row.refused), None)
    if chosen is None:
        return "No flow control can be planned for this link."
    question = plan.question
    count = question.links * question.classes
    name = chosen.label.partition(", ")[0]
    links = "the link" if question.links == 1 else f"all {question.links} links"
    size = size_text(chosen.no_loss * count)
    takes = f"{size} with {name}"
    if chosen.place != "switch":
        takes = f"{name}'s relays of {size_text(chosen.busy)} at each end of each link"
    memory = question.buffer_bytes
    if memory is None:
        busy = f", and {size_text(chosen.busy * count)} to be kept busy as well"
        busy = "" if chosen.busy == chosen.no_loss else busy
        return f"To lose nothing, {links} {'needs' if question.links == 1 else 'need'} {takes}{busy}."
    memory_text = size_text(memory)
    others = _others(plan, chosen)
    fits = suffices(question, chosen)
    if fits == "busy":
        return f"Yes: {memory_text} are enough for {links} with {name}, to lose nothing and to stay busy."
    if fits == "no loss":
        need = f"that takes {size_text(chosen.busy * count)}" + others
        return f"{memory_text} are enough to lose nothing with {name}, but not to keep {links} busy: {need}."
    if chosen.place != "switch":
        return f"No: {memory_text} are not enough for {links} with {name}."
    several, few = question.links > 1, chosen.links_no_loss or 0
    carried = f"{few} of your {question.links} links" if several else "no such link"
    links = f"all {question.links}" if several else links
    return f"No: {memory_text} carry {carried} with {name}; lossless over {links} takes {size}{others}."


def lost(plan: Plan) -> Iterator[str]:
    """Say which planned sizes lost packets in the runs that tried them."""
    for row in plan.rows:
        runs = (row.trial, row.busy_run, row.flap_run)
        packets = sum(run.lost_packets for run in runs if run is not None)
        if packets:
            yield f"{row.label} lost {counted(packets, 'packet')} in its runs"
    pooled = lost_in_its_run(plan)
    if pooled:
        yield pooled


def lost_in_its_run(plan: Plan) -> str:
    """Say what the shared buffer of a plan lost when all links stopped at once; empty for nothing."""
    run, shared = plan.pool_run, plan.pool
    if run is None or shared is None or run.holds:
        return ""
    over = f", over-subscribed {shared.oversubscribed:g} times," if shared.oversubscribed > 1 else ""
    return f"the shared buffer{over} lost {counted(run.lost_packets, 'packet')} in its run"


def suffices(question: Question, row: Planned) -> str:
    """Return what the memory is enough for: `busy`, `no loss`, or nothing, also where no memory is given."""
    count, memory = question.links * question.classes, question.buffer_bytes
    if memory is None:
        return ""
    if row.place != "switch":
        return "busy" if memory >= row.switch_bytes * count else ""
    return "busy" if memory >= row.busy * count else "no loss" if memory >= row.no_loss * count else ""


def _others(plan: Plan, chosen: Planned) -> str:
    """Name the other flow controls for which the given memory is enough."""
    names = [
        f"{row.label}'s relays" if row.place != "switch" else row.label
        for row in plan.rows
        if not row.refused and row is not chosen and suffices(plan.question, row) == "busy"
    ]
    return f", or {' or '.join(names)}" if names else ""


def answers(plan: Plan) -> Iterator[str]:
    """Say for each flow control whether the given memory suffices, or what it needs."""
    for row in plan.rows:
        yield f"{row.label}: {_answer(plan.question, row)}"


def _answer(question: Question, row: Planned) -> str:
    if row.refused:
        return f"not planned: {row.refused.removeprefix(f'{row.label}: ')}"
    count = question.links * question.classes
    if row.place != "switch":
        needs = f"a relay of {bytes_text(row.busy)} at each end of each link, and "
        needs += f"{bytes_text(row.switch_bytes * count)} of the switch"
        fits = _fits(question, row, needs, row.switch_bytes * count, row.switch_bytes * count)
        return f"{fits}; sizes do not promise it, since relays may hold more where data go both ways"
    needs = f"{bytes_text(row.no_loss * count)} to lose nothing"
    if row.busy != row.no_loss:
        needs += f", {bytes_text(row.busy * count)} to keep the link busy as well"
    else:
        needs += " and keep the link busy"
    return _fits(question, row, needs, row.no_loss * count, row.busy * count) + _of_any_size(question, row)


def _of_any_size(question: Question, row: Planned) -> str:
    """Say what PFC would need for the frames that Bifrost's size is for, whatever the mix is."""
    if row.flow_control != "bifrost" or not question.mix_bytes or question.cell_bytes == 1:
        return ""
    any_size = replace(question, mix_bytes=())
    needed = flow_control("pfc").busy(any_size) * question.links * question.classes
    return f"; this is for frames of any size, for which PFC needs {bytes_text(needed)} to keep the link busy"


def _fits(question: Question, row: Planned, needs: str, no_loss: int, busy: int) -> str:
    memory = question.buffer_bytes
    if memory is None:
        return f"needs {needs}"
    if memory >= busy:
        return f"enough: it needs {needs}"
    if memory >= no_loss:
        carried = ", ".join(
            f"{100 * share:.0f} % of its rate where the far end drains {100 * drain:.0f} %"
            for drain, share in row.carried.items()
        )
        short = bytes_text(busy - memory)
        return f"loses nothing, but may idle, {short} short of {bytes_text(busy)}: the link carries {carried}"
    fits = []
    if row.links_no_loss:
        fits.append("one such link" if row.links_no_loss == 1 else f"{row.links_no_loss} such links")
    if row.reach_no_loss_m:
        fits.append(f"all of them up to {distance(row.reach_no_loss_m)}")
    enough = f"; enough for {', or for '.join(fits)}" if fits else "; not enough for one such link"
    return f"not enough, by {counted(no_loss - memory, 'byte')}: it needs {needs}{enough}"


def verdict(row: Planned) -> str:
    """Say what the hardest run showed of one flow control."""
    if row.trial is None:
        return "not tried"
    if not row.trial.holds:
        return f"loses {counted(row.trial.lost_packets, 'packet')}"
    text = f"holds with {counted(row.trial.spare, 'byte')} to spare"
    if row.busy_run is not None and row.busy_run.lost_packets:
        return f"{text}, but loses {counted(row.busy_run.lost_packets, 'packet')} when it drains again"
    if row.busy_run is not None:
        idle = row.busy_run.idle_ps
        text += "; stays busy" if not idle else f"; idles {idle / 1e6:,.0f} us after a stop"
    if row.flap_run is not None:
        lost = row.flap_run.lost_packets
        text += "; survives the flap" if not lost else f"; loses {counted(lost, 'packet')} after the flap"
    return text


def warnings(plan: Plan) -> Iterator[str]:
    """Say what a reader must know before using the numbers."""
    question = plan.question
    if question.cell_bytes == 1 and not question.asic:
        more = "small frames take up to three times as much and more (--asic, --cell, --mix)"
        yield f"memory is counted in bytes: switches count cells, in which {more}"
    yield from _of_chip(question)
    yield from _other_mixes(plan)
    pool = plan.pool
    if pool is not None and pool.oversubscribed > 1:
        over = f"the pool of headroom is over-subscribed {pool.oversubscribed:g} times"
        yield f"{over}: it promises nothing if all links pause at once"
    if pool is not None and pool.is_largest:
        idle = "in the shared buffer no alpha of the chip keeps the link of a class that is alone busy"
        yield f"{idle}: it has the largest, {pool.alpha:g}"
    if plan.advice is not None and plan.advice.pauses_from is not None:
        beside, pauses = plan.advice, plan.advice.pauses_from
        marks = f"every packet, at {bytes_text(beside.ecn_kmax)}"
        if pauses <= beside.ecn_kmin:
            marks = f"any packet, from {bytes_text(beside.ecn_kmin)} on"
        if pauses <= beside.ecn_kmax:
            early = f"PFC pauses at {bytes_text(pauses)}, before ECN marks {marks}"
            yield f"{early}: marks come too late to keep pauses rare"
    untried = [row.label for row in plan.rows if not row.refused and row.trial is None]
    if untried:
        yield f"no number was tried by a run: {', '.join(untried)}"


def _of_chip(question: Question) -> Iterator[str]:
    """Warn of what a chip's memory is for, and of a question whose buffer or cell is another one."""
    if not question.asic:
        return
    chip = asic(question.asic)
    if question.buffer_bytes == chip.buffer_bytes:
        if not chip.firm:
            yield f"the memory of {chip.label} is from {chip.source}, and may count other memory, too"
        yield f"all memory of {chip.label} is counted for these links: other ports and classes need some"
    most, buffer_bytes = chip.buffer_bytes, question.buffer_bytes
    if most is not None and buffer_bytes is not None and buffer_bytes > most:
        has = f"{bytes_text(most)} ({chip.source})"
        yield f"{bytes_text(buffer_bytes)} of buffer are more than {chip.label} has: {has}"
    if question.cell_bytes != chip.cell_bytes:
        has = f"{chip.cell_bytes} B"
        yield f"sizes are for cells of {question.cell_bytes} B, and those of {chip.label} have {has}"


def _other_mixes(plan: Plan) -> Iterator[str]:
    """Warn where the mix of frames decides whether the memory is enough for PFC."""
    mixes = plan.by_mix
    asked_mix = next((mix for mix in mixes if mix.is_asked), None)
    others = [mix for mix in mixes if asked_mix is not None and mix.verdict != asked_mix.verdict]
    if asked_mix is None or not others:
        return
    name = "frames of any size" if not plan.question.mix_bytes else "the frames asked"
    others_text = "; ".join(f"--mix {mix.mix}: {_of_mix(mix)}" for mix in others)
    asked_text = f"PFC with {name}: {_of_mix(asked_mix)}; {others_text}"
    decide = f"the frames decide what the memory is enough for: {asked_text}"
    yield f"{decide}; choose the mix that your traffic has"


def _of_mix(row: OfMix) -> str:
    needs = f"{bytes_text(row.no_loss)} to lose nothing, {bytes_text(row.busy)} to keep links busy"
    return f"{row.verdict} ({needs})"


def notes(plan: Plan) -> Iterator[str]:
    """Return the notes on the numbers of each planned flow control."""
    for row in plan.rows:
        if not row.refused:
            yield from row.notes
