"""What can go wrong, by who has to do something about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .verdict import Verdict


class SpragError(Exception):
    """Every error of this package."""


class SetupError(SpragError):
    """The guard can't be used as it is set up: no binary, another version, another user's socket."""


class NoVerdict(SpragError):
    """The guard did not answer. Sessions turn this into a verdict by their `fail` mode."""


class EventRejected(SpragError, ValueError):
    """The guard answered that what it was sent is not a valid event."""


class Refused(SpragError):
    """A call or message may not happen. `verdict` has the reason; its text is for the model."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.text)
        self.verdict = verdict

    def __reduce__(self) -> tuple[type[Refused], tuple[Verdict]]:
        return (type(self), (self.verdict,))
