"""The vectors that fix the semantics, verdict for verdict through this client."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from real_guard import policy_toml
from sprag_guard import Guard, Verdict

FOLDER = Path(__file__).resolve().parents[3] / "crates/sprag-core/tests/vectors"
#: What an event without a time gets: a second after the one before.
START, SECOND = 1_760_000_000_000, 1000


def scenarios() -> list[Any]:
    found = []
    for file in sorted(FOLDER.glob("*.json")):
        document = json.loads(file.read_text())
        if isinstance(document, list):
            found += [pytest.param(s, id=f"{file.stem}: {s['name']}") for s in document]
    return found


def matches(wanted: Any, found: Any) -> bool:
    """A partial match: objects field by field, everything else equal."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(matches(v, found.get(k)) for k, v in wanted.items())
    return bool(wanted == found)


def test_there_are_vectors() -> None:
    assert len(scenarios()) > 100


@pytest.mark.parametrize("scenario", scenarios())
def test_vector(scenario: dict[str, Any], tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(policy_toml(scenario.get("policy") or {}))
    verdicts: list[Verdict] = []
    at = START
    with Guard.in_memory(policy=policy, timeout=30) as guard:
        for number, item in enumerate(scenario["events"], 1):
            event = dict(item["event"])
            at = event.setdefault("at", at + SECOND)
            verdict = guard.check(event)
            verdicts.append(verdict)
            wanted = item.get("expect") or {}
            assert matches(wanted, dict(verdict.raw)), (number, wanted, verdict.raw)
            if "verdict" in wanted:
                assert verdict.decision == wanted["verdict"]
    overall(scenario.get("overall") or {}, verdicts)


def overall(demands: dict[str, Any], verdicts: list[Verdict]) -> None:
    """What must hold for the whole."""

    def first(test: Any) -> float:
        return next((n for n, v in enumerate(verdicts, 1) if test(v)), float("inf"))

    warned, stopped = first(lambda v: v.decision != "allow"), first(lambda v: v.refused)
    if demands.get("silent"):
        assert warned == float("inf")
    if demands.get("no_stop"):
        assert stopped == float("inf")
    assert warned <= demands.get("warn_by", float("inf"))
    assert stopped <= demands.get("stop_by", float("inf"))
    assert warned >= demands.get("not_before", 0)
