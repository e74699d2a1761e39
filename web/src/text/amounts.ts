// Numbers, times and durations as people read them.

const SMALL = new Intl.NumberFormat("en");

/** 1,234; 45.1k; 3.2M. */
export function count(value: number): string {
  if (Math.abs(value) < 10_000) return SMALL.format(Math.round(value));
  const [unit, by] = value < 1e6 ? ["k", 1e3] : value < 1e9 ? ["M", 1e6] : ["G", 1e9];
  const short = value / (by as number);
  return `${short < 100 ? short.toFixed(1).replace(/\.0$/, "") : Math.round(short)}${unit}`;
}

/** Every digit. */
export function exact(value: number): string {
  return SMALL.format(value);
}

const STEPS: [number, string][] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "m"],
  [1000, "s"],
];

/** 12s; 3m 20s; 2d 4h. Two units at most, the smaller one only where it says something. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))}ms`;
  const first = STEPS.findIndex(([unit]) => ms >= unit);
  const [big, bigName] = STEPS[first] ?? [1000, "s"];
  const rest = STEPS[first + 1];
  const whole = Math.floor(ms / big);
  if (!rest || whole >= 10) return `${whole}${bigName}`;
  const small = Math.floor((ms % big) / rest[0]);
  return small ? `${whole}${bigName} ${small}${rest[1]}` : `${whole}${bigName}`;
}

/** just now; 12s ago; 3h ago. */
export function ago(at: number, now: number): string {
  const past = now - at;
  if (past < 5000) return "just now";
  return `${duration(past).split(" ")[0]} ago`;
}

const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const MINUTE = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const DAY_OF_YEAR = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });

/** 14:03:07, with milliseconds where they tell events apart. */
export function clock(at: number, withMillis = false): string {
  const text = CLOCK.format(at);
  return withMillis ? `${text}.${String(at % 1000).padStart(3, "0")}` : text;
}

export function minute(at: number): string {
  return MINUTE.format(at);
}

/** 18 Nov; with the year unless it is this one. */
export function day(at: number, now = Date.now()): string {
  return (new Date(at).getFullYear() === new Date(now).getFullYear() ? DAY : DAY_OF_YEAR).format(at);
}

/** The time of a row; the date stands before it unless that is today's. */
export function stamp(at: number, now: number): string {
  return day(at, now) === day(now, now) ? clock(at) : `${day(at, now)} ${clock(at)}`;
}

/** The date and the time, for titles. */
export function moment(at: number): string {
  return `${day(at)} ${CLOCK.format(at)}`;
}

/** 1 event; 2 events. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${exact(n)} ${n === 1 ? one : many}`;
}

/** $0.00; $0.0042; $12.30; $1,234. As many digits as say something. */
export function dollars(value: number): string {
  if (value === 0) return "$0";
  if (value < 0.01) return `$${value.toFixed(4)}`;
  return value < 100 ? `$${value.toFixed(2)}` : `$${SMALL.format(Math.round(value))}`;
}

/** 18 Nov 14:03:07; for columns that are read across days. */
export function dated(at: number): string {
  return `${day(at)} ${clock(at)}`;
}
