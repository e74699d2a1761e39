import { expect, test } from "@playwright/test";
import type { Decision, LogRecord, Stats } from "../../src/api/shapes.ts";
import { EventBuffer } from "../../src/live/event_buffer.ts";
import { EventParser } from "../../src/live/event_stream.ts";
import { fits } from "../../src/log/query.ts";
import { evenly, grown, joined, sums } from "../../src/overview/history.ts";

function record(seq: number, at: number, verdict: Decision, rule: string | null = null): LogRecord {
  const whole = { verdict, rule, code: null, message: null, evidence: null, hint: null, also: [], would: null, flow: null, depth: null, generation: 1, retry_after_ms: null };
  return { seq, at, event: { type: "call", session: "s" }, verdict: whole, policy: "", rules_version: 1, prev: "", hash: "" };
}

test("a pile is bounded and says how many it gave up", () => {
  const pile = new EventBuffer(10);
  for (let n = 1; n <= 25; n += 1) pile.push(JSON.stringify({ seq: n }));
  const { records, left } = pile.take(1000);
  expect(records.map((entry) => entry.seq)).toEqual([11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25]);
  expect([left, pile.takeDropped(), pile.takeDropped()]).toEqual([false, 10, 0]);
});

test("a pile stops reading when its time is up, and goes on where it was", () => {
  const pile = new EventBuffer(1000);
  for (let n = 0; n < 100; n += 1) pile.push(JSON.stringify({ seq: n }));
  let now = 0;
  const first = pile.take(10, () => (now += 6));
  expect(first.left).toBe(true);
  const rest = pile.take(1000, () => 0);
  expect([...first.records, ...rest.records].map((entry) => entry.seq)).toEqual(Array.from({ length: 100 }, (_, n) => n));
});

test("what is no JSON does not stop the pile", () => {
  const pile = new EventBuffer(10);
  pile.push("{");
  pile.push(`{"seq":1}`);
  expect(pile.take(10).records).toEqual([{ seq: 1 }]);
});

const EMPTY: Stats = { step_ms: 10, from: 0, to: 100, buckets: [] };

test("records grow the newest bucket and open new ones", () => {
  const stats = grown(EMPTY, [record(1, 95, "allow"), record(2, 99, "kill", "destructive.volume"), record(3, 112, "deny", "flow.rate")]);
  expect(stats.buckets.map((bucket) => [bucket.at, bucket.verdicts])).toEqual([
    [90, { allow: 1, kill: 1 }],
    [100, {}],
    [110, { deny: 1 }],
  ]);
  expect([stats.from, stats.to]).toEqual([12, 112]);
  expect(sums(stats)).toMatchObject({ events: 3, refused: 2, rules: [["destructive.volume", 1], ["flow.rate", 1]] });
});

test("the history before is not changed, and old buckets leave", () => {
  const first = grown(EMPTY, [record(1, 95, "allow")]);
  const later = grown(first, [record(2, 9995, "allow")]);
  expect(first.buckets).toHaveLength(1);
  expect(later.buckets.at(-1)).toMatchObject({ at: 9990, verdicts: { allow: 1 } });
  expect(later.buckets.every((bucket) => bucket.at + 10 > later.from)).toBe(true);
});

test("slots are even in time and can be joined without losing a count", () => {
  const stats = { ...EMPTY, buckets: [{ at: 30, verdicts: { warn: 2 }, rules: { a: 2 }, shadow: {}, events: {} }] };
  const slots = evenly(stats);
  expect(slots.map((slot) => slot.at)).toEqual([0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
  const wide = joined(slots, 4);
  expect(wide.map((slot) => [slot.at, slot.verdicts.warn ?? 0])).toEqual([[0, 0], [30, 2], [60, 0], [90, 0]]);
});

test("a live record is shown only where it answers the question", () => {
  const question = { session: "", agent: "", range: "", rule: "", verdict: "", type: "", since: "", until: "", q: "" };
  const kill = record(1, 1, "kill", "destructive.volume");
  expect(fits(kill, question)).toBe(true);
  expect(fits(kill, { ...question, verdict: "deny,kill", rule: "destructive.volume", type: "call", session: "s" })).toBe(true);
  for (const other of [{ verdict: "deny" }, { rule: "flow.rate" }, { type: "step" }, { session: "t" }]) expect(fits(kill, { ...question, ...other })).toBe(false);
});

test("events of a stream are read however its text is cut", () => {
  const text = ': hello\n\nevent: record\nid: 7\ndata: {"a":1}\n\nevent: missed\r\ndata: one\r\ndata:two\r\n\r\nid: 9\n\n';
  const whole = new EventParser().push(text);
  expect(whole).toEqual([
    { type: "record", id: "7", data: '{"a":1}' },
    { type: "missed", id: "7", data: "one\ntwo" },
  ]);
  for (let cut = 0; cut <= text.length; cut += 1) {
    const parser = new EventParser();
    expect([...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))]).toEqual(whole);
  }
});
