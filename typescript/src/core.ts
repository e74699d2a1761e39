/**
 * One way to a verdict, with a fail mode.
 *
 * No verdict is not an error here. A guard that is away must not stop the work that it watches, so `fail` decides:
 * `open` lets calls happen and counts them, `closed` refuses them. Either way one line is logged when an outage begins
 * and one when it ends.
 */

import { SetupError, SpragError } from "./errors.js";
import { type Event, encode } from "./events.js";
import { type Raw, Verdict } from "./verdict.js";

/** What happens without a verdict. */
export type Fail = "open" | "closed";

/** Where the guard reports that it does not answer, and that it does again. */
export type Log = (line: string) => void;

/** A way to a guard. */
export interface Link {
  /** Rejects with `SetupError` if the guard can't be used as it is set up. */
  verify(): Promise<void>;
  /** The answer to one event. */
  ask(line: Buffer): Promise<Raw>;
  /** Gives back what it holds. */
  close(): Promise<void>;
}

/** For how many sessions the last stop is remembered. */
const REMEMBERED = 1024;

/** A link with a fail mode. */
export class Core {
  readonly #stopped = new Map<string, Verdict>();
  #failures = 0;
  #isAway = false;
  #isVerified = false;

  constructor(
    readonly link: Link,
    readonly fail: Fail,
    readonly log: Log,
  ) {
    if (fail !== "open" && fail !== "closed") {
      throw new SetupError(`fail must be 'open' or 'closed', not '${String(fail)}'`);
    }
  }

  /** How many events got no verdict from the guard. */
  get failures(): number {
    return this.#failures;
  }

  /** Resolves once the guard can be used; rejects with `SetupError` if it can't. A guard that is away is no such error. */
  async ready(): Promise<void> {
    if (this.#isVerified) return;
    try {
      await this.link.verify();
      this.#isVerified = true;
    } catch (error) {
      if (error instanceof SetupError) throw error;
    }
  }

  /** The verdict on an event as it is. Rejects with `EventRejected` or `NoVerdict`. */
  async check(event: Event): Promise<Verdict> {
    const verdict = Verdict.parse(await this.link.ask(encode(event)));
    this.#isVerified = true;
    this.#remember(event, verdict);
    return verdict;
  }

  /** The verdict on an event; if there is none, what the fail mode says. */
  async decide(event: Event): Promise<Verdict> {
    try {
      return await this.check(event);
    } catch (error) {
      // A guard that never worked is a mistake in the program; one that did is away.
      const isMistake = error instanceof SetupError && !this.#isVerified;
      if (isMistake || !(error instanceof SpragError)) throw error;
      return this.#withoutGuard(event, error);
    }
  }

  #remember(event: Event, verdict: Verdict): void {
    const session = event["session"];
    if (typeof session === "string") {
      if (verdict.decision === "block" || verdict.decision === "kill") {
        this.#stopped.delete(session);
        this.#stopped.set(session, verdict);
        const [oldest] = this.#stopped.keys();
        if (this.#stopped.size > REMEMBERED && oldest !== undefined) this.#stopped.delete(oldest);
      } else if (event["type"] === "call" && !verdict.refused) {
        this.#stopped.delete(session);
      }
    }
    if (this.#isAway) {
      this.#isAway = false;
      this.log(`sprag: the guard answers again; ${this.#failures} events went unchecked`);
    }
  }

  #withoutGuard(event: Event, error: SpragError): Verdict {
    this.#failures += 1;
    if (!this.#isAway) {
      this.#isAway = true;
      const then = this.fail === "open" ? "calls go on unchecked" : "calls are refused";
      this.log(`sprag: no verdict from the guard, ${then}: ${error.message}`);
    }
    const allow = new Verdict({ decision: "allow", checked: false });
    if (event["type"] !== "call" && event["type"] !== "message") return allow;
    const stopped = this.#stopped.get(String(event["session"] ?? event["from"] ?? ""));
    if (stopped !== undefined) {
      const { decision, rule, code, message } = stopped;
      return new Verdict({ decision, rule, code, message, checked: false });
    }
    if (this.fail === "open") return allow;
    const message = `no verdict from the guard, and it is set to refuse then: ${error.message}`;
    return new Verdict({ decision: "deny", code: "guard_unavailable", message, checked: false });
  }
}
