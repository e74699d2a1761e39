// OpenAI Agents with the SDK's own scripted model.
import { Agent, run, setTracingDisabled, tool, Usage } from "@openai/agents";
import { ScriptedModel } from "@openai/agents-core/testing";
import { guard as guarded } from "sprag/openai-agents";
import { INPUT_TOKENS, Outcome, OUTPUT_TOKENS, PROMPT } from "../script.mjs";

export const MODES = ["run", "stream"];
export const THROWS = false;
export const OUTPUT = false;

setTracingDisabled(true);
let ids = 0;

function scripted(turns) {
  return new ScriptedModel(turns.map((turn) => ({
    usage: new Usage({ requests: 1, inputTokens: INPUT_TOKENS, outputTokens: OUTPUT_TOKENS, totalTokens: INPUT_TOKENS + OUTPUT_TOKENS, inputTokensDetails: [], outputTokensDetails: [] }),
    output: typeof turn === "string"
      ? [{ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: turn }] }]
      : turn.map(([name, args]) => ({ type: "function_call", callId: `call_${ids++}`, name, arguments: JSON.stringify(args), status: "completed" })),
    responseId: `r${ids++}`,
  })));
}

function made(tools) {
  return tools.list().map(({ name, description, schema, run: execute }) => tool({ name, description, parameters: schema, execute }));
}

async function finish(agent, model, mode) {
  try {
    const result = await run(agent, PROMPT, { maxTurns: 100, stream: mode === "stream" });
    if (mode === "stream") {
      for await (const _ of result) { /* to its end */ }
      await result.completed;
    }
    const results = result.history.filter((item) => item.type === "function_call_result").map(({ output }) => (typeof output === "string" ? output : output.text));
    return new Outcome({ requests: model.calls.length, results, final: String(result.finalOutput) });
  } catch (error) {
    return new Outcome({ requests: model.calls.length, final: String(error.result?.output?.outputInfo ?? ""), error });
  }
}

export function play(guard, turns, tools, mode) {
  const model = scripted(turns);
  return finish(guarded(new Agent({ name: "solo", model, tools: made(tools) }), { guard }), model, mode);
}

export function playSubAgent(guard, tools) {
  const inner = scripted([[["echo", { text: "inner" }]], "inner done"]);
  const helper = guarded(new Agent({ name: "helper", model: inner, tools: made(tools) }), { guard });
  const ask = helper.asTool({ toolName: "ask_helper", toolDescription: "Asks the helper." });
  const model = scripted([[["ask_helper", { input: "help" }]], "done"]);
  return finish(guarded(new Agent({ name: "lead", model, tools: [ask] }), { guard }), model, "run");
}

export function playHandoff(guard, times) {
  const models = Object.fromEntries(["ab", "ba"].map(([name, to]) => [name, scripted(Array.from({ length: times }, () => [[`transfer_to_${to}`, {}]]))]));
  const a = new Agent({ name: "a", model: models.a });
  const b = new Agent({ name: "b", model: models.b, handoffs: [a] });
  a.handoffs = [b];
  return finish(guarded(a, { guard }), models.a, "run");
}
