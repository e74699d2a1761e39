// A scripted model behind Anthropic's messages API, for the agent that is a program of its own.
import { createServer } from "node:http";
import { INPUT_TOKENS, OUTPUT_TOKENS } from "./script.mjs";

let ids = 0;
const id = (prefix) => `${prefix}_${String(ids++).padStart(24, "0")}`;

/** Plays turns to requests with tools; what has none is a side request, such as for a title. */
export class Api {
  requests = 0;
  #messages = [];
  #innerRequests = 0;

  /** @param turns those of the main agent @param inner those of a sub-agent, which is told by its prompt */
  constructor(turns, inner = []) {
    this.turns = turns;
    this.inner = inner;
    this.server = createServer(async (request, response) => {
      if (request.method !== "POST") return response.writeHead(404).end();
      let body = "";
      for await (const chunk of request) body += chunk;
      this.#answer(request.url, JSON.parse(body), response);
    });
  }

  async start() {
    await new Promise((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${this.server.address().port}`;
    return this;
  }

  async close() {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  #answer(url, body, response) {
    if (url.split("?")[0].endsWith("count_tokens")) return json(response, { input_tokens: INPUT_TOKENS });
    const turn = this.#turn(body);
    const content = typeof turn === "string" ? [{ type: "text", text: turn }] : turn.map(([name, input]) => ({ type: "tool_use", id: id("toolu"), name, input }));
    const usage = { input_tokens: INPUT_TOKENS, output_tokens: OUTPUT_TOKENS };
    const stop_reason = typeof turn === "string" ? "end_turn" : "tool_use";
    const message = { id: id("msg"), type: "message", role: "assistant", model: body.model, content, stop_reason, stop_sequence: null, usage };
    return body.stream ? stream(response, message) : json(response, message);
  }

  #turn(body) {
    if (!body.tools?.length) return "title";
    if (this.inner.length && JSON.stringify(body.messages[0]).includes("for-the-helper")) return this.inner[this.#innerRequests++];
    this.#messages = body.messages;
    return this.turns[this.requests++];
  }

  /** What the model got as results, with what stands next to each message of results. */
  results() {
    const found = [];
    for (const message of this.#messages) {
      const parts = Array.isArray(message.content) ? message.content : [];
      const here = parts.filter((part) => part.type === "tool_result").map((part) => textOf(part.content));
      const notes = parts.filter((part) => part.type === "text" && part.text.includes("sprag: ")).map((part) => part.text);
      const target = here.length ? here : found;
      if (target.length) target[target.length - 1] = [target.at(-1), ...notes].join("\n");
      found.push(...here);
    }
    return found.map((text) => text.trimEnd());
  }
}

function textOf(content) {
  return typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("\n");
}

function json(response, body) {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function stream(response, message) {
  const events = [{ type: "message_start", message: { ...message, content: [], stop_reason: null } }];
  message.content.forEach((block, index) => {
    const isText = block.type === "text";
    const content_block = isText ? { ...block, text: "" } : { ...block, input: {} };
    const delta = isText ? { type: "text_delta", text: block.text } : { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
    events.push({ type: "content_block_start", index, content_block }, { type: "content_block_delta", index, delta }, { type: "content_block_stop", index });
  });
  events.push({ type: "message_delta", delta: { stop_reason: message.stop_reason, stop_sequence: null }, usage: message.usage }, { type: "message_stop" });
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
}
