"""The Claude Agent SDK: its own Claude Code binary, with a scripted model behind the messages API."""

from __future__ import annotations

import os
from typing import Any

from anthropic_api import Api
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ResultMessage,
    create_sdk_mcp_server,
    query,
    tool,
)
from script import PROMPT, Outcome, Tools, Turn, complete

from sprag_guard import Guard
from sprag_guard.claude_agent import Sprag

#: The SDK is async only, and always streams from the model.
MODES = ("async",)
RAISES = False
USAGE = True


def made(tools: Tools) -> list[Any]:
    found = []
    for function in tools.functions():
        name = next(iter(function.__annotations__))

        def bind(function: Any = function, name: str = name) -> Any:
            @tool(function.__name__, function.__doc__ or "", {name: str})
            async def run(args: dict[str, Any]) -> dict[str, Any]:
                return {"content": [{"type": "text", "text": function(args[name])}]}

            return run

        found.append(bind())
    return found


def play(
    guard: Guard, turns: list[Turn], tools: Tools, mode: str, inner: list[Turn] | None = None
) -> Outcome:
    api = Api(_named(turns), _named(inner or []))
    server = create_sdk_mcp_server("test", tools=made(tools))
    options = ClaudeAgentOptions(
        mcp_servers={"test": server},
        permission_mode="bypassPermissions",
        setting_sources=[],
        env={
            "ANTHROPIC_BASE_URL": api.url,
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",
            "HOME": os.environ["HOME"],
        },
    )
    sprag = Sprag(guard)

    async def main() -> ResultMessage | None:
        last = None
        async for message in sprag.watch(query(prompt=PROMPT, options=sprag.options(options))):
            if isinstance(message, ResultMessage):
                last = message
        return last

    try:
        result = complete(main())
    except Exception as error:
        return Outcome(api.requests, api.results(), error=error)
    finally:
        api.close()
    final = str(result.result or "") if result is not None else ""
    stopped = str(getattr(result, "stop_reason", "")) if result is not None else ""
    results = [text.rstrip("\n") for text in api.results()]
    return Outcome(api.requests, results, final or stopped)


def _named(turns: list[Turn]) -> list[Turn]:
    """The tools of the server by the names that the model knows them by."""
    return [
        turn
        if isinstance(turn, str)
        else [(n if n == "Agent" else f"mcp__test__{n}", args) for n, args in turn]
        for turn in turns
    ]


def play_subagent(guard: Guard, tools: Tools) -> Outcome:
    ask = {
        "description": "help",
        "prompt": "for-the-helper",
        "subagent_type": "general-purpose",
        "run_in_background": False,
    }
    inner: list[Turn] = [[("echo", {"text": "inner"})], "inner done"]
    return play(guard, [[("Agent", ask)], "done"], tools, "async", inner)
