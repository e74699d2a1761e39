// An event in a few words, for lists.
import type { LogRecord, Noted, Observed } from "../api/shapes.ts";
import { visible } from "./visible.ts";

/** The session that acts; of a message from outside, the one that receives it. */
export function sessionOf(record: { event?: Observed | null }): string | null {
  const event = record.event;
  if (!event) return null;
  return event.session ?? event.from ?? event.to ?? null;
}

/** `catalog/delete_asset`; a program text has no name. */
export function toolName(event: Observed): string {
  const { server, tool } = event.approach ?? {};
  if (!tool) return event.approach ? "a program" : "";
  return server ? `${server}/${tool}` : tool;
}

const SOURCES: Record<string, string> = { user: "a user", applet: "an applet", scheduler: "the scheduler" };

export function told(record: { event?: Observed | null; note?: Noted }): string {
  if (record.note) return noteText(record.note);
  return record.event ? eventText(record.event) : "";
}

export function eventText(event: Observed): string {
  switch (event.type) {
    case "call":
      return `calls ${toolName(event)}${targets(event)}${lossText(event)}`;
    case "step":
      return `${event.outcome?.is_error ? "error" : "result"}${event.approach ? ` of ${toolName(event)}` : ""}${event.outcome?.tone && event.outcome.tone !== "telling" ? ` (${event.outcome.tone})` : ""}`;
    case "message": {
      const sender = event.from ?? SOURCES[event.source ?? "user"] ?? event.source;
      const verb = event.kind === "spawn" ? "starts" : event.kind === "return" ? "returns to" : "writes to";
      return `${sender} ${verb} ${event.to}`;
    }
    case "usage":
      return `used ${event.tokens ?? 0} tokens${event.cost_micros ? `, $${(event.cost_micros / 1e6).toFixed(4)}` : ""}`;
    case "kill":
    case "reset":
      return `${event.type === "kill" ? "killed" : "reset"} by ${event.by ?? "an operator"}${event.why ? `: ${event.why}` : ""}`;
    case "dispatch_start":
      return `starts to work${event.flow ? ` in flow ${event.flow}` : ""}`;
    case "dispatch_end":
      return `ends its work${event.flow ? ` in flow ${event.flow}` : ""}`;
    default:
      return String(event.type);
  }
}

const PHRASES = { delete: "removes", reset: "resets", drop: "drops", destroy: "destroys", format: "overwrites" };
const MOST_LOSSES = 3;

/** What a call destroys, one by one; scratch is left out. */
export function losses(event: Observed): string[] {
  const lost = (event.effects ?? []).filter((effect) => effect.reach !== "scratch");
  const words = lost.slice(0, MOST_LOSSES).map((effect) => `${PHRASES[effect.verb]} ${effect.text ?? "something"} (${effect.reach})`);
  return lost.length > MOST_LOSSES ? [...words, `and ${lost.length - MOST_LOSSES} more`] : words;
}

function lossText(event: Observed): string {
  const words = losses(event);
  return words.length > 0 ? `: ${words.join(", ")}` : "";
}

function targets(event: Observed): string {
  const named = (event.approach?.fields ?? []).filter((field) => field.text !== undefined);
  return named.length > 0 ? ` ${named.map((field) => `${field.name}=${field.text}`).join(", ")}` : "";
}

const NOTES: Record<string, string> = {
  policy_loaded: "the guard started under this policy",
  policy_changed: "the policy changed",
  policy_rejected: "a new policy was wrong and was not taken",
  paused: "everything was paused",
  resumed: "the pause ended",
  panicked: "everything that agents do was stopped",
  calmed: "the panic ended",
  stop_marked_wrong: "a stop was marked as wrong",
  owner_took: "a server took the store",
  owner_left: "the server gave the store back",
  evicted: "cells were forgotten because there were too many",
  snapshot: "the cells were written down",
  pruned: "old records were removed",
};

export function noteText(note: Noted): string {
  const who = typeof note["by"] === "string" ? ` by ${note["by"]}` : "";
  const why = typeof note["why"] === "string" ? `: ${note["why"]}` : "";
  return `${NOTES[note.note] ?? note.note}${who}${why}`;
}

/** Why a session was stopped, for a person: the first sentence, without the words that are for programs. */
export function reasonText(reason: string): string {
  const plain = reason.replace(/^session_killed: loop_detected, /, "Loop detected: ");
  const end = plain.search(/\. [A-Z]/);
  return end > 0 ? plain.slice(0, end + 1) : plain;
}

/** What was captured of a record's payload, in one line: `args {"id":7}`. */
export function payload(record: LogRecord): string {
  const { captured } = record;
  if (captured === undefined || captured === null) return "";
  // Arguments were captured as the text that they came as: quoted once more they could not be read.
  const plain = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  const parts = typeof captured === "object" && !Array.isArray(captured) ? Object.entries(captured).map(([name, value]) => `${name} ${plain(value)}`) : [plain(captured)];
  return visible(parts.join(", ")).slice(0, 300);
}

/** A record's kind in a word: `call`, or the note's name. */
export function kindOf(record: LogRecord): string {
  return record.event?.type ?? record.note?.note ?? "note";
}
