"""LangChain's `create_agent` with a scripted chat model."""

from __future__ import annotations

from typing import Annotated, Any, Iterator

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import InjectedState
from langgraph.types import Command
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
    """Two agents of one graph that pass the work to each other by a tool."""
    graph = StateGraph(MessagesState)
    models = {}
    for name, other in (("a", "b"), ("b", "a")):
        models[name] = Scripted(turns=[[(f"transfer_to_{other}", {})]] * times)
        agent = create_agent(
            models[name], [transfer_to(other)], middleware=[SpragMiddleware(guard)], name=name
        )
        graph.add_node(name, agent, destinations=(other,))
    graph.add_edge("__start__", "a")
    config = {"recursion_limit": 400, "configurable": {"thread_id": "t1"}}
    given = {"messages": [("user", PROMPT)]}
    messages = graph.compile().invoke(given, config)["messages"]
    requests = sum(model.requests for model in models.values())
    return Outcome(requests, final=str(messages[-1].content))


def transfer_to(other: str) -> Any:
    @tool(f"transfer_to_{other}", description="Hands over.")
    def transfer(
        state: Annotated[Any, InjectedState], id: Annotated[str, InjectedToolCallId]
    ) -> Command[Any]:
        """Hands over."""
        done = ToolMessage("handed over", tool_call_id=id)
        update = {"messages": [*state["messages"], done]}
        return Command(goto=other, graph=Command.PARENT, update=update)

    return transfer


def test_agents_that_follow_each_other_as_the_program_wants_are_no_handoff(db: Any, log: Any) -> None:
    """A pipeline of more agents than a chain of handoffs may have."""
    with Guard(db=db) as guard:
        graph = StateGraph(MessagesState)
        for number in range(8):
            agent = create_agent(
                Scripted(turns=["next"]), middleware=[SpragMiddleware(guard)], name=f"n{number}"
            )
            graph.add_node(f"n{number}", agent)
            graph.add_edge(f"n{number - 1}" if number else "__start__", f"n{number}")
        config = {"configurable": {"thread_id": "t1"}}
        messages = graph.compile().invoke({"messages": [("user", PROMPT)]}, config)["messages"]
    assert [str(m.content) for m in messages[1:]] == ["next"] * 8
    kinds = [r["event"]["type"] for r in log(db)]
    assert kinds.count("message") == 1
