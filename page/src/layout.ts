// Where nodes are drawn: sites beside one another, tiers above one another, pods as boxes where they are folded.

import { ascending } from "d3-array";
import type { Run } from "./data";

export interface Place {
  x: number;
  y: number;
}

export interface Box {
  pod: number;
  site: number;
  x: number;
  y: number;
  width: number;
  height: number;
  nodes: number[];
}

export interface Layout {
  places: Place[];
  boxes: Box[];
  /** The folded pod of each node, or -1. */
  folded: Int32Array;
  sites: { x: number; width: number; nodes: number }[];
  /** Pixels between neighbours of each tier, at the narrowest. */
  spacing: number[];
}

/** Nodes of a run from which on its pods are folded at first. */
export const MANY = 300;

interface Group {
  nodes: number[];
  pod: number;
  units: number;
}

export function podsOf(run: Run): Map<number, number[]> {
  const pods = new Map<number, number[]>();
  run.nodes.name.forEach((_, node) => {
    const pod = run.nodes.pod[node];
    if (pod >= 0) pods.set(pod, [...(pods.get(pod) ?? []), node]);
  });
  return pods;
}

function groupsOf(run: Run, nodes: number[], folded: Set<number>): Group[] {
  const pods = new Map<number, number[]>();
  const loose: number[] = [];
  for (const node of nodes) {
    const pod = run.nodes.pod[node];
    if (pod >= 0) {
      const own = pods.get(pod);
      if (own) own.push(node);
      else pods.set(pod, [node]);
    } else if (run.nodes.tier[node] === 0) loose.push(node);
  }
  const groups = [...pods].map(([pod, own]) => ({
    nodes: own,
    pod,
    units: folded.has(pod) ? 3 : Math.max(...tiersOf(run, own).map((tier) => tier.length), 2) + 0.6,
  }));
  if (loose.length) groups.push({ nodes: loose, pod: -1, units: loose.length });
  return groups.length ? groups : [{ nodes: [], pod: -1, units: 2 }];
}

function tiersOf(run: Run, nodes: number[]): number[][] {
  const tiers: number[][] = [];
  for (const node of nodes) (tiers[run.nodes.tier[node]] ??= []).push(node);
  return tiers.filter((tier) => tier);
}

/** Orders hosts by the switch above them, so that their links do not cross. */
function byParent(parents: Map<number, number>): (a: number, b: number) => number {
  return (a, b) => ascending(parents.get(a) ?? -1, parents.get(b) ?? -1) || ascending(a, b);
}

function parentsOf(run: Run): Map<number, number> {
  const parents = new Map<number, number>();
  const { from, to } = run.links;
  for (let link = 0; link < from.length; link++) {
    for (const [node, other] of [[from[link], to[link]], [to[link], from[link]]]) {
      if (run.nodes.tier[other] > run.nodes.tier[node] && !parents.has(node)) parents.set(node, other);
    }
  }
  return parents;
}

export function layOut(run: Run, folded: Set<number>, width: number, height: number): Layout {
  const count = run.nodes.name.length;
  const sites: number[][] = [];
  for (let node = 0; node < count; node++) (sites[run.nodes.site[node]] ??= []).push(node);
  const groups = sites.map((nodes) => groupsOf(run, nodes, folded));
  const units = groups.map((own) => own.reduce((sum, group) => sum + group.units, 0));
  const gap = sites.length > 1 ? Math.min(90, Math.max(width * 0.1, 34)) : 0;
  const margin = 18;
  const room = width - 2 * margin - gap * (sites.length - 1);
  // A small site beside a large one still has room for its names.
  const weights = units.map((own) => Math.sqrt(own) * Math.sqrt(own + 4));
  const whole = weights.reduce((a, b) => a + b, 0);
  const highest = Math.max(...Array.from(run.nodes.tier), 1);
  const top = 34 + Math.max(0, ...Array.from(run.links.from, (_, link) => riseOf(run, link)));
  const bottom = height - 30;
  const y = (tier: number) => bottom - (tier / highest) * (bottom - top);
  const result: Layout = {
    places: Array.from({ length: count }, () => ({ x: 0, y: 0 })),
    boxes: [],
    folded: new Int32Array(count).fill(-1),
    sites: [],
    spacing: new Array<number>(highest + 1).fill(Infinity),
  };
  const parents = parentsOf(run);
  let x = margin;
  sites.forEach((nodes, site) => {
    const siteWidth = (room * weights[site]) / whole;
    result.sites.push({ x, width: siteWidth, nodes: nodes.length });
    let at = x;
    for (const group of groups[site]) {
      const own = (siteWidth * group.units) / units[site];
      if (group.pod >= 0 && folded.has(group.pod)) fold(run, group, site, at, own, y, result);
      else spread(run, group.nodes, at, own, y, parents, result);
      at += own;
    }
    const above = nodes.filter((node) => run.nodes.pod[node] < 0 && run.nodes.tier[node] > 0);
    spread(run, above, x, siteWidth, y, parents, result);
    x += siteWidth + gap;
  });
  return result;
}

/** How far a long link rises above the sites between its ends. */
export function riseOf(run: Run, link: number): number {
  const { from, to, long } = run.links;
  const apart = Math.abs(run.nodes.site[from[link]] - run.nodes.site[to[link]]);
  return long[link] && apart > 1 ? 12 + 10 * apart : 0;
}

function spread(
  run: Run,
  nodes: number[],
  x: number,
  width: number,
  y: (tier: number) => number,
  parents: Map<number, number>,
  result: Layout,
): void {
  for (const tier of tiersOf(run, nodes)) {
    const level = run.nodes.tier[tier[0]];
    if (level === 0) tier.sort(byParent(parents));
    const step = width / tier.length;
    result.spacing[level] = Math.min(result.spacing[level], step);
    tier.forEach((node, index) => (result.places[node] = { x: x + step * (index + 0.5), y: y(level) }));
  }
}

function fold(
  run: Run,
  group: Group,
  site: number,
  x: number,
  width: number,
  y: (tier: number) => number,
  result: Layout,
): void {
  const highest = Math.max(...group.nodes.map((node) => run.nodes.tier[node]));
  const box = { pod: group.pod, site, x: x + width * 0.12, y: y(highest), width: width * 0.76, height: y(0) - y(highest), nodes: group.nodes };
  result.boxes.push(box);
  for (const node of group.nodes) {
    result.places[node] = { x: x + width / 2, y: box.y };
    result.folded[node] = group.pod;
  }
}
