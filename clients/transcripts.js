// Distils the transcripts that real clients wrote into the fixtures of `sprag scan`.
//
//   node run.js --unguarded --keep && node transcripts.js [--runs FOLDER]
//
// A transcript is mostly the client's own words: system prompts, instructions, copies of requests. Those are not ours
// and are left out. What is kept is what our scripts made the client do, with the places of this machine rewritten. The lines
// of the script `loop` keep all their fields; the others only those that are read, so that the fixtures stay small.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const OUT = path.join(HERE, '..', 'crates', 'sprag-scan', 'tests', 'scan', 'fixtures');
const { values: options } = parseArgs({ options: { runs: { type: 'string', default: path.join(HERE, 'runs') } } });
const CHILDREN = 2;

const pick = (object, keys) => Object.fromEntries(keys.filter((key) => object?.[key] !== undefined).map((key) => [key, object[key]]));

/** What Claude Code says around a sub-agent that was started, down to what tells one from another. */
function withoutOwnWords(content) {
  if (typeof content !== 'string') {
    return content.map((block) => ({ ...block, ...(block.content && { content: withoutOwnWords(block.content) }), ...(block.text && { text: withoutOwnWords(block.text) }) }));
  }
  const id = content.match(/<task-id>\w+<\/task-id>/)?.[0];
  if (content.startsWith('<task-notification>')) return `<task-notification>\n${id}\n</task-notification>`;
  return content.replace(/^Async agent launched[\s\S]*?(agentId: \w+)[\s\S]*$/, 'Started, $1');
}

/** One for each client: where its transcripts are, and what of a line is kept (null: nothing). */
const CLIENTS = {
  claude: {
    below: '.claude/projects',
    wanted: (file) => file.endsWith('.jsonl'),
    line(line, lean) {
      if (line.type === 'last-prompt') return line;
      if (line.type !== 'user' && line.type !== 'assistant') return null;
      if (line.type === 'user') line.message.content = withoutOwnWords(line.message.content);
      if (!lean) return line;
      const message = pick(line.message, ['id', 'role', 'content', 'usage']);
      if (message.usage) message.usage = pick(message.usage, ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens']);
      return { ...pick(line, ['parentUuid', 'isSidechain', 'agentId', 'type', 'timestamp', 'cwd', 'sessionId', 'version']), message };
    },
  },
  codex: {
    below: '.codex/sessions',
    wanted: (file) => path.basename(file).startsWith('rollout-'),
    line(line, lean) {
      const { type, payload } = line;
      if (type === 'world_state' || type === 'turn_context' || payload?.role === 'developer') return null;
      if (type === 'session_meta') delete payload.base_instructions;
      if (type === 'event_msg' && lean && payload.type !== 'token_count') return null;
      for (const part of payload?.content ?? []) {
        if (part.text?.startsWith('<environment_context>')) part.text = '<environment_context>\n</environment_context>';
      }
      if (lean) delete payload.internal_chat_message_metadata_passthrough;
      return lean ? { timestamp: line.timestamp, type, payload } : line;
    },
  },
  gemini: {
    below: '.gemini/tmp',
    wanted: (file) => file.includes('/chats/') && file.endsWith('.jsonl'),
    line(line, lean) {
      for (const message of line.$set?.messages ?? []) {
        for (const part of message.content) part.text = '<session_context>\n</session_context>';
      }
      if (lean && line.toolCalls) {
        line.toolCalls = line.toolCalls.map((call) => pick(call, ['id', 'name', 'args', 'result', 'status', 'timestamp', 'displayName']));
      }
      return line;
    },
  },
  copilot: {
    below: '.copilot/session-state',
    wanted: (file) => path.basename(file) === 'events.jsonl',
    line(line, lean) {
      if (line.type === 'system.message') return null;
      if (line.data) delete line.data.transformedContent;
      if (!lean) return line;
      if (!/^(session.start|user.message|assistant.message|tool\.|session.usage_record|subagent.started)/.test(line.type)) return null;
      if (line.data.usage) line.data.usage = pick(line.data.usage, ['inputTokens', 'outputTokens', 'cacheReadTokens']);
      const keys = ['sessionId', 'context', 'toolCallId', 'toolName', 'mcpServerName', 'mcpToolName', 'arguments', 'success', 'result', 'content', 'usage', 'toolRequests'];
      return { ...pick(line, ['type', 'agentId', 'timestamp']), data: pick(line.data, keys) };
    },
  },
};

function files(folder) {
  const found = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  return found.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name)).sort();
}

/** The places of this machine, as those of anybody. */
function anybodys(text, run) {
  const here = fs.realpathSync(run);
  return text.replaceAll(path.join(here, 'project'), '/home/user/project').replaceAll(path.join(here, 'home'), '/home/user');
}

function write(client, name, lines, run) {
  const file = path.join(OUT, client, `${name}.jsonl`);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, anybodys(lines.map((line) => `${JSON.stringify(line)}\n`).join(''), run));
}

/** The rows of opencode's tables, as lines: a database is no text. */
function rows(run, script) {
  const database = path.join(run, 'home', '.local', 'share', 'opencode', 'opencode.db');
  const query = (sql) => {
    const script = 'import json,sqlite3,sys\nd=sqlite3.connect(sys.argv[1])\nd.row_factory=sqlite3.Row\nprint(json.dumps([dict(r) for r in d.execute(sys.argv[2])]))';
    return JSON.parse(execFileSync('python3', ['-c', script, database, sql], { encoding: 'utf8', maxBuffer: 1 << 28 }));
  };
  const sessions = query('SELECT id, parent_id, directory, time_created FROM session ORDER BY time_created').slice(0, 1 + CHILDREN);
  const mine = sessions.map(({ id }) => `'${id}'`).join(',');
  const messages = query(`SELECT id, session_id, time_created, data FROM message WHERE session_id IN (${mine}) ORDER BY id`);
  const parts = query(`SELECT id, message_id, session_id, time_created, data FROM part WHERE session_id IN (${mine}) ORDER BY id`);
  const tagged = (table, list) => list.map((row) => ({ table, ...row }));
  write('opencode', script, [...tagged('session', sessions), ...tagged('message', messages), ...tagged('part', parts)], run);
}

for (const client of Object.keys(CLIENTS).concat('opencode')) {
  const folder = path.join(options.runs, client);
  if (!fs.existsSync(folder)) continue;
  for (const script of fs.readdirSync(folder)) {
    const run = path.join(folder, script);
    if (client === 'opencode') {
      rows(run, script);
      continue;
    }
    const { below, wanted, line } = CLIENTS[client];
    const transcripts = files(path.join(run, 'home', below)).filter(wanted);
    // The session itself is the longest; its sub-agents follow.
    transcripts.sort((a, b) => fs.statSync(b).size - fs.statSync(a).size);
    for (const [place, file] of transcripts.slice(0, 1 + CHILDREN).entries()) {
      const lines = fs.readFileSync(file, 'utf8').trim().split('\n').map((text) => line(JSON.parse(text), script !== 'loop'));
      write(client, place === 0 ? script : `${script}-${place}`, lines.filter(Boolean), run);
    }
  }
}
