// How near a session is to being stopped for making no progress: one small bar for each streak.
import type { SessionItem } from "../api/shapes.ts";

export interface Streak {
  name: string;
  part: number;
  words: string;
}

const SHOWN = ["progress.", "destructive.", "session.defiance"];

export function streaks(session: SessionItem): Streak[] {
  const gauges = session.gauges ?? [];
  if (gauges.length > 0) {
    return gauges
      .filter((gauge) => SHOWN.some((start) => gauge.rule.startsWith(start)))
      .map((gauge) => ({
        name: `${gauge.rule} ${gauge.of}`,
        part: gauge.limit > 0 ? Math.min(1, gauge.used / gauge.limit) : 1,
        words: `${gauge.rule}: ${gauge.used} of ${gauge.limit}`,
      }));
  }
  return Object.entries(session.streaks ?? {})
    .filter(([, n]) => n > 0)
    .map(([name, n]) => ({ name, part: Math.min(1, n / 8), words: `${name}: ${n} in a row` }));
}
