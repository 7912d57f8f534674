// The data of the page: columns of numbers, unpacked.

import { bisectRight } from "d3-array";

interface Packed {
  type: "u8" | "u16" | "u32" | "i32" | "f32" | "f64";
  length: number;
  data: string;
}

export type Numbers = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float32Array | Float64Array;

const ARRAYS = {
  u8: Uint8Array,
  u16: Uint16Array,
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
  f64: Float64Array,
};

export interface Part {
  cause: string;
  port: number;
  portName: string;
  origin: number;
  originName: string;
  ps: string;
}

export interface Why {
  flow: string;
  /** What it is, for a button, and in a sentence; the first is empty where it was named. */
  asked: string;
  title: string;
  fctPs: string;
  idealPs: string;
  parts: Part[];
  causes: Record<string, string>;
  /** Bytes that its sender transmitted in buckets of time; times and width in microseconds. */
  sent: { begin: Numbers; width: number; bytes: Numbers };
}

/** A row of a table of jobs; times in microseconds, `from` and `to` those of the longest one. */
interface JobRow {
  name: string;
  us: number;
  from: number;
  to: number;
}

export interface Phase {
  name: string;
  place: string;
  steps: number;
  stretches: number;
  ranks: number;
  us: number;
  from: number;
  to: number;
}

export interface Jobs {
  iterations: (JobRow & { computeUs: number; exposedUs: number; idleUs: number })[];
  /** Bus bandwidth in GB/s. */
  collectives: (JobRow & { ranks: number; count: number; mostUs: number; busbw: number })[];
  path: { name: string; title: string; us: number; summary: string; phases: Phase[] } | null;
}

export interface Run {
  label: string;
  /** Its folder, as a shell takes it; empty where there is none. */
  folder: string;
  name: string;
  seed: number;
  floodway: string;
  simulatedUs: number;
  stopped: string;
  warnings: string[];
  notes: string[];
  facts: [string, string[]][];
  nodes: { name: string[]; kind: string[]; site: Numbers; tier: Numbers; pod: Numbers };
  links: { name: string[]; from: Numbers; to: Numbers; delay: Numbers; long: Numbers };
  /** `paused`: how long each was paused in all, by the series, in microseconds. */
  ports: { node: Numbers; link: Numbers; rate: Numbers; paused: Numbers };
  frames: {
    count: number;
    edges: Numbers;
    buckets: number;
    loadSteps: number;
    queueSteps: number;
    queueLeast: number;
    queueMost: number;
    widths: Numbers;
    load: Numbers;
    paused: Numbers;
    queue: Numbers;
    loadLow?: Numbers;
    loadHigh?: Numbers;
  };
  pauses: {
    port: Numbers;
    from: Numbers;
    to: Numbers;
    /** Of those that several are shown as: begins of the others after the first; none where they are too many. */
    begins: Numbers;
    /** Where those of a row begin. */
    beginsAt: Uint32Array;
    count: Numbers;
    paused: Numbers;
    cause: Numbers;
    /** Sums of each port and cause, of all pauses before they are shown as one; times in microseconds. */
    totals: { port: Numbers; cause: Numbers; count: Numbers; paused: Numbers; first: Numbers; began: Numbers; runsOut: Numbers };
    recorded: number;
    left_out: number;
    near_us: number;
  } | null;
  states: { names: string[]; states: Numbers } | null;
  marks: { port: Numbers; frame: Numbers; cnp: Numbers; count: Numbers } | null;
  flows: {
    total: number;
    measured: number;
    unfinished: number;
    workloads: string[];
    ids: string[] | null;
    number: Numbers;
    workload: Numbers;
    source: Numbers;
    destination: Numbers;
    size: Numbers;
    left: Numbers;
    start: Numbers;
    fct: Numbers;
    ideal: Numbers;
    isMeasured: Numbers;
  };
  why: Why[];
  jobs: Jobs | null;
}

export interface Document {
  title: string;
  runs: Run[];
}

