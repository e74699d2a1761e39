// Claude Code: settings in the project, the model by an environment variable.

export const name = 'claude';
export const program = 'claude';
export const scope = '--project';
export const posts = true;

const ended = { mostRefusals: 3 };
export const expect = { deletes: { ends: true }, defiant: ended, 'defiant-slow': ended };
// It says nothing of its session, so its calls are refused and nobody is killed.
export const overHttp = { refusedBy: 3, prompts: 0, calls: 5 };

// The gateway ends the turn itself, whatever the client can do.
export const behindGateway = {};
export const mount = 'anthropic';

export function prepare({ home, put, catalog }) {
  const server = catalog.startsWith('http') ? { type: 'http', url: catalog } : { command: 'node', args: [catalog] };
  put(`${home}/mcp.json`, JSON.stringify({ mcpServers: { catalog: server } }));
}

export function command({ prompt, model, home, again }) {
  return {
    args: [...(again ? ['--continue'] : []), '-p', prompt, '--output-format', 'json', '--dangerously-skip-permissions', '--mcp-config', `${home}/mcp.json`],
    env: {
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'dummy',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      IS_SANDBOX: '1',
    },
  };
}

export function call(deed, { project, marker }) {
  switch (deed.do) {
    case 'run':
      return { name: 'Bash', args: { command: deed.command, description: 'run it' } };
    case 'write':
      return { name: 'Write', args: { file_path: `${project}/${deed.path}`, content: deed.text } };
    case 'remove':
      return { name: 'mcp__catalog__delete_asset', args: { asset_id: deed.asset } };
    case 'find':
      return { name: 'mcp__catalog__find_asset', args: { asset_id: deed.asset } };
    case 'change':
      return { name: 'Edit', args: { file_path: `${project}/${deed.path}`, old_string: deed.from, new_string: deed.to } };
    default:
      return {
        name: 'Agent',
        args: { description: deed.child, prompt: `Go. ${marker(deed.child)}`, subagent_type: 'general-purpose' },
      };
  }
}
