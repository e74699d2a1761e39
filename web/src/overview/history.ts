// The counts behind the charts, kept up with what the stream brings, so that the newest bar grows
// before the server is asked again.
import type { Bucket, Decision, LogRecord, Stats, StatsAnswer } from "../api/shapes.ts";

/** What the server counted, as a history from `since` to `until`, or to now. */
export function read(answer: StatsAnswer, since: number, until = answer.now): Stats {
  const buckets = answer.buckets.map(({ at, verdicts, events, enforced, shadow }) => ({ at, verdicts, events: { ...events }, rules: enforced, shadow }));
  return { step_ms: answer.step * 1000, from: since, to: Math.min(until, answer.now), buckets };
}

export function emptyBucket(at: number): Bucket {
  return { at, verdicts: {}, rules: {}, shadow: {}, events: {} };
}

function more<K extends string>(counts: Partial<Record<K, number>>, key: K): void {
  counts[key] = (counts[key] ?? 0) + 1;
}

/** Counts records into a copy of the history; old buckets leave as new ones come. */
export function grown(stats: Stats, records: LogRecord[]): Stats {
  const buckets = stats.buckets.slice();
  let { from, to } = stats;
  let touched = -1;
  for (const record of records) {
    const { event, verdict } = record;
    if (!event || !verdict) continue;
    let last = buckets.at(-1);
    while (!last || record.at >= last.at + stats.step_ms) {
      const at = last ? last.at + stats.step_ms : record.at - (record.at % stats.step_ms);
      // After a long silence there is no need to fill in every bucket of it.
      const behind = record.at - at;
      const start = behind > (to - from) ? record.at - (record.at % stats.step_ms) : at;
      last = emptyBucket(start);
      buckets.push(last);
    }
    if (record.at < last.at) continue;
    if (touched !== buckets.length - 1) {
      touched = buckets.length - 1;
      last = copied(last);
      buckets[touched] = last;
    }
    more(last.verdicts, verdict.verdict);
    more(last.events, event.type);
    if (verdict.rule && verdict.verdict !== "allow") more(last.rules, verdict.rule);
    if (verdict.would) more(last.shadow, verdict.would.rule);
    to = Math.max(to, record.at);
  }
  const span = stats.to - stats.from;
  from = to - span;
  return { ...stats, from, to, buckets: buckets.filter((bucket) => bucket.at + stats.step_ms > from) };
}

function copied(bucket: Bucket): Bucket {
  return {
    at: bucket.at,
    verdicts: { ...bucket.verdicts },
    rules: { ...bucket.rules },
    shadow: { ...bucket.shadow },
    events: { ...bucket.events },
  };
}

/** Every slot from start to end, those without anything too, so that time runs evenly. */
export function evenly(stats: Stats): Bucket[] {
  const byTime = new Map(stats.buckets.map((bucket) => [bucket.at - (bucket.at % stats.step_ms), bucket]));
  const slots: Bucket[] = [];
  const first = stats.from - (stats.from % stats.step_ms);
  for (let at = first; at <= stats.to && slots.length < 2000; at += stats.step_ms) {
    slots.push(byTime.get(at) ?? emptyBucket(at));
  }
  return slots;
}

/** Fewer, wider slots, for narrow screens. */
export function joined(slots: Bucket[], most: number): Bucket[] {
  const by = Math.ceil(slots.length / Math.max(1, most));
  if (by <= 1) return slots;
  const wide: Bucket[] = [];
  slots.forEach((slot, n) => {
    let last = wide.at(-1);
    if (n % by === 0 || !last) {
      last = emptyBucket(slot.at);
      wide.push(last);
    }
    for (const part of ["verdicts", "rules", "shadow", "events"] as const) {
      const into = last[part] as Record<string, number>;
      for (const [key, value] of Object.entries(slot[part])) into[key] = (into[key] ?? 0) + (value ?? 0);
    }
  });
  return wide;
}

export interface Sums {
  verdicts: Record<Decision, number>;
  rules: [string, number][];
  shadow: [string, number][];
  events: number;
  refused: number;
}

export function sums(stats: Stats): Sums {
  const verdicts: Record<Decision, number> = { allow: 0, warn: 0, ask: 0, deny: 0, block: 0, kill: 0 };
  const rules: Record<string, number> = {};
  const shadow: Record<string, number> = {};
  for (const bucket of stats.buckets) {
    for (const [key, value] of Object.entries(bucket.verdicts)) verdicts[key as Decision] += value ?? 0;
    for (const [key, value] of Object.entries(bucket.rules)) rules[key] = (rules[key] ?? 0) + value;
    for (const [key, value] of Object.entries(bucket.shadow)) shadow[key] = (shadow[key] ?? 0) + value;
  }
  const refused = verdicts.ask + verdicts.deny + verdicts.block + verdicts.kill;
  return { verdicts, rules: sorted(rules), shadow: sorted(shadow), events: refused + verdicts.allow + verdicts.warn, refused };
}

function sorted(counts: Record<string, number>): [string, number][] {
  return Object.entries(counts).sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
}
