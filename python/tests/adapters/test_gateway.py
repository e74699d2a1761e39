"""LiteLLM's real proxy before a scripted model, with the guard in it in both ways.

A gateway sees calls in answers and results in requests, and can't answer a call itself. So its
contract differs from that of a framework: a refusal replaces the whole answer of the model.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Iterator

import pytest

if os.environ["FRAMEWORK"] != "litellm":
    pytest.skip("this is for LiteLLM", allow_module_level=True)

sys.path.insert(0, os.path.dirname(__file__))
os.environ.update(LITELLM_LOG="CRITICAL", LITELLM_TELEMETRY="False", LITELLM_LOCAL_MODEL_COST_MAP="True")

import litellm  # noqa: E402
from litellm.proxy import proxy_server  # noqa: E402
from litellm.proxy.guardrails.guardrail_hooks.generic_guardrail_api import (  # noqa: E402
    GenericGuardrailAPI,
)
from script import INPUT_TOKENS, OUTPUT_TOKENS, PROMPT, Tools, Turn  # noqa: E402
from starlette.testclient import TestClient  # noqa: E402

from sprag_guard import Guard  # noqa: E402
from sprag_guard.litellm import SpragGuardrail  # noqa: E402

WAYS = ("package", "endpoint")
DELETE = ("delete_asset", {"asset_id": "fact_sales"})


class Upstream:
    """A scripted model behind OpenAI's chat API."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.bodies: list[Any] = []
        upstream = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                upstream.bodies.append(body)
                text, kind = upstream.answer(body)
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, body: Any) -> tuple[bytes, str]:
        number = len(self.bodies)
        turn = self.turns[number - 1] if number <= len(self.turns) else "no more turns"
        message: dict[str, Any] = {"role": "assistant", "content": None}
        if isinstance(turn, str):
            message["content"] = turn
        else:
            message["tool_calls"] = [
                {
                    "index": index,
                    "id": f"call_{number}_{index}",
                    "type": "function",
                    "function": {"name": name, "arguments": json.dumps(args)},
                }
                for index, (name, args) in enumerate(turn)
            ]
        done = "stop" if isinstance(turn, str) else "tool_calls"
        base = {"id": f"x{number}", "created": 1, "model": "m"}
        if body.get("stream"):
            parts = [({"delta": message}, None), ({"delta": {}}, done)]
            chunks = [
                {**base, "object": "chat.completion.chunk", "choices": [{"index": 0, **part, "finish_reason": end}]}
                for part, end in parts
            ]
            text = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
            return text.encode(), "text/event-stream"
        usage = {
            "prompt_tokens": INPUT_TOKENS,
            "completion_tokens": OUTPUT_TOKENS,
            "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
        }
        choice = {"index": 0, "message": message, "finish_reason": done}
        whole = {**base, "object": "chat.completion", "choices": [choice], "usage": usage}
        return json.dumps(whole).encode(), "application/json"


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upstream]:
    """The proxy, set up once before the model."""
    model = Upstream()
    config = tmp_path_factory.mktemp("litellm") / "config.yaml"
    base = f"http://127.0.0.1:{model.server.server_port}/v1"
    config.write_text(
        "model_list:\n- model_name: m\n  litellm_params:\n"
        f"    {{model: openai/m, api_base: '{base}', api_key: x}}\n"
    )
    asyncio.run(proxy_server.initialize(config=str(config)))
    yield model
    model.server.shutdown()
    model.server.server_close()


class Agent:
    """A client of the proxy that runs the tools that it is told to."""

    def __init__(self, upstream: Upstream, tools: Tools) -> None:
        self.upstream, self.tools = upstream, tools
        self.client = TestClient(proxy_server.app, raise_server_exceptions=False)
        self.status = 200

    def run(self, turns: list[Turn], session: str | None = "s1") -> str:
        """Plays the turns, and returns the last text that the client got."""
        self.upstream.turns, self.upstream.bodies = turns, []
        functions = {function.__name__: function for function in self.tools.functions()}
        messages: list[Any] = [{"role": "user", "content": PROMPT}]
        headers = {"x-litellm-session-id": session} if session else {}
        while True:
            body = {"model": "m", "messages": messages}
            answer = self.client.post("/v1/chat/completions", json=body, headers=headers)
            self.status = answer.status_code
            if answer.status_code != 200:
                return answer.text
            message = answer.json()["choices"][0]["message"]
            if not message.get("tool_calls"):
                return str(message["content"])
            messages.append(message)
            for call in message["tool_calls"]:
                result = functions[call["function"]["name"]](**json.loads(call["function"]["arguments"]))
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


