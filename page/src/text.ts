// Numbers and elements. Names of scenarios, nodes and flows are text: they are only ever set as such.

const GROUPED = new Map<number, Intl.NumberFormat>();

export function number(value: number, digits = 0): string {
  let format = GROUPED.get(digits);
  if (!format) {
    format = new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    GROUPED.set(digits, format);
  }
  return format.format(value);
}

export function microseconds(value: number): string {
  return `${number(value, value < 100 ? 3 : value < 10000 ? 1 : 0)} us`;
}

export function bytes(value: number): string {
  for (const [per, unit] of [[1e9, "GB"], [1e6, "MB"], [1e3, "KB"]] as const) {
    if (value >= per) return `${Number((value / per).toPrecision(3))} ${unit}`;
  }
  return `${Math.round(value)} B`;
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** Picoseconds as microseconds, rounded to a nanosecond. */
export function inUs(ps: string): string {
  const padded = String((BigInt(ps) + 500n) / 1000n).padStart(4, "0");
  const whole = padded.slice(0, -3).replace(/\B(?=(\d{3})+$)/g, ",");
  return `${whole}.${padded.slice(-3)}`;
}

type Child = Node | string | null | undefined | false;
type Properties = Record<string, string | number | boolean | ((event: Event) => void) | undefined>;

/** Makes an element. Properties that begin with `on` are listeners, the others attributes. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== undefined) made.setAttribute(name, String(value));
  }
  for (const child of children) if (child) made.append(child);
  return made;
}

export function plural(count: number, what: string): string {
  return `${number(count)} ${what}${count === 1 ? "" : "s"}`;
}
