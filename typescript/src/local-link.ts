/** The guard of this machine: the server's socket if one runs, else a child on the same store. */

import { Child } from "./child.js";
import type { Link } from "./core.js";
import { Absent, NoVerdict, SetupError } from "./errors.js";
import { HttpLink } from "./http-link.js";
import { binary, ownSocket, socketPath, storePath } from "./place.js";
import type { Raw } from "./verdict.js";

/** Where the guard of this machine is, if not in its usual places. */
export interface LocalPlaces {
  db?: string | undefined;
  socket?: string | undefined;
  policy?: string | undefined;
}

/**
 * Asks the server, and from the moment that it is gone a `sprag check` of our own.
 *
 * That child shares the store with everyone else on this machine, and finds a server that comes back by itself. So
 * there is no way back to the socket, and no moment in which two count.
 */
export class LocalLink implements Link {
  readonly child: Child;
  #http: HttpLink | undefined;

  constructor({ db, socket, policy }: LocalPlaces, timeoutMs: number) {
    const store = storePath(db);
    if (store === undefined) throw new SetupError("there is no home to keep the store in; name one with db");
    const path = socketPath(socket, db, store);
    if (ownSocket(path)) this.#http = HttpLink.atSocket(path, store, timeoutMs);
    else binary(); // without a server a missing binary is told at once
    const places = Object.entries({ db, socket, policy });
    const named = places.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));
    this.child = new Child(["check", "--as", "hook", ...named], timeoutMs);
  }

  /** Which way questions go: `socket` or `child`. */
  get way(): "socket" | "child" {
    return this.#http === undefined ? "child" : "socket";
  }

  async verify(): Promise<void> {
    try {
      if (this.#http !== undefined) return await this.#http.verify();
    } catch (error) {
      if (!(error instanceof NoVerdict)) throw error;
      if (!(error instanceof Absent)) return; // it is busy; it owns the store all the same
      this.#http = undefined; // a server left the socket behind when it died
    }
    await this.child.verify();
  }

  async ask(line: Buffer): Promise<Raw> {
    if (this.#http !== undefined) {
      try {
        return await this.#http.ask(line);
      } catch (error) {
        if (!(error instanceof Absent)) throw error;
        this.#http = undefined;
      }
    }
    return this.child.ask(line);
  }

  async close(): Promise<void> {
    await this.#http?.close();
    await this.child.close();
  }
}
