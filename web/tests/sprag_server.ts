// The real server, as a user starts it: the binary, a store of its own in a temporary folder, a free port.
import { test as base } from "@playwright/test";
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import type { Page } from "@playwright/test";
import type { WireEvent } from "./traffic.ts";

const IN_CI = process.env["CI"] === "true";

/** The binary under test: named, else the newest place where cargo puts it. */
export function binary(): string | null {
  const named = process.env["SPRAG_BIN"];
  if (named) return resolve(named);
  const target = process.env["CARGO_TARGET_DIR"] ?? resolve(import.meta.dirname, "../../target");
  return [join(target, "debug/sprag"), join(target, "release/sprag")].find(existsSync) ?? null;
}

export interface Answer {
  verdict: string;
  rule: string | null;
  [field: string]: unknown;
}

export class SpragServer {
  readonly folder = mkdtempSync(join(tmpdir(), "sprag-web-"));
  readonly policy = join(this.folder, "policy.toml");
  url = "";
  token = "";
  /** The link that the server printed: it works once, and for a minute. */
  link = "";
  #process: ChildProcess | null = null;
  #extra: string[];

  constructor(extra: string[] = []) {
    this.#extra = extra;
    writeFileSync(this.policy, "");
  }

  /** More arguments, for those that name a place in the folder. */
  add(...extra: string[]): void {
    this.#extra = [...this.#extra, ...extra];
  }

  /** Starts, or starts again at the same address. */
  async start(): Promise<void> {
    const program = binary();
    if (program === null) throw new Error("there is no sprag binary; build one with `cargo build -p sprag-cli` or name it with SPRAG_BIN");
    const listen = this.url === "" ? "127.0.0.1:0" : new URL(this.url).host;
    // The demo has places of its own, which end with it.
    const own = this.#extra.includes("--demo");
    const places = own ? ["--listen", listen] : ["--listen", listen, "--db", join(this.folder, "sprag.db"), "--policy", this.policy, "--socket", join(this.folder, "s.sock")];
    const running = spawn(program, ["serve", ...places, ...this.#extra], { stdio: ["ignore", "pipe", "pipe"] });
    this.#process = running;
    // A test that failed half-way leaves nothing behind.
    const end = () => running.kill();
    process.once("exit", end);
    running.once("exit", () => process.off("exit", end));
    let said = "";
    running.stderr?.on("data", (data: Buffer) => (said = (said + data.toString()).slice(-4000)));
    const read = createInterface({ input: running.stdout });
    const printed = (pattern: RegExp) =>
      new Promise<string>((found, failed) => {
        running.once("exit", (code) => failed(new Error(`sprag serve ended with ${code}: ${said}`)));
        read.on("line", (line) => {
          const match = pattern.exec(line);
          if (match?.[1]) found(match[1]);
        });
      });
    const [printedLink, folder] = await Promise.all([printed(/^operator\s+(\S+)/), own ? printed(/^Everything is in ([^,]+),/) : this.folder]);
    const link = new URL(printedLink);
    this.url = link.origin;
    this.link = link.href;
    this.token = readFileSync(join(folder, "operator.token"), "utf8").trim();
  }

  async stop(): Promise<void> {
    const running = this.#process;
    if (!running || running.exitCode !== null) return;
    const ended = new Promise((done) => running.once("exit", done));
    running.kill("SIGTERM");
    await ended;
  }

  async end(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Tells events one after the other, in the operator's role, and answers the verdicts. */
  async tell(events: WireEvent[]): Promise<Answer[]> {
    const verdicts: Answer[] = [];
    for (const event of events) verdicts.push(await this.#post("/v1/check", JSON.stringify(event), "application/json").then((answer) => answer.json() as Promise<Answer>));
    return verdicts;
  }

  /** Many events at once, as JSON lines. */
  async tellMany(events: WireEvent[]): Promise<number> {
    const lines = events.map((event) => JSON.stringify(event)).join("\n");
    const answer = await this.#post("/v1/check/batch", `${lines}\n`, "application/x-ndjson");
    return (await answer.text()).trim().split("\n").length;
  }

  async get(path: string): Promise<unknown> {
    const answer = await fetch(this.url + path, { headers: { authorization: `Bearer ${this.token}` } });
    return answer.json();
  }

  /** A token as `sprag token add` makes it. */
  async addToken(name: string, role: string): Promise<string> {
    const run = promisify(execFile);
    const made = await run(binary() ?? "sprag", ["token", "add", "--role", role, "--name", name, "--db", join(this.folder, "sprag.db")]);
    return made.stdout.trim();
  }

  async put(path: string, body: unknown): Promise<void> {
    const headers = { authorization: `Bearer ${this.token}`, "content-type": "application/json" };
    const answer = await fetch(this.url + path, { method: "PUT", headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  }

  async #post(path: string, body: string, type: string): Promise<Response> {
    const headers = { authorization: `Bearer ${this.token}`, "content-type": type };
    const answer = await fetch(this.url + path, { method: "POST", headers, body });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  }

  /** A new link, as `sprag open` prints it. */
  async newLink(): Promise<string> {
    const answer = await this.#post("/v1/login/code", "", "application/json");
    return ((await answer.json()) as { link: string }).link;
  }

  /** Opens a page as the operator, by a link. */
  async open(page: Page, path = "/"): Promise<void> {
    await usePageOnDisk(page);
    await page.goto(await this.newLink());
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    if (path !== "/") await page.goto(this.url + path);
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
  }
}

/** With SPRAG_WEB_DIST the page comes from that folder instead of the binary: for trying without a new build. */
async function usePageOnDisk(page: Page): Promise<void> {
  const folder = process.env["SPRAG_WEB_DIST"];
  if (!folder) return;
  await page.route("**/*", async (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname.startsWith("/v1/")) return route.fallback();
    const name = pathname.startsWith("/assets/") ? pathname.slice(1) : "index.html";
    return route.fulfill({ path: join(folder, name) });
  });
}

export const test = base.extend<{ server: SpragServer }>({
  server: async ({}, use, info) => {
    if (binary() === null && !IN_CI) {
      console.warn(`SKIPPED, there is no sprag binary: ${info.title}`);
      info.skip();
    }
    const server = new SpragServer();
    await server.start();
    await use(server);
    await server.end();
  },
});

export { expect } from "@playwright/test";
