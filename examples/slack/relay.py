#!/usr/bin/env python3
"""Passes Sprag's notifications on to a Slack incoming webhook.

Slack expects JSON of its own, so something small has to stand between. Start it with SLACK_URL set to the
address of the incoming webhook, and the server with `--notify-webhook http://127.0.0.1:8099/`. With
`--public-url` a question comes with a button that opens the page to answer it.
"""

import hashlib
import hmac
import json
import os
import sys
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

SLACK_URL = os.environ["SLACK_URL"]
# The same as SPRAG_WEBHOOK_SECRET of the server; without it every sender is believed.
SECRET = os.environ.get("SPRAG_WEBHOOK_SECRET", "")


def is_signed(header: str, body: bytes) -> bool:
    fields = dict(part.split("=", 1) for part in header.split(",") if "=" in part)
    signed = f"{fields.get('t', '')}.".encode() + body
    tag = hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
    fresh = abs(time.time() - int(fields.get("t") or 0)) < 300
    return fresh and hmac.compare_digest(tag, fields.get("v1", ""))


def message(event: dict) -> dict:
    # `<`, `>` and `&` have a meaning in Slack's texts.
    text = event["text"].replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": text}}]
    if "link" in event:
        answer = {"type": "plain_text", "text": "Approve or decline…"}
        button = {"type": "button", "text": answer, "url": event["link"]}
        blocks.append({"type": "actions", "elements": [button]})
    return {"text": text, "blocks": blocks}


class Relay(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if SECRET and not is_signed(self.headers.get("x-sprag-signature", ""), body):
            self.send_error(403)
            return
        request = urllib.request.Request(
            SLACK_URL,
            json.dumps(message(json.loads(body))).encode(),
            {"content-type": "application/json"},
        )
        # If Slack can't be reached, the server has to know: it tries again, and refuses the call at last.
        with urllib.request.urlopen(request, timeout=5):
            self.send_response(204)
            self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


server = HTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8099), Relay)
print(f"listening on {server.server_port}", flush=True)
server.serve_forever()
