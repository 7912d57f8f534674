// The page: one slider of time for all runs, what the network is coloured by, and the selection of flows.

import "uplot/dist/uPlot.min.css";
import "./page.css";
import { curves, timeUnit, type Curve, type TimeLinks } from "./charts";
import { isDark, ramp, runColours, type Metric } from "./colour";
import { read, type Document, type Run } from "./data";
import { bySize, cdf, chosenFlows, measured, type Selection } from "./flows";
import { bytes, element, microseconds, number, plural } from "./text";
import { View } from "./view";

/** Seconds that playing the whole run takes. */
const PLAYED = 20;
/** Least milliseconds between pictures: screens that show more than sixty a second need not have them all. */
const PICTURE = 15;
const METRICS: Record<Metric, string> = { load: "load", queue: "longest queue", paused: "share of time paused" };

class Page implements TimeLinks {
  private now = 0;
  private playing = false;
  private speed = 1;
  private metric: Metric = "load";
  private readonly selection: Selection = { span: null, sizes: null, without: new Set() };
  private readonly views: View[];
  private readonly slider = element("input", { type: "range", min: 0, max: 1000, value: 0, step: "any", id: "time", "aria-label": "Time" });
  private readonly clock = element("output", { class: "clock", for: "time" });
  private readonly playButton = element("button", { type: "button", class: "play", onclick: () => this.togglePlay() }, "Play");
  private readonly chips = element("div", { class: "chips" });
  private readonly legend = element("div", { class: "legend" });
  private readonly theme = element("button", { type: "button", class: "theme", onclick: () => this.switchTheme() });
  private readonly lives = element("div", { class: "lives" });
  private readonly slowdowns = element("div", { class: "chart", role: "img", "aria-label": "Slowdown by size: median and p99 of each run" });
  private readonly completion = element("div", { class: "chart", role: "img", "aria-label": "Share of flows by completion time" });
  private readonly summary = element("p", { class: "note" });
  private readonly pair = element("div", { class: "pair" });
  private drawn = 0;

  constructor(
    private readonly data: Document,
    private readonly host: HTMLElement,
  ) {
    const several = data.runs.length > 1;
    this.pair.append(
      element("div", {}, element("h3", {}, "Slowdown by size"), this.slowdowns),
      element("div", {}, element("h3", {}, "Completion times"), this.completion),
    );
    const linked = this.linked(several ? "h2" : "h3");
    this.views = data.runs.map((run) => new View(run, this, this.selection, several, linked, (from) => this.views.forEach((view) => view !== from && view.follow(from))));
    host.append(
      this.bar(),
      element("div", { class: `runs runs-${data.runs.length}${several ? " several" : ""}` }, ...this.views.map((view) => view.root)),
      several ? linked : "",
      this.help(),
    );
    this.listen();
    this.start();
  }

  private linked(heading: "h2" | "h3"): HTMLElement {
    return element(
      "section",
      { class: "linked" },
      element(heading, {}, "Flows: slowdowns and completion times"),
      this.summary,
      this.pair,
    );
  }

  /** Begins where a page shows most: while the chosen flow is under way, if any port is paused then. */
  private start(): void {
    const [run] = this.data.runs;
    const why = run?.why[0];
    const from = why?.sent.begin[0] ?? 0;
    const most = run && ((why && this.mostPaused(run, from, from + Number(why.fctPs) / 1e6)) ?? this.mostPaused(run, 0, Infinity));
    this.now = most ?? from;
    this.setMetric(this.metric);
    this.resize();
    this.showSelection();
    this.host.removeAttribute("aria-busy");
  }

  /** The middle of the frame with the most paused ports; null where none is paused in this time. */
  private mostPaused({ frames, ports }: Run, from: number, to: number): number | null {
    let [best, most] = [null as number | null, 0];
    for (let frame = 0; frame < frames.count; frame++) {
      if (frames.edges[frame + 1] <= from || frames.edges[frame] >= to) continue;
      let paused = 0;
      for (let port = 0; port < ports.node.length; port++) if (frames.paused[port * frames.count + frame]) paused++;
      if (paused > most) [best, most] = [Math.max((frames.edges[frame] + frames.edges[frame + 1]) / 2, from), paused];
    }
    return best;
  }

