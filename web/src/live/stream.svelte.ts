// The live stream of records. It may bring a thousand a second, so what arrives is only put on a pile;
// once a frame the pile is read and handed out in one piece. After a break it goes on where it was.
import type { LogRecord } from "../api/shapes.ts";
import { address, request } from "../api/client.ts";
import { EventBuffer } from "./event_buffer.ts";
import { readEvents, type StreamEvent } from "./event_stream.ts";

export type Status = "connecting" | "live" | "lost";

const MOST_WAITING = 5000;
const FRAME_MS = 8;

type Listener = (records: LogRecord[]) => void;

class Stream {
  status = $state<Status>("connecting");
  /** Records that were not read because more came than the page can show. */
  missed = $state(0);
  /** When the next try comes, while it is lost. */
  retryAt = $state(0);
  /** Grows each time the line is there again after a break: pages then load anew. */
  returns = $state(0);
  /** How many records came in the last second. */
  rate = $state(0);

  #connection: AbortController | null = null;
  #pile = new EventBuffer(MOST_WAITING);
  #listeners = new Set<Listener>();
  #last = 0;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #frame = 0;
  #second = { at: 0, seen: 0 };

  start(): void {
    if (!this.#connection && this.#timer === undefined) void this.#connect();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#connection?.abort();
    this.#connection = null;
    this.status = "connecting";
  }

  retryNow(): void {
    this.stop();
    void this.#connect();
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #connect(): Promise<void> {
    this.#timer = undefined;
    const connection = new AbortController();
    this.#connection = connection;
    try {
      const answer = await request("GET", address("/v1/stream", { after: this.#last || undefined }), undefined, connection.signal);
      if (this.status === "lost") this.returns += 1;
      this.status = "live";
      this.#failures = 0;
      if (answer.body) await readEvents(answer.body, (event) => this.#take(event));
    } catch {
      // Refused, cut or given up: all the same here. Who is not logged in any more is told by `request`.
    }
    this.#lose(connection);
  }

  #take(event: StreamEvent): void {
    if (event.type === "record") {
      this.#last = Number(event.id) || this.#last;
      this.#pile.push(event.data);
      this.#soon();
    } else if (event.type === "missed") {
      this.missed += (JSON.parse(event.data) as { missed: number }).missed;
      this.returns += 1;
    }
  }

  /** Tries again after a while, longer each time; not if the connection was ended on purpose. */
  #lose(connection: AbortController): void {
    if (this.#connection !== connection) return;
    this.#connection = null;
    this.status = "lost";
    this.#failures += 1;
    const wait = Math.min(500 * 2 ** (this.#failures - 1), 10_000);
    this.retryAt = Date.now() + wait;
    this.#timer = setTimeout(() => void this.#connect(), wait);
  }

  #soon(): void {
    if (this.#frame) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      const { records, left } = this.#pile.take(FRAME_MS);
      this.missed += this.#pile.takeDropped();
      this.#measure(records.length);
      for (const listener of this.#listeners) listener(records);
      if (left) this.#soon();
    });
  }

  #measure(seen: number): void {
    const now = performance.now();
    this.#second.seen += seen;
    if (now - this.#second.at < 1000) return;
    this.rate = Math.round((this.#second.seen * 1000) / Math.max(1000, now - this.#second.at));
    this.#second = { at: now, seen: 0 };
  }
}

export const stream = new Stream();
