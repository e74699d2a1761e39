// What the page knows about rules by their names: how their numbers read and which key tunes them.
import { RULES, type PolicyKey, type RuleName } from "../api/generated.ts";
import { count, duration } from "./amounts.ts";

/** A gauge's number in its unit: times in milliseconds, money in millionths of a dollar. */
export function amount(rule: string, value: number): string {
  if (rule === "flow.duration" || rule === "budget.time") return duration(value);
  if (rule === "budget.cost") return `$${(value / 1e6).toFixed(value < 1e7 ? 2 : 0)}`;
  return count(value);
}

export interface Limit {
  /** The key of the policy. */
  key: PolicyKey;
  /** What a person reads next to the slider. */
  label: string;
  least: number;
  most: number;
  unit?: "minutes";
}

const LIMITS: Partial<Record<RuleName, Limit[]>> = {
  "flow.depth": [{ key: "flow.max_depth", label: "Call depth", least: 1, most: 20 }],
  "flow.sessions": [{ key: "flow.max_sessions", label: "Sessions in a flow", least: 2, most: 50 }],
  "flow.duration": [{ key: "flow.max_duration", label: "Minutes a flow may last", least: 1, most: 60, unit: "minutes" }],
  "flow.rate": [{ key: "flow.max_calls_per_minute", label: "Messages a minute in a flow", least: 1, most: 120 }],
  "flow.total": [{ key: "flow.max_calls", label: "Messages in a flow", least: 1, most: 500 }],
  "flow.revisits": [{ key: "flow.max_revisits", label: "Returns to one session", least: 1, most: 20 }],
  "flow.chatter": [{ key: "flow.chatter", label: "Messages with no work between", least: 2, most: 30 }],
  "flow.echo": [{ key: "flow.echo.deny", label: "Same words again, refused on", least: 2, most: 20 }],
  "flow.unattended": [{ key: "flow.max_unattended", label: "Messages without a user", least: 1, most: 500 }],
  "inbox.rate": [{ key: "inbox.max_messages_per_minute", label: "Messages a minute into an inbox", least: 1, most: 60 }],
  "conversation.length": [{ key: "conversation.max_messages", label: "Messages in a conversation", least: 1, most: 100 }],
  "call.identical": [{ key: "call.max_identical", label: "Identical calls in the window", least: 1, most: 100 }],
  "call.repeat": [{ key: "call.repeat", label: "Same call in a row, warned on", least: 2, most: 20 }],
  "destructive.volume": [{ key: "destructive.max_calls", label: "Destructive calls, killed on", least: 1, most: 50 }],
  "destructive.target": [{ key: "destructive.max_same_target", label: "Destructive calls on one target", least: 1, most: 20 }],
  "session.defiance": [{ key: "session.max_refused", label: "Refused calls in a row", least: 1, most: 50 }],
  "progress.stagnation": [
    { key: "progress.stagnation.warn", label: "Same step, same result: warn at", least: 1, most: 30 },
    { key: "progress.stagnation.block", label: "Same step, same result: block at", least: 2, most: 40 },
  ],
  "progress.stuck": [
    { key: "progress.stuck.warn", label: "New tries, same result: warn at", least: 1, most: 30 },
    { key: "progress.stuck.block", label: "New tries, same result: block at", least: 2, most: 40 },
  ],
  "progress.recurrence": [{ key: "progress.recurrence.block", label: "One step comes back: block at", least: 2, most: 40 }],
  "progress.churn": [{ key: "progress.churn.block", label: "Same change again: block at", least: 2, most: 40 }],
  "budget.actions": [{ key: "budget.actions", label: "Actions since a user spoke", least: 10, most: 5000 }],
};

/** The limits that tune a rule, for the sliders. */
export function limitsOf(rule: string): Limit[] {
  return (LIMITS as Record<string, Limit[] | undefined>)[rule] ?? [];
}

export const ALL_RULES: readonly string[] = RULES;
