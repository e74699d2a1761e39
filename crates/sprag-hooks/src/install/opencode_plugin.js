// Written by `sprag install opencode`; `sprag uninstall opencode` removes it. It asks sprag before and after every
// tool call, and does what it says. If sprag can't be asked, work goes on, and the person reads why.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const DEADLINE_MS = 10_000;
/** How many calls a note is kept for. */
const MAX_NOTES = 256;

/** Whether the user's own plugin does the same: then this one, a project's, must not report everything again. */
function yields() {
  if (!SPRAG.includes('--project')) return false;
  const config = process.env.XDG_CONFIG_HOME || path.join(os.homedir(), '.config');
  try {
    const text = fs.readFileSync(path.join(config, 'opencode', 'plugin', 'sprag.js'), 'utf8');
    const line = text.split('\n').findLast((line) => line.startsWith('const SPRAG = '));
    const words = JSON.parse(line.slice('const SPRAG = '.length).replace(/;$/, ''));
    return words[0] === SPRAG[0] && !words.includes('--project') && (!words.includes('--shadow') || SPRAG.includes('--shadow'));
  } catch {
    return false;
  }
}

/** Asks sprag; nothing if there is no answer. `failed` is called if it can't be started. */
function ask(payload, failed) {
  return new Promise((resolve) => {
    const [program, ...words] = SPRAG;
    const gone = () => {
      failed(`sprag is not at ${program} any more: nothing is checked. Install it again and run \`sprag install opencode\`, or remove its plugin with \`sprag uninstall opencode\`.`);
      resolve(null);
    };
    // A runtime may throw where another one emits an error.
    let child;
    try {
      child = spawn(program, words, { stdio: ['pipe', 'pipe', 'ignore'] });
    } catch {
      gone();
      return;
    }
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
      gone();
    });
    // A process that did not start has no pipes.
    child.stdin?.on('error', () => {});
    child.stdout?.on('data', (part) => {
      said += part;
    });
    child.on('close', done);
    child.stdin?.end(JSON.stringify(payload));
  });
}

/** Adds to a set, which stays small. */
function remember(set, id) {
  set.add(id);
  if (set.size > MAX_NOTES) set.delete(set.values().next().value);
}

/** What a tool of an MCP server answered, or any other tool. */
function outputOf(result) {
  if (typeof result?.output === 'string') return result.output;
  const texts = result?.content?.map((part) => part.text ?? '');
  return texts ? texts.join('\n') : null;
}

