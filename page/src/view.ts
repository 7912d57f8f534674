// One run: its network, the trees of a time, ports over time, its slowest flows, and what is selected.

import { HeatMap, TimeMarks, timeChart, type Line, type TimeLinks } from "./charts";
import { runColours, stateColour, variable, type Metric } from "./colour";
import {
  flowId,
  frameAt,
  hasQueue,
  isPast,
  isRecorded,
  latestBegin,
  loadOf,
  otherEnd,
  pausedOf,
  portName,
  queueOf,
  shortestPaths,
  stateOf,
  type Part,
  type Run,
  type Why,
} from "./data";
import { chosenFlows, measured, percentileOf, slowdown, slowdownAt, slowest, type Selection } from "./flows";
import { jobsOf } from "./jobs";
import { endedText, Network, pathOf } from "./network";
import { bytes, element, inUs, microseconds, number, percent, plural } from "./text";
import { Pauses, type Branch, type Tree } from "./tree";

/** Rows of lists; the rest is counted. */
const FEW_BRANCHES = 12;
const FEW_FLOWS = 15;
const MOST_FLOWS = 60;
const MOST_LINES = 6;
const MOST_PARTS = 14;

const MOST_PORTS = 8;

interface PortSums {
  /** Ports, that with most first: queueing there, and pauses that began there. */
  ports: { name: string; port: number; queued: bigint; began: bigint }[];
  /** What no port is the cause of, by cause. */
  rest: { cause: string; ps: bigint }[];
}

/** Sums the parts of a flow's time by the port that they are due to. */
export function portSums(why: Why): PortSums {
  const ports = new Map<string, PortSums["ports"][number]>();
  const rest = new Map<string, bigint>();
  for (const part of why.parts) {
    const ps = BigInt(part.ps);
    const paused = part.cause === "paused" && part.originName !== "";
    if (paused || (part.cause === "queueing" && part.portName !== "")) {
      const [name, port] = paused ? [part.originName, part.origin] : [part.portName, part.port];
      const own = ports.get(name) ?? { name, port, queued: 0n, began: 0n };
      own[paused ? "began" : "queued"] += ps;
      ports.set(name, own);
    } else rest.set(part.cause, (rest.get(part.cause) ?? 0n) + ps);
  }
  return {
    ports: [...ports.values()].sort((a, b) => Number(b.queued + b.began - a.queued - a.began)),
    rest: [...rest].map(([cause, ps]) => ({ cause, ps })).sort((a, b) => Number(b.ps - a.ps)),
  };
}

export class View {
  readonly root: HTMLElement;
  readonly network: Network;
  private readonly pauses: Pauses;
  private readonly heat: HeatMap;
  private readonly marks: TimeMarks[] = [];
  private readonly trees = element("div", { class: "trees" });
  private readonly panel = element("div", { class: "chosen", "aria-live": "polite" });
  private readonly table = element("div", { class: "flows wide" });
  private readonly tip = element("div", { class: "tip", hidden: true });
  private readonly lines = element("div", { class: "chart" });
  private readonly canvas = element("canvas", { class: "network", tabindex: 0, role: "img" });
  private chosenMarks: TimeMarks[] = [];
  /** Shows again what is chosen, at another size or in other colours. */
  private again: (() => void) | null = null;
  private shownPort = -1;
  /** When the chosen flow started and ended. */
  private life: [number, number] | null = null;
  /** Whether all rows of lists are shown. */
  private readonly all = { branches: false, flows: false };
  private lastTrees = "";
  private written = 0;
  private drawnFrame = -1;

  constructor(
    readonly run: Run,
    private readonly links: TimeLinks,
    private readonly selection: Selection,
    several: boolean,
    flows: HTMLElement,
    private readonly onZoom: (view: View) => void,
  ) {
    this.pauses = new Pauses(run);
    this.network = new Network(run, this.pauses, this.canvas);
    const heat = element("canvas", { class: "heat", role: "img", "aria-label": `Ports of ${run.label} over time, as colours. A port that is chosen has its values as charts.` });
    const heatTip = element("div", { class: "tip", hidden: true });
    this.heat = new HeatMap(run, heat, links, (port) => this.choosePort(port), heatTip);
    const heatBox = element("div", { class: "heat-box" }, heat, heatTip);
    const over = element("div", { class: "heat-over" });
    heatBox.append(over);
    this.marks.push(new TimeMarks(over, links));
    this.canvas.setAttribute("aria-label", `Network of ${run.label}: ${run.nodes.name.length} nodes. The list below names the paused ports.`);
    this.root = element(
      "section",
      { class: "run" },
      several ? element("h2", {}, run.label) : null,
      this.facts(),
      jobsOf(run.jobs, (span) => this.links.setSpan(span)),
      element(
        "div",
        { class: "left" },
        element("div", { class: "stage" }, this.canvas, this.tip),
        this.stageButtons(),
        this.trees,
        element("h3", {}, this.linesTitle()),
        this.lines,
        element("h3", { class: "heat-title" }, "Ports over time"),
        heatBox,
        this.heatNote(),
      ),
      element(
        "div",
        { class: "right" },
        element("h3", {}, "Selected"),
        this.panel,
        element("h3", {}, "Slowest flows"),
        this.table,
        several ? null : flows,
      ),
      this.simulated(),
    );
    this.listen();
    const why = run.why[0];
    if (why) this.chooseWhy(why);
    else this.showNothing();
  }

