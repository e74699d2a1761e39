// Copilot CLI: hooks in the project, which must be trusted, and a model provider of one's own.

export const name = 'copilot';
export const program = 'copilot';
export const scope = '--project';

// No hook of it can end a turn: only a kill remains, and even then the model goes on.
// An answer is in its transcript one hook later; in `budget` one answer makes two calls, after it shortened the conversation.
export const expect = { 'defiant-slow': { killed: true }, budget: { refusedBy: 5 } };

// The gateway ends the turn itself, whatever the client can do. Sub-agents have no name of their own.
// Without a session of its own the first answer of a conversation is nobody's repetition.
export const behindGateway = { 'sub-agents': { children: 0 }, 'text-loop': { requests: 7 } };
export const mount = 'openai';

export function prepare({ home, project, put, catalog }) {
  put(`${home}/.copilot/config.json`, JSON.stringify({ trustedFolders: [project] }));
  const server = { type: 'local', command: 'node', args: [catalog], tools: ['*'] };
  put(`${home}/.copilot/mcp-config.json`, JSON.stringify({ mcpServers: { catalog: server } }));
}

export function command({ prompt, model, again }) {
  return {
    args: [...(again ? ['--continue'] : []), '-p', prompt, '--allow-all-tools', '--allow-all-paths', '--no-color'],
    env: {
      COPILOT_OFFLINE: 'true',
      COPILOT_PROVIDER_BASE_URL: `${model.url}/v1`,
      COPILOT_PROVIDER_TYPE: 'openai',
      COPILOT_PROVIDER_API_KEY: 'dummy',
      COPILOT_MODEL: 'gpt-4.1',
      COPILOT_AUTO_UPDATE: 'false',
    },
  };
}

export function call(deed, { project, marker }) {
  switch (deed.do) {
    case 'run':
      return { name: 'bash', args: { command: deed.command, description: 'run it' } };
    case 'write':
      return { name: 'create', args: { path: `${project}/${deed.path}`, file_text: deed.text } };
    case 'remove':
      return { name: 'catalog-delete_asset', args: { asset_id: deed.asset } };
    case 'find':
      return { name: 'catalog-find_asset', args: { asset_id: deed.asset } };
    case 'change':
      return { name: 'edit', args: { path: `${project}/${deed.path}`, old_str: deed.from, new_str: deed.to } };
    default:
      return {
        name: 'task',
        args: {
          name: deed.child, description: deed.child, prompt: `Go. ${marker(deed.child)}`, agent_type: 'general-purpose',
        },
      };
  }
}
