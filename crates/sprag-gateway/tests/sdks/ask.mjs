// Asks the recorded set with the official SDKs for Node, and prints what they make of it as JSON.

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { GoogleGenAI } from '@google/genai';

const [anthropicBase, openaiBase, geminiBase] = process.argv.slice(2);
const parameters = { type: 'object', properties: { path: { type: 'string' } } };
const tool = { name: 'look', description: 'looks' };

const claude = new Anthropic({ baseURL: anthropicBase, apiKey: 'key', maxRetries: 0 });
const gpt = new OpenAI({ baseURL: openaiBase, apiKey: 'key', maxRetries: 0 });
const gemini = new GoogleGenAI({ apiKey: 'key', httpOptions: { baseUrl: geminiBase } });

const all = async (stream) => {
  const items = [];
  for await (const item of await stream) items.push(item);
  return items;
};
const without = ({ sdkHttpResponse, ...rest }) => rest;

const APIS = {
  messages: async (words, stream) => {
    const asked = { model: 'claude-test', max_tokens: 100, messages: [{ role: 'user', content: words }], tools: [{ ...tool, input_schema: parameters }] };
    if (!stream) return claude.messages.create(asked);
    const events = claude.messages.stream(asked);
    return { events: await all(events), final: await events.finalMessage() };
  },
  responses: async (words, stream) => {
    const asked = { model: 'gpt-test', input: words, tools: [{ type: 'function', strict: false, ...tool, parameters }] };
    return stream ? all(gpt.responses.create({ ...asked, stream: true })) : gpt.responses.create(asked);
  },
  chat: async (words, stream) => {
    const asked = { model: 'gpt-test', messages: [{ role: 'user', content: words }], tools: [{ type: 'function', function: { ...tool, parameters } }] };
    return stream ? all(gpt.chat.completions.create({ ...asked, stream: true })) : gpt.chat.completions.create(asked);
  },
  content: async (words, stream) => {
    const config = { tools: [{ functionDeclarations: [{ ...tool, parametersJsonSchema: parameters }] }] };
    const asked = { model: 'gemini-test', contents: words, config };
    return stream ? (await all(gemini.models.generateContentStream(asked))).map(without) : without(await gemini.models.generateContent(asked));
  },
};

const found = {};
for (const [api, ask] of Object.entries(APIS)) {
  for (const answer of ['text', 'calls', 'error']) {
    for (const stream of [false, true]) {
      const name = `${api} ${answer} ${stream ? 'streamed' : 'whole'}`;
      try {
        found[name] = await ask(`answer: ${answer}`, stream);
      } catch (error) {
        found[name] = { status: error.status, message: error.message };
      }
    }
  }
}
console.log(JSON.stringify(found, null, 1));
