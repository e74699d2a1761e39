// An answer of the server that is kept up by the stream: when a record comes that matters to it, it is asked for again,
// at most once in a while. Where nothing happens, nothing is asked.
import { words } from "../api/client.ts";
import type { LogRecord } from "../api/shapes.ts";
import { stream } from "./stream.svelte.ts";

const PAUSE_MS = 1500;

export class LiveQuery<T> {
  value = $state.raw<T | null>(null);
  trouble = $state<string | null>(null);
  #ask: (signal: AbortSignal) => Promise<T>;
  #matters: (record: LogRecord) => boolean;
  #asking = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stale = false;

  constructor(ask: (signal: AbortSignal) => Promise<T>, matters: (record: LogRecord) => boolean = () => true) {
    this.#ask = ask;
    this.#matters = matters;
  }

  /** For an effect: asks, and asks again when what the question reads changes or the line was broken. */
  follow(): () => void {
    void stream.returns;
    void this.load();
    const stop = stream.listen((records) => {
      if (records.some((record) => this.#matters(record))) this.#soon();
    });
    const shown = () => {
      if (!document.hidden && this.#stale) this.#soon();
    };
    document.addEventListener("visibilitychange", shown);
    return () => {
      stop();
      document.removeEventListener("visibilitychange", shown);
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#asking.abort();
    };
  }

  async load(): Promise<void> {
    this.#asking.abort();
    const asking = new AbortController();
    this.#asking = asking;
    this.#stale = false;
    try {
      const value = await this.#ask(asking.signal);
      if (asking.signal.aborted) return;
      this.value = value;
      this.trouble = null;
    } catch (error) {
      if (!asking.signal.aborted) this.trouble = words(error);
    }
  }

  #soon(): void {
    this.#stale = true;
    if (document.hidden || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.load();
    }, PAUSE_MS);
  }
}

/** Whether a record is a stop, an order, or a person's word on one. */
export function changesStops(record: LogRecord): boolean {
  const { event, verdict, note } = record;
  if (note) return note.note === "stop_marked_wrong";
  return event?.type === "kill" || event?.type === "reset" || (verdict !== undefined && ["ask", "deny", "block", "kill"].includes(verdict.verdict)) || verdict?.would != null;
}
