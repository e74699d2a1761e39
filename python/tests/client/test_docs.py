"""What docs/python.md states about frameworks is what the lock files hold."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
DOCS = TESTS.parents[1] / "docs"


def locked() -> dict[str, str]:
    """The versions of what the tests ask for, of every framework."""
    found: dict[str, str] = {}
    for wanted in TESTS.joinpath("locks").glob("*.in"):
        names = {name.split("[")[0] for name in wanted.read_text().split()} - {"pytest", "mypy"}
        for line in wanted.with_suffix(".txt").read_text().splitlines():
            name, _, version = line.split(" ")[0].partition("==")
            if name in names:
                found[name] = version
    return found


def test_the_table_names_the_versions_of_the_lock_files() -> None:
    text = (DOCS / "python.md").read_text()
    rows = re.findall(r"^\| \[.*?\]\((frameworks/.*?)\) \| (.*?) \|", text, re.MULTILINE)
    named = dict(item.split() for _, items in rows for item in items.split(", "))
    assert named == locked()
    assert all((DOCS / page).is_file() for page, _ in rows)


def test_the_example_of_a_loop_runs_and_is_stopped() -> None:
    example = DOCS.parent / "examples" / "python" / "own_loop.py"
    assert len(example.read_text().splitlines()) < 40
    environment = {**os.environ, "PYTHONPATH": str(TESTS.parent / "src")}
    done = subprocess.run(
        [sys.executable, str(example)], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("0 fact_sales still exists\n1 fact_sales still exists\n")
    assert "\n2 sprag: session_killed: loop_detected, 3 deletes on asset_id=fact_sales" in done.stdout


def test_the_first_lines_of_the_pages_run(db: Path) -> None:
    for page in (DOCS / "python.md", TESTS.parent / "README.md"):
        found = re.search(r"```python\n(from sprag_guard import Guard\n.*?)```", page.read_text(), re.DOTALL)
        assert found is not None
        code = found.group(1).replace("Guard()", f"Guard(db={str(db)!r})")
        environment = {**os.environ, "PYTHONPATH": str(TESTS.parent / "src")}
        subprocess.run([sys.executable, "-c", code], env=environment, check=True)
