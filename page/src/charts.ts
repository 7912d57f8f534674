// Charts over time and of flows, drawn by uPlot, and the map of ports over time.

import { bisectRight, max } from "d3-array";
import { scaleLinear, type ScaleLinear } from "d3-scale";
import uPlot from "uplot";
import { ramp, STEPS, variable, type Metric } from "./colour";
import { frameAt, hasQueue, isPast, isRecorded, loadOf, pausedOf, portName, queueOf, type Run } from "./data";
import { bytes, microseconds, number, percent } from "./text";

export interface TimeLinks {
  time(): number;
  setTime(time: number): void;
  span(): [number, number] | null;
  setSpan(span: [number, number] | null): void;
  end(): number;
  /** Marks the life of the flow that a run shows, at the slider. */
  setLife(run: Run, life: [number, number] | null): void;
}

export interface Line {
  label: string;
  values: ArrayLike<number | null>;
  colour: string;
  dash?: number[];
  /** Of its values in the legend; that of the axis unless another is given. */
  unit?: string;
}

/** Legends have the dashes of their lines. */
const MARKERS: uPlot.Legend["markers"] = { dash: (u, index) => (u.series[index].dash?.length ? "dashed" : "solid") };

function axis(more: uPlot.Axis = {}): uPlot.Axis {
  return {
    stroke: variable("--text"),
    font: "11px system-ui, sans-serif",
    grid: { stroke: variable("--line"), width: 1 },
    ticks: { stroke: variable("--line"), width: 1, size: 4 },
    gap: 3,
    ...more,
  };
}

/** Writes times in microseconds, or milliseconds where the run is that long. */
export function timeUnit(end: number): [string, number] {
  return end > 3000 ? ["ms", 1000] : ["us", 1];
}

