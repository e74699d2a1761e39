// The responses API of OpenAI, which Codex speaks.

import { freshId, spoken, usageOf } from './server.js';

export const name = 'responses';

export function serves(method, path) {
  return method === 'POST' && path.endsWith('/responses');
}

export function read(body) {
  const tools = (body.tools ?? []).map((tool) => tool.name ?? tool.type);
  const input = typeof body.input === 'string' ? [{ type: 'message', role: 'user', content: body.input }] : body.input;
  const turns = [];
  for (const item of input ?? []) {
    const turn = turnOf(item);
    const last = turns.at(-1);
    // Calls of one answer come as items of their own: they are one turn.
    if (turn.role === 'assistant' && last?.role === 'assistant') {
      last.text = [last.text, turn.text].filter(Boolean).join('\n');
      last.calls.push(...turn.calls);
    } else {
      turns.push(turn);
    }
  }
  return { tools, turns, instructions: body.instructions };
}

function turnOf(item) {
  const empty = { role: 'user', text: '', calls: [], results: [] };
  switch (item.type) {
    case 'function_call':
      return { ...empty, role: 'assistant', calls: [{ name: item.name, args: parse(item.arguments) }] };
    case 'custom_tool_call':
      return { ...empty, role: 'assistant', calls: [{ name: item.name, args: item.input }] };
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { ...empty, results: [textOf(item.output)] };
    case 'reasoning':
      return { ...empty, role: 'assistant' };
    default:
      return { ...empty, role: item.role ?? 'user', text: textOf(item.content) };
  }
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function textOf(content) {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map((part) => part.text ?? '').join('\n');
  return content?.content ?? '';
}

/** Why the API refuses a request: calls and results that do not belong together, reasoning without what it led to. */
export function refuses(body) {
  const items = Array.isArray(body.input) ? body.input : [];
  const ids = (end) => new Set(items.filter(({ type }) => type?.endsWith(end)).map((item) => item.call_id));
  const [calls, outputs] = [ids('_call'), ids('_call_output')];
  for (const [at, item] of items.entries()) {
    if (/^(function|custom_tool)_call$/.test(item.type) && !outputs.has(item.call_id)) return `No tool output found for function call ${item.call_id}.`;
    if (/^(function|custom_tool)_call_output$/.test(item.type) && !calls.has(item.call_id) && !body.previous_response_id) return `No tool call found for ${item.call_id}.`;
    const next = items[at + 1];
    if (item.type === 'reasoning' && (!next || next.role === 'user')) return `Item ${item.id} of type reasoning was provided without its required following item.`;
  }
  return null;
}

export async function answer({ body, turn, response, sendJson, startEvents }) {
  const output = [];
  if (turn.text || turn.calls.length === 0) {
    const content = [{ type: 'output_text', text: turn.text || 'Done.', annotations: [] }];
    output.push({ type: 'message', id: freshId('msg'), role: 'assistant', status: 'completed', content });
  }
  for (const call of turn.calls) {
    const item = { id: freshId('fc'), call_id: freshId('call'), name: call.name, status: 'completed' };
    output.push(call.custom
      ? { ...item, type: 'custom_tool_call', input: call.args }
      : { ...item, type: 'function_call', arguments: JSON.stringify(call.args), namespace: call.namespace });
  }
  const { input, output: written, cacheRead, cacheWrite } = usageOf(turn);
  const prompt = input + cacheRead + cacheWrite;
  const whole = {
    id: freshId('resp'), object: 'response', status: 'completed', model: body.model, output,
    usage: {
      input_tokens: prompt, output_tokens: written, total_tokens: prompt + written,
      input_tokens_details: { cached_tokens: cacheRead },
    },
  };
  if (!body.stream) {
    sendJson(response, 200, whole);
    return;
  }
  const events = startEvents(response);
  const send = (type, rest) => events.send({ type, ...rest }, type);
  send('response.created', { response: { ...whole, status: 'in_progress', output: [] } });
  for (const [output_index, item] of output.entries()) {
    send('response.output_item.added', { output_index, item });
    for await (const delta of item.type === 'message' && turn.pieces ? spoken(turn, '', response) : []) {
      send('response.output_text.delta', { output_index, item_id: item.id, content_index: 0, delta });
    }
    send('response.output_item.done', { output_index, item });
  }
  send('response.completed', { response: whole });
  events.end();
}
