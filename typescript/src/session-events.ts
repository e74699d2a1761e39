/** One run of one agent, as the guard knows it: what it does becomes events here. Nothing is sent. */

import { randomUUID } from "node:crypto";
import { cleanId, cleanOptional, type Event, withoutUndefined } from "./events.js";
import { type Entered, shared } from "./shared.js";

/** Who speaks to an agent: a person, or a program. */
export type Source = "user" | "applet" | "scheduler";

/** What else is known of a call. */
export interface CallFields {
  id?: string;
  server?: string;
  useId?: string;
  turn?: string;
  hints?: { read_only?: boolean; destructive?: boolean; idempotent?: boolean };
  cwd?: string;
}

/** What else is known of a result. Name `tool` and `args`, or an `approach`, if no call was asked about. */
export interface StepFields {
  id?: string;
  isError?: boolean;
  tool?: string;
  args?: unknown;
  server?: string;
  approach?: unknown;
  useId?: string;
}

/** What else is known of a message. */
export interface MessageFields {
  kind?: "say" | "spawn" | "return";
  toAgent?: string;
  conversation?: string;
}

/** What one answer of the model cost. `inputTokens` holds no tokens of the cache. */
export interface UsageFields {
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
  costUsd?: number | undefined;
  model?: string | undefined;
  cacheReadTokens?: number | undefined;
  cacheWriteTokens?: number | undefined;
}

/** What else is known of a session. */
export interface SessionFields {
  agent?: string | undefined;
  flow?: string | undefined;
  cwd?: string | undefined;
}

const processStart = randomUUID().slice(0, 8);

/** An id for a run that has none of its own. */
export function newSessionId(): string {
  return `js-${randomUUID().replaceAll("-", "").slice(0, 16)}`;
}

/** The id for what happens outside of any session: one for this process. */
export function defaultSessionId(): string {
  return `js-${processStart}-${process.pid}`;
}

/** The session that the running code was entered with, if any. */
export function currentSession(): SessionEvents | undefined {
  return shared.entered.getStore()?.session as SessionEvents | undefined;
}

/** What tells the surroundings of two runs apart: the running call, and its session; else empty. */
export function currentCall(): string {
  const entered = shared.entered.getStore() as Entered | undefined;
  return entered?.call ? `${(entered.session as SessionEvents).id}#${entered.call}` : "";
}

/** The events of one session. */
export class SessionEvents {
  readonly id: string;
  agent: string | undefined;
  /** What joins everything that one request of a user causes. */
  flow: string | undefined;
  /** What the user said last. */
  lastWords: unknown;
  readonly #cwd: string | undefined;
  readonly #prefix = randomUUID().slice(0, 8);
  #count = 0;

  constructor(id: string, fields: SessionFields = {}) {
    this.id = cleanId(id);
    this.agent = cleanOptional(fields.agent);
    this.flow = cleanOptional(fields.flow);
    this.#cwd = fields.cwd;
  }

  /** An id that pairs a call with its result. Ids of models are reused too often for that. */
  newCallId(): string {
    this.#count += 1;
    return `${this.#prefix}-${this.#count}`;
  }

  /** A tool call, before it runs. */
  callEvent(tool: string, args?: unknown, fields: CallFields = {}): Event {
    return withoutUndefined({
      ...this.#who("call"),
      id: cleanId(fields.id ?? this.newCallId()),
      server: cleanOptional(fields.server),
      tool: cleanId(tool),
      args,
      use_id: cleanOptional(fields.useId),
      turn: cleanOptional(fields.turn),
      hints: fields.hints,
      cwd: fields.cwd ?? this.#cwd ?? workingFolder(),
    });
  }

  /** What a call, or a whole action of the program, came to. */
  stepEvent(result?: unknown, fields: StepFields = {}): Event {
    return withoutUndefined({
      ...this.#who("step"),
      id: cleanOptional(fields.id),
      tool: cleanOptional(fields.tool),
      server: cleanOptional(fields.server),
      args: fields.args,
      approach: fields.approach,
      use_id: cleanOptional(fields.useId),
      result: result ?? "",
      is_error: fields.isError ? true : undefined,
    });
  }

  /** A message to another agent. */
  messageEvent(to: string | SessionEvents, content?: unknown, fields: MessageFields = {}): Event {
    const receiver = typeof to === "string" ? undefined : to;
    this.flow ??= cleanId(`${this.id}-${this.#prefix}`);
    return withoutUndefined({
      type: "message",
      from: this.id,
      to: receiver?.id ?? cleanId(to),
      agent: this.agent,
      to_agent: cleanOptional(fields.toAgent ?? receiver?.agent),
      flow: this.flow,
      conversation: cleanOptional(fields.conversation),
      kind: fields.kind,
      content,
    });
  }

  /**
   * What a person, or another program, said to this agent. It starts a new flow.
   *
   * The same words twice in a row are a program that calls again, not a person: a loop around an agent must not count
   * as its user.
   */
  heardEvent(content: unknown, source: Source = "user"): Event {
    const isRepeat = content === this.lastWords;
    this.lastWords = content;
    const by = isRepeat && source === "user" ? "applet" : source;
    this.flow = cleanId(`${this.id}-${this.newCallId()}`);
    return withoutUndefined({
      type: "message",
      to: this.id,
      to_agent: this.agent,
      source: by === "user" ? undefined : by,
      unblock: by === "user" ? true : undefined,
      flow: this.flow,
      content,
    });
  }

  /** What one answer of the model cost. */
  usageEvent(usage: UsageFields): Event {
    return withoutUndefined({
      ...this.#who("usage"),
      input_tokens: usage.inputTokens ?? 0,
      output_tokens: usage.outputTokens ?? 0,
      cost_usd: usage.costUsd,
      model: cleanOptional(usage.model),
      cache_read_tokens: usage.cacheReadTokens || undefined,
      cache_write_tokens: usage.cacheWriteTokens || undefined,
    });
  }

  /** What the model said in one answer. */
  outputEvent(text: string): Event {
    return { type: "output", session: this.id, text };
  }

  /** The id of a sub-agent: a kill of this session reaches it. */
  childId(name: string): string {
    return cleanId(`${this.id}/${name}`);
  }

  /** Runs code as part of this session, and of one of its calls. */
  enter<T>(work: () => T, call = ""): T {
    return shared.entered.run({ session: this, call }, work);
  }

  #who(type: string): Event {
    return { type, session: this.id, agent: this.agent, flow: this.flow };
  }
}

function workingFolder(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined; // somebody deleted it
  }
}
