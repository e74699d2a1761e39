"""CrewAI: `SpragHooks().install()` once, for every crew of the process.

CrewAI's hooks are global and blocking, and any exception but `HookAborted` lets the call happen. A
refused call is answered with the reason, a killed session aborts the kickoff with `HookAborted`.
Delegated work is a spawn in the same flow. The order of tasks is the program's, and no message.
"""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Callable
from typing import Any

from crewai.hooks.dispatch import HookAborted, InterceptionPoint, register, unregister

from .aio import AsyncGuard
from .guard import Guard
from .session import current_call
from .watch import Run, Seen, Watch, joined, uncached

_DELEGATION = ("delegate_work_to_coworker", "ask_question_to_coworker")
#: How CrewAI's own text for a tool that raised begins.
_FAILED = "Error executing tool"
_PENDING = 4096


class SpragHooks:
    """Guards every tool call of every crew while it is installed; also a context manager.

    Args:
        guard: The guard; without one, `Guard()`.
        session: The session of all crews. Without it each crew is one.
        source: Who starts the crews: `user`, or `applet` and `scheduler` if that is a program.
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
        self._lock = threading.Lock()
        # The arguments are the one object that the hooks before and after a call share.
        self._pending: dict[int, tuple[Any, Seen]] = {}
        self._spent: dict[int, tuple[Any, int, int, int]] = {}
        points: dict[InterceptionPoint, Callable[[Any], Any]] = {
            InterceptionPoint.EXECUTION_START: self._start,
            InterceptionPoint.EXECUTION_END: self._usage,
            InterceptionPoint.PRE_MODEL_CALL: self._before_model,
            InterceptionPoint.POST_MODEL_CALL: self._usage,
            InterceptionPoint.PRE_TOOL_CALL: self._before_tool,
            InterceptionPoint.POST_TOOL_CALL: self._after_tool,
        }
        self._hooks = {point: self._safe(hook) for point, hook in points.items()}

    def install(self) -> SpragHooks:
        """Registers the hooks."""
        for point, hook in self._hooks.items():
            register(point, hook)
        return self

    def uninstall(self) -> None:
        """Removes the hooks."""
        for point, hook in self._hooks.items():
            unregister(point, hook)

    def __enter__(self) -> SpragHooks:
        return self.install()

    def __exit__(self, *_: object) -> None:
        self.uninstall()

    def _safe(self, hook: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """CrewAI swallows what a hook raises, so a guard that fails closed has to abort instead."""

        @functools.wraps(hook)
        def safe(context: Any) -> Any:
            try:
                return hook(context)
            except HookAborted:
                raise
            except Exception as error:
                if self._watch.guard._core.fail == "closed":
                    raise HookAborted(f"sprag: the hook failed: {error}", "sprag") from error
                raise

        return safe

    def _start(self, context: Any) -> None:
        if context.crew is None:
            return
        run = self._run(context)
        words = context.inputs or [task.description for task in context.crew.tasks]
        event = self._watch.start_event(run, json.dumps(words, default=str))
        verdict = self._watch.report(run, event)
        if verdict.refused:
            raise HookAborted(verdict.text, "sprag")

    def _before_model(self, context: Any) -> None:
        self._usage(context)
        run = self._run(context)
        if run.stop is not None:
            raise HookAborted(run.stop.text, "sprag")

    def _usage(self, context: Any) -> None:
        """Reports what was spent since the last look: a model's counts only ever grow."""
        llm = getattr(context, "llm", None)
        summary = getattr(llm, "get_token_usage_summary", None)
        if summary is None:
            return
        total = summary()
        with self._lock:
            _, *before = self._spent.get(id(llm), (llm, 0, 0, 0))
            now = (total.prompt_tokens, total.completion_tokens, total.cached_prompt_tokens)
            self._spent[id(llm)] = (llm, *now)
            if len(self._spent) > _PENDING:
                self._spent.pop(next(iter(self._spent)))
        read, written, cached = (after - earlier for after, earlier in zip(now, before))
        if read or written:
            run = self._run(context)
            role = getattr(context.agent, "role", None)
            event = run.of(role).usage_event(
                uncached(read, cached),
                written,
                model=getattr(llm, "model", None),
                cache_read_tokens=cached,
            )
            self._watch.report(run, event)

    def _before_tool(self, context: Any) -> None:
        run, role = self._run(context), getattr(context.agent, "role", None)
        seen = self._watch.before(run, context.tool_name, dict(context.tool_input or {}), role)
        if not seen.refused and context.tool_name in _DELEGATION:
            helper = run.of(_coworker(context))
            event = seen.session.message_event(helper, str(context.tool_input), kind="spawn")
            run.root.flow = helper.flow = seen.session.flow
            verdict = self._watch.report(run, event)
            if verdict.refused:
                seen.verdict = verdict
        with self._lock:
            if len(self._pending) >= _PENDING:
                self._pending.clear()
            self._pending[id(context.tool_input)] = (context.tool_input, seen)
        if seen.refused:
            raise HookAborted(seen.text, "sprag")

    def _after_tool(self, context: Any) -> str | None:
        with self._lock:
            _, seen = self._pending.pop(id(context.tool_input), (None, None))
        if seen is None:
            return None
        if seen.refused:
            return seen.text
        run, result = self._run(context), str(context.tool_result)
        if context.tool_name in _DELEGATION:
            helper = run.of(_coworker(context))
            if helper is not seen.session:
                self._watch.report(run, helper.message_event(seen.session, result, kind="return"))
        note = self._watch.after(run, seen, result, is_error=result.startswith(_FAILED))
        return joined(result, note) if note else None

    def _run(self, context: Any) -> Run:
        owner = getattr(context, "crew", None) or getattr(context, "agent", None)
        found = self._session or f"crewai-{getattr(owner, 'id', 'direct')}"
        if current_call():
            found = f"{current_call()}:{found}"
        first = getattr(context, "agent", None)
        crew = getattr(context, "crew", None)
        if crew is not None and crew.agents:
            first = crew.agents[0]
        return self._watch.run(found, getattr(first, "role", None))


def _coworker(context: Any) -> str | None:
    """The role of the agent that work is delegated to, as the crew writes it."""
    named = str((context.tool_input or {}).get("coworker", "")).strip().casefold()
    for agent in getattr(context.crew, "agents", None) or []:
        if str(agent.role).strip().casefold() == named:
            return str(agent.role)
    return named or None
