// The messages API of Anthropic, which Claude Code speaks.

import { freshId, spoken, usageOf } from './server.js';

export const name = 'anthropic';

export function serves(method, path) {
  return method === 'POST' && /\/v1\/messages(\/count_tokens)?$/.test(path);
}

export function read(body) {
  const tools = (body.tools ?? []).map((tool) => tool.name);
  const turns = (body.messages ?? []).map(({ role, content }) => {
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
    return {
      role,
      text: parts.filter((part) => part.type === 'text').map((part) => part.text).join('\n'),
      calls: parts.filter((part) => part.type === 'tool_use').map((part) => ({ name: part.name, args: part.input })),
      results: parts.filter((part) => part.type === 'tool_result').map((part) => textOf(part.content)),
    };
  });
  return { tools, turns };
}

function textOf(content) {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => part.text ?? '').join('\n');
}

/** Why the API refuses a request: calls and results that do not belong together, a signature that it did not make. */
export function refuses(body) {
  const parts = ({ content } = {}, type) => (Array.isArray(content) ? content.filter((part) => part.type === type) : []);
  const messages = body.messages ?? [];
  for (const [at, message] of messages.entries()) {
    const results = parts(messages[at + 1], 'tool_result').map((part) => part.tool_use_id);
    const lone = parts(message, 'tool_use').find((part) => !results.includes(part.id));
    if (lone) return `messages.${at}: tool_use ids were found without tool_result blocks immediately after: ${lone.id}`;
    const calls = parts(messages[at - 1], 'tool_use').map((part) => part.id);
    const stray = parts(message, 'tool_result').find((part) => !calls.includes(part.tool_use_id));
    if (stray) return `messages.${at}: unexpected tool_use_id found in tool_result blocks: ${stray.tool_use_id}`;
    if (parts(message, 'thinking').some((part) => !part.signature)) return `messages.${at}: Invalid signature in thinking block`;
    if (Array.isArray(message.content) && message.content.length === 0) return `messages.${at}: content must be non-empty`;
  }
  return null;
}

export async function answer({ body, pathname, turn, response, sendJson, startEvents }) {
  if (pathname.endsWith('count_tokens')) {
    sendJson(response, 200, { input_tokens: 10 });
    return;
  }
  const content = [{ type: 'text', text: turn.text || 'Working.' }];
  for (const call of turn.calls) {
    content.push({ type: 'tool_use', id: freshId('toolu'), name: call.name, input: call.args });
  }
  const stop = turn.calls.length > 0 ? 'tool_use' : 'end_turn';
  const { input, output, cacheRead, cacheWrite } = usageOf(turn);
  const usage = {
    input_tokens: input, output_tokens: output, cache_read_input_tokens: cacheRead, cache_creation_input_tokens: cacheWrite,
  };
  const message = {
    id: freshId('msg'), type: 'message', role: 'assistant', model: body.model,
    content, stop_reason: stop, stop_sequence: null, usage,
  };
  if (!body.stream) {
    sendJson(response, 200, message);
    return;
  }
  const events = startEvents(response);
  const send = (type, rest) => events.send({ type, ...rest }, type);
  send('message_start', { message: { ...message, content: [], stop_reason: null } });
  for (const [index, block] of content.entries()) await sendBlock(send, block, index, { turn, response });
  send('message_delta', { delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: output } });
  send('message_stop', {});
  events.end();
}

async function sendBlock(send, block, index, { turn, response }) {
  if (block.type === 'text') {
    send('content_block_start', { index, content_block: { type: 'text', text: '' } });
    for await (const text of spoken(turn, block.text, response)) {
      send('content_block_delta', { index, delta: { type: 'text_delta', text } });
    }
  } else {
    send('content_block_start', { index, content_block: { ...block, input: {} } });
    const json = JSON.stringify(block.input);
    send('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: json } });
  }
  send('content_block_stop', { index });
}
