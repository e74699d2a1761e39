"""Teaches schemathesis to send and read JSON lines."""

import json

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(ctx, value):
    return (json.dumps(value) + "\n").encode()
