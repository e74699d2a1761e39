// The generateContent API of Google, which Gemini CLI speaks.

import { freshId, usageOf } from './server.js';

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

export function answer({ pathname, turn, response, sendJson, startEvents }) {
  if (pathname.endsWith(':countTokens')) {
    sendJson(response, 200, { totalTokens: 10 });
    return;
  }
  const parts = turn.calls.map((call) => ({
    functionCall: { id: freshId('fc'), name: call.name, args: call.args },
    thoughtSignature: 'c2lnbmF0dXJl',
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
  events.send(whole);
  events.end();
}
