"""Uses a server with the official Python SDK and prints what came of it.

python client.py MODE COMMAND ARGUMENTS…
python client.py MODE URL
"""

import asyncio
import sys

from mcp import Client, StdioServerParameters
from mcp.types import ElicitResult


async def consent(context, params):
    return ElicitResult(action="accept", content={"sure": True})


async def note(what, doing):
    try:
        result = await doing
        print(f"{what}: {result.model_dump_json(exclude={'meta'})}")
    except Exception as error:
        print(f"{what}: failed: {type(error).__name__}: {error}")


async def main():
    mode, command, *args = sys.argv[1:]
    is_address = command.startswith("http")
    server = command if is_address else StdioServerParameters(command=command, args=args)
    async with Client(server, mode=mode, elicitation_callback=consent) as client:
        await note("tools", client.list_tools())
        await note("add", client.call_tool("add", {"a": 1, "b": 2}))
        await note("add wrongly", client.call_tool("add", {"a": "x"}))
        await note("fail", client.call_tool("fail", {"why": "told to"}))
        await note("ask", client.call_tool("ask", {}))
        await note("confirm", client.call_tool("confirm", {}))
        await note("nothing", client.call_tool("nothing", {}))
        await note("prompts", client.list_prompts())
        await note("greet", client.get_prompt("greet", {"name": "you"}))
        await note("note", client.read_resource("note://today"))


asyncio.run(main())
