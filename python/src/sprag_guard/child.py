"""A `sprag` process of our own: an event a line to it, a verdict a line back.

It ends with its standard input, so it can't outlive this program, however this program ends. One
question is on the way at a time: the lock keeps a question and its answer together.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import threading
import time
import weakref
from typing import Any, Sequence

from . import fork
from .errors import EventRejected, NoVerdict

#: How much of what the child writes to its standard error is kept, for the reason why it ended.
_KEPT_STDERR = 4096
_MAX_ANSWER = 16 * 1024 * 1024
#: How long the first answer of a new process may take: it has to start and to open its store.
_START_SECONDS = 10.0


class Child:
    """Asks a child process, and starts another one if it died."""

    def __init__(self, command: Sequence[str], timeout: float) -> None:
        self._command = list(command)
        self._timeout = timeout
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr = b""
        #: How many processes were started.
        self.starts = 0
        self._end: weakref.finalize[..., Child] | None = None
        fork.watch(self)

    def ask(self, line: bytes) -> dict[str, Any]:
        """The answer to one line.

        Raises:
            NoVerdict: If the child does not answer in time, or can't be started.
            EventRejected: If it answers that the line is not an event.
        """
        deadline = time.monotonic() + self._timeout
        if not self._lock.acquire(timeout=self._timeout):
            raise NoVerdict(f"the sprag process was busy for {self._timeout:g} s")
        try:
            answer = self._exchange(line + b"\n", deadline)
        finally:
            self._lock.release()
        if "verdict" in answer:
            return answer
        raise EventRejected(str((answer.get("error") or {}).get("message", "not an event")))

    def close(self) -> None:
        """Ends the process. The next question starts another one."""
        with self._lock:
            self._stop()

    def after_fork(self) -> None:
        """In a forked process the child is the parent's: let go of it, without ending it."""
        self._lock = threading.Lock()
        process, self._process = self._process, None
        self._forget_end()
        if process is not None:
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()
            process.returncode = 0  # it is not ours to wait for

    def _exchange(self, line: bytes, deadline: float) -> dict[str, Any]:
        # A process that died before it answered is replaced once, and asked again: it may have died long ago.
        for is_last in (False, True):
            started = self.starts
            process = self._running()
            if self.starts > started:
                deadline = max(deadline, time.monotonic() + _START_SECONDS)
            try:
                text = self._converse(process, line, deadline)
            except TimeoutError:
                # Its late answer would be taken for that of the next question.
                self._stop(now=True)
                raise NoVerdict("the sprag process did not answer in time") from None
            if text is not None:
                try:
                    return dict(json.loads(text))
                except ValueError:
                    self._stop(now=True)
                    raise NoVerdict("the sprag process answered something that is not JSON") from None
            self._stop(now=True)
            if is_last:
                break
        reason = self._stderr.decode("utf-8", "replace").strip().splitlines()
        raise NoVerdict("the sprag process ended" + (f": {reason[0]}" if reason else ""))

    def _running(self) -> subprocess.Popen[bytes]:
        process = self._process
        if process is not None and process.poll() is None:
            return process
        if process is not None:
            self._stop(now=True)
        try:
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                # Ctrl-C is for this program; the child ends when its input does.
                start_new_session=True,
            )
        except OSError as error:
            raise NoVerdict(f"{self._command[0]} can't be started: {error}") from None
        for pipe in (process.stdin, process.stdout, process.stderr):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
        self._stderr = b""
        self.starts += 1
        self._process = process
        self._end = weakref.finalize(self, _end, process, os.getpid())
        return process

    def _converse(
        self, process: subprocess.Popen[bytes], line: bytes, deadline: float
    ) -> bytes | None:
        """Writes the line and reads one; none if the process ended before it answered."""
        assert process.stdin and process.stdout and process.stderr
        into, out, err = (p.fileno() for p in (process.stdin, process.stdout, process.stderr))
        poll = select.poll()
        poll.register(into, select.POLLOUT)
        poll.register(out, select.POLLIN)
        poll.register(err, select.POLLIN)
        left, answer = memoryview(line), bytearray()
        while True:
            ready = poll.poll(max(0.0, (deadline - time.monotonic()) * 1000))
            if not ready:
                raise TimeoutError
            for fd, _ in ready:
                if fd == into:
                    left = _write(into, left)
                    if not left:
                        poll.unregister(into)
                    continue
                chunk = _read(fd)
                if chunk is None:
                    continue
                if fd == err:
                    self._stderr = (self._stderr + chunk)[:_KEPT_STDERR]
                    if not chunk:
                        poll.unregister(err)
                    continue
                if not chunk or len(answer) > _MAX_ANSWER:
                    self._stderr = (self._stderr + (_read(err) or b""))[:_KEPT_STDERR]
                    return None
                answer += chunk
                if answer.endswith(b"\n"):
                    return bytes(answer)

    def _forget_end(self) -> None:
        if self._end is not None:
            self._end.detach()
            self._end = None

    def _stop(self, now: bool = False) -> None:
        process, self._process = self._process, None
        self._forget_end()
        if process is not None:
            _end(process, os.getpid(), 0.0 if now else 1.0)


def _write(fd: int, left: memoryview) -> memoryview:
    try:
        return left[os.write(fd, left) :]
    except BlockingIOError:
        return left
    except BrokenPipeError:
        return memoryview(b"")  # what it still has to say tells why


def _read(fd: int) -> bytes | None:
    try:
        return os.read(fd, 65536)
    except BlockingIOError:
        return None


def _end(process: subprocess.Popen[bytes], owner: int, patience: float = 1.0) -> None:
    """Closes the input of a process and waits for its end; also called when this program ends."""
    if os.getpid() != owner:
        return
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
