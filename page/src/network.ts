// The network on a canvas: links coloured by what their ports do at a time, trees of pauses, states of ports.

import { isDark, ramp, stateColour, STEPS, variable, type Metric } from "./colour";
import {
  frameAt,
  hasQueue,
  isPast,
  isRecorded,
  loadOf,
  otherEnd,
  pausedOf,
  portName,
  queueOf,
  stateOf,
  type Run,
  type Why,
} from "./data";
import { layOut, MANY, podsOf, riseOf, type Layout, type Place } from "./layout";
import { microseconds } from "./text";
import type { Pauses, Tree } from "./tree";

/** Branches beyond these have no number on the canvas; the list beside it has all. */
const MOST_NUMBERS = 60;
/** Nodes of a path of so many ports have their names. */
const MOST_NAMED = 24;
/** Dashes of more branches take longer to draw than a frame may. */
const MOST_DASHED = 100;
const CAUSE_COLOUR = () => (isDark() ? "#ff9fdc" : "#8a1264");

interface Curve {
  from: Place;
  control: Place;
  to: Place;
  bent: boolean;
}

export interface Hit {
  port?: number;
  node?: number;
  pod?: number;
}

export class Network {
  readonly folded = new Set<number>();
  metric: Metric = "load";
  selectedPort = -1;
  selectedNode = -1;
  why: Why | null = null;
  flowEnds: [number, number] | null = null;
  /** Ports that the chosen flow may have taken, where its causes are not known. */
  flowPorts: number[] = [];
  /** What does not change with time, below the lines that do and above them. */
  private readonly below = document.createElement("canvas");
  private readonly above = document.createElement("canvas");
  private layout: Layout;
  private curves: (Curve | null)[] = [];
  /** Nodes with long links beside them, whose names are above. */
  private readonly atLongLink = new Set<number>();
  /** Ports inside each folded pod. */
  private inside: number[][] = [];
  private readonly parallel: Float32Array;
  private width = 0;
  private height = 0;
  private zoom = { k: 1, x: 0, y: 0 };

  constructor(
    private readonly run: Run,
    private readonly pauses: Pauses,
    readonly canvas: HTMLCanvasElement,
  ) {
    if (run.nodes.name.length > MANY) for (const pod of podsOf(run).keys()) this.folded.add(pod);
    this.parallel = this.offsets();
    run.links.name.forEach((_, link) => {
      if (run.links.long[link]) for (const end of [run.links.from[link], run.links.to[link]]) this.atLongLink.add(end);
    });
    this.layout = layOut(run, this.folded, 300, 200);
  }

  /** Places of parallel links beside one another. */
  private offsets(): Float32Array {
    const { from, to } = this.run.links;
    const own = new Map<string, number[]>();
    for (let link = 0; link < from.length; link++) {
      const key = `${Math.min(from[link], to[link])}-${Math.max(from[link], to[link])}`;
      own.set(key, [...(own.get(key) ?? []), link]);
    }
    const offsets = new Float32Array(from.length);
    for (const links of own.values()) links.forEach((link, i) => (offsets[link] = i - (links.length - 1) / 2));
    return offsets;
  }

  resize(): void {
    const box = this.canvas.getBoundingClientRect();
    const scale = window.devicePixelRatio || 1;
    this.width = Math.max(box.width, 50);
    this.height = Math.max(box.height, 50);
    this.canvas.width = Math.round(this.width * scale);
    this.canvas.height = Math.round(this.height * scale);
    this.arrange();
  }

  toggle(pod: number): void {
    if (!this.folded.delete(pod)) this.folded.add(pod);
    this.arrange();
  }

  foldAll(fold: boolean): void {
    for (const pod of podsOf(this.run).keys()) {
      if (fold) this.folded.add(pod);
      else this.folded.delete(pod);
    }
    this.arrange();
  }

  private arrange(): void {
    this.layout = layOut(this.run, this.folded, this.width, this.height);
    const count = this.run.ports.node.length;
    this.curves = Array.from({ length: count }, (_, port) => this.curve(port));
    const box = new Map<number, number[]>();
    this.inside = this.layout.boxes.map((own) => {
      const ports: number[] = [];
      for (const node of own.nodes) box.set(node, ports);
      return ports;
    });
    this.curves.forEach((curve, port) => {
      if (!curve) box.get(this.run.ports.node[port])?.push(port);
    });
  }

