import { expect, test } from "@playwright/test";
import type { Change, Decision, LogRecord, Observed, Trial } from "../../src/api/shapes.ts";
import { WhatIfOverlay } from "../../src/replay/what_if_overlay.ts";
import { rowsOf } from "../../src/replay/timeline_rows.ts";
import { Timeline } from "../../src/replay/timeline.ts";
import { readTrialLimits, valueInForce, wire, writeTrialLimits } from "../../src/replay/trial_limits.ts";
import { clamped, following, zoomed } from "../../src/replay/viewport.ts";

let seq = 0;
function record(event: Observed, verdict: Decision = "allow", rule: string | null = null): LogRecord {
  seq += 1;
  const whole = { verdict, rule, code: null, message: null, evidence: null, hint: null, also: [], would: null, flow: null, depth: null, generation: 1, retry_after_ms: null };
  return { seq, at: seq * 1000, event, verdict: whole, policy: "", rules_version: 1, prev: "", hash: "" };
}

function call(id: string, exact: string, verdict: Decision = "allow"): LogRecord {
  return record({ type: "call", session: "s", id, approach: { tool: "delete", exact, normal: exact } }, verdict, verdict === "allow" ? null : "destructive.volume");
}

function step(id: string, outcome: string): LogRecord {
  return record({ type: "step", session: "s", id, outcome: { exact: outcome, normal: outcome, is_error: true } });
}

function loop(): Timeline {
  seq = 0;
  const timeline = new Timeline("s");
  timeline.append([call("1", "a"), step("1", "x"), call("2", "a", "warn"), step("2", "x"), call("3", "b"), step("3", "x"), call("4", "a", "kill")]);
  return timeline;
}

test("equal calls are tied together and counted", () => {
  const timeline = loop();
  expect(timeline.loops(5)).toEqual([{ group: 0, name: "delete", count: 3 }]);
  expect(timeline.repetition(2)).toEqual({ nth: 2, of: 3 });
  expect(timeline.repetition(4)).toBeNull();
  expect([timeline.again(0, 1), timeline.again(2, 1), timeline.again(6, 1), timeline.again(6, -1)]).toEqual([2, 6, null, 2]);
});

test("warnings and refusals can be stepped through", () => {
  const timeline = loop();
  expect(timeline.alarms).toEqual([2, 6]);
  expect([timeline.alarm(0, 1), timeline.alarm(2, 1), timeline.alarm(6, 1), timeline.alarm(6, -1)]).toEqual([2, 6, null, 2]);
});

test("the moment of a stop is found, whoever stopped it", () => {
  const timeline = loop();
  expect([timeline.stopAt(7000), timeline.stopAt(3000), timeline.stopAt(1)]).toEqual([6, null, null]);
  timeline.append([record({ type: "kill", session: "s", by: "ann" })]);
  expect(timeline.stopAt(8000)).toBe(7);
});

test("an event is taken once, in order, and only where it concerns the session", () => {
  const timeline = loop();
  const before = timeline.length;
  expect(timeline.append([call("5", "c")].map((one) => ({ ...one, seq: 3 })))).toBe(0);
  expect(timeline.append([record({ type: "call", session: "other", approach: { exact: "a", normal: "a" } })])).toBe(0);
  expect(timeline.append([record({ type: "message", from: "other", to: "s" })])).toBe(1);
  expect([timeline.length, timeline.lane.at(-1)]).toEqual([before + 1, 2]);
});

test("a place in the log is found, also between two events", () => {
  const timeline = loop();
  expect([0, 1, 4, 100].map((at) => timeline.indexOf(at))).toEqual([0, 0, 3, 6]);
  expect(new Timeline("s").indexOf(5)).toBe(0);
});

test("the rows show only lanes that hold something", () => {
  const { rows } = rowsOf(loop(), true);
  expect(rows.map((row) => row.kind + (row.kind === "lane" ? ` ${row.label}` : ""))).toEqual(["arcs", "lane Calls", "lane Results", "loop", "ghost"]);
});

