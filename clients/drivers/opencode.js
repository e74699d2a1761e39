// opencode: a plugin in the project and a provider in its settings. Its own question after three equal calls
// (`doom_loop`) is answered yes, so that ours is what is seen.

import fs from 'node:fs';

export const name = 'opencode';
export const program = 'opencode';
export const scope = '--project';

const ended = { mostRefusals: 3 };
export const expect = { deletes: { ends: true }, defiant: ended, 'defiant-slow': ended };

// The gateway ends the turn itself, whatever the client can do.
// A title is asked for too.
export const behindGateway = { budget: { requests: 3 }, 'text-loop': { requests: 7 } };
export const mount = 'openai';

// What opencode installs beside each folder of plugins takes it half a minute and is the same for every run.
const installed = ['node_modules', 'package.json', 'package-lock.json'];
const pluginFolders = ({ home, project }) => ({ user: `${home}/.config/opencode`, project: `${project}/.opencode` });

/** Keeps for later runs what this one installed. */
export function keep({ home, project, cache }) {
  for (const [scope, folder] of Object.entries(pluginFolders({ home, project }))) {
    const kept = `${cache}/packages/${scope}`;
    if (fs.existsSync(kept) || !installed.every((name) => fs.existsSync(`${folder}/${name}`))) continue;
    for (const name of installed) fs.cpSync(`${folder}/${name}`, `${kept}/${name}`, { recursive: true });
  }
}

export function prepare({ home, project, model, put, catalog, cache }) {
  for (const [scope, folder] of Object.entries(pluginFolders({ home, project }))) {
    const kept = `${cache}/packages/${scope}`;
    if (fs.existsSync(kept)) fs.cpSync(kept, folder, { recursive: true });
  }
  put(`${project}/opencode.json`, JSON.stringify({
    permission: { doom_loop: 'allow', edit: 'allow', bash: 'allow', external_directory: 'allow' },
    model: 'scripted/scripted',
    small_model: 'scripted/scripted',
    autoupdate: false,
    share: 'disabled',
    mcp: { catalog: { type: 'local', command: ['node', catalog] } },
    provider: {
      scripted: {
        npm: '@ai-sdk/openai-compatible',
        name: 'scripted',
        options: { baseURL: `${model.url}/v1`, apiKey: 'dummy' },
        models: { scripted: { name: 'scripted', tool_call: true, limit: { context: 200000, output: 8000 } } },
      },
    },
  }, null, 2));
}

export function command({ prompt, again }) {
  return {
    args: ['run', ...(again ? ['--continue'] : []), '--model', 'scripted/scripted', prompt],
    env: {
      OPENCODE_DISABLE_MODELS_FETCH: 'true',
      OPENCODE_DISABLE_AUTOUPDATE: 'true',
      OPENCODE_DISABLE_LSP_DOWNLOAD: 'true',
    },
  };
}

export function call(deed, { project, marker }) {
  switch (deed.do) {
    case 'run':
      return { name: 'bash', args: { command: deed.command, description: 'run it' } };
    case 'write':
      return { name: 'write', args: { filePath: `${project}/${deed.path}`, content: deed.text } };
    case 'remove':
      return { name: 'catalog_delete_asset', args: { asset_id: deed.asset } };
    case 'find':
      return { name: 'catalog_find_asset', args: { asset_id: deed.asset } };
    case 'change':
      return { name: 'edit', args: { filePath: `${project}/${deed.path}`, oldString: deed.from, newString: deed.to } };
    default:
      return {
        name: 'task',
        args: { description: deed.child, prompt: `Go. ${marker(deed.child)}`, subagent_type: 'general' },
      };
  }
}
