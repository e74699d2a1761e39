// The client against the real guard: what each method sends, and what comes back.
import assert from "node:assert/strict";
import { test } from "node:test";
import { EventRejected, Guard, Refused, SetupError, Verdict } from "sprag";
import { cleanId, encode } from "../lib/esm/events.js";
import { withGuards } from "./real-guard.mjs";

const DELETE = ["delete_asset", { asset_id: "fact_sales" }];
const isError = (event) => Boolean(event.outcome?.is_error);

test("the third delete of one asset kills the session", withGuards(async (place) => {
  const session = place.guard().session("s1", { agent: "cleaner" });
  const decisions = [];
  let call;
  for (let count = 0; count < 4; count++) {
    call = await session.call(...DELETE);
    decisions.push(call.verdict.decision);
    if (!call.refused) await call.result("still there", { isError: true });
  }
  assert.deepEqual(decisions, ["allow", "warn", "kill", "kill"]);
  assert.equal(call.verdict.code, "session_killed_loop_guard");
  assert.ok(call.verdict.stops && call.verdict.refused);
  assert.throws(() => call.throwIfRefused(), (error) => error instanceof Refused && error.message.startsWith("sprag: ") && error.verdict.decision === "kill");
}));

test("call.run reports its result and its error", withGuards(async (place) => {
  const session = place.guard().session("s1");
  assert.equal(await (await session.call("read", { path: "a" })).run(() => "text"), "text");
  await assert.rejects(async () => (await session.call("read", { path: "b" })).run(() => { throw new TypeError("disk on fire"); }), /disk on fire/);
  assert.equal(await (await session.call("touch", { path: "c" })).run(async () => undefined), undefined);
  const steps = (await place.records()).map((record) => record.event).filter((event) => event.type === "step");
  assert.deepEqual(steps.map(isError), [false, true, false]);
}));

test("a refused call does not run and reports no step", withGuards(async (place) => {
  const session = place.guard({ policy: place.policy({ access: { deny: ["rm"] } }) }).session("s1");
  let ran = false;
  await assert.rejects(async () => (await session.call("rm", { path: "/" })).run(() => (ran = true)), Refused);
  assert.equal(ran, false);
  assert.deepEqual((await place.records()).map((record) => record.event.type), ["call"]);
}));

test("a guarded function is a tool of the current session", withGuards(async (place) => {
  const guard = place.guard();
  const read = guard.tool(function read({ path, lines = 10 }) { return `${path} ${lines}`; });
  const fails = guard.tool(async () => { throw new RangeError("x"); }, "other");
  await guard.session("s1").run(async () => {
    assert.equal(await read({ path: "a" }), "a 10");
    await assert.rejects(fails(), RangeError);
  });
  assert.equal(await read({ path: "b", lines: 2 }), "b 2");
  const calls = (await place.records()).map((record) => record.event).filter((event) => event.type === "call");
  assert.deepEqual(calls.map((event) => [event.approach.tool, event.session === "s1"]), [["read", true], ["other", true], ["read", false]]);
}));

test("a warning stands next to a text and never instead of it", withGuards(async (place) => {
  const guard = place.guard();
  const deleteAsset = guard.tool(({ asset_id }) => `${asset_id} gone`, "delete_asset");
  await guard.session("s1").run(async () => {
    assert.equal(await deleteAsset({ asset_id: "a" }), "a gone");
    assert.match(await deleteAsset({ asset_id: "a" }), /^a gone\n\nsprag: /);
  });
}));

test("messages, spawns and the user's words are one flow", withGuards(async (place) => {
  const guard = place.guard();
  const lead = guard.session("lead", { agent: "lead" });
  assert.equal((await lead.heard("clean up")).decision, "allow");
  const child = lead.child("coder");
  assert.equal(child.id, "lead/coder");
  assert.equal((await lead.message(child, "do it", { kind: "spawn" })).depth, 2);
  assert.equal((await child.message(lead, "done", { kind: "return" })).decision, "allow");
  assert.equal((await lead.message("other", "hello")).decision, "allow");
  assert.equal((await lead.message("lead", "hello")).rule, "flow.self_call");
  assert.equal(new Set((await place.records()).map((record) => record.event.flow)).size, 1);
}));