test("fifty thousand events fit and are counted", () => {
  seq = 0;
  const timeline = new Timeline("s");
  const many = Array.from({ length: 50_000 }, (_, n) => call(`c${n}`, `tool ${n % 7}`, n % 1000 === 999 ? "deny" : "allow"));
  timeline.append(many);
  expect(timeline.loops(5).map((one) => one.count)).toEqual([7143, 7143, 7143, 7143, 7143]);
  expect(timeline.alarms).toHaveLength(50);
});

function trial(changes: Partial<Change>[], stop: Trial["stop"] = null, more = 0): Trial {
  const none = { events: 0, verdicts: {}, rules: {}, stopped: [] };
  const whole = changes.map((change) => ({ seq: 0, at: 0, session: "s", type: "call", object: null, was: "allow" as const, was_rule: null, would: null, would_rule: null, message: null, ...change }));
  return { was: none, would: none, saved: 1, stop, unknown: 0, changes: whole, changed: whole.length + more, folded: 7, approximate: false };
}

test("the overlay says what changes, what is saved and where it stops", () => {
  const overlay = new WhatIfOverlay(loop(), trial([{ seq: 3, would: "kill", would_rule: "destructive.volume" }, { seq: 4 }], { seq: 3, saved: 4, until: null }));
  expect([overlay.stop, overlay.changes()]).toEqual([2, [2]]);
  expect([0, 1, 2, 3, 6].map((n) => overlay.verdict(n))).toEqual([0, 0, 5, -1, -1]);
  expect([0, 2, 3, 6].map((n) => overlay.saved(n))).toEqual([false, false, true, true]);
});

test("what follows a would-be stop is saved up to the next reset, listed or not", () => {
  const timeline = loop();
  timeline.append([record({ type: "message", to: "s" }), record({ type: "reset", session: "s" }), call("9", "z")]);
  const overlay = new WhatIfOverlay(timeline, trial([{ seq: 3, would: "block" }], { seq: 3, saved: 4, until: 9 }, 100));
  expect([3, 6, 7, 8, 9].map((n) => overlay.saved(n))).toEqual([true, true, false, false, false]);
});

test("a change of somebody else's event is no ghost here", () => {
  const overlay = new WhatIfOverlay(loop(), trial([{ seq: 999, would: "kill" }]));
  expect([overlay.stop, overlay.changes()]).toEqual([null, []]);
});

test("tried limits survive the address", () => {
  const tried = { "flow.max_depth": 3, "flow.max_duration": 2 };
  expect(readTrialLimits(writeTrialLimits(tried))).toEqual(tried);
  expect(readTrialLimits("flow.max_depth:x,<script>:1,a:-1,,call.repeat:6.6")).toEqual({ "call.repeat": 7 });
  expect(wire(tried)).toEqual({ "flow.max_depth": 3, "flow.max_duration": "2m" });
});

test("the value in force is a number, a duration counts in minutes", () => {
  const values = new Map<string, number | string>([["flow.max_depth", 5], ["flow.max_duration", "5m"], ["budget.tokens.flow", "off"]]);
  expect(["flow.max_depth", "flow.max_duration", "budget.tokens.flow", "call.repeat"].map((key) => valueInForce(values, key))).toEqual([5, 5, null, null]);
});

test("the view stays inside of the session and follows the cursor", () => {
  expect(clamped({ from: 95, span: 50 }, 100)).toEqual({ from: 50, span: 50 });
  expect(clamped({ from: -5, span: 500 }, 100)).toEqual({ from: 0, span: 100 });
  expect(clamped({ from: 3, span: 50 }, 5)).toEqual({ from: 0, span: 12 });
  expect(zoomed({ from: 0, span: 100 }, 0.5, 50, 1000)).toEqual({ from: 25, span: 50 });
  const view = { from: 0, span: 40 };
  expect(following(view, 20, 1000)).toBe(view);
  expect(following(view, 500, 1000)).toEqual({ from: 470, span: 40 });
});
