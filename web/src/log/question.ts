// What is asked of the log, and whether a record that just came in answers it.
import type { LogRecord } from "../api/shapes.ts";

export interface LogQuestion {
  session: string;
  rule: string;
  verdict: string;
  type: string;
  since: string;
  until: string;
  q: string;
}

export function fits(record: LogRecord, question: LogQuestion): boolean {
  const { event, verdict } = record;
  const listed = (list: string, value: string | undefined) => list === "" || (value !== undefined && list.split(",").includes(value));
  if (!listed(question.verdict, verdict?.verdict) || !listed(question.type, event?.type)) return false;
  if (question.rule !== "" && verdict?.rule !== question.rule) return false;
  return question.session === "" || [event?.session, event?.from, event?.to].includes(question.session);
}

/** The browser's date field says `2026-11-15T22:00` in local time. */
export function millis(text: string): number | undefined {
  const at = text === "" ? NaN : new Date(text).getTime();
  return Number.isNaN(at) ? undefined : at;
}
