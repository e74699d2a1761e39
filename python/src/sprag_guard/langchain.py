"""LangChain and LangGraph: `create_agent(..., middleware=[SpragMiddleware()])`.

A refused call becomes a `ToolMessage` with `status="error"`, so that every call keeps its answer. A
killed session ends the run before the next model call. Agents that run inside a tool of another
agent are its sub-agents; a tool that sends the graph to another agent is a handoff.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.config import get_config
from langgraph.types import Command
from typing_extensions import NotRequired

from .aio import AsyncGuard
from .events import Event
from .guard import Guard
from .session import current, describe
from .verdict import Verdict
from .watch import Run, Seen, Watch, joined, uncached


class SpragState(AgentState[Any]):
    """Which session a run is: hooks have nothing else in common if there is no thread."""

    sprag_session: NotRequired[Annotated[str, PrivateStateAttr]]


class SpragMiddleware(AgentMiddleware[Any, Any, Any]):
    """Guards every tool call of an agent.

    Args:
        guard: The guard; without one, `Guard()`.
        session: The session of all runs. Without it the thread id is the session, else each run is.
        source: Who speaks to the agent: `user`, or `applet` and `scheduler` if that is a program.
    """

    state_schema = SpragState

    def __init__(
        self,
        guard: Guard | AsyncGuard | None = None,
        *,
        session: str | None = None,
        source: str = "user",
    ) -> None:
        super().__init__()
        self._watch = Watch(guard, source)
        self._session = session
        self._fallback = f"langchain-{uuid.uuid4().hex}"

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Reports what the user said, a spawn, or a handoff."""
        id, run, event = self._start(state, runtime)
        return _started(id, self._watch.report(run, event) if event else None)

    @hook_config(can_jump_to=["end"])
    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """`before_agent` for coroutines."""
        id, run, event = self._start(state, runtime)
        return _started(id, await self._watch.areport(run, event) if event else None)

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Ends a run whose session was killed."""
        run = self._run(state)
        return _end(run.stop) if run.stop is not None else None

    @hook_config(can_jump_to=["end"])
    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """`before_model` for coroutines."""
        return self.before_model(state, runtime)

    def after_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Reports what the answer of the model cost."""
        run = self._run(state)
        event = _usage(run, state, _agent_name())
        if event is not None:
            self._watch.report(run, event)
        return None

    async def aafter_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """`after_model` for coroutines."""
        run = self._run(state)
        event = _usage(run, state, _agent_name())
        if event is not None:
            await self._watch.areport(run, event)
        return None

    def after_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Reports the return of a sub-agent."""
        run = self._run(state)
        event = self._watch.end_event(run, _last_text(state, AIMessage))
        if event is not None:
            self._watch.report(run, event)
        return None

    async def aafter_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """`after_agent` for coroutines."""
        run = self._run(state)
        event = self._watch.end_event(run, _last_text(state, AIMessage))
        if event is not None:
            await self._watch.areport(run, event)
        return None

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Asks before the tool runs, and reports its result."""
        run, call = self._run(request.state), request.tool_call
        seen = self._watch.before(run, call["name"], call["args"], _agent_name())
        if seen.refused:
            return _refusal(call, seen)
        try:
            with seen.running():
                result = handler(request)
        except Exception as error:
            self._watch.after(run, seen, describe(error), is_error=True)
            raise
        note = self._watch.after(run, seen, *_outcome(call, result))
        _remember_handoff(run, result)
        return _with_note(result, note)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """`wrap_tool_call` for coroutines."""
        run, call = self._run(request.state), request.tool_call
        seen = await self._watch.abefore(run, call["name"], call["args"], _agent_name())
        if seen.refused:
            return _refusal(call, seen)
        try:
            with seen.running():
                result = await handler(request)
        except Exception as error:
            await self._watch.aafter(run, seen, describe(error), is_error=True)
            raise
        note = await self._watch.aafter(run, seen, *_outcome(call, result))
        _remember_handoff(run, result)
        return _with_note(result, note)

    def _run(self, state: Any) -> Run:
        id = state.get("sprag_session") if isinstance(state, dict) else None
        return self._watch.run(id or self._session or self._fallback, _agent_name())

    def _start(self, state: Any, runtime: Any) -> tuple[str, Run, Event | None]:
        words, name = _last_text(state, HumanMessage), _agent_name()
        id = self._session or _thread(runtime)
        if id is None or current() is not None:  # inside a tool it is a sub-agent, whatever its thread
            id = f"langchain-{uuid.uuid4().hex}"
        run = self._watch.run(id, name)
        is_same_turn = run.parent is None and words == run.root._last_words
        if is_same_turn and name is not None and run.of(name) is not run.active:
            # Without a handoff by a tool it is the next node of the graph, as the program wants it.
            is_handoff, run.handed = run.handed is not None, None
            event = self._watch.handoff_event(run, name, words) if is_handoff else None
            run.active = run.of(name)
            return id, run, event
        return id, run, self._watch.start_event(run, words)


