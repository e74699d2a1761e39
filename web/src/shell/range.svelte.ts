// The time that a page shows: a span that ends now, or absolute ends. It lives in the address under the same names on
// every page, so a link shows a colleague the same time.
import { millis } from "../log/query.ts";
import { router } from "./route.svelte.ts";

export type Preset = "15m" | "1h" | "24h" | "7d" | "30d" | "all";

const HOUR = 3_600_000;
export const PRESETS: { value: Preset; label: string; ms: number | null }[] = [
  { value: "15m", label: "Last 15 minutes", ms: HOUR / 4 },
  { value: "1h", label: "Last hour", ms: HOUR },
  { value: "24h", label: "Last 24 hours", ms: 24 * HOUR },
  { value: "7d", label: "Last 7 days", ms: 7 * 24 * HOUR },
  { value: "30d", label: "Last 30 days", ms: 30 * 24 * HOUR },
  { value: "all", label: "All time", ms: null },
];

export interface Span {
  from: number | undefined;
  to: number | undefined;
}

/** The absolute ends in the address, as the browser's date fields write them. */
export function ends(): { since: string; until: string } {
  return { since: router.get("since"), until: router.get("until") };
}

/** The span in the address; `otherwise` where it names none. A span that ends now has no end. */
export function span(otherwise: Preset, now = Date.now()): Span {
  const { since, until } = ends();
  if (since !== "" || until !== "") return { from: millis(since), to: millis(until) };
  const ms = PRESETS.find((preset) => preset.value === chosen(otherwise))?.ms ?? null;
  return { from: ms === null ? undefined : now - ms, to: undefined };
}

export function chosen(otherwise: Preset): Preset {
  return PRESETS.find((preset) => preset.value === router.get("range"))?.value ?? otherwise;
}

/** What to carry over to another page, so that it shows the same time. */
export function carried(): Record<string, string> {
  const names = ["range", "since", "until"];
  return Object.fromEntries(names.map((name) => [name, router.get(name)]).filter(([, value]) => value !== ""));
}

/** The name of the zone that times are shown in: `UTC+2`. */
export function zone(at = Date.now()): string {
  const minutes = -new Date(at).getTimezoneOffset();
  if (minutes === 0) return "UTC";
  const hours = `${minutes < 0 ? "−" : "+"}${Math.floor(Math.abs(minutes) / 60)}`;
  return `UTC${hours}${minutes % 60 === 0 ? "" : `:${String(Math.abs(minutes) % 60).padStart(2, "0")}`}`;
}
