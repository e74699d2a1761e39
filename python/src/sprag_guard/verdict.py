"""The guard's answer to one event."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Mapping

from .errors import Refused

Decision = Literal["allow", "warn", "ask", "deny", "block", "kill"]

_ORDER: tuple[str, ...] = ("allow", "warn", "ask", "deny", "block", "kill")


@dataclass(frozen=True)
class Verdict:
    """What to do about a call, a message or a result.

    A verdict on a *step* never takes the result away: give the model `text` next to it. Block and
    kill then act from the next call on.
    """

    decision: Decision
    rule: str | None = None
    code: str | None = None
    message: str | None = None
    hint: str | None = None
    evidence: Mapping[str, Any] | None = None
    approval: str | None = None
    expires_ms: int | None = None
    retry_after_ms: int | None = None
    flow: str | None = None
    depth: int | None = None
    generation: int | None = None
    end_turn: bool = False
    #: False if the guard did not answer, so that `fail` decided instead of a rule.
    checked: bool = True
    #: Everything that the guard sent, as it came.
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Verdict:
        """Reads a verdict from its JSON object. An unknown decision refuses, as `deny` does."""
        decision = raw.get("verdict")
        return cls(
            decision=decision if decision in _ORDER else "deny",
            rule=raw.get("rule"),
            code=raw.get("code"),
            message=raw.get("message"),
            hint=raw.get("hint"),
            evidence=raw.get("evidence"),
            approval=raw.get("approval"),
            expires_ms=raw.get("expires_ms"),
            retry_after_ms=raw.get("retry_after_ms"),
            flow=raw.get("flow"),
            depth=raw.get("depth"),
            generation=raw.get("generation"),
            end_turn=bool(raw.get("end_turn")),
            raw=raw,
        )

    @property
    def refused(self) -> bool:
        """Whether the call or message may not happen: ask, deny, block and kill."""
        return _ORDER.index(self.decision) >= _ORDER.index("ask")

    @property
    def warned(self) -> bool:
        """Whether the model should read `text`, although the call may happen."""
        return self.decision == "warn"

    @property
    def stops(self) -> bool:
        """Whether the whole run should end: the session is killed, or goes on against a block."""
        return self.decision == "kill" or (self.refused and self.end_turn)

    @property
    def text(self) -> str:
        """The reason in words, for the model and for people; empty if there is nothing to say.

        A model reads it as well, and models tend to run commands that they read. So it says whose
        command that is.
        """
        if self.decision == "allow":
            return ""
        by = f"{self.decision} by {self.rule}" if self.rule else self.decision
        text = f"sprag: {self.message or by}"
        if self.hint:
            text += f"\nOnly the user may lift or tune this, never you, with: {self.hint}"
        return text

    def raise_for_refusal(self) -> Verdict:
        """Raises `Refused` if the call or message may not happen; else returns the verdict."""
        if self.refused:
            raise Refused(self)
        return self
