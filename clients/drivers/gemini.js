// Gemini CLI: everything in its settings file. Its own loop detection is off, so that ours is what is seen.

export const name = 'gemini';
export const program = 'gemini';
export const scope = '--user';

// The gateway ends the turn itself, whatever the client can do. Sub-agents have no name of their own.
// Without a session of its own the first answer of a conversation is nobody's repetition.
export const behindGateway = { 'text-loop': { requests: 7 } };
// Why a script can't be played with it.
export const cannot = {
  'speak-after-block': 'after --resume it sends each result twice, guarded or not, and the API takes it once',
};
export const mount = 'gemini';

export function prepare({ home, put, catalog }) {
  put(`${home}/.gemini/settings.json`, JSON.stringify({
    security: { auth: { selectedType: 'gemini-api-key' } },
    model: { disableLoopDetection: true },
    telemetry: { enabled: false },
    general: { enableAutoUpdate: false },
    mcpServers: { catalog: { command: 'node', args: [catalog], trust: true } },
  }, null, 2));
}

export function command({ prompt, model, again }) {
  return {
    args: [...(again ? ['--resume', 'latest'] : []), '-p', prompt, '--yolo', '-m', 'gemini-2.5-pro', '--output-format', 'json'],
    env: {
      GEMINI_API_KEY: 'dummy',
      GOOGLE_GEMINI_BASE_URL: model.url,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    },
  };
}

/** Its sub-agents must say that they are done; without an id of their own they count as the session. */
export const finish = { name: 'complete_task', args: { result: { response: 'done' } } };
const ended = { mostRefusals: 3 };
// What a hook says before a call reaches the person only.
const heardByPerson = { warnedBy: undefined };
export const expect = {
  'sub-agents': { children: 0 },
  deletes: { ends: true },
  defiant: ended,
  'defiant-slow': ended,
  'drop-table': heardByPerson,
};

export function call(deed, { project, marker }) {
  switch (deed.do) {
    case 'run':
      return { name: 'run_shell_command', args: { command: deed.command } };
    case 'write':
      return { name: 'write_file', args: { file_path: `${project}/${deed.path}`, content: deed.text } };
    case 'remove':
      return { name: 'mcp_catalog_delete_asset', args: { asset_id: deed.asset } };
    case 'find':
      return { name: 'mcp_catalog_find_asset', args: { asset_id: deed.asset } };
    case 'change':
      return { name: 'replace', args: { file_path: `${project}/${deed.path}`, instruction: 'change it', old_string: deed.from, new_string: deed.to } };
    default:
      return { name: 'invoke_agent', args: { agent_name: 'generalist', prompt: `Go. ${marker(deed.child)}` } };
  }
}
