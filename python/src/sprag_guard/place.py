"""Where the guard of this machine is: its binary, its store, its socket, its token.

The same places as the `sprag` command uses. The binary comes from this package or from `SPRAG_BIN`,
never from PATH or the working folder: a program that an agent can put there would be the guard.
"""

from __future__ import annotations

import os
import stat
from importlib import metadata
from pathlib import Path

from .errors import SetupError

_PACKAGE = "sprag-guard"
_NAME = "sprag"


def binary() -> Path:
    """The `sprag` binary.

    Raises:
        SetupError: If neither `SPRAG_BIN` nor this package has one.
    """
    named = os.environ.get("SPRAG_BIN")
    if named:
        path = Path(named)
        if not path.is_absolute():
            raise SetupError(f"SPRAG_BIN must be an absolute path, not {named!r}")
        if not _is_program(path):
            raise SetupError(f"SPRAG_BIN names {named}, which is not a program")
        return path
    packaged = _packaged()
    if packaged is not None and _is_program(packaged):
        return packaged
    raise SetupError(
        "this installation of sprag-guard has no sprag binary for this platform; install a wheel that "
        "has one, or set SPRAG_BIN to the absolute path of a sprag binary"
    )


def _packaged() -> Path | None:
    """The binary that the installer of this package wrote, by its own record of what it wrote."""
    try:
        files = metadata.distribution(_PACKAGE).files or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == _NAME:
            return Path(str(file.locate())).resolve()
    return None


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def store(db: str | os.PathLike[str] | None) -> Path | None:
    """The store that `sprag` would use; none if there is no home."""
    if db is not None:
        return Path(db)
    if named := os.environ.get("SPRAG_DB"):
        return Path(named)
    if state := _xdg("XDG_STATE_HOME", ".local/state"):
        return state / "sprag" / "sprag.db"
    return None


def socket(
    socket: str | os.PathLike[str] | None, db: str | os.PathLike[str] | None, store: Path
) -> Path:
    """The socket of the server that uses this store."""
    if socket is not None:
        return Path(socket)
    if named := os.environ.get("SPRAG_SOCKET"):
        return Path(named)
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    is_named = db is not None or bool(os.environ.get("SPRAG_DB"))
    if os.path.isabs(runtime) and not is_named:
        return Path(runtime) / "sprag.sock"
    return store.with_name(store.name + ".sock")


def hook_token(store: Path) -> str | None:
    """The token with which programs of this user prove that they are not an agent."""
    try:
        token = store.with_name("hook.token").read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return token if token and token.isascii() and token.isprintable() else None


def own_socket(path: Path) -> bool:
    """Whether a socket is there.

    Raises:
        SetupError: If it belongs to another user: whoever listens there could answer anything.
    """
    try:
        info = os.stat(path)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return False
    if not stat.S_ISSOCK(info.st_mode):
        return False
    if info.st_uid != os.geteuid():
        raise SetupError(foreign(path, info.st_uid))
    return True


def foreign(path: Path, uid: int) -> str:
    """What to say about a socket of another user."""
    return (
        f"the socket {path} belongs to user {uid}, not to you (user {os.geteuid()}), and is not used; "
        "name another one with socket= or SPRAG_SOCKET"
    )


def _xdg(variable: str, below_home: str) -> Path | None:
    named = os.environ.get(variable, "")
    if os.path.isabs(named):
        return Path(named)
    home = os.environ.get("HOME")
    return Path(home) / below_home if home else None
