"""The example of the framework runs as it is, and ends with a session that the guard killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, os.path.dirname(__file__))

PYTHON = Path(__file__).resolve().parents[2]
EXAMPLES = PYTHON.parent / "examples" / "python"
FRAMEWORK = os.environ["FRAMEWORK"]
FILE = EXAMPLES / ("claude_agent.py" if FRAMEWORK == "claude_agent" else f"{FRAMEWORK}_agent.py")


@pytest.mark.skipif(FRAMEWORK == "litellm", reason="docs/frameworks/litellm.md has its example")
def test_the_example_is_short_and_the_guard_stops_it(home: Path) -> None:
    assert len(FILE.read_text().splitlines()) < 40
    environment = {**os.environ, "PYTHONPATH": str(PYTHON / "src"), "CREWAI_DISABLE_TELEMETRY": "true"}
    api = None
    if FRAMEWORK == "claude_agent":
        from anthropic_api import Api

        call = ("mcp__catalog__delete_asset", {"asset_id": "fact_sales"})
        api = Api([[call] for _ in range(10)])
        environment |= {
            "ANTHROPIC_BASE_URL": api.url,
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "IS_SANDBOX": "1",
        }
    done = subprocess.run(
        [sys.executable, str(FILE)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    if api is not None:
        # The SDK's result has no reason; that the third call did not run is what shows.
        api.close()
        assert done.stdout.count("deleting fact_sales") == 2 and api.requests == 3
    else:
        assert "sprag: session_killed: loop_detected, 3 deletes" in done.stdout