  /** The line of a port's direction: beside that of the other direction; none inside a folded pod. */
  private curve(port: number): Curve | null {
    const { places, folded } = this.layout;
    const node = this.run.ports.node[port];
    const other = otherEnd(this.run, port);
    if (folded[node] >= 0 && folded[node] === folded[other]) return null;
    const a = places[node];
    const b = places[other];
    const dx = b.x - a.x;
    const dy = b.y - a.y;
    const length = Math.hypot(dx, dy) || 1;
    const link = this.run.ports.link[port];
    const isLong = this.run.links.long[link] > 0;
    const half = isLong ? 3.2 : this.lineWidth() * 0.6 + 0.3;
    const aside = half + this.parallel[link] * 5 * (this.run.links.from[link] === node ? 1 : -1);
    const side = { x: (-dy / length) * aside, y: (dx / length) * aside };
    // Nodes of one tier have others between them: their links bend.
    const sameRow = Math.abs(dy) < 2 && !isLong;
    const bend = sameRow ? -Math.min(Math.abs(dx) * 0.16, 34) : -riseOf(this.run, link);
    const from = { x: a.x + side.x, y: a.y + side.y };
    const to = { x: b.x + side.x, y: b.y + side.y };
    return { from, to, bent: bend !== 0, control: { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 + 2 * bend } };
  }

  private lineWidth(): number {
    const links = this.run.links.from.length;
    return links > 1500 ? 0.8 : links > 300 ? 1.2 : links > 120 ? 1.8 : 2.6;
  }

  zoomAt(x: number, y: number, factor: number): void {
    const k = Math.min(12, Math.max(1, this.zoom.k * factor));
    const real = k / this.zoom.k;
    this.zoom = { k, x: x - (x - this.zoom.x) * real, y: y - (y - this.zoom.y) * real };
    this.pan(0, 0);
  }

  pan(dx: number, dy: number): void {
    const { k } = this.zoom;
    this.zoom.x = Math.min(0, Math.max(this.width * (1 - k), this.zoom.x + dx));
    this.zoom.y = Math.min(0, Math.max(this.height * (1 - k), this.zoom.y + dy));
  }

  isZoomed(): boolean {
    return this.zoom.k > 1;
  }

  resetZoom(): void {
    this.zoom = { k: 1, x: 0, y: 0 };
  }

  /** Shows the part of the network that another one shows, with the same pods folded. */
  follow(other: Network): void {
    if (other.run.nodes.name.length !== this.run.nodes.name.length) return;
    const { k, x, y } = other.zoom;
    this.zoom = { k, x: (x * this.width) / other.width, y: (y * this.height) / other.height };
    this.folded.clear();
    for (const pod of other.folded) this.folded.add(pod);
    this.arrange();
  }

  /** The step of a metric's colour; -1 where it was not recorded. */
  private step(port: number, frame: number): number {
    const { run } = this;
    if (frame < 0 || !isRecorded(run, port)) return -1;
    let share: number;
    if (this.metric === "load") share = loadOf(run, port, frame);
    else if (this.metric === "paused") share = pausedOf(run, port, frame);
    else {
      const code = run.frames.queue[port * run.frames.count + frame];
      // From 1 KB up, in equal ratios: shorter queues are a packet or less.
      const first = (Math.log(1000 / run.frames.queueLeast) / Math.log(run.frames.queueMost / run.frames.queueLeast)) * run.frames.queueSteps;
      share = code === 0 ? 0 : Math.max(0, (code - first) / Math.max(run.frames.queueSteps - first, 1));
    }
    return Math.max(0, Math.min(STEPS - 1, Math.ceil(share * (STEPS - 1))));
  }

  /** Draws a time. Where nothing else has changed since the last call, layers without time are kept. */
  draw(time: number, onlyTime = false): void {
    const context = this.canvas.getContext("2d");
    if (!context) return;
    if (!onlyTime || this.below.width !== this.canvas.width) this.drawLayers();
    const frame = this.frame(time);
    const trees = this.pauses.trees(frame);
    this.lay(context, this.below);
    this.drawPath(context);
    this.drawLinks(context, frame);
    this.drawStates(context, frame);
    this.drawTrees(context, trees);
    this.lay(context, this.above);
    this.drawBoxes(context, frame);
    this.drawOrder(context, trees);
    this.drawOrigins(context);
    if (trees[0]) this.drawRoot(context, trees[0].root, true);
    this.drawSelected(context);
    if (frame < 0) this.drawEnd(context);
  }

