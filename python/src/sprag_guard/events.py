"""Events on the wire, made of whatever a program or a model hands over.

Names and payloads come from models, so nothing here may fail: a call with an odd tool name or an
argument that is not JSON must still be judged.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from typing import Any, Mapping

Event = dict[str, Any]

#: The longest id that the guard takes, in bytes of UTF-8.
_MAX_ID_BYTES = 256
#: Payloads beyond this are sent as their digest: a server takes events of up to 8 MiB.
_MAX_PAYLOAD_BYTES = 2 * 1024 * 1024
_PAYLOADS = ("args", "result", "content", "approach", "text")


def clean_id(text: object) -> str:
    """The id nearest to `text`: never empty, no control characters, not too long."""
    name = str(text).encode("utf-8", "replace").decode("utf-8")
    if not name:
        return "(empty)"
    name = "".join("\ufffd" if unicodedata.category(c) == "Cc" else c for c in name)
    encoded = name.encode("utf-8")
    if len(encoded) <= _MAX_ID_BYTES:
        return name
    digest = hashlib.sha256(encoded).hexdigest()[:32]
    return encoded[: _MAX_ID_BYTES - 33].decode("utf-8", "ignore") + "~" + digest


def encode(event: Mapping[str, Any]) -> bytes:
    """The event as one line of JSON, without its end."""
    line = _dumps(event)
    if len(line) <= _MAX_PAYLOAD_BYTES:
        return line
    smaller = dict(event)
    for name in _PAYLOADS:
        if name in smaller:
            smaller[name] = _digest_if_large(smaller[name])
    return _dumps(smaller)


def without_none(**fields: Any) -> Event:
    """The fields that are set."""
    return {name: value for name, value in fields.items() if value is not None}


def _digest_if_large(value: Any) -> Any:
    text = _dumps(value)
    if len(text) <= _MAX_PAYLOAD_BYTES // 4:
        return value
    # Equal payloads stay equal, which is all that the rules ask of them.
    return {"sha256": hashlib.sha256(text).hexdigest(), "bytes": len(text)}


def _dumps(value: Any) -> bytes:
    try:
        text = json.dumps(value, default=_plain, allow_nan=False, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        text = json.dumps(_jsonable(value, 32), ensure_ascii=False)
    return text.encode("utf-8", "replace")


def _plain(value: Any) -> Any:
    """A JSON form of objects that frameworks pass around: pydantic models, dataclasses, the rest."""
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        try:
            return dump(mode="json")
        except Exception:  # a model's own serialiser may raise anything
            return _text(value)
    if isinstance(value, (set, frozenset)):
        return sorted((_text(item) for item in value))
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"sha256": hashlib.sha256(bytes(value)).hexdigest(), "bytes": len(value)}
    return _text(value)


def _jsonable(value: Any, depth: int) -> Any:
    """The slow way, for what `json` refuses: NaN, keys that are not texts, cycles."""
    if depth == 0:
        return "(too deep)"
    if isinstance(value, Mapping):
        return {_text(key): _jsonable(item, depth - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(item, depth - 1) for item in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else repr(value)
    plain = _plain(value)
    return plain if isinstance(plain, str) else _jsonable(plain, depth - 1)


def _text(value: object) -> str:
    try:
        return str(value)
    except Exception:  # `__str__` of a stranger may raise anything
        return f"({type(value).__name__})"
