"""The real binary: servers, stores and policies for tests."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any


class Server:
    """A running `sprag serve` with its own store, on a free port."""

    def __init__(self, binary: str, db: Path, folder: Path, *flags: str) -> None:
        self.db = db
        self._binary = binary
        if "--policy" not in flags:
            empty = folder / "empty-policy.toml"
            empty.touch()
            flags = (*flags, "--policy", str(empty))
        self._out = folder / f"serve-{time.monotonic_ns()}.out"
        with self._out.open("wb") as out:
            self._process = subprocess.Popen(
                [binary, "serve", "--listen", "127.0.0.1:0", "--db", str(db), *flags],
                stdout=out,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
            )
        self.url = f"http://{self._address()}"

    def _address(self) -> str:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            text = self._out.read_text()
            if self._process.poll() is not None:
                raise AssertionError(f"the server ended: {text}")
            for line in text.splitlines():
                # The line about the operator comes last: from then on it answers.
                if line.startswith("listening on ") and "operator" in text:
                    return line.split()[-1]
            time.sleep(0.02)
        raise AssertionError(f"the server did not start: {self._out.read_text()}")

    @property
    def socket(self) -> Path:
        """Its Unix socket."""
        return self.db.with_name(self.db.name + ".sock")

    def token(self, role: str) -> str:
        """A new token of a role."""
        command = [self._binary, "token", "add", "--role", role, "--name", f"test-{role}"]
        command += ["--db", str(self.db)]
        said = subprocess.run(command, capture_output=True, text=True, check=False)
        assert said.returncode == 0, said.stderr
        return said.stdout.split()[-1]

    def stop(self) -> None:
        """Ends it and waits for that."""
        if self._process.poll() is None:
            self._process.terminate()
        self._process.wait(30)


def records(binary: str, db: Path) -> list[dict[str, Any]]:
    """Every record of an event in a store, the oldest first."""
    command = [binary, "log", "export", "--db", str(db)]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    found = (json.loads(line)["data"] for line in said.stdout.splitlines())
    return [record for record in found if "event" in record]


def policy_toml(document: dict[str, Any]) -> str:
    """A policy as TOML, from the JSON in which scenarios write it."""
    lines: list[str] = []
    for name, value in document.items():
        if isinstance(value, list) and all(isinstance(item, dict) for item in value):
            for item in value:
                lines += [f"[[{name}]]", *(f"{_key(k)} = {_value(v)}" for k, v in item.items())]
        elif isinstance(value, dict):
            lines += [f"[{_key(name)}]", *(f"{_key(k)} = {_value(v)}" for k, v in value.items())]
        else:
            lines.insert(0, f"{_key(name)} = {_value(value)}")
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return json.dumps(name)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    return json.dumps(value)
