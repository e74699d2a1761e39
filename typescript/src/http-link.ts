/** The HTTP API of a running `sprag serve`: over its Unix socket, or at an address. */

import * as http from "node:http";
import * as https from "node:https";
import type { Link } from "./core.js";
import { Absent, EventRejected, NoVerdict, SetupError } from "./errors.js";
import { hookToken, ownSocket } from "./place.js";
import type { Raw } from "./verdict.js";
import { isCompatible, VERSION } from "./version.js";

const MAX_CONNECTIONS = 32;
const MAX_ANSWER = 16 * 1024 * 1024;
/** How long to wait for a server that is just starting or ending. */
const PAUSE_MS = 20;
/** What proves that an event, not the guard, is to blame. */
const REJECTED = [400, 409, 413, 415, 422];
const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

interface Answer {
  status: number;
  body: Raw;
}

interface Route {
  name: string;
  options: https.RequestOptions;
  secure: boolean;
  token: () => string | undefined;
  /** Throws `SetupError` if the route must not be used. */
  before: () => void;
}

/** Asks a server, over connections that are kept for the next question. */
export class HttpLink implements Link {
  readonly #route: Route;
  readonly #timeoutMs: number;
  readonly #agent: http.Agent;
  #token: string | undefined;
  #verified: Promise<void> | undefined;

  private constructor(route: Route, timeoutMs: number) {
    this.#route = route;
    this.#timeoutMs = timeoutMs;
    const kept = { keepAlive: true, maxSockets: MAX_CONNECTIONS };
    this.#agent = route.secure ? new https.Agent(kept) : new http.Agent(kept);
  }

  /** The server of this machine. Its token lies beside the store. */
  static atSocket(path: string, store: string, timeoutMs: number): HttpLink {
    const before = (): void => void ownSocket(path);
    const route = { name: `sprag serve at ${path}`, options: { socketPath: path }, secure: false, token: () => hookToken(store), before };
    return new HttpLink(route, timeoutMs);
  }

  /** A server at an address. Throws `SetupError` if it is not one, or would send the token in the clear. */
  static atUrl(url: string, token: string | undefined, timeoutMs: number): HttpLink {
    const parts = URL.canParse(url) ? new URL(url) : undefined;
    const isHttp = parts?.protocol === "http:" || parts?.protocol === "https:";
    if (parts === undefined || !isHttp || !parts.hostname || parts.pathname !== "/" || parts.hash) {
      throw new SetupError(`url must look like https://guard.example:7727, not '${url}'`);
    }
    if (parts.username || parts.password || parts.search) {
      throw new SetupError("a token has no place in url, where logs keep it; give it as token");
    }
    const secure = parts.protocol === "https:";
    if (!secure && token !== undefined && !LOOPBACK.includes(parts.hostname)) {
      throw new SetupError(`${url} would send the token unencrypted; use https`);
    }
    const options = { host: parts.hostname.replace(/^\[|\]$/g, ""), port: parts.port || (secure ? 443 : 80) };
    return new HttpLink({ name: parts.origin, options, secure, token: () => token, before: () => undefined }, timeoutMs);
  }

  async ask(line: Buffer): Promise<Raw> {
    await this.verify();
    const deadline = Date.now() + this.#timeoutMs;
    for (;;) {
      const { status, body } = await this.#request("POST", "/v1/check", line);
      if (status === 200) return body;
      if (status === 503 && Date.now() + PAUSE_MS < deadline) {
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
        continue;
      }
      const detail = String(body["detail"] ?? body["title"] ?? "no reason given");
      if (REJECTED.includes(status)) throw new EventRejected(detail);
      throw new NoVerdict(`${this.#route.name} answered status ${status}: ${detail}`);
    }
  }

