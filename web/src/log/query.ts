// What is asked of the log, and whether a record that just came in answers it.
import type { LogRecord } from "../api/shapes.ts";

export interface LogQuery {
  session: string;
  agent: string;
  rule: string;
  verdict: string;
  type: string;
  range: string;
  since: string;
  until: string;
  q: string;
}

export function fits(record: LogRecord, query: LogQuery): boolean {
  const { event, verdict } = record;
  const listed = (list: string, value: string | undefined) => list === "" || (value !== undefined && list.split(",").includes(value));
  if (!listed(query.verdict, verdict?.verdict) || !listed(query.type, event?.type)) return false;
  if (query.rule !== "" && verdict?.rule !== query.rule) return false;
  if (query.agent !== "" && event?.agent !== query.agent) return false;
  return query.session === "" || [event?.session, event?.from, event?.to].includes(query.session);
}

/** The browser's date field says `2026-11-15T22:00` in local time. */
export function millis(text: string): number | undefined {
  const at = text === "" ? NaN : new Date(text).getTime();
  return Number.isNaN(at) ? undefined : at;
}