  /** The frame at a time; -1 after the end of the run. */
  frame(time: number): number {
    return isPast(this.run, time) ? -1 : frameAt(this.run, time);
  }

  /** Says in the network of a run that has ended so. */
  private drawEnd(context: CanvasRenderingContext2D): void {
    const scale = window.devicePixelRatio || 1;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.globalAlpha = 0.6;
    context.fillStyle = variable("--page");
    context.fillRect(0, 0, this.width, this.height);
    context.globalAlpha = 1;
    context.font = "bold 13px system-ui, sans-serif";
    context.textAlign = "center";
    this.haloed(context, endedText(this.run), this.width / 2, this.height / 2, variable("--text"));
  }

  /** Copies a layer as it is, and leaves the context at the zoom. */
  private lay(context: CanvasRenderingContext2D, layer: HTMLCanvasElement): void {
    const scale = window.devicePixelRatio || 1;
    const { k, x, y } = this.zoom;
    context.setTransform(1, 0, 0, 1, 0, 0);
    if (layer === this.below) context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.drawImage(layer, 0, 0);
    context.setTransform(scale * k, 0, 0, scale * k, scale * x, scale * y);
  }

  private drawLayers(): void {
    const scale = window.devicePixelRatio || 1;
    const { k, x, y } = this.zoom;
    for (const layer of [this.below, this.above]) {
      layer.width = this.canvas.width;
      layer.height = this.canvas.height;
      const context = layer.getContext("2d");
      if (!context) continue;
      context.setTransform(scale * k, 0, 0, scale * k, scale * x, scale * y);
      if (layer === this.below) {
        this.drawSites(context);
        this.drawIdle(context);
      } else {
        this.drawNodes(context);
        this.drawNames(context);
      }
    }
  }

  private drawSites(context: CanvasRenderingContext2D): void {
    const { sites } = this.layout;
    if (sites.length < 2) return;
    context.fillStyle = variable("--panel");
    for (const site of sites) {
      context.beginPath();
      context.roundRect(site.x - 8, 6, site.width + 16, this.height - 12, 8);
      context.fill();
    }
  }

  /** All lines as those of idle ports, or of ports without a record. */
  private drawIdle(context: CanvasRenderingContext2D): void {
    const isKnown = (port: number) => isRecorded(this.run, port);
    const unknown = this.curves.filter((curve, port) => curve && !isKnown(port)).length;
    for (const recorded of [false, true]) {
      context.strokeStyle = recorded ? ramp(this.metric)[0] : variable("--unknown");
      context.setLineDash(!recorded && unknown <= MOST_DASHED ? [3, 3] : []);
      this.curves.forEach((curve, port) => {
        if (!curve || isKnown(port) !== recorded) return;
        const width = this.run.links.long[this.run.ports.link[port]] > 0 ? 5 : this.lineWidth();
        context.lineWidth = recorded ? width : Math.min(width, 1);
        stroke(context, curve);
      });
    }
    context.setLineDash([]);
  }

  private drawLinks(context: CanvasRenderingContext2D, frame: number): void {
    const colours = ramp(this.metric);
    const thin = new Map<number, Curve[]>();
    const wide = new Map<number, Curve[]>();
    for (let port = 0; port < this.curves.length; port++) {
      const curve = this.curves[port];
      if (!curve) continue;
      const step = this.step(port, frame);
      // Idle ones are in the layer below.
      if (step <= 0) continue;
      const group = this.run.links.long[this.run.ports.link[port]] > 0 ? wide : thin;
      const own = group.get(step);
      if (own) own.push(curve);
      else group.set(step, [curve]);
    }
    for (const [group, width] of [[thin, this.lineWidth()], [wide, 5]] as const) {
      // What does more is drawn on top.
      for (const [step, own] of [...group].sort((a, b) => a[0] - b[0])) {
        context.strokeStyle = colours[step];
        context.lineWidth = width;
        for (const curve of own) stroke(context, curve);
      }
    }
  }

