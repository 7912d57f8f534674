// Congestion trees: which ports are paused at a time, and by which port each pause was caused.

import { isRecorded, otherEnd, pausedOf, type Run } from "./data";

export interface Branch {
  pause: number;
  port: number;
  /** The port that caused it, or -1 where a host did. */
  cause: number;
  from: number;
  /** Its place in the order in which the tree's pauses began, from 1. */
  order: number;
}

export interface Tree {
  /** The port where the pauses began, or -1 - node for a host. */
  root: number;
  branches: Branch[];
}

/** Finds the pauses of each frame, in the order of their begins. */
export class Pauses {
  private readonly first: Uint32Array;
  private readonly rows: Uint32Array;

  constructor(private readonly run: Run) {
    const { count, edges } = run.frames;
    const pauses = run.pauses;
    const counts = new Uint32Array(count + 1);
    const total = pauses ? pauses.port.length : 0;
    const width = edges[1] - edges[0];
    const begin = (row: number) => Math.min(count - 1, Math.floor(pauses!.from[row] / width));
    const end = (row: number) => Math.max(begin(row), Math.min(count - 1, Math.ceil(pauses!.to[row] / width) - 1));
    for (let row = 0; row < total; row++) for (let f = begin(row); f <= end(row); f++) counts[f + 1]++;
    for (let f = 0; f < count; f++) counts[f + 1] += counts[f];
    this.first = counts;
    this.rows = new Uint32Array(counts[count] ?? 0);
    const next = counts.slice();
    for (let row = 0; row < total; row++) for (let f = begin(row); f <= end(row); f++) this.rows[next[f]++] = row;
  }

  of(frame: number): Uint32Array {
    return this.rows.subarray(this.first[frame], this.first[frame + 1]);
  }

  private last: { frame: number; trees: Tree[] } = { frame: -1, trees: [] };

  /** The trees of a frame, that with most branches first. */
  trees(frame: number): Tree[] {
    if (frame < 0) return [];
    if (this.last.frame !== frame) this.last = { frame, trees: this.find(frame) };
    return this.last.trees;
  }

  private find(frame: number): Tree[] {
    const { run } = this;
    if (!run.pauses) return [];
    const active = new Map<number, number>();
    for (const row of this.of(frame)) {
      const port = run.pauses.port[row];
      // Between pauses that are shown as one, and after one has run out, a port is not paused.
      if (isRecorded(run, port) && !pausedOf(run, port, frame)) continue;
      if (!active.has(port)) active.set(port, row);
    }
    const trees = new Map<number, Branch[]>();
    for (const [port, row] of active) {
      const root = this.rootOf(port, active);
      const branch = { pause: row, port, cause: run.pauses.cause[row] - 1, from: run.pauses.from[row], order: 0 };
      const own = trees.get(root);
      if (own) own.push(branch);
      else trees.set(root, [branch]);
    }
    const found = [...trees].map(([root, branches]) => ({ root, branches }));
    for (const { branches } of found) {
      branches.sort((a, b) => a.from - b.from || a.port - b.port);
      branches.forEach((branch, index) => (branch.order = index + 1));
    }
    return found.sort((a, b) => b.branches.length - a.branches.length || a.root - b.root);
  }

  /** Goes from cause to cause; pauses in a ring have the port at which the ring closes. */
  private rootOf(port: number, active: Map<number, number>): number {
    const passed = new Set<number>();
    let here = port;
    while (active.has(here) && !passed.has(here)) {
      passed.add(here);
      const cause = this.run.pauses!.cause[active.get(here)!] - 1;
      if (cause < 0) return -1 - otherEnd(this.run, here);
      here = cause;
    }
    return here;
  }
}
