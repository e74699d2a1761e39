"""What docs/python.md states about frameworks is what the lock files hold."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
DOCS = TESTS.parents[1] / "docs"


def locked() -> dict[str, str]:
    """The versions of what the tests ask for, of every framework."""
    found: dict[str, str] = {}
    for wanted in TESTS.joinpath("locks").glob("*.in"):
        names = set(wanted.read_text().split()) - {"pytest", "mypy", "fastapi"}
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
