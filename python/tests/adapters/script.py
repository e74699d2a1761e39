"""What all scripted models play: turns of tool calls, and a last text. No key, no network."""

from __future__ import annotations

import asyncio
import importlib
import os
from dataclasses import dataclass, field
from typing import Any, Callable

#: A turn of the model: tool calls to make at once, or a text that ends the run.
Turn = list[tuple[str, dict[str, Any]]] | str

INPUT_TOKENS, OUTPUT_TOKENS = 11, 7
PROMPT = "please do it"


@dataclass
class Outcome:
    """What came of a run."""

    #: How often the model was asked.
    requests: int
    #: What the model, or whoever reads the transcript, sees as results, in order.
    results: list[str] = field(default_factory=list)
    #: The last text of the run.
    final: str = ""
    #: The exception that ended it.
    error: BaseException | None = None

    @property
    def text(self) -> str:
        """Everything that tells why it ended."""
        return "\n".join([*self.results, self.final, repr(self.error or ""), str(self.error or "")])


class Tools:
    """The tools of the agents under test, and what really ran."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, str]] = []

    def functions(self) -> list[Callable[..., str]]:
        """The tools as plain functions with types and documentation."""
        ran = self.ran

        def echo(text: str) -> str:
            """Repeats a text."""
            ran.append(("echo", text))
            return f"echo {text}"

        def delete_asset(asset_id: str) -> str:
            """Deletes an asset."""
            ran.append(("delete_asset", asset_id))
            return "asset still exists"

        def forbidden(text: str) -> str:
            """May not be called."""
            ran.append(("forbidden", text))
            return "did it"

        def fail(text: str) -> str:
            """Always fails."""
            ran.append(("fail", text))
            raise RuntimeError("disk on fire")

        return [echo, delete_asset, forbidden, fail]


def complete(work: Any) -> Any:
    """Runs a coroutine in a loop of its own."""
    return asyncio.run(work)


def driver() -> Any:
    """The module that plays scripts with the framework under test."""
    return importlib.import_module(f"drivers.{os.environ['FRAMEWORK']}")
