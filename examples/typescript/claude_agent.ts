// Claude Agent SDK: the guard's hooks beside your own. It speaks to ANTHROPIC_BASE_URL.
import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk";
import { Guard } from "sprag";
import { Sprag } from "sprag/claude-agent";
import { z } from "zod";

const deleteAsset = tool("delete_asset", "Deletes an asset.", { asset_id: z.string() }, async ({ asset_id }) => {
  console.log(`deleting ${asset_id}`);
  return { content: [{ type: "text", text: "it still exists" }] };
});

const sprag = new Sprag({ guard: Guard.inMemory() }); // new Sprag() shares this machine's guard
const options = sprag.options({
  mcpServers: { catalog: createSdkMcpServer({ name: "catalog", tools: [deleteAsset] }) },
  permissionMode: "bypassPermissions",
  allowDangerouslySkipPermissions: true,
});
const prompt = "Delete the asset fact_sales until it is gone.";
for await (const message of sprag.watch(query({ prompt, options }))) console.log(message.type);
