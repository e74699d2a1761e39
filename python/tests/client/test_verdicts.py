"""The client against the real guard: what each method sends, and what comes back."""

from __future__ import annotations

import asyncio
import pickle
from pathlib import Path
from typing import Any

import pytest

from sprag_guard import AsyncGuard, EventRejected, Guard, Refused, SetupError, Verdict
from sprag_guard.events import clean_id, encode


def is_error(event: dict[str, Any]) -> bool:
    return bool(event.get("outcome", {}).get("is_error"))


def test_the_third_delete_of_one_asset_kills_the_session(db: Path) -> None:
    with Guard(db=db) as guard:
        session = guard.session("s1", agent="cleaner")
        decisions = []
        for _ in range(4):
            call = session.call("delete_asset", {"asset_id": "fact_sales"})
            decisions.append(call.verdict.decision)
            if not call.refused:
                call.result("still there", is_error=True)
        assert decisions == ["allow", "warn", "kill", "kill"]
        assert call.verdict.code == "session_killed_loop_guard"
        assert call.verdict.stops and call.verdict.refused
        with pytest.raises(Refused, match="^sprag: ") as raised:
            call.raise_for_refusal()
        again = pickle.loads(pickle.dumps(raised.value))
        assert again.verdict.decision == "kill"


def test_a_with_block_reports_its_result_and_its_exception(db: Path, log: Any) -> None:
    with Guard(db=db) as guard, guard.session("s1"):
        with guard.call("read", {"path": "a"}) as call:
            call.result("text")
        with pytest.raises(OSError), guard.call("read", {"path": "b"}):
            raise OSError("disk on fire")
        with guard.call("touch", {"path": "c"}):
            pass
    steps = [r["event"] for r in log(db) if r["event"]["type"] == "step"]
    assert [is_error(step) for step in steps] == [False, True, False]


def test_a_refused_with_block_does_not_run_and_reports_no_step(db: Path, policy: Any, log: Any) -> None:
    guard = Guard(db=db, policy=policy({"access": {"deny": ["rm"]}}))
    with guard, guard.session("s1"):
        with pytest.raises(Refused), guard.call("rm", {"path": "/"}):
            raise AssertionError("it ran")
    assert [r["event"]["type"] for r in log(db)] == ["call"]


def test_a_decorated_function_is_a_tool_of_the_current_session(db: Path, log: Any) -> None:
    with Guard(db=db) as guard:

        @guard.tool
        def read(path: str, lines: int = 10) -> str:
            """Reads."""
            return f"{path} {lines}"

        @guard.tool(name="other")
        def fails() -> str:
            raise KeyError("x")

        with guard.session("s1", agent="reader"):
            assert read("a") == "a 10"
            with pytest.raises(KeyError):
                fails()
        assert read("b", lines=2) == "b 2"
        assert read.__doc__ == "Reads."
    calls = [r["event"] for r in log(db) if r["event"]["type"] == "call"]
    assert [(c["approach"]["tool"], c["session"] == "s1") for c in calls] == [
        ("read", True),
        ("other", True),
        ("read", False),
    ]


def test_a_warning_stands_next_to_a_text_and_never_instead_of_it(db: Path) -> None:
    with Guard(db=db) as guard, guard.session("s1"):

        @guard.tool
        def delete_asset(asset_id: str) -> str:
            return "gone"

        assert delete_asset("a") == "gone"
        assert delete_asset("a").startswith("gone\n\nsprag: ")


def test_messages_spawns_and_the_users_words_are_one_flow(db: Path, log: Any) -> None:
    with Guard(db=db) as guard:
        lead = guard.session("lead", agent="lead")
        assert lead.heard("clean up").decision == "allow"
        child = lead.child("coder")
        assert lead.message(child, "do it", kind="spawn").depth == 2
        assert child.message(lead, "done", kind="return").decision == "allow"
        assert lead.message("other", "hello").decision == "allow"
        assert lead.message("lead", "hello").rule == "flow.self_call"
    flows = {r["event"]["flow"] for r in log(db)}
    assert len(flows) == 1 and child.id == "lead/coder"


def test_the_same_words_twice_are_a_program_and_lift_no_block(db: Path) -> None:
    with Guard(db=db) as guard:
        session = guard.session("s1")
        events = [session.heard_event("go"), session.heard_event("go"), session.heard_event("stop")]
        assert [e.get("unblock") for e in events] == [True, None, True]
        assert [e.get("source") for e in events] == [None, "applet", None]


def test_usage_counts_for_the_budget(db: Path, policy: Any) -> None:
    guard = Guard(db=db, policy=policy({"budget": {"tokens": {"session": 100}}}))
    with guard:
        session = guard.session("s1")
        assert session.usage(40, 10).decision == "allow"
        assert session.usage(40, 20, model="m").decision == "block"
        assert session.call("read").refused


def test_the_same_words_of_the_model_in_a_row_are_noticed(db: Path, log: Any) -> None:
    with Guard(db=db) as guard:
        session = guard.session("s1")
        decisions = [session.output("I will now look at the file.").decision for _ in range(5)]
        assert decisions == ["allow", "allow", "warn", "warn", "block"]
        assert session.call("read").refused
    kinds = [r["event"]["type"] for r in log(db)]
    assert kinds == ["output"] * 5 + ["call"]