  time = () => this.now;
  span = () => this.selection.span;
  end = () => Math.max(...this.data.runs.map((run) => run.simulatedUs));

  setTime(time: number): void {
    this.now = Math.max(0, Math.min(this.end(), time));
    this.slider.value = String((1000 * this.now) / this.end());
    this.clock.textContent = this.clockText();
    this.slider.setAttribute("aria-valuetext", this.clockText());
    for (const view of this.views) view.update(this.playing);
    this.drawn++;
    document.documentElement.dataset["drawn"] = String(this.drawn);
  }

  private clockText(): string {
    const [unit, per] = timeUnit(this.end());
    return `${number(this.now / per, per === 1 ? 2 : 3)} of ${number(this.end() / per, per === 1 ? 0 : 1)} ${unit}`;
  }

  setLife(run: Run, life: [number, number] | null): void {
    const index = this.data.runs.indexOf(run);
    while (this.lives.children.length < this.data.runs.length) this.lives.append(element("span"));
    const mark = this.lives.children[index] as HTMLElement;
    mark.hidden = !life;
    mark.title = life ? `The chosen flow of ${run.label}` : "";
    if (life) mark.style.cssText = `left:${(100 * life[0]) / this.end()}%;width:${(100 * (life[1] - life[0])) / this.end()}%;top:${index * 4}px;background:${this.data.runs.length > 1 ? runColours()[index] : "var(--path)"}`;
  }

  setSpan(span: [number, number] | null): void {
    this.selection.span = span;
    if (span) this.setTime(span[0]);
    this.showSelection();
  }

  private frameWidth(): number {
    return Math.min(...this.data.runs.map(({ frames }) => frames.edges[1] - frames.edges[0]));
  }

  private bar(): HTMLElement {
    const metric = element("select", { id: "metric", onchange: (event) => (this.setMetric((event.target as HTMLSelectElement).value as Metric), (event.target as HTMLElement).blur()) });
    for (const [value, text] of Object.entries(METRICS)) metric.append(element("option", { value }, text));
    const speed = element("select", { id: "speed", onchange: (event) => ((this.speed = Number((event.target as HTMLSelectElement).value)), (event.target as HTMLElement).blur()) });
    for (const value of [0.25, 0.5, 1, 2, 4]) speed.append(element("option", { value, selected: value === 1 }, `x ${value}`));
    this.slider.addEventListener("input", () => this.setTime((Number(this.slider.value) * this.end()) / 1000));
    return element(
      "div",
      { class: "bar-top" },
      element("div", { class: "row" }, this.playButton, element("div", { class: "slider" }, this.slider, this.lives), this.clock),
      element(
        "div",
        { class: "row" },
        element("label", {}, "Colour ", metric),
        this.legend,
        element("label", {}, "Speed ", speed),
        this.theme,
        this.chips,
      ),
    );
  }

  private help(): HTMLElement {
    const keys = [
      ["Space", "play or stop"],
      ["Left, Right", "one frame back or on; with Shift ten"],
      ["Home, End", "begin and end of the run"],
      ["L, Q, P", "colour by load, queue or pause"],
      ["Escape", "clear the selection, and show the whole network"],
    ];
    const { runs } = this.data;
    const states = runs.some((run) => run.states) ? " Dots are states of ports: red root or congested, orange inner, yellow edge, blue undetermined." : "";
    const grey = runs.some((run) => run.frames.widths.some((width) => !width)) ? " Dashed grey: not recorded." : "";
    return element(
      "details",
      { class: "help" },
      element("summary", {}, "Keys and marks"),
      element("ul", {}, ...keys.map(([key, text]) => element("li", {}, element("kbd", {}, key), ` ${text}`))),
      element("p", { class: "note" }, `A line is one direction of a link, coloured by what the port at its beginning does.${grey} A wide green edge: the path of the chosen flow. Dashes in dark red: the port is paused; the numbers are the order in which the pauses of the largest tree began (of several that are shown as one, the first), and a ring marks its root.${states} Drag in a chart over time, or in the chart of slowdowns, to select.`),
    );
  }

