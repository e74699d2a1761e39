/** A session that asks its guard, and the calls in it. */

import { Refused } from "./errors.js";
import { describe, type Event } from "./events.js";
import type { Guard } from "./guard.js";
import { type CallFields, type MessageFields, SessionEvents, type SessionFields, type Source, type StepFields, type UsageFields } from "./session-events.js";
import type { Verdict } from "./verdict.js";

/** One run of one agent. Make one with `guard.session`. */
export class Session extends SessionEvents {
  readonly guard: Guard;

  constructor(guard: Guard, id: string, fields: SessionFields = {}) {
    super(id, fields);
    this.guard = guard;
  }

  /** Asks before a tool call. Look at the answer and report the `result`, or let `run` do both. */
  async call(tool: string, args?: unknown, fields: CallFields = {}): Promise<Call> {
    const event = this.callEvent(tool, args, fields);
    return new Call(this, event, await this.guard.judgeCall(event));
  }

  /** Reports what a call, or a whole action (`approach`), came to. */
  step(result?: unknown, fields: StepFields = {}): Promise<Verdict> {
    return this.guard.decide(this.stepEvent(result, fields));
  }

  /** Asks before a message to another agent. */
  message(to: string | SessionEvents, content?: unknown, fields: MessageFields = {}): Promise<Verdict> {
    return this.guard.decide(this.messageEvent(to, content, fields));
  }

  /** Reports what the user said to the agent. */
  heard(content: unknown, source: Source = "user"): Promise<Verdict> {
    return this.guard.decide(this.heardEvent(content, source));
  }

  /** Reports what the model cost. */
  usage(usage: UsageFields): Promise<Verdict> {
    return this.guard.decide(this.usageEvent(usage));
  }

  /** Reports what the model said in one answer. */
  output(text: string): Promise<Verdict> {
    return this.guard.decide(this.outputEvent(text));
  }

  /** The session of a sub-agent, in the same flow. `message(child, …, { kind: "spawn" })` reports its start. */
  child(name: string, agent: string = name): Session {
    return new Session(this.guard, this.childId(name), { agent, flow: this.flow });
  }

  /** Runs code in which `guard.tool` and `guard.call` belong to this session. */
  run<T>(work: () => T): T {
    return this.enter(work);
  }
}

/** A verdict on a call, and the place to report the result. */
export class Call {
  readonly id: string;
  readonly verdict: Verdict;
  readonly #session: Session;
  #step: Verdict | undefined;

  constructor(session: Session, event: Event, verdict: Verdict) {
    this.#session = session;
    this.id = String(event["id"]);
    this.verdict = verdict;
  }

  /** Whether the call may not happen. */
  get refused(): boolean {
    return this.verdict.refused;
  }

  /** What happened, in a sentence. */
  get message(): string | undefined {
    return this.verdict.message;
  }

  /** The verdict on the result, once it is reported. */
  get step(): Verdict | undefined {
    return this.#step;
  }

  /** What the model should read next to the result; empty if nothing. */
  get note(): string {
    return note(this.verdict, this.#step);
  }

  /** Throws `Refused` if the call may not happen. */
  throwIfRefused(): Verdict {
    return this.verdict.throwIfRefused();
  }

  /** Reports what the call came to. Give the model the verdict's `text` next to it. */
  async result(value: unknown, fields: { isError?: boolean } = {}): Promise<Verdict> {
    this.#step = await this.#session.step(value, { id: this.id, ...fields });
    return this.#step;
  }

  /** Runs the tool if it may run, and reports its result or its error. Throws `Refused` if it may not. */
  async run<T>(work: () => T | PromiseLike<T>): Promise<Awaited<T>> {
    this.throwIfRefused();
    let value: Awaited<T>;
    try {
      value = await this.#session.enter(work, this.id);
    } catch (error) {
      if (!(error instanceof Refused)) await this.result(describe(error), { isError: true });
      throw error;
    }
    await this.result(value);
    return value;
  }
}

/** What the model should read next to a result: the warnings before and after the call. */
export function note(before: Verdict, after: Verdict | undefined): string {
  const texts = [before, after].flatMap((verdict) => (verdict?.text ? [verdict.text] : []));
  return [...new Set(texts)].join("\n");
}
