"""Pydantic AI: `Agent(..., capabilities=[Sprag()])`.

A refused call is answered with the reason as its result, a killed session ends the run with
`Refused`. A run inside a tool of another run is its sub-agent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic_ai import RunContext, ToolReturn
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelResponse

from .aio import AsyncGuard
from .errors import Refused
from .guard import Guard
from .session import current_call, describe
from .watch import Run, Watch, joined, uncached


class Sprag(AbstractCapability[Any]):
    """Guards every tool call of an agent.

    Args:
        guard: The guard; without one, `Guard()`.
        session: The session of all runs. Without it the conversation is the session.
        source: Who speaks to the agent: `user`, or `applet` and `scheduler` if that is a program.
    """

    def __init__(
        self,
        guard: Guard | AsyncGuard | None = None,
        *,
        session: str | None = None,
        source: str = "user",
    ) -> None:
        self._watch = Watch(guard, source)
        self._session = session

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """A guard is not part of an agent's specification."""
        return None

    async def wrap_run(self, ctx: RunContext[Any], *, handler: Callable[[], Awaitable[Any]]) -> Any:
        """Reports what the user said or a spawn, and the return of a sub-agent."""
        run = self._run(ctx)
        words = ctx.prompt if isinstance(ctx.prompt, str) or ctx.prompt is None else str(ctx.prompt)
        start = self._watch.start_event(run, words or "")
        (await self._watch.areport(run, start)).raise_for_refusal()
        said = "failed"
        try:
            result = await handler()
            said = str(result.output)
            return result
        finally:
            end = self._watch.end_event(run, said)
            if end is not None:
                await self._watch.areport(run, end)

    async def before_model_request(self, ctx: RunContext[Any], request_context: Any) -> Any:
        """Ends a run whose session was killed."""
        run = self._run(ctx)
        if run.stop is not None:
            raise Refused(run.stop)
        return request_context

    async def after_model_request(
        self, ctx: RunContext[Any], *, request_context: Any, response: ModelResponse
    ) -> ModelResponse:
        """Reports what the answer of the model cost."""
        run, usage = self._run(ctx), response.usage
        if usage.input_tokens or usage.output_tokens:
            event = run.root.usage_event(
                uncached(usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens),
                usage.output_tokens,
                model=response.model_name,
                cache_read_tokens=usage.cache_read_tokens,
                cache_write_tokens=usage.cache_write_tokens,
            )
            await self._watch.areport(run, event)
        return response

    async def wrap_tool_execute(
        self,
        ctx: RunContext[Any],
        *,
        call: Any,
        tool_def: Any,
        args: Any,
        handler: Callable[[Any], Awaitable[Any]],
    ) -> Any:
        """Asks before the tool runs, and reports its result."""
        run = self._run(ctx)
        seen = await self._watch.abefore(run, call.tool_name, args)
        if seen.verdict.stops:
            raise Refused(seen.verdict)
        if seen.refused:
            return seen.text
        try:
            with seen.running():
                result = await handler(args)
        except Exception as error:
            await self._watch.aafter(run, seen, describe(error), is_error=True)
            raise
        shown = result.return_value if isinstance(result, ToolReturn) else result
        return _with_note(result, await self._watch.aafter(run, seen, shown))

    def _run(self, ctx: RunContext[Any]) -> Run:
        found = self._session or ctx.conversation_id or ctx.run_id
        agent = ctx.agent.name if ctx.agent is not None else None
        if current_call():
            found = f"{current_call()}:{ctx.run_id}"
        return self._watch.run(f"pydantic-ai-{found}", agent)


def _with_note(result: Any, note: str) -> Any:
    if not note:
        return result
    if isinstance(result, str):
        return joined(result, note)
    if isinstance(result, ToolReturn):
        more = [result.content] if isinstance(result.content, str) else list(result.content or [])
        return ToolReturn(result.return_value, content=[*more, note], metadata=result.metadata)
    return ToolReturn(result, content=[note])
