// The Claude Agent SDK: its own Claude Code binary, with a scripted model behind the messages API.
import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk";
import { Sprag } from "sprag/claude-agent";
import { Api } from "../anthropic-api.mjs";
import { Outcome, PROMPT } from "../script.mjs";

// The SDK is async only, and always streams from the model.
export const MODES = ["query"];
export const THROWS = false;
export const OUTPUT = false;

function made(tools) {
  return tools.list().map(({ name, description, schema, run }) =>
    tool(name, description, schema.shape, async (input) => ({ content: [{ type: "text", text: await run(input) }] })));
}

/** The tools of the server by the names that the model knows them by. */
function named(turns) {
  return turns.map((turn) => (typeof turn === "string" ? turn : turn.map(([name, args]) => [name === "Agent" ? name : `mcp__test__${name}`, args])));
}

export async function play(guard, turns, tools, _mode, inner = []) {
  const api = await new Api(named(turns), named(inner)).start();
  const sprag = new Sprag({ guard });
  const options = sprag.options({
    mcpServers: { test: createSdkMcpServer({ name: "test", tools: made(tools) }) },
    permissionMode: "bypassPermissions",
    allowDangerouslySkipPermissions: true,
    settingSources: [],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ANTHROPIC_BASE_URL: api.url,
      ANTHROPIC_API_KEY: "dummy",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      IS_SANDBOX: "1",
    },
  });
  let last;
  let error;
  try {
    for await (const message of sprag.watch(query({ prompt: PROMPT, options }))) if (message.type === "result") last = message;
  } catch (thrown) {
    error = thrown;
  } finally {
    await api.close();
  }
  return new Outcome({ requests: api.requests, results: api.results(), final: last?.result || String(last?.stop_reason ?? last?.subtype ?? ""), error });
}

export function playSubAgent(guard, tools) {
  const ask = { description: "help", prompt: "for-the-helper", subagent_type: "general-purpose", run_in_background: false };
  return play(guard, [[["Agent", ask]], "done"], tools, "query", [[["echo", { text: "inner" }]], "inner done"]);
}
