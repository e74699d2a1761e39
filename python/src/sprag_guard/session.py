"""One run of one agent, as the guard knows it: what it does becomes events here.

`SessionEvents` makes the events and does nothing else, so that the blocking and the async session
can't drift apart. `Session` sends them and blocks for the verdict.
"""

from __future__ import annotations

import contextvars
import itertools
import os
import uuid
from types import TracebackType
from typing import TYPE_CHECKING, Any, Mapping

from .errors import Refused
from .events import Event, clean_id, without_none
from .verdict import Verdict

if TYPE_CHECKING:
    from .guard import Guard

#: The entered sessions, the innermost first. It is a chain and not a stack of tokens, because one
#: session may be entered in many tasks at once.
_entered: contextvars.ContextVar[tuple[SessionEvents, str, Any] | None] = contextvars.ContextVar(
    "sprag_session", default=None
)
_process_start = uuid.uuid4().hex[:12]


def new_session_id() -> str:
    """An id for a run that has none of its own."""
    return f"py-{uuid.uuid4().hex[:16]}"


def default_session_id() -> str:
    """The id for what happens outside of any session: one for this process."""
    return f"py-{_process_start}-{os.getpid()}"


def current() -> SessionEvents | None:
    """The session that the running code was entered with, if any."""
    entered = _entered.get()
    return entered[0] if entered is not None else None


def current_call() -> str:
    """What tells the surroundings of two runs apart: the running call, and its session; else empty."""
    entered = _entered.get()
    return f"{entered[0].id}#{entered[1]}" if entered is not None and entered[1] else ""


class SessionEvents:
    """The events of one session."""

    def __init__(
        self, id: str, agent: str | None = None, *, flow: str | None = None, cwd: str | None = None
    ) -> None:
        self.id = clean_id(id)
        self.agent = clean_id(agent) if agent else None
        #: What joins everything that one request of a user causes.
        self.flow = clean_id(flow) if flow else None
        self._cwd = cwd
        self._prefix = uuid.uuid4().hex[:8]
        self._count = itertools.count(1)
        self._last_words: object = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r}, agent={self.agent!r})"

    def new_call_id(self) -> str:
        """An id that pairs a call with its result. Ids of models are reused too often for that."""
        return f"{self._prefix}-{next(self._count)}"

    def call_event(
        self,
        tool: str,
        args: Any = None,
        *,
        id: str | None = None,
        server: str | None = None,
        use_id: str | None = None,
        turn: str | None = None,
        hints: Mapping[str, bool] | None = None,
        cwd: str | None = None,
    ) -> Event:
        """A tool call, before it runs."""
        return without_none(
            type="call",
            session=self.id,
            agent=self.agent,
            flow=self.flow,
            id=clean_id(id or self.new_call_id()),
            server=clean_id(server) if server else None,
            tool=clean_id(tool),
            args=args,
            use_id=clean_id(use_id) if use_id else None,
            turn=clean_id(turn) if turn else None,
            hints=dict(hints) if hints else None,
            cwd=cwd or self._cwd or _working_folder(),
        )

    def step_event(
        self,
        result: Any = None,
        *,
        id: str | None = None,
        is_error: bool = False,
        tool: str | None = None,
        args: Any = None,
        server: str | None = None,
        approach: Any = None,
        use_id: str | None = None,
    ) -> Event:
        """What a call, or a whole action of the program, came to."""
        return without_none(
            type="step",
            session=self.id,
            agent=self.agent,
            flow=self.flow,
            id=clean_id(id) if id else None,
            tool=clean_id(tool) if tool else None,
            server=clean_id(server) if server else None,
            args=args,
            approach=approach,
            use_id=clean_id(use_id) if use_id else None,
            result="" if result is None else result,
            is_error=is_error or None,
        )

    def message_event(
        self,
        to: str | SessionEvents,
        content: Any = None,
        *,
        kind: str | None = None,
        to_agent: str | None = None,
        conversation: str | None = None,
    ) -> Event:
        """A message to another agent."""
        if isinstance(to, SessionEvents):
            to_agent = to_agent or to.agent
            to = to.id
        self.flow = self.flow or clean_id(f"{self.id}-{self._prefix}")
        return without_none(
            type="message",
            **{"from": self.id},
            to=clean_id(to),
            agent=self.agent,
            to_agent=clean_id(to_agent) if to_agent else None,
            flow=self.flow,
            conversation=clean_id(conversation) if conversation else None,
            kind=kind,
            content=content,
        )

    def heard_event(self, content: Any, *, source: str = "user") -> Event:
        """What a person, or another program, said to this agent. It starts a new flow.

        The same words twice in a row are a program that calls again, not a person: a loop around an
        agent must not count as its user.
        """
        is_repeat, self._last_words = content == self._last_words, content
        if is_repeat and source == "user":
            source = "applet"
        self.flow = clean_id(f"{self.id}-{self.new_call_id()}")
        return without_none(
            type="message",
            to=self.id,
            to_agent=self.agent,
            source=None if source == "user" else source,
            unblock=True if source == "user" else None,
            flow=self.flow,
            content=content,
        )

    def usage_event(
        self,
        input_tokens: int = 0,
        output_tokens: int = 0,
        *,
        cost_usd: float | None = None,
        model: str | None = None,
        cache_read_tokens: int | None = None,
        cache_write_tokens: int | None = None,
    ) -> Event:
        """What one answer of the model cost. `input_tokens` holds no tokens of the cache."""
        return without_none(
            type="usage",
            session=self.id,
            agent=self.agent,
            flow=self.flow,
            input_tokens=input_tokens or 0,
            output_tokens=output_tokens or 0,
            cost_usd=cost_usd,
            model=clean_id(model) if model else None,
            cache_read_tokens=cache_read_tokens or None,
            cache_write_tokens=cache_write_tokens or None,
        )

    def output_event(self, text: str) -> Event:
        """What the model said in one answer."""
        return {"type": "output", "session": self.id, "text": text}

    def child_fields(self, name: str) -> str:
        """The id of a sub-agent: a kill of this session reaches it."""
        return clean_id(f"{self.id}/{name}")

    def _push(self, call: str = "") -> None:
        _entered.set((self, call, _entered.get()))

    def _pop(self) -> None:
        entered = _entered.get()
        _entered.set(entered[2] if entered is not None else None)


