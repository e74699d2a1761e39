"""LiteLLM proxy: `guardrail: sprag_guard.litellm.SpragGuardrail` with modes `pre_call` and `post_call`.

The proxy stands between an agent and its model, so calls are seen in the model's answers and results
in the next request. If a call is refused, the whole answer is replaced by the reason, as an ordinary
answer with status 200: clients retry errors, but a text ends the turn. A streamed answer is held back
until it is complete, because nobody can take back a tool call that was sent.
"""

from __future__ import annotations

import json
from typing import Any

from litellm.integrations.custom_guardrail import (
    CustomGuardrail,
    get_session_id_from_request_data,
)

from .aio import AsyncGuard
from .events import Event
from .guard import Guard
from .verdict import Verdict
from .watch import Run, Seen, Watch, joined, uncached

#: How many calls are remembered until their results come.
_PENDING = 4096


class SpragGuardrail(CustomGuardrail):
    """Guards every agent behind a LiteLLM proxy.

    Clients name their session with `x-litellm-session-id`; those that don't share one session per key,
    in which calls are refused but nobody is blocked or killed.

    Args:
        guard: The guard; without one, `Guard()`.
        source: Who speaks to the agents: `user`, or `applet` and `scheduler` if that is a program.
    """

    streaming_buffer_until_moderated = True
    streaming_end_of_stream_only = True

    def __init__(
        self,
        guard: Guard | AsyncGuard | None = None,
        *,
        source: str = "user",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._watch = Watch(guard, source)
        self._pending: dict[tuple[str, str], Seen] = {}

    async def apply_guardrail(
        self, inputs: Any, request_data: dict[str, Any], input_type: str, logging_obj: Any = None
    ) -> Any:
        """Reports what a request brings, and asks about the calls of an answer."""
        run = self._run(request_data)
        if input_type == "request":
            return await self._request(run, inputs, request_data)
        return await self._answer(run, inputs, request_data)

    async def _request(self, run: Run, inputs: Any, data: dict[str, Any]) -> Any:
        messages = list(inputs.get("structured_messages") or data.get("messages") or [])
        is_changed = False
        for index in range(_first_new(messages), len(messages)):
            message = messages[index]
            if message.get("role") == "user":
                event = _marked(run, self._watch.start_event(run, _text(message)))
                verdict = await self._watch.areport(run, event)
                if verdict.refused:
                    self._stop(verdict, data)
            elif message.get("role") == "tool":
                note = await self._result(run, message)
                if note:
                    messages[index] = {**message, "content": joined(_text(message), note)}
                    is_changed = True
        if run.stop is not None:
            self._stop(run.stop, data)
        return {**inputs, "structured_messages": messages} if is_changed else inputs

    async def _result(self, run: Run, message: Any) -> str:
        seen = self._pending.pop((run.root.id, str(message.get("tool_call_id"))), None)
        if seen is None:
            return ""
        event = _marked(run, seen.step_event(_text(message), is_error=False))
        seen.after = await self._watch.areport(run, event)
        return seen.note

    async def _answer(self, run: Run, inputs: Any, data: dict[str, Any]) -> Any:
        refused: list[Seen] = []
        for call in inputs.get("tool_calls") or []:
            function = _get(call, "function")
            name, arguments = _get(function, "name"), _get(function, "arguments")
            if not name:
                continue
            event = _marked(run, run.root.call_event(str(name), _arguments(arguments)))
            seen = await self._watch.ajudge(run, run.root, event)
            if seen.refused:
                refused.append(seen)
                continue
            if len(self._pending) >= _PENDING:
                self._pending.pop(next(iter(self._pending)))
            self._pending[run.root.id, str(_get(call, "id"))] = seen
        await self._usage(run, data.get("response"))
        if refused:
            self._stop(refused[0].verdict, data)
        return inputs

    async def _usage(self, run: Run, response: Any) -> None:
        usage = getattr(response, "usage", None)
        if usage is not None:
            cached = _get(getattr(usage, "prompt_tokens_details", None), "cached_tokens")
            event = run.root.usage_event(
                uncached(getattr(usage, "prompt_tokens", 0), cached),
                getattr(usage, "completion_tokens", 0),
                model=getattr(response, "model", None),
                cache_read_tokens=cached,
            )
            await self._watch.areport(run, _marked(run, event))

    def _stop(self, verdict: Verdict, data: dict[str, Any]) -> None:
        self.raise_passthrough_exception(verdict.text, data, {"rule": verdict.rule})

    def _run(self, data: dict[str, Any]) -> Run:
        session = get_session_id_from_request_data(data)
        if session:
            return self._watch.run(f"litellm-{session}")
        metadata = {**(data.get("metadata") or {}), **(data.get("litellm_metadata") or {})}
        key = metadata.get("user_api_key_hash") or metadata.get("user_api_key") or "anyone"
        return self._watch.run(f"{_SHARED}{key}")


_SHARED = "litellm-key-"


def _marked(run: Run, event: Event) -> Event:
    """An event of many agents that nobody can tell apart says so."""
    if run.root.id.startswith(_SHARED):
        event["identity"] = "shared"
    return event


def _first_new(messages: list[Any]) -> int:
    """Where what the client adds begins: after the last answer of the model."""
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].get("role") == "assistant":
            return index + 1
    return 0


def _text(message: Any) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content or []
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


def _arguments(text: Any) -> Any:
    try:
        return json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return text


def _get(thing: Any, name: str) -> Any:
    return thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None)
