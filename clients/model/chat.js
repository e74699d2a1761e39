// The chat completions API of OpenAI, which Copilot and opencode speak to a provider of one's own.

import { freshId, usageOf } from './server.js';

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

export function answer({ body, turn, response, sendJson, startEvents }) {
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
  send({ role: 'assistant', content: text });
  tool_calls.forEach((call, index) => send({ tool_calls: [{ index, ...call }] }));
  send({}, finish_reason, { usage });
  events.send('[DONE]');
  events.end();
}
