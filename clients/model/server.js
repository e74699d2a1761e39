// A model that plays a script instead of thinking.
//
// It speaks the four wire formats of the clients. Each request carries the whole conversation, so the model keeps
// no state: a script looks at the conversation and says the next turn. What the real API refuses, it refuses too. That makes it right for parallel
// sub-agents and repeated requests without any bookkeeping.

import http from 'node:http';
import * as anthropic from './anthropic.js';
import * as chat from './chat.js';
import * as gemini from './gemini.js';
import * as responses from './responses.js';

const DIALECTS = [anthropic, chat, gemini, responses];

/** The tokens that an answer says it took; each kind apart from the others. */
export const usageOf = (turn) => ({ input: 10, output: 5, cacheRead: 0, cacheWrite: 0, ...turn.usage });

/**
 * Starts the model on a free port of the loopback.
 *
 * `play(conversation)` returns `{ text, calls: [{ name, args }] }` for a conversation
 * `{ dialect, tools, turns: [{ role, text, calls, results }] }`. Every conversation that was seen, with what was
 * answered, is handed to `record`.
 */
export async function startModel(play, record = () => {}) {
  const server = http.createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://model');
    const body = await readJson(request);
    const dialect = DIALECTS.find((dialect) => dialect.serves(request.method, pathname));
    if (!dialect) {
      record({ path: pathname, unserved: true });
      sendJson(response, 404, { error: { message: `no such path: ${pathname}` } });
      return;
    }
    const refused = dialect.refuses(body);
    if (refused) {
      record({ path: pathname, refused, body });
      sendJson(response, 400, { type: 'error', error: { type: 'invalid_request_error', code: 400, message: refused } });
      return;
    }
    const conversation = { dialect: dialect.name, ...dialect.read(body, pathname) };
    const turn = await play(conversation);
    record({ path: pathname, conversation, turn, headers: request.headers, body });
    await dialect.answer({ body, pathname, turn, response, sendJson, startEvents });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((ready) => server.once('listening', ready));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    stop: () => {
      server.closeAllConnections();
      return new Promise((stopped) => server.close(stopped));
    },
  };
}

/** The words of an answer piece by piece; it ends when nobody listens any more. `turn.sent` counts what was said. */
export async function* spoken(turn, text, response) {
  turn.sent = 0;
  for (const piece of turn.pieces ?? [text]) {
    if (response.destroyed) return;
    if (turn.everyMs) await new Promise((go) => { setTimeout(go, turn.everyMs); });
    yield piece;
    turn.sent += 1;
  }
}

async function readJson(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  const text = Buffer.concat(parts).toString();
  try {
    return text ? JSON.parse(text) : {};
  } catch {
    return {};
  }
}

function sendJson(response, status, value) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

/** Server-sent events, one call each; `end` closes the stream. */
function startEvents(response) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  return {
    send: (data, event) => {
      if (event) response.write(`event: ${event}\n`);
      response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
    },
    end: () => response.end(),
  };
}

let drawn = 0;
/** An id that no other call has: some clients pair a call with its result by it. */
export function freshId(prefix) {
  drawn += 1;
  return `${prefix}_${process.pid.toString(36)}${drawn.toString(36).padStart(20, '0')}`;
}
