"""Asks the recorded set with the official SDKs for Python, and prints what they make of it as JSON."""

import json
import sys

import anthropic
import openai
from google import genai
from google.genai import types

anthropic_base, openai_base, gemini_base = sys.argv[1:4]
TOOL = {"name": "look", "description": "looks", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}
SCHEMA = TOOL["parameters"]
found = {}


def note(name, ask):
    """What came of it, or how it failed."""
    try:
        found[name] = ask()
    except (anthropic.APIStatusError, openai.APIStatusError) as error:
        found[name] = {"status": error.status_code, "body": error.body}
    except genai.errors.APIError as error:
        found[name] = {"status": error.code, "body": error.message}


claude = anthropic.Anthropic(base_url=anthropic_base, api_key="key", max_retries=0)
gpt = openai.OpenAI(base_url=openai_base, api_key="key", max_retries=0)
gemini = genai.Client(api_key="key", http_options=types.HttpOptions(base_url=gemini_base))


def messages(words, stream):
    asked = dict(model="claude-test", max_tokens=100, messages=[{"role": "user", "content": words}],
                 tools=[{"name": "look", "description": "looks", "input_schema": SCHEMA}])
    if not stream:
        return claude.messages.create(**asked).model_dump(mode="json")
    with claude.messages.stream(**asked) as events:
        kinds = [event.type for event in events]
        return {"events": kinds, "final": events.get_final_message().model_dump(mode="json")}


def responses(words, stream):
    asked = dict(model="gpt-test", input=words, tools=[{"type": "function", "strict": False, **TOOL}])
    if not stream:
        return gpt.responses.create(**asked).model_dump(mode="json")
    return [event.model_dump(mode="json") for event in gpt.responses.create(**asked, stream=True)]


def chat(words, stream):
    asked = dict(model="gpt-test", messages=[{"role": "user", "content": words}], tools=[{"type": "function", "function": TOOL}])
    if not stream:
        return gpt.chat.completions.create(**asked).model_dump(mode="json")
    return [chunk.model_dump(mode="json") for chunk in gpt.chat.completions.create(**asked, stream=True)]


def content(words, stream):
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[types.FunctionDeclaration(**TOOL)])],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True))
    asked = dict(model="gemini-test", contents=words, config=config)
    drop = {"sdk_http_response"}
    if not stream:
        return gemini.models.generate_content(**asked).model_dump(mode="json", exclude=drop)
    return [chunk.model_dump(mode="json", exclude=drop) for chunk in gemini.models.generate_content_stream(**asked)]


for api in (messages, responses, chat, content):
    for answer in ("text", "calls", "error"):
        for stream in (False, True):
            note(f"{api.__name__} {answer} {'streamed' if stream else 'whole'}", lambda: api(f"answer: {answer}", stream))
print(json.dumps(found, indent=1, sort_keys=True))
