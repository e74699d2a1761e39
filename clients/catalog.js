// A small MCP server with one tool that deletes, and an asset that will not go: on standard input, or over HTTP for
// who imports it.

import http from 'node:http';
import readline from 'node:readline';
import { fileURLToPath } from 'node:url';

const TOOL = {
  name: 'delete_asset',
  description: 'Deletes an asset',
  inputSchema: { type: 'object', properties: { asset_id: { type: 'string' } }, required: ['asset_id'] },
};

const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'catalog', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: [TOOL] }),
  'tools/call': ({ arguments: { asset_id } }) => ({ content: [{ type: 'text', text: `${asset_id} still exists` }] }),
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
