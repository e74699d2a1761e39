// Uses the tools of a server with the official SDK of 2026-07-28 and prints what came of it.
//
//   node modern.mjs COMMAND ARGUMENTS…
//   node modern.mjs URL
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [command, ...args] = process.argv.slice(2);
const client = new Client(
  { name: "modern", version: "1.0.0" },
  { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } },
);
client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { sure: true } }));
const transport = /^https?:/.test(command)
  ? new StreamableHTTPClientTransport(new URL(command))
  : new StdioClientTransport({ command, args, stderr: "ignore" });
await client.connect(transport);
console.log(`revision: ${client.getNegotiatedProtocolVersion?.()}`);
const note = async (what, doing) => {
  try {
    const { _meta, ...result } = await doing();
    console.log(`${what}: ${JSON.stringify(result)}`);
  } catch (error) {
    console.log(`${what}: failed: ${error.message}`);
  }
};
await note("tools", () => client.listTools());
await note("add", () => client.callTool({ name: "add", arguments: { a: 1, b: 2 } }));
await note("fail", () => client.callTool({ name: "fail", arguments: { why: "told to" } }));
await note("confirm", () => client.callTool({ name: "confirm", arguments: {} }));
await note("nothing", () => client.callTool({ name: "nothing", arguments: {} }));
await note("greet", () => client.getPrompt({ name: "greet", arguments: { name: "you" } }));
await note("note", () => client.readResource({ uri: "note://today" }));
await client.close();
process.exit(0);