async function unpack(packed: Packed): Promise<Numbers> {
  const text = atob(packed.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new ARRAYS[packed.type](await new Response(stream).arrayBuffer());
}

/** Replaces each packed column in a value by its numbers. */
async function unpacked(value: unknown): Promise<unknown> {
  if (Array.isArray(value)) {
    // Lists of names and lines hold no columns.
    return value.length && typeof value[0] === "object" && !Array.isArray(value[0])
      ? Promise.all(value.map(unpacked))
      : value;
  }
  if (typeof value !== "object" || value === null) return value;
  const own = value as Record<string, unknown>;
  if (typeof own["data"] === "string" && typeof own["type"] === "string") return unpack(own as unknown as Packed);
  const entries = await Promise.all(Object.entries(own).map(async ([key, each]) => [key, await unpacked(each)]));
  return Object.fromEntries(entries);
}

export async function read(): Promise<Document> {
  const text = document.getElementById("data")?.textContent ?? "";
  const data = (await unpacked(JSON.parse(text))) as Document;
  for (const run of data.runs) if (run.pauses) times(run.pauses);
  return data;
}

/** Makes begins and ends of pauses, in microseconds, of the times between begins and of lengths, in nanoseconds. */
function times(pauses: NonNullable<Run["pauses"]>): void {
  const count = pauses.port.length;
  const [from, to, paused] = [0, 1, 2].map(() => new Float64Array(count));
  const begins = new Float64Array(pauses.begins.length);
  const beginsAt = new Uint32Array(count + 1);
  let at = 0;
  for (let row = 0; row < count; row++) {
    at += pauses.from[row];
    from[row] = at / 1000;
    to[row] = (at + pauses.to[row]) / 1000;
    beginsAt[row + 1] = beginsAt[row];
    if (begins.length) for (let i = 1, begin = at; i < pauses.count[row]; i++) begins[beginsAt[row + 1]] = (begin += pauses.begins[beginsAt[row + 1]++]) / 1000;
    paused[row] = (pauses.paused[row] ? pauses.paused[row] - 1 : pauses.to[row]) / 1000;
  }
  Object.assign(pauses, { from, to, paused, begins, beginsAt });
}

/** When the latest pause began, at a time, of those that are shown as one; null where that is not in the page. */
export function latestBegin(run: Run, row: number, time: number): number | null {
  const { begins, beginsAt, from, count } = run.pauses!;
  if (count[row] > 1 && beginsAt[row + 1] === beginsAt[row]) return null;
  const own = begins.subarray(beginsAt[row], beginsAt[row + 1]);
  const before = bisectRight(own, time);
  return before ? own[before - 1] : from[row];
}

/** The direction of a port, `from>to`; with its link's name where parallel links have ports of that name. */
export function portName(run: Run, port: number): string {
  const link = run.ports.link[port];
  const node = run.ports.node[port];
  const other = otherEnd(run, port);
  const name = run.links.name[link];
  const direction = `${run.nodes.name[node]}>${run.nodes.name[other]}`;
  return name.includes("#") ? `${name}: ${direction}` : direction;
}

export function otherEnd(run: Run, port: number): number {
  const link = run.ports.link[port];
  const from = run.links.from[link];
  return from === run.ports.node[port] ? run.links.to[link] : from;
}

export function flowId(run: Run, flow: number): string {
  const { ids, workloads, workload, source, number } = run.flows;
  return ids ? ids[flow] : `${workloads[workload[flow]]}:${run.nodes.name[source[flow]]}:${number[flow]}`;
}

/** The frame at a time: all frames but the last are equally long. */
export function frameAt(run: Run, time: number): number {
  const { edges, count } = run.frames;
  const width = edges[1] - edges[0];
  return Math.max(0, Math.min(count - 1, Math.floor(time / width + 1e-9)));
}

/** Whether a run had ended before a time; then nothing of it is shown as the state of that time. */
export function isPast(run: Run, time: number): boolean {
  return time > run.simulatedUs + 1e-6;
}

export function loadOf(run: Run, port: number, frame: number): number {
  return run.frames.load[port * run.frames.count + frame] / run.frames.loadSteps;
}

export function pausedOf(run: Run, port: number, frame: number): number {
  return run.frames.paused[port * run.frames.count + frame] / run.frames.loadSteps;
}

export function queueOf(run: Run, port: number, frame: number): number {
  const { queue, count, queueLeast, queueMost, queueSteps } = run.frames;
  const code = queue[port * count + frame];
  return code === 0 ? 0 : queueLeast * Math.pow(queueMost / queueLeast, (code - 1) / (queueSteps - 1));
}

export function stateOf(run: Run, port: number, frame: number): string {
  if (!run.states) return "";
  return run.states.names[run.states.states[port * run.frames.count + frame]] ?? "";
}

/** Packets of a flow wait at its sender, not in a queue of the host's port. */
export function hasQueue(run: Run, port: number): boolean {
  return run.nodes.kind[run.ports.node[port]] !== "host";
}

export function isRecorded(run: Run, port: number): boolean {
  return run.frames.widths[port] > 0;
}

/**
 * Ports on the shortest paths between two nodes, by number of links. Hosts forward nothing.
 */
export function shortestPaths(run: Run, source: number, destination: number): number[] {
  const { node } = run.ports;
  const leaving: number[][] = run.nodes.name.map(() => []);
  for (let port = 0; port < node.length; port++) leaving[node[port]].push(port);
  const distances = (start: number): Int32Array => {
    const found = new Int32Array(leaving.length).fill(-1);
    found[start] = 0;
    const waiting = [start];
    for (const here of waiting) {
      if (here !== start && run.nodes.kind[here] === "host") continue;
      for (const port of leaving[here]) {
        const next = otherEnd(run, port);
        if (found[next] >= 0) continue;
        found[next] = found[here] + 1;
        waiting.push(next);
      }
    }
    return found;
  };
  const [after, before] = [distances(source), distances(destination)];
  const whole = after[destination];
  const isOn = (port: number) => {
    const [from, to] = [node[port], otherEnd(run, port)];
    return after[from] >= 0 && before[to] >= 0 && after[from] + 1 + before[to] === whole;
  };
  return [...node.keys()].filter(isOn).sort((a, b) => after[node[a]] - after[node[b]]);
}