@pytest.fixture(params=WAYS)
def gateway(request: Any, upstream: Upstream, db: Path, serve: Any, policy: Any) -> Iterator[Any]:
    """The proxy with the guard in it: as a class of the package, or by the endpoint of the server."""
    modes = {"guardrail_name": "sprag", "event_hook": ["pre_call", "post_call"], "default_on": True}
    installed: list[Any] = []

    def install(document: dict[str, Any] | None = None) -> Agent:
        file = policy(document or {})
        if request.param == "package":
            guardrail: Any = SpragGuardrail(Guard(db=db, policy=file), **modes)
        else:
            server = serve(db, "--policy", str(file))
            token = {"Authorization": f"Bearer {server.token('hook')}"}
            guardrail = GenericGuardrailAPI(headers=token, api_base=server.url, **modes)
        litellm.callbacks.append(guardrail)
        installed.append(guardrail)
        return Agent(upstream, Tools())

    install.way = request.param  # type: ignore[attr-defined]
    yield install
    for guardrail in installed:
        litellm.callbacks.remove(guardrail)
        if isinstance(guardrail, SpragGuardrail):
            guardrail._watch.guard.close()


def test_allow_an_honest_call_passes_untouched(gateway: Any, db: Path, log: Any) -> None:
    agent = gateway()
    calls: Turn = [("echo", {"text": text}) for text in "abcd"]
    assert agent.run([calls, "done"]) == "done"
    assert sorted(agent.tools.ran) == [("echo", text) for text in "abcd"]
    sent = agent.upstream.bodies[1]["messages"][-4:]
    assert [message["content"] for message in sent] == [f"echo {text}" for text in "abcd"]
    kinds = [record["event"]["type"] for record in log(db)]
    assert (kinds.count("call"), kinds.count("step"), kinds.count("message")) == (4, 4, 1)


def test_warn_stands_next_to_the_result(gateway: Any) -> None:
    agent = gateway()
    assert agent.run([[DELETE], [DELETE], "done"]) == "done"
    told = agent.upstream.bodies[2]["messages"][-1]["content"]
    assert told.startswith("asset still exists\n\nsprag: 2 deletes on asset_id=fact_sales")


def test_kill_ends_the_run_and_no_request_reaches_the_model_any_more(gateway: Any) -> None:
    agent = gateway()
    text = agent.run([[DELETE], [DELETE], [DELETE], "done"])
    assert "sprag: session_killed" in text and len(agent.tools.ran) == 2
    assert agent.status == (200 if gateway.way == "package" else 400)
    assert "sprag: " in agent.run(["done"])
    assert agent.upstream.bodies == []


def test_deny_replaces_the_answer(gateway: Any) -> None:
    agent = gateway({"access": {"deny": ["forbidden"]}})
    text = agent.run([[("forbidden", {"text": "x"})], "done"])
    assert "sprag: " in text and "forbidden" in text and agent.tools.ran == []
    assert agent.run([[("echo", {"text": "a"})], "done"]) == "done"


def test_block_lets_the_model_sum_up_in_words(gateway: Any) -> None:
    agent = gateway()
    text = agent.run([[("echo", {"text": "same"})]] * 9)
    assert "sprag: " in text and 3 <= len(agent.tools.ran) < 9


def test_clients_without_a_session_share_one_in_which_nobody_is_killed(gateway: Any) -> None:
    agent = gateway()
    text = agent.run([[DELETE], [DELETE], [DELETE], "done"], session=None)
    assert "sprag: " in text and len(agent.tools.ran) == 2
    assert agent.run([[("echo", {"text": "a"})], "done"], session=None) == "done"


def test_a_streamed_answer_with_a_refused_call_never_shows_the_call(gateway: Any) -> None:
    if gateway.way == "endpoint":
        pytest.skip("LiteLLM's own guardrail holds no stream back: docs/frameworks/litellm.md says so")
    agent = gateway({"access": {"deny": ["forbidden"]}})
    agent.upstream.turns, agent.upstream.bodies = [[("forbidden", {"text": "x"})]], []
    body = {"model": "m", "messages": [{"role": "user", "content": PROMPT}], "stream": True}
    text = agent.client.post("/v1/chat/completions", json=body).text
    assert "sprag: " in text and "tool_calls" not in text


@pytest.mark.parametrize("fail", ["open", "closed"])
def test_a_guard_that_is_away(fail: Any, upstream: Upstream, db: Path, serve: Any) -> None:
    server = serve(db)
    guard = Guard(url=server.url, token=server.token("hook"), fail=fail)
    server.stop()
    guardrail = SpragGuardrail(
        guard, guardrail_name="sprag", event_hook=["pre_call", "post_call"], default_on=True
    )
    litellm.callbacks.append(guardrail)
    try:
        agent = Agent(upstream, Tools())
        text = agent.run([[("echo", {"text": "a"})], "done"])
    finally:
        litellm.callbacks.remove(guardrail)
        guard.close()
    assert guard.failures > 0
    assert text == "done" if fail == "open" else "no verdict from the guard" in text