def test_the_async_session_reports_the_models_words_as_well(db: Path) -> None:
    async def main() -> list[str]:
        async with AsyncGuard(db=db) as guard:
            session = guard.session("s1")
            return [(await session.output("the same words again")).decision for _ in range(3)]

    assert asyncio.run(main()) == ["allow", "allow", "warn"]


def test_a_person_is_asked_and_the_answer_counts(db: Path, policy: Any) -> None:
    asked: list[tuple[str, Any]] = []

    def on_ask(question: Any) -> bool:
        asked.append((question.tool, question.args))
        return question.args["asset_id"] == "c"

    rules = {"rules": {"destructive.volume": "ask", "destructive.target": "off"}}
    with Guard(db=db, policy=policy(rules), on_ask=on_ask) as guard:
        session = guard.session("s1")
        decisions = [
            session.call("delete_asset", {"asset_id": asset}).verdict.decision for asset in "abcd"
        ]
        assert decisions[2] == "allow" and decisions[3] == "deny"
        assert [args for _, args in asked] == [{"asset_id": "c"}, {"asset_id": "d"}]


def test_without_anyone_to_ask_the_text_says_how_a_person_approves(db: Path, policy: Any) -> None:
    rules = {"rules": {"destructive.volume": "ask", "destructive.target": "off"}}
    with Guard(db=db, policy=policy(rules)) as guard:
        session = guard.session("s1")
        verdict = [session.call("delete_asset", {"asset_id": a}).verdict for a in "abc"][-1]
        assert verdict.decision == "ask" and verdict.refused and verdict.approval
        assert f"sprag approve {verdict.approval}" in verdict.text


def test_an_event_that_is_none_is_an_error_of_the_caller() -> None:
    with Guard.in_memory() as guard:
        with pytest.raises(EventRejected, match="cal"):
            guard.check({"type": "cal"})
        assert guard.check({"type": "call", "session": "s", "tool": "t"}).decision == "allow"


def test_odd_names_and_payloads_are_judged_all_the_same() -> None:
    class Odd:
        def __str__(self) -> str:
            raise ValueError

    cycle: list[Any] = []
    cycle.append(cycle)
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]
    with Guard.in_memory(fail="closed") as guard:
        session = guard.session("a\nb", agent="\x00")
        odd = [float("nan"), {1: 2}, {("a",): 1}, cycle, deep, Odd(), b"\xff", "\ud800", {3, 4}]
        for number, value in enumerate(odd):
            call = session.call(f"tool\n{number}" + "x" * 300, {"value": value})
            assert not call.refused, (number, call.message)
            assert call.result(value).decision == "allow"
        assert guard.failures == 0


def test_ids_are_cut_and_stay_distinct() -> None:
    first, second = clean_id("ä" * 300 + "1"), clean_id("ä" * 300 + "2")
    assert len(first.encode()) <= 256 and first != second
    assert clean_id("") == "(empty)" and clean_id("a\tb") == "a\ufffdb"


def test_a_large_payload_is_sent_as_its_digest_and_stays_equal_to_itself() -> None:
    event = {"type": "step", "session": "s", "result": "x" * 5_000_000}
    assert len(encode(event)) < 1000
    assert encode(event) == encode(dict(event))
    assert encode(event) != encode({**event, "result": "y" * 5_000_000})


def test_a_verdict_that_this_version_does_not_know_refuses() -> None:
    assert Verdict.parse({"verdict": "quarantine"}).refused


def test_wrong_arguments_are_told_at_once() -> None:
    with pytest.raises(SetupError, match="fail must be"):
        Guard.in_memory(fail="ajar")  # type: ignore[arg-type]
    with pytest.raises(SetupError, match="name it with url"):
        Guard(token="t")
    with pytest.raises(SetupError, match="unencrypted"):
        Guard(url="http://guard.example:1", token="t")
    with pytest.raises(SetupError, match="no place in url"):
        Guard(url="https://user:secret@guard.example", token="t")
    with pytest.raises(SetupError, match="must look like"):
        Guard(url="ftp://guard.example")


async def async_use(db: Path) -> list[str]:
    async with AsyncGuard(db=db) as guard:

        @guard.tool
        async def delete_asset(asset_id: str) -> str:
            return "gone"

        with guard.session("s1"):
            texts = [await delete_asset("a"), await delete_asset("a")]
            try:
                await delete_asset("a")
            except Refused as refused:
                texts.append(refused.verdict.decision)
            call = await guard.session("s2").call("read", {"path": "a"})
            texts.append(call.verdict.decision)
            try:
                async with guard.session("s3").call("read"):
                    raise OSError("x")
            except OSError:
                texts.append("raised")
        return texts


def test_the_async_guard_does_the_same(db: Path, log: Any) -> None:
    texts = asyncio.run(async_use(db))
    assert texts[0] == "gone" and texts[1].startswith("gone\n\nsprag: ")
    assert texts[2:] == ["kill", "allow", "raised"]
    errors = [r["event"] for r in log(db) if is_error(r["event"])]
    assert [e["session"] for e in errors] == ["s3"]
