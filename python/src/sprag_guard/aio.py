"""The async guard: the same guard, asked from worker threads.

A question takes about a tenth of a millisecond, so a few threads serve thousands of tasks, and the
event loop never waits for a socket or a pipe. A task that is cancelled while it waits has asked all
the same: its event is recorded, and its answer dropped.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Awaitable, Callable, Mapping, ParamSpec, TypeVar, overload

from . import fork
from .core import Fail
from .errors import EventRejected, NoVerdict, Refused
from .events import Event
from .guard import TIMEOUT, Guard, Question, answer_event, bound, question, with_note
from .local_link import StrPath
from .session import (
    JudgedCall,
    SessionEvents,
    current,
    default_session_id,
    describe,
    new_session_id,
)
from .verdict import Verdict

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

_WORKERS = 8


class AsyncGuard:
    """`Guard` for coroutines: the same arguments, the same errors. `on_ask` may be a coroutine."""

    def __init__(
        self,
        *,
        url: str | None = None,
        token: str | None = None,
        db: StrPath | None = None,
        socket: StrPath | None = None,
        policy: StrPath | None = None,
        fail: Fail = "open",
        timeout: float = TIMEOUT,
        on_ask: Callable[[Question], Any] | None = None,
    ) -> None:
        self._guard = Guard(
            url=url, token=token, db=db, socket=socket, policy=policy, fail=fail, timeout=timeout
        )
        self._set_up(on_ask)

    @classmethod
    def in_memory(
        cls,
        *,
        policy: StrPath | None = None,
        fail: Fail = "open",
        timeout: float = TIMEOUT,
        on_ask: Callable[[Question], Any] | None = None,
    ) -> AsyncGuard:
        """A guard that keeps nothing; see `Guard.in_memory`."""
        return cls.over(Guard.in_memory(policy=policy, fail=fail, timeout=timeout, on_ask=on_ask))

    @classmethod
    def over(cls, guard: Guard) -> AsyncGuard:
        """The async side of a guard that is there already: both count in the same place."""
        made = cls.__new__(cls)
        made._guard = guard
        made._set_up(guard.on_ask)
        return made

    def _set_up(self, on_ask: Callable[[Question], Any] | None) -> None:
        self.on_ask = on_ask
        self._workers: ThreadPoolExecutor | None = None
        fork.watch(self)

    @property
    def failures(self) -> int:
        """How many events got no verdict since this guard was made."""
        return self._guard.failures

    async def check(self, event: Mapping[str, Any]) -> Verdict:
        """The verdict on an event in wire format; see `Guard.check`."""
        return await self._run(functools.partial(self._guard.check, event))

    async def decide(self, event: Event) -> Verdict:
        """The verdict on an event in wire format; without one, what the fail mode says."""
        return await self._run(functools.partial(self._guard.decide, event))

    async def judge_call(self, event: Event) -> Verdict:
        """The verdict on a call; a person is asked if the verdict says so and `on_ask` can ask."""
        verdict = await self.decide(event)
        if verdict.decision == "ask" and self.on_ask is not None:
            return await self._ask_person(event, verdict)
        return verdict

    def session(
        self,
        id: str | None = None,
        agent: str | None = None,
        *,
        flow: str | None = None,
        cwd: str | None = None,
    ) -> AsyncSession:
        """The session of one run of an agent. Without an id it gets a new one."""
        return AsyncSession(self, id or new_session_id(), agent, flow=flow, cwd=cwd)

    def current_session(self) -> AsyncSession:
        """The session of the surrounding `with`, else one for this process."""
        session = current()
        if isinstance(session, AsyncSession) and session._guard is self:
            return session
        return self.session(default_session_id())

    def call(self, tool: str, args: Any = None, **fields: Any) -> PendingCall:
        """Asks before a call in the current session: `await` it, or enter it with `async with`."""
        return self.current_session().call(tool, args, **fields)

    @overload
    def tool(self, function: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]: ...

    @overload
    def tool(
        self, *, name: str
    ) -> Callable[[Callable[P, Awaitable[R]]], Callable[P, Awaitable[R]]]: ...

    def tool(self, function: Callable[..., Any] | None = None, *, name: str | None = None) -> Any:
        """Guards a coroutine function; see `Guard.tool`."""
        if function is None:
            return functools.partial(self._guarded, name=name)
        return self._guarded(function, name=name)

    def _guarded(self, function: Callable[..., Any], *, name: str | None) -> Callable[..., Any]:
        tool = name or function.__name__
        signature = inspect.signature(function)

        @functools.wraps(function)
        async def guarded(*args: Any, **kwargs: Any) -> Any:
            async with self.call(tool, bound(signature, args, kwargs)) as call:
                value = await function(*args, **kwargs)
                await call.result(value)
            return with_note(value, call.note, tool)

        return guarded

    async def _ask_person(self, event: Event, verdict: Verdict) -> Verdict:
        assert self.on_ask is not None
        answer = self.on_ask(question(event, verdict))
        if inspect.isawaitable(answer):
            answer = await answer
        try:
            await self.check(answer_event(event, verdict, bool(answer)))
        except (NoVerdict, EventRejected) as error:
            return Verdict("deny", verdict.rule, message=f"the answer was not accepted: {error}")
        return await self.decide(event)

    async def close(self) -> None:
        """Ends the child process and the threads. The next question starts them again."""
        await self._run(self._guard.close)
        workers, self._workers = self._workers, None
        if workers is not None:
            workers.shutdown(wait=False)

    async def __aenter__(self) -> AsyncGuard:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def after_fork(self) -> None:
        """The parent's threads don't exist here."""
        self._workers = None

    async def _run(self, work: Callable[[], T]) -> T:
        if self._workers is None:
            self._workers = ThreadPoolExecutor(_WORKERS, thread_name_prefix="sprag")
        return await asyncio.get_running_loop().run_in_executor(self._workers, work)


class AsyncSession(SessionEvents):
    """A session whose methods are coroutines. Make one with `AsyncGuard.session`."""

    def __init__(self, guard: AsyncGuard, id: str, agent: str | None = None, **fields: Any) -> None:
        super().__init__(id, agent, **fields)
        self._guard = guard

    def call(self, tool: str, args: Any = None, **fields: Any) -> PendingCall:
        """Asks before a tool call: `await` it, or enter it with `async with`."""
        return PendingCall(self, self.call_event(tool, args, **fields))

    async def step(self, result: Any = None, **fields: Any) -> Verdict:
        """Reports what a call came to; see `step_event`."""
        return await self._guard.decide(self.step_event(result, **fields))

    async def message(self, to: str | SessionEvents, content: Any = None, **fields: Any) -> Verdict:
        """Asks before a message to another agent; see `message_event`."""
        return await self._guard.decide(self.message_event(to, content, **fields))

    async def heard(self, content: Any, *, source: str = "user") -> Verdict:
        """Reports what the user said to the agent; see `heard_event`."""
        return await self._guard.decide(self.heard_event(content, source=source))

    async def usage(self, input_tokens: int = 0, output_tokens: int = 0, **fields: Any) -> Verdict:
        """Reports what the model cost; see `usage_event`."""
        return await self._guard.decide(self.usage_event(input_tokens, output_tokens, **fields))

    async def output(self, text: str) -> Verdict:
        """Reports what the model said."""
        return await self._guard.decide(self.output_event(text))

    def child(self, name: str, agent: str | None = None) -> AsyncSession:
        """The session of a sub-agent, in the same flow."""
        return AsyncSession(self._guard, self.child_fields(name), agent or name, flow=self.flow)

    def __enter__(self) -> AsyncSession:
        """Makes this the session of `@guard.tool` and `guard.call` in the block."""
        self._push()
        return self

    def __exit__(self, *_: object) -> None:
        self._pop()


class AsyncCall(JudgedCall):
    """A verdict on a call, and the place to report the result."""

    def __init__(self, session: AsyncSession, event: Event, verdict: Verdict) -> None:
        super().__init__(event, verdict)
        self._session = session

    async def result(self, value: Any, *, is_error: bool = False) -> Verdict:
        """Reports what the call came to. Give the model the verdict's `text` next to it."""
        self._is_reported = True
        self.step = await self._session.step(value, id=self.id, is_error=is_error)
        return self.step

    async def end(self, error: BaseException | None) -> None:
        """Reports what was not reported yet."""
        if isinstance(error, Refused) or self._is_reported:
            return
        await self.result(describe(error) if error else None, is_error=error is not None)


class PendingCall:
    """A call that is not asked about yet: `await` gives an `AsyncCall`, `async with` enters it."""

    def __init__(self, session: AsyncSession, event: Event) -> None:
        self._session = session
        self._event = event
        self._call: AsyncCall | None = None

    def __await__(self) -> Generator[Any, None, AsyncCall]:
        return self._ask().__await__()

    async def _ask(self) -> AsyncCall:
        verdict = await self._session._guard.judge_call(self._event)
        return AsyncCall(self._session, self._event, verdict)

    async def __aenter__(self) -> AsyncCall:
        self._call = await self._ask()
        self._call.verdict.raise_for_refusal()
        return self._call

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if self._call is not None:
            await self._call.end(error)
