// LangChain's `createAgent` with a scripted chat model.
import { AIMessage, AIMessageChunk, ToolMessage } from "@langchain/core/messages";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { Command, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { createAgent, tool } from "langchain";
import { spragMiddleware } from "sprag/langchain";
import { z } from "zod";
import { INPUT_TOKENS, Outcome, OUTPUT_TOKENS, PROMPT } from "../script.mjs";

export const MODES = ["invoke", "stream"];
export const THROWS = true;
export const OUTPUT = true;

class Scripted extends BaseChatModel {
  requests = 0;

  constructor(turns) {
    super({});
    this.turns = turns;
  }

  _llmType() {
    return "scripted";
  }

  bindTools() {
    return this;
  }

  #message(Kind) {
    const turn = this.turns[this.requests++];
    const usage_metadata = { input_tokens: INPUT_TOKENS, output_tokens: OUTPUT_TOKENS, total_tokens: INPUT_TOKENS + OUTPUT_TOKENS };
    if (typeof turn === "string") return new Kind({ content: turn, usage_metadata });
    const tool_calls = turn.map(([name, args], index) => ({ name, args, id: `call_${this.requests}_${index}`, type: "tool_call" }));
    return new Kind({ content: "", tool_calls, usage_metadata });
  }

  async _generate() {
    const message = this.#message(AIMessage);
    return { generations: [{ text: "", message }] };
  }

  async *_streamResponseChunks() {
    const message = this.#message(AIMessageChunk);
    yield new ChatGenerationChunk({ text: "", message });
  }
}

function made(tools) {
  return tools.list().map(({ name, description, schema, run }) => tool(run, { name, description, schema }));
}

async function finish(agent, model, mode, config = {}) {
  const given = { messages: [{ role: "user", content: PROMPT }] };
  const options = { recursionLimit: 400, ...config };
  try {
    let messages;
    if (mode === "stream") {
      for await (const state of await agent.stream(given, { ...options, streamMode: "values" })) messages = state.messages;
    } else ({ messages } = await agent.invoke(given, options));
    const results = messages.filter((message) => ToolMessage.isInstance(message)).map((message) => String(message.content));
    return new Outcome({ requests: model.requests, results, final: String(messages.at(-1).content) });
  } catch (error) {
    return new Outcome({ requests: model.requests, error });
  }
}

export function play(guard, turns, tools, mode) {
  const model = new Scripted(turns);
  return finish(createAgent({ model, tools: made(tools), middleware: [spragMiddleware({ guard })] }), model, mode);
}

export function playSubAgent(guard, tools) {
  const inner = new Scripted([[["echo", { text: "inner" }]], "inner done"]);
  const helper = createAgent({ model: inner, tools: made(tools), middleware: [spragMiddleware({ guard })], name: "helper" });
  const ask = tool(async ({ text }) => String((await helper.invoke({ messages: [{ role: "user", content: text }] })).messages.at(-1).content), {
    name: "ask_helper", description: "Asks the helper.", schema: z.object({ text: z.string() }),
  });
  const model = new Scripted([[["ask_helper", { text: "help" }]], "done"]);
  return finish(createAgent({ model, tools: [ask], middleware: [spragMiddleware({ guard })], name: "lead" }), model, "invoke");
}

/** Two agents of one graph that pass the work to each other by a tool. */
export async function playHandoff(guard, times) {
  const graph = new StateGraph(MessagesAnnotation);
  const models = {};
  for (const [name, other] of ["ab", "ba"]) {
    models[name] = new Scripted(Array.from({ length: times }, () => [[`transfer_to_${other}`, {}]]));
    const agent = createAgent({ model: models[name], tools: [transferTo(other)], middleware: [spragMiddleware({ guard })], name });
    graph.addNode(name, agent.graph, { ends: [other] });
  }
  graph.addEdge("__start__", "a");
  return finish(graph.compile(), models.a, "invoke", { configurable: { thread_id: "t1" } });
}

function transferTo(other) {
  return tool((_, config) => new Command({
    goto: other,
    graph: Command.PARENT,
    update: { messages: [...config.state.messages, new ToolMessage({ content: "handed over", tool_call_id: config.toolCallId ?? config.toolCall?.id })] },
  }), { name: `transfer_to_${other}`, description: "Hands over.", schema: z.object({}) });
}
