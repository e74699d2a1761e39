"""Claude Agent SDK: the guard's hooks beside your own."""

import asyncio

from claude_agent_sdk import ClaudeAgentOptions, create_sdk_mcp_server, query, tool

from sprag_guard import Guard
from sprag_guard.claude_agent import Sprag


@tool("delete_asset", "Deletes an asset.", {"asset_id": str})
async def delete_asset(args):
    """In vain."""
    print(f"deleting {args['asset_id']}")
    return {"content": [{"type": "text", "text": "it still exists"}]}


async def main() -> None:
    """One turn of the agent; Sprag() shares this machine's guard."""
    server = create_sdk_mcp_server("catalog", tools=[delete_asset])
    options = ClaudeAgentOptions(
        mcp_servers={"catalog": server}, permission_mode="bypassPermissions"
    )
    sprag = Sprag(Guard.in_memory())
    prompt = "Delete the asset fact_sales until it is gone."
    async for message in sprag.watch(query(prompt=prompt, options=sprag.options(options))):
        print(type(message).__name__, getattr(message, "result", ""))


asyncio.run(main())
