/** The guard's answer to one event. */

import { Refused } from "./errors.js";

const ORDER = ["allow", "warn", "ask", "deny", "block", "kill"] as const;

/** What to do, the mildest first. */
export type Decision = (typeof ORDER)[number];

/** A JSON object as it came. */
export type Raw = Readonly<Record<string, unknown>>;

/** The parts of a verdict; all but the decision are optional. */
export interface VerdictParts {
  decision: Decision;
  rule?: string | undefined;
  code?: string | undefined;
  message?: string | undefined;
  hint?: string | undefined;
  evidence?: Raw | undefined;
  approval?: string | undefined;
  expiresMs?: number | undefined;
  retryAfterMs?: number | undefined;
  flow?: string | undefined;
  depth?: number | undefined;
  generation?: number | undefined;
  endTurn?: boolean;
  checked?: boolean;
  raw?: Raw;
}

/**
 * What to do about a call, a message or a result.
 *
 * A verdict on a *step* never takes the result away: give the model `text` next to it. Block and kill then act from
 * the next call on.
 */
export class Verdict {
  readonly decision: Decision;
  readonly rule: string | undefined;
  readonly code: string | undefined;
  readonly message: string | undefined;
  /** The command that lifts or tunes what tripped; for people, not for models. */
  readonly hint: string | undefined;
  readonly evidence: Raw | undefined;
  /** The code by which a person approves, if the decision is `ask`. */
  readonly approval: string | undefined;
  readonly expiresMs: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly flow: string | undefined;
  readonly depth: number | undefined;
  readonly generation: number | undefined;
  readonly endTurn: boolean;
  /** False if the guard did not answer, so that `fail` decided instead of a rule. */
  readonly checked: boolean;
  /** Everything that the guard sent, as it came. */
  readonly raw: Raw;

  constructor(parts: VerdictParts) {
    this.decision = parts.decision;
    this.rule = parts.rule;
    this.code = parts.code;
    this.message = parts.message;
    this.hint = parts.hint;
    this.evidence = parts.evidence;
    this.approval = parts.approval;
    this.expiresMs = parts.expiresMs;
    this.retryAfterMs = parts.retryAfterMs;
    this.flow = parts.flow;
    this.depth = parts.depth;
    this.generation = parts.generation;
    this.endTurn = parts.endTurn ?? false;
    this.checked = parts.checked ?? true;
    this.raw = parts.raw ?? {};
  }

  /** Reads a verdict from its JSON object. An unknown decision refuses, as `deny` does. */
  static parse(raw: Raw): Verdict {
    return new Verdict({
      decision: ORDER.find((known) => known === raw["verdict"]) ?? "deny",
      rule: text(raw["rule"]),
      code: text(raw["code"]),
      message: text(raw["message"]),
      hint: text(raw["hint"]),
      evidence: object(raw["evidence"]),
      approval: text(raw["approval"]),
      expiresMs: number(raw["expires_ms"]),
      retryAfterMs: number(raw["retry_after_ms"]),
      flow: text(raw["flow"]),
      depth: number(raw["depth"]),
      generation: number(raw["generation"]),
      endTurn: raw["end_turn"] === true,
      raw,
    });
  }

  /** Whether the call or message may not happen: ask, deny, block and kill. */
  get refused(): boolean {
    return ORDER.indexOf(this.decision) >= ORDER.indexOf("ask");
  }

  /** Whether the model should read `text`, although the call may happen. */
  get warned(): boolean {
    return this.decision === "warn";
  }

  /** Whether the whole run should end: the session is killed, or goes on against a block. */
  get stops(): boolean {
    return this.decision === "kill" || (this.refused && this.endTurn);
  }

  /**
   * The reason in words, for the model and for people; empty if there is nothing to say.
   *
   * Models tend to run commands that they read, so the text says whose command the hint is.
   */
  get text(): string {
    if (this.decision === "allow") return "";
    const by = this.rule ? `${this.decision} by ${this.rule}` : this.decision;
    const reason = `sprag: ${this.message ?? by}`;
    return this.hint ? `${reason}\nOnly the user may lift or tune this, never you, with: ${this.hint}` : reason;
  }

  /** Throws `Refused` if the call or message may not happen; else returns the verdict. */
  throwIfRefused(): this {
    if (this.refused) throw new Refused(this);
    return this;
  }
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function object(value: unknown): Raw | undefined {
  return typeof value === "object" && value !== null ? (value as Raw) : undefined;
}
