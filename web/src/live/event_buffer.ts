// Records that wait to be read, as the bytes they came in. It is bounded: a page in the background is
// not drawn, and must not grow while nobody looks.
import type { LogRecord } from "../api/shapes.ts";

export class EventBuffer {
  #waiting: string[] = [];
  #dropped = 0;
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  push(text: string): void {
    this.#waiting.push(text);
    // Twice the bound before it is cut, so that cutting costs little for each record.
    if (this.#waiting.length >= 2 * this.#most) {
      this.#dropped += this.#waiting.length - this.#most;
      this.#waiting = this.#waiting.slice(-this.#most);
    }
  }

  /** Reads for about `budget` milliseconds; says whether more is left. */
  take(budget: number, now: () => number = () => performance.now()): { records: LogRecord[]; left: boolean } {
    const end = now() + budget;
    const records: LogRecord[] = [];
    let n = 0;
    for (; n < this.#waiting.length; n += 1) {
      if (n % 32 === 31 && now() > end) break;
      const record = parsed(this.#waiting[n] ?? "");
      if (record) records.push(record);
    }
    this.#waiting = this.#waiting.slice(n);
    return { records, left: this.#waiting.length > 0 };
  }

  /** How many were given up since the last time somebody asked. */
  takeDropped(): number {
    const n = this.#dropped;
    this.#dropped = 0;
    return n;
  }
}

function parsed(text: string): LogRecord | null {
  try {
    return JSON.parse(text) as LogRecord;
  } catch {
    return null;
  }
}
