"""A scripted model behind Anthropic's messages API, for the agent that is a program of its own."""

from __future__ import annotations

import itertools
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from script import INPUT_TOKENS, OUTPUT_TOKENS, Turn

_IDS = itertools.count()


class Api:
    """Plays turns to requests with tools; what has none is a side request, such as for a title."""

    def __init__(self, turns: list[Turn], inner: list[Turn] | None = None) -> None:
        #: The turns of the main agent, and those of a sub-agent, which is told by its prompt.
        self.turns, self.inner = turns, inner or []
        self.requests = self.inner_requests = 0
        self.messages: list[Any] = []
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                api.answer(self, body)

            def do_GET(self) -> None:
                self.send_error(404)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, handler: BaseHTTPRequestHandler, body: Any) -> None:
        if handler.path.split("?")[0].endswith("count_tokens"):
            return _json(handler, {"input_tokens": INPUT_TOKENS})
        turn = self._turn(body)
        content: list[Any] = []
        if isinstance(turn, str):
            content.append({"type": "text", "text": turn})
        else:
            for name, args in turn:
                id = f"toolu_{next(_IDS):024}"
                content.append({"type": "tool_use", "id": id, "name": name, "input": args})
        stop = "end_turn" if isinstance(turn, str) else "tool_use"
        usage = {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS}
        message = {
            "id": f"msg_{next(_IDS):024}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": usage,
        }
        return _events(handler, message) if body.get("stream") else _json(handler, message)

    def _turn(self, body: Any) -> Turn:
        if not body.get("tools"):
            return "title"
        if self.inner and "for-the-helper" in json.dumps(body["messages"][0]):
            self.inner_requests += 1
            return self.inner[self.inner_requests - 1]
        self.messages = body["messages"]
        self.requests += 1
        return self.turns[self.requests - 1]

    def results(self) -> list[str]:
        """What the model got as results, with what stands next to each message of results."""
        found: list[str] = []
        for message in self.messages:
            parts = message["content"] if isinstance(message["content"], list) else []
            here = [_text(part.get("content")) for part in parts if part["type"] == "tool_result"]
            notes = [part["text"] for part in parts if part["type"] == "text"]
            if here:
                here[-1] = "\n".join([here[-1], *(note for note in notes if "sprag: " in note)])
            elif found:
                found[-1] = "\n".join([found[-1], *(note for note in notes if "sprag: " in note)])
            found += here
        return found


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [])


def _json(handler: BaseHTTPRequestHandler, body: Any) -> None:
    text = json.dumps(body).encode()
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", str(len(text)))
    handler.end_headers()
    handler.wfile.write(text)


def _events(handler: BaseHTTPRequestHandler, message: Any) -> None:
    start = {**message, "content": [], "stop_reason": None}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            opened, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            partial = json.dumps(block["input"])
            opened = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": partial}
        events += [
            {"type": "content_block_start", "index": index, "content_block": opened},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": delta, "usage": message["usage"]})
    events.append({"type": "message_stop"})
    text = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode()
    handler.send_response(200)
    handler.send_header("content-type", "text/event-stream")
    handler.send_header("content-length", str(len(text)))
    handler.end_headers()
    handler.wfile.write(text)