  /** Asks the server once who it is. Throws `SetupError` if it is of another version or takes this program for no hook. */
  async verify(): Promise<void> {
    this.#verified ??= this.#verify();
    try {
      await this.#verified;
    } catch (error) {
      this.#verified = undefined; // it may come later, or be set up meanwhile
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#agent.destroy();
  }

  async #verify(): Promise<void> {
    const { name } = this.#route;
    let { status, body } = await this.#request("GET", "/v1/me");
    // At its very first start a server makes its tokens after its socket: who was early had none to show.
    if (this.#token === undefined && this.#route.token() !== undefined) {
      ({ status, body } = await this.#request("GET", "/v1/me"));
    }
    if (status === 401 || status === 403) {
      throw new SetupError(
        `${name} refused the token: ${String(body["detail"] ?? "no reason given")}; ` +
          "`sprag token add --role hook --name NAME` creates one",
      );
    }
    if (status !== 200) throw new NoVerdict(`${name} answered status ${status}`);
    const version = String(body["version"]);
    if (!isCompatible(version)) {
      throw new SetupError(`${name} is version ${version}, this package is ${VERSION}; install the same version of both`);
    }
    if (body["role"] !== "hook" && body["role"] !== "relay") {
      throw new SetupError(
        `${name} takes this program for role '${String(body["role"])}'; it needs a token of role 'hook' ` +
          "(`sprag token add --role hook --name NAME`), and must not hold an operator's",
      );
    }
  }

  async #request(method: string, path: string, body?: Buffer): Promise<Answer> {
    const answer = await this.#send(method, path, body);
    if (answer.status !== 401 || this.#token === this.#route.token()) return answer;
    // A server that started again with a new store has a new token.
    this.#token = undefined;
    return this.#send(method, path, body);
  }

  async #send(method: string, path: string, body: Buffer | undefined): Promise<Answer> {
    this.#route.before();
    this.#token ??= this.#route.token();
    const headers: http.OutgoingHttpHeaders = { host: "localhost" };
    if (this.#route.options.host) headers["host"] = `${this.#route.options.host}:${String(this.#route.options.port)}`;
    if (this.#token) headers["authorization"] = `Bearer ${this.#token}`;
    if (body) Object.assign(headers, { "content-type": "application/json", "content-length": body.length });
    for (;;) {
      const answer = await this.#once({ ...this.#route.options, method, path, headers, agent: this.#agent }, body);
      if (answer !== "again") return answer;
    }
  }

  /** One request; `again` if a kept connection was closed meanwhile, without a word. */
  #once(options: https.RequestOptions, body: Buffer | undefined): Promise<Answer | "again"> {
    const { name, secure } = this.#route;
    return new Promise((resolve, reject) => {
      const request = (secure ? https : http).request(options);
      const timer = setTimeout(() => request.destroy(new NoVerdict(`${name} did not answer in time`)), this.#timeoutMs);
      const fail = (error: NodeJS.ErrnoException): void => {
        clearTimeout(timer);
        const isGone = error.code === "ECONNRESET" || error.code === "EPIPE";
        if (error instanceof NoVerdict) reject(error);
        else if (isGone && request.reusedSocket) resolve("again");
        else if (error.code === "ENOENT" || error.code === "ECONNREFUSED") reject(new Absent(`nobody listens at ${name}: ${error.message}`));
        else reject(new NoVerdict(`${name}: ${error.message || error.code || error.name}`));
      };
      request.once("error", fail);
      request.once("response", (response) => {
        const chunks: Buffer[] = [];
        let length = 0;
        response.once("error", fail);
        response.on("data", (chunk: Buffer) => {
          length += chunk.length;
          if (length > MAX_ANSWER) request.destroy(new NoVerdict(`${name} answered too much`));
          chunks.push(chunk);
        });
        response.once("end", () => {
          clearTimeout(timer);
          resolve({ status: response.statusCode ?? 0, body: parsed(Buffer.concat(chunks).toString("utf8")) });
        });
      });
      request.end(body);
    });
  }
}

function parsed(text: string): Raw {
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === "object" && found !== null ? (found as Raw) : {};
  } catch {
    return { detail: text.slice(0, 200) };
  }
}
