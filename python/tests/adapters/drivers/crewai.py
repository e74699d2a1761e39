"""CrewAI with a scripted model."""

from __future__ import annotations

import itertools
import json
import os
from typing import Any

os.environ.update(CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true", CREWAI_TRACING_ENABLED="false")

from crewai import Agent, Crew, Task  # noqa: E402
from crewai.llms.base_llm import BaseLLM  # noqa: E402
from crewai.tools import tool  # noqa: E402
from script import (  # noqa: E402
    INPUT_TOKENS,
    OUTPUT_TOKENS,
    PROMPT,
    Outcome,
    Tools,
    Turn,
    complete,
)

from sprag_guard import Guard  # noqa: E402
from sprag_guard.crewai import SpragHooks  # noqa: E402

MODES = ("sync", "async", "stream")
RAISES = False
USAGE = True
IDS = itertools.count()


class Scripted(BaseLLM):
    """Plays turns, one a request."""

    turns: list[Any] = []
    requests: int = 0
    seen: list[str] = []

    def supports_function_calling(self) -> bool:
        return True

    def call(self, messages: Any, *_: Any, **__: Any) -> Any:
        self.seen = [str(m["content"]) for m in messages if m.get("role") == "tool"]
        turn = self.turns[self.requests]
        self.requests += 1
        self._track_token_usage_internal(
            {
                "prompt_tokens": INPUT_TOKENS,
                "completion_tokens": OUTPUT_TOKENS,
                "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
            }
        )
        if isinstance(turn, str):
            return turn
        return [
            {
                "id": f"call_{next(IDS)}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(args)},
            }
            for name, args in turn
        ]

    async def acall(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        return self.call(messages, *args, **kwargs)


def model(turns: list[Turn]) -> Scripted:
    return Scripted(model="scripted", turns=turns)


def made(tools: Tools) -> list[Any]:
    found = [tool(function.__name__)(function) for function in tools.functions()]
    for one in found:
        # A result from the cache is no call of the tool; the contract counts calls.
        one.cache_function = lambda *_: False
    return found


def agent(role: str, llm: Scripted, tools: list[Any], **fields: Any) -> Agent:
    return Agent(
        role=role, goal="work", backstory="works", llm=llm, tools=tools, max_iter=100, **fields
    )


def play(guard: Guard, turns: list[Turn], tools: Tools, mode: str) -> Outcome:
    llm = model(turns)
    worker = agent("solo", llm, made(tools))
    task = Task(description=PROMPT, expected_output="text", agent=worker)
    return _run(Crew(agents=[worker], tasks=[task], stream=mode == "stream"), guard, llm, mode)


def _run(crew: Crew, guard: Guard, llm: Scripted, mode: str) -> Outcome:
    with SpragHooks(guard):
        try:
            if mode == "async":
                result: Any = complete(crew.akickoff())
            elif mode == "stream":
                streaming = crew.kickoff()
                for _ in streaming:
                    pass
                result = streaming.result
            else:
                result = crew.kickoff()
        except Exception as error:
            return Outcome(llm.requests, llm.seen, error=error)
    return Outcome(llm.requests, llm.seen, str(result.raw))


def play_subagent(guard: Guard, tools: Tools) -> Outcome:
    inner = model([[("echo", {"text": "inner"})], "inner done"])
    helper = agent("helper", inner, made(tools))
    ask = {"question": "q", "context": "c", "coworker": "Helper"}
    llm = model([[("ask_question_to_coworker", ask)], "done"])
    lead = agent("lead", llm, [], allow_delegation=True)
    task = Task(description=PROMPT, expected_output="text", agent=lead)
    return _run(Crew(agents=[lead, helper], tasks=[task]), guard, llm, "sync")

