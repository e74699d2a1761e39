"""What a guarded call costs: p50 and p99, beside a bare call and a framework's own tool call.

    SPRAG_BIN=… PYTHONPATH=src python tests/overhead.py

Everything in one run on one machine. Reported, not a test: it depends on what else runs. A guarded
call is two questions, one before the tool and one with its result. LangChain's row is there if it is
installed.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable

sys.path.insert(0, str(Path(__file__).resolve().parent))

from real_guard import Server
from sprag_guard import AsyncGuard, Guard

CALLS = int(os.environ.get("CALLS", "2000"))


def echo(text: str) -> str:
    """The tool."""
    return f"echo {text}"


def measured(name: str, call: Callable[[int], Any], calls: int = CALLS) -> None:
    """Prints how long a call takes, after a warm-up."""
    for number in range(min(100, calls)):
        call(number)
    times = []
    for number in range(calls):
        start = time.perf_counter_ns()
        call(number)
        times.append((time.perf_counter_ns() - start) / 1000)
    times.sort()
    print(f"{name:<44} p50 {times[len(times) // 2]:>9.1f} µs   p99 {times[len(times) * 99 // 100]:>9.1f} µs")


def guarded(guard: Guard) -> Callable[[int], Any]:
    """A guarded call in a session that is changed often enough to stay small."""
    sessions: dict[int, Any] = {}

    def call(number: int) -> str:
        session = sessions.setdefault(number // 50, guard.session(f"s{number // 50}"))
        with session.call("echo", {"text": str(number)}) as asked:
            result = echo(str(number))
            asked.result(result)
        return result

    return call


async def awaited(guard: AsyncGuard, name: str) -> None:
    """The same from a coroutine."""
    times = []
    for number in range(CALLS):
        start = time.perf_counter_ns()
        async with guard.session(f"a{number // 50}").call("echo", {"text": str(number)}) as asked:
            await asked.result(echo(str(number)))
        times.append((time.perf_counter_ns() - start) / 1000)
    times.sort()
    print(f"{name:<44} p50 {times[len(times) // 2]:>9.1f} µs   p99 {times[len(times) * 99 // 100]:>9.1f} µs")


def langchain(guard: Guard | None) -> Callable[[int], Any]:
    """One tool call of an agent, the scripted model included."""
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage

    from sprag_guard.langchain import SpragMiddleware

    class Scripted(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **_: Any) -> Any:
            return self

    def turns() -> Any:
        number = 0
        while True:
            number += 1
            yield AIMessage("", tool_calls=[{"name": "echo", "args": {"text": str(number)}, "id": "c"}])
            yield AIMessage("done")

    middleware = [SpragMiddleware(guard)] if guard is not None else []
    agent = create_agent(Scripted(messages=turns()), [echo], middleware=middleware)
    return lambda number: agent.invoke({"messages": [("user", f"go {number}")]})


def main() -> None:
    """Measures everything."""
    binary = os.environ["SPRAG_BIN"]
    with tempfile.TemporaryDirectory() as folder:
        measured("a bare function call", lambda number: echo(str(number)))
        server = Server(binary, Path(folder) / "served.db", Path(folder))
        try:
            with Guard(db=Path(folder) / "served.db") as socket, Guard.in_memory() as memory:
                measured("guarded, over the socket of sprag serve", guarded(socket))
                asyncio.run(awaited(AsyncGuard.over(socket), "guarded, async, over the socket"))
                measured("guarded, a child in memory", guarded(memory))
                with Guard(db=Path(folder) / "own.db") as child:
                    measured("guarded, a child with a store of its own", guarded(child), CALLS // 4)
                try:
                    bare = langchain(None)
                except ImportError:
                    return
                measured("LangChain: a run with one tool call", bare, CALLS // 10)
                measured("LangChain: the same, guarded (socket)", langchain(socket), CALLS // 10)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
