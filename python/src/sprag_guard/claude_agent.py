"""Claude Agent SDK: `query(prompt=…, options=sprag.options(options))` with `sprag = Sprag()`.

The same sessions, tool-use ids and answers as the hooks of `sprag install claude`, so a call that
both report counts once. Hooks get no token counts: pass the messages through `sprag.watch(…)` to have
them reported.
"""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterable, AsyncIterator
from typing import Any

from claude_agent_sdk import AssistantMessage, ClaudeAgentOptions, HookMatcher

from .aio import AsyncGuard
from .events import Event
from .guard import Guard
from .session import SessionEvents
from .watch import Run, Seen, Watch

_AGENT = "claude"
_PENDING = 4096


class Sprag:
    """Guards every tool call of an agent, its sub-agents' too.

    Args:
        guard: The guard; without one, `Guard()`.
        source: Who speaks to the agent: `user`, or `applet` and `scheduler` if that is a program.
    """

    def __init__(self, guard: Guard | AsyncGuard | None = None, *, source: str = "user") -> None:
        self._watch = Watch(guard, source)
        self._pending: dict[str, Seen] = {}
        self._counted: dict[str, None] = {}

    def options(self, options: ClaudeAgentOptions | None = None) -> ClaudeAgentOptions:
        """A copy of the options with the guard's hooks before the others."""
        options = options or ClaudeAgentOptions()
        hooks: dict[Any, list[HookMatcher]] = dict(options.hooks or {})
        for name, hook in (
            ("UserPromptSubmit", self._prompt),
            ("PreToolUse", self._before),
            ("PostToolUse", self._after),
            ("PostToolUseFailure", self._after),
            ("SubagentStart", self._spawn),
            ("SubagentStop", self._return),
        ):
            hooks[name] = [HookMatcher(hooks=[hook]), *hooks.get(name, [])]
        return dataclasses.replace(options, hooks=hooks)

    async def watch(self, messages: AsyncIterable[Any]) -> AsyncIterator[Any]:
        """Passes messages on, and reports what each answer of the model cost."""
        async for message in messages:
            usage = getattr(message, "usage", None)
            session = getattr(message, "session_id", None)
            if isinstance(message, AssistantMessage) and usage and session:
                await self._usage(message, usage, session)
            yield message

    async def _usage(self, message: Any, usage: dict[str, Any], session: str) -> None:
        # One answer comes as several messages, one a block, each with the counts of the whole.
        id = f"{session}:{getattr(message, 'message_id', None)}"
        if id in self._counted:
            return
        self._counted[id] = None
        if len(self._counted) > _PENDING:
            self._counted.pop(next(iter(self._counted)))
        run = self._run(session)
        event = run.root.usage_event(
            usage.get("input_tokens", 0),
            usage.get("output_tokens", 0),
            model=message.model,
            cache_read_tokens=usage.get("cache_read_input_tokens"),
            cache_write_tokens=usage.get("cache_creation_input_tokens"),
        )
        await self._watch.areport(run, event)

    async def _prompt(self, given: Any, _id: str | None, _context: Any) -> Any:
        run = self._run(given["session_id"])
        event = self._watch.start_event(run, given.get("prompt", ""))
        event["flow"] = run.root.flow = _flow(given)
        verdict = await self._watch.areport(run, event)
        return {"decision": "block", "reason": verdict.text} if verdict.refused else {}

    async def _before(self, given: Any, id: str | None, _context: Any) -> Any:
        run, session = self._run(given["session_id"]), self._session(given)
        server, tool = _split(given["tool_name"])
        event = session.call_event(
            tool, given.get("tool_input"), server=server, use_id=_use_id(given, id), cwd=given.get("cwd")
        )
        seen = await self._watch.ajudge(run, session, event)
        if not seen.refused:
            if len(self._pending) >= _PENDING:
                self._pending.clear()
            self._pending[_use_id(given, id) or seen.id] = seen
            return {}
        answer: dict[str, Any] = {
            "systemMessage": seen.text,
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": seen.text,
            },
        }
        if seen.verdict.stops:
            answer |= {"continue_": False, "stopReason": seen.text}
        return answer

    async def _after(self, given: Any, id: str | None, _context: Any) -> Any:
        seen = self._pending.pop(_use_id(given, id) or "", None)
        if seen is None:
            return {}
        run, error = self._run(given["session_id"]), given.get("error")
        result = error if error is not None else _seen_by_the_model(given.get("tool_response"))
        note = await self._watch.aafter(run, seen, result, is_error=error is not None)
        if seen.after is not None and seen.after.decision == "kill":
            return {"continue_": False, "stopReason": note, "systemMessage": note}
        if not note:
            return {}
        name = given["hook_event_name"]
        return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": note}}

    async def _spawn(self, given: Any, _id: str | None, _context: Any) -> Any:
        run = self._run(given["session_id"])
        await self._watch.areport(run, self._sub_agent(run, given, "spawn"))
        return {}

    async def _return(self, given: Any, _id: str | None, _context: Any) -> Any:
        run = self._run(given["session_id"])
        await self._watch.areport(run, self._sub_agent(run, given, "return"))
        return {}

    def _sub_agent(self, run: Run, given: Any, kind: str) -> Event:
        child = self._session(given)
        sender, receiver = (run.root, child) if kind == "spawn" else (child, run.root)
        return sender.message_event(receiver, kind=kind)

    def _run(self, session: str) -> Run:
        return self._watch.run(session, _AGENT)

    def _session(self, given: Any) -> SessionEvents:
        run = self._run(given["session_id"])
        session = run.root
        if given.get("agent_id"):
            session = run.of(given["agent_id"])
            session.agent = given.get("agent_type") or _AGENT
        session.flow = run.root.flow or _flow(given)
        return session


def _flow(given: Any) -> str:
    prompt = given.get("prompt_id")
    return f"{given['session_id']}:{prompt}" if prompt else str(given["session_id"])


def _use_id(given: Any, id: str | None) -> str | None:
    return given.get("tool_use_id") or id


def _split(name: str) -> tuple[str | None, str]:
    """Server and tool of `mcp__server__tool`; any other name is a tool of Claude Code itself."""
    server, found, tool = name.removeprefix("mcp__").partition("__")
    is_mcp = name.startswith("mcp__") and found and server and tool
    return (server, tool) if is_mcp else (None, name)


def _seen_by_the_model(response: Any) -> Any:
    """A result roughly as the model reads it: what a shell printed, a file's text, blocks of text."""
    if isinstance(response, dict):
        if isinstance(response.get("stdout"), str) and isinstance(response.get("stderr"), str):
            return "\n".join(text for text in (response["stdout"], response["stderr"]) if text)
        if "structuredPatch" in response and "filePath" in response:
            return f"updated {response['filePath']}"
        file = response.get("file")
        if isinstance(file, dict) and isinstance(file.get("content"), str):
            return file["content"]
        response = response.get("content", response)
    if isinstance(response, list) and all(isinstance(part, dict) for part in response):
        texts = [part.get("text") for part in response]
        if all(isinstance(text, str) for text in texts):
            return "\n".join(str(text) for text in texts)
    return response
