// The generateContent API of Google, which Gemini CLI speaks.

import { freshId, spoken, usageOf } from './server.js';

export const name = 'gemini';

export function serves(method, path) {
  return method === 'POST' && /:(streamGenerateContent|generateContent|countTokens)$/.test(path);
}

export function read(body) {
  const tools = (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []).map((tool) => tool.name);
  const turns = (body.contents ?? []).map(({ role, parts = [] }) => ({
    role: role === 'model' ? 'assistant' : 'user',
    text: parts.map((part) => part.text ?? '').filter(Boolean).join('\n'),
    calls: parts.filter((part) => part.functionCall).map(({ functionCall }) => ({
      name: functionCall.name, args: functionCall.args,
    })),
    results: parts.filter((part) => part.functionResponse)
      .map(({ functionResponse: { response } }) => response?.output ?? response?.error ?? JSON.stringify(response)),
  }));
  return { tools, turns, wantsJson: body.generationConfig?.responseMimeType === 'application/json' };
}

/** Why the API refuses a request: calls and results that do not belong together, a signature that it did not make. */
export function refuses(body) {
  const parts = (content, kind) => (content?.parts ?? []).filter((part) => part[kind]);
  const contents = body.contents ?? [];
  for (const [at, content] of contents.entries()) {
    const calls = parts(content, 'functionCall');
    const results = parts(contents[at + 1], 'functionResponse');
    if (calls.length > 0 && calls.length !== results.length) return `contents.${at}: ${calls.length} function calls and ${results.length} responses`;
    if (results.length > 0 && calls.length === 0) return `contents.${at + 1}: function responses without their calls`;
    const signature = calls[0]?.thoughtSignature;
    if (signature && !SIGNATURES.includes(signature)) return `contents.${at}: thought signature is not valid`;
  }
  return null;
}

const SIGNATURE = 'c2lnbmF0dXJl';
// The second one is documented for calls that a model did not make. Gemini CLI makes signatures of its own for calls without one.
const SIGNATURES = [SIGNATURE, 'skip_thought_signature_validator'];

export async function answer({ pathname, turn, response, sendJson, startEvents }) {
  if (pathname.endsWith(':countTokens')) {
    sendJson(response, 200, { totalTokens: 10 });
    return;
  }
  const parts = turn.calls.map((call) => ({
    functionCall: { id: freshId('fc'), name: call.name, args: call.args },
    thoughtSignature: SIGNATURE,
  }));
  if (turn.text || parts.length === 0) parts.unshift({ text: turn.text || 'Done.' });
  const { input, output, cacheRead, cacheWrite } = usageOf(turn);
  const prompt = input + cacheRead + cacheWrite;
  const whole = {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata: {
      promptTokenCount: prompt, candidatesTokenCount: output, cachedContentTokenCount: cacheRead, totalTokenCount: prompt + output,
    },
    modelVersion: 'scripted',
  };
  if (!pathname.endsWith(':streamGenerateContent')) {
    sendJson(response, 200, whole);
    return;
  }
  const events = startEvents(response);
  for await (const text of turn.pieces ? spoken(turn, '', response) : []) {
    events.send({ candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0 }], modelVersion: 'scripted' });
  }
  events.send(whole);
  events.end();
}
