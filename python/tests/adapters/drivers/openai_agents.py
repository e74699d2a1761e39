"""OpenAI Agents with the SDK's own scripted model."""

from __future__ import annotations

import itertools
import json
from typing import Any

from agents import Agent, Runner, function_tool, set_tracing_disabled
from agents.items import ModelResponse
from agents.testing import ScriptedModel
from agents.usage import Usage
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from script import INPUT_TOKENS, OUTPUT_TOKENS, PROMPT, Outcome, Tools, Turn, complete

from sprag_guard import Guard
from sprag_guard.openai_agents import guard as guarded

MODES = ("sync", "async", "stream")
RAISES = False
USAGE = True
set_tracing_disabled(True)
IDS = itertools.count()


def model(turns: list[Turn]) -> ScriptedModel:
    return ScriptedModel([response(turn) for turn in turns])


def response(turn: Turn) -> ModelResponse:
    usage = Usage(requests=1, input_tokens=INPUT_TOKENS, output_tokens=OUTPUT_TOKENS)
    output: list[Any] = []
    if isinstance(turn, str):
        text = ResponseOutputText(text=turn, type="output_text", annotations=[])
        output.append(
            ResponseOutputMessage(
                id="m", content=[text], role="assistant", status="completed", type="message"
            )
        )
    else:
        for name, args in turn:
            output.append(
                ResponseFunctionToolCall(
                    call_id=f"call_{next(IDS)}",
                    name=name,
                    arguments=json.dumps(args),
                    type="function_call",
                )
            )
    return ModelResponse(output=output, usage=usage, response_id=None)


def play(guard: Guard, turns: list[Turn], tools: Tools, mode: str) -> Outcome:
    script = model(turns)
    agent = Agent("solo", model=script, tools=[function_tool(f) for f in tools.functions()])
    return _run(guarded(agent, guard), script, mode)


def _run(agent: Agent[Any], script: ScriptedModel, mode: str) -> Outcome:
    try:
        if mode == "sync":
            result: Any = Runner.run_sync(agent, PROMPT, max_turns=100)
        elif mode == "async":
            result = complete(Runner.run(agent, PROMPT, max_turns=100))
        else:
            result = complete(_stream(agent))
    except Exception as error:
        details = getattr(getattr(error, "output", None), "output_info", "")
        error.add_note(str(details)) if hasattr(error, "add_note") else None
        return Outcome(len(script.calls), final=str(details), error=error)
    results = [
        str(item["output"]) for item in result.to_input_list() if item.get("type") == "function_call_output"
    ]
    return Outcome(len(script.calls), results, str(result.final_output))


async def _stream(agent: Agent[Any]) -> Any:
    result = Runner.run_streamed(agent, PROMPT, max_turns=100)
    async for _ in result.stream_events():
        pass
    return result


def play_subagent(guard: Guard, tools: Tools) -> Outcome:
    inner = model([[("echo", {"text": "inner"})], "inner done"])
    helper = guarded(
        Agent("helper", model=inner, tools=[function_tool(f) for f in tools.functions()]), guard
    )
    script = model([[("ask_helper", {"input": "help"})], "done"])
    tool = helper.as_tool("ask_helper", "Asks the helper.")
    return _run(guarded(Agent("lead", model=script, tools=[tool]), guard), script, "async")


def play_handoff(guard: Guard, tools: Tools, times: int) -> Outcome:
    scripts = {name: model([[(f"transfer_to_{to}", {})]] * times) for name, to in ("ab", "ba")}
    a = Agent("a", model=scripts["a"])
    b = Agent("b", model=scripts["b"], handoffs=[a])
    a.handoffs = [b]
    return _run(guarded(a, guard), scripts["a"], "async")
