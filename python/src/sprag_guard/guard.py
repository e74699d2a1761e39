"""The blocking guard."""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass
from typing import Any, Callable, Mapping, ParamSpec, TypeVar, overload

from .core import Core, Fail
from .errors import EventRejected, NoVerdict, SetupError
from .events import Event
from .http_link import HttpLink
from .local_link import LocalLink, StrPath, start_child
from .session import Call, Session, current, default_session_id, describe, new_session_id
from .verdict import Verdict

P = ParamSpec("P")
R = TypeVar("R")

TIMEOUT = 2.0


@dataclass(frozen=True)
class Question:
    """A call that a person has to approve."""

    session: str
    tool: str
    args: Any
    verdict: Verdict


class Guard:
    """The guard of this machine, or the one at `url`.

    Without arguments it uses the socket of a running `sprag serve`, else a `sprag check` process on
    the same store. It is safe to share between threads, and works on in a forked process.

    Args:
        url: The address of a remote guard, with a token of role `hook`.
        token: That token. Keep it out of the environment, which tools inherit.
        db: Another store than the one that `sprag` uses by default.
        socket: Another socket than the one that belongs to the store.
        policy: A policy file, if no server runs.
        fail: What happens without a verdict: `open` lets calls happen, `closed` refuses them.
        timeout: How many seconds the guard may take for an answer.
        on_ask: Called with a `Question` if a call needs a person; returns whether it may run. Without
            it such a call is refused with a text that says how a person approves it.

    Raises:
        SetupError: If there is no binary, or the guard is of another version, belongs to another
            user, or does not accept the token.
    """

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
        if url is not None:
            if db is not None or socket is not None or policy is not None:
                raise SetupError("url names a remote guard, which has its own db, socket and policy")
            remote = HttpLink.at_url(url, token, timeout)
            try:
                remote.verify()
            except NoVerdict:
                pass  # it may come later; until then the fail mode decides
            self._core = Core(remote, fail)
        elif token is not None:
            raise SetupError("token belongs to a remote guard: name it with url")
        else:
            self._core = Core(LocalLink(db, socket, policy, timeout), fail)
        self.on_ask = on_ask

    @classmethod
    def in_memory(
        cls,
        *,
        policy: StrPath | None = None,
        fail: Fail = "open",
        timeout: float = TIMEOUT,
        on_ask: Callable[[Question], Any] | None = None,
    ) -> Guard:
        """A guard that keeps nothing: a child process that forgets everything when it ends."""
        guard = cls.__new__(cls)
        arguments = ["decide", *(["--policy", str(policy)] if policy is not None else [])]
        guard._core = Core(start_child(arguments, timeout), fail)
        guard.on_ask = on_ask
        return guard

    @property
    def failures(self) -> int:
        """How many events got no verdict since this guard was made."""
        return self._core.failures

    def check(self, event: Mapping[str, Any]) -> Verdict:
        """The verdict on an event in wire format, whatever the fail mode is.

        Raises:
            EventRejected: If it is not an event.
            NoVerdict: If the guard does not answer.
        """
        return self._core.check(event)

    def decide(self, event: Event) -> Verdict:
        """The verdict on an event in wire format; without one, what the fail mode says."""
        return self._core.decide(event)

    def judge_call(self, event: Event) -> Verdict:
        """The verdict on a call; a person is asked if the verdict says so and `on_ask` can ask."""
        verdict = self.decide(event)
        if verdict.decision == "ask" and self.on_ask is not None:
            return self._ask_person(event, verdict)
        return verdict

    def session(
        self,
        id: str | None = None,
        agent: str | None = None,
        *,
        flow: str | None = None,
        cwd: str | None = None,
    ) -> Session:
        """The session of one run of an agent. Without an id it gets a new one."""
        return Session(self, id or new_session_id(), agent, flow=flow, cwd=cwd)

    def current_session(self) -> Session:
        """The session of the surrounding `with`, else one for this process."""
        session = current()
        if isinstance(session, Session) and session._guard is self:
            return session
        return self.session(default_session_id())

    def call(self, tool: str, args: Any = None, **fields: Any) -> Call:
        """Asks before a call in the current session; see `Session.call`."""
        return self.current_session().call(tool, args, **fields)

    @overload
    def tool(self, function: Callable[P, R]) -> Callable[P, R]: ...

    @overload
    def tool(self, *, name: str) -> Callable[[Callable[P, R]], Callable[P, R]]: ...

    def tool(self, function: Callable[..., Any] | None = None, *, name: str | None = None) -> Any:
        """Guards a function: every call of it is a tool call of the current session.

        A refused call raises `Refused`. A warning is appended to a result that is a text; else it is
        logged. Coroutine functions belong to `AsyncGuard`.
        """
        if function is None:
            return functools.partial(self._guarded, name=name)
        return self._guarded(function, name=name)

    def _guarded(self, function: Callable[..., Any], *, name: str | None) -> Callable[..., Any]:
        if inspect.iscoroutinefunction(function):
            raise SetupError(f"{function.__name__} is a coroutine function: use AsyncGuard.tool")
        tool = name or function.__name__
        signature = inspect.signature(function)

        @functools.wraps(function)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            with self.call(tool, bound(signature, args, kwargs)) as call:
                value = function(*args, **kwargs)
                call.result(value)
            return with_note(value, call.note, tool)

        return guarded

    def _ask_person(self, event: Event, verdict: Verdict) -> Verdict:
        assert self.on_ask is not None
        answer = self.on_ask(question(event, verdict))
        if inspect.isawaitable(answer):
            raise SetupError("on_ask is a coroutine function: use AsyncGuard")
        try:
            self.check(answer_event(event, verdict, bool(answer)))
        except (NoVerdict, EventRejected) as error:
            return Verdict("deny", verdict.rule, message=f"the answer was not accepted: {error}")
        return self.decide(event)

    def close(self) -> None:
        """Ends the child process and closes the connections. The next question opens them again."""
        self._core.link.close()

    def __enter__(self) -> Guard:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def question(event: Event, verdict: Verdict) -> Question:
    """What a person is asked."""
    return Question(event["session"], event["tool"], event.get("args"), verdict)


def answer_event(event: Event, verdict: Verdict, is_approved: bool) -> Event:
    """A person's answer to the question about a call."""
    return {
        "type": "approve" if is_approved else "decline",
        "session": event["session"],
        "approval": verdict.approval,
        "by": "on_ask",
    }


def bound(signature: inspect.Signature, args: Any, kwargs: Any) -> dict[str, Any]:
    """The arguments of a call by name."""
    try:
        arguments = signature.bind(*args, **kwargs).arguments
    except TypeError:
        return {"args": list(args), **kwargs}
    return {name: value for name, value in arguments.items() if name not in ("self", "cls")}


def with_note(value: Any, note: str, tool: str) -> Any:
    """The result with the guard's note next to it, if it is a text."""
    from .core import log

    if not note:
        return value
    if isinstance(value, str):
        return f"{value}\n\n{note}"
    log.warning("%s: %s", tool, note)
    return value


