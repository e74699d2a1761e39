/**
 * A `sprag` process of our own: an event a line to it, a verdict a line back.
 *
 * It ends with its standard input, so it can't outlive this program, however this program ends. One question is on
 * the way at a time, so that a question and its answer stay together. While none is, the process does not keep this
 * program from ending.
 */

import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
import type { Link } from "./core.js";
import { EventRejected, NoVerdict, SetupError } from "./errors.js";
import { binary } from "./place.js";
import type { Raw } from "./verdict.js";
import { isCompatible, VERSION } from "./version.js";

/** How much of what the child writes to its standard error is kept, for the reason why it ended. */
const KEPT_STDERR = 4096;
const MAX_ANSWER = 16 * 1024 * 1024;
/** How long the first answer of a new process may take: it has to start and to open its store. */
const START_MS = 10_000;

interface Running {
  process: ChildProcessWithoutNullStreams;
  /** Where the answer to the running question goes; none means that the process ended. */
  answer: ((line: string | undefined) => void) | undefined;
  out: string;
  stderr: string;
  ended: boolean;
  /** That the process is gone and everything of it was read. */
  closed: Promise<void>;
}

/** Asks a child process, and starts another one if it died. */
export class Child implements Link {
  readonly #arguments: readonly string[];
  readonly #timeoutMs: number;
  #program: Promise<string> | undefined;
  #running: Running | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #starts = 0;

  constructor(args: readonly string[], timeoutMs: number) {
    this.#arguments = args;
    this.#timeoutMs = timeoutMs;
  }

  /** How many processes were started. */
  get starts(): number {
    return this.#starts;
  }

  /** The id of the process that runs, if one does. */
  get pid(): number | undefined {
    return this.#running?.process.pid;
  }

  /** Finds the binary and asks for its version, once. Throws `SetupError`. */
  async verify(): Promise<void> {
    this.#program ??= verifiedBinary();
    await this.#program;
  }

  async ask(line: Buffer): Promise<Raw> {
    const deadline = Date.now() + this.#timeoutMs;
    const answer = await this.#inTurn(() => this.#exchange(line, deadline));
    if ("verdict" in answer) return answer;
    const error = answer["error"] as { message?: string } | undefined;
    throw new EventRejected(error?.message ?? "not an event");
  }

  async close(): Promise<void> {
    await this.#inTurn(() => this.#stop(false));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#queue.then(work, work);
    this.#queue = mine.catch(() => undefined);
    return mine;
  }

  async #exchange(line: Buffer, deadline: number): Promise<Raw> {
    if (Date.now() >= deadline) throw new NoVerdict(`the sprag process was busy for ${this.#timeoutMs} ms`);
    await this.verify();
    let reason = "";
    // A process that died before it answered is replaced once, and asked again: it may have died long ago.
    for (let attempt = 0; attempt < 2; attempt++) {
      const isNew = this.#running === undefined || this.#running.ended;
      const running = isNew ? await this.#start() : this.#running!;
      const patience = isNew ? Math.max(deadline, Date.now() + START_MS) : deadline;
      const text = await converse(running, line, patience);
      if (text === "timeout") {
        // Its late answer would be taken for that of the next question.
        await this.#stop(true);
        throw new NoVerdict("the sprag process did not answer in time");
      }
      if (text !== undefined) return await this.#parsed(text.line);
      await running.closed;
      reason = running.stderr.trim().split("\n")[0] ?? "";
      await this.#stop(true);
    }
    throw new NoVerdict(`the sprag process ended${reason ? `: ${reason}` : ""}`);
  }

  async #parsed(line: string): Promise<Raw> {
    try {
      return JSON.parse(line) as Raw;
    } catch {
      await this.#stop(true);
      throw new NoVerdict("the sprag process answered something that is not JSON");
    }
  }

  async #start(): Promise<Running> {
    await this.#stop(true);
    // Ctrl-C is for this program, so the child gets a session of its own; it ends when its input does.
    const process = spawn(await this.#program!, this.#arguments, { stdio: "pipe", detached: true });
    this.#starts += 1;
    this.#running = watched(process);
    return this.#running;
  }

  async #stop(now: boolean): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (running === undefined) return;
    hold(running, true);
    running.process.stdin.end();
    if (now) running.process.kill("SIGKILL");
    const late = setTimeout(() => running.process.kill("SIGKILL"), 1000);
    await running.closed;
    clearTimeout(late);
  }
}

function watched(process: ChildProcessWithoutNullStreams): Running {
  let close: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => (close = resolve));
  const running: Running = { process, answer: undefined, out: "", stderr: "", ended: false, closed };
  const end = (): void => {
    running.ended = true;
    running.answer?.(undefined);
    close();
  };
  process.once("close", end);
  process.once("error", (error) => {
    running.stderr += `${process.spawnfile} can't be started: ${error.message}`;
    end();
  });
  process.once("exit", () => (running.ended = true));
  process.stdin.on("error", () => undefined); // what it still has to say tells why
  process.stdout.setEncoding("utf8");
  process.stdout.on("data", (chunk: string) => {
    running.out += chunk;
    if (running.out.length > MAX_ANSWER) process.kill("SIGKILL");
    const at = running.out.indexOf("\n");
    if (at < 0 || running.answer === undefined) return;
    const line = running.out.slice(0, at);
    running.out = running.out.slice(at + 1);
    running.answer(line);
  });
  process.stderr.setEncoding("utf8");
  process.stderr.on("data", (chunk: string) => (running.stderr = (running.stderr + chunk).slice(0, KEPT_STDERR)));
  hold(running, false);
  return running;
}

/** Writes the line and reads one; none if the process ended before it answered. */
async function converse(running: Running, line: Buffer, deadline: number): Promise<{ line: string } | "timeout" | undefined> {
  hold(running, true);
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve) => {
      timer = setTimeout(() => resolve("timeout"), Math.max(1, deadline - Date.now()));
      running.answer = (text) => resolve(text === undefined ? undefined : { line: text });
      if (running.ended) return resolve(undefined);
      running.process.stdin.write(Buffer.concat([line, Buffer.from("\n")]));
    });
  } finally {
    clearTimeout(timer);
    running.answer = undefined;
    hold(running, false);
  }
}

/** Whether the process keeps this program from ending. */
function hold(running: Running, isHeld: boolean): void {
  const { process } = running;
  for (const held of [process, process.stdin, process.stdout, process.stderr]) {
    const handle = held as { ref?: () => void; unref?: () => void };
    if (isHeld) handle.ref?.();
    else handle.unref?.();
  }
}

/** The binary of this package's version. Throws `SetupError` if there is none, or one of another version. */
async function verifiedBinary(): Promise<string> {
  const path = binary();
  const [error, stdout] = await new Promise<[Error | null, string]>((resolve) => {
    execFile(path, ["--version"], { timeout: 10_000 }, (failed, out) => resolve([failed, out]));
  });
  const [name, version] = stdout.split(/\s+/);
  if (name !== "sprag" || !version) {
    const why = error ? error.message : `\`--version\` answered '${stdout.slice(0, 80)}'`;
    throw new SetupError(`${path} is not a sprag binary: ${why}`);
  }
  if (!isCompatible(version)) {
    throw new SetupError(`${path} is sprag ${version}, this package is ${VERSION}; install the same version of both`);
  }
  return path;
}
