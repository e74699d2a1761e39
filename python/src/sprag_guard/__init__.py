"""Sprag for Python: a guard that notices runaway agents and stops them.

>>> from sprag_guard import Guard
>>> guard = Guard()                                  # doctest: +SKIP
>>> with guard.session("s1", agent="cleaner"):       # doctest: +SKIP
...     with guard.call("delete_asset", {"asset_id": "a1"}) as call:
...         call.result(delete_asset("a1"))

Frameworks have adapters of their own: `sprag_guard.langchain`, `.openai_agents`, `.pydantic_ai`,
`.google_adk`, `.crewai`, `.claude_agent` and `.litellm`.
"""

from ._version import VERSION as __version__
from .aio import AsyncCall, AsyncGuard, AsyncSession
from .errors import EventRejected, NoVerdict, Refused, SetupError, SpragError
from .guard import Guard, Question
from .session import Call, Session
from .verdict import Verdict

__all__ = [
    "Guard",
    "AsyncGuard",
    "Session",
    "AsyncSession",
    "Call",
    "AsyncCall",
    "Verdict",
    "Question",
    "SpragError",
    "SetupError",
    "NoVerdict",
    "EventRejected",
    "Refused",
    "__version__",
]
