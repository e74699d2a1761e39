// What a guarded call costs: p50 and p99, beside a bare call and a framework's own tool call, all in one run.
//
//   SPRAG_BIN=… node tests/overhead.mjs
//
// Reported, not a test: it depends on what else runs. A guarded call is two questions, one before the tool and one with
// its result.
import { Guard } from "sprag";
import { withGuards } from "./real-guard.mjs";
import { generateText, isStepCount, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { sprag } from "sprag/ai";
import { z } from "zod";

const CALLS = Number(process.env.CALLS ?? 2000);
const echo = async ({ text }) => `echo ${text}`;

/** Prints how long a call takes, after a warm-up. */
async function measured(name, call, calls = CALLS) {
  for (let number = 0; number < Math.min(100, calls); number++) await call(number);
  const times = [];
  for (let number = 0; number < calls; number++) {
    const start = process.hrtime.bigint();
    await call(number);
    times.push(Number(process.hrtime.bigint() - start) / 1000);
  }
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.floor(times.length * share)].toFixed(1).padStart(9);
  console.log(`${name.padEnd(44)} p50 ${at(0.5)} µs   p99 ${at(0.99)} µs`);
}

/** A guarded call in a session that is changed often enough to stay small. */
function guarded(guard) {
  const run = Math.random().toString(36).slice(2);
  return async (number) => {
    const call = await guard.session(`${run}-${Math.floor(number / 50)}`).call("echo", { text: String(number) });
    return call.run(() => echo({ text: String(number) }));
  };
}

/** One tool call of an agent, the scripted model included. */
function aiRun(guard) {
  const tools = { echo: tool({ description: "Repeats.", inputSchema: z.object({ text: z.string() }), execute: echo }) };
  const count = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0, text: 1, reasoning: 0 };
  return async (number) => {
    let turn = 0;
    const doGenerate = async () => ({
      content: turn++ === 0 ? [{ type: "tool-call", toolCallId: "c", toolName: "echo", input: JSON.stringify({ text: String(number) }) }] : [{ type: "text", text: `done ${number}` }],
      finishReason: { unified: turn === 1 ? "tool-calls" : "stop", raw: undefined },
      usage: { inputTokens: count, outputTokens: count },
      warnings: [],
    });
    const options = { model: new MockLanguageModelV4({ doGenerate }), tools, prompt: `go ${number}`, stopWhen: isStepCount(5) };
    await generateText(guard ? sprag({ guard })(options) : options);
  };
}

await withGuards(async (place) => {
  await measured("a bare async function call", (number) => echo({ text: String(number) }));
  const child = place.guard({ db: `${place.db}-own` });
  await measured("guarded, a child with a store of its own", guarded(child), CALLS / 4);
  await measured("guarded, a child in memory", guarded(place.keep(Guard.inMemory({ timeoutMs: 60_000 }))));
  await place.serve();
  const socket = await place.guard().ready();
  await measured(`guarded, over the ${socket.way} of sprag serve`, guarded(socket));
  await measured("AI SDK: a run with one tool call", aiRun(undefined), CALLS / 10);
  await measured("AI SDK: the same, guarded (socket)", aiRun(socket), CALLS / 10);
})();