export const Sprag = async ({ client, directory, worktree }) => {
  if (yields()) return {};
  const parents = new Map();
  const agents = new Map();
  const messages = new Map();
  /** Notes for the next result of a session, where the model reads them. */
  const notes = new Map();
  /** Notes on calls that failed, by call: their results can't be changed, only what the model reads of them. */
  const failedNotes = new Map();
  /** Calls that were refused: what opencode makes of them is no result. */
  const refused = new Set();
  /** Answers of the model whose tokens were reported. */
  const counted = new Set();
  /** Questions whose answers the next request of the model must wait for. */
  const running = new Set();
  let servers = null;
  let told = '';

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
      cwd: directory,
      worktree,
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

  /** Tells the person, each thing once. Without a screen of its own, opencode shows what is printed. */
  const tell = (message) => {
    if (message === told) return;
    told = message;
    if (process.argv.includes('run')) console.error(message);
    client.tui.showToast({ body: { title: 'sprag', message, variant: 'warning', duration: 20_000 } }).catch(() => {});
  };

  const question = async (payload) => {
    const answer = ask(payload, tell);
    running.add(answer);
    try {
      return await answer;
    } finally {
      running.delete(answer);
    }
  };

  const keep = (session, text) => notes.set(session, [...(notes.get(session) ?? []), text]);

  const take = (session) => {
    const texts = notes.get(session) ?? [];
    notes.delete(session);
    return texts.join('\n');
  };

  const stop = async (session) => {
    await client.session.abort({ path: { id: session } }).catch(() => {});
  };

  const refuse = async (session, said, callID) => {
    if (said?.action === 'unchecked') tell(said.text);
    if (said?.action === 'note') keep(session, said.text);
    if (said?.action !== 'refuse' && said?.action !== 'stop') return;
    tell(said.text);
    // Before the turn is aborted, which ends the call with an error of its own.
    if (callID) remember(refused, callID);
    if (said.action === 'stop') await stop(session);
    throw new Error(said.text);
  };

  /** Does what was said about something that is done. */
  const heed = async (session, said) => {
    if (said?.action === 'unchecked') tell(said.text);
    else if (said?.text) keep(session, said.text);
    if (said?.action === 'stop') {
      tell(said.text);
      await stop(session);
    }
  };

  const after = async (session, payload) => {
    await heed(session, await question({ event: 'tool.execute.after', ...who(session), ...payload }));
  };

  return {
    'chat.message': async ({ sessionID }, { message, parts }) => {
      if (!parents.has(sessionID)) messages.set(sessionID, message.id);
      const prompt = parts.filter((part) => part.type === 'text').map((part) => part.text).join('\n');
      await refuse(sessionID, await question({ event: 'chat.message', ...who(sessionID), prompt }));
    },

    'tool.execute.before': async ({ tool, sessionID, callID }, { args }) => {
      const payload = { event: 'tool.execute.before', ...who(sessionID), ...(await toolOf(tool)), callID, args };
      await refuse(sessionID, await question(payload), callID);
    },

    'tool.execute.after': async ({ tool, sessionID, callID, args }, result) => {
      const failed = Boolean(result?.metadata?.exit) || result?.isError === true;
      await after(sessionID, { ...(await toolOf(tool)), callID, args, output: outputOf(result), isError: failed });
      const text = result ? take(sessionID) : '';
      if (!text) return;
      if (typeof result.output === 'string') result.output += `\n\n${text}`;
      else if (Array.isArray(result.content)) result.content.push({ type: 'text', text });
      else keep(sessionID, text);
    },

    // The result of a call that failed has no hook that could add a note to it. What the model reads has one.
    'experimental.chat.messages.transform': async (_input, { messages: all }) => {
      await Promise.allSettled(running);
      for (const { parts } of all) {
        for (const part of parts) {
          const note = part.type === 'tool' && part.state?.status === 'error' && failedNotes.get(part.callID);
          if (note && !part.state.error.includes(note)) part.state = { ...part.state, error: `${part.state.error}\n\n${note}` };
        }
      }
    },

    event: async ({ event }) => {
      const { properties } = event;
      if (event.type === 'session.created' && properties.info.parentID) {
        const { id, parentID, agent } = properties.info;
        parents.set(id, parentID);
        if (agent) agents.set(id, agent);
        await question({ event: 'session.created', ...who(id) });
      }
      if (event.type === 'session.idle' && parents.has(properties.sessionID)) {
        await question({ event: 'session.idle', ...who(properties.sessionID) });
      }
      // An answer of the model is complete: what it used, once.
      const info = event.type === 'message.updated' ? properties.info : null;
      if (info?.role === 'assistant' && info.time?.completed && info.tokens && !counted.has(info.id)) {
        remember(counted, info.id);
        const said = await question({ event: 'usage', ...who(info.sessionID), model: info.modelID, tokens: info.tokens });
        await heed(info.sessionID, said);
      }
      // A tool that failed has no `tool.execute.after`.
      const part = event.type === 'message.part.updated' ? properties.part : null;
      if (part?.type === 'tool' && part.state?.status === 'error' && !refused.has(part.callID)) {
        const { tool, callID, sessionID, state } = part;
        const reported = toolOf(tool).then((named) =>
          after(sessionID, { ...named, callID, args: state.input, output: state.error, isError: true }));
        const noted = reported.then(() => {
          const text = take(sessionID);
          if (text) failedNotes.set(callID, text);
          if (failedNotes.size > MAX_NOTES) failedNotes.delete(failedNotes.keys().next().value);
        });
        running.add(noted);
        try {
          await noted;
        } finally {
          running.delete(noted);
        }
      }
    },
  };
};
