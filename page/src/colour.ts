// Colours that differ in lightness, so that any colour vision distinguishes them, in both themes.

import { interpolateRgbBasis } from "d3-interpolate";

export type Metric = "load" | "queue" | "paused";

/** Colours of a metric, from nothing to the most. */
export const STEPS = 32;

const RAMPS: Record<"light" | "dark", Record<Metric, string[]>> = {
  light: {
    load: ["#d5dbe1", "#86bfe6", "#1f78b4", "#08306b"],
    queue: ["#ddd8cf", "#f2b84b", "#d55e00", "#5c1a00"],
    paused: ["#ddd6dc", "#dd9cc4", "#b03a86", "#430a37"],
  },
  dark: {
    load: ["#39424b", "#2c77ad", "#79c1ef", "#eaf7ff"],
    queue: ["#433e36", "#b26a00", "#ffb54d", "#fff3cf"],
    paused: ["#433a42", "#99427f", "#ea8dcb", "#ffe6f6"],
  },
};

export function isDark(): boolean {
  const asked = document.documentElement.dataset["theme"];
  return asked ? asked === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

const MADE = new Map<string, string[]>();

export function ramp(metric: Metric): string[] {
  const theme = isDark() ? "dark" : "light";
  let made = MADE.get(theme + metric);
  if (!made) {
    const between = interpolateRgbBasis(RAMPS[theme][metric]);
    made = Array.from({ length: STEPS }, (_, step) => between(step / (STEPS - 1)));
    MADE.set(theme + metric, made);
  }
  return made;
}

const VARIABLES = new Map<string, string>();

/** A colour of the style sheet; looked up once for each theme. */
export function variable(name: string): string {
  const key = isDark() ? `dark ${name}` : name;
  let found = VARIABLES.get(key);
  if (found === undefined) {
    found = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    VARIABLES.set(key, found);
  }
  return found;
}

/** Okabe and Ito's colours, as the pictures of floodway have them. */
export function runColours(): string[] {
  return isDark() ? ["#56b4e9", "#e69f00", "#2fc79a", "#e39ac5"] : ["#0072b2", "#d55e00", "#009e73", "#b0478f"];
}

const STATES: Record<string, string> = {
  root: "#d55e00",
  congestion: "#d55e00",
  congested: "#d55e00",
  isolating: "#d55e00",
  inner: "#e69f00",
  checking: "#e69f00",
  edge: "#f0e442",
  undetermined: "#56b4e9",
};

/** The colour of a state; none of a state that needs no attention. */
export function stateColour(state: string): string | null {
  return STATES[state] ?? null;
}
