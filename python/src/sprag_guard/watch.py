"""What all adapters share: which session a run belongs to, and when the run has to end.

A framework's run is a session; each further agent in it has a session of its own below that one, so
that a kill reaches it. Control that moves from agent to agent is a message, a run inside a tool of
another run is a spawn, and both stay in one flow: depth, spawns and rings are seen.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from . import fork
from .aio import AsyncGuard
from .events import Event
from .guard import Guard
from .session import SessionEvents, current, note
from .verdict import Verdict

#: How many runs are remembered; the longest idle one is forgotten first.
_RUNS = 1024
#: How many agents of one run have a session of their own; the others share the root's.
_AGENTS = 64


@dataclass
class Seen:
    """A call that the guard was asked about."""

    session: SessionEvents
    id: str
    verdict: Verdict
    use_id: str | None = None
    after: Verdict | None = None

    @property
    def refused(self) -> bool:
        """Whether the tool may not run."""
        return self.verdict.refused

    @property
    def text(self) -> str:
        """The reason of a refusal, for the model."""
        return self.verdict.text

    @property
    def note(self) -> str:
        """What the model should read next to the result; empty if nothing."""
        return note(self.verdict, self.after)

    def step_event(self, result: Any, is_error: bool) -> Event:
        """What the call came to."""
        return self.session.step_event(
            result, id=self.id, use_id=self.use_id, is_error=is_error
        )

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """While the tool runs: a run that starts inside of it is a sub-agent of this session."""
        self.session._push(self.id)
        try:
            yield
        finally:
            self.session._pop()


@dataclass
class Run:
    """One run of a framework: the session of its first agent and those of the others."""

    root: SessionEvents
    parent: SessionEvents | None = None
    active: SessionEvents = field(init=False)
    agents: dict[str, SessionEvents] = field(default_factory=dict)
    #: Why the run has to end, once it has to.
    stop: Verdict | None = None
    #: The agent that control was handed to and that has not started yet.
    handed: str | None = None

    def __post_init__(self) -> None:
        self.active = self.root
        if self.root.agent:
            self.agents[self.root.agent] = self.root

    def of(self, agent: str | None) -> SessionEvents:
        """The session of an agent of this run."""
        if agent is None or self.root.agent is None:
            return self.root
        session = self.agents.get(agent)
        if session is None:
            if len(self.agents) >= _AGENTS:
                return self.root
            session = SessionEvents(self.root.child_fields(agent), agent, flow=self.root.flow)
            self.agents[agent] = session
        session.flow = self.root.flow
        return session


class Runs:
    """The runs that go through one guard, whichever adapter they belong to."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._spawned = itertools.count(1)
        fork.watch(self)

    def after_fork(self) -> None:
        """Another thread may have held the lock."""
        self._lock = threading.Lock()

    def get(self, id: str, agent: str | None) -> Run:
        """The run with this id; a new one if there is none."""
        with self._lock:
            run = self._runs.get(id)
            if run is None:
                parent = current()
                if parent is None:
                    run = Run(SessionEvents(id, agent))
                else:
                    name = f"{agent or 'agent'}-{next(self._spawned)}"
                    root = SessionEvents(parent.child_fields(name), agent, flow=parent.flow)
                    run = Run(root, parent)
                self._runs[id] = run
            self._runs.move_to_end(id)
            if len(self._runs) > _RUNS:
                self._runs.popitem(last=False)
            return run


_runs_of: weakref.WeakKeyDictionary[Guard, Runs] = weakref.WeakKeyDictionary()
_default: list[Guard] = []
_lock = threading.Lock()


def default_guard() -> Guard:
    """The guard that adapters use without one of their own: one for the process."""
    with _lock:
        if not _default:
            _default.append(Guard())
        return _default[0]


