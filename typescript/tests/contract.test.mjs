// The contract of every adapter, with the real framework and a scripted model: one test for each line of the table in
// docs/typescript.md. A framework that can do something in several ways is tried in each.
import assert from "node:assert/strict";
import { test } from "node:test";
import { withGuards } from "./real-guard.mjs";
import { INPUT_TOKENS, OUTPUT_TOKENS, Tools } from "./script.mjs";

const FRAMEWORK = process.env.FRAMEWORK;
const driver = await import(`./drivers/${FRAMEWORK}.mjs`);
const DENY = { access: { deny: ["forbidden"] } };
const ASK = { rules: { "destructive.volume": "ask", "destructive.target": "off" } };
const DELETE = ["delete_asset", { asset_id: "fact_sales" }];
const of = (records, type) => records.map((record) => record.event).filter((event) => event.type === type);
const deletes = (assets) => [...assets].map((asset_id) => [["delete_asset", { asset_id }]]);

function each(name, work) {
  for (const mode of driver.MODES) {
    test(`${FRAMEWORK}, ${mode}: ${name}`, withGuards((place) => work(place, (guard, turns, tools) => driver.play(guard, turns, tools, mode))));
  }
}

each("allow: an honest call runs and its result is untouched", async (place, play) => {
  const tools = new Tools();
  const outcome = await play(place.guard(), [[["echo", { text: "a" }]], "done"], tools);
  assert.equal(outcome.error, undefined);
  assert.deepEqual(tools.ran, [["echo", "a"]]);
  assert.deepEqual(outcome.results, ["echo a"]);
  assert.deepEqual([outcome.final, outcome.requests], ["done", 2]);
  const records = await place.records();
  assert.deepEqual([of(records, "call").length, of(records, "step").length], [1, 1]);
  assert.equal(of(records, "call")[0].approach.tool, "echo");
  assert.deepEqual([...new Set(records.map((record) => record.sender.role))], ["hook"]);
});

each("warn stands next to the result", async (place, play) => {
  const tools = new Tools();
  const outcome = await play(place.guard(), [[DELETE], [DELETE], "done"], tools);
  assert.equal(tools.ran.length, 2);
  assert.equal(outcome.results[0], "asset still exists");
  assert.match(outcome.results[1], /^asset still exists[\s\S]*sprag: /);
  assert.equal(outcome.final, "done");
});

each("ask refuses and says how a person approves", async (place, play) => {
  const tools = new Tools();
  const outcome = await play(place.guard({ policy: place.policy(ASK) }), [...deletes("abc"), "done"], tools);
  assert.deepEqual(tools.ran.map(([, asset]) => asset), ["a", "b"]);
  assert.match(outcome.results[2], /sprag approve /);
  assert.equal(outcome.final, "done");
});

each("ask runs what the program's own question approves", async (place, play) => {
  const tools = new Tools();
  const guard = place.guard({ policy: place.policy(ASK), onAsk: async (question) => question.tool === "delete_asset" });
  const outcome = await play(guard, [...deletes("abc"), "done"], tools);
  assert.deepEqual(tools.ran.map(([, asset]) => asset), ["a", "b", "c"]);
  assert.equal(outcome.final, "done");
});

each("deny refuses one call and the run goes on", async (place, play) => {
  const tools = new Tools();
  const turns = [[["forbidden", { text: "x" }]], [["echo", { text: "b" }]], "done"];
  const outcome = await play(place.guard({ policy: place.policy(DENY) }), turns, tools);
  assert.deepEqual(tools.ran, [["echo", "b"]]);
  assert.match(outcome.results[0], /sprag: .*forbidden/);
  assert.equal(outcome.results[1], "echo b");
  assert.equal(outcome.final, "done");
});

each("block refuses every further call and lets the model sum up", async (place, play) => {
  const tools = new Tools();
  const turns = Array.from({ length: 7 }, () => [["echo", { text: "same" }]]);
  const outcome = await play(place.guard(), [...turns, "summary"], tools);
  assert.ok(tools.ran.length >= 3 && tools.ran.length < 7);
  assert.match(outcome.results.at(-1), /sprag: /);
  assert.doesNotMatch(outcome.results.at(-1), /echo same/);
  assert.deepEqual([outcome.final, outcome.requests], ["summary", 8]);
});

each("kill ends the run", async (place, play) => {
  const tools = new Tools();
  const outcome = await play(place.guard(), [[DELETE], [DELETE], [DELETE], [["echo", { text: "more" }]], "done"], tools);
  assert.equal(tools.ran.length, 2);
  assert.equal(outcome.requests, 3);
  assert.notEqual(outcome.final, "done");
  assert.match(outcome.text, /sprag: [\s\S]*kill/i);
});

