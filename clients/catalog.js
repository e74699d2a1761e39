// A small MCP server with one tool that deletes, and an asset that will not go.

import readline from 'node:readline';

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

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = ANSWERS[method];
  const outcome = answer ? { result: answer(params ?? {}) } : { error: { code: -32601, message: `no method ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...outcome })}\n`);
});
