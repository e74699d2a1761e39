"""What both guards, the blocking and the async one, share: one way to a verdict.

No verdict is not an exception here. A guard that is away must not stop the work that it watches, so
`fail` decides: `open` lets calls happen and counts them, `closed` refuses them. Either way one line
is logged when an outage begins and one when it ends.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from typing import Any, Literal, Mapping, Protocol

from .errors import EventRejected, NoVerdict, SetupError
from .events import Event, encode
from .fork import watch
from .verdict import Verdict

Fail = Literal["open", "closed"]

log = logging.getLogger("sprag_guard")

#: For how many sessions the last stop is remembered.
_REMEMBERED = 1024


class Link(Protocol):
    """A way to a guard."""

    def ask(self, line: bytes) -> dict[str, Any]:
        """The answer to one event."""

    def close(self) -> None:
        """Gives back what it holds."""


class Core:
    """A link with a fail mode."""

    def __init__(self, link: Link, fail: Fail) -> None:
        if fail not in ("open", "closed"):
            raise SetupError(f"fail must be 'open' or 'closed', not {fail!r}")
        self.link = link
        self.fail: Fail = fail
        self._lock = threading.Lock()
        self._failures = 0
        self._is_away = False
        self._stopped: OrderedDict[str, Verdict] = OrderedDict()
        watch(self)

    @property
    def failures(self) -> int:
        """How many events got no verdict from the guard."""
        return self._failures

    def check(self, event: Mapping[str, Any]) -> Verdict:
        """The verdict on an event as it is.

        Raises:
            EventRejected: If it is not an event.
            NoVerdict: If the guard does not answer.
        """
        verdict = Verdict.parse(self.link.ask(encode(event)))
        self._remember(event, verdict)
        return verdict

    def decide(self, event: Event) -> Verdict:
        """The verdict on an event; if there is none, what the fail mode says."""
        try:
            return self.check(event)
        except (NoVerdict, EventRejected, SetupError) as error:
            return self._without_guard(event, error)

    def after_fork(self) -> None:
        """Another thread may have held the lock."""
        self._lock = threading.Lock()

    def _remember(self, event: Mapping[str, Any], verdict: Verdict) -> None:
        with self._lock:
            was_away, self._is_away = self._is_away, False
            session = event.get("session")
            if isinstance(session, str):
                if verdict.decision in ("block", "kill"):
                    self._stopped[session] = verdict
                    self._stopped.move_to_end(session)
                    if len(self._stopped) > _REMEMBERED:
                        self._stopped.popitem(last=False)
                elif event.get("type") == "call" and not verdict.refused:
                    self._stopped.pop(session, None)
        if was_away:
            log.warning("the guard answers again; %d events went unchecked", self._failures)

    def _without_guard(self, event: Event, error: Exception) -> Verdict:
        session = str(event.get("session") or event.get("from") or "")
        with self._lock:
            self._failures += 1
            is_first, self._is_away = not self._is_away, True
            stopped = self._stopped.get(session)
        if is_first:
            then = "calls go on unchecked" if self.fail == "open" else "calls are refused"
            log.warning("no verdict from the guard, %s: %s", then, error)
        if event.get("type") not in ("call", "message"):
            return Verdict("allow", checked=False)
        if stopped is not None:
            return Verdict(stopped.decision, stopped.rule, stopped.code, stopped.message, checked=False)
        if self.fail == "open":
            return Verdict("allow", checked=False)
        message = f"no verdict from the guard, and it is set to refuse then: {error}"
        return Verdict("deny", code="guard_unavailable", message=message, checked=False)