each("four parallel calls are four calls", async (place, play) => {
  const tools = new Tools();
  const outcome = await play(place.guard(), [[..."abcd"].map((text) => ["echo", { text }]), "done"], tools);
  assert.deepEqual(tools.ran.map(([, text]) => text).sort(), [..."abcd"]);
  assert.deepEqual([...outcome.results].sort(), [..."abcd"].map((text) => `echo ${text}`));
  assert.equal(outcome.final, "done");
  const records = await place.records();
  const ids = of(records, "call").map((event) => event.id).sort();
  assert.equal(new Set(ids).size, 4);
  assert.deepEqual(of(records, "step").map((event) => event.id).sort(), ids);
});

each("four parallel calls of which one is refused keep their answers", async (place, play) => {
  const tools = new Tools();
  const calls = [["echo", { text: "a" }], ["forbidden", { text: "x" }], ["echo", { text: "b" }], ["echo", { text: "c" }]];
  const outcome = await play(place.guard({ policy: place.policy(DENY) }), [calls, "done"], tools);
  assert.deepEqual(tools.ran.map(([, text]) => text).sort(), [..."abc"]);
  assert.equal(outcome.results.length, 4);
  assert.equal(outcome.results.filter((result) => result.includes("sprag: ")).length, 1);
  assert.equal(outcome.final, "done");
});

each("a tool that throws is reported and the framework's own handling stays", async (place, play) => {
  const tools = new Tools();
  const outcome = await play(place.guard(), [[["fail", { text: "x" }]], "done"], tools);
  assert.deepEqual(tools.ran, [["fail", "x"]]);
  if (driver.THROWS) assert.match(outcome.error?.message ?? "", /disk on fire/);
  else assert.match(outcome.results[0] ?? "", /error|disk on fire/i);
  assert.deepEqual(of(await place.records(), "step").map((event) => event.outcome.is_error), [true]);
});

for (const fail of ["open", "closed"]) {
  each(`a guard that is away (${fail})`, async (place, play) => {
    const server = await place.serve();
    const lines = [];
    const guard = place.guard({ url: server.url, token: await server.token("hook"), fail, log: (line) => lines.push(line) });
    await guard.ready();
    await server.stop();
    const tools = new Tools();
    const outcome = await play(guard, [[["echo", { text: "a" }]], "done"], tools);
    assert.ok(guard.failures > 0);
    assert.equal(lines.length, 1);
    if (fail === "open") assert.deepEqual([outcome.results, outcome.final], [["echo a"], "done"]);
    else {
      assert.deepEqual(tools.ran, []);
      assert.match(outcome.text, /no verdict from the guard/);
    }
  });
}

each("the user's words and the model's cost are reported", async (place, play) => {
  await play(place.guard(), [[["echo", { text: "a" }]], "done"], new Tools());
  const records = await place.records();
  const heard = of(records, "message").filter((event) => !event.from);
  assert.equal(heard.length, 1);
  const usage = of(records, "usage");
  assert.deepEqual(usage.map((event) => event.tokens), [INPUT_TOKENS + OUTPUT_TOKENS, INPUT_TOKENS + OUTPUT_TOKENS]);
  assert.equal(new Set([heard[0].to, ...of(records, "call").map((event) => event.session), ...usage.map((event) => event.session)]).size, 1);
  if (driver.OUTPUT) assert.equal(of(records, "output").length, 1);
});

each("two runs are two sessions", async (place, play) => {
  const guard = place.guard();
  for (let count = 0; count < 2; count++) await play(guard, [[["echo", { text: "a" }]], "done"], new Tools());
  assert.equal(new Set(of(await place.records(), "call").map((event) => event.session)).size, 2);
});

test(`${FRAMEWORK}: a sub-agent is a spawn and a return of one flow`, withGuards(async (place) => {
  const tools = new Tools();
  const outcome = await driver.playSubAgent(place.guard(), tools);
  assert.equal(outcome.error, undefined);
  assert.deepEqual([outcome.final, tools.ran], ["done", [["echo", "inner"]]]);
  const records = await place.records();
  const spawn = of(records, "message").find((event) => event.kind === "spawn");
  const returned = of(records, "message").find((event) => event.kind === "return");
  assert.ok(spawn.to.startsWith(`${spawn.from}/`), JSON.stringify(spawn));
  assert.deepEqual([returned.from, returned.to, returned.flow], [spawn.to, spawn.from, spawn.flow]);
  assert.ok(of(records, "call").some((event) => event.session === spawn.to));
}));

if (driver.playHandoff) {
  test(`${FRAMEWORK}: a handoff is a message and a ring of them is stopped`, withGuards(async (place) => {
    const outcome = await driver.playHandoff(place.guard(), 30);
    const said = of(await place.records(), "message").filter((event) => event.from);
    assert.equal(new Set(said.map((event) => event.flow)).size, 1, outcome.text);
    assert.deepEqual(new Set(said.map((event) => event.from)), new Set(said.map((event) => event.to)));
    assert.ok(said.length < 30 && outcome.text.includes("sprag: "), outcome.text);
  }));
}

for (const [name, own] of Object.entries(driver).filter(([name]) => name.startsWith("only"))) {
  test(`${FRAMEWORK}: ${name}`, withGuards((place) => own(place)));
}
