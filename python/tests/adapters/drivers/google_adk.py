"""Google ADK with a scripted model."""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import LlmAgent, SequentialAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai import types
from script import INPUT_TOKENS, OUTPUT_TOKENS, PROMPT, Outcome, Tools, Turn, complete

from sprag_guard import Guard
from sprag_guard.google_adk import SpragPlugin

MODES = ("sync", "async", "stream")
RAISES = True
USAGE = True
IDS = itertools.count()


class Scripted(BaseLlm):
    """Plays turns, one a request."""

    model: str = "scripted"
    turns: list[Any]
    requests: int = 0

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        turn = self.turns[self.requests]
        self.requests += 1
        if isinstance(turn, str):
            parts = [types.Part(text=turn)]
            if stream:
                content = types.Content(role="model", parts=parts)
                yield LlmResponse(content=content, partial=True)
        else:
            parts = [
                types.Part(
                    function_call=types.FunctionCall(id=f"call_{next(IDS)}", name=name, args=args)
                )
                for name, args in turn
            ]
        usage = types.GenerateContentResponseUsageMetadata(
            prompt_token_count=INPUT_TOKENS, candidates_token_count=OUTPUT_TOKENS
        )
        yield LlmResponse(
            content=types.Content(role="model", parts=parts), usage_metadata=usage, partial=False
        )


def play(guard: Guard, turns: list[Turn], tools: Tools, mode: str) -> Outcome:
    model = Scripted(turns=turns)
    agent = LlmAgent(name="solo", model=model, tools=list(tools.functions()))
    return _run(agent, guard, [model], mode)


def _run(agent: Any, guard: Guard, models: list[Scripted], mode: str) -> Outcome:
    runner = InMemoryRunner(agent=agent, app_name="test", plugins=[SpragPlugin(guard)])
    streaming = StreamingMode.SSE if mode == "stream" else StreamingMode.NONE
    message = types.Content(role="user", parts=[types.Part(text=PROMPT)])
    given = {
        "user_id": "u",
        "session_id": "s1",
        "new_message": message,
        "run_config": RunConfig(streaming_mode=streaming),
    }

    async def events() -> list[Any]:
        return [event async for event in runner.run_async(**given)]

    async def start() -> None:
        await runner.session_service.create_session(app_name="test", user_id="u", session_id="s1")

    complete(start())
    try:
        found = list(runner.run(**given)) if mode == "sync" else complete(events())
    except Exception as error:
        return Outcome(sum(m.requests for m in models), error=error)
    results, final = [], ""
    for event in found:
        if event.partial:
            continue
        for part in (event.content.parts if event.content else None) or []:
            if part.function_response is not None:
                results.append(_shown(part.function_response.response))
            elif part.text:
                final = part.text
    return Outcome(sum(m.requests for m in models), results, final)


def _shown(response: Any) -> str:
    """The fields of a response as the model reads them, one below the other."""
    return "\n".join(str(value) for value in response.values())


def play_subagent(guard: Guard, tools: Tools) -> Outcome:
    inner = Scripted(turns=[[("echo", {"text": "inner"})], "inner done"])
    helper = LlmAgent(
        name="helper", description="Helps.", model=inner, tools=list(tools.functions())
    )
    model = Scripted(turns=[[("helper", {"request": "help"})], "done"])
    lead = LlmAgent(name="lead", model=model, tools=[AgentTool(helper)])
    return _run(lead, guard, [model], "async")


def play_handoff(guard: Guard, tools: Tools, times: int) -> Outcome:
    def transfer(to: str) -> list[Turn]:
        return [[("transfer_to_agent", {"agent_name": to})] for _ in range(times)]

    models = {name: Scripted(turns=transfer(to)) for name, to in ("ab", "ba")}
    b = LlmAgent(name="b", description="b", model=models["b"])
    a = LlmAgent(name="a", description="a", model=models["a"], sub_agents=[b])
    return _run(a, guard, list(models.values()), "async")


def test_a_sequence_of_agents_is_the_programs_order_and_no_handoff(db: Any, log: Any) -> None:
    """A pipeline of more agents than a chain of transfers may have."""
    models = [Scripted(turns=["next"]) for _ in range(8)]
    steps = [LlmAgent(name=f"n{n}", model=model) for n, model in enumerate(models)]
    with Guard(db=db) as guard:
        outcome = _run(SequentialAgent(name="all", sub_agents=steps), guard, models, "async")
    assert (outcome.final, outcome.requests) == ("next", 8)
    kinds = [r["event"]["type"] for r in log(db)]
    assert kinds.count("message") == 1