  private nameLongLinks(context: CanvasRenderingContext2D): void {
    const named = new Set<string>();
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "center";
    this.run.links.name.forEach((name, link) => {
      if (!this.run.links.long[link]) return;
      const a = this.layout.places[this.run.links.from[link]];
      const b = this.layout.places[this.run.links.to[link]];
      const ends = name.replace(/#.*/, "");
      // The name of a chosen port is there.
      if (this.selectedPort >= 0 && ends === this.run.links.name[this.run.ports.link[this.selectedPort]].replace(/#.*/, "")) return;
      if (named.has(ends)) return;
      named.add(ends);
      const delay = this.run.links.delay[link];
      // Light in fibre takes 5 us for a kilometre.
      const text = `${microseconds(delay)} · ${Number((delay / 5).toPrecision(3))} km`;
      const wrapped = Math.abs(b.x - a.x) < 130 ? text.split(" · ") : [text];
      const middle = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
      wrapped.forEach((line, i) => {
        const at = middle.y - 9 - riseOf(this.run, link) - (wrapped.length - 1 - i) * 13;
        this.haloed(context, line, middle.x, at, variable("--text"));
      });
    });
  }

  private haloed(context: CanvasRenderingContext2D, text: string, x: number, y: number, colour: string): void {
    context.lineWidth = 3;
    context.lineJoin = "round";
    context.strokeStyle = variable("--page");
    context.strokeText(text, x, y);
    context.fillStyle = colour;
    context.fillText(text, x, y);
  }

  private drawStates(context: CanvasRenderingContext2D, frame: number): void {
    if (!this.run.states || frame < 0) return;
    for (let port = 0; port < this.curves.length; port++) {
      const curve = this.curves[port];
      const colour = curve && stateColour(stateOf(this.run, port, frame));
      if (!curve || !colour) continue;
      this.dot(context, pointOf(curve, 0.2), colour);
    }
  }

  private dot(context: CanvasRenderingContext2D, at: Place, colour: string): void {
    context.beginPath();
    context.arc(at.x, at.y, 3.6, 0, 7);
    context.fillStyle = colour;
    context.fill();
    context.lineWidth = 1;
    context.strokeStyle = variable("--text");
    context.stroke();
  }

  /** Frames of folded pods, in the colour of the busiest port inside, and the gravest state there. */
  private drawBoxes(context: CanvasRenderingContext2D, frame: number): void {
    const colours = ramp(this.metric);
    const states = this.run.states?.states;
    for (const [index, box] of this.layout.boxes.entries()) {
      let most = -1;
      let gravest = 0;
      for (const port of this.inside[index] ?? []) {
        most = Math.max(most, this.step(port, frame));
        if (states && frame >= 0) gravest = Math.max(gravest, states[port * this.run.frames.count + frame]);
      }
      context.beginPath();
      context.roundRect(box.x, box.y, box.width, Math.max(box.height, 20), 6);
      context.lineWidth = 3;
      context.strokeStyle = most < 0 ? variable("--unknown") : colours[most];
      context.stroke();
      const colour = gravest ? stateColour(this.run.states!.names[gravest]) : null;
      if (colour) this.dot(context, { x: box.x + box.width / 2, y: box.y + box.height - 12 }, colour);
    }
  }

  private drawNodes(context: CanvasRenderingContext2D): void {
    const { places, folded, spacing } = this.layout;
    context.textAlign = "center";
    for (const box of this.layout.boxes) {
      context.beginPath();
      context.roundRect(box.x, box.y, box.width, Math.max(box.height, 20), 6);
      context.fillStyle = variable("--page");
      context.fill();
      context.font = "11px system-ui, sans-serif";
      context.fillStyle = variable("--text");
      if (box.width > 18) context.fillText(`${box.nodes.length}`, box.x + box.width / 2, box.y + box.height / 2 - 3);
      if (box.width > 34) {
        context.fillStyle = variable("--faint");
        context.fillText("nodes", box.x + box.width / 2, box.y + box.height / 2 + 10);
      }
    }
    this.run.nodes.name.forEach((_, node) => {
      if (folded[node] >= 0) return;
      const { x, y } = places[node];
      const tier = this.run.nodes.tier[node];
      const room = spacing[tier];
      const size = Math.max(1.5, Math.min(tier === 0 ? 3.5 : 5.5, room * 0.3));
      const chosen = this.isChosen(node);
      context.beginPath();
      if (this.run.nodes.kind[node] === "host") context.arc(x, y, size, 0, 7);
      else if (this.run.nodes.kind[node] === "relay") {
        context.moveTo(x, y - size);
        context.lineTo(x + size, y);
        context.lineTo(x, y + size);
        context.lineTo(x - size, y);
        context.closePath();
      } else context.roundRect(x - size * 1.3, y - size, size * 2.6, size * 2, 2);
      context.fillStyle = chosen ? variable("--accent") : variable("--node");
      context.fill();
    });
  }

  /** Names of nodes, where there is room between neighbours: of hosts below, of switches beside them. */
  private drawNames(context: CanvasRenderingContext2D): void {
    const { places, folded, spacing } = this.layout;
    // Of a tier all names or none.
    const longest: number[] = [];
    context.font = "10px system-ui, sans-serif";
    this.run.nodes.name.forEach((name, node) => {
      const tier = this.run.nodes.tier[node];
      if (folded[node] < 0) longest[tier] = Math.max(longest[tier] ?? 0, name.length);
    });
    const letter = context.measureText("m0").width / 2.3;
    const path = this.pathPorts();
    const onPath = new Set(path.length <= MOST_NAMED ? path.flatMap((port) => [this.run.ports.node[port], otherEnd(this.run, port)]) : []);
    this.run.nodes.name.forEach((name, node) => {
      if (folded[node] >= 0) return;
      const chosen = this.isChosen(node);
      context.font = `${chosen ? "bold " : ""}10px system-ui, sans-serif`;
      const tier = this.run.nodes.tier[node];
      const beside = tier > 0 ? 24 : 4;
      if (!chosen && !onPath.has(node) && (longest[tier] * letter + beside) / this.zoom.k > spacing[tier]) return;
      const { x, y } = places[node];
      const colour = chosen ? variable("--accent") : variable("--text");
      context.textAlign = tier === 0 || this.atLongLink.has(node) ? "center" : "right";
      if (this.atLongLink.has(node)) this.haloed(context, name, x, y - 10, colour);
      else if (tier === 0) this.haloed(context, name, x, y + 14, colour);
      else this.haloed(context, name, x - 10, y + 3.5, colour);
    });
    context.textAlign = "center";
    this.nameLongLinks(context);
  }

  private isChosen(node: number): boolean {
    return node === this.selectedNode || (this.flowEnds?.includes(node) ?? false);
  }

  private drawTrees(context: CanvasRenderingContext2D, trees: Tree[]): void {
    const all: Curve[] = [];
    for (const tree of trees) {
      for (const branch of tree.branches) {
        const curve = this.curves[branch.port];
        if (curve) all.push(curve);
      }
    }
    context.strokeStyle = CAUSE_COLOUR();
    context.lineWidth = this.lineWidth() + 0.6;
    if (all.length <= MOST_DASHED) context.setLineDash([5, 3]);
    for (const curve of all) stroke(context, curve);
    context.setLineDash([]);
  }

  /** Numbers the branches of the largest tree, and marks the roots of others. */
  private drawOrder(context: CanvasRenderingContext2D, trees: Tree[]): void {
    const largest = trees[0]?.branches.length ?? 0;
    for (const [index, tree] of trees.entries()) {
      const numbered = index === 0 && largest <= MOST_NUMBERS;
      const taken: Place[] = [];
      if (numbered) for (const branch of tree.branches) this.drawNumber(context, branch.port, branch.order, taken);
      if (index > 0 && index < 6) this.drawRoot(context, tree.root, false);
    }
  }

  private drawNumber(context: CanvasRenderingContext2D, port: number, order: number, taken: Place[]): void {
    const curve = this.curves[port];
    if (!curve) return;
    const text = String(order);
    context.font = "bold 9px system-ui, sans-serif";
    context.textAlign = "center";
    const radius = text.length > 1 ? 7 : 6;
    const isFree = (at: Place) => taken.every((own) => Math.hypot(own.x - at.x, own.y - at.y) > 2 * radius + 1);
    const places = [0.4, 0.3, 0.5, 0.22, 0.6, 0.68, 0.16].map((t) => pointOf(curve, t));
    // Where it would cover another number, the list below the network has it alone.
    const at = places.find(isFree);
    if (!at) return;
    taken.push(at);
    context.beginPath();
    context.arc(at.x, at.y, radius, 0, 7);
    context.fillStyle = CAUSE_COLOUR();
    context.fill();
    context.fillStyle = variable("--page");
    context.fillText(text, at.x, at.y + 3.2);
  }

  private drawRoot(context: CanvasRenderingContext2D, root: number, isFirst: boolean): void {
    const curve = root >= 0 ? this.curves[root] : null;
    // A port inside a folded pod has no line: the mark is at the pod.
    const node = root < 0 ? -1 - root : this.run.ports.node[root];
    const at = curve ? pointOf(curve, 0.5) : this.layout.places[node];
    if (!at) return;
    context.beginPath();
    context.arc(at.x, at.y, isFirst ? 9 : 6, 0, 7);
    context.lineWidth = 3;
    context.strokeStyle = "#d55e00";
    context.stroke();
    if (isFirst) {
      context.font = "bold 11px system-ui, sans-serif";
      const left = at.x > this.width - 60;
      context.textAlign = left ? "right" : "left";
      this.haloed(context, "root", at.x + (left ? -13 : 13), at.y + 4, isDark() ? "#ff9a4d" : "#a84300");
      context.textAlign = "center";
    }
  }

  /** The path of the chosen flow, a wide line below what its ports do: as its packets took it, or the shortest paths. */
  private drawPath(context: CanvasRenderingContext2D): void {
    const ports = this.pathPorts();
    const aside = this.why || !this.hasSeveralPaths() ? 9 : 6;
    for (const [colour, more] of [[variable("--path"), aside], [ramp(this.metric)[0], 0]] as const) {
      for (const port of ports) {
        const curve = this.curves[port];
        if (!curve) continue;
        context.strokeStyle = more || isRecorded(this.run, port) ? colour : variable("--unknown");
        context.lineWidth = (this.run.links.long[this.run.ports.link[port]] > 0 ? 5 : this.lineWidth()) + more;
        stroke(context, curve);
      }
    }
  }

  private pathPorts(): number[] {
    return this.why ? pathOf(this.why) : this.flowPorts;
  }

  private hasSeveralPaths(): boolean {
    return new Set(this.flowPorts.map((port) => this.run.ports.node[port])).size < this.flowPorts.length;
  }

  /** Arrows from where a flow was paused to where that began. */
  private drawOrigins(context: CanvasRenderingContext2D): void {
    if (!this.why) return;
    const paused = this.why.parts.filter((part) => part.origin >= 0 && part.port >= 0);
    const most = Math.max(...paused.map((part) => Number(part.ps)), 1);
    for (const part of paused) {
      const from = this.curves[part.port];
      const to = this.curves[part.origin];
      const share = Number(part.ps) / most;
      if (from && to && share > 0.1) this.arrow(context, pointOf(from, 0.5), pointOf(to, 0.5), 1 + 2.5 * share);
    }
  }

  private arrow(context: CanvasRenderingContext2D, from: Place, to: Place, width: number): void {
    const colour = isDark() ? "#ffb454" : "#c04a00";
    const dx = to.x - from.x;
    const dy = to.y - from.y;
    const length = Math.hypot(dx, dy);
    if (length < 4) return;
    const control = { x: (from.x + to.x) / 2 - dy * 0.18, y: (from.y + to.y) / 2 + dx * 0.18 - 12 };
    const angle = Math.atan2(to.y - control.y, to.x - control.x);
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.quadraticCurveTo(control.x, control.y, to.x, to.y);
    context.stroke();
    context.beginPath();
    context.moveTo(to.x, to.y);
    for (const side of [-0.4, 0.4]) context.lineTo(to.x - 11 * Math.cos(angle + side), to.y - 11 * Math.sin(angle + side));
    context.fill();
  }

  private drawSelected(context: CanvasRenderingContext2D): void {
    const curve = this.selectedPort >= 0 ? this.curves[this.selectedPort] : null;
    if (!curve) return;
    context.strokeStyle = variable("--text");
    context.lineWidth = this.lineWidth() + 5;
    context.globalAlpha = 0.35;
    stroke(context, curve);
    context.globalAlpha = 1;
    context.font = "bold 11px system-ui, sans-serif";
    const at = pointOf(curve, 0.5);
    context.textAlign = at.x > this.width - 50 ? "right" : at.x < 50 ? "left" : "center";
    this.haloed(context, portName(this.run, this.selectedPort), at.x, at.y - 10, variable("--text"));
  }

  /** What is at a point of the canvas. */
  at(px: number, py: number): Hit {
    const x = (px - this.zoom.x) / this.zoom.k;
    const y = (py - this.zoom.y) / this.zoom.k;
    for (const box of this.layout.boxes) {
      if (x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + Math.max(box.height, 20)) return { pod: box.pod };
    }
    const reach = 8 / this.zoom.k;
    let node = -1;
    let nearest = reach;
    this.layout.places.forEach((place, index) => {
      const distance = Math.hypot(place.x - x, place.y - y);
      if (this.layout.folded[index] < 0 && distance < nearest) [node, nearest] = [index, distance];
    });
    if (node >= 0) return { node };
    let port = -1;
    let best = reach;
    this.curves.forEach((curve, index) => {
      if (!curve) return;
      const distance = distanceTo(curve, x, y);
      if (distance < best) [port, best] = [index, distance];
    });
    return port >= 0 ? { port } : {};
  }

  /** A line about what a port does at a time. */
  tip(port: number, time: number): string[] {
    const { run } = this;
    const frame = this.frame(time);
    if (frame < 0) return [portName(run, port), endedText(run)];
    if (!isRecorded(run, port)) return [portName(run, port), "load and queue not recorded"];
    const state = stateOf(run, port, frame);
    return [
      portName(run, port),
      `load ${Math.round(loadOf(run, port, frame) * 100)} % of ${run.ports.rate[port]} Gbit/s`,
      hasQueue(run, port) ? `longest queue ${Math.round(queueOf(run, port, frame) / 1000)} KB` : "queue of a host: not recorded",
      `paused ${Math.round(pausedOf(run, port, frame) * 100)} %`,
      ...(state ? [`state ${state}`] : []),
    ];
  }
}

export function endedText(run: Run): string {
  return `this run ended at ${microseconds(run.simulatedUs)}`;
}

/** Ports on whose links a flow's data was, in the order of the parts of its time. */
export function pathOf(why: Why): number[] {
  return why.parts.filter((part) => part.cause === "serialisation" && part.port >= 0).map((part) => part.port);
}

/** Draws a curve. One by one, straight lines are drawn several times faster than all in one path. */
function stroke(context: CanvasRenderingContext2D, { bent, from, control, to }: Curve): void {
  context.beginPath();
  context.moveTo(from.x, from.y);
  if (bent) context.quadraticCurveTo(control.x, control.y, to.x, to.y);
  else context.lineTo(to.x, to.y);
  context.stroke();
}

function pointOf(curve: Curve, t: number): Place {
  const u = 1 - t;
  return {
    x: u * u * curve.from.x + 2 * u * t * curve.control.x + t * t * curve.to.x,
    y: u * u * curve.from.y + 2 * u * t * curve.control.y + t * t * curve.to.y,
  };
}

function distanceTo(curve: Curve, x: number, y: number): number {
  const { from, to, control } = curve;
  const left = Math.min(from.x, to.x, control.x) - 12;
  const right = Math.max(from.x, to.x, control.x) + 12;
  if (x < left || x > right) return Infinity;
  let nearest = Infinity;
  let before = from;
  for (let i = 1; i <= 6; i++) {
    const after = pointOf(curve, i / 6);
    const dx = after.x - before.x;
    const dy = after.y - before.y;
    const along = Math.max(0, Math.min(1, ((x - before.x) * dx + (y - before.y) * dy) / (dx * dx + dy * dy || 1)));
    nearest = Math.min(nearest, Math.hypot(before.x + along * dx - x, before.y + along * dy - y));
    before = after;
  }
  return nearest;
}
