// Codex CLI: hooks in its home, trusted by a flag that exists for tests.

export const name = 'codex';
export const program = 'codex';
export const scope = '--user';

// No hook of it can end a turn: only a kill remains, and even then the model goes on.
// It may skip hooks that are not trusted, so those of the user and the project both report.
export const expect = { 'defiant-slow': { killed: true }, 'user-and-project': { prompts: 2, steps: undefined } };
// It names its thread, so that is killed.
export const overHttp = { refusedBy: 3, killed: true, prompts: 0, calls: 5 };

// The gateway ends the turn itself, whatever the client can do.
// Codex itself refuses `rm -rf`, so nothing is built.
export const behindGateway = { 'clean-builds': { untouched: undefined } };
export const mount = 'openai';

export function prepare({ home, model, put, catalog }) {
  put(`${home}/.codex/config.toml`, [
    'model = "scripted"',
    'model_provider = "scripted"',
    '[model_providers.scripted]',
    'name = "scripted"',
    `base_url = "${model.url}/v1"`,
    'wire_api = "responses"',
    'env_key = "SCRIPTED_KEY"',
    '[agents]',
    'max_threads = 16',
    '[mcp_servers.catalog]',
    ...(catalog.startsWith('http') ? [`url = "${catalog}"`] : ['command = "node"', `args = ["${catalog}"]`]),
    '',
  ].join('\n'));
}

export function command({ prompt, guarded, again }) {
  const trust = guarded ? ['--dangerously-bypass-hook-trust'] : [];
  return {
    args: [
      'exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', ...trust, '--json',
      ...(again ? ['resume', '--last'] : []), prompt,
    ],
    env: { SCRIPTED_KEY: 'dummy' },
  };
}

export function call(deed, { marker }) {
  switch (deed.do) {
    case 'run':
      return { name: 'exec_command', args: { cmd: deed.command } };
    case 'write':
      return { name: 'exec_command', args: { cmd: `cat > ${deed.path} <<'END'\n${deed.text}END` } };
    case 'remove':
      return { name: 'delete_asset', namespace: 'mcp__catalog', args: { asset_id: deed.asset } };
    case 'find':
      return { name: 'find_asset', namespace: 'mcp__catalog', args: { asset_id: deed.asset } };
    case 'change': {
      const patch = `*** Begin Patch\n*** Update File: ${deed.path}\n@@\n-${deed.from}\n+${deed.to}\n*** End Patch\n`;
      return { name: 'exec_command', args: { cmd: `apply_patch <<'EOF'\n${patch}EOF` } };
    }
    default:
      return { name: 'spawn_agent', namespace: 'multi_agent_v1', args: { message: `Go. ${marker(deed.child)}` } };
  }
}
