// Jobs of a run: iterations, collectives, and the phases of the longest of them. A click selects its time.

import type { Jobs, Phase } from "./data";
import { element, number, percent } from "./text";

/** The least share of a phase that has its name in the bar. */
const NAMED = 0.12;

type Choose = (span: [number, number]) => void;

/** A table whose rows select the time of what they are about. */
function table(title: string, heads: string[], rows: { name: string; span: [number, number]; cells: string[] }[], choose: Choose): HTMLElement | null {
  if (!rows.length) return null;
  const body = rows.map(({ name, span, cells }) =>
    element(
      "tr",
      {},
      element("td", {}, element("button", { type: "button", class: "link", title: "Select its time", onclick: () => choose(span) }, name)),
      ...cells.map((text) => element("td", {}, text)),
    ),
  );
  const head = element("thead", {}, element("tr", {}, ...heads.map((text) => element("th", {}, text))));
  return element("div", { class: "wide" }, element("h3", {}, title), element("table", { class: "of-jobs" }, head, element("tbody", {}, ...body)));
}

function microsecondsOf(us: number): string {
  return number(us, us < 10000 ? 1 : 0);
}

function phaseName(phase: Phase): string {
  return `${phase.name}, ${phase.place}`;
}

function phases(jobs: Jobs, choose: Choose): HTMLElement | null {
  const { path } = jobs;
  if (!path) return null;
  const most = path.us || 1;
  const bar = element("div", { class: "bar", role: "img", "aria-label": `Phases of ${path.name} by their shares of its time` });
  for (const phase of path.phases) {
    // A part of a word says nothing; the row has it.
    const text = phase.us / most < NAMED ? "" : `${phase.place}, ${percent(phase.us / most)}`;
    bar.append(element("div", { class: `cause ${phase.place.replace(" ", "-")}`, style: `flex-grow:${phase.us}`, title: `${phaseName(phase)}: ${microsecondsOf(phase.us)} us` }, text));
  }
  const rows = path.phases.map((phase) => ({
    name: phaseName(phase),
    span: [phase.from, phase.to] as [number, number],
    cells: [
      `${number(phase.steps)}${phase.stretches > 1 ? ` in ${number(phase.stretches)} parts` : ""}`,
      number(phase.ranks),
      microsecondsOf(phase.us),
      `${number((100 * phase.us) / most, 1)} %`,
    ],
  }));
  return element(
    "div",
    { class: "phases" },
    table(`Phases of ${path.name}, ${path.title}`, ["phase of its critical path", "steps", "ranks", "us", "of its time"], rows, choose),
    bar,
    element("p", { class: "note" }, `${path.summary}.`),
  );
}

/** Shows the jobs of a run; nothing where it has none. */
export function jobsOf(jobs: Jobs | null, choose: Choose): HTMLElement | null {
  if (!jobs) return null;
  const iterations = jobs.iterations.map((row) => ({
    name: row.name,
    span: [row.from, row.to] as [number, number],
    cells: [microsecondsOf(row.us), ...[row.computeUs, row.exposedUs, row.idleUs].map((us) => `${number((100 * us) / (row.us || 1), 1)} %`)],
  }));
  const collectives = jobs.collectives.map((row) => ({
    name: row.name,
    span: [row.from, row.to] as [number, number],
    cells: [number(row.ranks), number(row.count), microsecondsOf(row.us), microsecondsOf(row.mostUs), number(row.busbw, 2)],
  }));
  if (!iterations.length && !collectives.length) return null;
  return element(
    "div",
    { class: "jobs" },
    table("Iterations", ["iteration", "us", "computing", "exposed communication", "idle"], iterations, choose),
    table("Collectives", ["collective", "ranks", "count", "us, mean", "us, longest", "busbw GB/s"], collectives, choose),
    phases(jobs, choose),
  );
}
