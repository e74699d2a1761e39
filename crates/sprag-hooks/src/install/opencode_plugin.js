// Written by `sprag install opencode`; `sprag uninstall opencode` removes it. It asks sprag before and after every
// tool call, and does what it says. Where sprag can't be asked, work goes on.

import { spawn } from 'node:child_process';

const DEADLINE_MS = 10_000;

/** Asks sprag; nothing where there is no answer. */
function ask(payload) {
  return new Promise((resolve) => {
    const [program, ...words] = SPRAG;
    const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'ignore'] });
    const limit = setTimeout(() => child.kill(), DEADLINE_MS);
    let said = '';
    const done = () => {
      clearTimeout(limit);
      try {
        resolve(said ? JSON.parse(said) : null);
      } catch {
        resolve(null);
      }
    };
    child.on('error', () => {
      clearTimeout(limit);
      resolve(null);
    });
    child.stdin.on('error', () => {});
    child.stdout.on('data', (part) => {
      said += part;
    });
    child.on('close', done);
    child.stdin.end(JSON.stringify(payload));
  });
}

/** What a tool of an MCP server said, or any other tool. */
function outputOf(result) {
  if (typeof result?.output === 'string') return result.output;
  const texts = result?.content?.map((part) => part.text ?? '');
  return texts ? texts.join('\n') : null;
}

export const Sprag = async ({ client }) => {
  const parents = new Map();
  const agents = new Map();
  const messages = new Map();
  const notes = new Map();
  let servers = null;

  const rootOf = (session) => {
    let root = session;
    while (parents.has(root)) root = parents.get(root);
    return root;
  };

  const who = (session) => {
    const root = rootOf(session);
    const parent = parents.get(session);
    return {
      root,
      child: root === session ? undefined : session,
      parent: parent === root ? undefined : parent,
      agent: root === session ? undefined : agents.get(session),
      message: messages.get(root),
    };
  };

  /** `catalog_delete_asset` is `delete_asset` of `catalog`, if there is such a server. */
  const toolOf = async (name) => {
    if (servers === null) {
      const config = await client.config.get().catch(() => null);
      const names = Object.keys(config?.data?.mcp ?? {});
      servers = names.map((server) => [server, `${server.replace(/[^a-zA-Z0-9_-]/g, '_')}_`]);
    }
    const found = servers.find(([, prefix]) => name.startsWith(prefix));
    return found ? { server: found[0], tool: name.slice(found[1].length) } : { tool: name };
  };

  const tell = (title, message) =>
    client.tui.showToast({ body: { title, message, variant: 'warning' } }).catch(() => {});

  /** Keeps a note for the next result of the session, where the model reads it. */
  const keep = (session, text) => notes.set(session, [...(notes.get(session) ?? []), text]);

  const stop = async (session) => {
    await client.session.abort({ path: { id: rootOf(session) } }).catch(() => {});
  };

  const refuse = async (session, said) => {
    if (said?.action === 'unchecked') tell('sprag', said.text);
    if (said?.action === 'note') keep(session, said.text);
    if (said?.action === 'stop') await stop(session);
    if (said?.action === 'refuse' || said?.action === 'stop') throw new Error(said.text);
  };

  const after = async (session, payload) => {
    const said = await ask({ event: 'tool.execute.after', ...who(session), ...payload });
    if (said?.text && said.action !== 'unchecked') keep(session, said.text);
    if (said?.action === 'stop') await stop(session);
  };

  return {
    'chat.message': async ({ sessionID }, { message, parts }) => {
      if (!parents.has(sessionID)) messages.set(sessionID, message.id);
      const prompt = parts.filter((part) => part.type === 'text').map((part) => part.text).join('\n');
      await refuse(sessionID, await ask({ event: 'chat.message', ...who(sessionID), prompt }));
    },

    'tool.execute.before': async ({ tool, sessionID, callID }, { args }) => {
      const payload = { event: 'tool.execute.before', ...who(sessionID), ...(await toolOf(tool)), callID, args };
      await refuse(sessionID, await ask(payload));
    },

    'tool.execute.after': async ({ tool, sessionID, callID, args }, result) => {
      const failed = Boolean(result?.metadata?.exit) || result?.isError === true;
      await after(sessionID, { ...(await toolOf(tool)), callID, args, output: outputOf(result), isError: failed });
      const texts = notes.get(sessionID);
      if (!texts || !result) return;
      notes.delete(sessionID);
      if (typeof result.output === 'string') result.output += `\n\n${texts.join('\n')}`;
      else if (Array.isArray(result.content)) result.content.push({ type: 'text', text: texts.join('\n') });
    },

    event: async ({ event }) => {
      const { properties } = event;
      if (event.type === 'session.created' && properties.info.parentID) {
        const { id, parentID, agent } = properties.info;
        parents.set(id, parentID);
        if (agent) agents.set(id, agent);
        await ask({ event: 'session.created', ...who(id) });
      }
      if (event.type === 'session.idle' && parents.has(properties.sessionID)) {
        await ask({ event: 'session.idle', ...who(properties.sessionID) });
      }
      // A tool that failed has no `tool.execute.after`.
      const part = event.type === 'message.part.updated' ? properties.part : null;
      if (part?.type === 'tool' && part.state?.status === 'error' && !part.state.error?.includes('sprag: ')) {
        const { tool, callID, sessionID, state } = part;
        await after(sessionID, { ...(await toolOf(tool)), callID, args: state.input, output: state.error, isError: true });
      }
    },
  };
};
