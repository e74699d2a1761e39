// Uses everything that a server offers, with the official SDK of a revision, and prints what came of it.
//
//   node everything.mjs PACKAGE COMMAND ARGUMENTS…
//   node everything.mjs PACKAGE URL
//
// What is printed is the same in every run, so that two ways to one server can be compared.
const [sdk, command, ...args] = process.argv.slice(2);
const { Client } = await import(`${sdk}/client/index.js`);
const transport = async () => {
  if (/^https?:/.test(command)) {
    const { StreamableHTTPClientTransport } = await import(`${sdk}/client/streamableHttp.js`);
    return new StreamableHTTPClientTransport(new URL(command));
  }
  const { StdioClientTransport } = await import(`${sdk}/client/stdio.js`);
  return new StdioClientTransport({ command, args, stderr: "ignore" });
};
const types = await import(`${sdk}/types.js`);

const capabilities = {
  sampling: {},
  roots: { listChanged: true },
  ...(types.ElicitRequestSchema ? { elicitation: { form: {}, url: {} } } : {}),
};
const client = new Client({ name: "everything", version: "1.0.0" }, { capabilities });
const asked = [];
const handle = (schema, answer) =>
  schema &&
  client.setRequestHandler(schema, (request) => {
    asked.push(request.method);
    return answer(request);
  });
handle(types.CreateMessageRequestSchema, () => ({
  model: "none",
  role: "assistant",
  content: { type: "text", text: "sampled" },
}));
handle(types.ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///home/user", name: "home" }] }));
handle(types.ElicitRequestSchema, ({ params }) =>
  params.mode === "url"
    ? { action: "accept" }
    : { action: "accept", content: { name: "somebody", check: true, integer: 7, interpretation: "technology" } },
);

const told = [];
// Times, ids and what belongs to this machine differ from run to run.
const readable = (_, blob) => `"blob":${JSON.stringify(Buffer.from(blob, "base64").toString("latin1"))}`;
const steady = (value) =>
  JSON.stringify(value ?? null)
    .replace(/"blob":"([^"]+)"/g, readable)
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replace(/\d{1,2}:\d\d:\d\d [AP]M/g, "TIME")
    .replace(/[0-9a-f]{32}/g, "ID")
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID");
const note = async (what, doing) => {
  try {
    told.push(`${what}: ${steady(await doing())}`);
  } catch (error) {
    told.push(`${what}: failed: ${steady(error.message)}`);
  }
};

const inputs = {
  echo: { message: "grüße \u2028 12345678901234567890" },
  "get-annotated-message": { messageType: "error", includeImage: true },
  "get-resource-links": { count: 2 },
  "get-resource-reference": { resourceType: "Blob", resourceId: 2 },
  "get-structured-content": { location: "Chicago" },
  "get-sum": { a: 1, b: 2.5 },
  "gzip-file-as-resource": { name: "a.gz", data: "data:text/plain,hello", outputType: "resource" },
  "trigger-long-running-operation": { duration: 0.2, steps: 4 },
  "trigger-url-elicitation": { url: "https://example.org/consent", elicitationId: "e1" },
  "trigger-sampling-request": { prompt: "hello", maxTokens: 5 },
  "trigger-sampling-request-async": { prompt: "hello", maxTokens: 5 },
};

await client.connect(await transport());
told.push(`server: ${steady(client.getServerVersion())}`);
// A server registers some tools only after it asked what its client can do.
await new Promise((resolve) => setTimeout(resolve, 1500));
const { tools } = await client.listTools();
for (const tool of tools) {
  if (tool.name === "get-env") continue;
  const call = { name: tool.name, arguments: inputs[tool.name] ?? {} };
  if (tool.execution?.taskSupport === "required") {
    await note(`task ${tool.name}`, async () => {
      const seen = new Set();
      const input = { ...call, arguments: { topic: "tides", ambiguous: true } };
      for await (const message of client.experimental.tasks.callToolStream(input, types.CallToolResultSchema, { task: { ttl: 60000 } })) {
        seen.add(message.type === "error" ? `error ${message.error.message}` : message.type);
      }
      return [...seen].sort();
    });
    continue;
  }
  let progress = 0;
  await note(`tool ${tool.name}`, () => client.callTool(call, undefined, { onprogress: () => (progress += 1) }));
  if (progress > 0) told.push(`progress ${tool.name}`);
}
await note("no such tool", () => client.callTool({ name: "nothing", arguments: {} }));
await note("cancelled", () => {
  const stop = new AbortController();
  setTimeout(() => stop.abort("enough"), 50);
  const call = { name: "trigger-long-running-operation", arguments: { duration: 5, steps: 2 } };
  return client.callTool(call, undefined, { signal: stop.signal });
});
for (const prompt of (await client.listPrompts()).prompts) {
  const given = { city: "Chicago", state: "IL", department: "Engineering", name: "Alice", resourceType: "Text", resourceId: "1" };
  const names = (prompt.arguments ?? []).map(({ name }) => [name, given[name] ?? "x"]);
  await note(`prompt ${prompt.name}`, () => client.getPrompt({ name: prompt.name, arguments: Object.fromEntries(names) }));
}
for (const resource of (await client.listResources()).resources) {
  await note(`resource ${resource.uri}`, async () => (await client.readResource({ uri: resource.uri })).contents[0]?.text?.length);
}
for (const { uriTemplate } of (await client.listResourceTemplates()).resourceTemplates) {
  await note(`template ${uriTemplate}`, () => client.readResource({ uri: uriTemplate.replace(/\{.*\}/, "3") }));
}
await note("completion", () =>
  client.complete({ ref: { type: "ref/prompt", name: "completable-prompt" }, argument: { name: "department", value: "E" } }),
);
await note("ping", () => client.ping());
await client.close();
told.push(`asked by the server: ${[...new Set(asked)].sort().join(", ")}`);
process.stdout.write(`${told.join("\n")}\n`);
process.exit(0);
