"""What every test starts from: the binary under test, and real guards and servers of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator

import pytest

TESTS = Path(__file__).resolve().parent
sys.path.insert(0, str(TESTS))
sys.path.insert(0, str(TESTS.parent / "src"))

from real_guard import Server, policy_toml, records  # noqa: E402

from sprag_guard import AsyncGuard, Guard  # noqa: E402

# A machine that is busy with other things must not make a test fail open.
_MAKERS = (Guard.__init__, AsyncGuard.__init__, Guard.in_memory, AsyncGuard.in_memory)
for _maker in _MAKERS:
    getattr(_maker, "__func__", _maker).__kwdefaults__["timeout"] = 60.0


@pytest.fixture(scope="session")
def binary() -> str:
    """The test build. Without one nothing can be tested, so that is a failure, not a skip."""
    named = os.environ.get("SPRAG_BIN")
    assert named and os.path.isabs(named), "set SPRAG_BIN to the absolute path of the test build"
    return named


@pytest.fixture(autouse=True)
def home(binary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own: no test sees the guard of whoever runs it."""
    for name in list(os.environ):
        if name.startswith("SPRAG_") and name != "SPRAG_BIN" or name.startswith("XDG_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Where a store may be."""
    folder = tmp_path / "store"
    folder.mkdir(mode=0o700)
    return folder / "sprag.db"


@pytest.fixture
def policy(tmp_path: Path) -> Any:
    """Writes a policy file and returns its path."""

    def write(document: dict[str, Any]) -> Path:
        path = tmp_path / "policy.toml"
        path.write_text(policy_toml(document))
        return path

    return write


@pytest.fixture
def serve(binary: str, tmp_path: Path) -> Iterator[Any]:
    """Starts servers, and ends them."""
    running: list[Server] = []

    def start(db: Path, *flags: str) -> Server:
        server = Server(binary, db, tmp_path, *flags)
        running.append(server)
        return server

    start.running = running  # type: ignore[attr-defined]
    yield start
    for server in running:
        server.stop()


@pytest.fixture
def log(binary: str, serve: Any) -> Any:
    """Reads the records of a store, whose server has to end first: it writes in groups."""

    def read(db: Path) -> list[dict[str, Any]]:
        for server in serve.running:
            server.stop()
        return records(binary, db)

    return read


def pytest_report_header() -> list[str]:
    """Which binary is under test."""
    named = os.environ.get("SPRAG_BIN", "")
    if not os.path.isfile(named):
        return [f"SPRAG_BIN: {named or 'not set'}"]
    said = subprocess.run([named, "--version"], capture_output=True, text=True, check=False)
    return [f"SPRAG_BIN: {said.stdout.strip()}"]