  private facts(): HTMLElement {
    const { run } = this;
    const items = [`scenario ${run.name}`, `seed ${run.seed}`, `${microseconds(run.simulatedUs)} simulated`, `${number(run.nodes.name.length)} nodes, ${number(run.ports.node.length)} ports`, plural(run.flows.total, "flow"), `frames of ${this.frameText()}`, `floodway ${run.floodway}`];
    const box = element("div", { class: "facts" }, element("p", { class: "faint" }, items.join(" · ")));
    if (run.warnings.length) {
      box.append(element("ul", { class: "warnings", role: "alert" }, ...run.warnings.map((text) => element("li", {}, text))));
    }
    return box;
  }

  private frameText(): string {
    const { edges } = this.run.frames;
    return `${Number((edges[1] - edges[0]).toPrecision(6))} us`;
  }

  private simulated(): HTMLElement {
    const { run } = this;
    const rows = run.facts.map(([name, lines]) =>
      element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, ...lines.map((text) => element("div", {}, text)))),
    );
    const frames = run.frames;
    const steps = (Math.pow(frames.queueMost / frames.queueLeast, 1 / (frames.queueSteps - 1)) - 1) * 100;
    const notes = [
      `A frame is ${this.frameText()}` + (frames.buckets > 1 ? `, ${frames.buckets} recorded buckets: loads are means over it, queues the longest in it.` : ", one recorded bucket: loads are means over it, queues the longest in it."),
      `Loads are in steps of ${Number((100 / frames.loadSteps).toPrecision(2))} % of the rate, paused shares of as much of a frame; each step of a queue is ${Number(steps.toPrecision(2))} % longer than the one before.`,
      ...(run.pauses
        ? [
            `The cause of a pause is taken to be the longest queue at the switch that sent it, in the recorded bucket of that time. The causes of a flow's completion time are exact.`,
            ...(run.pauses.near_us ? [`Pauses of a port with one cause that are less than a frame apart are shown as one.`] : []),
            ...(run.pauses.left_out ? [`${number(run.pauses.left_out)} of ${number(run.pauses.recorded)} pauses, the shortest, are not in the trees; the paused share of each frame counts all.`] : []),
          ]
        : []),
      ...(run.flows.start.length < run.flows.total ? [`${number(run.flows.start.length)} of ${number(run.flows.total)} flows are in this page: the slowest, and an even sample of the others; counts and percentiles are of these.`] : []),
      ...run.notes,
    ];
    return element(
      "details",
      { class: "simulated" },
      element("summary", {}, "What was simulated, and how it is shown"),
      element("table", {}, element("tbody", {}, ...rows)),
      element("ul", { class: "note" }, ...notes.map((text) => element("li", {}, text))),
    );
  }

  private stageButtons(): HTMLElement {
    const box = element("div", { class: "stage-buttons" });
    for (const state of this.run.states?.names ?? []) {
      const colour = stateColour(state);
      if (colour) box.append(element("span", { class: "state" }, element("i", { style: `background:${colour}` }), state));
    }
    const add = (text: string, label: string, act: () => void) => box.append(element("button", { type: "button", title: label, "aria-label": label, onclick: () => (act(), this.redraw(), this.onZoom(this)) }, text));
    add("+", "Zoom in", () => this.network.zoomAt(this.canvas.clientWidth / 2, this.canvas.clientHeight / 2, 1.5));
    add("-", "Zoom out", () => this.network.zoomAt(this.canvas.clientWidth / 2, this.canvas.clientHeight / 2, 1 / 1.5));
    add("fit", "Show the whole network", () => this.network.resetZoom());
    if (Array.from(this.run.nodes.pod).some((pod) => pod >= 0)) {
      add("fold", "Fold or unfold all pods", () => this.network.foldAll(this.network.folded.size === 0));
    }
    return box;
  }

  private listen(): void {
    let dragged: { x: number; y: number; moved: boolean } | null = null;
    const { canvas, network } = this;
    canvas.addEventListener("pointerdown", (event) => (dragged = { x: event.offsetX, y: event.offsetY, moved: false }));
    canvas.addEventListener("pointermove", (event) => {
      if (dragged && event.buttons && network.isZoomed()) {
        dragged.moved ||= Math.hypot(event.offsetX - dragged.x, event.offsetY - dragged.y) > 4;
        if (dragged.moved) {
          network.pan(event.movementX, event.movementY);
          this.redraw();
          this.onZoom(this);
          return;
        }
      }
      this.hover(event.offsetX, event.offsetY);
    });
    canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    canvas.addEventListener("pointerup", (event) => {
      const moved = dragged?.moved;
      dragged = null;
      if (!moved) this.click(event.offsetX, event.offsetY);
    });
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !network.isZoomed()) return;
      event.preventDefault();
      network.zoomAt(event.offsetX, event.offsetY, event.deltaY < 0 ? 1.2 : 1 / 1.2);
      this.redraw();
      this.onZoom(this);
    }, { passive: false });
  }

  private hover(x: number, y: number): void {
    const hit = this.network.at(x, y);
    this.canvas.style.cursor = Object.keys(hit).length ? "pointer" : "default";
    const lines =
      hit.port !== undefined
        ? this.network.tip(hit.port, this.links.time())
        : hit.node !== undefined
          ? [`${this.run.nodes.kind[hit.node]} ${this.run.nodes.name[hit.node]}`]
          : hit.pod !== undefined
            ? ["pod: click to unfold"]
            : [];
    this.tip.hidden = !lines.length;
    this.tip.replaceChildren(...lines.map((text) => element("div", {}, text)));
    this.tip.style.left = `${Math.min(x + 12, this.canvas.clientWidth - 170)}px`;
    this.tip.style.top = `${y + 12}px`;
  }

  private click(x: number, y: number): void {
    const hit = this.network.at(x, y);
    if (hit.port !== undefined) this.choosePort(hit.port);
    else if (hit.node !== undefined) this.chooseNode(hit.node);
    else if (hit.pod !== undefined) {
      this.network.toggle(hit.pod);
      this.redraw();
      this.onZoom(this);
    }
  }

  /** Shows the same part of the network as another run. */
  follow(other: View): void {
    this.network.follow(other.network);
    this.redraw();
  }

  private setLife(life: [number, number] | null): void {
    this.life = life;
    this.links.setLife(this.run, life);
  }

  private lifeOf(flow: number): [number, number] {
    const { start, fct } = this.run.flows;
    return [start[flow], Number.isNaN(fct[flow]) ? this.run.simulatedUs : start[flow] + fct[flow]];
  }

  private clear(): void {
    Object.assign(this.network, { selectedPort: -1, selectedNode: -1, why: null, flowEnds: null, flowPorts: [] });
    this.setLife(null);
    this.chosenMarks = [];
    this.again = null;
    this.shownPort = -1;
  }

  showNothing(): void {
    this.clear();
    this.network.resetZoom();
    this.panel.replaceChildren(element("p", { class: "faint" }, "Click a link or a node of the network, a row of the list of pauses, or a flow."));
    this.redraw();
  }

  choosePort(port: number): void {
    const { why, flowEnds, flowPorts } = this.network;
    const { life } = this;
    this.clear();
    this.setLife(life);
    Object.assign(this.network, { selectedPort: port, why, flowEnds, flowPorts });
    this.again = () => this.choosePort(port);
    const { run } = this;
    const chart = element("div", { class: "chart" });
    const now = element("p", { class: "now" });
    this.panel.replaceChildren(
      element("h4", { "data-port": portName(run, port) }, `Port ${portName(run, port)}`),
      element("p", { class: "faint" }, `${run.ports.rate[port]} Gbit/s; what leaves ${run.nodes.name[run.ports.node[port]]} for ${run.nodes.name[otherEnd(run, port)]}`),
      now,
      chart,
      this.pausesOf(port),
    );
    this.shownPort = port;
    if (isRecorded(run, port)) this.portChart(port, chart);
    else chart.append(element("p", { class: "faint" }, "Load and queue of this port were not recorded."));
    this.showNow();
    this.redraw();
  }

  private portChart(port: number, host: HTMLElement): void {
    const { run } = this;
    const frames = Array.from({ length: run.frames.count }, (_, frame) => frame);
    const lines: Line[] = !hasQueue(run, port) ? [] : [
      { label: "longest queue", values: frames.map((f) => queueOf(run, port, f) / 1000), colour: variable("--queue") },
    ];
    const loads: Line[] = [
      { label: "load", values: frames.map((f) => loadOf(run, port, f) * 100), colour: variable("--load") },
      { label: "paused", values: frames.map((f) => pausedOf(run, port, f) * 100), colour: variable("--paused"), dash: [4, 2] },
    ];
    const marks = this.marksOf(port);
    if (marks) loads.push(...marks);
    const x = frames.map((f) => run.frames.edges[f]);
    const first = element("div");
    const second = element("div");
    host.append(first, second);
    if (!lines.length) first.append(element("p", { class: "faint" }, "The queue of a host's port is not recorded: its packets wait at their senders."));
    this.chosenMarks = [
      ...(lines.length ? [timeChart(first, x, lines, "KB", this.links, run.simulatedUs)] : []),
      timeChart(second, x, loads, "%", this.links, run.simulatedUs),
    ];
  }

  /** Marks and CNPs of a port by frame, in the chart of loads: their numbers. */
  private marksOf(port: number): Line[] | null {
    const { marks, frames } = this.run;
    if (!marks) return null;
    const counts = [new Float64Array(frames.count), new Float64Array(frames.count)];
    let any = false;
    for (let i = 0; i < marks.port.length; i++) {
      if (marks.port[i] !== port) continue;
      counts[marks.cnp[i]][marks.frame[i]] = marks.count[i];
      any = true;
    }
    if (!any) return null;
    return [
      { label: "marks", unit: "", values: counts[0], colour: variable("--text"), dash: [1, 2] },
      { label: "CNPs", unit: "", values: counts[1], colour: variable("--faint"), dash: [6, 2] },
    ];
  }

  private pausesOf(port: number): HTMLElement {
    const { pauses } = this.run;
    if (!pauses) return element("p", { class: "faint" }, "Single pauses were not recorded.");
    const { totals } = pauses;
    let count = 0;
    let paused = 0;
    let first = Infinity;
    let caused = 0;
    let runsOut = false;
    const causes = new Map<number, number>();
    for (let row = 0; row < totals.port.length; row++) {
      const cause = totals.cause[row] - 1;
      if (cause === port) caused += totals.count[row];
      if (totals.port[row] !== port) continue;
      count += totals.count[row];
      paused += totals.paused[row];
      first = Math.min(first, totals.first[row]);
      runsOut ||= totals.runsOut[row] > 0;
      causes.set(cause, (causes.get(cause) ?? 0) + totals.paused[row]);
    }
    const box = element("div", { class: "paused-total", "data-count": count, "data-us": paused });
    const share = percent(paused / this.run.simulatedUs);
    box.append(
      element("p", {}, count ? `Paused ${plural(count, "time")}, ${microseconds(paused)} in all (${share} of the run), first at ${microseconds(first)}.${runsOut ? " Its pauses run out: each pause frame is counted." : ""}` : "Never paused."),
    );
    const list = element("ul", { class: "links" });
    for (const [cause, us] of [...causes].sort((a, b) => b[1] - a[1]).slice(0, 5)) {
      const by = cause < 0 ? `the host ${this.run.nodes.name[otherEnd(this.run, port)]}` : null;
      list.append(element("li", {}, `${percent(us / (paused || 1))} of that caused by `, by ? by : this.portButton(cause)));
    }
    if (list.children.length) box.append(list);
    if (caused) box.append(element("p", {}, `It caused ${plural(caused, "pause")} of ports upstream.`));
    return box;
  }

  private portButton(port: number, name = portName(this.run, port)): HTMLElement {
    return element("button", { type: "button", class: "link", "data-goto": name, onclick: () => this.choosePort(port) }, name);
  }

  private chooseNode(node: number): void {
    this.clear();
    this.network.selectedNode = node;
    const { run } = this;
    const ports = [...run.ports.node].map((own, port) => (own === node ? port : -1)).filter((port) => port >= 0);
    const frame = frameAt(run, this.links.time());
    const past = isPast(run, this.links.time());
    const rows = ports.slice(0, 130).map((port) =>
      element(
        "tr",
        {},
        element("td", {}, this.portButton(port)),
        element("td", {}, isRecorded(run, port) && !past ? percent(loadOf(run, port, frame)) : "-"),
        element("td", {}, isRecorded(run, port) && hasQueue(run, port) && !past ? bytes(queueOf(run, port, frame)) : "-"),
        element("td", {}, isRecorded(run, port) && !past ? percent(pausedOf(run, port, frame)) : "-"),
      ),
    );
    this.panel.replaceChildren(
      element("h4", {}, `${run.nodes.kind[node]} ${run.nodes.name[node]}`),
      element("p", { class: "faint" }, `${plural(ports.length, "port")}${past ? `; ${endedText(run)}` : `, at ${microseconds(this.links.time())}`}`),
      element("div", { class: "wide scroll" }, element("table", {}, element("thead", {}, element("tr", {}, ...["port", "load", "longest queue", "paused"].map((text) => element("th", {}, text)))), element("tbody", {}, ...rows))),
    );
    this.redraw();
  }

  chooseFlow(flow: number): void {
    const id = flowId(this.run, flow);
    const why = this.run.why.find((own) => own.flow === id);
    if (why) {
      this.chooseWhy(why);
      return;
    }
    this.clear();
    const ends: [number, number] = [this.run.flows.source[flow], this.run.flows.destination[flow]];
    const ports = shortestPaths(this.run, ...ends);
    this.setLife(this.lifeOf(flow));
    Object.assign(this.network, { flowEnds: ends, flowPorts: ports });
    const one = this.chain(ports, ends[0]).length === ports.length;
    const { folder } = this.run;
    this.panel.replaceChildren(
      ...this.flowFacts(flow, id),
      one
        ? element("p", { class: "path" }, "The shortest path between its ends: ", ...this.portList(this.chain(ports, ends[0])), ".")
        : element("p", { class: "path" }, `${number(ports.length)} ports are on shortest paths between its ends, edged in green in the network. Which of them it took is not in this page.`),
      element("p", { class: "faint" }, "The causes of its time, its path and its rate over time need a repetition of the run. With its results at hand:"),
      element("pre", {}, element("code", { class: "command" }, folder ? `floodway report ${folder} --flow '${id.replaceAll("'", "'\\''")}' --force` : `result.report(flows=[${JSON.stringify(id)}])`)),
    );
    this.redraw();
  }

  /** Ports of a path in the order in which a packet from a node passes them. */
  private chain(ports: number[], source: number): number[] {
    const leaving = new Map(ports.map((port) => [this.run.ports.node[port], port]));
    const found: number[] = [];
    for (let at = leaving.get(source); at !== undefined && found.length < ports.length; at = leaving.get(otherEnd(this.run, at))) found.push(at);
    return found;
  }

  private portList(ports: number[]): (HTMLElement | string)[] {
    return ports.flatMap((port, index) => (index ? [", ", this.portButton(port)] : [this.portButton(port)]));
  }

  private flowFacts(flow: number, id: string): HTMLElement[] {
    const { run } = this;
    const { source, destination, size, fct, start, ideal, left } = run.flows;
    const ends = `${run.nodes.name[source[flow]]} to ${run.nodes.name[destination[flow]]}, ${bytes(size[flow])}, started at ${microseconds(start[flow])}`;
    const done = Number.isNaN(fct[flow])
      ? `Not finished: ${bytes(left[flow])} had not arrived when the run ended.`
      : `Completed in ${microseconds(fct[flow])}; alone it takes ${microseconds(ideal[flow])}: slowdown ${number(slowdown(run, flow), 2)}. Mean rate ${Number(((size[flow] * 8e-3) / fct[flow]).toPrecision(3))} Gbit/s.`;
    const go = element("button", { type: "button", class: "go", onclick: () => this.links.setTime(this.lifeOf(flow)[0]) }, "go to this flow");
    return [element("h4", {}, `Flow ${id}`), element("p", { class: "faint" }, ends), element("p", {}, done, " ", go)];
  }

  private chooseWhy(why: Why): void {
    this.clear();
    const { run } = this;
    const flow = this.flowOf(why.flow);
    this.network.why = why;
    this.again = () => this.chooseWhy(why);
    const rate = element("div", { class: "chart rate" });
    const path = this.chain([...new Set(pathOf(why))], flow >= 0 ? run.flows.source[flow] : -1);
    if (flow >= 0) this.setLife(this.lifeOf(flow));
    if (flow >= 0) this.network.flowEnds = [run.flows.source[flow], run.flows.destination[flow]];
    const whole = Number(why.fctPs);
    const sums = new Map<string, number>();
    for (const part of why.parts) sums.set(part.cause, (sums.get(part.cause) ?? 0) + Number(part.ps));
    const bar = element("div", { class: "bar", role: "img", "aria-label": [...sums].map(([cause, ps]) => `${cause} ${percent(ps / whole)}`).join(", ") });
    for (const [cause, ps] of sums) {
      bar.append(element("span", { class: `cause ${cause}`, style: `flex-grow:${ps / whole}`, title: `${cause} ${percent(ps / whole)}` }, ps / whole > 0.2 ? `${cause} ${percent(ps / whole)}` : null));
    }
    const byPort = portSums(why);
    const causes = element("p", { class: "causes" }, ...[...sums].map(([cause, ps]) => element("span", {}, element("i", { class: `cause ${cause}` }), ` ${cause} ${number((100 * ps) / whole, 1)} %`)));
    const parts = [...why.parts].sort((a, b) => Number(b.ps) - Number(a.ps));
    // Shares that are written as 0.0 % are in one line.
    const isLittle = (part: Part, index: number) => index >= MOST_PARTS || Number(part.ps) < whole / 2000;
    const little = parts.filter(isLittle);
    const rows = parts.map((part, index) =>
      element(
        "tr",
        { "data-cause": part.cause, "data-port": part.portName, "data-origin": part.originName, "data-ps": part.ps, class: isLittle(part, index) ? "more" : "" },
        element("td", {}, part.cause),
        element("td", {}, part.port >= 0 ? this.portButton(part.port) : part.portName),
        element("td", {}, part.origin >= 0 ? this.portButton(part.origin) : part.originName),
        element("td", {}, inUs(part.ps)),
        element("td", {}, `${number((Number(part.ps) * 100) / whole, 1)} %`),
      ),
    );
    const table = element(
      "table",
      { class: "parts" },
      element("thead", {}, element("tr", {}, ...["cause", "where", "began at", "us", "share"].map((text) => element("th", {}, text)))),
      element("tbody", {}, ...rows),
      element("tfoot", {}, element("tr", {}, element("th", { colspan: 3 }, "completion time"), element("td", { class: "sum", "data-ps": why.fctPs }, inUs(why.fctPs)), element("td", {}, "100 %"))),
    );
    const together = inUs(String(little.reduce((sum, part) => sum + BigInt(part.ps), 0n)));
    const more = little.length ? element("button", { type: "button", class: "all", onclick: () => { table.classList.add("all"); more?.remove(); } }, `${number(little.length)} more, together ${together} us`) : null;
    this.panel.replaceChildren(
      ...(flow >= 0 ? this.flowFacts(flow, why.flow) : [element("h4", {}, `Flow ${why.flow}`)]),
      this.sentence(why, byPort),
      element("div", { class: "wide" }, this.portTable(why, byPort)),
      element("h4", {}, "By cause"),
      bar,
      causes,
      element("p", { class: "faint" }, "In the network its path is edged in green, and arrows lead from where it was paused to where the pauses began."),
      element("details", { class: "all-parts" }, element("summary", {}, `Every part: ${number(parts.length)}`), element("div", { class: "wide" }, table), ...(more ? [more] : [])),
      ...(path.length ? [element("p", { class: "path" }, "Path of the packet that completed it: ", ...this.portList(path), ".")] : []),
      element("h4", {}, "Rate of its sender"),
      rate,
    );
    this.rateChart(why, rate);
    this.redraw();
  }

  /** Which ports a flow's time is due to: those where it waited behind others, or its pauses began. */
  private sentence(why: Why, { ports, rest }: PortSums): HTMLElement {
    const whole = Number(why.fctPs);
    const share = (ps: bigint) => `${number((Number(ps) * 100) / whole, 1)} %`;
    const box = element("p", { class: "sentence" }, element("b", {}, `${why.title}: `));
    const most = ports.filter((own, index) => index === 0 || Number(own.queued + own.began) > whole / 100).slice(0, 3);
    most.forEach((own, index) => box.append(index ? ", " : "", this.byName(own.port, own.name), index ? ` ${share(own.queued + own.began)}` : ` cost ${share(own.queued + own.began)} of the time`));
    const others = ports.slice(most.length).reduce((sum, own) => sum + own.queued + own.began, 0n);
    if (Number(others) > whole / 2000) box.append(`, ${plural(ports.length - most.length, "other port")} ${share(others)}`);
    const left = rest.reduce((sum, own) => sum + own.ps, 0n);
    box.append(most.length ? `; its own sending and propagation are ${share(left)}.` : `its own sending and propagation are ${share(left)}.`);
    return box;
  }

  private byName(port: number, name: string): HTMLElement | string {
    return port >= 0 ? this.portButton(port) : name;
  }

  /** The completion time by port, and the rest by cause: 100 %. */
  private portTable(why: Why, { ports, rest }: PortSums): HTMLElement {
    const whole = Number(why.fctPs);
    const us = (ps: bigint) => inUs(String(ps));
    const share = (ps: bigint) => `${number((Number(ps) * 100) / whole, 1)} %`;
    const shown = ports.filter((own, index) => index < MOST_PORTS && (index === 0 || Number(own.queued + own.began) >= whole / 2000));
    const hidden = ports.slice(shown.length);
    const row = (name: HTMLElement | string, key: string, queued: bigint, began: bigint) =>
      element("tr", { "data-by": key, "data-ps": String(queued + began) }, element("td", {}, name), element("td", {}, us(queued)), element("td", {}, us(began)), element("td", {}, us(queued + began)), element("td", {}, share(queued + began)));
    const sum = (which: "queued" | "began") => hidden.reduce((total, own) => total + own[which], 0n);
    return element(
      "table",
      { class: "by-port" },
      element("thead", {}, element("tr", {}, ...["by port", "queueing, us", "pauses from it, us", "sum, us", "share"].map((text) => element("th", {}, text)))),
      element(
        "tbody",
        {},
        ...shown.map((own) => row(this.byName(own.port, own.name), own.name, own.queued, own.began)),
        hidden.length ? row(plural(hidden.length, "other port"), "others", sum("queued"), sum("began")) : null,
        ...rest.map((own) => element("tr", { "data-by": own.cause, "data-ps": String(own.ps) }, element("td", {}, why.causes[own.cause] ?? own.cause), element("td"), element("td"), element("td", {}, us(own.ps)), element("td", {}, share(own.ps)))),
      ),
      element("tfoot", {}, element("tr", {}, element("th", {}, "completion time"), element("td"), element("td"), element("td", {}, us(BigInt(why.fctPs))), element("td", {}, "100 %"))),
    );
  }

  /** What a flow's sender transmitted over time, from its start to its end. */
  private rateChart(why: Why, host: HTMLElement): void {
    const { begin, width, bytes: sent } = why.sent;
    if (!begin.length) return;
    const [start, fct] = [begin[0], Number(why.fctPs) / 1e6];
    const values = [...Array.from(sent, (own) => (own * 8e-3) / width), 0];
    const x = [...begin, begin[begin.length - 1] + width];
    const line = { label: "payload", values, colour: variable("--load") };
    this.chosenMarks = [timeChart(host, x, [line], "Gbit/s", this.links, this.run.simulatedUs, [start, Math.max(start + fct, x[x.length - 1])])];
  }

  private flowOf(id: string): number {
    for (let flow = 0; flow < this.run.flows.start.length; flow++) if (flowId(this.run, flow) === id) return flow;
    return -1;
  }

  private longPorts(): number[] {
    const { run } = this;
    const ports = [...run.ports.link.keys()].filter((port) => isRecorded(run, port));
    const long = ports.filter((port) => run.links.long[run.ports.link[port]]);
    if (long.length) return long;
    const total = (port: number) => {
      let sum = 0;
      for (let f = 0; f < run.frames.count; f++) sum += run.frames.load[port * run.frames.count + f] * run.ports.rate[port];
      return sum;
    };
    return ports.map((port) => [port, total(port)]).sort((a, b) => b[1] - a[1]).slice(0, 4).map(([port]) => port);
  }

  private linesTitle(): string {
    return [...this.run.links.long].some(Boolean) ? "Throughput of long links" : "Throughput of the busiest ports";
  }

  private drawLines(): void {
    const { run } = this;
    const colours = runColours();
    const all = this.longPorts();
    const ports = all.slice(0, MOST_LINES);
    const frames = Array.from({ length: run.frames.count }, (_, frame) => frame);
    const lines = ports.map((port, index) => ({
      label: portName(run, port),
      colour: colours[index % colours.length],
      dash: index >= colours.length ? [4, 2] : undefined,
      values: frames.map((f) => loadOf(run, port, f) * run.ports.rate[port]),
    }));
    this.lines.replaceChildren();
    if (!lines.length) this.lines.append(element("p", { class: "faint" }, "No port was recorded."));
    else this.marks.push(timeChart(this.lines, frames.map((f) => run.frames.edges[f]), lines, "Gbit/s", this.links, run.simulatedUs));
    if (all.length > ports.length) this.lines.append(element("p", { class: "note" }, `${all.length - ports.length} more are not shown.`));
  }

  private heatNote(): HTMLElement {
    const { heat, run } = this;
    const roots = heat.roots ? `first ${heat.roots === 1 ? "that" : `the ${number(heat.roots)}`} at which most pauses began, then ` : "";
    const most = heat.beyond ? `; ${number(heat.beyond)} more had a queue or a pause` : "";
    return element("p", { class: "note" }, `Of ${plural(run.ports.node.length, "port")} ${number(heat.ports.length)}: ${roots}those that were paused longest or had the longest queues${most}. A pixel shows the highest value in its time.`);
  }

  /** Draws everything again: sizes or the theme have changed. */
  resize(): void {
    this.network.resize();
    this.marks.splice(1);
    this.drawLines();
    this.heat.draw();
    this.again?.();
    this.redraw();
    this.update();
  }

  setMetric(metric: Metric): void {
    this.network.metric = metric;
    this.heat.metric = metric;
    this.heat.draw();
    const title = this.root.querySelector(".heat-title");
    if (title) title.textContent = `Ports over time: ${metric === "paused" ? "share of time paused" : metric === "load" ? "load" : "longest queue"}`;
    this.redraw();
  }

  /** Draws the network. */
  private redraw(): void {
    this.drawnFrame = this.network.frame(this.links.time());
    this.network.draw(this.links.time());
  }

  /** Shows the time that the slider is at. */
  update(playing = false): void {
    // Within a frame the network stays as it is.
    const frame = this.network.frame(this.links.time());
    if (frame !== this.drawnFrame) this.network.draw(this.links.time(), true);
    this.drawnFrame = frame;
    this.root.dataset["time"] = String(this.links.time());
    // While playing, text changes a few times a second: nobody reads faster.
    const now = performance.now();
    const texts = !playing || now - this.written > 250;
    if (texts) this.written = now;
    this.marks.forEach((own) => own.update(texts));
    this.chosenMarks.forEach((own) => own.update(texts));
    if (!texts) return;
    this.showTrees();
    this.showNow();
  }

  /** Says what the chosen port does at the slider's time. */
  private showNow(): void {
    const now = this.panel.querySelector(".now");
    if (!now || this.shownPort < 0) return;
    const [, ...does] = this.network.tip(this.shownPort, this.links.time());
    now.textContent = isPast(this.run, this.links.time()) ? `At ${microseconds(this.links.time())}: ${endedText(this.run)}.` : `At ${microseconds(this.links.time())}: ${does.join(", ")}.`;
  }

  private showTrees(): void {
    const { run } = this;
    const frame = this.network.frame(this.links.time());
    const trees = this.pauses.trees(frame);
    const key = `${frame < 0}${trees[0] ? this.links.time() : ""}` + trees.map((tree) => `${tree.root}:${tree.branches.map((own) => own.pause).join(",")}`).join(";");
    if (key === this.lastTrees && this.trees.children.length) return;
    this.lastTrees = key;
    if (!run.pauses) {
      this.trees.replaceChildren(element("h3", {}, "Pauses"), element("p", { class: "faint" }, "Single pauses were not recorded; `floodway run --report` records them."));
      return;
    }
    const largest = trees[0];
    const others = trees.slice(1).reduce((sum, tree) => sum + tree.branches.length, 0);
    if (largest) this.trees.replaceChildren(element("h3", {}, "Congestion tree"), this.rootLine(largest, frame, others, trees.length - 1), this.branches(largest.branches));
    else this.trees.replaceChildren(element("p", { class: "faint" }, frame < 0 ? `No congestion tree: ${endedText(run)}.` : "No port is paused now."));
  }

  /** The root: a pause takes a round trip to end, so that its queue may be empty by now. */
  private rootLine({ root, branches }: Tree, frame: number, others: number, otherRoots: number): HTMLElement {
    const { run } = this;
    const name = this.rootName(root);
    const began = Math.min(...branches.map((own) => own.from));
    const known = root >= 0 && isRecorded(run, root) && hasQueue(run, root);
    const [then, now] = known ? [frameAt(run, began), frame].map((at) => bytes(queueOf(run, root, at))) : ["", ""];
    return element(
      "p",
      { class: "root", "data-root": name },
      "Root: ",
      root >= 0 ? this.portButton(root) : name,
      known ? ` (longest queue ${then} when the first of these pauses began, at ${microseconds(began)}; now ${now})` : null,
      branches.length === 1 ? ". 1 port is paused now; its pause leads to it." : `. ${number(branches.length)} ports are paused now; their pauses lead to it.`,
      others ? ` ${plural(others, "other paused port")}, ${plural(otherRoots, "other root")}.` : "",
    );
  }

  private branches(own: Branch[]): HTMLElement {
    const { run } = this;
    const list = element("ol", { class: "branches" });
    const { count, to } = run.pauses!;
    const now = this.links.time();
    const most = this.all.branches ? own.length : FEW_BRANCHES;
    for (const branch of own.slice(0, most)) {
      const times = count[branch.pause];
      const state = stateOf(run, branch.port, frameAt(run, now));
      const latest = latestBegin(run, branch.pause, now);
      const several = `${number(times)} pauses since ${microseconds(branch.from)}${latest === null ? "" : `, the latest at ${microseconds(latest)}`}`;
      const holds = now >= branch.from && now < to[branch.pause];
      const when = times > 1 ? several : holds ? `paused since ${microseconds(branch.from)}` : `paused from ${microseconds(branch.from)} to ${microseconds(to[branch.pause])}`;
      list.append(
        element("li", { "data-port": portName(run, branch.port) }, this.portButton(branch.port), ` ${when}, by `, branch.cause >= 0 ? this.portButton(branch.cause) : "the host", state && stateColour(state) ? ` (${state})` : null),
      );
    }
    const more = () => ((this.all.branches = true), (this.lastTrees = ""), this.showTrees());
    return element("div", {}, list, own.length > most ? element("button", { type: "button", class: "all", onclick: more }, `show all ${number(own.length)}`) : null);
  }

  private rootName(root: number): string {
    return root >= 0 ? portName(this.run, root) : `host ${this.run.nodes.name[-1 - root]}`;
  }

  /** On paper, lists have all their rows. */
  setPrinted(printed: boolean): void {
    this.all.branches = printed;
    this.lastTrees = "";
  }

  /** Shows the flows of the selection. */
  select(): void {
    const { run } = this;
    const flows = chosenFlows(run, this.selection);
    const own = measured(run, flows);
    const unfinished = own.filter((flow) => Number.isNaN(run.flows.fct[flow])).length;
    const [p99, slow] = [percentileOf(run, own, 99), slowdownAt(run, own, 99)];
    const { span, sizes, without } = this.selection;
    const what = span ? ` under way from ${microseconds(span[0])} to ${microseconds(span[1])}` : sizes || without.size ? " in the selection" : "";
    const reached = p99 === null || slow === null ? "p99 not reached" : `p99 of slowdown ${number(slow, 1)} · p99 of completion time ${microseconds(p99)}`;
    const note = `${plural(own.length, "measured flow")}${what}${unfinished ? `, ${number(unfinished)} unfinished` : ""}; ${reached}${own.length && own.length < 1000 ? " (of few flows)" : ""}.`;
    const listed = own.length ? own : flows;
    const most = Math.min(listed.length, this.all.flows ? MOST_FLOWS : FEW_FLOWS);
    const rows = slowest(run, listed, most).map((flow) => {
      const id = flowId(run, flow);
      const has = run.why.some((why) => why.flow === id);
      return element(
        "tr",
        {},
        element("td", {}, element("button", { type: "button", class: "link", "data-flow": id, onclick: () => this.chooseFlow(flow) }, id), has ? element("span", { class: "tag" }, "causes") : null),
        element("td", {}, `${run.nodes.name[run.flows.source[flow]]} > ${run.nodes.name[run.flows.destination[flow]]}`),
        element("td", {}, bytes(run.flows.size[flow])),
        element("td", {}, Number.isNaN(run.flows.fct[flow]) ? "unfinished" : microseconds(run.flows.fct[flow])),
        element("td", {}, Number.isNaN(run.flows.fct[flow]) ? "-" : number(slowdown(run, flow), 1)),
      );
    });
    const ids = new Set(flows.map((flow) => flowId(run, flow)));
    const marked = run.why.map((why) => {
      const asked = /^p\d/.test(why.asked) ? `flow at ${why.asked} of slowdown` : why.asked;
      const outside = !ids.has(why.flow);
      return element("button", { type: "button", class: `chip${outside ? " outside" : ""}`, title: outside ? "not in the selection" : undefined, "data-why": why.flow, onclick: () => this.chooseWhy(why) }, `${asked ? `${asked}: ` : ""}${why.flow}`);
    });
    const beyond = Math.min(listed.length, MOST_FLOWS);
    this.table.replaceChildren(
      element("p", { class: "note selection" }, note),
      ...(marked.length ? [element("p", {}, "Flows with causes: ", ...marked)] : []),
      element("table", {}, element("caption", {}, most < listed.length ? `The ${number(most)} slowest` : "All, the slowest first"), element("thead", {}, element("tr", {}, ...["flow", "from > to", "size", "FCT", "slowdown"].map((text) => element("th", {}, text)))), element("tbody", {}, ...rows)),
      ...(most < beyond ? [element("button", { type: "button", class: "all", onclick: () => ((this.all.flows = true), this.select()) }, `show ${number(beyond)}`)] : []),
    );
    this.marks.forEach((each) => each.update());
    this.chosenMarks.forEach((each) => each.update());
  }
}
