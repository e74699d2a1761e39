// How near a session is to being stopped for making no progress: one small bar for each streak.
import type { SessionItem } from "../api/shapes.ts";

export interface Streak {
  name: string;
  part: number;
  words: string;
}

const SHOWN = ["progress.", "destructive.", "session.defiance"];

export function streaks(session: SessionItem): Streak[] {
  return session.gauges
    .filter((gauge) => SHOWN.some((start) => gauge.rule.startsWith(start)))
    .map((gauge) => ({
      name: `${gauge.rule} ${gauge.of}`,
      part: gauge.limit > 0 ? Math.min(1, gauge.used / gauge.limit) : 1,
      words: `${gauge.rule}: ${gauge.used} of ${gauge.limit}`,
    }));
}
