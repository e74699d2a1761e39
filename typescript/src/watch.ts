/**
 * What all adapters share: which session a run belongs to, and when the run has to end.
 *
 * A framework's run is a session; each further agent in it has a session of its own below that one, so that a kill
 * reaches it. Control that moves from agent to agent is a message, a run inside a tool of another run is a spawn, and
 * both stay in one flow: depth, spawns and rings are seen.
 */

import type { Event } from "./events.js";
import { Guard } from "./guard.js";
import { note } from "./session.js";
import { type CallFields, currentSession, SessionEvents, type Source } from "./session-events.js";
import { shared } from "./shared.js";
import type { Verdict } from "./verdict.js";

/** How many runs are remembered; the longest idle one is forgotten first. */
const RUNS = 1024;
/** How many agents of one run have a session of their own; the others share the root's. */
const AGENTS = 64;

/** What every adapter takes. */
export interface AdapterOptions {
  /** The guard; without one, `new Guard()`, one for the process. */
  guard?: Guard;
  /** Who speaks to the agent: `user` (the default), or `applet` and `scheduler` if that is a program. */
  source?: Source;
}

/** A call that the guard was asked about. */
export class Seen {
  after: Verdict | undefined;

  constructor(
    readonly session: SessionEvents,
    readonly event: Event,
    readonly verdict: Verdict,
  ) {}

  /** Whether the tool may not run. */
  get refused(): boolean {
    return this.verdict.refused;
  }

  /** The reason of a refusal, for the model. */
  get text(): string {
    return this.verdict.text;
  }

  /** What the model should read next to the result; empty if nothing. */
  get note(): string {
    return note(this.verdict, this.after);
  }

  /** Runs the tool: a run that starts inside of it is a sub-agent of this session. */
  run<T>(work: () => T): T {
    return this.session.enter(work, String(this.event["id"]));
  }

  /** What the call came to. */
  stepEvent(result: unknown, isError: boolean): Event {
    const useId = this.event["use_id"];
    const fields = { id: String(this.event["id"]), isError };
    return this.session.stepEvent(result, typeof useId === "string" ? { ...fields, useId } : fields);
  }
}

/** One run of a framework: the session of its first agent and those of the others. */
export class Run {
  active: SessionEvents;
  /** Why the run has to end, once it has to. */
  stop: Verdict | undefined;
  /** Whether a tool handed control over to an agent that has not started yet. */
  isHandedOver = false;
  readonly #agents = new Map<string, SessionEvents>();

  constructor(
    readonly root: SessionEvents,
    readonly parent?: SessionEvents,
  ) {
    this.active = root;
    if (root.agent) this.#agents.set(root.agent, root);
  }

  /** The session of an agent of this run. */
  of(agent: string | undefined): SessionEvents {
    if (agent === undefined || this.root.agent === undefined) return this.root;
    let session = this.#agents.get(agent);
    if (session === undefined) {
      if (this.#agents.size >= AGENTS) return this.root;
      session = new SessionEvents(this.root.childId(agent), { agent, flow: this.root.flow });
      this.#agents.set(agent, session);
    }
    session.flow = this.root.flow;
    return session;
  }
}

/** The runs that go through one guard, whichever adapter they belong to. */
class Runs {
  readonly #runs = new Map<string, Run>();
  #spawned = 0;

  /** The run with this id; a new one if there is none. */
  get(id: string, agent: string | undefined): Run {
    const run = this.#runs.get(id) ?? this.#made(id, agent);
    this.#runs.delete(id);
    this.#runs.set(id, run);
    const [oldest] = this.#runs.keys();
    if (this.#runs.size > RUNS && oldest !== undefined) this.#runs.delete(oldest);
    return run;
  }

  #made(id: string, agent: string | undefined): Run {
    const parent = currentSession();
    if (parent === undefined) return new Run(new SessionEvents(id, { agent }));
    this.#spawned += 1;
    const name = `${agent ?? "agent"}-${this.#spawned}`;
    return new Run(new SessionEvents(parent.childId(name), { agent, flow: parent.flow }), parent);
  }
}

/** The guard as an adapter uses it, with the runs that it knows. */
export class Watch {
  readonly guard: Guard;
  readonly #source: Source;
  readonly #runs: Runs;

  constructor({ guard, source = "user" }: AdapterOptions) {
    this.guard = guard ?? ((shared.defaultGuard ??= new Guard()) as Guard);
    this.#source = source;
    const known = shared.runs.get(this.guard) as Runs | undefined;
    this.#runs = known ?? new Runs();
    if (known === undefined) shared.runs.set(this.guard, this.#runs);
  }

  /** The run with this id. */
  run(id: string, agent?: string): Run {
    return this.#runs.get(id, agent);
  }

  /** The start of a run: a spawn inside another run, else what the user said. */
  startEvent(run: Run, words: unknown): Event {
    if (run.parent !== undefined) {
      const event = run.parent.messageEvent(run.root, words, { kind: "spawn" });
      run.root.flow = run.parent.flow;
      return event;
    }
    run.active = run.root;
    return run.root.heardEvent(words, this.#source);
  }

  /** The end of a run: a return to the one that it was spawned by. */
  async end(run: Run, words: unknown): Promise<void> {
    if (run.parent !== undefined) await this.report(run, run.root.messageEvent(run.parent, words, { kind: "return" }));
  }

  /** Control moves to another agent of the run; nothing to report if it is there already. */
  async handOff(run: Run, agent: string, words?: unknown): Promise<Verdict | undefined> {
    const sender = run.active;
    const receiver = run.of(agent);
    if (sender === receiver) return undefined;
    const event = sender.messageEvent(receiver, words);
    run.root.flow = receiver.flow = sender.flow;
    run.active = receiver;
    return this.report(run, event);
  }

  /** Sends an event that is not a call. */
  async report(run: Run, event: Event): Promise<Verdict> {
    const verdict = await this.guard.decide(event);
    const isUsers = event["type"] === "message" && !("from" in event);
    if (isUsers && !verdict.refused) run.stop = undefined;
    else if (verdict.decision === "kill" || (isUsers && verdict.refused)) run.stop = verdict;
    return verdict;
  }

  /** Asks before a tool runs. */
  async before(run: Run, session: SessionEvents, tool: string, args: unknown, fields: CallFields = {}): Promise<Seen> {
    const event = session.callEvent(tool, args, fields);
    const verdict = await this.guard.judgeCall(event);
    if (verdict.stops) run.stop = verdict;
    return new Seen(session, event, verdict);
  }

  /** Reports a result, and returns what the model should read next to it. */
  async after(run: Run, seen: Seen, result: unknown, isError = false): Promise<string> {
    seen.after = await this.report(run, seen.stepEvent(result, isError));
    return seen.note;
  }
}

/** The tokens of a prompt that no cache held, for frameworks that count those in. */
export function uncached(total: number | undefined, ...cached: (number | undefined)[]): number {
  return Math.max(0, (total ?? 0) - cached.reduce<number>((sum, count) => sum + (count ?? 0), 0));
}

/** A result with the guard's note next to it. */
export function joined(result: string, text: string): string {
  return text ? `${result}\n\n${text}` : result;
}

/** A map that forgets its oldest entries: what calls that never end leave behind stays bounded. */
export class Bounded<K, V> extends Map<K, V> {
  readonly #limit: number;

  constructor(limit = 4096) {
    super();
    this.#limit = limit;
  }

  override set(key: K, value: V): this {
    super.set(key, value);
    const [oldest] = this.keys();
    if (this.size > (this.#limit ?? Infinity) && oldest !== undefined) this.delete(oldest);
    return this;
  }
}
