// A small MCP server with a tool that deletes an asset that will not go, and one that always fails: on standard input,
// or over HTTP for whoever imports it.

import http from 'node:http';
import readline from 'node:readline';
import { fileURLToPath } from 'node:url';

const tool = (name, description) => ({
  name,
  description,
  inputSchema: { type: 'object', properties: { asset_id: { type: 'string' } }, required: ['asset_id'] },
});
const TOOLS = [tool('delete_asset', 'Deletes an asset'), tool('find_asset', 'Finds an asset')];

const text = (text) => ({ content: [{ type: 'text', text }] });
const CALLS = {
  delete_asset: ({ asset_id }) => text(`${asset_id} still exists`),
  find_asset: ({ asset_id }) => ({ ...text(`the index is locked, ${asset_id} can't be looked up`), isError: true }),
};

const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'catalog', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: TOOLS }),
  'tools/call': ({ name, arguments: args }) => CALLS[name](args ?? {}),
};

/** The answer to a line; none for what needs none. */
function reply(line) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return null;
  const answer = ANSWERS[method];
  const outcome = answer ? { result: answer(params ?? {}) } : { error: { code: -32601, message: `no method ${method}` } };
  return JSON.stringify({ jsonrpc: '2.0', id, ...outcome });
}

/** The same server over HTTP, on a free port of the loopback. */
export async function startCatalog() {
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    if (request.method !== 'POST') return response.writeHead(405).end();
    const answer = reply(body);
    if (!answer) return response.writeHead(202).end();
    return response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
  });
  server.listen(0, '127.0.0.1');
  await new Promise((ready) => server.once('listening', ready));
  return { url: `http://127.0.0.1:${server.address().port}/mcp`, stop: () => server.closeAllConnections() || server.close() };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  readline.createInterface({ input: process.stdin }).on('line', (line) => {
    const answer = reply(line);
    if (answer) process.stdout.write(`${answer}\n`);
  });
}
