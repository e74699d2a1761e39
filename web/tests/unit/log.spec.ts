import { expect, test } from "@playwright/test";
import type { LogRecord, SearchPage } from "../../src/api/shapes.ts";
import { follow } from "../../src/log/search.ts";
import { stamp } from "../../src/text/amounts.ts";
import { prose } from "../../src/text/prose.ts";

const record = (seq: number) => ({ seq }) as LogRecord;

/** A log of 300,000 records, newest first, of which the server looks at 20,000 for one answer. */
function server(matching: number[]): (after: number | null) => Promise<SearchPage> {
  return (after) => {
    const from = (after ?? 300_001) - 1;
    const to = Math.max(1, from - 19_999);
    const items = matching.filter((seq) => seq <= from && seq >= to).map(record);
    return Promise.resolve({ items, next: to === 1 ? null : to, scanned: from - to + 1 });
  };
}

test("a search goes on past the first 20,000 records, tells how far it is, and finds", async () => {
  const told: number[] = [];
  const found = await follow(server([150_000, 7]), null, 200, ({ scanned }) => told.push(scanned) > 0);
  expect(found).toEqual({ items: [record(150_000), record(7)], next: null });
  expect(told.at(0)).toBe(20_000);
  expect(told.at(-1)).toBe(300_000);
});

test("a search ends with a full page, or when nobody waits for it any more", async () => {
  const many = Array.from({ length: 500 }, (_, n) => 290_000 - n);
  expect((await follow(server(many), null, 200, () => true)).next).toBe(280_001);
  expect(await follow(server([7]), null, 200, ({ scanned }) => scanned < 40_000)).toEqual({ items: [], next: 260_001 });
});

test("rows of another day carry their date", () => {
  const at = new Date(2026, 10, 3, 14, 3, 7).getTime();
  expect(stamp(at, at + 1000)).toBe("14:03:07");
  expect(stamp(at, at + 3 * 86_400_000)).toBe("3 Nov 14:03:07");
});

test("backticks in Sprag's own sentences mark code and are not shown", () => {
  expect(prose("set `a.b` to 3")).toEqual([{ text: "set ", code: false }, { text: "a.b", code: true }, { text: " to 3", code: false }]);
  expect(prose("a ` alone")).toEqual([{ text: "a ` alone", code: false }]);
  expect(prose("`x`")).toEqual([{ text: "x", code: true }]);
});
