// Flows of a selection: those of some workloads and sizes that were under way in a span of time.

import { quantileSorted } from "d3-array";
import type { Run } from "./data";

export interface Selection {
  span: [number, number] | null;
  sizes: [number, number] | null;
  /** Names of workloads that are left out. */
  without: Set<string>;
}

/** Size bins of the slowdown, as the summary has them: twenty with equal numbers, fewer of few flows. */
const BINS = 20;
const LEAST_IN_BIN = 5;

export function slowdown(run: Run, flow: number): number {
  return run.flows.fct[flow] / run.flows.ideal[flow];
}

export function chosenFlows(run: Run, selection: Selection): number[] {
  const { start, fct, size, workload, workloads } = run.flows;
  const found: number[] = [];
  for (let flow = 0; flow < start.length; flow++) {
    if (selection.without.has(workloads[workload[flow]])) continue;
    if (selection.sizes && (size[flow] < selection.sizes[0] || size[flow] > selection.sizes[1])) continue;
    if (selection.span) {
      const end = Number.isNaN(fct[flow]) ? Infinity : start[flow] + fct[flow];
      if (start[flow] > selection.span[1] || end < selection.span[0]) continue;
    }
    found.push(flow);
  }
  return found;
}

export function measured(run: Run, flows: number[]): number[] {
  return flows.filter((flow) => run.flows.isMeasured[flow]);
}

/** The value of rank floor(q n) of sorted values; null where that is an unfinished flow, which ranks last. */
function percentile(sorted: number[], all: number, q: number): number | null {
  const rank = Math.floor((q * all) / 100);
  return rank < sorted.length ? sorted[rank] : null;
}

export function cdf(run: Run, flows: number[]): { x: number[]; y: number[]; unfinished: number } {
  const done = flows.map((flow) => run.flows.fct[flow]).filter((fct) => !Number.isNaN(fct));
  done.sort((a, b) => a - b);
  const points = Math.min(400, done.length);
  const x: number[] = [];
  const y: number[] = [];
  for (let i = 0; i < points; i++) {
    const rank = points === 1 ? 0 : Math.round((i * (done.length - 1)) / (points - 1));
    x.push(done[rank]);
    y.push((rank + 1) / flows.length);
  }
  return { x, y, unfinished: flows.length - done.length };
}

export function bySize(run: Run, flows: number[]): { x: number[]; p50: (number | null)[]; p99: (number | null)[] } {
  const sorted = [...flows].sort((a, b) => run.flows.size[a] - run.flows.size[b]);
  const bins = Math.max(1, Math.min(BINS, Math.floor(sorted.length / LEAST_IN_BIN)));
  const found = { x: [] as number[], p50: [] as (number | null)[], p99: [] as (number | null)[] };
  for (let bin = 0; bin < bins && sorted.length; bin++) {
    const own = sorted.slice(Math.floor((bin * sorted.length) / bins), Math.floor(((bin + 1) * sorted.length) / bins));
    const values = own.map((flow) => slowdown(run, flow)).filter((v) => !Number.isNaN(v)).sort((a, b) => a - b);
    const sizes = own.map((flow) => run.flows.size[flow]);
    found.x.push(quantileSorted(sizes, 0.5) ?? sizes[0]);
    found.p50.push(percentile(values, own.length, 50));
    found.p99.push(percentile(values, own.length, 99));
  }
  return found;
}

/** The slowest flows, unfinished ones first. */
export function slowest(run: Run, flows: number[], most: number): number[] {
  const rank = (flow: number) => {
    const own = slowdown(run, flow);
    return Number.isNaN(own) ? Infinity : own;
  };
  return [...flows].sort((a, b) => (rank(b) === rank(a) ? 0 : rank(b) - rank(a))).slice(0, most);
}

/** A percentile of completion times. */
export function percentileOf(run: Run, flows: number[], q: number): number | null {
  return rankOf(flows.map((flow) => run.flows.fct[flow]), q);
}

/** A percentile of slowdowns. */
export function slowdownAt(run: Run, flows: number[], q: number): number | null {
  return rankOf(flows.map((flow) => slowdown(run, flow)), q);
}

function rankOf(all: number[], q: number): number | null {
  const values = all.filter((v) => !Number.isNaN(v)).sort((a, b) => a - b);
  return percentile(values, all.length, q);
}