export function timeChart(host: HTMLElement, x: ArrayLike<number>, lines: Line[], unit: string, links: TimeLinks, until: number, range: [number, number] = [0, links.end()]): TimeMarks {
  const [time, per] = timeUnit(range[1]);
  const xs = Float64Array.from(x, (at) => at / per);
  let writing = true;
  /** Sets the legend to the values of the slider's time; there are none after the end of the run. */
  const write = () => {
    const index = Math.max(0, Math.min(bisectRight(xs, links.time() / per) - 1, xs.length - 1));
    writing = true;
    chart.setLegend({ idx: links.time() > until + 1e-6 ? (null as unknown as number) : index });
    writing = false;
  };
  const chart = new uPlot(
    {
      width: Math.max(host.clientWidth, 200),
      height: 170,
      padding: [8, HeatMap.RIGHT, 0, 0],
      cursor: { drag: { x: true, y: false, setScale: false }, y: false },
      legend: { live: true, markers: MARKERS },
      scales: { x: { time: false, range: () => [range[0] / per, range[1] / per] }, y: { range: (_, __, most) => [0, (most || 1) * 1.05] } },
      axes: [axis({ label: `time in ${time}`, labelSize: 16, labelFont: "11px system-ui, sans-serif", size: 30 }), axis({ label: unit, labelSize: 16, labelFont: "11px system-ui, sans-serif", size: HeatMap.LEFT - 16 })],
      series: [
        { label: `time, ${time}`, value: (_, v) => (v == null ? "" : number(v, 2)) },
        ...lines.map((line) => ({
          label: line.label,
          stroke: line.colour,
          width: 1.5,
          dash: line.dash,
          paths: uPlot.paths.stepped!({ align: 1 }),
          points: { show: false },
          value: (_: uPlot, v: number | null) => (v == null ? "" : `${number(v, 1)} ${line.unit ?? unit}`),
        })),
      ],
      hooks: {
        // uPlot empties its legend when the pointer has left, and with each drawing.
        setLegend: [(u) => void (u.legend.idx == null && !writing && write())],
        setSelect: [
          (u) => {
            if (u.select.width < 4) return;
            const from = u.posToVal(u.select.left, "x") * per;
            links.setSpan([Math.max(0, from), Math.min(links.end(), u.posToVal(u.select.left + u.select.width, "x") * per)]);
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
      },
    },
    [xs, ...lines.map((line) => line.values)] as unknown as uPlot.AlignedData,
    host,
  );
  chart.over.addEventListener("click", (event) => {
    if (event.detail === 1) links.setTime(chart.posToVal(event.offsetX, "x") * per);
  });
  const marks = new TimeMarks(chart.over, links, range, write);
  chart.root.setAttribute("role", "img");
  chart.root.setAttribute("aria-label", `${lines.map((line) => line.label).join(", ")}, over time`);
  // The chart is drawn after this, and would empty its legend.
  writing = false;
  setTimeout(() => marks.update(), 0);
  return marks;
}

/** Marks the time and the chosen span over something that is drawn once: only the marks move. */
export class TimeMarks {
  private readonly line = document.createElement("div");
  private readonly span = document.createElement("div");

  constructor(
    host: HTMLElement,
    private readonly links: TimeLinks,
    private readonly range: [number, number] = [0, links.end()],
    private readonly onUpdate?: () => void,
  ) {
    this.line.className = "time-line";
    this.span.className = "time-span";
    host.append(this.span, this.line);
  }

  update(texts = true): void {
    const [from, to] = this.range;
    const share = (time: number) => Math.max(0, Math.min(1, (time - from) / (to - from)));
    const now = this.links.time();
    this.line.hidden = now < from || now > to;
    this.line.style.left = `${100 * share(now)}%`;
    const span = this.links.span();
    this.span.hidden = !span;
    if (span) {
      this.span.style.left = `${100 * share(span[0])}%`;
      this.span.style.width = `${100 * (share(span[1]) - share(span[0]))}%`;
    }
    if (texts) this.onUpdate?.();
  }
}

export interface Curve {
  label: string;
  x: number[];
  y: (number | null)[];
  colour: string;
  dash?: number[];
}

/** A chart of curves with points of their own, over a logarithmic axis. */
export function curves(
  host: HTMLElement,
  own: Curve[],
  labels: { x: string; y: string; logY?: boolean; sizes?: boolean },
  onRange?: (range: [number, number]) => void,
): void {
  const data = [null, ...own.map((curve) => [curve.x, curve.y])];
  const xs = own.flatMap((curve) => curve.x);
  const least = Math.min(...xs, Infinity);
  const most = Math.max(...xs, -Infinity);
  const range: [number, number] = xs.length ? [Math.max(least * 0.93, 1e-3), Math.max(most * 1.07, least * 1.5)] : [1, 10];
  const ys = own.flatMap((curve) => curve.y.filter((y): y is number => y !== null));
  const ceiling = max(ys) ?? 1;
  const form = (v: number) => (labels.sizes ? bytes(v) : v >= 1 ? number(v) : String(v));
  const told = (curve: Curve, i: number) => `${curve.label}: ${form(curve.x[i])}${labels.sizes ? "" : ` ${labels.x}`}, ${labels.logY ? `${labels.y} ${number(curve.y[i]!, 1)}` : `${number(curve.y[i]! * 100, 1)} % of flows`}`;
  const up = labels.logY ? ([1, Math.max(ceiling * 1.2, 2)] as [number, number]) : ([0, 1] as [number, number]);
  const chart = new uPlot(
    {
      mode: 2,
      width: Math.max(host.clientWidth, 200),
      height: 230,
      cursor: { drag: { x: Boolean(onRange), y: false, setScale: false } },
      legend: { show: true, live: false, markers: MARKERS },
      scales: {
        x: { time: false, distr: 3, range: () => range },
        y: labels.logY ? { distr: 3, range: () => up } : { range: () => up },
      },
      axes: [
        axis({
          label: labels.x, labelSize: 16, labelFont: "11px system-ui, sans-serif", size: 30,
          splits: () => logTicks(range),
          filter: (_, splits) => splits,
          values: (_, splits) => splits.map(form),
        }),
        axis({
          label: labels.y, labelSize: 16, labelFont: "11px system-ui, sans-serif", size: 46,
          ...(labels.logY ? { splits: () => logTicks(up) } : {}),
          filter: (_, splits) => splits,
          values: (_, splits) => splits.map((v) => String(Number(v.toPrecision(3)))),
        }),
      ],
      series: [
        {},
        ...own.map((curve) => ({
          label: curve.label,
          stroke: curve.colour,
          dash: curve.dash,
          width: 1.8,
          facets: [{ scale: "x", auto: false }, { scale: "y", auto: false }],
          paths: line,
        })),
      ] as unknown as uPlot.Series[],
      hooks: {
        setSelect: [
          (u) => {
            if (!onRange || u.select.width < 4) return;
            onRange([u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")]);
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
      },
    },
    data as unknown as uPlot.AlignedData,
    host,
  );
  tellPoints(chart, own, told);
}

/** Says what the point next to the pointer is, if one is near. */
function tellPoints(chart: uPlot, own: Curve[], told: (curve: Curve, point: number) => string): void {
  const tip = Object.assign(document.createElement("div"), { className: "tip", hidden: true });
  chart.over.append(tip);
  chart.over.addEventListener("mouseleave", () => (tip.hidden = true));
  chart.over.addEventListener("mousemove", (event) => {
    const box = chart.over.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    let nearest = NEAR;
    tip.hidden = true;
    for (const curve of own) {
      curve.x.forEach((x, i) => {
        const y = curve.y[i];
        if (y === null) return;
        const distance = Math.hypot(chart.valToPos(x, "x") - px, chart.valToPos(y, "y") - py);
        if (distance >= nearest) return;
        nearest = distance;
        tip.hidden = false;
        tip.textContent = told(curve, i);
      });
    }
    tip.style.left = `${Math.max(0, Math.min(px + 12, box.width - 220))}px`;
    tip.style.top = `${py > box.height / 2 ? py - 40 : py + 14}px`;
  });
}

/** Ticks of a logarithmic axis: powers of ten, with their multiples where there are few. */
function logTicks([least, most]: [number, number]): number[] {
  const decades = Math.log10(most / least);
  const multiples = decades > 3 ? [1] : decades > 1 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 8];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(least)); power <= Math.ceil(Math.log10(most)); power++) {
    for (const multiple of multiples) {
      const tick = Number((multiple * Math.pow(10, power)).toPrecision(3));
      if (tick >= least * 0.999 && tick <= most * 1.001) ticks.push(tick);
    }
  }
  return ticks;
}

/** Pixels from a point at which it is told. */
const NEAR = 30;

/** Curves of so few points show each. */
const FEW_POINTS = 25;

/** A curve of points of its own, with a gap where a value is missing. */
function line(u: uPlot, index: number): null {
  const series = u.series[index] as uPlot.Series & { dash?: number[] };
  const [xs, ys] = u.data[index] as unknown as [number[], (number | null)[]];
  const { ctx } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(u.bbox.left, u.bbox.top - 2, u.bbox.width, u.bbox.height + 4);
  ctx.clip();
  ctx.strokeStyle = typeof series.stroke === "function" ? String(series.stroke(u, index)) : String(series.stroke);
  ctx.lineWidth = 1.8 * devicePixelRatio;
  ctx.setLineDash((series.dash ?? []).map((each) => each * devicePixelRatio));
  ctx.beginPath();
  let open = false;
  xs.forEach((x, i) => {
    const y = ys[i];
    if (y === null) open = false;
    else {
      const [px, py] = [u.valToPos(x, "x", true), u.valToPos(y, "y", true)];
      if (open) ctx.lineTo(px, py);
      else ctx.moveTo(px, py);
      open = true;
    }
  });
  ctx.stroke();
  ctx.setLineDash([]);
  // Few points are shown as such: one alone makes no line.
  for (const [i, x] of xs.entries()) {
    const y = ys[i];
    if (y === null || xs.length > FEW_POINTS) continue;
    ctx.beginPath();
    ctx.arc(u.valToPos(x, "x", true), u.valToPos(y, "y", true), 2.2 * devicePixelRatio, 0, 7);
    ctx.stroke();
  }
  ctx.restore();
  return null;
}

/** Ports over time as colours, those that were paused first on top. */
export class HeatMap {
  static readonly MOST = 40;
  metric: Metric = "paused";
  readonly ports: number[];
  readonly beyond: number;
  static readonly LEFT = 76;
  static readonly RIGHT = 12;
  private static readonly ROW = 11;
  private static readonly AXIS = 18;
  private static readonly ROOTS = 10;
  /** How many of the ports are there because most pauses began at them. */
  roots = 0;
  private readonly left = HeatMap.LEFT;

  constructor(
    private readonly run: Run,
    readonly canvas: HTMLCanvasElement,
    private readonly links: TimeLinks,
    private readonly onPort: (port: number) => void,
    tip: HTMLElement,
  ) {
    const found = this.order();
    this.ports = found.slice(0, HeatMap.MOST);
    this.beyond = found.length - this.ports.length;
    canvas.height = 10;
    let down = -1;
    canvas.addEventListener("pointerdown", (event) => (down = event.offsetX));
    canvas.addEventListener("pointerleave", () => (tip.hidden = true));
    canvas.addEventListener("pointermove", (event) => {
      const port = this.ports[Math.floor(event.offsetY / HeatMap.ROW)];
      tip.hidden = port === undefined || event.offsetX < this.left;
      if (tip.hidden) return;
      tip.replaceChildren(...this.told(port, this.timeAt(event.offsetX)).map((text) => Object.assign(document.createElement("div"), { textContent: text })));
      tip.style.left = `${Math.min(event.offsetX + 12, canvas.clientWidth - 190)}px`;
      tip.style.top = `${event.offsetY + 14}px`;
    });
    canvas.addEventListener("pointerup", (event) => {
      const span = [down, event.offsetX].sort((a, b) => a - b).map((x) => this.timeAt(x)) as [number, number];
      if (Math.abs(event.offsetX - down) > 5) links.setSpan(span);
      else {
        const row = Math.floor(event.offsetY / HeatMap.ROW);
        links.setTime(this.timeAt(event.offsetX));
        if (row >= 0 && row < this.ports.length) this.onPort(this.ports[row]);
      }
    });
  }

  /** A port, a time, and what the port did then. */
  private told(port: number, time: number): string[] {
    const { run } = this;
    if (isPast(run, time)) return [portName(run, port), "after the end of this run"];
    const frame = frameAt(run, time);
    const value =
      this.metric === "queue"
        ? hasQueue(run, port) ? `longest queue ${bytes(queueOf(run, port, frame))}` : "queue of a host: not recorded"
        : this.metric === "load" ? `load ${percent(loadOf(run, port, frame))}` : `paused ${percent(pausedOf(run, port, frame))}`;
    return [portName(run, port), `at ${microseconds(time)}: ${value}`, "click: go to this time and show the port; drag: select a span"];
  }

  /** Ports at which most pauses began, then all by paused time, then by the longest queue; those that did neither are left out. */
  private order(): number[] {
    const { run } = this;
    const { count } = run.frames;
    const rows = [];
    for (let port = 0; port < run.ports.node.length; port++) {
      if (!isRecorded(run, port)) continue;
      const paused = run.ports.paused[port];
      let queue = 0;
      for (let frame = 0; frame < count; frame++) {
        queue = Math.max(queue, run.frames.queue[port * count + frame]);
      }
      if (paused || queue) rows.push({ port, paused, queue });
    }
    rows.sort((a, b) => b.paused - a.paused || b.queue - a.queue || a.port - b.port);
    const began = new Map<number, number>();
    const totals = run.pauses?.totals;
    totals?.cause.forEach((cause, row) => {
      if (cause && totals.began[row]) began.set(cause - 1, (began.get(cause - 1) ?? 0) + totals.began[row]);
    });
    const known = new Set(rows.map((row) => row.port));
    const roots = [...began].filter(([port]) => known.has(port)).sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, HeatMap.ROOTS).map(([port]) => port);
    this.roots = roots.length;
    return [...new Set([...roots, ...rows.map((row) => row.port)])];
  }

  private timeAt(x: number): number {
    const room = Math.max(this.canvas.clientWidth - this.left - HeatMap.RIGHT, 1);
    return Math.max(0, Math.min(this.links.end(), ((x - this.left) / room) * this.links.end()));
  }

  draw(): void {
    const { run, canvas } = this;
    const scale = devicePixelRatio || 1;
    const width = canvas.clientWidth;
    const rows = Math.max(this.ports.length, 1) * HeatMap.ROW;
    const height = rows + HeatMap.AXIS;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const context = canvas.getContext("2d");
    if (!context || !width) return;
    context.scale(scale, scale);
    const x = scaleLinear([0, this.links.end()], [this.left, width - HeatMap.RIGHT]);
    const { count, edges } = run.frames;
    const colours = ramp(this.metric);
    const step = HeatMap.ROW;
    const pixels = Math.max(1, Math.ceil(x(run.simulatedUs) - this.left));
    context.font = "10px system-ui, sans-serif";
    context.textBaseline = "middle";
    this.ports.forEach((port, row) => {
      // The highest value of all frames of a pixel, so that peaks stay.
      let frame = 0;
      for (let pixel = 0; pixel < pixels; pixel++) {
        const until = x.invert(this.left + pixel + 1);
        let most = this.value(port, frame);
        while (frame + 1 < count && edges[frame + 1] < until) most = Math.max(most, this.value(port, ++frame));
        context.fillStyle = colours[Math.ceil(most * (STEPS - 1))];
        context.fillRect(this.left + pixel, row * step, 1.05, step - 1);
      }
      context.fillStyle = variable("--text");
      context.fillText(portName(run, port), 0, row * step + step / 2, this.left - 4);
    });
    this.axis(context, x, rows);
  }

  private axis(context: CanvasRenderingContext2D, x: ScaleLinear<number, number>, top: number): void {
    const [unit, per] = timeUnit(this.links.end());
    context.fillStyle = context.strokeStyle = variable("--text");
    context.fillText(`time, ${unit}`, 0, top + 11, this.left - 8);
    context.textAlign = "center";
    for (const tick of x.ticks(this.canvas.clientWidth < 500 ? 4 : 8)) {
      context.fillRect(x(tick) - 0.5, top, 1, 4);
      context.fillText(String(Number((tick / per).toPrecision(6))), x(tick), top + 11);
    }
    context.textAlign = "left";
  }

  private value(port: number, frame: number): number {
    const { run } = this;
    if (this.metric === "paused") return pausedOf(run, port, frame);
    if (this.metric === "load") return Math.min(loadOf(run, port, frame), 1);
    return Math.min(queueOf(run, port, frame) / run.frames.queueMost, 1);
  }
}
