"""One guard under 100 threads and 1,000 tasks: nothing is lost and nothing counts double."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sprag_guard import AsyncGuard, Guard

THREADS = 100
TASKS = 1_000


def seen(records: list[dict[str, Any]]) -> Counter[tuple[str, str]]:
    return Counter((r["event"]["type"], r["event"]["session"]) for r in records)


def expected(count: int) -> Counter[tuple[str, str]]:
    return Counter({(kind, f"s{n}"): 1 for kind in ("call", "step") for n in range(count)})


@pytest.mark.parametrize("way", ["socket", "child"])
def test_a_hundred_threads_on_one_guard(db: Path, serve: Any, log: Any, way: str) -> None:
    if way == "socket":
        serve(db)
    wrong: list[str] = []
    with Guard(db=db, fail="closed", timeout=30) as guard:
        start = threading.Barrier(THREADS)

        def work(number: int) -> None:
            session = guard.session(f"s{number}")
            start.wait()
            call = session.call("read", {"number": number})
            step = call.result(f"result {number}")
            if call.refused or not call.verdict.checked or step.decision != "allow":
                wrong.append(str(call.message))

        threads = [threading.Thread(target=work, args=(n,)) for n in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert guard.failures == 0
    assert wrong == []
    assert seen(log(db)) == expected(THREADS)


@pytest.mark.parametrize("way", ["socket", "child"])
def test_a_thousand_tasks_on_one_guard(db: Path, serve: Any, log: Any, way: str) -> None:
    if way == "socket":
        serve(db)

    async def main() -> int:
        async with AsyncGuard(db=db, fail="closed", timeout=30) as guard:

            async def work(number: int) -> None:
                async with guard.session(f"s{number}").call("read", {"number": number}) as call:
                    await call.result(f"result {number}")

            await asyncio.gather(*(work(n) for n in range(TASKS)))
            return guard.failures

    assert asyncio.run(main()) == 0
    assert seen(log(db)) == expected(TASKS)


def test_one_session_entered_in_many_tasks_is_left_by_each_alone(db: Path) -> None:
    async def main() -> None:
        async with AsyncGuard(db=db) as guard:
            session = guard.session("s1")

            async def work(number: int) -> None:
                with session:
                    await asyncio.sleep(0.001 * (number % 3))
                    assert guard.current_session() is session
                assert guard.current_session() is not session

            await asyncio.gather(*(work(n) for n in range(20)))

    asyncio.run(main())


def test_a_cancelled_task_spoils_no_other_answer(db: Path) -> None:
    async def main() -> None:
        async with AsyncGuard(db=db, fail="closed", timeout=30) as guard:
            for number in range(50):
                task = asyncio.ensure_future(guard.session("gone").step(f"{number}"))
                await asyncio.sleep(0)
                task.cancel()
                call = await guard.session("s1").call("read", {"number": number})
                assert call.verdict.checked and not call.refused

    asyncio.run(main())