class Watch:
    """The guard as an adapter uses it: blocking and async, with the runs that it knows."""

    def __init__(self, guard: Guard | AsyncGuard | None = None, source: str = "user") -> None:
        if isinstance(guard, AsyncGuard):
            self.aguard, self.guard = guard, guard._guard
        else:
            self.guard = guard or default_guard()
            self.aguard = AsyncGuard.over(self.guard)
        self.source = source
        with _lock:
            self._runs = _runs_of.setdefault(self.guard, Runs())

    def run(self, id: str, agent: str | None = None) -> Run:
        """The run with this id."""
        return self._runs.get(id, agent)

    def start_event(self, run: Run, words: Any) -> Event:
        """The start of a run: a spawn inside another run, else what the user said."""
        if run.parent is not None:
            event = run.parent.message_event(run.root, words, kind="spawn")
            run.root.flow = run.parent.flow
            return event
        run.active = run.root
        return run.root.heard_event(words, source=self.source)

    def end_event(self, run: Run, words: Any) -> Event | None:
        """The end of a run: a return to the one that it was spawned by."""
        if run.parent is None:
            return None
        return run.root.message_event(run.parent, words, kind="return")

    def handoff_event(self, run: Run, agent: str, words: Any = None) -> Event | None:
        """Control moves to another agent of the run; none if it is there already."""
        sender, receiver = run.active, run.of(agent)
        if sender is receiver:
            return None
        event = sender.message_event(receiver, words)
        run.root.flow = receiver.flow = sender.flow
        return event

    def report(self, run: Run, event: Event) -> Verdict:
        """Sends an event that is not a call."""
        return self._reported(run, event, self.guard.decide(event))

    async def areport(self, run: Run, event: Event) -> Verdict:
        """`report` for coroutines."""
        return self._reported(run, event, await self.aguard.decide(event))

    def before(self, run: Run, tool: str, args: Any, agent: str | None = None, **fields: Any) -> Seen:
        """Asks before a tool runs."""
        session = run.of(agent)
        event = session.call_event(tool, args, **fields)
        return self._seen(run, session, event, self.guard.judge_call(event))

    async def abefore(
        self, run: Run, tool: str, args: Any, agent: str | None = None, **fields: Any
    ) -> Seen:
        """`before` for coroutines."""
        session = run.of(agent)
        return await self.ajudge(run, session, session.call_event(tool, args, **fields))

    async def ajudge(self, run: Run, session: SessionEvents, event: Event) -> Seen:
        """Asks about a call of any session of the run."""
        return self._seen(run, session, event, await self.aguard.judge_call(event))

    def after(self, run: Run, seen: Seen, result: Any, is_error: bool = False) -> str:
        """Reports a result, and returns what the model should read next to it."""
        event = seen.step_event(result, is_error)
        seen.after = self._reported(run, event, self.guard.decide(event))
        return seen.note

    async def aafter(self, run: Run, seen: Seen, result: Any, is_error: bool = False) -> str:
        """`after` for coroutines."""
        event = seen.step_event(result, is_error)
        seen.after = self._reported(run, event, await self.aguard.decide(event))
        return seen.note

    def _seen(self, run: Run, session: SessionEvents, event: Event, verdict: Verdict) -> Seen:
        if verdict.stops:
            run.stop = verdict
        return Seen(session, event["id"], verdict, event.get("use_id"))

    def _reported(self, run: Run, event: Event, verdict: Verdict) -> Verdict:
        is_users = event["type"] == "message" and "from" not in event
        if is_users and not verdict.refused:
            run.stop = None
        elif verdict.decision == "kill" or (is_users and verdict.refused):
            run.stop = verdict
        return verdict


def uncached(total: int | None, *cached: int | None) -> int:
    """The tokens of a prompt that no cache held, for frameworks that count those in."""
    return max(0, (total or 0) - sum(count or 0 for count in cached))


def joined(result: str, note: str) -> str:
    """A result with the guard's note next to it."""
    return f"{result}\n\n{note}" if note else result
