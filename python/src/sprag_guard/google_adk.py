"""Google ADK: `Runner(..., plugins=[SpragPlugin()])`.

A refused call is answered with `{"error": reason}`. A killed session gets the reason as the model's
answer, and the invocation ends. Transfers between agents are messages of one flow; an agent that runs
as a tool is a sub-agent.
"""

from __future__ import annotations

import contextlib
from typing import Any

from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from .aio import AsyncGuard
from .guard import Guard
from .session import current_call, describe
from .verdict import Verdict
from .watch import Run, Seen, Watch, uncached

#: How many calls may be between their start and their end.
_PENDING = 4096
_TRANSFER = "transfer_to_agent"


class SpragPlugin(BasePlugin):
    """Guards every tool call of every agent of a runner.

    Args:
        guard: The guard; without one, `Guard()`.
        session: The session of all runs. Without it ADK's session is the session.
        source: Who speaks to the agent: `user`, or `applet` and `scheduler` if that is a program.
    """

    def __init__(
        self,
        guard: Guard | AsyncGuard | None = None,
        *,
        session: str | None = None,
        source: str = "user",
        name: str = "sprag",
    ) -> None:
        super().__init__(name=name)
        self._watch = Watch(guard, source)
        self._session = session
        self._pending: dict[int, tuple[Seen, contextlib.ExitStack]] = {}

    async def before_run_callback(self, *, invocation_context: Any) -> types.Content | None:
        """Reports what the user said, or a spawn."""
        run = self._run(invocation_context)
        words = _text(invocation_context.user_content)
        verdict = await self._watch.areport(run, self._watch.start_event(run, words))
        if not verdict.refused:
            return None
        return types.Content(role="model", parts=[types.Part(text=verdict.text)])

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        """Reports the return of a sub-agent."""
        run = self._run(invocation_context)
        event = self._watch.end_event(run, "done")
        if event is not None:
            await self._watch.areport(run, event)

    async def before_model_callback(
        self, *, callback_context: Any, llm_request: Any
    ) -> LlmResponse | None:
        """Ends an invocation whose session was killed."""
        run = self._run(callback_context._invocation_context)
        if run.stop is None:
            return None
        callback_context._invocation_context.end_invocation = True
        return _answer(run.stop)

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        """Reports what the answer of the model cost."""
        usage = llm_response.usage_metadata
        if usage is None or llm_response.partial:
            return
        run = self._run(callback_context._invocation_context)
        event = run.of(callback_context.agent_name).usage_event(
            uncached(usage.prompt_token_count, usage.cached_content_token_count),
            (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0),
            model=llm_response.model_version,
            cache_read_tokens=usage.cached_content_token_count,
        )
        await self._watch.areport(run, event)

    async def before_tool_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any
    ) -> dict[str, Any] | None:
        """Asks before the tool runs. A transfer to another agent is a message."""
        run = self._run(tool_context._invocation_context)
        if tool.name == _TRANSFER:
            return await self._transfer(run, tool_context.agent_name, tool_args)
        seen = await self._watch.abefore(run, tool.name, tool_args, tool_context.agent_name)
        if seen.refused:
            return {"error": seen.text}
        if len(self._pending) >= _PENDING:
            self._pending.clear()
        entered = contextlib.ExitStack()
        entered.enter_context(seen.running())
        self._pending[id(tool_context)] = (seen, entered)
        return None

    async def after_tool_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, result: Any
    ) -> dict[str, Any] | None:
        """Reports the result; a warning becomes one more field of it."""
        seen = self._seen(tool_context)
        if seen is None:
            return None
        run = self._run(tool_context._invocation_context)
        failed = isinstance(result, dict) and set(result) == {"error"}
        note = await self._watch.aafter(run, seen, result, is_error=failed)
        if not note:
            return None
        fields = result if isinstance(result, dict) else {"result": result}
        return {**fields, "sprag": note}

    async def on_tool_error_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, error: Exception
    ) -> dict[str, Any] | None:
        """Reports a tool that raised; ADK goes on as it would."""
        seen = self._seen(tool_context)
        if seen is not None:
            run = self._run(tool_context._invocation_context)
            await self._watch.aafter(run, seen, describe(error), is_error=True)
        return None

    async def _transfer(
        self, run: Run, agent: str, args: dict[str, Any]
    ) -> dict[str, Any] | None:
        run.active = run.of(agent)
        event = self._watch.handoff_event(run, str(args.get("agent_name")))
        if event is None:
            return None
        verdict = await self._watch.areport(run, event)
        if not verdict.refused:
            return None
        run.stop = verdict
        return {"error": verdict.text}

    def _seen(self, tool_context: Any) -> Seen | None:
        seen, entered = self._pending.pop(id(tool_context), (None, None))
        if entered is not None:
            entered.close()
        return seen

    def _run(self, context: Any) -> Run:
        found = self._session or f"adk-{context.session.id}"
        if current_call():  # an agent as a tool has a session of its own, made for the call
            found = f"{current_call()}:{context.session.id}"
        return self._watch.run(found, context.agent.name)


def _answer(verdict: Verdict) -> LlmResponse:
    return LlmResponse(content=types.Content(role="model", parts=[types.Part(text=verdict.text)]))


def _text(content: Any) -> str:
    parts = getattr(content, "parts", None) or []
    return "\n".join(part.text for part in parts if getattr(part, "text", None))
