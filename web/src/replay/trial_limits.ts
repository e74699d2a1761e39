// Limits that are tried out: in the address, on the wire, and next to what is in force.
import type { Value } from "../policy/toml_text.ts";

export type TrialLimits = Record<string, number>;

/** `flow.max_depth:3,call.repeat:6` in the address. */
export function readTrialLimits(text: string): TrialLimits {
  const pairs = text.split(",").flatMap((pair) => {
    const [key = "", value = ""] = pair.split(":");
    const n = Number(value);
    return /^[a-z_.]+$/.test(key) && Number.isFinite(n) && n > 0 ? [[key, Math.round(n)] as const] : [];
  });
  return Object.fromEntries(pairs);
}

export function writeTrialLimits(tried: TrialLimits): string {
  return Object.entries(tried).map(([key, value]) => `${key}:${value}`).join(",");
}

/** What the policy wants to read: durations are strings. */
export function wire(tried: TrialLimits): Record<string, number | string> {
  const timed = (key: string) => key === "flow.max_duration";
  return Object.fromEntries(Object.entries(tried).map(([key, value]) => [key, timed(key) ? `${value}m` : value]));
}

/** The value in force under a key as a number; a duration in minutes. */
export function valueInForce(values: Map<string, Value>, key: string): number | null {
  const value = values.get(key);
  if (typeof value === "number") return value;
  const minutes = typeof value === "string" ? /^(\d+)m$/.exec(value) : null;
  return minutes ? Number(minutes[1]) : null;
}
