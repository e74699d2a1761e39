"""LangChain's `create_agent` with a scripted chat model."""

from __future__ import annotations

from typing import Any, Iterator

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from script import INPUT_TOKENS, OUTPUT_TOKENS, PROMPT, Outcome, Tools, Turn, complete

from sprag_guard import Guard
from sprag_guard.langchain import SpragMiddleware

MODES = ("sync", "async", "stream")
RAISES = True
USAGE = True


class Scripted(BaseChatModel):
    """Plays turns, one a request."""

    turns: list[Any]
    requests: int = 0

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> Scripted:  # type: ignore[override]
        return self

    def _message(self, kind: Any) -> Any:
        turn = self.turns[self.requests]
        self.requests += 1
        usage = {
            "input_tokens": INPUT_TOKENS,
            "output_tokens": OUTPUT_TOKENS,
            "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
        }
        if isinstance(turn, str):
            return kind(content=turn, usage_metadata=usage)
        calls = [
            {"name": name, "args": args, "id": f"call_{n}"} for n, (name, args) in enumerate(turn)
        ]
        return kind(content="", tool_calls=calls, usage_metadata=usage)

    def _generate(self, messages: Any, *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._message(AIMessage))])

    def _stream(self, messages: Any, *_: Any, **__: Any) -> Iterator[ChatGenerationChunk]:
        yield ChatGenerationChunk(message=self._message(AIMessageChunk))


def play(guard: Guard, turns: list[Turn], tools: Tools, mode: str) -> Outcome:
    model = Scripted(turns=turns)
    agent = create_agent(model, tools.functions(), middleware=[SpragMiddleware(guard)])
    return _run(agent, model, mode)


def _run(agent: Any, model: Scripted, mode: str) -> Outcome:
    given = {"messages": [("user", PROMPT)]}
    try:
        if mode == "sync":
            messages = agent.invoke(given, {"recursion_limit": 200})["messages"]
        elif mode == "async":
            messages = complete(agent.ainvoke(given, {"recursion_limit": 200}))["messages"]
        else:
            states = list(agent.stream(given, {"recursion_limit": 200}, stream_mode="values"))
            messages = states[-1]["messages"]
    except Exception as error:
        return Outcome(model.requests, error=error)
    results = [str(m.content) for m in messages if isinstance(m, ToolMessage)]
    return Outcome(model.requests, results, str(messages[-1].content))


def play_subagent(guard: Guard, tools: Tools) -> Outcome:
    inner = Scripted(turns=[[("echo", {"text": "inner"})], "inner done"])
    helper = create_agent(
        inner, tools.functions(), middleware=[SpragMiddleware(guard)], name="helper"
    )

    def ask_helper(text: str) -> str:
        """Asks the helper."""
        return str(helper.invoke({"messages": [("user", text)]})["messages"][-1].content)

    model = Scripted(turns=[[("ask_helper", {"text": "help"})], "done"])
    lead = create_agent(model, [ask_helper], middleware=[SpragMiddleware(guard)], name="lead")
    return _run(lead, model, "sync")


def play_handoff(guard: Guard, tools: Tools, times: int) -> Outcome:
    """Two agents of one graph that pass the work to each other."""
    from langgraph.graph import MessagesState, StateGraph

    models = {name: Scripted(turns=["over to you"] * times) for name in ("a", "b")}
    graph = StateGraph(MessagesState)
    for name, model in models.items():
        graph.add_node(
            name, create_agent(model, middleware=[SpragMiddleware(guard)], name=name)
        )

    def route(state: Any) -> str:
        said = str(state["messages"][-1].content)
        return "__end__" if said.startswith("sprag:") else "other"

    graph.add_edge("__start__", "a")
    graph.add_conditional_edges("a", route, {"other": "b", "__end__": "__end__"})
    graph.add_conditional_edges("b", route, {"other": "a", "__end__": "__end__"})
    config = {"recursion_limit": 400, "configurable": {"thread_id": "t1"}}
    given = {"messages": [("user", PROMPT)]}
    messages = graph.compile().invoke(given, config)["messages"]
    requests = sum(model.requests for model in models.values())
    return Outcome(requests, final=str(messages[-1].content))
