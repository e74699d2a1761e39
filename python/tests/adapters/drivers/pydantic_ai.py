"""Pydantic AI with its own function model."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.usage import RequestUsage
from script import INPUT_TOKENS, OUTPUT_TOKENS, PROMPT, Outcome, Tools, Turn, complete

from sprag_guard import Guard
from sprag_guard.pydantic_ai import Sprag

MODES = ("sync", "async", "stream")
RAISES = True
USAGE = True
#: The function model estimates what a streamed answer cost.
ESTIMATED = ("stream",)
IDS = itertools.count()


class Script:
    """Plays turns, one a request."""

    def __init__(self, turns: list[Turn]) -> None:
        self.turns, self.requests = turns, 0
        self.model = FunctionModel(self.answer, stream_function=self.stream)

    def turn(self) -> Turn:
        self.requests += 1
        return self.turns[self.requests - 1]

    def answer(self, messages: list[Any], info: AgentInfo) -> ModelResponse:
        turn = self.turn()
        usage = RequestUsage(input_tokens=INPUT_TOKENS, output_tokens=OUTPUT_TOKENS)
        if isinstance(turn, str):
            return ModelResponse([TextPart(turn)], usage=usage)
        calls = [ToolCallPart(name, args, f"call_{next(IDS)}") for name, args in turn]
        return ModelResponse(calls, usage=usage)

    async def stream(self, messages: list[Any], info: AgentInfo) -> AsyncIterator[Any]:
        turn = self.turn()
        if isinstance(turn, str):
            yield turn
            return
        for number, (name, args) in enumerate(turn):
            yield {number: DeltaToolCall(name, json.dumps(args), tool_call_id=f"call_{next(IDS)}")}


def play(guard: Guard, turns: list[Turn], tools: Tools, mode: str) -> Outcome:
    script = Script(turns)
    agent = Agent(script.model, tools=tools.functions(), capabilities=[Sprag(guard)])
    return _run(agent, script, mode)


def _run(agent: Agent[Any, str], script: Script, mode: str) -> Outcome:
    try:
        if mode == "sync":
            result: Any = agent.run_sync(PROMPT)
        elif mode == "async":
            result = complete(agent.run(PROMPT))
        else:
            messages, output = complete(_stream(agent))
            return Outcome(script.requests, _results(messages), output)
    except Exception as error:
        return Outcome(script.requests, error=error)
    return Outcome(script.requests, _results(result.all_messages()), result.output)


async def _stream(agent: Agent[Any, str]) -> tuple[Any, str]:
    async with agent.run_stream(PROMPT) as result:
        output = await result.get_output()
        return result.all_messages(), output


def _results(messages: Any) -> list[str]:
    parts = [part for message in messages for part in message.parts]
    return [str(part.content) for part in parts if isinstance(part, ToolReturnPart)]


def play_subagent(guard: Guard, tools: Tools) -> Outcome:
    inner = Script([[("echo", {"text": "inner"})], "inner done"])
    helper = Agent(
        inner.model, name="helper", tools=tools.functions(), capabilities=[Sprag(guard)]
    )

    async def ask_helper(text: str) -> str:
        """Asks the helper."""
        return (await helper.run(text)).output

    script = Script([[("ask_helper", {"text": "help"})], "done"])
    lead = Agent(script.model, name="lead", tools=[ask_helper], capabilities=[Sprag(guard)])
    return _run(lead, script, "async")
