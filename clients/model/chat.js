// The chat completions API of OpenAI, which Copilot and opencode speak to a provider of one's own.

import { freshId, spoken, usageOf } from './server.js';

export const name = 'chat';

export function serves(method, path) {
  return method === 'POST' && path.endsWith('/chat/completions');
}

export function read(body) {
  const tools = (body.tools ?? []).map((tool) => tool.function?.name);
  const turns = (body.messages ?? []).map((message) => ({
    role: message.role === 'tool' ? 'user' : message.role,
    text: message.role === 'tool' ? '' : textOf(message.content),
    calls: (message.tool_calls ?? []).map((call) => ({
      name: call.function.name, args: JSON.parse(call.function.arguments || '{}'),
    })),
    results: message.role === 'tool' ? [textOf(message.content)] : [],
  }));
  return { tools, turns };
}

function textOf(content) {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => part.text ?? '').join('\n');
}

/** Why the API refuses a request: a call without its result, a result without its call. */
export function refuses(body) {
  const messages = body.messages ?? [];
  const called = new Set();
  for (const [at, message] of messages.entries()) {
    const rest = messages.slice(at + 1);
    const end = rest.findIndex(({ role }) => role !== 'tool');
    const results = rest.slice(0, end < 0 ? rest.length : end).map((result) => result.tool_call_id);
    for (const { id } of message.tool_calls ?? []) {
      called.add(id);
      if (!results.includes(id)) return `tool_call_ids did not have response messages: ${id}`;
    }
    if (message.role === 'tool' && !called.has(message.tool_call_id)) return `no tool call for ${message.tool_call_id}`;
  }
  return null;
}

export async function answer({ body, turn, response, sendJson, startEvents }) {
  const tool_calls = turn.calls.map((call) => ({
    id: freshId('call'), type: 'function', function: { name: call.name, arguments: JSON.stringify(call.args) },
  }));
  const finish_reason = tool_calls.length > 0 ? 'tool_calls' : 'stop';
  const base = { id: freshId('chatcmpl'), created: 1, model: body.model };
  const { input, output, cacheRead, cacheWrite } = usageOf(turn);
  const prompt = input + cacheRead + cacheWrite;
  const usage = {
    prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
  };
  const text = turn.text || (tool_calls.length > 0 ? '' : 'Done.');
  if (!body.stream) {
    const message = { role: 'assistant', content: text, ...(tool_calls.length > 0 && { tool_calls }) };
    sendJson(response, 200, {
      ...base, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage,
    });
    return;
  }
  const events = startEvents(response);
  const send = (delta, finish_reason = null, rest = {}) =>
    events.send({ ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }], ...rest });
  for await (const content of spoken(turn, text, response)) send({ role: 'assistant', content });
  tool_calls.forEach((call, index) => send({ tool_calls: [{ index, ...call }] }));
  send({}, finish_reason, { usage });
  events.send('[DONE]');
  events.end();
}