class Session(SessionEvents):
    """A session whose methods block for the verdict. Make one with `Guard.session`."""

    def __init__(self, guard: Guard, id: str, agent: str | None = None, **fields: Any) -> None:
        super().__init__(id, agent, **fields)
        self._guard = guard

    def call(self, tool: str, args: Any = None, **fields: Any) -> Call:
        """Asks before a tool call; see `call_event` for the other fields.

        The answer is a verdict to look at, or to enter with `with`:

        >>> with session.call("delete_asset", {"asset_id": "a1"}) as call:  # doctest: +SKIP
        ...     call.result(delete_asset("a1"))
        """
        event = self.call_event(tool, args, **fields)
        return Call(self, event, self._guard.judge_call(event))

    def step(self, result: Any = None, **fields: Any) -> Verdict:
        """Reports what a call came to; see `step_event` for the other fields."""
        return self._guard.decide(self.step_event(result, **fields))

    def message(self, to: str | SessionEvents, content: Any = None, **fields: Any) -> Verdict:
        """Asks before a message to another agent; see `message_event`."""
        return self._guard.decide(self.message_event(to, content, **fields))

    def heard(self, content: Any, *, source: str = "user") -> Verdict:
        """Reports what the user said to the agent; see `heard_event`."""
        return self._guard.decide(self.heard_event(content, source=source))

    def usage(self, input_tokens: int = 0, output_tokens: int = 0, **fields: Any) -> Verdict:
        """Reports what the model cost; see `usage_event`."""
        return self._guard.decide(self.usage_event(input_tokens, output_tokens, **fields))

    def output(self, text: str) -> Verdict:
        """Reports what the model said."""
        return self._guard.decide(self.output_event(text))

    def child(self, name: str, agent: str | None = None) -> Session:
        """The session of a sub-agent, in the same flow. `message(kind="spawn")` reports its start."""
        return Session(self._guard, self.child_fields(name), agent or name, flow=self.flow)

    def __enter__(self) -> Session:
        """Makes this the session of `@guard.tool` and `guard.call` in the block."""
        self._push()
        return self

    def __exit__(self, *_: object) -> None:
        self._pop()


class JudgedCall:
    """A verdict on a call, and what came of it."""

    def __init__(self, event: Event, verdict: Verdict) -> None:
        self.id: str = event["id"]
        self.verdict = verdict
        #: The verdict on the result, once it is reported.
        self.step: Verdict | None = None
        self._is_reported = False

    @property
    def refused(self) -> bool:
        """Whether the call may not happen."""
        return self.verdict.refused

    @property
    def message(self) -> str | None:
        """What happened, in a sentence."""
        return self.verdict.message

    @property
    def note(self) -> str:
        """What the model should read next to the result; empty if nothing."""
        return note(self.verdict, self.step)

    def raise_for_refusal(self) -> Verdict:
        """Raises `Refused` if the call may not happen."""
        return self.verdict.raise_for_refusal()


class Call(JudgedCall):
    """A verdict on a call, and the place to report the result: `with` does both.

    Entering raises `Refused` if the call may not happen. Leaving reports `result`, or the exception
    that ended the block.
    """

    def __init__(self, session: Session, event: Event, verdict: Verdict) -> None:
        super().__init__(event, verdict)
        self._session = session

    def result(self, value: Any, *, is_error: bool = False) -> Verdict:
        """Reports what the call came to. Give the model the verdict's `text` next to it."""
        self._is_reported = True
        self.step = self._session.step(value, id=self.id, is_error=is_error)
        return self.step

    def __enter__(self) -> Call:
        self.verdict.raise_for_refusal()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if isinstance(error, Refused) or self._is_reported:
            return
        self.result(describe(error) if error is not None else None, is_error=error is not None)


def _working_folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None  # somebody deleted it


def note(before: Verdict, after: Verdict | None) -> str:
    """What the model should read next to a result: the warnings before and after the call."""
    texts = [v.text for v in (before, after) if v is not None and v.decision != "allow"]
    return "\n".join(dict.fromkeys(text for text in texts if text))


def describe(error: BaseException) -> str:
    """An exception as the outcome of a call."""
    return f"{type(error).__name__}: {error}"