  private setMetric(metric: Metric): void {
    this.metric = metric;
    this.theme.textContent = isDark() ? "Dark; switch to light" : "Light; switch to dark";
    const select = this.host.querySelector<HTMLSelectElement>("#metric");
    if (select) select.value = metric;
    for (const view of this.views) view.setMetric(metric);
    const most = metric === "queue" ? bytes(Math.max(...this.data.runs.map((run) => run.frames.queueMost))) : "100 %";
    const least = metric === "queue" ? "1 KB" : "0";
    this.legend.replaceChildren(element("span", { class: "printed" }, `Colour: ${METRICS[metric]}`), element("span", {}, least), element("span", { class: "ramp", style: `background:linear-gradient(90deg,${ramp(metric).filter((_, i) => i % 4 === 0 || i === 31).join(",")})` }), element("span", {}, most));
  }

  private switchTheme(): void {
    const root = document.documentElement;
    root.dataset["theme"] = isDark() ? "light" : "dark";
    this.setMetric(this.metric);
    this.resize();
    this.showSelection();
  }

  private togglePlay(): void {
    this.playing = !this.playing;
    this.playButton.textContent = this.playing ? "Stop" : "Play";
    if (!this.playing) {
      this.setTime(this.now);
      return;
    }
    const span = this.selection.span ?? [0, this.end()];
    if (this.now >= span[1] || this.now < span[0]) this.setTime(span[0]);
    let last = performance.now();
    const step = (now: number) => {
      if (!this.playing) return;
      const passed = Math.min(now - last, 200);
      if (passed >= PICTURE) {
        last = now;
        const next = this.now + ((span[1] - span[0]) * passed * this.speed) / (PLAYED * 1000);
        this.setTime(Math.min(next, span[1]));
        if (next >= span[1]) this.togglePlay();
      }
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  private listen(): void {
    document.addEventListener("keydown", (event) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || (event.key !== "Escape" && ["SELECT", "TEXTAREA"].includes(target.tagName))) return;
      const frame = this.frameWidth() * (event.shiftKey ? 10 : 1);
      const keys: Record<string, () => void> = {
        " ": () => this.togglePlay(),
        ArrowLeft: () => this.setTime(this.now - frame),
        ArrowRight: () => this.setTime(this.now + frame),
        Home: () => this.setTime(0),
        End: () => this.setTime(this.end()),
        l: () => this.setMetric("load"),
        q: () => this.setMetric("queue"),
        p: () => this.setMetric("paused"),
        Escape: () => this.clear(),
      };
      const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (!act || (event.key === " " && ["BUTTON", "SUMMARY"].includes(target.tagName))) return;
      event.preventDefault();
      act();
    });
    let width = window.innerWidth;
    window.addEventListener("resize", () => {
      if (window.innerWidth === width) return;
      width = window.innerWidth;
      this.resize();
      this.showSelection();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (this.setMetric(this.metric), this.resize(), this.showSelection()));
    let before: string | undefined;
    let opened: HTMLDetailsElement[] = [];
    let printing = false;
    const again = () => (this.setMetric(this.metric), this.resize(), this.showSelection());
    window.addEventListener("beforeprint", () => {
      // A browser may say so more than once.
      if (!printing) before = document.documentElement.dataset["theme"];
      document.documentElement.dataset["theme"] = "light";
      // Charts are drawn as wide as paper, in one column; the style for paper holds only afterwards.
      document.documentElement.classList.add("printing");
      opened = printing ? opened : [...this.host.querySelectorAll<HTMLDetailsElement>("details:not([open])")];
      for (const details of opened) details.open = true;
      printing = true;
      for (const view of this.views) view.setPrinted(true);
      again();
    });
    window.addEventListener("afterprint", () => {
      if (before) document.documentElement.dataset["theme"] = before;
      else delete document.documentElement.dataset["theme"];
      document.documentElement.classList.remove("printing");
      for (const details of opened) details.open = false;
      printing = false;
      for (const view of this.views) view.setPrinted(false);
      again();
    });
  }

  private clear(): void {
    this.selection.span = this.selection.sizes = null;
    this.selection.without.clear();
    for (const view of this.views) view.showNothing();
    this.showSelection();
  }

  private resize(): void {
    for (const view of this.views) view.resize();
    this.setTime(this.now);
  }

  private showSelection(): void {
    const colours = runColours();
    const slow: Curve[] = [];
    const done: Curve[] = [];
    const texts: string[] = [];
    const several = this.data.runs.length > 1;
    this.data.runs.forEach((run, index) => {
      const own = measured(run, chosenFlows(run, this.selection));
      const colour = colours[index];
      const name = several ? `${run.label} ` : "";
      const sizes = bySize(run, own);
      slow.push({ label: `${name}median (dashed)`, x: sizes.x, y: sizes.p50, colour, dash: [4, 3] }, { label: `${name}p99`, x: sizes.x, y: sizes.p99, colour });
      const times = cdf(run, own);
      done.push({ label: `${several ? run.label : "measured flows"}${times.unfinished ? `, ${number(times.unfinished)} unfinished` : ""}`, x: times.x, y: times.y, colour });
      texts.push(`${several ? `${run.label}: ` : ""}${plural(own.length, "measured flow")}`);
    });
    this.summary.textContent = `${texts.join("; ")}${this.selection.span ? `: a span counts the flows under way in it` : ""}${this.selection.span || this.selection.sizes || this.selection.without.size ? " in the selection" : ""}. Unfinished flows rank above all others; a gap is a percentile that is not reached.`;
    this.slowdowns.replaceChildren();
    this.completion.replaceChildren();
    const finished = done.some((curve) => curve.x.length);
    this.pair.hidden = !finished;
    if (!finished) {
      this.summary.textContent = `${texts.join("; ")}. None of them finished, so that there are no curves of slowdowns and completion times.`;
      for (const view of this.views) view.select();
      this.showChips();
      return;
    }
    curves(this.slowdowns, slow, { x: "size", y: "slowdown", logY: true, sizes: true }, (sizes) => {
      this.selection.sizes = sizes;
      this.showSelection();
    });
    curves(this.completion, done, { x: "us", y: "share of flows" });
    for (const view of this.views) view.select();
    this.showChips();
  }

  private showChips(): void {
    const chips: HTMLElement[] = [];
    const add = (text: string, act: () => void, pressed?: boolean) =>
      chips.push(element("button", { type: "button", class: "chip", "aria-pressed": pressed === undefined ? undefined : String(pressed), onclick: () => (act(), this.showSelection()) }, text));
    const { span, sizes, without } = this.selection;
    if (span) add(`${microseconds(span[0])} to ${microseconds(span[1])} x`, () => (this.selection.span = null));
    if (sizes) add(`${bytes(sizes[0])} to ${bytes(sizes[1])} x`, () => (this.selection.sizes = null));
    const workloads = [...new Set(this.data.runs.flatMap((run) => run.flows.workloads))];
    if (workloads.length > 1) {
      for (const name of workloads.slice(0, 12)) {
        add(name, () => (without.has(name) ? without.delete(name) : without.add(name)), !without.has(name));
      }
    }
    this.chips.replaceChildren(...chips);
  }
}

const host = document.getElementById("report")!;
read()
  .then((data) => new Page(data, host))
  .catch((error: unknown) => {
    host.removeAttribute("aria-busy");
    const needs = "DecompressionStream" in window ? "" : " It needs a browser of 2023 or newer (DecompressionStream).";
    host.append(element("p", { class: "warnings", role: "alert" }, `This page could not be shown: ${String(error)}.${needs}`));
  });
