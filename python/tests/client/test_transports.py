"""The ways to a guard, and what happens when one of them goes away."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import socketserver
import stat
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from sprag_guard import AsyncGuard, Guard, NoVerdict, SetupError
from sprag_guard._version import VERSION


def senders(records: list[dict[str, Any]]) -> set[str]:
    return {r["sender"]["role"] for r in records}


def test_a_running_server_is_used_over_its_socket_as_a_hook(db: Path, serve: Any, log: Any) -> None:
    serve(db)
    with Guard(db=db) as guard:
        assert guard._core.link.way == "socket"  # type: ignore[attr-defined]
        assert guard.session("s1").heard("hello").decision == "allow"
        assert guard.session("s1").call("read").verdict.checked
    assert senders(log(db)) == {"hook"}


def test_without_a_server_a_child_uses_the_same_store(db: Path, log: Any) -> None:
    with Guard(db=db) as guard:
        assert guard._core.link.way == "child"  # type: ignore[attr-defined]
        guard.session("s1").heard("hello")
    assert senders(log(db)) == {"hook"}
    with Guard(db=db) as guard:
        for _ in range(2):
            guard.session("s1").call("delete_asset", {"asset_id": "a"})
    with Guard(db=db) as guard:
        assert guard.session("s1").call("delete_asset", {"asset_id": "a"}).refused


def test_a_server_that_goes_and_comes_back_loses_no_event(db: Path, serve: Any, log: Any) -> None:
    server = serve(db)
    with Guard(db=db, fail="closed") as guard:
        session = guard.session("s1")
        for number in range(30):
            if number == 10:
                server.stop()
            if number == 20:
                server = serve(db)
            assert session.call("read", {"n": number}).verdict.checked
        assert guard.failures == 0
    calls = [r for r in log(db) if r["event"]["type"] == "call"]
    assert len(calls) == 30


def test_a_remote_guard_takes_a_token_of_role_hook_and_no_other(db: Path, serve: Any) -> None:
    server = serve(db)
    with Guard(url=server.url, token=server.token("hook")) as guard:
        assert guard.session("s1").heard("hello").checked
    with pytest.raises(SetupError, match="must not hold an operator's"):
        Guard(url=server.url, token=server.token("operator"))
    with pytest.raises(SetupError, match="takes this program for role 'agent'"):
        Guard(url=server.url, token=server.token("agent"))
    with pytest.raises(SetupError, match="refused the token"):
        Guard(url=server.url, token="sprag_wrong")


@pytest.mark.parametrize("fail", ["open", "closed"])
def test_a_guard_that_is_away_is_counted_and_logged_once(
    db: Path, serve: Any, caplog: pytest.LogCaptureFixture, fail: Any
) -> None:
    server = serve(db)
    with Guard(url=server.url, token=server.token("hook"), fail=fail) as guard:
        session = guard.session("s1")
        assert not session.call("read").refused
        server.stop()
        with caplog.at_level(logging.WARNING, "sprag_guard"):
            calls = [session.call("read", {"n": n}) for n in range(5)]
            step = session.step("late")
        assert [c.refused for c in calls] == [fail == "closed"] * 5
        assert not any(c.verdict.checked for c in calls) and step.decision == "allow"
        assert guard.failures == 6
        assert len(caplog.records) == 1 and "no verdict from the guard" in caplog.text
        with pytest.raises(NoVerdict):
            guard.check({"type": "call", "session": "s1", "tool": "read"})


def test_a_session_that_was_killed_stays_so_while_the_guard_is_away(db: Path, serve: Any) -> None:
    server = serve(db)
    with Guard(url=server.url, token=server.token("hook")) as guard:
        session = guard.session("s1")
        for _ in range(3):
            session.call("delete_asset", {"asset_id": "a"})
        server.stop()
        assert session.call("read").verdict.decision == "kill"
        assert not guard.session("s2").call("read").refused


def test_a_child_that_dies_is_started_again_and_nothing_is_lost(db: Path, log: Any) -> None:
    with Guard(db=db, fail="closed") as guard:
        session = guard.session("s1")
        child = guard._core.link._child  # type: ignore[attr-defined]
        for number in range(5):
            assert session.call("read", {"n": number}).verdict.checked
            os.kill(child._process.pid, signal.SIGKILL)
        assert child.starts == 5
    assert len(log(db)) == 5


def test_a_child_that_hangs_is_replaced_after_the_timeout(db: Path) -> None:
    with Guard(db=db, timeout=0.3) as guard:
        session = guard.session("s1")
        assert session.call("read").verdict.checked
        child = guard._core.link._child  # type: ignore[attr-defined]
        os.kill(child._process.pid, signal.SIGSTOP)
        assert not session.call("read").verdict.checked
        assert session.call("read").verdict.checked
        assert guard.failures == 1


def test_a_child_that_can_not_work_says_why(db: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing.toml"
    with Guard(db=db, policy=missing, fail="closed") as guard:
        call = guard.session("s1").call("read")
        assert call.refused and str(missing) in (call.message or "")


def test_the_binary_comes_from_sprag_bin_and_never_from_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, binary: str
) -> None:
    (tmp_path / "sprag").symlink_to(binary)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("SPRAG_BIN")
    with pytest.raises(SetupError, match="no sprag binary"):
        Guard.in_memory()
    monkeypatch.setenv("SPRAG_BIN", "sprag")
    with pytest.raises(SetupError, match="absolute path"):
        Guard.in_memory()
    monkeypatch.setenv("SPRAG_BIN", str(tmp_path / "gone"))
    with pytest.raises(SetupError, match="not a program"):
        Guard.in_memory()


def test_another_version_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, db: Path, serve: Any
) -> None:
    server = serve(db)
    token = server.token("hook")
    monkeypatch.setattr("sprag_guard._version.VERSION", "7.3.0")
    monkeypatch.setattr("sprag_guard.local_link.VERSION", "7.3.0")
    monkeypatch.setattr("sprag_guard.http_link.VERSION", "7.3.0")
    text = r"0\.\d+\.\d+.*this package is 7\.3\.0; install the same version of both"
    for make in (
        lambda: Guard.in_memory(),
        lambda: Guard(db=db),
        lambda: Guard(url=server.url, token=token),
    ):
        with pytest.raises(SetupError, match=text):
            make()


def test_a_question_before_the_servers_first_token_was_made_is_asked_again_with_it(
    db: Path, tmp_path: Path
) -> None:
    asked: list[tuple[str, str | None]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            token = self.headers.get("authorization")
            asked.append((self.path, token))
            (db.parent / "hook.token").write_text("first")
            role = "hook" if token else "agent"
            is_me = self.path == "/v1/me"
            body = {"version": VERSION, "role": role} if is_me else {"verdict": "allow"}
            text = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = answer

        def address_string(self) -> str:
            return "socket"

        def log_message(self, *_: Any) -> None:
            pass

    path = tmp_path / "first.sock"
    with socketserver.ThreadingUnixStreamServer(str(path), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with Guard(db=db, socket=path) as guard:
            assert guard.session("s1").call("read").verdict.decision == "allow"
        server.shutdown()
    me = "/v1/me"
    assert asked == [(me, None), (me, "Bearer first"), ("/v1/check", "Bearer first")]


def test_a_socket_of_another_user_is_refused(
    db: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "other.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        me = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: me + 1)
        with pytest.raises(SetupError, match=f"belongs to user {me}, not to you"):
            Guard(db=db, socket=path)
        # Also if the file was exchanged after the look at its owner.
        monkeypatch.setattr("sprag_guard.place.own_socket", lambda _: True)
        with pytest.raises(SetupError, match="belongs to user"):
            Guard(db=db, socket=path)


def test_a_file_that_is_no_socket_is_not_asked(db: Path, tmp_path: Path) -> None:
    path = tmp_path / "file.sock"
    path.write_text("x")
    assert not stat.S_ISSOCK(path.stat().st_mode)
    with Guard(db=db, socket=tmp_path / "none.sock") as guard:
        assert guard._core.link.way == "child"  # type: ignore[attr-defined]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_asks_for_itself_and_leaves_the_parent_alone(db: Path, log: Any) -> None:
    guard = Guard(db=db, fail="closed")
    session = guard.session("s1")
    session.call("read", {"n": 0})
    parents = guard._core.link._child._process.pid  # type: ignore[attr-defined]
    busy = threading.Event()
    holder = threading.Thread(target=_hold, args=(guard, busy))
    holder.start()
    busy.wait()
    children = []
    for number in range(4):
        pid = os.fork()
        if pid == 0:
            checked = session.call("read", {"fork": number}).verdict.checked
            guard.close()
            os._exit(0 if checked else 1)
        children.append(pid)
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children] == [0] * 4
    holder.join()
    assert session.call("read", {"n": 1}).verdict.checked
    assert guard._core.link._child._process.pid == parents  # type: ignore[attr-defined]
    guard.close()
    assert len([r for r in log(db) if r["event"]["type"] == "call"]) == 6


def _hold(guard: Guard, busy: threading.Event) -> None:
    """Holds the lock of the child while the others fork."""
    with guard._core.link._child._lock:  # type: ignore[attr-defined]
        busy.set()
        time.sleep(0.2)


PROGRAM = """
import os, sys
from sprag_guard import Guard
guard = Guard(db=sys.argv[1])
guard.session("s1").call("read")
print(guard._core.link._child._process.pid, flush=True)
if sys.argv[2] == "kill":
    os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("how", ["end", "kill"])
def test_no_child_outlives_its_program(db: Path, how: str) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONWARNINGS": "error"}
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", PROGRAM, str(db), how],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == (0 if how == "end" else -signal.SIGKILL), done.stderr
    assert done.stderr == ""
    pid = int(done.stdout)
    deadline = time.monotonic() + 10
    while _lives(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _lives(pid)


def _lives(pid: int) -> bool:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rsplit(")", 1)[1].split()[0] != "Z"


def test_closing_gives_everything_back(db: Path, serve: Any) -> None:
    server = serve(db)
    token = server.token("hook")

    def open_files() -> int:
        return len(os.listdir("/proc/self/fd"))

    with Guard.in_memory() as warm:
        warm.session("s").call("read")
    before = open_files()
    for _ in range(3):
        with Guard(url=server.url, token=token) as guard, Guard(db=db) as local:
            guard.session("s").call("read")
            local.session("s").call("read")
        with Guard.in_memory() as memory:
            memory.session("s").call("read")
    assert open_files() == before


def test_a_closed_guard_opens_again() -> None:
    guard = Guard.in_memory()
    guard.close()
    assert guard.session("s").call("read").verdict.checked
    guard.close()
    shared = AsyncGuard.over(guard)
    assert shared.failures == 0
    guard.close()
