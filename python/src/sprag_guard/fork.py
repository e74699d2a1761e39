"""A forked process has the parent's sockets, pipes and locks, and must not use them.

Answers of two processes on one pipe would be mixed up, and a lock that another thread held at the
fork is never released. So whatever holds such things is told in the new process to let go of them.
"""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class Forkable(Protocol):
    """Something that lets go of what belongs to the parent."""

    def after_fork(self) -> None:
        """Runs in the new process, before anything else does."""


_watched: weakref.WeakSet[Forkable] = weakref.WeakSet()


def watch(thing: Forkable) -> None:
    """Tells `thing` about every fork for as long as it lives."""
    _watched.add(thing)


def _after_fork() -> None:
    for thing in list(_watched):
        thing.after_fork()


os.register_at_fork(after_in_child=_after_fork)
