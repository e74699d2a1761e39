"""OpenAI Agents SDK: `Runner.run(guard(agent), …)`.

The SDK takes guardrails per function tool only, so `guard` returns a copy of the agent in which the
function tools, the tools of MCP servers, the handoffs and the agents behind them are guarded. A
refused call is answered with the reason, a killed session raises `ToolInputGuardrailTripwireTriggered`.
Hosted tools (web search, computer use) run at the provider and never reach this program.
"""

from __future__ import annotations

import copy
import json
import uuid
import weakref
from typing import Any, Callable

from agents import (
    Agent,
    AgentHooks,
    FunctionTool,
    Handoff,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolInputGuardrailData,
    get_current_trace,
    handoff,
)

from .aio import AsyncGuard
from .errors import Refused
from .guard import Guard
from .session import current_call, describe
from .watch import Run, Seen, Watch, joined, uncached

#: How the SDK's own text for a tool that raised begins.
_FAILED = "An error occurred while running the tool"
_PENDING = 4096


def guard(
    agent: Agent[Any],
    guard: Guard | AsyncGuard | None = None,
    *,
    session: str | Callable[[Any], str] | None = None,
    source: str = "user",
) -> Agent[Any]:
    """A guarded copy of an agent and of every agent that it can hand off to.

    Args:
        agent: The agent; it stays as it is.
        guard: The guard; without one, `Guard()`.
        session: The session of all runs, or a function of the run's context. Without it the group of
            the trace is the session (`RunConfig(group_id=…)`), else each run is.
        source: Who speaks to the agent: `user`, or `applet` and `scheduler` if that is a program.
    """
    return _Guarding(Watch(guard, source), session).agent(agent)


