"""A small server with the official Python SDK: plain tools, one that asks back, one that fails.

python server.py [PORT]
"""

import sys

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult
from pydantic import BaseModel

server = MCPServer("python-server")


class Answer(BaseModel):
    sure: bool


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def fail(why: str) -> str:
    """Fails."""
    raise ValueError(why)


@server.tool()
async def ask(context: Context) -> str:
    """Asks whoever calls it."""
    answer = await context.elicit(message="sure?", schema=Answer)
    return f"{answer.action}"


@server.tool()
async def confirm(context: Context) -> str | InputRequiredResult:
    """Asks in the way of 2026-07-28: the client repeats the call with the answer."""
    if context.input_responses:
        return "confirmed"
    schema = {"type": "object", "properties": {"sure": {"type": "boolean"}}}
    question = ElicitRequestFormParams(message="sure?", requested_schema=schema)
    return InputRequiredResult(
        input_requests={"sure": ElicitRequest(params=question)}, request_state="asked"
    )


@server.prompt()
def greet(name: str) -> str:
    """Greets."""
    return f"Hello, {name}"


@server.resource("note://{name}")
def note(name: str) -> str:
    """A note."""
    return f"a note called {name}"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
    else:
        server.run(transport="stdio")
