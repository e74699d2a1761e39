"""The HTTP API of a running `sprag serve`: over its Unix socket, or at an address."""

from __future__ import annotations

import http.client
import json
import os
import socket
import ssl
import struct
import threading
import time
from pathlib import Path
from typing import Any, Callable
from urllib.parse import urlsplit

from . import fork, place
from ._version import VERSION, is_compatible
from .errors import EventRejected, NoVerdict, SetupError

#: How many idle connections are kept.
_KEPT = 32
_MAX_ANSWER = 16 * 1024 * 1024
#: How long to wait for a server that is just starting or ending.
_PAUSE = 0.02
#: What proves that an event, not the guard, is to blame.
_REJECTED = (400, 409, 413, 415, 422)


class Absent(NoVerdict):
    """Nobody listens there."""


class HttpLink:
    """Asks a server, over connections that are kept for the next question."""

    def __init__(
        self,
        connect: Callable[[], http.client.HTTPConnection],
        token: Callable[[], str | None],
        name: str,
        timeout: float,
    ) -> None:
        self._connect = connect
        self._read_token = token
        self._token: str | None = None
        self._name = name
        self._timeout = timeout
        self._lock = threading.Lock()
        self._idle: list[http.client.HTTPConnection] = []
        self._verified = False
        fork.watch(self)

    @classmethod
    def at_socket(cls, path: Path, store: Path, timeout: float) -> HttpLink:
        """The server of this machine. Its token lies beside the store."""
        return cls(
            lambda: _UnixConnection(path, timeout),
            lambda: place.hook_token(store),
            f"sprag serve at {path}",
            timeout,
        )

    @classmethod
    def at_url(cls, url: str, token: str | None, timeout: float) -> HttpLink:
        """A server at an address.

        Raises:
            SetupError: If the address is not one of HTTP, or would send the token in the clear.
        """
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
        if parts.scheme not in ("http", "https") or not host or parts.path.strip("/"):
            raise SetupError(f"url must look like https://guard.example:7727, not {url!r}")
        if parts.username or parts.password or parts.query:
            raise SetupError("a token has no place in url, where logs keep it; give it as token=")
        if parts.scheme == "http" and host not in ("127.0.0.1", "localhost", "::1") and token:
            raise SetupError(f"{url} would send the token unencrypted; use https")

        def connect() -> http.client.HTTPConnection:
            if parts.scheme == "http":
                return http.client.HTTPConnection(host, port, timeout=timeout)
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(host, port, timeout=timeout, context=context)

        return cls(connect, lambda: token, f"{parts.scheme}://{parts.netloc}", timeout)

    def ask(self, line: bytes) -> dict[str, Any]:
        """The verdict on an event.

        Raises:
            Absent: If nobody listens.
            NoVerdict: If there is no answer.
            EventRejected: If the answer is that this is not an event.
        """
        if not self._verified:
            self.verify()
        deadline = time.monotonic() + self._timeout
        while True:
            status, body = self._request("POST", "/v1/check", line)
            if status == 200:
                return dict(body)
            if status == 503 and time.monotonic() + _PAUSE < deadline:
                time.sleep(_PAUSE)
                continue
            detail = str(body.get("detail") or body.get("title") or "no reason given")
            if status in _REJECTED:
                raise EventRejected(detail)
            raise NoVerdict(f"{self._name} answered status {status}: {detail}")

    def verify(self) -> None:
        """Asks the server who it is.

        Raises:
            SetupError: If it is of another version, or does not take this program for a hook.
            NoVerdict: If there is no answer.
        """
        status, body = self._request("GET", "/v1/me", b"")
        if self._token is None and self._read_token() is not None:
            # At its very first start a server makes its tokens after its socket: who was early had
            # none to show.
            status, body = self._request("GET", "/v1/me", b"")
        if status in (401, 403):
            raise SetupError(
                f"{self._name} refused the token: {body.get('detail', 'no reason given')}; "
                "`sprag token add --role hook --name NAME` creates one"
            )
        if status != 200:
            raise NoVerdict(f"{self._name} answered status {status}")
        version, role = str(body.get("version")), body.get("role")
        if not is_compatible(version):
            raise SetupError(
                f"{self._name} is version {version}, this package is {VERSION}; install the same "
                "version of both"
            )
        if role not in ("hook", "relay"):
            raise SetupError(
                f"{self._name} takes this program for role {role!r}; it needs a token of role 'hook' "
                "(`sprag token add --role hook --name NAME`), and must not hold an operator's"
            )
        self._verified = True

    def close(self) -> None:
        """Closes the idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def after_fork(self) -> None:
        """Lets go of the parent's connections; closing our copies leaves the parent's open."""
        self._lock = threading.Lock()
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _request(self, method: str, path: str, body: bytes) -> tuple[int, dict[str, Any]]:
        status, answer = self._send(method, path, body)
        if status == 401 and self._token != self._read_token():
            # A server that started again with a new store has a new token.
            self._token = None
            status, answer = self._send(method, path, body)
        try:
            parsed = json.loads(answer)
        except ValueError:
            parsed = {"detail": answer[:200].decode("utf-8", "replace")}
        return status, parsed if isinstance(parsed, dict) else {}

    def _send(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        headers = {"content-type": "application/json"} if body else {}
        if self._token is None:
            self._token = self._read_token()
        if self._token:
            headers["authorization"] = f"Bearer {self._token}"
        while True:
            with self._lock:
                kept = self._idle.pop() if self._idle else None
            connection = kept or self._connect()
            try:
                connection.request(method, path, body or None, headers)
                response = connection.getresponse()
                answer = response.read(_MAX_ANSWER)
            except (FileNotFoundError, ConnectionRefusedError) as error:
                connection.close()
                raise Absent(f"nobody listens at {self._name}: {error}") from None
            except (ConnectionError, http.client.RemoteDisconnected) as error:
                connection.close()
                if kept:
                    continue  # the server closed it meanwhile, without a word
                raise NoVerdict(f"{self._name} closed the connection: {error}") from None
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                raise NoVerdict(f"{self._name}: {error or type(error).__name__}") from None
            self._keep(connection, response)
            return response.status, answer

    def _keep(
        self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse
    ) -> None:
        if not response.will_close and response.isclosed():
            with self._lock:
                if len(self._idle) < _KEPT:
                    self._idle.append(connection)
                    return
        connection.close()


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(os.fspath(self._path))
        peer = getattr(socket, "SO_PEERCRED", None)
        if peer is None:
            return
        # The owner of the file was looked at before; this is who really listens.
        _, uid, _ = struct.unpack("3i", self.sock.getsockopt(socket.SOL_SOCKET, peer, 12))
        if uid != os.geteuid():
            self.sock.close()
            raise SetupError(place.foreign(self._path, uid))