class _Guarding:
    def __init__(self, watch: Watch, session: str | Callable[[Any], str] | None) -> None:
        self.watch = watch
        self._session = session
        self._agents: dict[int, Agent[Any]] = {}
        self._run_ids: dict[int, str] = {}
        self._pending: dict[int, Seen] = {}

    def agent(self, agent: Agent[Any]) -> Agent[Any]:
        """The guarded copy of an agent; agents may hand off in circles, so each is copied once."""
        known = self._agents.get(id(agent))
        if known is not None:
            return known
        made = copy.copy(agent)
        self._agents[id(agent)] = made
        # A subclass of its own class, so that what an MCP server lists is guarded as well.
        made.__class__ = _with_guarded_mcp(type(agent), self)
        made.tools = [self.tool(tool) for tool in agent.tools]
        made.handoffs = [self._handoff(target) for target in agent.handoffs]
        made.hooks = _Hooks(self, agent.hooks)
        return made

    def tool(self, tool: Any) -> Any:
        """The guarded copy of a function tool; hosted tools have nothing to guard here."""
        if not isinstance(tool, FunctionTool):
            return tool
        made, invoke = copy.copy(tool), tool.on_invoke_tool
        # The last of the guardrails: what another one rejects does not happen and does not count.
        mine: ToolInputGuardrail[Any] = ToolInputGuardrail(guardrail_function=self._before, name="sprag")
        made.tool_input_guardrails = [*(tool.tool_input_guardrails or []), mine]

        async def guarded(context: Any, arguments: str) -> Any:
            run = self.run(context)
            seen = self._pending.pop(id(context), None)
            if seen is None:
                seen = await self._ask(run, context, arguments)
                if seen.refused:
                    return seen.text
            try:
                with seen.running():
                    result = await invoke(context, arguments)
            except Exception as error:
                await self.watch.aafter(run, seen, describe(error), is_error=True)
                raise
            failed = isinstance(result, str) and result.startswith(_FAILED)
            note = await self.watch.aafter(run, seen, result, is_error=failed)
            return joined(str(result), note) if note and _is_plain(result) else result

        made.on_invoke_tool = guarded
        return made

    def run(self, context: Any) -> Run:
        """The run that a context belongs to."""
        agent = getattr(context, "agent", None)
        return self.watch.run(self._run_id(context), getattr(agent, "name", None))

    def named_run(self, context: Any, agent: Agent[Any]) -> Run:
        """The same, for hooks, which get the agent beside the context."""
        return self.watch.run(self._run_id(context), agent.name)

    async def _before(self, data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        context = data.context
        run = self.named_run(context, data.agent)
        seen = await self._ask(run, context, context.tool_arguments, data.agent.name)
        if seen.verdict.stops:
            return ToolGuardrailFunctionOutput.raise_exception(output_info=seen.text)
        if seen.refused:
            return ToolGuardrailFunctionOutput.reject_content(seen.text)
        if len(self._pending) >= _PENDING:
            self._pending.clear()  # calls that were cancelled between guardrail and tool
        self._pending[id(context)] = seen
        return ToolGuardrailFunctionOutput.allow()

    async def _ask(self, run: Run, context: Any, arguments: str, agent: str | None = None) -> Seen:
        return await self.watch.abefore(run, context.tool_name, _arguments(arguments), agent)

    def _handoff(self, target: Any) -> Any:
        if isinstance(target, Agent):
            return handoff(self.agent(target))
        made, invoke = copy.copy(target), target.on_invoke_handoff

        async def guarded(context: Any, arguments: str) -> Any:
            return self.agent(await invoke(context, arguments))

        assert isinstance(made, Handoff)
        made.on_invoke_handoff = guarded
        return made

    def _run_id(self, context: Any) -> str:
        named = self._session(context) if callable(self._session) else self._session
        if named is None:
            trace = get_current_trace()
            named = getattr(trace, "group_id", None) or getattr(trace, "trace_id", None)
        if not named or named == "no-op":
            named = self._usage_id(context.usage)
        return f"{current_call()}:{named}" if current_call() else str(named)

    def _usage_id(self, usage: Any) -> str:
        """An id for a run without a trace: its count of tokens is the one thing that all its contexts share."""
        found = self._run_ids.get(id(usage))
        if found is None:
            found = self._run_ids[id(usage)] = f"openai-agents-{uuid.uuid4().hex}"
            weakref.finalize(usage, self._run_ids.pop, id(usage), None)
        return found


def _with_guarded_mcp(base: type[Agent[Any]], guarding: _Guarding) -> type[Agent[Any]]:
    """A class of agents whose MCP tools are guarded as they are listed."""

    async def get_mcp_tools(self: Any, *args: Any, **kwargs: Any) -> list[Any]:
        return [guarding.tool(tool) for tool in await base.get_mcp_tools(self, *args, **kwargs)]

    return type(base.__name__, (base,), {"get_mcp_tools": get_mcp_tools})


class _Hooks(AgentHooks[Any]):
    """Reports what is not a tool call, and passes everything on to the agent's own hooks."""

    def __init__(self, guarding: _Guarding, own: Any) -> None:
        self._guarding, self._own = guarding, own

    async def on_start(self, context: Any, agent: Any) -> None:
        run = self._guarding.named_run(context, agent)
        handed, run.handed = run.handed, None
        if handed != agent.name:  # else it goes on with what another agent began
            watch = self._guarding.watch
            event = watch.start_event(run, _last_words(getattr(context, "turn_input", None)))
            (await watch.areport(run, event)).raise_for_refusal()
        if self._own is not None:
            await self._own.on_start(context, agent)

    async def on_handoff(self, context: Any, agent: Any, source: Any) -> None:
        run = self._guarding.named_run(context, source)
        event = self._guarding.watch.handoff_event(run, agent.name)
        if event is not None:
            run.active, run.handed = run.of(agent.name), agent.name
            (await self._guarding.watch.areport(run, event)).raise_for_refusal()
        if self._own is not None:
            await self._own.on_handoff(context, agent, source)

    async def on_llm_start(self, context: Any, agent: Any, system: Any, items: Any) -> None:
        run = self._guarding.named_run(context, agent)
        if run.stop is not None:
            raise Refused(run.stop)
        if self._own is not None:
            await self._own.on_llm_start(context, agent, system, items)

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        run, usage = self._guarding.named_run(context, agent), response.usage
        cached = getattr(getattr(usage, "input_tokens_details", None), "cached_tokens", None)
        event = run.of(agent.name).usage_event(
            uncached(usage.input_tokens, cached),
            usage.output_tokens,
            model=agent.model if isinstance(agent.model, str) else None,
            cache_read_tokens=cached,
        )
        if usage.input_tokens or usage.output_tokens:
            await self._guarding.watch.areport(run, event)
        if self._own is not None:
            await self._own.on_llm_end(context, agent, response)

    async def on_end(self, context: Any, agent: Any, output: Any) -> None:
        run = self._guarding.named_run(context, agent)
        event = self._guarding.watch.end_event(run, str(output))
        if event is not None:
            await self._guarding.watch.areport(run, event)
        if self._own is not None:
            await self._own.on_end(context, agent, output)

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        if self._own is not None:
            await self._own.on_tool_start(context, agent, tool)

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: Any) -> None:
        if self._own is not None:
            await self._own.on_tool_end(context, agent, tool, result)


def _arguments(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _is_plain(result: Any) -> bool:
    """Whether the SDK would give the model this result as a text anyway."""
    return isinstance(result, (str, int, float, bool, dict, list)) or result is None


def _last_words(items: Any) -> str:
    if isinstance(items, str):
        return items
    for item in reversed(items or []):
        if isinstance(item, dict) and item.get("role") == "user":
            content = item.get("content")
            return content if isinstance(content, str) else json.dumps(content, default=str)
    return ""
