// LangChain: one line of middleware.
import { AIMessage } from "@langchain/core/messages";
import { createAgent, FakeToolCallingModel, tool } from "langchain";
import { Guard } from "sprag";
import { spragMiddleware } from "sprag/langchain";
import { z } from "zod";

// A model that deletes the same asset for ever.
const call = { name: "delete_asset", args: { asset_id: "fact_sales" }, id: "c" };
const model = new FakeToolCallingModel({ toolCalls: Array.from({ length: 10 }, () => [call]) });

const deleteAsset = tool(({ asset_id }: { asset_id: string }) => `${asset_id} still exists`, {
  name: "delete_asset",
  description: "Deletes an asset, in vain.",
  schema: z.object({ asset_id: z.string() }),
});

const middleware = [spragMiddleware({ guard: Guard.inMemory() })]; // spragMiddleware() shares this machine's guard
const agent = createAgent({ model, tools: [deleteAsset], middleware });
const { messages } = await agent.invoke({ messages: [{ role: "user", content: "clean up" }] });
for (const message of messages) if (AIMessage.isInstance(message) || message.type === "tool") console.log(message.text);