test("the same words twice are a program and lift no block", withGuards(async (place) => {
  const session = place.guard().session("s1");
  const events = ["go", "go", "stop"].map((words) => session.heardEvent(words));
  assert.deepEqual(events.map((event) => event.unblock), [true, undefined, true]);
  assert.deepEqual(events.map((event) => event.source), [undefined, "applet", undefined]);
}));

test("usage counts for the budget", withGuards(async (place) => {
  const session = place.guard({ policy: place.policy({ budget: { tokens: { session: 100 } } }) }).session("s1");
  assert.equal((await session.usage({ inputTokens: 40, outputTokens: 10 })).decision, "allow");
  assert.equal((await session.usage({ inputTokens: 40, outputTokens: 20, model: "m" })).decision, "block");
  assert.ok((await session.call("read")).refused);
}));

test("the same words of the model in a row are noticed", withGuards(async (place) => {
  const session = place.guard().session("s1");
  const decisions = [];
  for (let count = 0; count < 5; count++) decisions.push((await session.output("I will now look at the file.")).decision);
  assert.deepEqual(decisions, ["allow", "allow", "warn", "warn", "block"]);
  assert.ok((await session.call("read")).refused);
}));

test("a person is asked and the answer counts", withGuards(async (place) => {
  const asked = [];
  const onAsk = async (question) => {
    asked.push(question.args);
    return question.args.asset_id === "c";
  };
  const policy = place.policy({ rules: { "destructive.volume": "ask", "destructive.target": "off" } });
  const session = place.guard({ policy, onAsk }).session("s1");
  const decisions = [];
  for (const asset_id of "abcd") decisions.push((await session.call("delete_asset", { asset_id })).verdict.decision);
  assert.deepEqual(decisions.slice(2), ["allow", "deny"]);
  assert.deepEqual(asked, [{ asset_id: "c" }, { asset_id: "d" }]);
}));

test("what is not an event is an error of its own", withGuards(async (place) => {
  const guard = place.guard();
  await assert.rejects(guard.check({ type: "dance" }), EventRejected);
  await place.serve();
  await assert.rejects(place.guard().check({ type: "dance" }), EventRejected);
}));

test("odd names and payloads are still judged", withGuards(async (place) => {
  const session = place.guard().session("a\tb\ud800", { agent: "x".repeat(1000) });
  const cycle = { n: NaN, big: 2n ** 70n, set: new Set([1]), map: new Map([["a", 1]]), bytes: new Uint8Array(9), lone: "\ud800" };
  cycle.self = cycle;
  for (const args of [cycle, () => 1, Symbol("s"), undefined, null, { toJSON() { throw new Error("no"); } }]) {
    const call = await session.call("", args);
    assert.ok(call.verdict.checked && !call.refused);
    assert.ok((await call.result(args)).checked);
  }
  assert.equal(session.id, "a\ufffdb\ufffd");
  assert.ok(Buffer.byteLength(session.agent) <= 256);
  assert.equal(cleanId(""), "(empty)");
}));

test("a large payload is sent as its digest and stays equal to itself", () => {
  const event = { type: "step", session: "s", result: "x".repeat(5_000_000) };
  assert.ok(encode(event).length < 1000);
  assert.deepEqual(encode(event), encode({ ...event }));
  assert.notDeepEqual(encode(event), encode({ ...event, result: "y".repeat(5_000_000) }));
});

test("a verdict that this version does not know refuses", () => {
  assert.ok(Verdict.parse({ verdict: "quarantine" }).refused);
});

test("wrong arguments are told at once", () => {
  assert.throws(() => Guard.inMemory({ fail: "ajar" }), /fail must be/);
  assert.throws(() => new Guard({ token: "t" }), /name it with url/);
  assert.throws(() => new Guard({ url: "http://guard.example:1", token: "t" }), /unencrypted/);
  assert.throws(() => new Guard({ url: "https://user:secret@guard.example", token: "t" }), /no place in url/);
  assert.throws(() => new Guard({ url: "ftp://guard.example" }), /must look like/);
  assert.throws(() => new Guard({ url: "https://guard.example", db: "x" }), SetupError);
});