def _started(id: str, verdict: Verdict | None) -> dict[str, Any]:
    refused = verdict is not None and verdict.refused
    return {"sprag_session": id, **(_end(verdict) if verdict is not None and refused else {})}


def _end(verdict: Verdict) -> dict[str, Any]:
    return {"jump_to": "end", "messages": [AIMessage(content=verdict.text)]}


def _refusal(call: Any, seen: Seen) -> ToolMessage:
    return ToolMessage(seen.text, tool_call_id=call["id"], name=call["name"], status="error")


def _outcome(call: Any, result: Any) -> tuple[Any, bool]:
    """What a handler returned, and whether that is an error. A `Command` updates the graph's state.

    A state holds the whole conversation, so a command is known by what it answers to its own call.
    """
    for message in [result] if isinstance(result, ToolMessage) else _updated(result):
        if message.tool_call_id == call["id"]:
            return message.content, message.status == "error"
    update = getattr(result, "update", result)
    if isinstance(update, dict):
        update = {key: value for key, value in update.items() if key != "messages"}
    return str(update), False


def _remember_handoff(run: Run, result: Any) -> None:
    """A tool that sends the graph elsewhere hands over to the agent that starts next."""
    goto = result.goto if isinstance(result, Command) else None
    if goto:
        run.handed = str(goto)


def _with_note(result: Any, note: str) -> Any:
    if not note:
        return result
    messages = [result] if isinstance(result, ToolMessage) else _updated(result)
    for message in messages[-1:]:
        if isinstance(message.content, str):
            message.content = joined(message.content, note)
        else:
            message.content = [*message.content, {"type": "text", "text": note}]
    return result


def _updated(command: Any) -> list[ToolMessage]:
    update = getattr(command, "update", None)
    found = update.get("messages", []) if isinstance(update, dict) else []
    return [message for message in found if isinstance(message, ToolMessage)]


def _usage(run: Run, state: Any, agent: str | None) -> Event | None:
    message = state["messages"][-1] if state.get("messages") else None
    usage = getattr(message, "usage_metadata", None)
    if not usage:
        return None
    details = usage.get("input_token_details") or {}
    return run.of(agent).usage_event(
        uncached(usage.get("input_tokens"), details.get("cache_read"), details.get("cache_creation")),
        usage.get("output_tokens", 0),
        model=(getattr(message, "response_metadata", None) or {}).get("model_name"),
        cache_read_tokens=details.get("cache_read"),
        cache_write_tokens=details.get("cache_creation"),
    )


def _last_text(state: Any, kind: type[Any]) -> str:
    for message in reversed(state.get("messages") or []):
        if isinstance(message, kind):
            return str(message.text)
    return ""


def _config() -> dict[str, Any]:
    try:
        return dict(get_config())
    except RuntimeError:  # outside of a graph, or a thread that lost its context
        return {}


def _agent_name() -> str | None:
    return (_config().get("metadata") or {}).get("lc_agent_name")


def _thread(runtime: Any) -> str | None:
    """The thread of the conversation, if it has one."""
    info = getattr(runtime, "execution_info", None)
    config = _config().get("configurable") or {}
    found = getattr(info, "thread_id", None) or config.get("thread_id")
    return f"langchain-{found}" if found else None
