/** The guard as a program uses it. */

import { Child } from "./child.js";
import { Core, type Fail, type Log } from "./core.js";
import { EventRejected, NoVerdict, SetupError } from "./errors.js";
import type { Event } from "./events.js";
import { HttpLink } from "./http-link.js";
import { LocalLink } from "./local-link.js";
import { binary } from "./place.js";
import { Call, Session } from "./session.js";
import { type CallFields, currentSession, defaultSessionId, newSessionId, type SessionFields } from "./session-events.js";
import { Verdict } from "./verdict.js";

/** A call that a person has to approve. */
export interface Question {
  session: string;
  tool: string;
  args: unknown;
  verdict: Verdict;
}

/** What guards of every kind take. */
export interface CommonOptions {
  /** What happens without a verdict: `open` (the default) lets calls happen, `closed` refuses them. */
  fail?: Fail;
  /** How many milliseconds the guard may take for an answer; 2,000 by default. */
  timeoutMs?: number;
  /** Asks a person whether a call may run. Without it such a call is refused, and the text says how to approve it. */
  onAsk?: (question: Question) => boolean | PromiseLike<boolean>;
  /** Where it is reported that the guard does not answer, and that it does again; `console.warn` by default. */
  log?: Log;
}

/** Where the guard is. Without any of these it is that of this machine. */
export interface GuardOptions extends CommonOptions {
  /** The address of a remote guard, such as `https://guard.example:7727`. */
  url?: string;
  /** Its token, of role `hook`. Keep it out of the environment, which tools inherit. */
  token?: string;
  /** Another store than the one that `sprag` uses by default. */
  db?: string;
  /** Another socket than the one that belongs to the store. */
  socket?: string;
  /** A policy file, if no server runs. */
  policy?: string;
}

const TIMEOUT_MS = 2000;

/**
 * The guard of this machine, or the one at `url`.
 *
 * Without arguments it uses the socket of a running `sprag serve`, else a `sprag check` process on the same store. A
 * setup that can't work (no binary, another version, another user's socket, a wrong token) is a `SetupError`: thrown
 * here if it shows at once, else by the first question or by `ready`.
 */
export class Guard {
  /** Asks a person, if the program can. */
  readonly onAsk: CommonOptions["onAsk"];
  readonly #core: Core;

  constructor(options: GuardOptions = {}) {
    const inMemory = (options as { [IN_MEMORY]?: Child })[IN_MEMORY];
    const link = inMemory ?? linkTo(options);
    this.#core = new Core(link, options.fail ?? "open", options.log ?? ((line) => console.warn(line)));
    this.onAsk = options.onAsk;
  }

  /** A guard that keeps nothing: a child process that forgets everything when it ends. */
  static inMemory(options: CommonOptions & { policy?: string } = {}): Guard {
    binary();
    const policy = options.policy === undefined ? [] : ["--policy", options.policy];
    const child = new Child(["decide", ...policy], options.timeoutMs ?? TIMEOUT_MS);
    return new Guard({ ...options, [IN_MEMORY]: child } as CommonOptions);
  }

  /** How many events got no verdict since this guard was made. */
  get failures(): number {
    return this.#core.failures;
  }

  /** Which way questions go at the moment. */
  get way(): "socket" | "child" | "url" {
    const { link } = this.#core;
    if (link instanceof LocalLink) return link.way;
    return link instanceof HttpLink ? "url" : "child";
  }

  /** The child process that answers, if one does: its id, and how many were started. */
  get process(): { pid: number | undefined; starts: number } | undefined {
    const { link } = this.#core;
    const child = link instanceof LocalLink ? link.child : link;
    return child instanceof Child ? { pid: child.pid, starts: child.starts } : undefined;
  }

  /** Resolves once the setup is known to work; rejects with `SetupError`. A guard that is away is no such error. */
  async ready(): Promise<this> {
    await this.#core.ready();
    return this;
  }

  /** The verdict on an event in wire format, whatever the fail mode is. Rejects with `EventRejected` or `NoVerdict`. */
  check(event: Event): Promise<Verdict> {
    return this.#core.check(event);
  }

  /** The verdict on an event in wire format; without one, what the fail mode says. */
  decide(event: Event): Promise<Verdict> {
    return this.#core.decide(event);
  }

  /** The verdict on a call; a person is asked if the verdict says so and `onAsk` can ask. */
  async judgeCall(event: Event): Promise<Verdict> {
    const verdict = await this.decide(event);
    return verdict.decision === "ask" && this.onAsk ? this.#askPerson(event, verdict, this.onAsk) : verdict;
  }

  /** The session of one run of an agent. Without an id it gets a new one. */
  session(id: string = newSessionId(), fields: SessionFields = {}): Session {
    return new Session(this, id, fields);
  }

  /** The session of the surrounding `session.run`, else one for this process. */
  currentSession(): Session {
    const session = currentSession();
    return session instanceof Session && session.guard === this ? session : this.session(defaultSessionId());
  }

  /** Asks before a call in the current session; see `Session.call`. */
  call(tool: string, args?: unknown, fields: CallFields = {}): Promise<Call> {
    return this.currentSession().call(tool, args, fields);
  }

  /**
   * Guards a function: every call of it is a tool call of the current session.
   *
   * A refused call throws `Refused`. A warning is appended to a result that is a text, else it is logged. If the function
   * takes one object, its fields are the arguments; else they are a list.
   */
  tool<A extends unknown[], R>(work: (...args: A) => R, name: string = work.name): (...args: A) => Promise<Awaited<R>> {
    return async (...args: A): Promise<Awaited<R>> => {
      const call = await this.call(name, named(args));
      const value = await call.run(() => work(...args));
      if (!call.note) return value as Awaited<R>;
      if (typeof value === "string") return `${value}\n\n${call.note}` as Awaited<R>;
      this.#core.log(`${name}: ${call.note}`);
      return value as Awaited<R>;
    };
  }

  /** Ends the child process and closes the connections. The next question opens them again. */
  close(): Promise<void> {
    return this.#core.link.close();
  }

  async #askPerson(event: Event, verdict: Verdict, onAsk: NonNullable<CommonOptions["onAsk"]>): Promise<Verdict> {
    const session = String(event["session"]);
    const isApproved = await onAsk({ session, tool: String(event["tool"]), args: event["args"], verdict });
    const type = isApproved ? "approve" : "decline";
    try {
      await this.check({ type, session, approval: verdict.approval, by: "on_ask" });
    } catch (error) {
      if (!(error instanceof NoVerdict || error instanceof EventRejected)) throw error;
      return new Verdict({ decision: "deny", rule: verdict.rule, message: `the answer was not accepted: ${error.message}` });
    }
    return this.decide(event);
  }
}

const IN_MEMORY = Symbol("in memory");

function linkTo(options: GuardOptions): LocalLink | HttpLink {
  const { url, token, db, socket, policy, timeoutMs = TIMEOUT_MS } = options;
  if (url === undefined) {
    if (token !== undefined) throw new SetupError("token belongs to a remote guard: name it with url");
    return new LocalLink({ db, socket, policy }, timeoutMs);
  }
  if (db !== undefined || socket !== undefined || policy !== undefined) {
    throw new SetupError("url names a remote guard, which has its own db, socket and policy");
  }
  return HttpLink.atUrl(url, token, timeoutMs);
}

/** The arguments of a call: the fields of one plain object, or a list. */
function named(args: unknown[]): unknown {
  const [only] = args;
  const isObject = typeof only === "object" && only !== null && !Array.isArray(only);
  return args.length === 1 && isObject ? only : { args };
}
