// The Vercel AI SDK with a scripted language model of its own specification.
import assert from "node:assert/strict";
import { generateText, isStepCount, streamText, tool, ToolLoopAgent } from "ai";
import { sprag } from "sprag/ai";
import { z } from "zod";
import { INPUT_TOKENS, Outcome, OUTPUT_TOKENS, PROMPT, Tools } from "../script.mjs";

export const MODES = ["generate", "stream", "agent"];
export const THROWS = false;
export const OUTPUT = true;

let ids = 0;

class Scripted {
  specificationVersion = "v4";
  provider = "scripted";
  modelId = "scripted";
  supportedUrls = {};
  prompts = [];

  constructor(turns) {
    this.turns = turns;
  }

  #answer(prompt) {
    this.prompts.push(prompt);
    const turn = this.turns[this.prompts.length - 1];
    const content = typeof turn === "string"
      ? [{ type: "text", text: turn }]
      : turn.map(([toolName, input]) => ({ type: "tool-call", toolCallId: `call_${ids++}`, toolName, input: JSON.stringify(input) }));
    const usage = {
      inputTokens: { total: INPUT_TOKENS, noCache: INPUT_TOKENS, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: OUTPUT_TOKENS, text: OUTPUT_TOKENS, reasoning: 0 },
    };
    const unified = typeof turn === "string" ? "stop" : "tool-calls";
    return { content, usage, finishReason: { unified, raw: unified } };
  }

  async doGenerate({ prompt }) {
    return { ...this.#answer(prompt), warnings: [] };
  }

  async doStream({ prompt }) {
    const { content, usage, finishReason } = this.#answer(prompt);
    const parts = content.flatMap((part) => part.type === "text"
      ? [{ type: "text-start", id: "t" }, { type: "text-delta", id: "t", delta: part.text }, { type: "text-end", id: "t" }]
      : [part]);
    const all = [{ type: "stream-start", warnings: [] }, ...parts, { type: "finish", usage, finishReason }];
    return { stream: new ReadableStream({ start(c) { all.forEach((part) => c.enqueue(part)); c.close(); } }) };
  }

  get requests() {
    return this.prompts.length;
  }

  /** What the model read as results, in the last request that it got. */
  results() {
    return resultsIn(this.prompts.at(-1) ?? []);
  }
}

function resultsIn(prompt) {
  return prompt.filter((message) => message.role === "tool").flatMap((message) => message.content)
    .filter((part) => part.type === "tool-result").map(({ output }) => String(output.value ?? output.reason ?? ""));
}

function made(tools) {
  return Object.fromEntries(tools.list().map(({ name, description, schema, run }) => [name, tool({ description, inputSchema: schema, execute: run })]));
}

async function finish(options, mode) {
  if (mode === "stream") {
    const result = streamText({ ...options, prompt: PROMPT, onError: () => undefined });
    await result.consumeStream();
    return { text: await result.text, messages: (await result.response).messages };
  }
  const result = mode === "agent" ? await new ToolLoopAgent(options).generate({ prompt: PROMPT }) : await generateText({ ...options, prompt: PROMPT });
  return { text: result.text, messages: result.response.messages };
}

export async function play(guard, turns, tools, mode, more = {}) {
  const model = new Scripted(turns);
  const options = sprag({ guard })({ model, tools: made(tools), stopWhen: isStepCount(100), ...more });
  try {
    const { text } = await finish(options, mode);
    return new Outcome({ requests: model.requests, results: model.results(), final: text });
  } catch (error) {
    return new Outcome({ requests: model.requests, results: model.results(), error });
  }
}

export async function playSubAgent(guard, tools) {
  const inner = new Scripted([[["echo", { text: "inner" }]], "inner done"]);
  const helper = new ToolLoopAgent(sprag({ guard, agent: "helper" })({ model: inner, tools: made(tools) }));
  const ask = tool({
    description: "Asks the helper.",
    inputSchema: z.object({ text: z.string() }),
    execute: async ({ text }) => (await helper.generate({ prompt: text })).text,
  });
  const model = new Scripted([[["ask_helper", { text: "help" }]], "done"]);
  const options = sprag({ guard, agent: "lead" })({ model, tools: { ask_helper: ask }, stopWhen: isStepCount(10) });
  const { text } = await generateText({ ...options, prompt: PROMPT });
  return new Outcome({ requests: model.requests, results: model.results(), final: text });
}

export async function onlyWhatTheGuardIsAskedAboutCounts(place) {
  const tools = new Tools();
  const turns = [[["echo", { text: "a" }]], [["delete_asset", { asset_id: "b" }]], "done"];
  const toolApproval = { echo: { type: "denied", reason: "not today" }, delete_asset: async () => "approved" };
  const outcome = await play(place.guard(), turns, tools, "generate", { toolApproval });
  assert.deepEqual(tools.ran, [["delete_asset", "b"]]);
  assert.deepEqual(outcome.results, ["not today", "asset still exists"]);
  const calls = (await place.records()).filter((record) => record.event.type === "call");
  assert.deepEqual(calls.map((record) => record.event.approach.tool), ["delete_asset"]);
}

export async function onlyAfterItsUserApprovedIsTheGuardAsked(place) {
  const tools = new Tools();
  const guard = place.guard({ policy: place.policy({ access: { deny: ["forbidden"] } }) });
  const options = { model: new Scripted([[["forbidden", { text: "a" }]], "done"]), tools: made(tools), toolApproval: () => "user-approval" };
  const guarded = sprag({ guard })(options);
  const first = await generateText({ ...guarded, prompt: PROMPT });
  const request = first.content.find((part) => part.type === "tool-approval-request");
  const answer = { role: "tool", content: [{ type: "tool-approval-response", approvalId: request.approvalId, approved: true }] };
  await generateText({ ...guarded, messages: [{ role: "user", content: PROMPT }, ...first.response.messages, answer] });
  assert.deepEqual(tools.ran, []);
  assert.match(options.model.results()[0], /sprag: .*forbidden/);
}

export async function onlyTheLastOfPreliminaryResultsIsTheStep(place) {
  const model = new Scripted([[["count", {}]], "done"]);
  const count = tool({ description: "Counts.", inputSchema: z.object({}), execute: async function* () { yield "one"; yield "two"; } });
  await generateText({ ...sprag({ guard: place.guard() })({ model, tools: { count }, stopWhen: isStepCount(5) }), prompt: PROMPT });
  assert.deepEqual(model.results(), ["two"]);
  const steps = (await place.records()).filter((record) => record.event.type === "step");
  assert.equal(steps.length, 1);
}
