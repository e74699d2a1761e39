"""The contract of every adapter, with the real framework and a scripted model.

One test for each line of the table in docs/python.md. A framework that can do something in several
ways (blocking, async, streaming) is tried in each.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, os.path.dirname(__file__))

from script import INPUT_TOKENS, OUTPUT_TOKENS, Outcome, Tools, Turn, driver  # noqa: E402
from sprag_guard import Guard  # noqa: E402

if os.environ["FRAMEWORK"] == "litellm":
    pytest.skip("a gateway has a contract of its own: test_gateway.py", allow_module_level=True)

DRIVER = driver()
# What only one framework has, its driver tests itself.
globals().update({name: test for name, test in vars(DRIVER).items() if name.startswith("test_")})
MODES = pytest.mark.parametrize("mode", DRIVER.MODES)
DENY = {"access": {"deny": ["forbidden"]}}
ASK = {"rules": {"destructive.volume": "ask", "destructive.target": "off"}}
DELETE = ("delete_asset", {"asset_id": "fact_sales"})


def play(guard: Guard, turns: list[Turn], mode: str, tools: Tools) -> Outcome:
    outcome: Outcome = DRIVER.play(guard, turns, tools, mode)
    guard.close()
    return outcome


def events(records: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [r["event"] for r in records if r["event"]["type"] == kind]


@MODES
def test_allow_an_honest_call_runs_and_its_result_is_untouched(mode: str, db: Path, log: Any) -> None:
    tools = Tools()
    outcome = play(Guard(db=db), [[("echo", {"text": "a"})], "done"], mode, tools)
    assert outcome.error is None
    assert tools.ran == [("echo", "a")]
    assert outcome.results == ["echo a"]
    assert (outcome.final, outcome.requests) == ("done", 2)
    records = log(db)
    assert len(events(records, "call")) == len(events(records, "step")) == 1
    assert events(records, "call")[0]["approach"]["tool"] == "echo"
    assert {r["sender"]["role"] for r in records} == {"hook"}


@MODES
def test_warn_stands_next_to_the_result(mode: str, db: Path) -> None:
    tools = Tools()
    outcome = play(Guard(db=db), [[DELETE], [DELETE], "done"], mode, tools)
    assert len(tools.ran) == 2
    assert outcome.results[0] == "asset still exists"
    assert outcome.results[1].startswith("asset still exists")
    assert "sprag: " in outcome.results[1]
    assert outcome.final == "done"


@MODES
def test_ask_refuses_and_says_how_a_person_approves(mode: str, db: Path, policy: Any) -> None:
    tools = Tools()
    deletes: list[Turn] = [[("delete_asset", {"asset_id": a})] for a in "abc"]
    outcome = play(Guard(db=db, policy=policy(ASK)), [*deletes, "done"], mode, tools)
    assert [asset for _, asset in tools.ran] == ["a", "b"]
    assert "sprag approve " in outcome.results[2]
    assert outcome.final == "done"


@MODES
def test_ask_runs_what_the_programs_own_question_approves(mode: str, db: Path, policy: Any) -> None:
    tools = Tools()
    deletes: list[Turn] = [[("delete_asset", {"asset_id": a})] for a in "abc"]
    guard = Guard(db=db, policy=policy(ASK), on_ask=lambda question: question.tool == "delete_asset")
    outcome = play(guard, [*deletes, "done"], mode, tools)
    assert [asset for _, asset in tools.ran] == ["a", "b", "c"]
    assert outcome.final == "done"


@MODES
def test_deny_refuses_one_call_and_the_run_goes_on(mode: str, db: Path, policy: Any) -> None:
    tools = Tools()
    turns: list[Turn] = [[("forbidden", {"text": "x"})], [("echo", {"text": "b"})], "done"]
    outcome = play(Guard(db=db, policy=policy(DENY)), turns, mode, tools)
    assert tools.ran == [("echo", "b")]
    assert "sprag: " in outcome.results[0] and "forbidden" in outcome.results[0]
    assert outcome.results[1] == "echo b"
    assert outcome.final == "done"


@MODES
def test_block_refuses_every_further_call_and_lets_the_model_sum_up(mode: str, db: Path) -> None:
    tools = Tools()
    turns: list[Turn] = [[("echo", {"text": "same"})] for _ in range(7)]
    outcome = play(Guard(db=db), [*turns, "summary"], mode, tools)
    assert 3 <= len(tools.ran) < 7
    assert "sprag: " in outcome.results[-1] and "echo same" not in outcome.results[-1]
    assert outcome.final == "summary" and outcome.requests == 8


@MODES
def test_kill_ends_the_run(mode: str, db: Path) -> None:
    tools = Tools()
    turns: list[Turn] = [[DELETE], [DELETE], [DELETE], [("echo", {"text": "more"})], "done"]
    outcome = play(Guard(db=db), turns, mode, tools)
    assert len(tools.ran) == 2
    assert outcome.requests == 3
    assert outcome.final != "done"
    assert "sprag: " in outcome.text and "kill" in outcome.text.lower()


@MODES
def test_four_parallel_calls_are_four_calls(mode: str, db: Path, log: Any) -> None:
    tools = Tools()
    calls: Turn = [("echo", {"text": text}) for text in "abcd"]
    outcome = play(Guard(db=db), [calls, "done"], mode, tools)
    assert sorted(tools.ran) == [("echo", text) for text in "abcd"]
    assert sorted(outcome.results) == [f"echo {text}" for text in "abcd"]
    assert outcome.final == "done"
    records = log(db)
    ids = Counter(event["id"] for event in events(records, "call"))
    assert len(ids) == 4 and ids == Counter(event["id"] for event in events(records, "step"))


@MODES
def test_four_parallel_calls_of_which_one_is_refused_keep_their_answers(
    mode: str, db: Path, policy: Any
) -> None:
    tools = Tools()
    calls: Turn = [("echo", {"text": text}) for text in "abc"]
    calls.insert(1, ("forbidden", {"text": "x"}))
    outcome = play(Guard(db=db, policy=policy(DENY)), [calls, "done"], mode, tools)
    assert sorted(tools.ran) == [("echo", text) for text in "abc"]
    assert len(outcome.results) == 4 and outcome.final == "done"
    assert sum("sprag: " in result for result in outcome.results) == 1


@MODES
def test_a_tool_that_raises_is_reported_and_the_frameworks_own_handling_stays(
    mode: str, db: Path, log: Any
) -> None:
    tools = Tools()
    outcome = play(Guard(db=db), [[("fail", {"text": "x"})], "done"], mode, tools)
    assert tools.ran == [("fail", "x")]
    steps = events(log(db), "step")
    assert [step["outcome"].get("is_error") for step in steps] == [True]
    if DRIVER.RAISES:
        assert isinstance(outcome.error, RuntimeError) and "disk on fire" in str(outcome.error)
    else:
        assert outcome.error is None and "error" in outcome.results[0].lower()


@MODES
@pytest.mark.parametrize("fail", ["open", "closed"])
def test_a_guard_that_is_away(mode: str, fail: Any, db: Path, serve: Any) -> None:
    server = serve(db)
    guard = Guard(url=server.url, token=server.token("hook"), fail=fail)
    server.stop()
    tools = Tools()
    outcome = DRIVER.play(guard, [[("echo", {"text": "a"})], "done"], tools, mode)
    assert guard.failures > 0
    if fail == "open":
        assert outcome.results == ["echo a"] and outcome.final == "done"
    else:
        assert tools.ran == [] and "no verdict from the guard" in outcome.text
    guard.close()


@MODES
def test_the_users_words_and_the_models_cost_are_reported(mode: str, db: Path, log: Any) -> None:
    play(Guard(db=db), [[("echo", {"text": "a"})], "done"], mode, Tools())
    records = log(db)
    heard = [event for event in events(records, "message") if "from" not in event]
    assert len(heard) == 1
    if DRIVER.USAGE:
        usage = [event["tokens"] for event in events(records, "usage")]
        if mode in getattr(DRIVER, "ESTIMATED", ()):
            assert len(usage) == 2 and all(usage)
        else:
            assert usage == [INPUT_TOKENS + OUTPUT_TOKENS] * 2
    sessions = {event.get("session") for event in events(records, "call")}
    assert {event["to"] for event in heard} == sessions


@pytest.mark.skipif(not hasattr(DRIVER, "play_subagent"), reason="the framework has no sub-agents")
def test_a_run_inside_a_tool_is_a_sub_agent_of_the_same_flow(db: Path, log: Any) -> None:
    with Guard(db=db) as guard:
        outcome = DRIVER.play_subagent(guard, Tools())
    assert outcome.error is None and outcome.final == "done"
    records = log(db)
    messages = events(records, "message")
    spawn = next(event for event in messages if event.get("kind") == "spawn")
    returned = next(event for event in messages if event.get("kind") == "return")
    assert spawn["to"].startswith(f"{spawn['from']}/")
    assert (returned["from"], returned["to"]) == (spawn["to"], spawn["from"])
    assert spawn["flow"] == returned["flow"]
    assert spawn["to"] in {event["session"] for event in events(records, "call")}


@pytest.mark.skipif(not hasattr(DRIVER, "play_handoff"), reason="the framework has no handoffs")
def test_a_handoff_is_a_message_and_a_ring_of_them_is_stopped(db: Path, log: Any) -> None:
    with Guard(db=db) as guard:
        outcome = DRIVER.play_handoff(guard, Tools(), 30)
    records = log(db)
    said = [event for event in events(records, "message") if "from" in event]
    assert len({event["flow"] for event in said}) == 1
    assert {event["from"] for event in said} == {event["to"] for event in said}
    assert len(said) < 30 and "sprag: " in outcome.text
