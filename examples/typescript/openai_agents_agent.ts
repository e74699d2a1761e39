// OpenAI Agents SDK: a guarded copy of the agent.
import { Agent, run, setTracingDisabled, tool } from "@openai/agents";
import { functionCall, ScriptedModel } from "@openai/agents-core/testing";
import { Guard, Refused } from "sprag";
import { guard } from "sprag/openai-agents";
import { z } from "zod";

setTracingDisabled(true);
// A model that deletes the same asset for ever.
const turns = Array.from({ length: 10 }, (_, n) => [functionCall("delete_asset", { asset_id: "fact_sales" }, { callId: `c${n}` })]);

const deleteAsset = tool({
  name: "delete_asset",
  description: "Deletes an asset, in vain.",
  parameters: z.object({ asset_id: z.string() }),
  execute: ({ asset_id }) => `${asset_id} still exists`,
});

const agent = new Agent({ name: "cleaner", model: new ScriptedModel(turns), tools: [deleteAsset] });
try {
  await run(guard(agent, { guard: Guard.inMemory() }), "clean up"); // guard(agent) shares this machine's guard
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  console.log(error.message);
}
