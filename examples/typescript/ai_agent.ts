// Vercel AI SDK: one function around the options.
import { generateText, isStepCount, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { Guard } from "sprag";
import { sprag } from "sprag/ai";
import { z } from "zod";

// A model that deletes the same asset for ever.
const count = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0, text: 1, reasoning: 0 };
let calls = 0;
const model = new MockLanguageModelV4({
  doGenerate: async () => ({
    content: [{ type: "tool-call", toolCallId: `c${calls++}`, toolName: "delete_asset", input: '{"asset_id":"fact_sales"}' }],
    finishReason: { unified: "tool-calls", raw: undefined },
    usage: { inputTokens: count, outputTokens: count },
    warnings: [],
  }),
});

const delete_asset = tool({
  description: "Deletes an asset, in vain.",
  inputSchema: z.object({ asset_id: z.string() }),
  execute: async ({ asset_id }) => `${asset_id} still exists`,
});

const guarded = sprag({ guard: Guard.inMemory() }); // sprag() shares this machine's guard
const result = await generateText(guarded({ model, tools: { delete_asset }, prompt: "clean up", stopWhen: isStepCount(10) }));
console.log(result.text);
