// Searching the log: the server looks at so many records for one answer, so an answer may be empty though
// older records match. The search goes on from where that answer ended, until it has found a page.
import type { LogRecord, SearchPage } from "../api/shapes.ts";

export interface Progress {
  /** How many records were looked at so far. */
  scanned: number;
  found: number;
}

/** Asks page after page until `wanted` records are found or the log ends; tells how far it is in between. */
export async function follow(ask: (after: number | null) => Promise<SearchPage>, after: number | null, wanted: number, tell: (progress: Progress) => boolean): Promise<{ items: LogRecord[]; next: number | null }> {
  const items: LogRecord[] = [];
  let next = after;
  let scanned = 0;
  for (;;) {
    const page = await ask(next);
    items.push(...page.items);
    next = page.next;
    scanned += page.scanned;
    const goesOn = tell({ scanned, found: items.length });
    if (!goesOn || next === null || items.length >= wanted) return { items, next };
  }
}
