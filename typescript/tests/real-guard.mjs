// The real binary: guards, servers, stores and policies for tests, each in a folder of its own.
import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, openSync, closeSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { Guard } from "sprag";

/** The test build. Without one nothing can be tested, so that is a failure, not a skip. */
export const BINARY = process.env.SPRAG_BIN ?? "";
if (!isAbsolute(BINARY)) throw new Error("set SPRAG_BIN to the absolute path of the test build");
/** A machine that is busy with other things must not make a test fail open. */
export const TIMEOUT_MS = 60_000;

// No test sees the guard of whoever runs it.
for (const name of Object.keys(process.env)) {
  if ((name.startsWith("SPRAG_") && name !== "SPRAG_BIN") || name.startsWith("XDG_")) delete process.env[name];
}

/** Runs a test with a home, stores and servers that are gone afterwards. */
export function withGuards(work) {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), "sprag-ts-"));
    const home = process.env.HOME;
    process.env.HOME = folder;
    mkdirSync(join(folder, "store"), { mode: 0o700 });
    const place = new Place(folder);
    try {
      await work(place);
    } finally {
      await place.end();
      process.env.HOME = home;
      rmSync(folder, { recursive: true, force: true });
    }
  };
}

class Place {
  #guards = [];
  #servers = [];

  constructor(folder) {
    this.folder = folder;
    this.db = join(folder, "store", "sprag.db");
  }

  /** A guard on the test's own store. */
  guard(options = {}) {
    const place = options.url === undefined ? { db: this.db } : {};
    return this.keep(new Guard({ timeoutMs: TIMEOUT_MS, ...place, ...options }));
  }

  /** Closes a guard at the end of the test. */
  keep(guard) {
    this.#guards.push(guard);
    return guard;
  }

  /** Writes a policy file and returns its path. */
  policy(document) {
    const path = join(this.folder, "policy.toml");
    writeFileSync(path, toml(document));
    return path;
  }

  /** Starts a server on the test's own store. */
  async serve() {
    const server = await Server.start(this.db, this.folder);
    this.#servers.push(server);
    return server;
  }

  /** The events of the store, the oldest first. Whoever writes to it has to end first. */
  async records() {
    await this.end();
    const out = await run(["log", "export", "--db", this.db]);
    return out.split("\n").filter(Boolean).map((line) => JSON.parse(line).data).filter((record) => "event" in record);
  }

  async end() {
    for (const guard of this.#guards) await guard.close();
    for (const server of this.#servers) await server.stop();
  }
}

class Server {
  static async start(db, folder) {
    const server = new Server();
    const policy = join(folder, "empty-policy.toml");
    writeFileSync(policy, "");
    const out = join(folder, `serve-${process.hrtime.bigint()}.out`);
    const file = openSync(out, "w");
    const args = ["serve", "--listen", "127.0.0.1:0", "--db", db, "--policy", policy];
    server.process = spawn(BINARY, args, { stdio: ["ignore", file, file] });
    closeSync(file);
    server.ended = new Promise((resolve) => server.process.once("exit", resolve));
    server.db = db;
    server.url = `http://${await address(server.process, out)}`;
    return server;
  }

  /** A new token of a role. */
  async token(role) {
    const said = await run(["token", "add", "--role", role, "--name", `test-${role}`, "--db", this.db]);
    return said.trim().split(/\s+/).at(-1);
  }

  /** Ends it and waits for that. */
  async stop() {
    if (this.process.exitCode === null) this.process.kill("SIGTERM");
    await this.ended;
  }
}

async function address(process, out) {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; ) {
    const text = readFileSync(out, "utf8");
    if (process.exitCode !== null) throw new Error(`the server ended: ${text}`);
    // The line about the operator comes last: from then on it answers.
    const line = text.split("\n").find((found) => found.startsWith("listening on "));
    if (line && text.includes("operator")) return line.split(/\s+/).at(-1);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`the server did not start: ${readFileSync(out, "utf8")}`);
}

function run(args) {
  return new Promise((resolve, reject) => {
    execFile(BINARY, args, { maxBuffer: 1 << 28 }, (error, stdout, stderr) => (error ? reject(new Error(stderr)) : resolve(stdout)));
  });
}

/** A policy as TOML, from the JSON in which scenarios write it. */
export function toml(document) {
  const head = [];
  const tables = [];
  for (const [name, value] of Object.entries(document)) {
    if (Array.isArray(value) && value.every((item) => typeof item === "object")) {
      for (const item of value) tables.push(`[[${name}]]`, ...fields(item));
    } else if (typeof value === "object") tables.push(`[${JSON.stringify(name)}]`, ...fields(value));
    else head.push(`${JSON.stringify(name)} = ${inline(value)}`);
  }
  return `${[...head, ...tables].join("\n")}\n`;
}

function fields(table) {
  return Object.entries(table).map(([key, value]) => `${JSON.stringify(key)} = ${inline(value)}`);
}

function inline(value) {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  return typeof value === "object" ? `{ ${fields(value).join(", ")} }` : JSON.stringify(value);
}
