"""The guard of this machine: the server's socket if one runs, else a child on the same store."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from . import place
from ._version import VERSION, is_compatible
from .child import Child
from .errors import NoVerdict, SetupError
from .http_link import Absent, HttpLink

StrPath = str | os.PathLike[str]


class LocalLink:
    """Asks the server, and from the moment that it is gone a `sprag check` of our own.

    That child shares the store with everyone else on this machine, and finds a server that comes
    back by itself. So there is no way back to the socket, and no moment in which two count.
    """

    def __init__(
        self,
        db: StrPath | None,
        socket: StrPath | None,
        policy: StrPath | None,
        timeout: float,
    ) -> None:
        self._http: HttpLink | None = None
        store = place.store(db)
        if store is None:
            raise SetupError("there is no home to keep the store in; name one with db=")
        path = place.socket(socket, db, store)
        if place.own_socket(path):
            http = HttpLink.at_socket(path, store, timeout)
            try:
                http.verify()
                self._http = http
            except Absent:
                pass  # a server left it behind when it died
            except NoVerdict:
                self._http = http  # it is busy; it owns the store all the same
        self._timeout = timeout
        self._arguments = ["check", "--as", "hook"]
        for flag, value in (("--db", db), ("--socket", socket), ("--policy", policy)):
            if value is not None:
                self._arguments += [flag, os.fspath(value)]
        self._child: Child | None = None
        if self._http is None:
            self._child = start_child(self._arguments, timeout)

    @property
    def way(self) -> str:
        """Which way questions go: `socket` or `child`."""
        return "socket" if self._http is not None else "child"

    def ask(self, line: bytes) -> dict[str, Any]:
        """The verdict on an event; see `HttpLink.ask` and `Child.ask`."""
        http = self._http
        if http is not None:
            try:
                return http.ask(line)
            except Absent:
                self._child = self._child or start_child(self._arguments, self._timeout)
                self._http = None
        assert self._child is not None
        return self._child.ask(line)

    def close(self) -> None:
        """Lets go of the socket and ends the child."""
        if self._http is not None:
            self._http.close()
        if self._child is not None:
            self._child.close()


def start_child(arguments: list[str], timeout: float) -> Child:
    """A child of the binary of this package, which is of the same version.

    Raises:
        SetupError: If there is no binary, or one of another version.
    """
    binary = place.binary()
    check_version(binary)
    return Child([str(binary), *arguments], timeout)


def check_version(binary: Path) -> None:
    """Asks a binary for its version.

    Raises:
        SetupError: If it is another one than this package can speak to.
    """
    try:
        done = subprocess.run(
            [str(binary), "--version"], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupError(f"{binary} can't be started: {error}") from None
    words = done.stdout.split()
    version = words[1] if done.returncode == 0 and words[:1] == ["sprag"] and words[1:] else None
    if version is None:
        raise SetupError(f"{binary} is not a sprag binary: `--version` answered {done.stdout[:80]!r}")
    if not is_compatible(version):
        raise SetupError(
            f"{binary} is sprag {version}, this package is {VERSION}; install the same version of both"
        )
